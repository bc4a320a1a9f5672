"""Numbers and dates as machines of several countries write them: the column tells what a cell says."""

import pytest

import setsearch
from setsearch.indexing.rows.cells import cell_number
from setsearch.indexing.rows.reader import RowReader
from setsearch.storage.feature_fields import as_days
from setsearch.storage.kept.conditions import parse_condition
from setsearch.text.numbers_and_dates import date_text

TABLES = {  # a table, and what its column x says
    "commas in the column": ("id;x\na;3,5\nb;1.250\nc;1,250\nd;12\n", [3.5, 1250, 1.25, 12]),
    "commas in the file": ("id;y;x\na;3,50;1.250\nb;0,5;900\n", [1250, 900]),
    "points in the column": ("id;x\na;3.5\nb;1.250\nc;1,250\n", [3.5, 1.25, 1250]),
    "points in the file": ("id;y;x\na;3.50;1.250\nb;0.5;2.100\n", [1.25, 2.1]),
    "points and commas in the file": ("id;y;z;x\na;3.50;3,5;1.250\n", [1250]),
    "several groups": ("id;x\na;126.329\nb;3.645.000\n", [126329, 3645000]),
    "nothing tells": ("id;x\na;126.329\nb;58.978\n", [None, None]),
    "nothing tells, between commas": ('id,x\na,1.250\nb,"1,250"\n', [1.25, None]),
    "points between commas": ('id,x\na,3.5\nb,"1,250"\n', [3.5, 1250]),
    "commas between tabs": ("id\tx\na\t3,5\nb\t1.250\n", [3.5, 1250]),
    "both in the column": ("id;x\na;3,5\nb;3.5\nc;1.250\n", [3.5, 3.5, 1250]),
    "French groups": ("id;x\na;1\u202f250,5\nb;1\u00a0250\nc;1 250 000\n", [1250.5, 1250, 1250000]),
    "a typeset minus": ("id;x\na;−3,5\nb;−1.250\n", [-3.5, -1250]),
    "Swiss groups": ("id;x\na;1'250.50\nb;1’250\n", [1250.5, 1250]),
    "euros": ("id;x\na;12,49 €\nb;1.250\u00a0€\nc;€ 7\nd;-3 €\n", [12.49, 1250, 7, -3]),
    "dollars": ('id,x\na,$3.50\nb,"$1,250"\n', [3.5, 1250]),
    "money of nobody": ("id;x\na;1.250 €\nb;2.500 €\n", [None, None]),
    "gaps": ("id;x;y\na;12,49;5/3/2026\nb;1.250;27/3/2026\nc;-;k.A.\n", [12.49, 1250, None]),
    "gaps among dates": ("id;x\na;5/3/2026\nb;27/3/2026\nc;k.A.\n", ["2026-03-05", "2026-03-27", None]),
    "names": ("id;x\na;3,50\nb;1.250\nc;1.250 a\n", [3.5, 1.25, None]),
    "German dates": ("id;x\na;27.11.2026\nb;1.2.2026 14:30\n", ["2026-11-27", "2026-02-01T14:30"]),
    "Japanese dates": ("id,x\na,2026/11/27\nb,2026年2月1日\n", ["2026-11-27", "2026-02-01"]),
    "French dates": ("id;x\na;27/11/2026\nb;05/03/2026 9:05:00\n", ["2026-11-27", "2026-03-05T09:05:00"]),
    "American dates": ("id,x\na,11/27/2026\nb,5/3/2026 2:30 PM\n", ["2026-11-27", "2026-05-03T14:30"]),
    "Dutch dates": ("id;x\na;27-11-2026\nb;5-3-2026\n", ["2026-11-27", "2026-03-05"]),
    "dates of nobody": ("id;x\na;5/3/2026\nb;6/3/2026\n", [None, None]),
    "no dates": ("id;x\na;27/11/2026\nb;31/31/2026\n", ["2026-11-27", None]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_column_tells_what_its_cells_say(tmp_path, name):
    content, wanted = TABLES[name]
    (tmp_path / "a.csv").write_text(content)
    cells = [row["x"] for _, row in RowReader().read(str(tmp_path / "a.csv"))]
    for cell, own in zip(cells, wanted, strict=True):
        if own is None:
            with pytest.raises(setsearch.errors.SourceError, match=r"a\.csv"):
                cell_number("a.csv", "x", cell)
        else:
            assert cell_number("a.csv", "x", cell) == (as_days(own) if isinstance(own, str) else own)
    assert all(str(cell) in content for cell in cells), "as a text, each says what it said"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("27.11.2026", "2026-11-27"),
        ("7. 1. 2026", "2026-01-07"),
        ("2026.11.27", "2026-11-27"),
        ("2026-11-27 08:00", "2026-11-27 08:00"),
        ("5/5/2026", "2026-05-05"),
        ("5/3/2026", None),
        ("12/31/2026, 12:05 a.m.", "2026-12-31T00:05"),
        ("27.13.2026", None),
        ("1.2.3", None),
        ("192.168.2026", None),
        ("27.11.26", None),
        ("2026-11-27 10:00:00 UTC", "2026-11-27 10:00:00Z"),
        ("2026-11-27 10:00 GMT", "2026-11-27 10:00Z"),
        ("lions UTC", None),
    ],
)
def test_a_date_alone_is_one_where_it_cannot_be_another(text, iso):
    assert date_text(text) == iso


def test_conditions_compare_dates_however_they_are_written():
    for wanted in ("2026-11-27", "27.11.2026", "2026/11/27"):
        condition = parse_condition(f"day >= {wanted}")
        assert condition.orders
        assert [condition.compare(day) for day in ("27.11.2026", "26.11.2026", "2026/12/01 07:00")] == [
            True,
            False,
            True,
        ]
    assert parse_condition("day = 2026-11").compare("27.11.2026 14:30")


def test_kept_columns_say_what_their_column_tells(run, tmp_path):
    """A version that looks like a number stays, where only other columns tell."""
    rows = "id;text;price;day;version\na;lion;3,50;27.11.2026;1.250\nb;lion cat;1.250;05.03.2026;2.100\n"
    (tmp_path / "a.csv").write_text(rows)
    assert run("index", "a.db", "a.csv", "--keep-columns", "price,day,version")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items("documents")
        (hit,) = reading.expand(["a"])
        assert hit.columns == {"price": "1250", "day": "2026-03-05", "version": "2.100"}
        for condition in ("price > 1000", "day >= 2026-03", "day < 06.03.2026"):
            assert [hit.item for hit in reading.expand(["a"], filter=[condition])] == ["b"]


def test_gaps_of_a_column_stay_as_they_are(run, tmp_path):
    rows = "id;text;price;day\na;lamp;12,49;5/3/2026\nb;lamp;1.250;27/3/2026\nc;lamp;-;k.A.\n"
    (tmp_path / "a.csv").write_text(rows)
    assert run("index", "a.db", "a.csv", "--keep-columns", "price,day")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        hits = index.items("documents").expand(["a"], keep_seeds=True)
        assert {hit.item: (*hit.columns.values(),) for hit in hits} == {
            "a": ("12.49", "2026-03-05"),
            "b": ("1250", "2026-03-27"),
            "c": ("-", "k.A."),
        }


def test_a_number_among_words_stays_as_it_is(run, tmp_path):
    (tmp_path / "a.csv").write_text("id;text;note\na;lamp;2,5\nb;lamp;fair\nc;lamp;good\n")
    assert run("index", "a.db", "a.csv", "--keep-columns", "note")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        hits = index.items("documents").expand(["a"], keep_seeds=True)
        assert {hit.columns["note"] for hit in hits} == {"2,5", "fair", "good"}


def test_prices_are_compared_and_keep_their_signs(run, tmp_path):
    (tmp_path / "a.csv").write_text("id;text;price\na;lamp;12,49 €\nb;lamp;1.250 €\nc;lamp;€ 29\n")
    assert run("index", "a.db", "a.csv", "--keep-columns", "price")[0] == 0
    (tmp_path / "b.jsonl").write_text('{"id": "a", "text": "lamp", "price": "$9.50"}\n{"id": "b", "text": "lamp"}\n')
    assert run("index", "b.db", "b.jsonl", "--keep-columns", "price")[0] == 0
    with setsearch.open(tmp_path / "a.db") as euros, setsearch.open(tmp_path / "b.db") as dollars:
        ask = lambda test: euros.items("documents").expand(["c"], keep_seeds=True, filter=[test])  # noqa: E731
        prices = [{hit.item: hit.columns["price"] for hit in ask(f"price {test}")} for test in ("< 30 €", "> 30")]
        assert prices == [{"a": "12.49 €", "c": "€ 29"}, {"b": "1250 €"}]
        assert [hit.item for hit in dollars.items("documents").expand(["b"], filter=["price <= 9.5"])] == ["a"]


def test_columns_read_at_once_agree_with_rows(run, tmp_path):
    (tmp_path / "a.csv").write_text("item;user;rating\nA;u;3,5\nB;u;1.250\nC;u;5\n")
    (tmp_path / "b.csv").write_text("item;user;rating\nA;u;900\nB;u;1.250\nC;u;3.5\n")
    (tmp_path / "c.csv").write_text("item;user;rating\nA;u;900 €\nB;u;1.250 €\nC;u;3,5 €\n")
    for name, wanted in (("a", {"B"}), ("b", {"A"}), ("c", {"A", "B"})):
        relation = ("--items", "item", "--features", "user")
        assert run("index", f"{name}.db", f"{name}.csv", *relation, "--keep", "rating > 100")[0] == 0
        with setsearch.open(tmp_path / f"{name}.db") as index, index.items("item").stored() as fields:
            assert {own for own, _ in fields.describe(fields.item_ids().tolist()).values()} == wanted
