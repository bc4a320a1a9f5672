"""Names in memory, once somebody has asked often: the answers stay the same."""

import random
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.memory import drift
from setsearch.memory.names import known as known_names
from setsearch.memory.names.known import KnownNames
from setsearch.scoring import postings as valued_lists
from setsearch.storage.names import Vocabulary

describe = Vocabulary.describe
ELSEWHERE = "import sys, setsearch; index = setsearch.open(sys.argv[1]); index."
NAMES = ["a", "b c", "ü", "日本", "x" * 300, "e\u0301", "é", "0", " ", "'", "🦊", *(f"name {n}" for n in range(1200))]


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr(known_names, "AT_ONCE", 500)
    with setsearch.open(tmp_path / "a.db", create=True) as made:
        titles = [None, "", "a title", "Füchse", "b\tc"]
        made.add((name, f"red blue word{n % 7}", titles[n % 5]) for n, name in enumerate(NAMES))
        made.delete(NAMES[20:40])
        yield made


def test_hits_are_the_same_before_and_after(index):
    reading, rng = index.items("documents"), random.Random(1)
    left = NAMES[:20] + NAMES[40:]
    sets = [rng.sample(left, n) for n in (1, 2, 3, 10) * 10]
    first = [reading.expand(seeds, 30) for seeds in sets]
    with reading.fields() as fields:
        names = fields.first._item_names
        assert names.is_complete
        assert names.find(fields.items, NAMES) == {name: id for id, name in enumerate(NAMES) if name in left}
        assert names.find(fields.items, ["", "nothing", "name 1\0", "\ud800"]) == {}
        ids = [id for id, name in enumerate(NAMES) if name in left]
        described = fields.items.describe(ids)
        assert names.describe(fields.items, described) == described
        with pytest.raises(KeyError):
            names.describe(fields.items, [25])
    assert [reading.expand(seeds, 30) for seeds in sets] == first
    with pytest.raises(errors.UnknownItem, match="'name 12345'"):
        reading.expand(["name 12345"])
    with pytest.raises(errors.UnknownItem):
        reading.expand([NAMES[25]])


def test_few_questions_prepare_nothing(index, monkeypatch):
    monkeypatch.setattr(known_names, "AT_FIRST", 64)
    monkeypatch.setattr(valued_lists, "NOTHING_AHEAD", 8)
    monkeypatch.setattr(drift, "ALONE", 24)
    reading = index.items("documents")
    reading.expand(["a"])
    index.update([("a", "red blue")])
    seeds = NAMES[40:]
    for asked in (3, 80):
        first = [reading.expand([seed], 5) for seed in seeds[:asked]]
        with reading.fields() as fields:
            field = fields.first
            assert field._item_names.is_complete == (asked > 3)
            # A file of arrays has the values of what was there before the write.
            values = [*field._valued.values(), *(own for (own,) in field._drifts.values() if own is not None)]
            assert values and all(own.by_item.are_all_there for own in values) == (asked > 3)
    assert [reading.expand([seed], 5) for seed in seeds[:asked]] == first


def test_reasons_are_the_same_before_and_after_and_both_readings_know_the_names(index):
    reading = index.items("documents")
    first = [reading.expand([seed], 5, explain=True) for seed in NAMES[40:52]]
    with reading.stored() as fields, index.items("terms").stored() as terms:
        names = fields.first._feature_names
        assert names.is_complete and names is terms.first._item_names
        ids = range(fields.first.features.next_id)
        known = fields.first.describe_features(ids)
        assert known == fields.first.features.describe(ids)
    assert [reading.expand([seed], 5, explain=True) for seed in NAMES[40:52]] == first


def test_a_write_is_seen(index):
    reading = index.items("documents")
    for _ in range(8):
        reading.expand(["a"])
    index.update([("a", "green"), ("new", "red blue word3")])
    index.delete(["b c"])
    hits = reading.expand(["new"], 2000)
    assert {"b c", "new"}.isdisjoint(hit.item for hit in hits)
    assert reading.expand(["ü"], 2000) and "new" in {hit.item for hit in reading.expand(["日本"], 2000)}
    with pytest.raises(errors.UnknownItem):
        reading.expand(["b c"])


def test_collections_with_very_many_names_are_looked_up(index, monkeypatch):
    monkeypatch.setattr(known_names, "MOST", 100)
    reading = index.items("documents")
    for _ in range(12):
        hits = reading.expand(["a"], 5)
    with reading.fields() as fields:
        assert not fields.first._item_names.is_complete
    assert len(hits) == 5


def test_of_equal_hashes_the_name_decides(monkeypatch):
    class Stored:
        id, titles_shown, next_id = 1, False, 3

        def describe_range(self, first, last):
            return {id: (name, None) for id, name in enumerate(["one", "two", "three"])}

    monkeypatch.setattr(known_names, "AT_FIRST", 0)
    monkeypatch.setattr(known_names, "hash", lambda name: 7, raising=False)
    names = KnownNames(Stored())
    names.describe(Stored(), [])
    assert names.is_complete
    assert names.find(Stored(), ["three", "one", "four"]) == {"three": 2, "one": 0}


class OneName:
    """A vocabulary of one item, as a transaction sees it."""

    id, titles_shown, next_id = 1, False, 1

    def __init__(self, name):
        self.name = name

    def describe(self, ids):
        return dict.fromkeys(ids, (self.name, None))

    def describe_range(self, first, last):
        return self.describe([first])


def test_what_a_later_transaction_reads_ahead_is_not_told_to_an_earlier_one(monkeypatch):
    monkeypatch.setattr(known_names, "AT_FIRST", 0)
    before, after = OneName("before"), OneName("after")
    names = KnownNames(before)
    later = names.after(after, [0])
    assert later.describe(after, [0]) == {0: ("after", None)} and later.is_complete
    assert names.describe(before, [0]) == {0: ("before", None)} and not names.is_complete


def test_ranks_are_those_of_the_names_whatever_was_read_before(monkeypatch):
    monkeypatch.setattr("setsearch.memory.field.FEW", 6)
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        names = "fig apple date cherry banana elder grape".split()
        index.add((name, "a fruit") for name in names)
        with index.items("documents").stored() as fields:
            ids = fields.find_all(names)
            for asked in (names[:3], names[2:5], names[4:], names[:2], names[1:6]):
                ranks = fields.ranks(np.array([ids[name] for name in asked]))
                assert [asked[place] for place in np.argsort(ranks)] == sorted(asked)


WRITES = st.lists(
    st.tuples(
        st.sampled_from(["update", "delete", "rolled back", "ask"]),
        st.lists(
            st.tuples(st.sampled_from("abcdef"), st.sampled_from(["", *"pqrs"]), st.sampled_from([None, "t", "u"]))
        ),
    ),
    max_size=12,
)


@examples(60)
@given(writes=WRITES, at_once=st.sampled_from([1, 2, 100]))
def test_names_are_those_of_the_tables_whatever_was_written_meanwhile(writes, at_once):
    host = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.MonkeyPatch.context() as patch, setsearch.open(host, contexts="off") as index:
        patch.setattr(known_names, "AT_ONCE", at_once)
        patch.setattr(known_names, "MOST_CHANGED", 5)
        index.add([("z", "p z")])
        for kind, rows in writes:
            given = {name: (name, text, title) for name, text, title in rows}
            if kind == "rolled back":
                host.execute("begin")
            if kind in ("update", "rolled back"):
                index.update(given.values())
            elif kind == "delete":
                with index.items("documents").stored() as fields:
                    known = [*fields.first.items.find([*given])]
                index.delete(known)
            _assert_names_are_those_of_the_tables(index)
            if kind == "rolled back":
                host.execute("rollback")
                _assert_names_are_those_of_the_tables(index)


def _assert_names_are_those_of_the_tables(index):
    for side in ("documents", "terms"):
        with index.items(side).stored() as fields:
            items, names = fields.first.items, fields.first._item_names
            ids = [*items.ids()]
            assert names.describe(items, ids) == items.describe(ids)
            assert names.find(items, [*"abcdefpqrstuz"]) == items.find([*"abcdefpqrstuz"])


def test_after_a_write_only_the_names_that_it_changed_are_read(index, monkeypatch):
    reading = index.items("documents")
    for _ in range(8):
        reading.expand(["a"])
    index.update([("a", "green", "another title")])
    asked = []
    monkeypatch.setattr(Vocabulary, "describe_range", lambda self, *ids: asked.append(ids))
    monkeypatch.setattr(Vocabulary, "describe", lambda self, ids: asked.append(ids) or describe(self, ids))
    reading.expand(["name 100"], 100)
    assert asked == []
    assert [hit.title for hit in reading.expand(["name 7"], 2000) if hit.item == "a"] == ["another title"]
    assert asked == [[0]]


def test_names_that_another_thread_completes_are_not_those_of_an_earlier_transaction(monkeypatch):
    class Meanwhile(known_names.AllNames):
        @property
        def is_complete(self):
            """Before this is told, another thread has written, and reads all."""
            if not begun:
                begun.append(True)
                names.after(after, [0]).describe(after, [0])
            return super().is_complete

    begun = []
    monkeypatch.setattr(known_names, "AT_FIRST", 1)
    monkeypatch.setattr(known_names, "AllNames", Meanwhile)
    before, after = OneName("before"), OneName("after")
    names = KnownNames(before)
    for _ in range(3):
        assert names.describe(before, [0]) == {0: ("before", None)}
    assert begun, "the other thread had its turn"


def test_surface_forms_are_those_that_another_process_derived(tmp_path):
    path, texts = tmp_path / "a.db", {f"d{n}": "keeps walks" if n < 9 else "other things" for n in range(60)}
    with setsearch.open(path, create=True, language="english") as index:
        index.add(texts.items())
        index.refresh(fresh="now")
        assert _features(index) == {"keeps", "walks"}
        for own in ("update((f'd{n}', 'keeping walking') for n in range(2, 8))", "refresh(fresh='now')"):
            subprocess.run([sys.executable, "-c", ELSEWHERE + own, path], check=True)
            _features(index)  # the content follows the write, and its names are those of before
        index.update([("d30", "some things")])
        assert _features(index) == {"keeping", "walking"}


def _features(index):
    (hit,) = index.items("documents").expand(["d0", "d1"], k=1, explain=True)
    return {part.feature for part in hit.features}
