"""The doors of an index: `items` for relations, `numbers` for numbers."""

import gc
import random
import sqlite3
import types
from typing import get_type_hints

import pytest

import setsearch
from setsearch import errors
from setsearch.answers.numeric import NumericReading
from setsearch.sqlite.limits import LimitedCursor
from setsearch.storage.relation import Relation


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
    with pytest.raises(errors.UnknownItem, match=r"no 'A' among the 3 terms, .*items=documents"):
        index.items("terms").expand(["A"])
    index.add([("10.1/c", "a cat", "cat: a study")], ("documents", "terms"))
    with pytest.raises(errors.UnknownItem, match=r"one of the terms; name 10\.1/c; or find documents by"):
        index.items("documents").expand(["cat"])
    index.delete(["10.1/c"], ("documents", "terms"))
    index.add([("cat.8.gz", "a cat"), ("cattle.txt", "a cow")], ("documents", "terms"))
    with pytest.raises(errors.UnknownItem, match=r"one of the terms; name cat\.8\.gz; or find documents by"):
        index.items("documents").expand(["cat"])
    index.add(
        [("pets/old/Cat.md", "a cat"), ("pets/cat/x.txt", "a cow"), ("pets/a cat.md", "b")], ("documents", "terms")
    )
    with pytest.raises(errors.UnknownItem, match=r"terms; name cat\.8\.gz or pets/old/Cat\.md; or find documents by"):
        index.items("documents").expand(["cat"])


def test_names_in_one_text_are_given_each_by_itself(index):
    index.add([("t1", "b", "The Lion"), ("t2", "b", "Wheat")], ("documents", "terms"))
    for text in ("t1,wheat", "the lion, T2"):
        shown = " ".join(repr(part.strip()) for part in text.split(","))
        with pytest.raises(errors.UnknownItem, match=f"give each by itself: {shown}$"):
            index.items("documents").expand([text])
    with pytest.raises(errors.UnknownItem, match=r"give each by itself: 't1' 't2'; nothing was deleted$"):
        index.delete(["t1, t2"], ("documents", "terms"))
    with pytest.raises(errors.UnknownItem, match=r"give each by itself: 'Cat' 'LION'$"):
        index.items("terms").expand(["Cat, LION"])


def reachable(root):
    """What an object refers to, directly or not, as far as it is no class, module or namespace of one."""
    seen, left = {}, [root]
    while left:
        one = left.pop()
        is_namespace = isinstance(one, dict) and "__builtins__" in one
        if id(one) not in seen and not is_namespace and not isinstance(one, type | types.ModuleType):
            seen[id(one)] = one
            left += gc.get_referents(one)
    return seen.values()


@pytest.mark.parametrize("derived_before", [False, True])
def test_what_a_process_keeps_has_no_cursor(tmp_path, derived_before):
    """A cursor is of one transaction, and of one thread: what stays takes that of the question."""
    rng = random.Random(1)
    texts = [
        (f"d{n}", " ".join(rng.choices("lion tiger leopard wheat rye corn on of to".split(), k=9))) for n in range(60)
    ]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts)
        if derived_before:
            index.refresh()
    with setsearch.open(tmp_path / "a.db") as index:
        for _ in range(2):
            for items, seed in (("terms", "lion"), ("documents", "d1")):
                reading = index.items(items)
                hits = reading.expand([seed], 3, explain=True)
                assert len(hits) == 3
                reading.explain([seed], hits[0].item)
            index.items("terms").expand(["lion"], 3, explain=True, by="both")
            index.update([("d1", "lion wheat")])
        kept = [*reachable(index._readings._memory)]
        assert any(isinstance(one, Relation) for one in kept)
        assert not [one for one in kept if isinstance(one, sqlite3.Cursor)]


def test_what_a_connection_of_ours_reads_stays_bound_until_a_write(index):
    reading = index.items("documents")

    def seen():
        with reading.stored() as fields:
            return fields, reading.document_frequency("lion")

    seen()  # which writes the lists beside the file
    first, frequency = seen()
    assert seen()[0] is first
    index.add([("c", "lion")], ("documents", "terms"))
    second, frequency_then = seen()
    assert second is not first
    assert (frequency, frequency_then) == (2, 3)
    with pytest.raises(ZeroDivisionError), reading.stored():
        raise ZeroDivisionError
    assert seen()[1] == 3
    index.close()
    assert seen()[1] == 3


def test_a_question_that_fails_leaves_nothing_to_the_collector_of_garbage(index):
    reading = index.items("documents")

    def cursors():
        return [one for one in gc.get_objects() if isinstance(one, LimitedCursor)]

    reading.expand(["a"])
    gc.collect()
    before = len(cursors())
    gc.disable()
    try:
        for _ in range(3):
            with pytest.raises(errors.UnknownItem):
                reading.expand(["unknown"])
            reading.expand(["a"])
        assert len(cursors()) == before
        index.close()
        assert len(cursors()) == before - 1
    finally:
        gc.enable()


def test_the_cursor_of_a_host_is_closed(index, tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    with setsearch.open(connection).items("documents").stored() as fields:
        cursor = fields.cursor
    with pytest.raises(sqlite3.ProgrammingError):
        cursor.execute("select 1")
    connection.close()
