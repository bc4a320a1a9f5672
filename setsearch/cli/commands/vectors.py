"""The command that adds vectors of items."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import setsearch
from setsearch.cli.help import flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import Collection, Items, waiting_options, with_options
from setsearch.cli.progress import tell
from setsearch.errors import MissingDatabase, NoIndex, SourceError, UsageError, number_of
from setsearch.storage.ids import in_number

Pair = tuple[Any, Any]  # an id and a vector
REAL = "biuf"  # kinds of numbers, as numpy has them
VECTOR = "vector"  # the column, if none is named


class Place(NamedTuple):
    """Where vectors are."""

    ids: Annotated[
        str | None,
        option("FILE", "Of .npy: the id of each row, one a line; - for standard input. Default: the .txt beside it."),
    ] = None
    table: Annotated[str | None, option("NAME", "Read a table of DB itself.")] = None
    latent: Annotated[bool, flag("--latent", "Make them from the collection itself; `update` makes them anew.")] = False
    id: Annotated[str, option("COL", "Column with the ids of items.")] = "id"
    vector: Annotated[
        str | None, option("COL", "Column with the vectors. Default: vector, or all others, a number each.")
    ] = None


@with_options(place=Place, waiting=waiting_options)
def vectors(
    db: Collection,
    source: Annotated[str | None, typer.Argument(metavar="SOURCE", show_default=False)] = None,
    *,
    items: Items = None,
    replace: Annotated[bool, flag("--replace", "Put them in the place of all others.")] = False,
    place: Place,
    waiting: dict[str, Any],
) -> None:
    """Add vectors of items, by which questions also find what is like the seeds in meaning.

    SOURCE is a .npy file with a row for each id of --ids; or rows (JSONL, CSV, TSV, Parquet, Arrow) with an id and a
    vector, an array of numbers, or with a number in each other column. A --table of DB may hold vectors as float32 or
    JSON. Existing vectors of the same items are replaced. `index --encoder` makes vectors from texts, --latent from
    the features of all items together. Where there are no such --items, the vectors make them, and alone describe
    them: pictures, or sounds. The rows of a matrix without ids are numbered then.

    Example: setsearch vectors notes.db notes.npy --ids notes.txt
    """
    if [source is not None, place.table is not None, place.latent].count(True) != 1:
        raise UsageError("give one source of vectors: a file, --table NAME, or --latent")
    is_matrix = source is not None and is_matrix_file(source)
    if place.ids is not None and not is_matrix:
        raise UsageError("--ids FILE names the rows of a .npy file, and of no other")
    from setsearch.cli.set_files import nothing_skipped

    with db.open(create=source is not None, **waiting) as index:
        if place.latent:
            with tell("making vectors"):
                count = index.add_latent(items, replace=replace)
        elif is_matrix:
            count = add_matrix(index, Path(source or ""), place.ids, items, replace)
        else:
            try:
                with tell("reading") as follow, nothing_skipped():
                    names, rows = zip(*follow(_read_rows(db, source, place)), strict=True)
            except ValueError as error:
                raise SourceError(
                    f"{source or place.table} has no vectors; give one that has a row for each item"
                ) from error
            count = index.add_vectors(names, rows, items, replace=replace)
        tell_vectors(index, count, str(db))


def is_matrix_file(source: str) -> bool:
    """Whether a source is a matrix of vectors, by its name."""
    return source.endswith(".npy")


def tell_vectors(index: "setsearch.Index", count: int, db: str) -> None:
    """Say how many vectors were added, and what the index holds now."""
    held = index.info()["vectors"].items()
    parts = [
        f"{in_number(own['count'], name)} with {own['dimensions']} dimensions" for name, own in held if own["count"]
    ]
    say(f"added {number_of(count, 'vector')}; {db} now holds those of {', '.join(parts)}")


def add_matrix(index: "setsearch.Index", path: Path, ids: str | None, items: str | None, replace: bool) -> int:
    """Add the rows of a .npy file by the ids of another one, or numbered, as vectors; returns how many."""
    import numpy as np

    from setsearch.cli.set_files import read_ids

    try:
        matrix = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, EOFError) as error:
        raise SourceError(f"{path} is no .npy file of numbers; numpy.save(path, matrix) writes one") from error
    if matrix.ndim != 2 or not len(matrix):
        raise SourceError(f"{path} has the shape {matrix.shape}; give a matrix with a row for each id")
    if matrix.dtype.kind not in REAL:
        raise SourceError(f"{path} holds {matrix.dtype}; give a matrix of real numbers")
    if ids is None and path.with_suffix(".txt").is_file():
        ids = str(path.with_suffix(".txt"))
    if ids is None and not _makes_items(index, items):
        raise UsageError(f"--ids FILE names the rows of a .npy file; give it, or {path.with_suffix('.txt')}")
    names = [str(number) for number in range(1, len(matrix) + 1)] if ids is None else read_ids(ids)
    if len(names) != len(matrix):
        raise SourceError(
            f"{ids} has {number_of(len(names), 'id')}, {path} {number_of(len(matrix), 'row')}; give one id for each row"
        )
    with tell("reading") as follow:
        return index.add_vectors(names, follow(matrix), items, replace=replace)


def _makes_items(index: "setsearch.Index", items: str | None) -> bool:
    """Whether vectors make items of this name, or made the present ones."""
    from setsearch.storage.ids import plain_name
    from setsearch.storage.relation import VECTORS_OF

    try:
        readings = index.info()["readings"]
    except (NoIndex, MissingDatabase):
        return True
    named = [own for own in readings if items in (None, own["items"], plain_name(own["items"]))]
    return not named or plain_name(named[0]["features"]).startswith(VECTORS_OF)


def _read_rows(db: Collection, source: str | None, place: Place) -> Iterator[Pair]:
    """The id and vector of each row."""
    from setsearch.indexing.rows.cells import cell_number, require_columns
    from setsearch.indexing.rows.reader import RowReader
    from setsearch.indexing.rows.table_rows import TableRows

    numbers: list[str] | None = None  # the columns of a matrix, as the first row has them
    with closing(sqlite3.connect(db.path)) if place.table is not None else nullcontext() as host:
        table = None if place.table is None else TableRows(place.table, host)
        for position, row in RowReader(table=table).read(str(db) if source is None else source):
            if numbers is None:
                numbers = _columns_of_matrix(row, place) if source is not None else []
            named = numbers or [place.vector or VECTOR]
            require_columns(position, row, place.id, *named, choose="choose with `id`, `vector`")
            if not numbers and row[named[0]] is None:  # as in a row of `export`
                continue
            yield row[place.id], [cell_number(position, name, row[name]) for name in numbers] or row[named[0]]


def _columns_of_matrix(row: Mapping[str, Any], place: Place) -> list[str]:
    """All columns but that of the ids, if no vector is named or there, and one holds a number; else none."""
    from setsearch.indexing.rows.cells import cell_number
    from setsearch.indexing.rows.csv_rows import ROW_NAMES

    if place.vector is not None or VECTOR in row or place.id not in row:
        return []
    twice = {*getattr(row, "repeated", ())} - {""}  # which are refused
    names = [name for name in (*row, *sorted(twice)) if name not in (place.id, ROW_NAMES)]
    for name in names:
        with suppress(SourceError):
            cell_number("", name, row.get(name))
            return names
    return []
