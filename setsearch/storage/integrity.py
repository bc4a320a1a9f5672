"""Bytes that carry a checksum, so that a flipped one is noticed.

Whether the tables are ours, and as we left them.

The seal is a checksum over the small tables that nothing else vouches for: kinds, relations, origins, saved sets. Names
stand in an index too, lists in both directions; texts, numbers and derived values carry sums of their own.
"""

import sqlite3
import zlib
from collections.abc import Iterator

from setsearch.errors import CorruptIndex

SIZE = 4


def with_sum(data: bytes) -> bytes:
    """The bytes, and their CRC-32 behind them."""
    return data + zlib.crc32(data).to_bytes(SIZE, "little")


def without_sum(data: bytes) -> bytes | None:
    """The inverse of `with_sum`; None where the checksum is another one."""
    body, sum = data[:-SIZE], data[-SIZE:]
    return body if len(sum) == SIZE and zlib.crc32(body) == int.from_bytes(sum, "little") else None


TABLES = {
    f"setsearch_{name}"
    for name in ("change derived forward kind member name numbers origin posting relation seal set text".split())
}
SHAPE = 2601396971  # CRC-32 of their columns
SEALED = ("kind", "relation", "origin", "set", "member")


def require_shape(cursor: sqlite3.Cursor, place: str) -> None:
    """Refuse tables that are not as we make them: a view in the place of a table could run for ever."""
    found = cursor.execute(
        'select l.name, l.type, l.strict, c.name, c.type, c."notnull", c.pk, c.hidden '
        "from pragma_table_list l join pragma_table_xinfo(l.name) c "
        "where l.schema = 'main' and l.name like 'setsearch\\_%' escape '\\' order by l.name, c.cid"
    ).fetchall()
    triggers = cursor.execute(
        "select name from sqlite_master where type = 'trigger' and tbl_name like 'setsearch\\_%' escape '\\'"
    ).fetchone()
    ours = [column for column in found if column[0] in TABLES]
    if triggers or zlib.crc32(repr(ours).encode()) != SHAPE:
        raise CorruptIndex(f"{place} has tables named like setsearch's that are not as setsearch makes them")


def seal(cursor: sqlite3.Cursor) -> None:
    """Write the checksum of what the tables hold now: the last act of every write."""
    cursor.execute("insert or replace into setsearch_seal (id, sum) values (1, ?)", (_sum(cursor),))


def is_broken(cursor: sqlite3.Cursor) -> bool:
    """Whether the tables are not as the last write left them; no, where none of ours has written yet."""
    row = cursor.execute("select sum from setsearch_seal where id = 1").fetchone()
    return row is not None and row[0] != _sum(cursor)


def _sum(cursor: sqlite3.Cursor) -> int:
    found = 0
    for table in SEALED:
        key = "1, 2" if table == "member" else "1"
        for row in cursor.execute(f"select * from setsearch_{table} order by {key}"):
            found = zlib.crc32(repr(row).encode(), found)
    return found


def integrity(cursor: sqlite3.Cursor) -> Iterator[str]:
    """What SQLite itself finds in our tables: names also stand in indexes, which then do not agree; types; pages."""
    for table in sorted(TABLES):
        for (line,) in cursor.execute(f"pragma integrity_check({table})").fetchall():
            if line != "ok":
                yield f"{table}: {line}"


def is_damaged(connection: sqlite3.Connection) -> bool:
    """Whether SQLite finds something wrong, or cannot even look."""
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        return any(integrity(cursor))
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # the words of a damaged schema need not be UTF-8
        return True
    finally:
        cursor.close()
