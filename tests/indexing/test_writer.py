"""Updates write the difference between old and new features."""

import sqlite3

import hypothesis.strategies as st
import pytest
from hypothesis import given

import setsearch
from setsearch import errors
from setsearch.indexing import writer


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
