"""Files with sets of seeds, ids, or named sets."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from setsearch.answers.saved.exchange import OF_MEMBER, OF_SET, SIDES
from setsearch.errors import InvalidParameter, SourceError
from setsearch.indexing.rows.cells import Row
from setsearch.indexing.rows.csv_rows import Header
from setsearch.indexing.rows.opening import SKIPPING, STDIN, open_file
from setsearch.indexing.rows.reader import RowReader, file_ending
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns

COLUMNS = {*OF_SET, *OF_MEMBER}
GENE_SETS = ".gmt"  # a line a set: its name, what it is, which is left out, and its genes
GENE_SET = Header(("name", ""), "accepted", frozenset({""}), has_quotes=False)


def read_seed_sets(source: str) -> Iterator[tuple[str, list[str] | SourceError]]:
    """(place, seeds) of each line, a JSON array of texts; an error for a line that is none. `-` for standard input."""
    with _opened(source) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            place, shown = f"{source}, line {number}", f"{line.decode(errors='replace').strip():.60}"
            try:
                seeds = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield place, SourceError(f'broken JSON ({error}): {shown}; put texts in quotes, as ["lion", "tiger"]')
                continue
            if not isinstance(seeds, list) or not all(isinstance(seed, str) for seed in seeds):
                yield place, SourceError(f'not an array of texts such as ["lion", "tiger"]: {shown}')
                continue
            yield place, seeds


def read_ids(source: str) -> list[str]:
    """One id a line; `-` for standard input."""
    with _opened(source) as file:
        text = RowReader().decode(file.read(), source) or ""
    return [line for line in text.splitlines() if line]


def read_sets(source: str) -> dict[str, list[str]]:
    """Named sets, the accepted items of a file that `set import` reads; `-` for standard input."""
    from setsearch.answers.saved.exchange import read_row

    sets: dict[str, list[str]] = {}
    with nothing_skipped():
        for place, row in read_set_rows(source, RowReader()):
            try:
                name, members = read_row(row)
            except InvalidParameter as error:
                raise SourceError(f"{place}: {error}") from error
            sets.setdefault(name, []).extend(str(item) for item, is_in in members if is_in)
    return sets


def read_set_rows(source: str, reader: RowReader) -> Iterator[Row]:
    """Rows of sets or members, as `Index.import_sets` takes them; an object of arrays is a row a set.

    Columns may be in any case, with blanks around them.
    """
    if file_ending(Path(source)) == GENE_SETS:
        reader = replace(reader, delimiter="\t", header=GENE_SET)
    for place, row in SourceReader(Columns(), reader).rows_of(source):
        columns = {key: str(key).strip().lower() for key in row}
        if row and not {*SIDES}.issuperset(row) and all(isinstance(own, list) for own in row.values()):
            yield from ((f"{place}, {name!r:.60}", {"name": name, "accepted": own}) for name, own in row.items())
        else:
            yield place, {columns[key] if columns[key] in COLUMNS else key: cell for key, cell in row.items()}


def _opened(source: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if source == STDIN else open_file(Path(source))


@contextmanager
def nothing_skipped() -> Iterator[None]:
    """Raise a SourceError without the advice to skip bad rows: for commands that have no such option."""
    try:
        yield
    except SourceError as error:
        raise SourceError(str(error).replace(SKIPPING, "")) from error
