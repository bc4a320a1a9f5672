"""Generations: arrays that were derived from one revision of a relation, stored in slices; and who is at a long work.

One process derives at a time. It writes a generation slice by slice, in short transactions, and one row makes it
visible (`publish`). Until then the row tells who is at work, and until when, which each step renews. If that process is
dead, or the time over, another one takes over, and one that slept finds its row gone. What is derived may be deleted at
any moment: it is derived again. Growing sets (answers/saved/growth/) is told likewise: one process grows a group.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, starmap
from typing import Any

import numpy as np

from setsearch.arrays import Array
from setsearch.core.threads import side_by_side
from setsearch.errors import LostArrays, SetsearchError, TakenOver
from setsearch.sqlite.database import Bound, Database
from setsearch.sqlite.forks import is_gone, this_process
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.storage.codec import pack, unpack
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import Revision, random_number

LISTS, CONTEXTS = "lists", "contexts"  # the names of what is derived; of generations, and of files of arrays
SLICE = 1 << 16  # elements that are stored together
AT_WORK = 60.0  # seconds that a process may take for one step
BYTES_OF_WRITE = 1 << 22  # of slices that one transaction writes
SLICES_OF_DELETE = 32  # in one statement
_own = set[int]()  # the drafts of this process; a row of another one may be in a copied file


@dataclass(frozen=True)
class Generation(Bound):
    """The contexts that were derived from one revision of a relation, `state`."""

    id: int
    state: Revision

    def array(self, name: str, kinds: str = "iu") -> Array:
        """A whole array, of integers unless other `kinds` of numpy's are allowed. Raises LostArrays."""
        rows = self.cursor.execute(
            "select slice, data from setsearch_array where generation = ? and name = ? order by slice", (self.id, name)
        )
        parts = [_unpacked(self, name, slice_, data, kinds) for slice_, data in rows]
        if not parts or len(parts[-1]) != 1 or int(parts[-1][0]) != sum(map(len, parts[:-1])):
            raise LostArrays(f"the stored {name}")
        return np.concatenate([np.zeros(0, np.int64), *parts[:-1]])

    def json(self, name: str) -> Any:
        """The value of an array of `json_array`. Raises LostArrays."""
        try:
            return json_of(self.array(name))
        except (ValueError, RecursionError) as error:
            raise LostArrays(f"the stored {name}") from error

    def check(self) -> None:
        """Read all arrays; raises LostArrays."""
        names = self.cursor.execute("select distinct name from setsearch_array where generation = ?", (self.id,))
        for (name,) in names.fetchall():
            self.array(name, "iuf")  # earlier versions have floats


def find_generation(relation: Relation, name: str = CONTEXTS) -> Generation | None:
    """The published generation of a relation."""
    row = relation.cursor.execute(
        "select id, relation, revision, stamp from setsearch_generation "
        "where relation = ? and name = ? and published order by revision desc limit 1",
        (relation.id, name),
    ).fetchone()
    return None if row is None else Generation(row[0], Revision(*row[1:])).within(relation.cursor)


class Draft:
    """A generation that is being written. `begin` makes it."""

    def __init__(self, database: Database, id: int, relation: int, name: str, seconds: float) -> None:
        self._database, self._id, self._relation, self._name, self._seconds = database, id, relation, name, seconds

    @classmethod
    def begin(cls, database: Database, relation: int, name: str = CONTEXTS, seconds: float = AT_WORK) -> "Draft | None":
        """Start to derive; None if another process is at work, whose steps may take so many seconds.

        Raises LockedDatabase, ReadOnlyDatabase.
        """
        id = random_number()
        with database.write() as cursor:
            if who_writes(cursor, relation, name, seconds) is not None:
                return None
            forget(cursor, relation, name, is_whole=False)
            _own.add(id)
            cursor.execute(
                "insert into setsearch_generation (id, relation, name, revision, stamp, owner, until) "
                "values (?, ?, ?, 0, 0, ?, ?)",
                (id, relation, name, this_process(), time.time() + seconds),
            )
        with suppress(SetsearchError):  # else they go with the next ones
            _delete_orphans(database)
        return cls(database, id, relation, name, seconds)

    def renew(self) -> None:
        """Tell that this process is at work. Raises TakenOver if another one has taken over."""
        with self._database.write() as cursor:
            self.renew_in(cursor)

    def write(self, arrays: Iterable[tuple[str, Array]]) -> None:
        """Write arrays, a few slices in each transaction. Raises TakenOver if another process has."""
        insert = "insert into setsearch_array (generation, name, slice, data) values (?, ?, ?, ?)"
        rows, size = list[tuple[int, str, int, bytes]](), 0
        for row in side_by_side(partial(_packed, self._id), chain.from_iterable(starmap(_slices, arrays))):
            rows.append(row)
            size += len(row[-1])
            if size >= BYTES_OF_WRITE:
                self.execute(insert, rows)
                rows, size = [], 0
        self.execute(insert, rows)

    def execute(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute a statement for each row, in one transaction. Raises TakenOver if another took over."""
        with self._database.write() as cursor:
            self.renew_in(cursor)
            cursor.executemany(statement, rows)

    def publish(self, state: Revision) -> Generation:
        """Make the generation visible as that of a revision, and delete the ones before."""
        with self._database.write() as cursor:
            self.renew_in(cursor)
            cursor.execute(
                "delete from setsearch_generation where relation = ? and name = ? and id <> ?",
                (self._relation, self._name, self._id),
            )
            cursor.execute(
                "update setsearch_generation set published = 1, revision = ?, stamp = ? where id = ?",
                (state.number, state.stamp, self._id),
            )
        _own.discard(self._id)
        _delete_orphans(self._database)
        return Generation(self._id, state)

    def abandon(self) -> None:
        """Let others derive, as far as the database can be written."""
        _own.discard(self._id)
        with suppress(SetsearchError), self._database.write() as cursor:
            cursor.execute("delete from setsearch_generation where id = ? and not published", (self._id,))

    def renew_in(self, cursor: sqlite3.Cursor) -> None:
        """As `renew`, in a transaction that has begun."""
        cursor.execute(
            "update setsearch_generation set until = ? where id = ? and not published",
            (time.time() + self._seconds, self._id),
        )
        if cursor.rowcount != 1:
            raise TakenOver("another process took over what this one derived; ask again")


def who_writes(cursor: sqlite3.Cursor, relation: int, name: str, seconds: float) -> str | None:
    """The process that writes a generation; None if none does, or is silent for too long."""
    now, latest = time.time(), time.time() + 2 * seconds  # clocks are set back, and differ
    rows = cursor.execute(
        "select id, owner, until from setsearch_generation where relation = ? and name = ? and not published",
        (relation, name),
    ).fetchall()
    return next((own for id, own, until in rows if now <= until <= latest and not _is_dead(own, id)), None)


def forget(cursor: sqlite3.Cursor, relation: int, name: str = CONTEXTS, is_whole: bool = True) -> None:
    """Forget a generation, whose arrays go when the next one is made, or only the draft; who writes it is told then."""
    which = "relation = ? and name = ?" + " and not published" * (not is_whole)
    cursor.execute(f"delete from setsearch_generation where {which}", (relation, name))


def delete_generations(cursor: sqlite3.Cursor, kept: Iterable[int] = ()) -> None:
    """Delete everything that was derived, but for some generations."""
    ids = json.dumps([*kept])
    for table, id in (("generation", "id"), ("array", "generation")):
        cursor.execute(f"delete from setsearch_{table} where {id} not in (select value from json_each(?))", (ids,))


def _is_dead(owner: str, draft: int) -> bool:
    """Whether a process of this host is gone, or does not write that draft; False if that cannot be told."""
    return draft not in _own if owner == this_process() else is_gone(owner)


def _delete_orphans(database: Database) -> None:
    """Delete arrays without a generation, a few slices in each transaction."""
    is_left = True
    while is_left:
        with database.write() as cursor:
            cursor.execute(
                "delete from setsearch_array where rowid in (select rowid from setsearch_array "
                f"where generation not in (select id from setsearch_generation) limit {SLICES_OF_DELETE})"
            )
            is_left = cursor.rowcount == SLICES_OF_DELETE


def _slices(name: str, array: Array) -> Iterator[tuple[str, int, Array]]:
    """The numbered slices of an array; the last one holds the length, so that no end can get lost."""
    slices = [array[start : start + SLICE] for start in range(0, len(array), SLICE)]
    for number, own in enumerate([*slices, np.array([len(array)])]):
        yield name, number, own


def _packed(id: int, slice_: tuple[str, int, Array]) -> tuple[int, str, int, bytes]:
    """A slice as a row of the table."""
    name, number, values = slice_
    return id, name, number, add_checksum(pack(values), f"{id} {name} {number}")


def _unpacked(generation: Generation, name: str, slice_: int, data: bytes, kinds: str) -> Array:
    stored = strip_checksum(data, f"{generation.id} {name} {slice_}")
    values = None if stored is None else unpack(stored)
    if values is None or values.dtype.kind not in kinds:
        raise LostArrays(f"the stored {name}")
    return values


def json_array(value: object) -> Array:
    """A value as an array: the bytes of its JSON."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def json_of(array: Array) -> Any:
    """The value of such an array. Raises ValueError, RecursionError."""
    return json.loads(array.astype(np.uint8).tobytes())
