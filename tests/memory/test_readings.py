"""The doors of an index: `items` for relations, `numbers` for numbers."""

from typing import get_type_hints

import pytest

import setsearch
from setsearch import errors
from setsearch.answers.numeric import NumericReading


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", "lion tiger"), ("b", "lion cat")])
        index.add_numbers([("x", [1.0, 2.0]), ("y", [1.1, 2.1]), ("z", [5.0, 0.5])], ["h", "w"], "body")
        yield index


def test_the_type_of_items_resolves():
    assert get_type_hints(setsearch.Index.items)["return"] is setsearch.Reading
    assert get_type_hints(setsearch.Index.numbers)["return"] is NumericReading


def test_numbers_have_a_door_of_their_own(index):
    assert index.numbers("body").expand(["x"], 1)[0].item == "y"
    with pytest.raises(errors.UsageError, match=r"in Python by numbers\('body'\)"):
        index.items("body")
    with pytest.raises(errors.SetsearchError, match="not described by numbers"):
        index.numbers("documents")


def test_either_kind_is_a_reading(index):
    assert isinstance(index.reading("body"), NumericReading)
    assert isinstance(index.reading("documents"), setsearch.Reading)


def test_an_item_of_the_other_side_is_pointed_at(index):
    with pytest.raises(errors.UnknownItem, match=r"no .a. among the 3 terms, .*items=documents"):
        index.items("terms").expand(["a"])
    for name in ("cat", "CAT"):
        with pytest.raises(errors.UnknownItem) as told:
            index.items("documents").expand([name])
        assert str(told.value) == (
            f"no {name!r} among the 2 documents, but it is one of the terms; find documents by `having={name}`, "
            "or by a text with `like`; or rank the terms with `items=terms`"
        )
        assert index.items("documents").expand([], having=[name]), "the way out is one"
    index.add([("cat.8.gz", "a cat"), ("cattle.txt", "a cow")], ("documents", "terms"))
    with pytest.raises(errors.UnknownItem, match=r"one of the terms; name cat\.8\.gz; or find documents by"):
        index.items("documents").expand(["cat"])
