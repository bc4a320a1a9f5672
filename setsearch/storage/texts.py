"""The texts of documents as they are stored: compressed, one row each."""

import sqlite3
import zlib
from collections.abc import Iterator

from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.storage.relation import Relation

LONGEST = 1 << 27  # bytes of a text: a few packed bytes of a stranger's must not take all memory


def pack(text: str) -> bytes:
    """A text as it is stored; raises InvalidItem for one that is too long."""
    data = text.encode("utf-8", "replace")
    if len(data) > LONGEST:
        raise InvalidItem(
            f"a text of {len(data) >> 20} MB is too long to be kept for contexts ({LONGEST >> 20} MB are not): "
            "split it, or use --no-contexts"
        )
    return zlib.compress(data, 1)


def unpack(stored: bytes) -> str:
    """The inverse of `pack`; raises CorruptIndex."""
    try:
        packed = zlib.decompressobj()
        text = packed.decompress(stored, LONGEST)
        if not packed.eof or packed.unused_data:
            raise zlib.error("it does not end where it should")
        return text.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise CorruptIndex(f"a stored text is damaged ({error}); index the collection again") from error


def read_texts(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[tuple[int, str]]:
    """(id, text) of the documents, in the order of their names, so that nothing depends on the order of writing."""
    own = cursor.connection.cursor()
    own.row_factory = None
    rows = own.execute(
        "select n.id, t.text from setsearch_name n join setsearch_text t on t.relation = ? and t.item = n.id "
        "where n.kind = ? order by n.name",
        (relation.id, relation.items.id),
    )
    for id, text in rows:
        yield id, unpack(text)
