"""Items whose titles or columns change answer as in a fresh index, to the bit, and what is made of the lists stays."""

import sqlite3

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples

import setsearch
from setsearch import errors
from setsearch.indexing.writing.intake import Item
from setsearch.memory import known_columns
from setsearch.storage.kept.columns import parse_filter
from setsearch.storage.kept.conditions import OPERATORS, parse_condition

TEXTS = ("a small red lamp", "a red chair", "a small green chair", "a lamp of green glass", "glass")
FILTERS = (["price < 3"], ["price >= 1", "stock = 2"], ["stock != 2"])


def product(place, text=0, price=1, title="", tag=0):
    """A product as it is written."""
    columns = {"price": price, "stock": place % 3} if price else None
    text = TEXTS[(place + text) % len(TEXTS)]
    return Item(f"p{place}", text, f"Product {place}{title}", columns, {"tags": [f"t{tag}"]})


def shop(rows):
    """An index of products in memory."""
    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    index.add(rows)
    return index


def answers(index):
    """What is found, with scores, titles and columns."""
    reading, found = index.items("documents"), []
    for options in ({}, {"by": "tags"}, *({"filter": own} for own in FILTERS)):
        try:
            hits = reading.expand(["p0", "p1"], 20, **options)
        except errors.SetsearchError as error:
            found.append(str(error))
        else:
            found.append([(hit.item, hit.score, hit.title, hit.columns) for hit in hits])
    return found


def content_of(index):
    with index.items("documents").fields() as fields:
        return fields.first


writes = st.lists(
    st.one_of(
        st.tuples(
            st.just("update"),
            st.lists(
                st.builds(
                    product,
                    st.integers(0, 12),
                    st.sampled_from([0, 0, 0, 1]),
                    st.integers(0, 5),
                    st.sampled_from(["", "!", " (new)"]),
                    st.sampled_from([0, 0, 0, 1]),
                ),
                max_size=4,
                unique_by=lambda own: own.id,
            ),
        ),
        st.tuples(st.just("delete"), st.integers(2, 12)),
        st.tuples(st.just("ask"), st.none()),
    ),
    max_size=8,
)


@examples(60)
@given(writes)
def test_after_any_writes_answers_are_those_of_a_fresh_index(steps):
    rows = {own.id: own for own in map(product, range(8))}
    with shop([*rows.values()]) as index:
        answers(index)
        for what, given_ in steps:
            if what == "update":
                index.update(given_)
                rows |= {own.id: own for own in given_}
            elif what == "delete" and f"p{given_}" in rows:
                index.delete([f"p{given_}"])
                del rows[f"p{given_}"]
            elif what == "ask":
                answers(index)
        with shop([*rows.values()]) as fresh:
            assert answers(index) == answers(fresh)


def test_new_prices_leave_what_was_made_of_the_lists(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index, setsearch.open(path, create=True) as other:
        index.add(map(product, range(40)))
        for own in (index, other):
            answers(own)
            answers(own)  # by the file of arrays, where there is one
        before = [content_of(own) for own in (index, other)]
        index.update([product(place, price=4, title="!") for place in range(20)])
        for own, known in zip((index, other), before, strict=True):
            hits = {hit.item: hit for hit in own.items("documents").expand(["p0"], 40)}
            assert hits["p3"].columns["price"] == 4 and hits["p3"].title == "Product 3!"
            now = content_of(own)
            assert now.content is not known.content and now.content.by_item is known.content.by_item
            assert now.content.mapped is known.content.mapped
            assert now.kept_bases is known.kept_bases and now._valued is known._valued
        with setsearch.open(path) as late:
            answers(late)
            found = content_of(late).content
            assert (found.mapped is None) == (before[0].content.mapped is None) and found.since is None
        index.update([product(3, text=1)])
        answers(index)
        assert content_of(index).content.by_item is not before[0].content.by_item


def test_a_write_notes_what_it_changed():
    with shop(map(product, range(6))) as index:
        first = content_of(index).content.relation.state
        index.update([product(0, price=3), product(1, title="!"), product(2, text=1), product(3)])
        with index.items("documents").fields() as fields:
            changes = fields.relation.history.changes(first)
            assert [own.tolist() for own in changes] == [[2], [], [0, 1]]
            assert changes.in_lists.tolist() == [2] and changes.given.tolist() == [0, 1, 2]
        index.delete(["p1"])
        with index.items("documents").fields() as fields:
            changes = fields.relation.history.changes(first)
            assert changes.in_lists.tolist() == [1, 2] and changes.given.tolist() == [0, 1, 2]


def test_a_new_price_is_news_for_a_saved_set():
    with shop(map(product, range(12))) as index:
        index.keep_set("red", ["p0", "p1"], items="documents")
        assert not [*index.inbox()]
        index.update([product(5, price=4)])
        assert [row.item for row in index.inbox()] == ["p5"]


def test_filters_look_only_at_what_changed(monkeypatch):
    looked, read = [], known_columns.read_values
    monkeypatch.setattr(
        known_columns,
        "read_values",
        lambda relation, column, among: looked.append(among) or read(relation, column, among),
    )
    with shop(map(product, range(9))) as index:
        reading = index.items("documents")

        def seen():
            return {hit.item for hit in reading.expand(["p0"], 20, filter=["price < 3"])}

        assert "p4" in seen()
        index.update([product(4, price=4)])
        assert "p4" not in seen() and seen()
        assert [None if own is None else own.tolist() for own in looked] == [None, [4]]
        monkeypatch.setattr(known_columns, "MOST_CHANGED", 0)
        index.update([product(4, price=2)])
        assert "p4" in seen() and looked[-1] is None


KEPT = (
    None,
    1,
    1.0,
    2,
    -3.5,
    10**400,
    "1",
    "1,250",
    "1.250,5",
    "a",
    "",
    True,
    False,
    [1, "a"],
    [],
    "2001-05-01",
    "5/3/2026",
)
CONDITIONS = [
    parse_filter(f"x {sign} {wanted}")
    for wanted in ("1", "1250.5", "true", "a", "2001-05", "x1")
    for sign in OPERATORS
    if sign in ("=", "!=") or parse_condition(f"x {sign} {wanted}").orders
]


@examples(200)
@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.sampled_from(KEPT), max_size=6), min_size=1, max_size=4),
    st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3),
)
def test_a_column_meets_what_each_of_its_values_meets(writes, conditions):
    column, other, values = known_columns.NO_VALUES, known_columns.NO_VALUES, {}
    for write in writes:
        other = column.after(np.array([0]), ["of another transaction"])  # beside the same past
        column = column.after(np.array([*write], np.int64), write.values())
        values |= write
        for condition in conditions:
            assert other.meeting(condition)[0] == condition.meets("of another transaction")
            met = {id for id, value in values.items() if condition.meets(value)}
            assert {*np.flatnonzero(column.meeting(condition)).tolist()} == met


def test_a_filter_by_a_column_that_is_gone_is_refused():
    with shop(map(product, range(4))) as index:
        reading = index.items("documents")
        reading.expand(["p0"], filter=["price < 3"])
        index.update([product(place, price=None) for place in range(4)])
        with pytest.raises(errors.InvalidParameter, match="no column 'price' was kept to filter by; kept: none"):
            reading.expand(["p0"], filter=["price < 3"])
        index.update([product(1)])
        assert [hit.columns["price"] for hit in reading.expand(["p0"], filter=["price < 3"])] == [1]
