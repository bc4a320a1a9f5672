"""What an index says of itself is cheap: it does not read all items."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch.answers.overview import _largest, first_sets, sample_items
from setsearch.storage.relation import load_relations

KINDS = {"animal": ["lion", "tiger", "wolf", "bear"], "fruit": ["apple", "pear", "plum", "cherry"]}


def texts(count):
    """Short texts about animals and fruit, each with a word of its own, and words that tell little."""
    for n in range(count):
        kind = sorted(KINDS)[n % 2]
        words = KINDS[kind]
        yield f"d{n:05}", f"w{n} {kind} {words[n // 2 % 4]} {words[n // 8 % 4]} about about also"


def open_with(connection, count):
    index = setsearch.open(connection)
    index.add(texts(count))
    index.refresh("now")
    return index


def steps_of(connection, question):
    """The instructions of SQLite that a question takes, the second time."""
    question()
    counted = []
    connection.set_progress_handler(lambda: counted.append(1), 1)
    question()
    connection.set_progress_handler(None, 1)
    return len(counted)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """A collection of eight texts, and two of many, one twice as large as the other."""
    folder = tmp_path_factory.mktemp("sizes")
    with (
        closing(sqlite3.connect(folder / "few.db", isolation_level=None)) as few,
        closing(sqlite3.connect(folder / "some.db", isolation_level=None)) as some,
        closing(sqlite3.connect(folder / "many.db", isolation_level=None)) as many,
    ):
        yield [
            (connection, open_with(connection, count)) for connection, count in ((few, 8), (some, 1000), (many, 2000))
        ]


def test_the_revision_takes_the_same_steps_whatever_the_size(sizes):
    assert [index.revision() for _, index in sizes] == [index.info()["revision"] for _, index in sizes] == [1, 1, 1]
    assert len({steps_of(connection, index.revision) for connection, index in sizes}) == 1


def test_the_description_takes_no_more_steps_of_twice_as_much(sizes):
    _, some, many = (steps_of(connection, index.info) for connection, index in sizes)
    assert many < 1.1 * some


def test_the_start_is_looked_up_once(sizes):
    connection, index = sizes[-1]
    reading = index.items("documents")
    sets = first_sets(reading)
    assert sets and all(len(names) == 3 for names in sets)
    before = steps_of(connection, lambda: first_sets(index.items("documents")))
    assert first_sets(index.items("documents")) == sets
    assert before < 1000
    index.add([("new", "a lion and a tiger")])
    assert steps_of(connection, lambda: first_sets(index.items("documents"))) < 1000
    assert first_sets(index.items("documents"))
    index.delete(["new"])


def test_the_start_shows_no_copies(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(f"{id} {copy}", text) for id, text in texts(200) for copy in ("here", "there")])
        sets = first_sets(index.items("documents"))
    assert sets and all(len({name.split()[0] for name in names}) == 3 for names in sets)


def test_a_description_counts_what_the_tables_hold(sizes):
    for connection, index in sizes:
        (held,) = connection.execute("select sum(length) from setsearch_feature").fetchone()
        assert {own["posting_count"] for own in index.info()["readings"]} == {held}
        index.add([("new", "lion of the savanna")])  # newer than what was derived
        assert {own["posting_count"] for own in index.info()["readings"]} == {held + 4}
        index.delete(["new"])


def test_a_sample_has_words_that_tell_something(sizes):
    for connection, index in sizes:
        cursor = connection.cursor()
        (relation,) = load_relations(cursor)
        of_documents, of_words = (index._readings.files.totals(relation, side) for side in (False, True))
        words = sample_items(relation, True, of_words)
        assert words and not {"about", "also"} & {*words}
        assert all(word.isalpha() for word in words)
        assert len(sample_items(relation, False, of_documents)) == 5


def test_a_sample_is_of_all_folders():
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        shuffled = np.random.default_rng(0).permutation(1200)
        index.add([(f"{'abc'[n // 400]}/{n}", {"lion": int(shuffled[n]) + 1}) for n in range(1200)])
        (documents,) = (own for own in index.info()["readings"] if own["items"] == "documents")
    assert {name[0] for name in documents["some"]} == {*"abc"}


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 80))
def test_the_largest_are_those_of_a_whole_sort(totals, most):
    array = np.array(totals, np.int64)
    assert _largest(array, most).tolist() == sorted(range(len(totals)), key=lambda place: -totals[place])[:most]
