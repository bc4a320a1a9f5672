"""Records: what an item was made of, as it came, and the other names by which it is found.

A name has its kind before it: doi:10.1000/xyz, pmid:123, key:smith2019, title:a trial of aspirin 2019.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.text.identifiers import is_doi, plain_doi, plain_title

LONGEST_RECORD = 1 << 24  # bytes of one item
MOST_FOUND = 5  # items of one name


class Record(NamedTuple):
    """What is kept of an item, a JSON value, and its other names."""

    data: Any
    names: tuple[str, ...] = ()


class Records(NamedTuple):
    """The records of the items of one vocabulary."""

    cursor: sqlite3.Cursor
    kind: int

    def write(self, rows: Sequence[tuple[int, Record | None]]) -> None:
        """Store the records of items, and delete those of items without. An item keeps the names that it had.

        Raises InvalidItem.
        """
        new = {id: record for id, record in rows if record is not None}
        if self.are_there():
            self.delete([id for id, _ in rows if id not in new])
        self.cursor.executemany(
            "insert or replace into setsearch_record (kind, item, record) values (?, ?, ?)",
            [(self.kind, id, _encoded(self.kind, id, record)) for id, record in new.items()],
        )
        self.cursor.executemany(
            "insert or ignore into setsearch_alias (kind, name, item) values (?, ?, ?)",
            [(self.kind, name, id) for id, record in new.items() for name in record.names],
        )

    def delete(self, ids: Iterable[int]) -> None:
        """Delete the records of items."""
        rows = [(self.kind, id) for id in ids]
        for table in ("record", "alias"):
            self.cursor.executemany(f"delete from setsearch_{table} where kind = ? and item = ?", rows)

    def are_there(self) -> bool:
        """Whether some items have a record."""
        statement = "select exists (select 1 from setsearch_record where kind = ?)"
        return bool(self.cursor.execute(statement, (self.kind,)).fetchone()[0])

    def having(self, ids: Sequence[int]) -> set[int]:
        """Those items that have a record."""
        rows = self.cursor.execute(
            "select item from setsearch_record where kind = ? and item in (select value from json_each(?))",
            (self.kind, json.dumps([*ids])),
        )
        return {id for (id,) in rows}

    def read(self, ids: Sequence[int] | None = None, *, strict: bool = True) -> dict[int, Any]:
        """The records of those items that have one; of all items without `ids`. Raises CorruptIndex.

        Not `strict`, a damaged record is None.
        """
        condition = "" if ids is None else "and item in (select value from json_each(?))"
        rows = self.cursor.execute(
            f"select item, record from setsearch_record where kind = ? {condition}",
            (self.kind, *(() if ids is None else (json.dumps([*ids]),))),
        ).fetchall()
        found: dict[int, Any] = {}
        for id, stored in rows:
            try:
                found[id] = _decoded(self.kind, id, stored)
            except CorruptIndex:
                if strict:
                    raise
                found[id] = None
        return found

    def by_name(self, names: Sequence[str]) -> Mapping[str, list[int]]:
        """The items of each name that some have, ascending."""
        found: dict[str, list[int]] = {}
        rows = self.cursor.execute(
            "select name, item from setsearch_alias "
            "where kind = ? and name in (select value from json_each(?)) order by item",
            (self.kind, json.dumps(names)),
        )
        for name, id in rows:
            found.setdefault(name, []).append(id)
        return found

    def called(self, text: str) -> list[int]:
        """The items that somebody may mean by a text: by a DOI or its address, by a PMID, by a key, by a whole title.

        The name of a file and # may stand before it. The surest way that finds some counts.
        """
        file, _, behind = text.partition("#")
        for own in [text, behind] if file and behind else [text]:
            names = [f"doi:{plain_doi(own)}"] if is_doi(own) else []
            number = own.strip().lower().removeprefix("pmid").lstrip(": ")
            names += [f"pmid:{number.lstrip('0')}"] if number.isdecimal() else []
            names.append(f"key:{own}")
            found = self.by_name(names)
            for name in names:
                if name in found:
                    return found[name][:MOST_FOUND]
        return self._titled(plain_title(text))

    def _titled(self, title: str) -> list[int]:
        rows = self.cursor.execute(
            "select distinct item from setsearch_alias "
            "where kind = ?1 and (name = ?2 or name between ?2 || ' 0' and ?2 || ' 9999') "
            "and length(name) <= length(?2) + 5 order by item limit ?3",
            (self.kind, f"title:{title}", MOST_FOUND),
        )
        return [id for (id,) in rows] if title else []

    def check(self) -> Iterator[str]:
        """One line for each problem with the records of a vocabulary. Raises CorruptIndex for a damaged one."""
        self.read()
        for table in ("record", "alias"):
            (lost,) = self.cursor.execute(
                f"select count(*) from setsearch_{table} where kind = ?1 "
                "and item not in (select id from setsearch_name where kind = ?1)",
                (self.kind,),
            ).fetchone()
            if lost:
                yield f"{lost} rows of setsearch_{table} belong to no item"


def _encoded(kind: int, id: int, record: Record) -> bytes:
    data = json.dumps(record.data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(data) > LONGEST_RECORD:
        raise InvalidItem(f"a record of {len(data) >> 20} MB is too long to be kept; at most {LONGEST_RECORD >> 20} MB")
    return add_checksum(zlib.compress(data, 1), f"{kind} {id}")


def _decoded(kind: int, id: int, stored: object) -> Any:
    data = strip_checksum(stored, f"{kind} {id}") if isinstance(stored, bytes) else None
    try:
        if data is not None:
            decompressor = zlib.decompressobj()
            text = decompressor.decompress(data, LONGEST_RECORD)
            if decompressor.eof:
                return json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        pass
    raise CorruptIndex("the stored record of an item is damaged; index its file again")
