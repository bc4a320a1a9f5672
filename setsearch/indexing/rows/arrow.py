"""Parquet and Arrow files, and frames of pandas, polars and Arrow, as rows."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from setsearch.errors import InvalidParameter, SourceError
from setsearch.indexing.libraries import load_library
from setsearch.indexing.rows.cells import Row


def arrow_rows(file: IO[bytes], path: Path) -> Iterator[Row]:
    """The rows of a Parquet, Arrow or Feather file."""
    pyarrow = load_library("pyarrow", f"{path}: Parquet and Arrow files", "arrow")
    from pyarrow import feather, parquet

    try:
        if path.suffix == ".parquet":
            batches: Iterable[Any] = parquet.ParquetFile(file).iter_batches()
        else:
            batches = feather.read_table(file).to_batches()
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", row
    except (pyarrow.ArrowException, OSError) as error:
        problem = " ".join(str(error).split())
        raise SourceError(f"{path} cannot be read: {problem:.200}; write it again") from error


def frame_rows(frame: Any) -> Iterator[Row]:
    """The rows of a frame of pandas or polars, or of an Arrow table; missing values are None."""
    if hasattr(frame, "iter_rows"):  # polars
        records: Iterable[Mapping[str, Any]] = frame.iter_rows(named=True)
    elif hasattr(frame, "to_pylist"):  # pyarrow
        records = frame.to_pylist()
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):  # pandas
        records = frame.to_dict("records")
    else:
        raise InvalidParameter(f"a frame is one of pandas, polars or Arrow, not {type(frame).__name__}")
    for number, record in enumerate(records, 1):
        yield f"row {number}", {str(name): _present(value) for name, value in record.items()}


def _present(value: Any) -> Any:
    """A cell as Python has it; None for a missing value: NaN, NaT, NA."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 0) == 0:
        value = value.item()  # of numpy
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing or type(value).__name__ in ("NAType", "NaTType") else value
