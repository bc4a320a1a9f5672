"""Names that memory keeps: the answers stay the same, and a write is seen."""

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
from setsearch.scoring import postings as valued_lists
from setsearch.storage.names import Vocabulary

describe = Vocabulary.describe
ELSEWHERE = "import sys, setsearch; index = setsearch.open(sys.argv[1]); index."
NAMES = ["a", "b c", "ü", "日本", "x" * 300, "e\u0301", "é", "0", " ", "'", "🦊", *(f"name {n}" for n in range(1200))]


@pytest.fixture
def index(tmp_path):
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
            # A file of arrays has the values of what was there before the write.
            values = [*field._valued.values(), *(own for (own,) in field._drifts.values() if own is not None)]
            assert values and all(own.by_item.are_all_there for own in values) == (asked > 3)
    assert [reading.expand([seed], 5) for seed in seeds[:asked]] == first


def test_reasons_are_the_same_and_both_readings_know_the_names(index):
    reading = index.items("documents")
    first = [reading.expand([seed], 5, explain=True) for seed in NAMES[40:52]]
    with reading.stored() as fields, index.items("terms").stored() as terms:
        assert fields.first._feature_names is terms.first._item_names
        ids = range(fields.first.features.next_id)
        assert fields.first.describe_features(ids) == fields.first.features.describe(ids)
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


def test_no_more_names_are_kept_than_there_is_room_for(index, monkeypatch):
    reading, sets = index.items("documents"), [[name] for name in NAMES[:20]]
    with monkeypatch.context() as patch:
        patch.setattr(known_names, "CACHED", 12)
        first = [reading.expand(seeds, 5) for seeds in sets]
        with reading.stored() as fields:
            names = fields.first._item_names
            assert 0 < len(names._described) <= 12 >= len(names._ids) > 0
    assert [reading.expand(seeds, 5) for seeds in sets] == first


def test_ranks_are_those_of_the_names_however_many_are_asked(monkeypatch):
    monkeypatch.setattr("setsearch.memory.field.FEW", 4)
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
@given(writes=WRITES, cached=st.sampled_from([1, 4, 100]))
def test_names_are_those_of_the_tables_whatever_was_written_meanwhile(writes, cached):
    host = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.MonkeyPatch.context() as patch, setsearch.open(host, contexts="off") as index:
        patch.setattr(known_names, "CACHED", cached)
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
    for _ in range(2):  # the first answer is followed by a file, from which the lists come then
        reading.expand(["name 7"], 2000)
    index.update([("a", "green", "another title")])
    asked = []
    monkeypatch.setattr(Vocabulary, "describe", lambda self, ids: asked.append(ids) or describe(self, ids))
    assert [hit.title for hit in reading.expand(["name 7"], 2000) if hit.item == "a"] == ["another title"]
    assert asked == [[0]]


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
