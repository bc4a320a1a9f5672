"""Whether our tables are intact: their declarations, checksums, and SQLite's own checks.

One checksum covers the small tables that nothing else verifies: kinds, relations, sources. Saved sets and their members
may be many: each write adds to sums of hashes what it changes, and a check compares these. Names are also in an index,
frequencies of features are those of the lists. Each block of lists has a checksum that binds it to its place; texts,
numbers and derived values have checksums of their own. They are compared wherever these are read.
"""

import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from setsearch.errors import CorruptIndex
from setsearch.sqlite.schema import columns, declared

CHECKED = ("kind", "relation", "origin")  # tables under the checksum
SMALL, MEMBERS, SETS = 1, 2, 3  # ids of the checksum, and of the sums
SUMMED = {"set": SETS, "member": MEMBERS}  # tables with a sum of their own; earlier files have them under the checksum
MODULUS = 1 << 62  # of a sum that SQLite stores as a whole number
CHECKSUM_BYTES = 4  # of CRC-32


def add_checksum(data: bytes, place: str) -> bytes:
    """The bytes, followed by their CRC-32, which includes where they are stored."""
    return data + zlib.crc32(data, zlib.crc32(place.encode())).to_bytes(CHECKSUM_BYTES, "little")


def strip_checksum(data: bytes, place: str) -> bytes | None:
    """The inverse of `add_checksum`; None if the checksum does not match."""
    body = data[:-CHECKSUM_BYTES]
    return body if add_checksum(body, place) == data else None


def require_tables(cursor: sqlite3.Cursor, database: str) -> None:
    """Refuse tables that we did not declare: a view in place of a table could run forever."""
    triggers = cursor.execute(
        "select name from sqlite_master where type = 'trigger' and tbl_name like 'setsearch\\_%' escape '\\'"
    ).fetchone()
    ours = [column for column in columns(cursor) if column[0] in declared()]
    if triggers or ours != [*chain.from_iterable(declared().values())]:
        raise CorruptIndex(f"{database} has tables named setsearch_... that setsearch did not make")


class Seal(NamedTuple):
    """The checksum of the small tables, and the sums of sets and of members, in one transaction."""

    cursor: sqlite3.Cursor

    def write(self) -> None:
        """Store the checksum of the present content: the last step of every write."""
        self._store(SMALL, self._checksum(CHECKED))

    def sums(self) -> dict[int, int]:
        """Those of the last write: others if relations, saved sets or their members changed."""
        return dict(self.cursor.execute("select id, sum from setsearch_seal order by id"))

    def differs(self, tables: Collection[str] = CHECKED) -> bool:
        """Whether the tables changed since our last write; False if there was none."""
        stored = self.sums().get(SMALL)
        return stored is not None and stored != self._checksum(tables)

    @contextmanager
    def members(self, name: str, items: Collection[str] | None = None) -> Iterator[None]:
        """What is written to members of a set in the block, to all or to some `items`, changes the sum of members.

        The difference is added, so that earlier damage stays visible. Blocks must not be within one another.
        """
        with self._adding(MEMBERS, lambda: self._sum_of(name, items)):
            yield

    @contextmanager
    def sets(self, names: Iterable[str]) -> Iterator[None]:
        """What is written to some sets, but not to their members, in the block changes the sum of sets likewise."""
        own = [*names]
        with self._adding(SETS, lambda: sum(self._sum("set", "where name = ?", name) for name in own)):
            yield

    @contextmanager
    def _adding(self, id: int, sum_now: Callable[[], int]) -> Iterator[None]:
        before = sum_now()
        yield
        if change := sum_now() - before:
            self._store(id, (self.sums().get(id, 0) + change) % MODULUS)

    def accept_sums(self, again: bool = True) -> None:
        """Take sets and members as they are now; unless `again`, only those that have no sum yet."""
        known = () if again else self.sums()
        for table, id in SUMMED.items():
            if id not in known:
                self._store(id, self._sum(table))

    def changed(self) -> list[str]:
        """The tables of sets and of members, if something else than our writes changed them."""
        sums = self.sums()
        return [table for table, id in SUMMED.items() if sums.get(id, 0) != self._sum(table)]

    def _store(self, id: int, sum: int) -> None:
        self.cursor.execute("insert or replace into setsearch_seal (id, sum) values (?, ?)", (id, sum))

    def _sum_of(self, name: str, items: Collection[str] | None) -> int:
        if items is None:
            return self._sum("member", "where name = ?", name)
        return sum(self._sum("member", "where name = ? and item = ?", name, item) for item in items)

    def _sum(self, table: str, where: str = "", *values: str) -> int:
        return sum(map(_hash, self.cursor.execute(f"select * from setsearch_{table} {where}", values))) % MODULUS

    def _checksum(self, tables: Collection[str]) -> int:
        checksum = 0
        for table in tables:
            key = "1, 2" if table == "member" else "1"
            rows = self.cursor.execute(f"select * from setsearch_{table} order by {key}")
            checksum = zlib.crc32("".join(map(repr, rows)).encode(), checksum)
        return checksum


def _hash(row: tuple[object, ...]) -> int:
    """64 bits. Sums of CRC-32 could cancel, which is linear."""
    from hashlib import blake2b  # slow to import, and no question needs it

    return int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest())


def sqlite_problems(cursor: sqlite3.Cursor) -> Iterator[str]:
    """What SQLite's integrity check says of our tables: pages, types, indexes that disagree with tables."""
    for table in declared():
        for (line,) in cursor.execute(f"pragma integrity_check({table})").fetchall():
            if line != "ok":
                yield f"{table}: {line}"


def is_damaged(connection: sqlite3.Connection) -> bool:
    """Whether SQLite finds a problem, or cannot even look."""
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        is_ours = cursor.execute("select 1 from main.sqlite_master where name = 'setsearch_relation'").fetchone()
        return is_ours is not None and any(sqlite_problems(cursor))
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # a damaged schema need not be UTF-8
        return True
    finally:
        cursor.close()
