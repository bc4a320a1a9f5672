"""Conditions on columns of any name."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.writing.intake import Item
from setsearch.storage.kept.conditions import equality, parse_condition

TEXTS = st.text(st.sampled_from('a"=<>! b'), max_size=9)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rating >= 4", ("rating", ">=", "4")),
        ("a b==x = y", ("a b", "=", "x = y")),
        ('"a>b" < 3', ("a>b", "<", "3")),
        ('"a>b"<=3', ("a>b", "<=", "3")),
        ('"say ""="""= x', ('say "="', "=", "x")),
        ('5" disk = x', ('5" disk', "=", "x")),
        ('"a = 3', ('"a', "=", "3")),
        ("rating = > 4", ("rating", "=", "> 4")),
    ],
)
def test_a_condition_has_three_parts(text, parts):
    assert parse_condition(text) == parts


@pytest.mark.parametrize("text", ["", "rating", "= 3", '"rating"', '""', "rating => 4", "rating <> 4"])
def test_what_is_no_condition(text):
    assert parse_condition(text) is None


@given(TEXTS, TEXTS)
def test_every_column_and_value_can_be_written(column, value):
    column, value = column or "=", value.strip()
    assert parse_condition(equality(column, value)) == (column, "=", value)


def test_spaces_around_a_value_cannot_be_written():
    assert equality("a", " b") is None


@pytest.mark.parametrize("yes", [True, 1, 1.0])
def test_truth_is_one_and_zero(yes):
    no, conditions = type(yes)(0), [("true", True), ("False", False), ("1", True), ("0", False)]
    for wanted, truth in conditions:
        assert parse_condition(f"ok = {wanted}").meets(yes) == truth
        assert parse_condition(f"ok != {wanted}").meets(no) == truth
    assert not parse_condition("ok = yes").meets(yes)
    assert parse_condition("ok = true").meets("true")


def test_columns_whose_names_hold_operators_can_be_asked(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item(f"d{n}", "lion tiger", None, {"n>1": n}) for n in range(5)])
        hits = index.items("documents").expand(["d0"], filter=['"n>1" >= 3'])
    assert {hit.item for hit in hits} == {"d3", "d4"}
    assert CellRules(keep='"n>1" >= 3').keeps(("row 1", {"n>1": "4"}))


def test_a_number_beyond_all_floats_meets_no_condition():
    large = Item("large", "lion cat", columns={"year": 10**400})
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add([large, Item("old", "lion cat", columns={"year": 1990}), Item("new", "lion cat")])
        found = index.items("documents").expand(["new"], filter=["year > 3"])
    assert [hit.item for hit in found] == ["old"]
