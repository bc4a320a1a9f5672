"""Names that a file of arrays has are those of the tables, whatever is written after it."""

import sqlite3
import subprocess
import sys
import tempfile

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
from setsearch.sqlite.mapped import map_arrays
from setsearch.storage import names as stored_names
from setsearch.storage.names import Vocabulary

describe = Vocabulary.describe
ELSEWHERE = "import sys, setsearch; index = setsearch.open(sys.argv[1]); index."
NAMES = ["a", "b c", "ü", "日本", "x" * 300, "e\u0301", "é", "0", " ", "'", "🦊", *(f"name {n}" for n in range(1200))]


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_names, "NAMES_AT_ONCE", 500)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as made:
        titles = [None, "", "a title", "Füchse", "b\tc"]
        made.add((name, f"red blue word{n % 7}", titles[n % 5]) for n, name in enumerate(NAMES))
        made.delete(NAMES[20:40])
        made.items("documents").expand(["a"])  # which writes a file of what it has read
        yield made


def test_the_names_of_the_file_are_those_of_the_tables(index, monkeypatch):
    with index.items("documents").fields() as fields:
        items, names = fields.first.items, fields.first._item_names
        ids = np.array([*items.ids()])
        described, by_name = items.describe(ids.tolist()), [*items.ids(by_name=True)]
        monkeypatch.setattr(Vocabulary, "describe", None)
        monkeypatch.setattr(Vocabulary, "stored", None)
        assert names.describe(items, ids.tolist()) == described
        assert ids[np.argsort(fields.first.ranks(ids))].tolist() == by_name
        with pytest.raises(errors.LostArrays):
            names.describe(items, [25])


def test_a_file_without_names_leaves_them_to_the_tables(tmp_path, monkeypatch):
    monkeypatch.setattr("setsearch.memory.readings.names_to_arrays", lambda items: iter(()))
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((name, "red", "a title") for name in NAMES)
        index.items("documents").expand(["a"])
        assert "items ids" in map_arrays(tmp_path / "a.db", tmp_path / "a.db-arrays-lists-1").arrays
        hits = index.items("documents").expand(["a"], 2000)
        assert {hit.item for hit in hits} == {*NAMES} - {"a"} and {hit.title for hit in hits} == {"a title"}


@pytest.mark.parametrize("column", ["name", "title"])
def test_names_that_differ_from_their_index_are_not_in_the_file(index, monkeypatch, column):
    pages = Vocabulary.pages

    def damaged(self, of, by):
        for ids, texts in pages(self, of, by):
            yield (
                ids,
                texts.replace(b"name 77\0", b"name 78\0").replace(b"chse\0", b"chsd\0")
                if of == by == column
                else texts,
            )

    with index.items("documents").fields() as fields:
        assert len([*known_names.names_to_arrays(fields.first.items)]) == 5
        monkeypatch.setattr(Vocabulary, "pages", damaged)
        assert [*known_names.names_to_arrays(fields.first.items)] == []


def test_names_written_meanwhile_are_not_in_the_file(index):
    with index.items("documents").fields() as fields:
        before = fields.relation.within(None)
    assert len([*index._readings._names(before)]) == 5
    index.update([("a", "red", "a new title")])
    assert [*index._readings._names(before)] == []


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


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_equal_scores_are_in_the_order_of_code_points_in_every_file(tmp_path, monkeypatch, encoding):
    path, names = tmp_path / "a.db", ["\uff5e", "🦊", "é", "ā", "z", "日本", "a"]
    host = sqlite3.connect(path)
    host.execute(f"pragma encoding = '{encoding}'")
    host.execute("create table thing (x)")
    host.close()
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add((name, "red", name) for name in names)
        for few in (0, 100, 100):  # the last time with a file
            monkeypatch.setattr("setsearch.memory.field.FEW", few)
            hits = index.items("documents").expand(["a"], 10)
            assert [hit.item for hit in hits] == [hit.title for hit in hits] == sorted(names[:-1])


@pytest.mark.parametrize("names", [[], ["x"]])
def test_the_file_of_an_index_of_nothing_or_one_item_has_its_names(tmp_path, names):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add([("x", "red")])
        index.delete([] if names else ["x"])
        index.derive()
    with setsearch.open(path) as index:
        with index.items("documents").fields() as fields:
            stored = fields.first._item_names._stored
            assert stored is not None and len(stored.ranks) == len(names)
        index.add([("y", "red"), ("z", "red")])
        assert {hit.item for hit in index.items("documents").expand(["y"])} == {"z", *names}


@pytest.mark.parametrize("change", ["id = 9000", "id = -4", "name = 'a' || char(0)", "title = cast(x'ff' as text)"])
def test_names_of_a_damaged_table_are_not_in_the_file(tmp_path, change):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add((f"n{n}", "red", f"t{n}") for n in range(9))
        with index.items("documents").fields() as fields:
            of = fields.relation.within(None)
        assert len([*index._readings._names(of)]) == 5
        host = sqlite3.connect(path)
        host.execute(f"update setsearch_name set {change} where name = 'n7'")
        host.commit()
        host.close()
        assert [*index._readings._names(of)] == []


def test_names_of_a_damaged_file_are_read_from_the_tables(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add((f"n{n}", "red", f"title {n}") for n in range(9))
        expected = index.items("documents").expand(["n0"])
        file = tmp_path / "a.db-arrays-lists-1"
        data = file.read_bytes()
    for damaged in (data.replace(b"title 7", b"title\xff7"), data.replace(b"n7\0", b"n\xff\0")):
        assert damaged != data
        file.write_bytes(damaged)
        with setsearch.open(path) as index:
            assert index.items("documents").expand(["n0"]) == expected


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
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(stored_names, "NAMES_AT_ONCE", at_once)
        patch.setattr(known_names, "MOST_CHANGED", 5)
        path = f"{folder}/a.db"
        with setsearch.open(path, create=True, contexts="off") as index:
            index.add([("z", "p z"), ("a", "p q", "t"), ("b", "q", "")])
            index.items("documents").expand(["a"])
        host = sqlite3.connect(path, isolation_level=None)
        index = setsearch.open(host)
        with index.items("documents").stored() as fields:
            assert fields.first._item_names._stored is not None
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
        host.close()


def _assert_names_are_those_of_the_tables(index):
    for side in ("documents", "terms"):
        with index.items(side).stored() as fields:
            items, names = fields.first.items, fields.first._item_names
            ids = [*items.ids()]
            assert names.describe(items, ids) == items.describe(ids)
            assert names.find(items, [*"abcdefpqrstuz"]) == items.find([*"abcdefpqrstuz"])
            ranks = fields.ranks(np.array(ids, np.int64))
            assert [ids[place] for place in np.argsort(ranks)] == [*items.ids(by_name=True)]


def test_after_a_write_only_the_names_that_it_changed_are_read(index, monkeypatch):
    reading = index.items("documents")
    reading.expand(["a"])
    index.update([("a", "green", "another title")])
    index.update([("b c", "red blue word1", "a third title")])
    asked = []
    monkeypatch.setattr(Vocabulary, "describe", lambda self, ids: asked.append(ids) or describe(self, ids))
    reading.expand(["name 100"], 10)
    assert asked == []
    titles = {hit.item: hit.title for hit in reading.expand(["name 7"], 2000)}
    assert (titles["a"], titles["b c"]) == ("another title", "a third title")
    assert asked == [[0, 1]]


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
