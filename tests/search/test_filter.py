"""A filter on kept columns leaves the ranking as it is, without the others."""

import json
import operator
import random
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.indexing.writing.intake import Item

SIGNS = {">=": operator.ge, "<": operator.lt, "=": operator.eq, "!=": operator.ne}
YEARS = [1990, "1999", 2001.5, None, "", "unknown", [1990, 2005]]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = random.Random(5)
    with setsearch.open(tmp_path_factory.mktemp("filter") / "a.db", create=True) as made:
        made.add(
            Item(f"d{n}", " ".join(rng.choices("lion tiger cat wheat barley oats".split(), k=5)), None, columns(n, rng))
            for n in range(120)
        )
        yield made


def columns(n, rng):
    return {"year": rng.choice(YEARS), "kind": rng.choice(["novel", "letter = short"])} if n % 7 else {}


def meets(value, sign, wanted):
    """The definition, apart from the code: numbers are compared as numbers, and texts with what is no number."""
    if isinstance(value, list):
        return any(meets(part, sign, wanted) for part in value)
    if value in (None, ""):
        return False
    try:
        return SIGNS[sign](float(value), float(wanted))
    except ValueError:
        return sign == "!="  # a text has no place among numbers


@examples(40)
@given(sign=st.sampled_from([*SIGNS]), year=st.sampled_from(["1999", "2001.5"]), kind=st.booleans())
def test_hits_are_those_of_all_that_meet_the_conditions(index, sign, year, kind):
    reading = index.items("documents")
    conditions = [f"year {sign} {year}", *(["kind = letter = short"] if kind else [])]
    everything = reading.expand(["d1", "d2"], 200, model="bernoulli")
    expected = [
        (hit.item, hit.score)
        for hit in everything
        if meets((hit.columns or {}).get("year"), sign, year)
        if not kind or hit.columns["kind"] == "letter = short"
    ]
    found = reading.expand(["d1", "d2"], 200, model="bernoulli", filter=conditions)
    assert [(hit.item, hit.score) for hit in found] == expected
    among = [item for item, _ in expected[::2]]
    both = reading.expand(["d1", "d2"], 200, model="bernoulli", filter=conditions, among=among)
    assert [hit.item for hit in both] == among


def test_a_write_changes_who_meets_it(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item(f"d{n}", "lion tiger", None, {"year": n}) for n in range(5)] + [("e", "wheat")])
        ask = lambda: {hit.item for hit in index.items("documents").expand(["e"], 9, filter=["year >= 3"])}  # noqa: E731
        assert ask() == {"d3", "d4"}
        index.update([Item("d0", "lion", None, {"year": 9}), Item("d4", "lion")])
        assert ask() == {"d0", "d3"}


def test_booleans_are_written_as_in_json(tmp_path):
    with setsearch.open(tmp_path / "b.db", create=True) as index:
        index.add([Item(f"d{n}", "lion", None, {"ok": n % 2 == 0, "n": "nan"}) for n in range(6)] + [("e", "wheat")])
        ask = lambda *filter: {h.item for h in index.items("documents").expand(["e"], 9, filter=filter)}  # noqa: E731
        assert ask("ok = true") == {"d0", "d2", "d4"}
        assert ask("ok != true") == {"d1", "d3", "d5"}
        assert len(ask("n = nan")) == 6


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        (["price > 3"], "no column 'price' was kept to filter by; kept: year, kind"),
        (["year"], "as 'year >= 2001'"),
        (["kind > novel"], "as 'year >= 2001'"),
        (
            ["kind < 3"],
            "no 'kind' is a number to compare with 3, but '(novel|letter = short)'; index it again as a number",
        ),
        (["kind > 2001-05"], "no 'kind' is a date to compare with 2001-05, but"),
        (["kind = 3"], "none of the 120 documents may be returned"),
        (["year > 9999"], "none of the 120 documents may be returned"),
        ("year > 3", "filter is a list of texts"),
    ],
)
def test_mistakes_are_told(index, filter, said):
    with pytest.raises((errors.InvalidParameter, errors.NothingToRank), match=said):
        index.items("documents").expand(["d1"], filter=filter)
    with pytest.raises(errors.InvalidParameter, match="kept of documents, not to terms"):
        index.items("terms").expand(["lion"], filter=["year > 3"])


def test_a_year_among_dates_is_told_how_dates_are_written():
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add([Item("a", "lion"), Item("b", "lion", None, {"day": "2023-08-22"})])
        told = "no 'day' is a number to compare with 2023, but '2023-08-22'; compare it with a date, such as 2023-08-22"
        with pytest.raises(errors.InvalidParameter, match=told):
            index.items("documents").expand(["a"], filter=["day >= 2023"])
        assert index.items("documents").expand(["a"], filter=["day >= 2023-01"])[0].item == "b"


def test_of_a_relation_allowed_items_are_named():
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add([("lamp", ["Ann", "Bob"]), ("chair", ["Ann"])], ("product", "customer"))
        with pytest.raises(errors.InvalidParameter, match="kept: none; `among` names those that are allowed"):
            index.items("product").expand(["lamp"], filter=["price < 30"])


def test_only_values_of_items_tell_whether_a_column_has_numbers(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        ask = lambda test: [hit.item for hit in index.items("documents").expand(["a"], 9, filter=[test])]  # noqa: E731
        index.add([Item("a", "lion", None, {"price": ["9 Kč", 7]}), Item("b", "lion", None, {"price": "9 Kč"})])
        with pytest.raises(errors.NothingToRank, match="none of the 2 documents"):
            ask("price > 7")
        index.update([Item("a", "lion", None, {"price": ""})])
        with pytest.raises(errors.InvalidParameter, match="no 'price' is a number to compare with 7, but '9 Kč'"):
            ask("price > 7")
        assert ask("price = 9 Kč") == ["b"]


def test_the_command_line_filters(run, tmp_path, failed):
    rows = [{"id": f"d{n}", "text": "lion tiger cat", "year": n} for n in range(6)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "d.jsonl", "--keep-columns", "year")[0] == 0
    asked = ["expand", "a.db", "d0", "--items", "documents", "--model", "bernoulli", "--unfold"]
    out = run(*asked, "--filter", "year > 2", "--filter", "year != 4")[1]
    assert {row["item"] for row in json.loads(out)} == {"d3", "d5"}
    failed(run(*asked, "--filter", "pages > 2"), 2, "'pages'", "kept: year")
