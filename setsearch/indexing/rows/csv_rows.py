"""Rows of CSV as spreadsheets, databases and people write it."""

import csv
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Literal, NamedTuple

from setsearch.errors import SourceError, UsageError, number_of
from setsearch.indexing.rows.cells import Cells, Row, repeated_names
from setsearch.indexing.rows.decimal_marks import BadRow, Skip, with_marks

OTHER_DELIMITERS = (";", "\t", "|")
LONGEST_FIELD = 2**31 - 1  # the most that csv takes everywhere
END_OF_DOS = "\x1a"  # what old programs write at the end of a file
MOST_ABOVE = 10  # lines above a header
ROW_NAMES = "rownames"  # the column that R and pandas leave without a name
OTHERS = "..."  # behind the name of a column that has all other cells
COMMENTS = ("#", "!")  # how lines of comments begin
_names_delimiter = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE).fullmatch
_old_ends = re.compile(rb"(?<=\r)(?!\n)")


class Header(NamedTuple):
    """The names of columns; the cells behind these are a list named `rest`, are left out if that is empty, or wrong."""

    names: tuple[str, ...]
    rest: str | None = None
    repeated: frozenset[str] = frozenset()  # names of several columns, or none, which are left out
    has_quotes: bool = True  # around cells; else quotes are letters

    def cells(self, row: list[str]) -> Cells | None:
        """The cells of a row by column; None if it has too few or too many. Columns without a name may be missing."""
        number = len(self.names)
        if len(row) != number:
            if any(self.names[len(row) :]) or (self.rest is None and any(row[number:])):
                return None
            row = row + [""] * (number - len(row))
        pairs = zip(self.names, row, strict=False)
        cells = Cells.but(self.repeated, pairs)
        if self.rest:
            cells[self.rest] = [cell for cell in row[number:] if cell]
        return cells


class Dialect(NamedTuple):
    """How a table is written: the delimiter, else the usual one or what the header has; columns of the header.

    `header` is that of a table without one, where lines of comments may be at the beginning.
    """

    delimiter: str | None
    usual: str
    asked: frozenset[str] = frozenset()
    header: Header | None = None


def header_of(text: str) -> Header:
    """The header that a text names, such as "set,about,gene..."; raises UsageError."""
    *names, last = [name.strip() for name in text.split(",")]
    rest = last.removesuffix(OTHERS).rstrip() if last.endswith(OTHERS) else None
    names += [last] if rest is None else []
    named = [*names, *filter(None, [rest])]
    if not all(names) or not named or len({*named}) < len(named):
        raise UsageError(f"`header` names columns once each, such as set,about,gene{OTHERS}, not {text!r:.60}")
    return Header(tuple(names), rest)


def csv_rows(
    lines: Iterable[tuple[int, str]], name: str, dialect: Dialect, skip: Skip, tell: Callable[[str], None]
) -> Iterator[Row]:
    """The rows below a header, given the numbered lines; `skip` raises, or notes a bad row, of which one line goes.

    What stands above the header, as what services say of an export, is left out; `tell` gets a message.
    """
    csv.field_size_limit(min(sys.maxsize, LONGEST_FIELD))
    delimiter, usual, asked, header = dialect
    source = _Lines(lines)
    first = source.peek()
    if first and (named := _names_delimiter(first)):
        delimiter = delimiter or named[1]
        next(source)
        first = source.peek()
    above = source.take_comments() if header else source.take_above(Dialect(delimiter, usual, asked))
    if above:
        tell(left_above(name, above, "rows" if header else "header"))
        first = source.peek()
    delimiter = delimiter or delimiter_of(first, usual)
    others = first.split(delimiter)[1:]
    is_spaced = others != [] and all(name.startswith(" ") for name in others)  # id, "a text"
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if header is None or header.has_quotes else csv.QUOTE_NONE
    rows = csv.reader(source, delimiter=delimiter, strict=True, skipinitialspace=is_spaced, quoting=quoting)
    yield from with_marks(_below_header(rows, source, name, header), delimiter, skip)


def _below_header(
    rows: Iterator[list[str]], source: "_Lines", name: str, given: Header | None
) -> Iterator[Row | BadRow]:
    header = given
    while True:
        source.begin_row()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            position = f"{name}, line {source.first}"
            if header is None:
                raise SourceError(f"{position}: {error}; correct the quotes") from error
            yield BadRow(position, str(error), "the quotes")
            source.go_back()
            continue
        if header is None:
            names = with_row_names(column.strip() for column in row)
            header = Header(names, None, repeated_names(names))
        elif any(row) and row != [END_OF_DOS]:
            position = f"{name}, line {source.first}"
            cells = header.cells(row)
            if cells is not None:
                yield position, cells
            else:
                yield BadRow(position, f"{number_of(len(row), 'field')}, but the header has {len(header.names)}")


def with_row_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of columns; a first one without a name, where all others have one, is that of names of rows."""
    own = tuple(names)
    is_nameless = len(own) > 1 and not own[0] and all(own[1:]) and ROW_NAMES not in own
    return (ROW_NAMES, *own[1:]) if is_nameless else own


def left_above(name: object, above: Sequence[str], what: str = "header") -> str:
    """That some lines above a header, or rows, are left out, for people."""
    told = f"{len(above)} lines" if len(above) > 1 else "a line"
    return f"{name}: left out {told} above the {what} ({above[0].strip():.60})"


def delimiter_of(header: str, usual: str) -> str:
    """The delimiter of a header: what it has most outside quotes, or the usual one."""
    return max((usual, *OTHER_DELIMITERS), key=re.sub(r'"[^"]*"', "", header).count)


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of one line; none if its quotes are broken."""
    with suppress(csv.Error):
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    return []


def split_old_ends(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that end with a carriage return are lines too."""
    for line in lines:
        if b"\r" in line[:-2]:
            yield from _old_ends.split(line)
        else:
            yield line


class _Lines:
    """Lines of a file, with those of the present row, which can be read again."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = iter(lines)
        self._again: deque[tuple[int, str]] = deque()
        self._taken: list[tuple[int, str]] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        own = self._again.popleft() if self._again else next(self._lines)
        self._taken.append(own)
        return own[1]

    @property
    def first(self) -> int:
        """The number of the first line of the present row."""
        return self._taken[0][0] if self._taken else 1

    def peek(self) -> str:
        """The next line that is not blank, which stays; those before it go."""
        while own := self._again.popleft() if self._again else next(self._lines, None):
            if own[1].strip():
                self._again.appendleft(own)
                return own[1]
        return ""

    def take_comments(self) -> list[str]:
        """Take the lines at the beginning that are comments."""
        taken = []
        while self.peek().startswith(COMMENTS):
            taken.append(self._again.popleft()[1])
        return taken

    def take_above(self, dialect: Dialect) -> list[str]:
        """Take the lines above a header, if there are some: that of the first line with all columns that are asked for.

        Else they have one filled cell, which is no name of a column. The header has three cells or more then, all
        distinct names, and the row below it as many.
        """
        delimiter, usual, asked, _ = dialect
        ahead = self._again = deque([*self._again, *islice(self._lines, MOST_ABOVE)])
        for number, (_, line) in enumerate(ahead if asked else ()):
            if asked.issubset(cells_of(line, delimiter or delimiter_of(line, usual))):
                return [line for line in (ahead.popleft()[1] for _ in range(number)) if line.strip()]
        for number, (_, line) in enumerate(ahead):
            own = delimiter or delimiter_of(line, usual)
            header = cells_of(line, own)
            if len([*filter(None, header)]) < 2 and (len(header) != 1 or " " in header[0]):
                continue
            row = "".join(line for _, line in islice(ahead, number + 1, number + 2))
            is_row = not row or row.count('"') % 2 or len(cells_of(row, own)) == len(header)
            if (
                number
                and is_row
                and len(header) > 2
                and len({*header}) == len(header)
                and all(cell and not cell[0].isdigit() for cell in header)
            ):
                return [line for line in (ahead.popleft()[1] for _ in range(number)) if line.strip()]
            break
        return []

    def begin_row(self) -> None:
        """A row begins with the next line."""
        self._taken = []

    def go_back(self) -> None:
        """The lines behind the first one of the row come again."""
        self._again.extendleft(reversed(self._taken[1:]))
