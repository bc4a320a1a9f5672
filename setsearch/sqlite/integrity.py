"""Whether our tables are intact: their declarations, checksums, and SQLite's own checks.

One checksum covers the small tables that nothing else verifies: kinds, relations, sources, saved sets. Names are also
in an index, frequencies of features are those of the lists. Each block of lists has a checksum that binds it to its
place; texts, numbers and derived values have checksums of their own. They are compared wherever these are read.
"""

import sqlite3
import zlib
from collections.abc import Iterator
from itertools import chain

from setsearch.errors import CorruptIndex
from setsearch.sqlite.schema import columns, declared

CHECKED = ("kind", "relation", "origin", "set", "member")  # tables under the checksum
CHECKSUM_BYTES = 4


def add_checksum(data: bytes, place: str = "") -> bytes:
    """The bytes, followed by their CRC-32, which includes where they are stored."""
    return data + zlib.crc32(data, zlib.crc32(place.encode())).to_bytes(CHECKSUM_BYTES, "little")


def strip_checksum(data: bytes, place: str = "") -> bytes | None:
    """The inverse of `add_checksum`; None if the checksum does not match."""
    body, stored = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    checksum = zlib.crc32(body, zlib.crc32(place.encode())).to_bytes(CHECKSUM_BYTES, "little")
    return body if checksum == stored else None


def require_tables(cursor: sqlite3.Cursor, database: str) -> None:
    """Refuse tables that we did not declare: a view in place of a table could run forever."""
    triggers = cursor.execute(
        "select name from sqlite_master where type = 'trigger' and tbl_name like 'setsearch\\_%' escape '\\'"
    ).fetchone()
    ours = [column for column in columns(cursor) if column[0] in declared()]
    if triggers or ours != [*chain.from_iterable(declared().values())]:
        raise CorruptIndex(f"{database} has tables named setsearch_... that setsearch did not make")


def write_checksum(cursor: sqlite3.Cursor) -> None:
    """Store the checksum of the present content: the last step of every write."""
    cursor.execute("insert or replace into setsearch_seal (id, sum) values (1, ?)", (_checksum(cursor),))


def stored_checksum(cursor: sqlite3.Cursor) -> int | None:
    """The checksum of the last write: another one if relations or saved sets changed."""
    row = cursor.execute("select sum from setsearch_seal where id = 1").fetchone()
    return None if row is None else int(row[0])


def checksum_differs(cursor: sqlite3.Cursor) -> bool:
    """Whether the tables changed since our last write; False if there was none."""
    stored = stored_checksum(cursor)
    return stored is not None and stored != _checksum(cursor)


def _checksum(cursor: sqlite3.Cursor) -> int:
    checksum = 0
    for table in CHECKED:
        key = "1, 2" if table == "member" else "1"
        rows = cursor.execute(f"select * from setsearch_{table} order by {key}")
        checksum = zlib.crc32("".join(map(repr, rows)).encode(), checksum)
    return checksum


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
