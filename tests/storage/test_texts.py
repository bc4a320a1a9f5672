"""Texts in blocks: whatever was written is read, whatever the sizes of blocks; damage is told."""

import threading
import zlib

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples

import setsearch
from setsearch.errors import CorruptIndex
from setsearch.sqlite.integrity import add_checksum
from setsearch.storage.codec import pack_columns
from setsearch.storage.kept import texts as packing
from setsearch.storage.kept.texts import Texts

writes = st.dictionaries(st.integers(0, 40), st.none() | st.binary(max_size=9), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with setsearch.open(tmp_path_factory.mktemp("texts") / "a.db", create=True) as index:
        index.add([("x", "a lion")])
        yield index._database


@given(st.lists(writes, max_size=6), st.integers(1, 30), st.integers(1, 90))
def test_what_was_written_is_read(database, steps, full, at_once):
    with pytest.MonkeyPatch.context() as patch, database.write() as cursor:
        patch.setattr(packing, "FULL_BLOCK", full)
        patch.setattr(packing, "BYTES_AT_ONCE", at_once)
        patch.setattr(packing, "HEADS_AT_ONCE", at_once)
        stored, content = Texts(cursor, 99), {}
        stored.clear()
        for step in steps:
            stored.write(step)
            content = {id: text for id, text in sorted((content | step).items()) if text is not None}
            assert [*stored.read()] == [*content.items()]
            assert stored.items().tolist() == [*content]
            some = np.arange(0, 41, 3)
            assert [*stored.read(some)] == [pair for pair in content.items() if pair[0] % 3 == 0]
            assert all([*stored.read(np.array([id]))] == [(id, text)] for id, text in content.items())
        blocks = len(stored.firsts())
        assert blocks >= sum(len(text) + 1 for text in content.values()) / (full + 9)


@examples(300)
@given(st.lists(st.binary(max_size=3), min_size=1, max_size=9), st.integers(1, 6))
def test_a_block_ends_with_the_text_that_fills_it(database, texts, full):
    """Each text takes a byte more, so that empty ones fill a block, too."""
    with pytest.MonkeyPatch.context() as patch, database.write() as cursor:
        patch.setattr(packing, "FULL_BLOCK", full)
        stored, size, firsts = Texts(cursor, 98), full, list[int]()
        stored.clear()
        stored.write(dict(enumerate(texts)))
        for id, text in enumerate(texts):
            if size >= full:
                firsts.append(id)
                size = 0
            size += len(text) + 1
        assert stored.firsts().tolist() == firsts


@pytest.mark.parametrize("threads", ["0", "1", "3"])
def test_some_threads_pack_and_unpack_blocks(database, monkeypatch, threads):
    """In runs of a few blocks, which are stored as those that one thread packs."""
    monkeypatch.setenv("SETSEARCH_THREADS", threads)
    texts, found, work = {id: b"a lion or %d" % id * 9 for id in range(900)}, [], set()
    own, unpacked = threading.get_ident(), Texts._texts

    def of_thread(*given):
        work.add(threading.get_ident())
        return unpacked(*given)

    monkeypatch.setattr(Texts, "_texts", of_thread)
    for size in (1 << 10, 1 << 30):
        monkeypatch.setattr(packing, "BYTES_AT_ONCE", size)
        with database.write() as cursor:
            Texts(cursor, 96).write(texts)
            assert [*Texts(cursor, 96).read()] == [*texts.items()]
            found.append(cursor.execute("select first, items, data from setsearch_text where relation = 96").fetchall())
            Texts(cursor, 96).clear()
    assert found[0] == found[1]
    assert len(found[0]) > 30
    assert (work == {own}) == (threads == "0")


def test_large_texts_are_packed_and_unpacked_one_by_one(database, monkeypatch):
    """Else those of many books would be in memory for each thread."""
    sizes = list[int]()

    def noting(work):
        def note(self, blocks, *wanted):
            sizes.append(len(blocks))
            return work(self, blocks, *wanted)

        return note

    monkeypatch.setattr(Texts, "_packed", noting(Texts._packed))
    monkeypatch.setattr(Texts, "_texts", noting(Texts._texts))
    rng = np.random.default_rng(0)
    texts = {id: rng.bytes(packing.BYTES_AT_ONCE if id < 4 else 9) for id in range(2000)}
    with database.write() as cursor:
        Texts(cursor, 95).write(texts)
        assert [*Texts(cursor, 95).read()] == [*texts.items()]
    assert sizes.count(1) == 8  # the last run has the others
    assert len(sizes) == 10 and max(sizes) > 4


def test_texts_of_a_block_share_their_room(database):
    rng = np.random.default_rng(0)
    words = [f"word{n}" for n in range(300)]
    texts = {id: " ".join(rng.choice(words, 30)).encode() for id in range(400)}
    with database.write() as cursor:
        Texts(cursor, 98).write(texts)
        query = "select count(*), sum(length(data)) from setsearch_text where relation = 98"
        blocks, size = cursor.execute(query).fetchone()
    assert 32 <= blocks <= 64
    assert size < 0.7 * sum(len(zlib.compress(text)) for text in texts.values())


def sealed(items, lengths, data, first=5):
    """A block with right checksums."""
    head = add_checksum(pack_columns([np.array(items), np.array(lengths)]), f"97 {first}")
    return head, add_checksum(data, f"97 {first} {zlib.crc32(head)}")


GOOD = [5, 7], [2, 3], zlib.compress(b"abcde")
BAD = {
    "a longer text": ([5, 7], [2, 2], GOOD[2]),
    "a shorter text": ([5, 7], [2, 4], GOOD[2]),
    "negative lengths": ([5, 7], [-1, 6], GOOD[2]),
    "lengths of 2^40": ([5, 7], [2, 1 << 40], GOOD[2]),
    "many long texts": ([*range(5, 9)], [1 << 27] * 4, GOOD[2]),
    "documents that descend": ([5, 4], [2, 3], GOOD[2]),
    "another first document": ([6, 7], [2, 3], GOOD[2]),
    "no zlib": ([5, 7], [2, 3], b"abcde"),
    "half of it": ([5, 7], [2, 3], GOOD[2][:-5]),
    "more behind it": ([5, 7], [2, 3], GOOD[2] + b"x"),
}


@pytest.mark.parametrize("name", BAD)
def test_blocks_that_somebody_made_are_refused(database, name):
    insert = "insert or replace into setsearch_text (relation, first, items, data) values (97, 5, ?, ?)"
    with database.write() as cursor:
        cursor.execute(insert, sealed(*GOOD))
        assert [*Texts(cursor, 97).read()] == [(5, b"ab"), (7, b"cde")]
        cursor.execute(insert, sealed(*BAD[name]))
        with pytest.raises(CorruptIndex, match="stored text"):
            [*Texts(cursor, 97).read()]
        head, data = sealed(*GOOD)
        for own in ((head, data[:-1] + b"x"), (head[:-1] + b"x", data), sealed(*GOOD, first=6)):
            cursor.execute(insert, own)
            with pytest.raises(CorruptIndex, match="stored text"):
                [*Texts(cursor, 97).read()]
        Texts(cursor, 97).clear()
