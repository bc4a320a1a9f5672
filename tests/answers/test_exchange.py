"""Saved sets in and out: `Index.export_sets`, `import_sets`, and the commands `set export` and `set import`."""

import csv
import io
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.answers.saved.exchange import member_rows

DOCUMENTS = [("lion", "a large cat"), ("tiger", "a striped cat"), ("wheat", "a cereal"), ("rye", "a hardy cereal")]


@pytest.fixture
def index():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as made:
        made.add([*DOCUMENTS, ("7", "a number"), ("two\nlines", "a cereal, too", "A title")])
        yield made


def marks(index):
    return {
        name: (items, set(index.set(name).accepted), set(index.set(name).rejected))
        for name, items in index.sets().items()
    }


names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)
members = st.dictionaries(st.sampled_from(["lion", "tiger", "wheat", "rye", "7", "two\nlines"]), st.booleans())


@examples(60)
@given(sets=st.dictionaries(names, members, max_size=4))
def test_what_goes_out_comes_in_again(sets):
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add([*DOCUMENTS, ("7", "a number"), ("two\nlines", "a cereal, too", "A title")])
        for name, own in sets.items():
            sides = ([item for item, is_in in own.items() if is_in is side] for side in (True, False))
            index.keep_set(name, *sides, items="documents")
        before = marks(index)
        rows = index.export_sets() if sets else []
        assert json.loads(json.dumps(rows)) == rows
        out = io.StringIO()
        writer = csv.DictWriter(out, ["set", "items", "item", "mark"])
        writer.writeheader()
        writer.writerows(member_rows(rows))
        versions = {name: index.set(name).version for name in sets}
        assert {own.name: own.version for own in index.import_sets(rows)} == versions, "they are there, and equal"
        for name in sets:
            index.delete_set(name)
        index.import_sets(rows)
        assert marks(index) == before
        for name in sets:
            index.delete_set(name)
        index.import_sets(csv.DictReader(io.StringIO(out.getvalue(), newline="")))
        assert marks(index) == {name: own for name, own in before.items() if own[1] or own[2]}, "CSV tells members"


def test_sets_come_in_from_frames(index):
    rows = {"set": ["cats", "cats", "grain"], "item": ["lion", "tiger", "wheat"], "mark": ["accepted", None, None]}
    for library in ("pandas", "polars"):
        frames = pytest.importorskip(library, reason=f"needs {library}")
        index.import_sets(frames.DataFrame(rows), "documents", replace=True)
        assert marks(index) == {
            "cats": ("documents", {"lion", "tiger"}, set()),
            "grain": ("documents", {"wheat"}, set()),
        }


def test_all_sets_come_in_or_none(index):
    rows = [{"set": "cats", "item": "lion"}, {"set": "cats", "item": "unicorn"}, {"set": "grain", "item": "wheat"}]
    with pytest.raises(errors.SourceError, match=r"^row 2: .*'unicorn'.*; correct it, or pass `errors=skip`$"):
        index.import_sets(rows, "documents")
    assert index.sets() == {}
    told = []
    saved = index.import_sets(rows, "documents", errors="skip", warn=told.append)
    assert [(own.name, own.accepted) for own in saved] == [("cats", ["lion"]), ("grain", ["wheat"])]
    (line,) = told
    assert line.startswith("skipped row 2: ") and "unicorn" in line
    more = [{"name": "grain", "accepted": ["rye"]}, {"name": "new", "accepted": ["lion"]}]
    with pytest.raises(errors.ChangedSet, match=r"there is a set 'grain' already.*`replace` replaces it"):
        index.import_sets(more, "documents")
    assert "new" not in index.sets(), "all or none"
    index.import_sets(more, "documents", replace=True)
    assert index.set("grain").accepted == ["rye"]
    assert index.set("new").accepted == ["lion"]
    assert index.check() == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"set": "cats"}, "a row has a set and an item, or a name and lists of items, not {'set': 'cats'};"),
        ({"item": "lion"}, "a row has a set and an item"),
        ({"name": "cats", "accepted": "lion"}, "accepted of 'cats' is a list of items, not 'lion'"),
        ({"name": "cats", "accepted": [["lion"]]}, "a text or a whole number"),
        ({"set": "cats", "item": "lion", "mark": "maybe"}, "mark of an item is accepted or rejected, not 'maybe'"),
        ({"set": "cats", "item": "tiger", "accepted": "perhaps"}, "accepted of an item is yes or no, not 'perhaps'"),
        ({"set": "cats", "item": "tiger", "accepted": ""}, "accepted of an item is yes or no, not ''"),
        ({"set": "cats", "item": "tiger", "rejected": ["lion"]}, "rejected of an item is yes or no, not ['lion']"),
        ({"set": "cats", "item": "tiger", "mark": "accepted", "rejected": 1}, "'tiger' is accepted by one column, and"),
        ({"set": " ", "item": "lion"}, "the name of a set is 1 to 200 printable characters, not ''"),
        ({"set": "cats", "item": ""}, "'cats' has an item without a name"),
        ({"set": "cats", "item": " "}, "'cats' has an item without a name"),
        ({"set": "cats", "item": "lion", "items": "planets"}, "planets"),
        ({"set": "cats", "item": "cat", "items": "terms"}, "'cats' is of documents (row 1), not of terms"),
        ({"set": "cats", "item": "tiger", "group": 5}, "group of 'cats' is a text, not 5"),
        ({"set": "cats", "item": "tiger", "exclusive": "no"}, "exclusive of 'cats' is \"yes\" or empty, not 'no'"),
        ({"set": "cats", "item": "lion", "mark": "rejected"}, "'lion' is accepted and rejected in 'cats'"),
    ],
)
def test_a_wrong_row_is_told_with_its_place_or_left_out(index, row, problem):
    rows = [{"set": "cats", "item": "lion", "items": "documents"}, row]
    with pytest.raises(errors.SourceError) as raised:
        index.import_sets(rows, "documents")
    assert str(raised.value).startswith("row 2: ")
    assert problem in str(raised.value)
    assert index.sets() == {}
    told = []
    (saved,) = index.import_sets(rows, "documents", errors="skip", warn=told.append)
    assert (saved.accepted, saved.rejected, len(told)) == (["lion"], [], 1)


@pytest.mark.parametrize("column", ["mark", "accepted", "rejected"])
@pytest.mark.parametrize("words", [("yes", "no"), ("Y", "N "), (1, 0), (1.0, "0"), (True, False), ("TRUE", "excluded")])
def test_a_mark_is_yes_or_no_under_three_names(index, column, words):
    rows = [{"set": "cats", "item": item, column: said} for item, said in zip(["lion", "rye"], words, strict=True)]
    (saved,) = index.import_sets([*rows, {"set": "cats", "item": "tiger", "mark": "", "accepted": None}], "documents")
    sides = [["lion", "tiger"], ["rye"]] if column != "rejected" else [["rye", "tiger"], ["lion"]]
    assert [saved.accepted, saved.rejected] == sides


@pytest.mark.parametrize("empty", ["", float("nan")])
def test_an_empty_cell_beside_a_mark_says_nothing(index, empty):
    rows = [
        {"set": "cats", "item": "lion", "accepted": "1", "rejected": empty},
        {"set": "cats", "item": "rye", "accepted": empty, "rejected": "1"},
    ]
    (saved,) = index.import_sets(rows, "documents")
    assert (saved.accepted, saved.rejected) == (["lion"], ["rye"])
    with pytest.raises(errors.SourceError, match="the accepted of an item is yes or no, not"):
        index.import_sets([{"set": "dogs", "item": "lion", "accepted": empty}], "documents")


def test_columns_that_say_nothing_of_a_set_are_told(index):
    told = []
    index.import_sets(
        [{"set": "cats", "item": name, "colour": "x"} for name in ("lion", "tiger")], "documents", warn=told.append
    )
    assert told == [
        "left out the column 'colour'; known are "
        "name, items, group, under, exclusive, accepted, rejected, set, item, mark"
    ]
    index.import_sets([{"set": "grain", "item": "rye", "label": "No"}], "documents", warn=told.append)
    assert told[1].endswith(", item, mark; name it mark if it says what is rejected")
    with pytest.raises(errors.InvalidParameter, match="strict or skip, not 'replace'"):
        index.import_sets([], errors="replace")
    with pytest.raises(errors.UnknownSet, match="'dogs'"):
        index.export_sets(["dogs"])


def test_groups_and_parts_go_out_and_come_in(index):
    for name, item in (("pets", "tiger"), ("cats", "lion"), ("grain", "wheat")):
        index.keep_set(name, [item], items="documents")
    for name, group, under in (("cats", "kinds", "pets"), ("grain", "kinds", None)):
        own = index.set(name)
        own.group, own.under = group, under
        own.save()
    assert "exclusive" not in index.export_sets()[0]
    index.group("kinds", exclusive=True)
    rows = index.export_sets()
    assert [(row["name"], row["group"], row["under"], row["exclusive"]) for row in rows] == [
        ("cats", "kinds", "pets", "yes"),
        ("grain", "kinds", "", "yes"),
        ("pets", "", "", ""),
    ]
    out = member_rows(rows)
    for way in (rows, out):
        for name in ("cats", "grain", "pets"):
            index.delete_set(name)
        index.import_sets(way)  # a part comes before its whole
        assert index.export_sets() == rows
    index.import_sets([{"set": "grain", "item": "rye"}], "documents", replace=True)
    index.import_sets([{"set": "grain", "item": "wheat", "under": "pets"}], "documents", replace=True)
    assert (index.set("grain").group, index.set("grain").under) == ("kinds", "pets"), "who tells no group changes none"
    with pytest.raises(errors.SourceError, match=r"^row 1: no set 'zoo'"):
        index.import_sets([{"set": "dogs", "item": "lion", "under": "zoo"}], "documents")
    assert "dogs" not in index.sets()
    with pytest.raises(errors.SourceError, match=r"^row 2: group of 'dogs' is 'b', and 'a' before"):
        rows = [{"set": "dogs", "item": own, "group": g} for own, g in (("lion", "a"), ("tiger", "b"))]
        index.import_sets(rows, "documents")
    with pytest.raises(errors.SourceError, match="itself, or a part of it; name another"):
        index.import_sets([{"set": "pets", "item": "tiger", "under": "cats"}], "documents", replace=True)


@pytest.mark.parametrize("way", ["sets", "members"])
def test_an_item_may_go_from_one_set_to_a_rival_before_it(index, way):
    for name, item in (("cats", "lion"), ("grain", "wheat")):
        index.keep_set(name, [item], items="documents", group="kinds")
    index.group("kinds", exclusive=True)
    own = index.set("grain")
    own.accept("tiger")
    own.save()
    rows = index.export_sets()
    rows[0]["accepted"].append(rows[1]["accepted"].pop(rows[1]["accepted"].index("tiger")))
    index.import_sets(rows if way == "sets" else member_rows(rows), replace=True)
    assert index.export_sets() == rows
    rows[1]["accepted"].append("tiger")
    place = "row 2" if way == "sets" else "row 4"
    with pytest.raises(errors.SourceError, match=f"^{place}: 'tiger' is in 'cats' and 'grain', which exclude one"):
        index.import_sets(rows if way == "sets" else member_rows(rows), replace=True)
    assert index.check() == []


@pytest.mark.parametrize("place", [("group", ""), ("under", "cats")])
def test_a_set_may_leave_its_group_or_become_a_part_after_a_rival_came(index, place):
    index.keep_set("felids", ["lion", "tiger"], items="documents", group="kinds")
    index.group("kinds", exclusive=True)
    rows = [{"set": "cats", "item": "lion", "group": "kinds"}, {"set": "felids", "item": "lion", place[0]: place[1]}]
    with pytest.raises(errors.SourceError, match="row 1: 'lion' is in 'cats' and 'felids', which exclude"):
        index.import_sets(rows[:1], "documents")
    index.import_sets(rows, "documents", replace=True)
    assert (index.set("cats").group, getattr(index.set("felids"), place[0]) or "") == ("kinds", place[1])
    assert index.groups().exclusive == {"kinds"} and index.check() == []


def test_the_commands(tmp_path, run, failed):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(DOCUMENTS)
    (tmp_path / "classes.csv").write_text("set,item\ncats,lion\ncats,unicorn\ngrain,wheat\n")
    failed(
        run("set", "import", "a.db", "classes.csv", "--items", "documents"),
        1,
        "classes.csv, line 3",
        "'unicorn'",
        "--errors skip",
    )
    code, _, err = run("set", "import", "a.db", "classes.csv", "--items", "documents", "--errors", "skip")
    assert (code, err.splitlines()[-1]) == (0, "saved 2 sets: 2 accepted, 0 rejected")
    run("set", "reject", "a.db", "cats", "rye")
    whole = json.loads(run("set", "export", "a.db")[1])
    assert whole[0] == {"name": "cats", "items": "documents", "accepted": ["lion"], "rejected": ["rye"]}
    flat = run("set", "export", "a.db", "cats", "--csv")[1]
    assert flat == "set,items,item,mark\ncats,documents,lion,accepted\ncats,documents,rye,rejected\n"
    (tmp_path / "flat.csv").write_text(flat)
    (tmp_path / "whole.json").write_text(json.dumps(whole))
    (tmp_path / "lines.jsonl").write_text(run("set", "export", "a.db", "--nl")[1])
    (tmp_path / "arrays.json").write_text(json.dumps({"cats": ["lion"], "grain": ["wheat", "rye"]}, indent=1))
    for name in ("flat.csv", "whole.json", "lines.jsonl"):
        assert run("set", "import", "a.db", name)[0] == 0
        assert json.loads(run("set", "export", "a.db")[1]) == whole
    told = "already", "`set import --add`, adds to it", "--replace"
    failed(run("set", "import", "a.db", "arrays.json", "--items", "documents"), 1, *told)
    assert run("set", "import", "a.db", "arrays.json", "--items", "documents", "--replace")[0] == 0
    assert [row["accepted"] for row in json.loads(run("set", "export", "a.db")[1])] == [["lion"], ["rye", "wheat"]]
    run("set", "remove", "a.db", "cats", "lion")
    assert "cats has no members" in run("set", "export", "a.db", "--csv")[2]
    failed(run("set", "export", "a.db", "dogs"), 1, "'dogs'")
    failed(run("set", "import", "a.db", "none.csv"), 1, "none.csv")


def test_columns_in_any_case_and_names_with_blanks_around_them(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([*DOCUMENTS, (" odd ", "a cat with blanks")])
    (tmp_path / "typed.csv").write_text(
        "Set, Item ,GROUP,Mark\n cats , lion , kinds,\ncats, odd ,kinds, Accepted\n"
        "cats,wheat,kinds,REJECTED\ngrain,wheat, kinds ,\n"
    )
    assert run("set", "import", "a.db", "typed.csv", "--items", "documents")[0] == 0
    assert run("set", "save", "a.db", " big cats ", "tiger", "--items", "documents", "--group", " kinds ")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.set("cats").accepted == [" odd ", "lion"], "a name with its blanks comes first"
        assert index.set("cats").rejected == ["wheat"]
        assert index.group("kinds").sets == ("big cats", "cats", "grain")


def test_sets_are_added_to(index):
    index.import_sets([{"name": "cats", "accepted": ["lion"], "rejected": ["wheat"], "group": "kinds"}], "documents")
    index.keep_set("pets", ["tiger"], items="documents", under="cats")
    rows = [{"set": "cats", "item": "tiger"}, {"set": "cats", "item": "lion"}, {"set": "pets", "item": "lion"}]
    saved = index.import_sets([*rows, {"set": "grain", "item": "rye"}], "documents", add=True)
    assert {own.name: own.accepted for own in saved} == {
        "cats": ["lion", "tiger"],
        "pets": ["lion", "tiger"],
        "grain": ["rye"],
    }
    before = index.export_sets()
    assert before[0] | {"rejected": ["wheat"], "group": "kinds"} == before[0] and before[2]["under"] == "cats"
    wrong = [{"set": "grain", "item": "wheat"}, {"set": "cats", "item": "wheat"}]
    with pytest.raises(errors.SourceError, match="row 2: 'wheat' is accepted in 'cats' here, and rejected in the ind"):
        index.import_sets(wrong, "documents", add=True)
    assert index.export_sets() == before
    told = []
    index.import_sets(wrong, "documents", add=True, errors="skip", warn=told.append)
    assert len(told) == 1 and index.set("grain").accepted == ["rye", "wheat"]
    assert index.set("cats").rejected == ["wheat"]
    with pytest.raises(errors.SourceError, match="row 1: the set 'cats' is of documents, not of terms"):
        index.import_sets([{"set": "cats", "item": "large"}], "terms", add=True)
    with pytest.raises(errors.InvalidParameter, match="choose one"):
        index.import_sets(rows, "documents", add=True, replace=True)


def test_the_command_adds(tmp_path, run, failed):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(DOCUMENTS)
        index.keep_set("cats", ["lion"], items="documents")
    (tmp_path / "other.csv").write_text("set,item\ncats,tiger\n")
    failed(run("set", "import", "a.db", "other.csv", "--items", "documents"), 1, "already")
    assert run("set", "import", "a.db", "other.csv", "--items", "documents", "--add")[0] == 0
    assert json.loads(run("set", "export", "a.db")[1])[0]["accepted"] == ["lion", "tiger"]
