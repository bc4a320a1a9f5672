"""Parquet and Arrow files, frames of pandas, polars and Arrow, and mappings, as rows."""

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

from setsearch.errors import InvalidParameter, SourceError
from setsearch.indexing.libraries import load_library
from setsearch.indexing.rows.cells import Cells, NestedCells, Row

PARQUET = b"PAR1"  # how files begin
OF_FILES = (b"ARROW1", b"FEA1")  # of Arrow, the other ones are streams, as datasets of Hugging Face are kept
STREAMED = re.compile(rb"PAR1[\0-\x08\x0e-\x1f]|ARROW1\0\0")  # more of it: PAR1 may be the name of a column
END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream
BROKEN = (ValueError, KeyError, OverflowError)  # texts, names and times that are none
AT_ONCE = 1 << 12  # rows that are made objects of Python together


def arrow_rows(file: IO[bytes], path: Path, warn: Callable[[str], None]) -> Iterator[Row]:
    """The rows of a Parquet, Arrow or Feather file; `warn` is told of a stream of Arrow without its end."""
    pyarrow = load_library("pyarrow", f"{path}: Parquet and Arrow files", "arrow")
    from pyarrow import feather, ipc, parquet

    begin = file.read(max(map(len, OF_FILES)))
    is_parquet = begin.startswith(PARQUET) or path.suffix == ".parquet"
    file.seek(0)
    try:
        if is_parquet:
            batches: Iterable[Any] = parquet.ParquetFile(file).iter_batches()
        elif begin.startswith(OF_FILES):
            batches = feather.read_table(file).to_batches()
        else:
            batches = ipc.open_stream(file)
        number = 0
        for batch in batches:
            batch.validate(full=True)  # others would read whatever is in memory, or end the process
            repeated = repeated_columns(batch)
            nested = any(map(pyarrow.types.is_nested, batch.schema.types))
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", _as_cells(row, repeated, nested)
        if not is_parquet and not begin.startswith(OF_FILES) and not _has_end(file):
            warn(f"{path} is a stream of Arrow without its end: what wrote it, or the download, may have broken off")
    except (pyarrow.ArrowException, OSError, *BROKEN) as error:
        problem = " ".join(str(error).split())
        raise SourceError(f"{path} cannot be read: {problem:.200}; write it again") from error


def _has_end(file: IO[bytes]) -> bool:
    """Whether a stream of Arrow ends with its mark; one that breaks off between batches is read without an error."""
    file.seek(-len(END), io.SEEK_END)
    return file.read() == END


def streamed_rows(stream: IO[bytes], name: str, warn: Callable[[str], None]) -> Iterator[Row]:
    """The rows of such a file on a stream; they are read from its end, so that it is copied to the disk first."""
    with TemporaryFile() as file:
        copyfileobj(stream, file)
        file.seek(0)
        yield from arrow_rows(file, Path(name), warn)


def frame_rows(frame: Any, numbers: Iterator[int] | None = None, nested: bool = False) -> Iterator[Row]:
    """The rows of a frame, or mappings as they come, such as those of a cursor; missing values are None.

    `numbers` are those of the rows, by default from 1 on; `nested`: what is in objects is asked for, too.
    Of a large frame only some rows at a time are objects of Python. Raises InvalidParameter.
    """
    repeated = repeated_columns(frame)
    for record, number in zip(_records(frame), count(1) if numbers is None else numbers, strict=False):
        if not hasattr(record, "keys"):
            raise no_rows(frame)
        row = {str(name): present(record[name]) for name in record.keys()}  # noqa: SIM118
        yield f"row {number}", _as_cells(row, repeated, nested)


def no_rows(frame: Any) -> InvalidParameter:
    """That something is no frame."""
    kind = type(frame).__name__
    return InvalidParameter(f"a frame is one of pandas, polars or Arrow, or rows that are mappings, not {kind}")


def _as_cells(row: dict[str, Any], repeated: frozenset[str], nested: bool) -> dict[str, Any]:
    """A row as it is, unless columns are repeated, or have objects in which others are looked for."""
    if nested:
        return NestedCells.but(repeated, row.items())
    return Cells.but(repeated, row.items()) if repeated else row


def repeated_columns(frame: Any) -> frozenset[str]:
    """The names that several columns have, in frames that may have such columns."""
    names: Iterable[Any] = ()
    if offers(frame, "iloc", "columns"):  # pandas
        names = frame.columns
    elif offers(frame, "schema") and not offers(frame, "iter_rows"):
        names = getattr(frame.schema, "names", ())
    return frozenset(name for name, number in Counter(map(str, names)).items() if number > 1)


def is_frame(rows: Any) -> bool:
    """Whether rows are a frame, or a part of one: a batch of Arrow, a chunk of pandas."""
    return any(offers(rows, name) for name in ("columns", "schema", "__arrow_c_stream__"))


def offers(frame: Any, *names: str) -> bool:
    """Whether all frames of a type have these attributes: one of pandas also has its columns, by any name."""
    return all(hasattr(type(frame), name) for name in names)


def _records(frame: Any) -> Iterator[Any]:
    if offers(frame, "iter_rows"):  # polars
        yield from frame.iter_rows(named=True)
    elif offers(frame, "to_batches"):  # pyarrow
        for batch in frame.to_batches():
            for start in range(0, batch.num_rows, AT_ONCE):
                yield from batch.slice(start, AT_ONCE).to_pylist()
    elif offers(frame, "to_pylist", "schema"):  # a batch
        yield from frame.to_pylist()
    elif offers(frame, "to_dict", "columns"):  # pandas
        frame = frame.loc[:, ~frame.columns.duplicated(keep=False)]  # of which one would be taken, and a warning told
        for start in range(0, len(frame), AT_ONCE):
            yield from frame.iloc[start : start + AT_ONCE].to_dict("records")
    elif offers(frame, "read_next_batch"):
        for batch in frame:
            yield from batch.to_pylist()
    else:
        yield from frame if isinstance(frame, Iterable) else [frame]


def present(value: Any) -> Any:
    """A cell as Python has it, with what is in its objects; None for a missing value: NaN, NaT, NA."""
    if type(value) is str or type(value) is int:  # nearly always
        return value
    if isinstance(value, Mapping):
        return {str(name): present(own) for name, own in value.items()}
    if getattr(value, "ndim", 0) and str(getattr(value, "dtype", "")) == "object":
        value = value.tolist()  # lists of a Parquet file, in pandas
    if isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        return [present(part) for part in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 0) == 0:
        value = value.item()  # of numpy
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing or type(value).__name__ in ("NAType", "NaTType") else value
