"""Numbers and dates of a table of texts: a column, or the file, tells what 1.250 and 5/3/2026 say.

1.250 is a thousand where commas are the decimal marks of the column, or of a file with semicolons between its cells;
5/3/2026 is in March where another date of the column has a day beyond 12 first. Of 1.250 in a file with semicolons that
tells nothing else, and of 1,250 anywhere, nobody knows.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from setsearch.indexing.rows.cells import Cells, Row
from setsearch.text.numbers_and_dates import PLAIN_NUMBER, Written, bare_number, date_text, decimal_point, iso_date

LOOKED_AT_ROWS = 1000  # before the first one comes
_either = re.compile(r"[+−-]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII).fullmatch
_groups = re.compile(r"[+-]?[1-9]\d{0,2}(?:(\.)\d{3}){2,}|[+-]?[1-9]\d{0,2}(?:(,)\d{3}){2,}", re.ASCII).fullmatch
_digit = re.compile(r"\d", re.ASCII).search
_slashed = re.compile(r"\s*(\d{1,2})[/-] ?(\d{1,2})[/-]", re.ASCII).match
_other = {",": ".", ".": ","}


class BadRow(NamedTuple):
    """A row that cannot be read: its place, what is wrong, and what to correct."""

    position: str
    problem: str
    correct: str = "it"


Teller = tuple[Callable[[str], str | None], bool]  # what a cell says; whether its column itself tells that
Skip = Callable[[str, str, str], None]  # gets a bad row


def with_marks(rows: Iterable[Row | BadRow], delimiter: str, skip: Skip) -> Iterator[Row]:
    """Rows whose cells say what their columns tell. Some are looked at before the first one comes."""
    rows = iter(rows)
    head = [*islice(rows, LOOKED_AT_ROWS)]
    columns: dict[str, list[str]] = {}
    for _, cells in (row for row in head if not isinstance(row, BadRow)):
        for column, cell in cells.items():
            if cell and isinstance(cell, str):
                columns.setdefault(column, []).append(cell)
    tellers = _tellers(columns, delimiter)
    for row in chain(head, rows):
        if isinstance(row, BadRow):
            skip(*row)
            continue
        for column, (tell, is_sure) in tellers.items():
            cell = row[1].get(column)
            if cell:
                assert isinstance(row[1], Cells)
                row[1][column] = own = Written(cell)
                own.tell, own.is_sure = tell, is_sure
        yield row


def depends_on_column(cell: str) -> bool:
    """Whether other cells tell what this number says."""
    return _either(bare_number(cell)) is not None


def _tellers(columns: dict[str, list[str]], delimiter: str) -> dict[str, Teller]:
    """How the columns of numbers and dates write these."""
    found, undecided, all_seen = dict[str, Teller](), list[str](), set[str]()
    for column, texts in columns.items():
        cells = [text for text in texts if _digit(text)]  # not "-" and "n/a"
        if len({*texts} - {*cells}) > len(cells):  # a column of words, of which some say a number
            continue
        if all(date_text(cell, True) is not None for cell in cells):
            if not all(iso_date(cell.strip()) for cell in cells):
                found[column] = partial(date_text, day_first=_day_first(cells)), True
        elif all(map(_is_number, cells)):
            seen = {_decimal_mark(bare_number(cell)) for cell in cells} - {""}
            all_seen |= seen
            if len(seen) == 1:
                found[column] = partial(_plain, decimal=seen.pop(), is_sure=True), True
            else:
                undecided.append(column)
    decimal = "," if delimiter == ";" and "," in all_seen else "" if len(all_seen) != 1 else next(iter(all_seen))
    for column in undecided:
        if decimal or delimiter == ";":
            found[column] = partial(_plain, decimal=decimal, is_sure=False), False
    return found


def _is_number(cell: str) -> bool:
    return depends_on_column(cell) or PLAIN_NUMBER.fullmatch(decimal_point(bare_number(cell))) is not None


def _decimal_mark(cell: str) -> str:
    """The decimal mark that a number shows; empty if it may be either, or has none."""
    if groups := _groups(cell):
        return _other[groups[1] or groups[2]]
    last = max(cell.rfind("."), cell.rfind(","))
    return "" if last < 0 or _either(cell) else cell[last]


def _day_first(cells: Sequence[str]) -> bool | None:
    """Whether dates of a column begin with the day, as those say that have one beyond 12; None if none does."""
    pairs = [(int(found[1]), int(found[2])) for found in map(_slashed, cells) if found]
    orders = {first > 12 for first, second in pairs if max(first, second) > 12}
    return orders.pop() if len(orders) == 1 else None


def _plain(cell: str, decimal: str, is_sure: bool) -> str | None:
    """What a number says, if that differs from what it looks like alone, given the decimal mark, "" for none."""
    text = bare_number(cell)
    if (either := _either(text)) is not None:
        own = text.replace(either[1], "." if either[1] == decimal else "") if decimal else text.replace(".", ",")
    elif decimal == "," and is_sure and _is_number(text):
        own = decimal_point(text)
    else:
        return None
    return cell.strip().replace(text, own)  # without a decimal mark it is refused
