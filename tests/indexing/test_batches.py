"""Batches: the next one is numbered while one is written, and the tables are those of one thread."""

import random
import threading

import hypothesis.strategies as st
import pytest
from hypothesis import given
from laws import examples

import setsearch
from setsearch import Item, errors
from setsearch.indexing.writing import batch
from setsearch.indexing.writing.batch import Batch
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import TermIds
from setsearch.text.tokenizer import Tokenizer

TABLES = {"name": "kind, id", "forward": "relation, first", "feature": "relation, feature", "text": "relation, first"}


def items(seed, fields):
    """Texts, lists that their owner changes later, counts, and what some have in another field."""
    rng, words = random.Random(seed), [f"word{number}" for number in range(300)]
    same = list[str]()
    for number in range(200):
        text = " ".join(rng.choices(words, k=9))
        own = {"tags": rng.sample(words, 2)} if fields and rng.random() < 0.3 else None
        if rng.random() < 0.1:
            same[:] = rng.choices(words, k=5)
            yield Item(f"d{number}", same, fields=own)
        elif rng.random() < 0.1:
            yield Item(f"d{number}", {rng.choice(words): 3, "other": 1}, fields=own)
        else:
            yield Item(f"d{number}", text, fields=own)


@pytest.mark.parametrize("fields", [False, True])
def test_any_number_of_threads_writes_the_same(tmp_path, monkeypatch, fields):
    monkeypatch.setattr(batch, "FULL_BATCH", 150)
    monkeypatch.setattr(batch, "TOKENIZED_TOGETHER", 90)
    found = []
    for threads in ("0", "1", "3"):
        monkeypatch.setenv("SETSEARCH_THREADS", threads)
        with setsearch.open(tmp_path / f"{threads}.db", create=True) as index:
            assert index.add(items(1, fields)) == 200
            with index._database.read() as cursor:
                ordered = [f"select * from setsearch_{table} order by {key}" for table, key in TABLES.items()]
                found.append([cursor.execute(statement).fetchall() for statement in ordered])
            assert index.check() == []
    assert found[0] == found[1] == found[2]
    with setsearch.open(tmp_path / "whole.db", create=True) as index:
        monkeypatch.setattr(batch, "FULL_BATCH", 1 << 20)
        index.add(items(1, fields))
        expected = [(hit.item, hit.score) for hit in index.items("documents").expand(["d1", "d2"], 50)]
    with setsearch.open(tmp_path / "3.db") as index:
        assert [(hit.item, hit.score) for hit in index.items("documents").expand(["d1", "d2"], 50)] == expected


@pytest.mark.parametrize("fields", [False, True])
def test_a_thread_numbers_the_next_batch(tmp_path, monkeypatch, fields):
    """Beside the write of the one before, but where that has fields, which get numbers then."""
    monkeypatch.setattr(batch, "FULL_BATCH", 40)
    monkeypatch.setattr(batch, "TOKENIZED_TOGETHER", 20)
    own, numbered, events = threading.get_ident(), Batch.number, list[str]()

    def number(self):
        assert threading.get_ident() != own
        numbered(self)
        events.append("numbered")

    monkeypatch.setattr(Batch, "number", number)
    monkeypatch.setattr("setsearch.indexing.writing.writer.check_names", lambda *_: events.append("written"))
    tags = {"tags": ["a"]} if fields else None
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item(f"d{number}", "the lion", fields=tags) for number in range(100)])
    assert events.count("numbered") == events.count("written") > 2
    if fields:
        assert events == ["numbered", "written"] * (len(events) // 2)


def test_one_batch_starts_no_thread(tmp_path, monkeypatch):
    monkeypatch.setattr("setsearch.indexing.writing.writer.workers", lambda *_: pytest.fail("threads"))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        assert index.add([("d", "the lion")]) == 1


def test_what_a_later_batch_cannot_store_undoes_all(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "FULL_BATCH", 40)
    monkeypatch.setattr(batch, "TOKENIZED_TOGETHER", 20)
    good = [(f"d{number}", "the lion") for number in range(100)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        for bad in (("x", {"a": -1}), ("x", [1, []]), ("d3", "a tiger"), ("\ud800", "a")):
            with pytest.raises((errors.InvalidItem, errors.DuplicateItem)):
                index.add([*good, bad, *((f"e{number}", "the lion") for number in range(100))])
        assert index.add(good) == 100
        assert index.check() == []


@examples(500)
@given(st.lists(st.integers(1, 30) | st.lists(st.sampled_from("abc"), max_size=9), min_size=1, max_size=30))
def test_a_batch_is_full_with_its_last_item_and_not_before(given_items):
    """By items, by features, and by the characters of texts (here so many numbers) that wait for theirs."""
    term_ids = TermIds()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "FULL_BATCH", 20)
        patch.setattr(batch, "TOKENIZED_TOGETHER", 1)
        own = Batch(term_ids, Tokenizer(Analyzer(), term_ids))
        features = ["x" * one if isinstance(one, int) else one for one in given_items]
        is_last = own.fill(((str(n), one, None, None, None, None, {}) for n, one in enumerate(features)), lambda: None)
    size, numbered, waiting, n_texts = 0, 0, 0, 0
    for size, one in enumerate(features, 1):
        if isinstance(one, str):
            waiting, n_texts = waiting + len(one) + 1, n_texts + 1
        else:
            numbered, waiting, n_texts = numbered + n_texts + len(one), 0, 0
        if is_full := size + numbered + waiting // batch.CHARACTERS >= 20:
            break
    assert (len(own.names), is_last) == (size, not is_full)
