"""Ranges of numbers and dates in fields: where they end, and what is near."""

import datetime
import json

import hypothesis.strategies as st
import pytest
from fielded_items import made, opened
from hypothesis import given

import setsearch
from setsearch import Item
from setsearch.errors import InvalidItem
from setsearch.storage.feature_fields import FeatureField, as_days, ends_of


@given(st.lists(st.floats(), max_size=60), st.booleans())
def test_ends_are_round_numbers_in_their_order_and_do_not_depend_on_that_of_the_numbers(numbers, are_dates):
    numbers = [own % 2e6 if are_dates else own for own in numbers if abs(own) < 1e308]
    ends = ends_of(numbers, are_dates)
    assert ends == ends_of(numbers[::-1], are_dates) and [*ends] == sorted({*ends})
    assert all(min(numbers) < end <= max(numbers) for end in ends)
    for part in range(1, 20) if len(numbers) > 1 else ():
        place = sorted(numbers)[len(numbers) * part // 20]
        assert place == min(numbers) or any(own <= place for own in ends), "each tenth begins with an end"


def test_ends_are_as_people_write_them():
    assert ends_of([1987.5 + n / 7 for n in range(100)])[:4] == (1988.0, 1989.0, 1989.6, 1990.4)
    assert ends_of(range(1000))[:3] == (50, 100, 150) and ends_of([3.0] * 9) == ends_of([]) == ()
    days = [float(as_days("2004-01-01")) + 30.5 * n for n in range(60)]
    assert FeatureField("d", ends_of(days, True), True).ranges(days[30]) == [
        "d:2006-07-01 to 2007-01-01",
        "d:2006-04-01 to 2006-10-01",
    ]


def test_ranges_of_an_earlier_version_stay_until_all_is_replaced():
    index = opened(made(2, 12))
    with index._database.write() as cursor:
        cursor.execute("delete from setsearch_field_number")
        cursor.execute("""update setsearch_relation set fields = '[["tags", null], ["year", [2000.0]]]'""")
    index.update([Item("x", "w1", None, None, {"year": 2001}), Item("y", "w1", None, None, {"year": 1999})])
    assert "year:2000 or more" in index.items("documents").features_of("x")
    assert "year:below 2000" in index.items("documents").features_of("y")
    index.replace(made(2, 12))
    assert index.items("documents").features_of("i1") == opened(made(2, 12)).items("documents").features_of("i1")


def test_check_finds_numbers_that_are_not_those_of_the_ranges():
    for change in (
        "update setsearch_field_number set number = number + 9",
        "delete from setsearch_field_number where number = (select max(number) from setsearch_field_number)",
        "update setsearch_field_number set item = item + 1000000",
        "update setsearch_field_number set level = level + 1",
    ):
        index = opened(made(2, 12))
        assert index.check() == []
        with index._database.write() as cursor:
            cursor.execute(change)
        assert "the ranges of year are not those of its numbers" in "; ".join(index.check())


def test_a_sample_of_many_numbers_tells_the_ends(monkeypatch):
    monkeypatch.setattr("setsearch.indexing.writing.item_fields.SAMPLE", 10)
    monkeypatch.setattr("setsearch.indexing.writing.writer.MOVED_TOGETHER", 7)
    items = [Item(f"i{n}", "w", None, None, {"n": (n * 37) % 101}) for n in range(100)]
    index = opened([])
    for start in range(0, 100, 17):
        index.update(items[start : start + 17])
    index.delete([f"i{n}" for n in range(50, 80)])
    (new := opened([])).add(items[80:] + items[:50])
    for name in ("i1", "i99"):
        assert index.items("documents").features_of(name) == new.items("documents").features_of(name)
    assert index.check() == new.check() == []


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.data())
def test_near_numbers_share_a_range(numbers, data):
    field = FeatureField("n", ends_of(numbers))
    one, other = sorted(data.draw(st.tuples(st.sampled_from(numbers), st.sampled_from(numbers))))
    between = [end for end in field.ends if one < end <= other]
    shared = {*field.ranges(one)} & {*field.ranges(other)}
    assert len(field.ranges(one)) <= 2 and all(name.startswith("n:") for name in field.ranges(one))
    if field.ends and not between:
        assert shared == {*field.ranges(one)}
    assert len(between) < 2 or not shared
    if len(field.ends) > 1 and len(between) == 1:
        assert len(shared) == 1


@pytest.mark.parametrize(
    ("date", "days"),
    [
        ("1970-01-02", 1),
        ("1970-02", 31),
        ("1970-01-02 12:00", 1.5),
        ("1970-01-02T01:00:00+01:00", 1),
        ("1969-12-31", -1),
        (datetime.date(1971, 1, 1), 365),
        (datetime.datetime(1970, 1, 1, 6, tzinfo=datetime.UTC), 0.25),
        ("1970-13-01", None),
        ("soon", None),
        (3, None),
    ],
)
def test_a_date_is_a_number_of_days(date, days):
    assert as_days(date) == days


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("9999-12-31T23:59:59.9999999", "9999-12-31"),
        ("9999-12-31T23:59:59-05:00", "9999-12-31"),
        ("0001-01-01T00:00:00+05:00", "0001-01-01"),
    ],
)
def test_dates_that_say_never_are_dates(run, tmp_path, date, day):
    rows = [{"id": own, "text": "a lion", "day": own} for own in (date, "2020-01-02")]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "a.jsonl", "--numbers", "day")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        index.check()
        assert {row["id"]: row["day"][:10] for row in index.export()} == {date: day, "2020-01-02": "2020-01-02"}


def test_dates_of_a_column_are_near(tmp_path, run):
    rows = [f"a{n},w{n},{2000 + n // 3}-0{n % 3 + 1}-15" for n in range(30)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text,day", *rows]))
    code, _, said = run("index", "a.db", "a.csv", "--numbers", "day")
    assert code == 0, said
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items("documents")
        assert {hit.item for hit in reading.expand(["a10"], 3)} <= {f"a{n}" for n in range(8, 13)}
        assert "day:2003-01-01 to 2004-01-01" in reading.features_of("a10")
        for value, told in (("later", "names there: {'later': 1}"), (2004, "numbers there: 2004.0")):
            with pytest.raises(InvalidItem, match=f"the field 'day' has dates, and an item has {told}"):
                index.update([Item("a1", "w", None, None, {"day": value})])
        for day in ("2003-01-20", datetime.date(2003, 1, 20)):
            index.update([Item("a1", "w", None, None, {"day": day})])
            near = [own for own in reading.features_of("a1") if own.startswith("day:200")]
            assert len(near) == 2 and {*near} & {*reading.features_of("a9")}
    (tmp_path / "a.csv").write_text("id,text,day\na,w,soon")
    code, _, said = run("index", "b.db", "a.csv", "--numbers", "day")
    assert code == 1 and "the column 'day' is 'soon', not a finite number, or a date as 2004-12-31" in said


def test_the_first_day_of_1970_is_a_date(tmp_path):
    first = datetime.date(1970, 1, 1)
    days = [first, datetime.datetime.combine(first, datetime.time()), "1970-01-01", datetime.date(1980, 5, 6)]
    for order in (days, days[::-1]):
        index = opened([Item(f"a{n}", "w", None, None, {"day": day}) for n, day in enumerate(order)])
        (place,) = (n for n, day in enumerate(order) if day == days[-1])
        features = index.items("documents").features_of("a1" if place != 1 else "a2")
        assert [*features] == ["day:below 1980-01-01", "w"]
    for missing in (float("nan"), pytest.importorskip("pandas").NaT):
        with pytest.raises(InvalidItem, match="numbers are finite"):
            index.update([Item("b", "w", None, None, {"day": missing})])


def test_a_text_that_is_a_date_is_one_in_a_field_of_dates():
    index = opened([Item(f"a{n}", "w", None, None, {"day": f"200{n}-01-05", "tag": ["2001-01-05"]}) for n in range(9)])
    features = index.items("documents").features_of("a8")
    assert len([name for name in features if name.startswith("day:200") and name.endswith(" or more")]) == 2
    assert "tag:2001-01-05" in features, "a list has names"
    index.update([Item("a8", "w", None, None, {"tag": "2001-01-05"})])
    assert index.items("documents").features_of("a8") == features, "so have fields that had names before"
    for names in (["2001-01-05", "soon"], ["soon", "2001-01-05"]):
        index = opened([Item(name, "w", None, None, {"day": name}) for name in names])
        assert index.items("documents").features_of("2001-01-05") == {"day:2001-01-05": 1, "w": 1}
        with pytest.raises(
            InvalidItem, match=r"'day' has names, and an item has dates there.*; give these another field"
        ):
            index.update([Item("b", "w", None, None, {"day": datetime.date(2001, 1, 5)})])
