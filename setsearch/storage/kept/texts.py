"""Texts of documents, in blocks of neighboring ones that are deflated together."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import lt
from typing import Any, TypeVar

import numpy as np

from setsearch.arrays import Ints
from setsearch.core.threads import side_by_side
from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.sqlite.limits import another_cursor
from setsearch.storage.codec import pack_columns, unpack_columns
from setsearch.storage.forward_lists import Blocks
from setsearch.storage.relation import Relation

LONGEST_TEXT = 1 << 27  # bytes; a small compressed blob in a hostile file must not take all memory
# Bytes of texts; a text behind so many starts the next block. A hit inflates half of one on average; of English texts
# four fit a page of SQLite. Four times as large ones would take a sixth less room, and three times as long.
FULL_BLOCK, OLD_BLOCK = 1 << 11, 1 << 15  # that of migrations
AT_ONCE = 16  # documents whose blocks are read together
HEADS_AT_ONCE = 256  # blocks
BYTES_AT_ONCE = 1 << 16  # of blocks, that one thread packs or unpacks
T = TypeVar("T")


def encode_text(text: str) -> bytes:
    """A text as bytes; raises InvalidItem if it is too long."""
    data = text.encode("utf-8", "replace")
    if len(data) > LONGEST_TEXT:
        raise InvalidItem(
            f"a text of {len(data) >> 20} MB is too long to be kept for contexts (at most {LONGEST_TEXT >> 20} MB): "
            "split it, or switch contexts off"
        )
    return data


def _runs(blocks: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Blocks in runs of about BYTES_AT_ONCE: so many small ones, or a single large one, are in memory for a thread."""
    run, total = list[T](), 0
    for block in blocks:
        run.append(block)
        total += size(block)
        if total >= BYTES_AT_ONCE:
            yield run
            run, total = [], 0
    if run:
        yield run


@dataclass(frozen=True, eq=False)
class Texts(Blocks):
    """The texts of the documents of a relation, as UTF-8; those of a block are deflated together."""

    table = "text"

    @classmethod
    def of(cls, relation: Relation) -> "Texts":
        """Those of a relation."""
        return cls(relation.cursor, relation.id)

    def items(self) -> Ints:
        """The documents that have a text, ascending."""
        rows = self.cursor.execute(
            "select first, items from setsearch_text where relation = ? order by first", (self.relation,)
        )
        found = list[int]()
        while some := rows.fetchmany(HEADS_AT_ONCE):
            found += chain.from_iterable(items for items, _ in self._heads(some))
        return np.array(found, np.int64)

    def read(self, documents: Ints | None = None) -> Iterator[tuple[int, bytes]]:
        """(id, text) of those of some documents, ascending, that have one; of all without `documents`."""
        if documents is None:
            yield from chain.from_iterable(side_by_side(self._texts, self._pages()))
            return
        for start in range(0, len(documents), AT_ONCE):
            wanted = documents[start : start + AT_ONCE].tolist()
            rows = self.cursor.execute(
                "select first, items, data from json_each(?2) cross join setsearch_text t on t.rowid = (select rowid "
                "from setsearch_text where relation = ?1 and first <= value order by first desc limit 1)",
                (self.relation, json.dumps(wanted)),
            ).fetchall()
            blocks = [*{row[0]: row for row in rows}.values()]  # documents of a block find it again
            yield from self._texts(blocks, {*wanted})

    def _pages(self) -> Iterator[list[tuple[Any, ...]]]:
        """All blocks, some at a time, as they are stored."""
        statement = "select first, items, data from setsearch_text where relation = ? order by first"
        return _runs(another_cursor(self.cursor).execute(statement, (self.relation,)), lambda row: len(row[2]))

    def write(self, texts: Mapping[int, bytes | None]) -> None:
        """Give documents other texts, or None."""
        runs = _runs(self._blocks(texts), lambda block: sum(map(len, block.values())))
        for rows in side_by_side(self._packed, runs):
            self.cursor.executemany(
                "insert into setsearch_text (relation, first, items, data) values (?, ?, ?, ?)", rows
            )

    def _blocks(self, texts: Mapping[int, bytes | None]) -> Iterator[dict[int, bytes]]:
        """The new blocks, none of them empty; the old ones are deleted before them."""
        for first, own in self.by_block(np.array(sorted(texts), np.int64)):
            known: dict[int, bytes] = {}
            if first is not None:
                known = self._read_block(first)
                self.delete(first)
            new = known | {id: texts[id] for id in own.tolist()}
            block, size = dict[int, bytes](), 0
            for id, text in sorted(new.items()):
                if text is None:
                    continue
                if size >= FULL_BLOCK:
                    yield block
                    block, size = {}, 0
                block[id] = text
                size += len(text) + 1
            if block:
                yield block

    def _packed(self, blocks: Sequence[Mapping[int, bytes]]) -> list[tuple[int, int, bytes, bytes]]:
        """Blocks as rows of the table."""
        rows = []
        for texts in blocks:
            columns = np.array([*texts], np.int64), np.array([*map(len, texts.values())], np.int64)
            place = f"{self.relation} {min(texts)}"
            items = add_checksum(pack_columns(columns), place)
            data = add_checksum(zlib.compress(b"".join(texts.values())), f"{place} {zlib.crc32(items)}")
            rows.append((self.relation, min(texts), items, data))
        return rows

    def _heads(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[list[int], list[int]]]:
        """The documents of blocks, and the lengths of their texts in bytes."""
        heads = []
        for first, stored, *_ in rows:
            columns = unpack_columns(strip_checksum(stored, f"{self.relation} {first}") or b"", 2)
            if columns is None:
                raise _damaged_text("its head")
            items, lengths = (column.tolist() for column in columns)
            if len(items) != len(lengths) or not items or items[0] != first or not all(map(lt, items, items[1:])):
                raise _damaged_text("its head")
            if min(lengths) < 0 or max(lengths) > LONGEST_TEXT or sum(lengths) > LONGEST_TEXT + OLD_BLOCK:
                raise _damaged_text("its head")
            heads.append((items, lengths))
        return heads

    def _read_block(self, first: int) -> dict[int, bytes]:
        """The texts of the block that begins with a document."""
        rows = self.cursor.execute(
            "select first, items, data from setsearch_text where relation = ? and first = ?", (self.relation, first)
        )
        return dict(self._texts(rows.fetchall()))

    def _texts(self, blocks: Sequence[tuple[Any, ...]], wanted: set[int] | None = None) -> list[tuple[int, bytes]]:
        """(id, text) of the documents of blocks, or of those that are wanted."""
        found = []
        for (first, head, stored), (items, lengths) in zip(blocks, self._heads(blocks), strict=True):
            data = strip_checksum(stored, f"{self.relation} {first} {zlib.crc32(head)}")
            if data is None:
                raise _damaged_text("its checksum")
            places = [place for place, id in enumerate(items) if wanted is None or id in wanted]
            ends = [*accumulate(lengths[: places[-1] + 1] if places else (), initial=0)]
            text = _inflated(data, ends[-1], len(ends) > len(items))
            found += [(items[place], text[ends[place] : ends[place + 1]]) for place in places]
        return found


def _inflated(data: bytes, size: int, is_all: bool = True) -> bytes:
    """The first `size` bytes of the texts of a block, which are all of them if `is_all`; raises CorruptIndex."""
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(data, size + 1)
    except zlib.error as error:
        raise _damaged_text(error) from error
    ends_well = len(text) == size and decompressor.eof and not decompressor.unused_data
    if len(text) < size or (is_all and not ends_well):
        raise _damaged_text("unexpected end")
    return text


def _damaged_text(problem: object) -> CorruptIndex:
    return CorruptIndex(f"a stored text is damaged ({problem}); index the collection again")


def read_texts(relation: Relation, documents: Ints | None = None) -> Iterator[tuple[int, str]]:
    """(id, text) of those of some documents, ascending, that have one, or of all; raises CorruptIndex."""
    for id, text in Texts.of(relation).read(documents):
        try:
            yield id, text.decode()
        except UnicodeDecodeError as error:
            raise _damaged_text(error) from error
