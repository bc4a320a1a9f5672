"""Rows of JSONL, CSV, TSV, Parquet and Arrow files, or of what stands in their place, each with its position."""

import codecs
import io
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from setsearch.errors import SourceError, UsageError
from setsearch.indexing.encodings import (
    LOOKED_AT,
    encoding_by_mark,
    fitting_encoding,
    is_encoded,
    is_text,
    likely_encoding,
    lines_as_utf8,
)
from setsearch.indexing.rows.arrow import STREAMED, arrow_rows, streamed_rows
from setsearch.indexing.rows.cells import OpenCells, Row
from setsearch.indexing.rows.csv_rows import (
    OTHER_DELIMITERS,
    Dialect,
    Header,
    cells_of,
    csv_rows,
    delimiter_of,
    split_old_ends,
)
from setsearch.indexing.rows.json_shapes import Read, first_within, parse_json, values_within
from setsearch.indexing.rows.opening import (
    MOST_UNPACKED,
    is_stream,
    open_file,
    open_stream,
    read_whole,
    require_named,
    stream_name,
)
from setsearch.indexing.rows.progress import Amount
from setsearch.indexing.rows.table_rows import GivenRows, TableRows

ARROW_FILES = (".parquet", ".arrow", ".feather")
JSON = ".json"  # an array of objects is rows, wrapped or not; anything else a text
JSON_LINES = (".jsonl", ".ndjson")
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ROW_FILES = (*JSON_LINES, *DELIMITERS, *ARROW_FILES)
_broken = re.compile(r".{0,20}[\udc80-\udcff].{0,20}")


@dataclass(frozen=True)
class RowReader:
    """Reads rows. `errors` is "strict", "replace" or "skip"; `warn` gets a message for each skipped row."""

    errors: str = "strict"
    warn: Callable[[str], None] = lambda message: None
    table: TableRows | GivenRows | None = None  # in place of files
    encoding: str | None = None  # of all files; None: UTF-8, and for a document or a CSV file what it looks like
    delimiter: str | None = None  # of CSV files; None: a comma, or what the header has instead
    header: Header | None = None  # of CSV files without one
    asked: frozenset[str] = frozenset()  # columns that the header has: lines above it may look like one
    decided: dict[str, list[str]] = field(default_factory=dict)  # files that were not UTF-8, by the encoding chosen
    amount: Amount = field(default_factory=Amount)  # how much is read
    shown: Callable[[str], str] = str  # what people call a file: that of an archive is unpacked elsewhere

    @cached_property
    def _streams(self) -> dict[str, io.BufferedReader]:
        return {}

    def telling(self, told: Callable[[str], str]) -> "RowReader":
        """A reader whose messages, and names of files, say what `told` makes of them."""
        return replace(self, warn=lambda message: self.warn(told(message)), shown=lambda name: self.shown(told(name)))

    def stream(self, source: str) -> io.BufferedReader:
        """Standard input, or another stream, unpacked; one can look at its beginning, and reads it once."""
        if source not in self._streams:
            self._streams[source] = open_stream(source)
        return self._streams[source]

    def read(self, source: str) -> Generator[Row]:
        """The rows of one source; raises SourceError."""
        if self.table is not None:
            yield from self.table.read(source)
        elif is_stream(source):
            yield from self._standard_rows(self.stream(source), stream_name(source))
        else:
            require_named([source])
            path, ending = Path(source), file_ending(Path(source))
            is_other = ending not in (*ROW_FILES, JSON) and self.header is None
            if is_other and first_row(path)[0] is None:
                has_none = f"{path} has no rows; give {', '.join((JSON, *ROW_FILES))}, or a table of an SQLite database"
                raise SourceError(has_none if path.exists() else unreadable(path))
            with open_file(path, self.amount) as file:
                if ending in ARROW_FILES:
                    yield from arrow_rows(file, path, self.warn)
                    return
                if is_other or ending in (JSON, *JSON_LINES):
                    ending = _json_kind(file) or ending
                reader, lines = self._by_bytes(file, source)
                if ending == JSON:
                    yield from reader._array_rows(lines, source, is_file=True)
                elif ending in JSON_LINES:
                    yield from reader._json_rows(lines, source)
                else:
                    yield from reader._csv_rows(lines, source, DELIMITERS.get(ending, ","))

    def _by_bytes(self, file: IO[bytes], name: str) -> tuple["RowReader", IO[bytes]]:
        """A file whose lines of bytes are lines of text, and its reader: another encoding becomes UTF-8."""
        begin = cast(io.BufferedReader, file).peek(LOOKED_AT)[:LOOKED_AT] if self.encoding is None else b""
        encoding = self.encoding or encoding_by_mark(begin) or "utf-8"
        with suppress(LookupError):
            encoding = codecs.lookup(encoding).name
        if not encoding.startswith(("utf-16", "utf-32")):
            return self, file
        text = replace(self, encoding=encoding).decode(read_whole(file, name), name)
        return replace(self, encoding=None), io.BufferedReader(io.BytesIO((text or "").encode()))

    def _standard_rows(self, file: io.BufferedReader, name: str) -> Iterator[Row]:
        """Rows on standard input: Parquet, Arrow, JSON Lines, a JSON array, or CSV, by how it begins."""
        if STREAMED.match(file.peek(LOOKED_AT)):
            yield from streamed_rows(file, name, self.warn)
            return
        reader, lines = self._by_bytes(file, name)
        begin = cast(io.BufferedReader, lines).peek(LOOKED_AT)[:LOOKED_AT]
        first = begin.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
        if self.header is not None:
            yield from reader._csv_rows(lines, name, ",")
        elif _is_array(begin):
            yield from reader._array_rows(lines, name)
        elif not first.startswith(b"{") and any(mark.encode() in first for mark in (",", *OTHER_DELIMITERS)):
            yield from reader._csv_rows(lines, name, ",")
        elif b"{" in begin or not first:
            yield from reader._object_rows(lines, name)
        else:
            raise SourceError(f"{name} is neither CSV nor JSON, and does not begin as another format; give a file")

    def _object_rows(self, lines: IO[bytes], name: str) -> Iterator[Row]:
        """Rows of which the first line is an object, or the beginning of one that wraps them all."""
        begin, are_lines = _first_lines(lines, b"")  # a broken one is told, and the others are not kept in memory
        if are_lines:
            yield from self._json_rows(chain(begin, lines), name)
            return
        data = b"".join(begin) + read_whole(lines, name)
        is_wrapped = first_within(data.decode("utf-8-sig", "replace")) is not None
        yield from (self._array_rows if is_wrapped else self._json_rows)(io.BytesIO(data), name)

    def _json_rows(self, lines: Iterable[bytes], name: str) -> Iterator[Row]:
        for number, text in self._lines(lines, name):
            position = f"{name}, line {number}"
            if not text.strip():
                continue
            try:
                values = parse_json(text)
                values = {"text": values} if isinstance(values, str) else values
                problem = "" if isinstance(values, dict) else "not a JSON object"
            except ValueError as error:
                problem = f"broken JSON ({error})"
            if not problem:
                yield position, OpenCells(values)
            else:
                self._skip(position, problem)

    def _array_rows(self, file: IO[bytes], name: str, is_file: bool = False) -> Iterator[Row]:
        """The objects of a JSON array, or of what wraps one; a text of an array is a row with a `text`."""
        read = self._text_of(file, name, is_file)
        number = 0

        def tell(beside: str) -> None:
            """What wraps the rows, and is none."""
            self.warn(f"{name}: left out {beside:.100} beside the rows")

        try:
            for number, (value, written, broken_json) in enumerate(values_within(read, tell), 1):
                problem = broken_json
                if not problem and not isinstance(value, (dict, str)):
                    problem = "not a JSON object"
                if not problem and (broken := broken_bytes(written)):
                    problem = f"invalid {self.encoding or 'UTF-8'} in {broken}; `errors=replace` reads it"
                if not problem:
                    yield f"{name}, entry {number}", OpenCells({"text": value} if isinstance(value, str) else value)
                else:
                    self._skip(f"{name}, entry {number}", problem)
        except ValueError as error:
            if not number or self.errors != "skip":
                raise SourceError(f"{name}: broken JSON ({error}); correct it") from error
            self.warn(f"skipped {name} behind entry {number}: broken JSON ({error})")

    def _text_of(self, file: IO[bytes], name: str, is_file: bool) -> Read:
        """The text of a file, which is read piece by piece if it is UTF-8."""
        if is_file and self.encoding is None and is_encoded(file):
            file.seek(0)
            return codecs.getreader("utf-8-sig")(file).read
        if is_file:
            file.seek(0)
        return io.StringIO(self.decode_file(read_whole(file, name), name, has_records=True) or "", newline="").read

    def _csv_rows(self, file: IO[bytes], name: str, delimiter: str) -> Iterator[Row]:
        dialect = Dialect(self.delimiter, delimiter, self.asked, self.header)
        yield from csv_rows(self._lines(file, name), name, dialect, self._skip, self.warn)

    def _lines(self, lines: Iterable[bytes], name: str) -> Iterator[tuple[int, str]]:
        """The lines of a file as text, with their numbers, in the encoding that it looks like; bad ones are skipped."""
        own = lines if self.encoding else lines_as_utf8(lines, lambda found: self.decide(found, name))
        for number, line in enumerate(split_old_ends(own), 1):
            text = self.decode(line, f"{name}, line {number}")
            if text is not None:
                yield number, text

    def _skip(self, position: str, problem: str, correct: str = "it") -> None:
        """Skip a row with a warning, or raise SourceError."""
        if self.errors != "skip":
            raise SourceError(f"{position}: {problem}; correct {correct}, or pass `errors=skip`")
        self.warn(f"skipped {position}: {problem}")

    def decode_file(self, data: bytes, name: str, *, has_records: bool) -> str | None:
        """A whole file to text, in the encoding that it looks like; None to skip it.

        Of a file that `has_records` only some are skipped: bytes that are no text become lone surrogates.
        """
        if self.encoding is None:
            try:
                return data.decode(encoding_by_mark(data) or "utf-8-sig")
            except UnicodeDecodeError:
                found = likely_encoding(data) if b"\0" not in data else None
                if found is not None:
                    self.decide(found, name)
                    return data.decode(found, "replace")
        if has_records and self.errors == "skip":
            with suppress(UnicodeDecodeError, LookupError):
                return data.decode(self.encoding or "utf-8-sig", "surrogateescape")
        return self.decode(data, name)

    def decide(self, encoding: str, name: str) -> None:
        """Note that a file is not UTF-8."""
        self.decided.setdefault(encoding, []).append(self.shown(name))

    def decode(self, data: bytes, position: str) -> str | None:
        """Bytes to text, UTF-8 unless `encoding` says otherwise; None to skip it."""
        encoding = self.encoding or "utf-8-sig"
        try:
            return data.decode(encoding)
        except LookupError:
            raise UsageError(
                f"the encoding {encoding!r:.40} is unknown; try utf-8, latin-1, cp1252, shift_jis"
            ) from None
        except UnicodeDecodeError as error:
            if self.errors == "replace":
                return data.decode(encoding, "replace")
            found = fitting_encoding(data) if self.encoding else None  # without one, this was tried
            if self.errors == "skip":
                told = f"skipped {position}: invalid {self.encoding or 'UTF-8'} at byte {error.start}"
                self.warn(f"{told}; {f'`encoding={found}`' if found else '`errors=replace`'} reads it")
                return None
            line = data.count(b"\n", 0, error.start) + 1
            place = f"byte {error.start}" + (f" (line {line})" if line > 1 else "")
            raise SourceError(
                f"{position} is not {self.encoding or 'UTF-8'}: {place} is 0x{data[error.start]:02x}; "
                f"{f'pass `encoding={found}`' if found else 'name its `encoding`'}, "
                "or pass `errors=replace` or `errors=skip`"
            ) from error


def broken_bytes(text: str) -> str | None:
    """The first line of a text that has bytes which were no text (lone surrogates), escaped; None if there is none."""
    found = None if text.isascii() else _broken.search(text)
    return None if found is None else ascii(found[0].strip().encode("utf-8", "surrogateescape"))[1:60]


def file_ending(path: Path) -> str:
    """The ending of a file, without .gz."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def first_row(path: Path, or_whole: bool = False) -> tuple[Mapping[str, Any] | None, bytes]:
    """The first row of a file, or the columns of it, None if it has none or cannot be read; and how it begins.

    `or_whole`: an object of JSON may be one.
    """
    with suppress(SourceError, ValueError, OSError), open_file(path) as file:
        begin = cast(io.BufferedReader, file).peek(LOOKED_AT)[:LOOKED_AT]
        encoding, is_json, first = encoding_by_mark(begin) or "utf-8-sig", file_ending(path) == JSON, None
        text = begin.decode(encoding, "replace").lstrip()
        with suppress(SourceError, ValueError, OSError):
            if not text.startswith(("[", "{")):
                is_table = not is_json and (encoding != "utf-8-sig" or is_text(begin))
                first = _first_cells(text) if is_table else None
            elif (kind := _json_kind(file)) == JSON:
                first = next(values_within(codecs.getreader(encoding)(file, "replace").read)).value
            elif kind is not None:
                first = parse_json(file.readline().decode(encoding, "replace"))
            elif is_json:
                first = first_within(read_whole(file, path, MOST_UNPACKED).decode(encoding, "replace"), or_whole)
        return OpenCells(first) if isinstance(first, dict) else None, begin
    return None, b""


def _first_cells(text: str) -> Mapping[str, str] | None:
    """The names that the first line of a text has between delimiters; None if it has not two."""
    first, _, rest = text.partition("\n")
    first = (rest.partition("\n")[0] if first.lower().startswith(("sep=", '"sep=')) else first).rstrip("\r")
    names = cells_of(first, delimiter_of(first, ","))
    return dict.fromkeys(names, "") if 2 <= len({*names}) == len(names) and all(names) else None


def unreadable(path: Path) -> str:
    """Why a path is no source."""
    if not path.exists():
        return f"{path} does not exist; give a folder, a file, or - for standard input"
    kinds = f"give texts, {', '.join(ROW_FILES)}, .pdf, mail, or a table of an SQLite database"
    return f"{path} is not text; {kinds}; `errors=replace` reads a text with some other bytes"


def is_array(path: Path) -> bool:
    """Whether a JSON file holds rows: an array of objects or of texts, or an object a line. No if it cannot be read."""
    if file_ending(path) != JSON:
        return False
    with suppress(SourceError), open_file(path) as file:
        return _json_kind(file) is not None
    return False


def is_array_of(data: bytes, ending: str) -> bool:
    """The same of the bytes of a file."""
    return ending == JSON and _json_kind(io.BufferedReader(io.BytesIO(data))) is not None


def beginning(path: Path) -> bytes:
    """The first bytes of a file, decompressed. Raises SourceError."""
    with open_file(path) as file:
        return file.read(LOOKED_AT)


def _up_to_text(lines: IO[bytes]) -> Iterator[bytes]:
    """The next lines, up to the first that is not blank."""
    for line in lines:
        yield line
        if line.strip():
            return


def _json_kind(file: IO[bytes]) -> str | None:
    """What a JSON file holds: an array of objects or texts, an object a line, or something else."""
    begin = cast(io.BufferedReader, file).peek(LOOKED_AT)[:LOOKED_AT]
    if _is_array(begin):
        return JSON
    if not begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return None
    place = file.tell()
    try:
        return JSON_LINES[0] if _first_lines(file)[1] else None
    finally:
        file.seek(place)


def _is_array(begin: bytes) -> bool:
    if (encoding := encoding_by_mark(begin)) is not None:
        begin = begin.decode(encoding, "ignore").encode()
    return re.match(rb"(\xef\xbb\xbf)?\s*\[\s*[{\"]", begin) is not None


def _first_lines(file: IO[bytes], following: bytes = b"{") -> tuple[list[bytes], bool]:
    """The first lines of a file, and whether these are a JSON object on one line, and one that begins as another."""
    first, rest = [*_up_to_text(file)], [*_up_to_text(file)]
    are_lines = False
    if rest and (after := rest[-1].lstrip()) and after.startswith(following):
        with suppress(ValueError, RecursionError):
            are_lines = isinstance(json.loads(first[-1].removeprefix(b"\xef\xbb\xbf")), dict)
    return first + rest, are_lines
