"""Updates write the difference between old and new features."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.indexing.writing import writer

NAMES = st.sampled_from("abcdefgh")
COLLECTIONS = st.dictionaries(NAMES, st.tuples(st.lists(NAMES, max_size=4), st.none() | NAMES), max_size=8)


def written(collection):
    return [(id, features, title) for id, (features, title) in collection.items()]


def content(index):
    """All answers that the few items can give, and what is stored of them."""
    films = index.items("film")
    names = sorted(films.titles("abcdefgh"))
    asked = [films.expand([name], 9, keep_seeds=True) for name in names if films.features_of(name)]
    hits = [[(hit.item, hit.score, hit.title) for hit in answer] for answer in asked]
    return names, [films.features_of(name) for name in names], films.titles(names), hits


@pytest.mark.parametrize("old", [{}, {"x": 1}, {"x": 2, "y": 1}])
@pytest.mark.parametrize("new", [{}, {"x": 1}, {"y": 3}])
def test_an_update_writes_the_difference(tmp_path, old, new):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", old), ("b", {"x": 1})], ("film", "user"))
        index.update([("a", new)], ("film", "user"))
        assert index.items("film").features_of("a") == new
        assert index.check() == []


USERS = st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.sampled_from("uvwxyz"), min_size=1), min_size=2)


@given(USERS, st.sets(st.sampled_from("uvwxyz"), min_size=1, max_size=4), st.integers(1, 3))
def test_deleting_users_of_films_is_as_if_they_had_never_been(films, gone, at_once):
    with (
        setsearch.open(sqlite3.connect(":memory:")) as index,
        setsearch.open(sqlite3.connect(":memory:")) as other,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(writer, "MOVED_TOGETHER", at_once)
        index.add([(film, sorted(users)) for film, users in films.items()], ("film", "user"))
        index.items("film").expand([*films][:1])  # in memory, too
        known = set().union(*films.values())
        if gone - known:
            with pytest.raises(errors.UnknownItem, match="nothing was deleted"):
                index.delete(sorted(gone), ("user", "film"))
        assert {one.item for one in index.items("user").find_names("", 99)} == known
        if gone & known:
            assert index.delete(sorted(gone & known), ("user", "film")) == len(gone & known)
        other.add([(film, sorted(users - gone)) for film, users in films.items()], ("film", "user"))
        assert index.check() == []
        for kind in ("film", "user") if known - gone else ():
            own, plain = index.items(kind), other.items(kind)
            found = plain.find_names("", 99)
            assert own.find_names("", 99) == found
            assert own.expand([found[0].item], keep_seeds=True) == plain.expand([found[0].item], keep_seeds=True)


def test_what_cannot_be_deleted_alone_names_the_way_out(database):
    with setsearch.open(database) as index:
        with pytest.raises(errors.InvalidParameter, match="terms go with the documents that have them: delete these"):
            index.delete(["cat"], ("terms", "documents"))
        index.add([("Alien", ["u1"], None, None, {"tag": ["space"]})], ("film", "user"))
        with pytest.raises(errors.InvalidParameter, match="is of a field; `update`"):
            index.delete(["tag:space"], ("user", "film"))


@examples(100)
@given(st.lists(COLLECTIONS, min_size=2, max_size=4))
def test_what_replaces_is_as_a_new_index_of_it(collections):
    with setsearch.open(sqlite3.connect(":memory:")) as index, setsearch.open(sqlite3.connect(":memory:")) as new:
        for collection in collections:
            index.replace(written(collection), ("film", "user"))
        new.add(written(collections[-1]), ("film", "user"))
        assert content(index) == content(new) and index.check() == []


def test_a_mapping_has_ids_and_features():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    texts = {"a": "lion cat", "b": "tiger cat", 3: "wheat"}
    with setsearch.open(sqlite3.connect(":memory:")) as index, setsearch.open(sqlite3.connect(":memory:")) as other:
        assert index.add(texts) == other.add(texts.items()) == 3
        assert index.update({"b": "tiger lion"}) == other.update([("b", "tiger lion")]) == 1
        documents = index.items("documents")
        assert documents.expand(["a"], 2) == other.items("documents").expand(["a"], 2)
        assert index.replace(pandas.Series({"x": "lion", "y": "cat"})) == 2 and documents.item_count() == 2
        with pytest.raises(errors.InvalidItem, match="this is 'text'"):
            index.add(pandas.DataFrame({"text": ["lion"]}))


def test_what_replaces_needs_nothing_of_a_damaged_index(tmp_path):
    items = [("a", "the lion and the tiger"), ("b", "the tiger and the cat")]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(items)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("update setsearch_forward set data = x'00'")
    connection.close()
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.replace(items) == 2 and index.check() == []


def test_what_replaces_may_have_other_settings(tmp_path):
    items = [("a", "the lion and the tiger"), ("b", "the tiger and the cat")]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(items)
    with setsearch.open(tmp_path / "a.db", contexts="on") as index:
        with pytest.raises(setsearch.errors.UsageError, match="`replace`"):
            index.update(items)
        assert index.replace(items) == 2 and index.update(items) == 2
