"""Texts of documents as stored: compressed, one row each."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence

from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.storage.relation import Relation

LONGEST_TEXT = 1 << 27  # bytes; a small compressed blob in a hostile file must not take all memory


def compress(text: str) -> bytes:
    """A text as stored; raises InvalidItem if it is too long."""
    data = text.encode("utf-8", "replace")
    if len(data) > LONGEST_TEXT:
        raise InvalidItem(
            f"a text of {len(data) >> 20} MB is too long to be kept for contexts (at most {LONGEST_TEXT >> 20} MB): "
            "split it, or switch contexts off"
        )
    return zlib.compress(data, 1)


def decompress(stored: bytes) -> str:
    """The inverse of `compress`; raises CorruptIndex."""
    try:
        decompressor = zlib.decompressobj()
        text = decompressor.decompress(stored, LONGEST_TEXT)
        if not decompressor.eof or decompressor.unused_data:
            raise zlib.error("unexpected end")
        return text.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise CorruptIndex(f"a stored text is damaged ({error}); index the collection again") from error


def stored_texts(cursor: sqlite3.Cursor, relation: int, documents: Sequence[int]) -> dict[int, bytes | None]:
    """The texts of some documents as stored; None for those without."""
    rows = cursor.execute(
        "select item, text from setsearch_text where relation = ? and item in (select value from json_each(?))",
        (relation, json.dumps([*documents])),
    )
    return dict.fromkeys(documents) | dict(rows.fetchall())


def read_texts(
    cursor: sqlite3.Cursor, relation: Relation, documents: Sequence[int] | None = None
) -> Iterator[tuple[int, str]]:
    """(id, text) of some documents, or of all, in the order of their names: results do not depend on that of writes."""
    text_cursor = cursor.connection.cursor()
    text_cursor.row_factory = None
    condition = "" if documents is None else "and n.id in (select value from json_each(?))"
    rows = text_cursor.execute(
        "select n.id, t.text from setsearch_name n join setsearch_text t on t.relation = ? and t.item = n.id "
        f"where n.kind = ? {condition} order by n.name",
        (relation.id, relation.items.id, *(() if documents is None else (json.dumps(documents),))),
    )
    for id, text in rows:
        yield id, decompress(text)
