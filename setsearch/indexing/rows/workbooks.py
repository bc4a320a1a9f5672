"""Rows of workbooks: those of a sheet below its header, and of later sheets with the same header."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from setsearch.indexing.formats.office import comments, without_values
from setsearch.indexing.formats.part import Unread
from setsearch.indexing.libraries import load_library
from setsearch.indexing.rows.cells import Cells, Row, repeated_names
from setsearch.indexing.rows.csv_rows import MOST_ABOVE, left_above, with_row_names

TEXT = frozenset(("text",))  # the column of documents by default
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")


class Sheet(NamedTuple):
    """The rows of a sheet, each with its number, by column, and what stands above its header, line by line.

    One of a single column has no names, until its own is asked for: it may be a preface.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[int, tuple[Any, ...]]]
    above: list[str]

    @property
    def is_table(self) -> bool:
        """Whether there are rows with names of columns."""
        return bool(self.columns and self.rows)


def read_workbook(data: bytes, ending: str) -> Iterator[Sheet | Unread]:
    """The sheets that are not empty, below a header of two names or more, if they have one; then what is not read."""
    read = {".xls": _old_sheets, ".ods": _open_sheets}.get(ending, _sheets)
    yield from (sheet for name, rows in read(data) if (sheet := _sheet(name, rows)) is not None)
    yield from without_values(data)
    yield Unread("comment{s} on cells", comments(data))


def below_asked(sheet: Sheet, asked: frozenset[str]) -> Sheet:
    """A sheet with the header that has the columns that are asked for, which may be below another one."""
    wanted = asked or (frozenset() if sheet.columns else TEXT)
    if wanted.issubset(sheet.columns):
        return sheet
    for place, (_, row) in enumerate(sheet.rows[:MOST_ABOVE], 1):
        if wanted.issubset(columns := _columns(row)):
            lines = [_line(sheet.columns), *(_line(own) for _, own in sheet.rows[: place - 1])]
            above = [*sheet.above, *filter(None, lines)]
            return Sheet(sheet.name, columns, sheet.rows[place:], above)
    return sheet


def first_asked(sheets: Sequence[Sheet], asked: frozenset[str]) -> Sheet:
    """The first sheet of rows with the columns that are asked for, or the first one."""
    tables = [sheet for sheet in sheets if sheet.is_table]
    return next((sheet for sheet in tables if asked.issubset(sheet.columns)), tables[0])


def sheet_rows(
    sheets: Sequence[Sheet], path: object, asked: frozenset[str], warn: Callable[[str], None]
) -> Iterator[Row]:
    """The rows of the first sheet that is as asked, and of those with the same columns; `warn` gets names of others."""
    first = first_asked(sheets, asked)
    tables = enumerate((own for own in sheets if own.is_table), 1)
    same = [(number, own) for number, own in tables if own.columns == first.columns]
    if names := ", ".join(own.name for own in sheets if own.columns != first.columns):
        warn(f"{path}: read the sheet {first.name}, not those with other columns ({names:.100})")
    repeated = repeated_names(first.columns)
    for sheet, own in same:
        if own.above:
            warn(left_above(f"{path}, sheet {own.name}" if sheet > 1 else path, own.above))
        for number, row in own.rows:
            place = f"row {number}" if sheet == 1 else f"sheet {own.name}, row {sheet}!{number}"
            padded = (*row, *[None] * (len(own.columns) - len(row)))
            yield f"{path}, {place}", Cells.but(repeated, zip(own.columns, padded, strict=False))


def _sheet(name: str, rows: Iterable[Sequence[Any]]) -> Sheet | None:
    numbered = ((number, tuple(row)) for number, row in enumerate(rows, 1))
    lines = [(number, row) for number, row in numbered if any(cell not in (None, "") for cell in row)]
    place = next((place for place, (_, row) in enumerate(lines) if _is_header(row)), None)
    if place is None:
        return Sheet(name, (), lines, []) if lines else None
    return Sheet(name, _columns(lines[place][1]), lines[place + 1 :], [_line(row) for _, row in lines[:place]])


def _line(row: Iterable[Any]) -> str:
    """The filled cells of a row, for people."""
    return " ".join(str(cell) for cell in row if cell not in (None, ""))


def _columns(row: Iterable[Any]) -> tuple[str, ...]:
    return with_row_names("" if cell is None else str(cell).strip() for cell in row)


def _is_header(row: Sequence[Any]) -> bool:
    """Whether a row has names: what stands above a table is in one cell."""
    filled = [cell for cell in row if cell not in (None, "")]
    return len(filled) > 1 and all(isinstance(cell, str) for cell in filled)


def _sheets(data: bytes) -> Iterator[tuple[str, Iterable[Sequence[Any]]]]:
    openpyxl = load_library("openpyxl", ".xlsx files", "office")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # some programs write wrong ones
        yield sheet.title, sheet.iter_rows(values_only=True)


def _old_sheets(data: bytes) -> Iterator[tuple[str, Iterable[Sequence[Any]]]]:
    xlrd = load_library("xlrd", ".xls files", "office")
    book = xlrd.open_workbook(file_contents=data)
    for sheet in book.sheets():
        yield sheet.name, ([_old_cell(xlrd, book, cell) for cell in sheet.row(n)] for n in range(sheet.nrows))


def _old_cell(xlrd: Any, book: Any, cell: Any) -> Any:
    """A cell of Excel of before 2007, which has no whole numbers."""
    if cell.ctype == xlrd.XL_CELL_DATE:
        return xlrd.xldate_as_datetime(cell.value, book.datemode)
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return int(cell.value) if float(cell.value).is_integer() else cell.value
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    return cell.value if cell.ctype == xlrd.XL_CELL_TEXT else None


def _open_sheets(data: bytes) -> Iterator[tuple[str, Iterable[Sequence[Any]]]]:
    odfdo = load_library("odfdo", "OpenDocument files", "office")
    for table in odfdo.Document(io.BytesIO(data)).body.tables:
        table.rstrip(aggressive=True)  # a sheet may have a million empty rows
        yield table.name, table.get_values()
