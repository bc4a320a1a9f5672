"""Sets that are kept: the API, and `setsearch set`."""

import csv
import io
import json
import sqlite3

import pytest

import setsearch
from setsearch import errors
from setsearch.answers.saved.stored import StoredSets

TEXTS = [("a", "lion tiger cat"), ("b", "lion cat savanna"), ("c", "wheat rye field"), ("d", "tiger jungle")]


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as made:
        made.add(TEXTS)
        yield made


def test_a_set_grows(index):
    cats = index.set("cats", "documents")
    with pytest.raises(errors.NoSeeds, match="'cats'"):
        cats.expand()
    cats.accept("a", "d")
    cats.reject("c")
    assert cats.expand(3) == index.items("documents").expand(["a", "d"], 3, exclude=["c"])
    cats.accept("c")
    assert (cats.accepted, cats.rejected) == (["a", "d", "c"], [])
    cats.reject("c", "d")
    cats.forget("d", "nothing")
    assert (cats.accepted, cats.rejected) == (["a"], ["c"])
    with pytest.raises(errors.UnknownItem):
        cats.accept("b", "zzz")
    assert cats.accepted == ["a"]
    assert index.sets() == {}, "nothing is kept before it is saved"
    cats.save()
    assert index.sets() == {"cats": "documents"}
    again = index.set("cats")
    assert (again.items, again.accepted, again.rejected) == ("documents", ["a"], ["c"])
    with pytest.raises(errors.InvalidParameter, match="is of documents, not of terms"):
        index.set("cats", "terms")
    index.delete_set("cats")
    assert index.sets() == {}
    with pytest.raises(errors.UnknownSet, match="'cats'"):
        index.delete_set("cats")
    with pytest.raises(errors.InvalidParameter):
        index.set("")


def test_members_are_kept_as_the_index_names_them(index):
    words = index.set("words", "terms")
    words.accept("LION", "Tiger", "lion")
    assert words.accepted == ["lion", "tiger"]


@pytest.mark.parametrize("group", [None, "kinds"])
def test_members_that_left_are_told_and_the_others_answer(index, group):
    index.add([("c2", "lion wheat house"), ("e", "lion jungle rye")])
    index.keep_set("cats", ["a", "d"], ["c"], "documents", group=group)
    index.keep_set("rest", ["b", "c2"], items="documents", group=group)
    if group:
        index.group(group, exclusive=True)
    index.delete(["d", "c"])
    cats = index.set("cats")
    hits = cats.expand()
    assert cats.gone == ["d", "c"]
    cats.forget(*cats.gone)
    cats.save()
    assert hits == index.set("cats").expand(), "as if these had been removed"
    index.delete(["a"])
    with pytest.raises(errors.NoSeeds, match="none of its accepted items is in the index; accept one first"):
        cats.expand()


@pytest.mark.parametrize("group", [None, "kinds"])
def test_a_set_without_examples_is_named(index, group):
    index.keep_set("cats", [], ["c"], "documents", group=group)
    index.keep_set("gone", ["d"], items="documents")
    asked = index.question(set="cats")
    for ask in (asked.expand, lambda: asked.explain("a"), lambda: asked.scored(print), index.set("cats").expand):
        with pytest.raises(errors.NoSeeds, match="the set 'cats' has no accepted item; accept one first"):
            ask()
    assert asked.expand(like=["lion"]) and index.question(["a"], set="cats").expand(), "with an example it answers"
    index.delete(["d"])
    for ask in (index.question(set="gone").expand, index.set("gone").expand):
        with pytest.raises(errors.NoSeeds, match="gone: none of its accepted items is in the index; accept one"):
            ask()


def test_members_are_shown_with_their_titles(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("1", "lion", "Alien (1979)"), ("2", "tiger", "Brazil (1985)"), ("3", "cat", "3")])
        index.keep_set("films", ["1", "3"], ["2"], items="documents")
    assert json.loads(run("set", "show", "a.db", "films", "--json")[1]) == [
        {"item": "1", "title": "Alien (1979)", "mark": "accepted"},
        {"item": "3", "title": None, "mark": "accepted"},
        {"item": "2", "title": "Brazil (1985)", "mark": "rejected"},
    ]
    assert run("set", "remove", "a.db", "films", "Brazil") == (0, "", "the set films of documents has 2 accepted\n")


def test_the_command(index, run, failed, tmp_path):
    index.close()
    save = ("set", "save", "a.db", "cats", "a", "d", "--items", "documents", "--reject", "c")
    assert run(*save) == (0, "", "the set cats of documents has 2 accepted, 1 rejected\n")
    assert run("set", "accept", "a.db", "cats", "b")[0] == 0
    assert run("set", "remove", "a.db", "cats", "a")[0] == 0
    assert run("set", "reject", "a.db", "cats", "b")[0] == 0
    shown = json.loads(run("set", "show", "a.db", "cats")[1])
    assert {row["item"]: row["mark"] for row in shown} == {"d": "accepted", "b": "rejected", "c": "rejected"}
    assert next(csv.reader(io.StringIO(run("set", "show", "a.db", "cats", "--csv")[1]))) == ["item", "title", "mark"]
    assert json.loads(run("set", "list", "a.db", "--json")[1]) == [
        {"set": "cats", "items": "documents", "accepted": 1, "rejected": 2}
    ]
    by_set = run("expand", "a.db", "--set", "cats")[1]
    assert by_set == run("expand", "a.db", "d", "--items", "documents", "--exclude", "b", "--exclude", "c")[1]
    more = run("expand", "a.db", "a", "--set", "cats", "--json")[1]
    assert more == run("expand", "a.db", "d", "a", "--items", "documents", "--exclude", "b", "--exclude", "c")[1]
    taken = (
        "there is a set 'cats' already; `setsearch set accept`, or `set import --add`, adds to it, "
        "--replace replaces it; or take another name"
    )
    assert run(*save) == (1, "", f"Error: {taken}\n")
    assert len(json.loads(run("set", "show", "a.db", "cats")[1])) == 3
    for more in (["--replace"], []):  # then it is the same, so nothing is lost
        assert run(*save, *more)[0] == 0
    assert len(json.loads(run("set", "show", "a.db", "cats")[1])) == 3
    failed(run("set", "show", "a.db", "dogs"), 1, "no set 'dogs'; there is cats")
    for near in ("set delete a.db cat", "review a.db cat --export o.csv", "inbox a.db cat", "set accept a.db cat a"):
        failed(run(*near.split()), 1, "no set 'cat'; did you mean 'cats'?")
    failed(
        run("set", "save", "a.db", "cats", "a", "--reject", "a", "--items", "documents"),
        2,
        "'a'",
        "leave one of them out",
    )
    failed(run("set", "remove", "a.db", "cats", "zzz"), 1, "has no 'zzz' to remove")
    failed(run("set", "save", "a.db", "cats", "zzz", "--items", "documents"), 1, "'zzz'")
    failed(run("expand", "a.db", "--set", "dogs"), 1, "'dogs'")
    before = run("set", "show", "a.db", "cats")
    failed(run("set", "save", "a.db", "cats", "zzz", "--items", "terms"), 1, "'zzz'")
    assert run("set", "show", "a.db", "cats") == before, "a set that cannot be saved leaves the old one"
    assert run("set", "save", "a.db", "part", "a", "--items", "documents", "--under", "cats")[0] == 0
    assert run("set", "rename", "a.db", "cats", "big cats") == (0, "", "the set cats is big cats now\n")
    failed(run("set", "rename", "a.db", "cats", "x"), 1, "no set 'cats'; did you mean 'big cats'?")
    failed(
        run("set", "rename", "a.db", "part", " big cats "), 1, "there is a set 'big cats' already; take another name"
    )
    failed(run("set", "rename", "a.db", "part", "a\tb"), 2, "printable characters")
    assert json.loads(run("set", "list", "a.db", "--json")[1])[1]["under"] == "big cats"
    assert run("set", "delete", "a.db", "big cats")[2] == "deleted the set big cats; within no set now: part\n"
    assert run("set", "delete", "a.db", "part")[2] == "deleted the set part\n"
    failed(run("set", "delete", "a.db", "cats"), 1, "'cats'")


def test_changes_of_several_processes_are_all_kept(index):
    """What each of them accepted is in the set, whoever loaded it before whom."""
    first = index.set("cats", "documents")
    first.accept("a")
    first.save()
    one, other = index.set("cats"), index.set("cats")
    one.accept("b")
    other.accept("d")
    other.forget("a")
    one.save()
    other.save()
    assert index.set("cats").accepted == ["b", "d"]


def test_a_set_is_replaced_only_if_it_is_of_the_version(index):
    first = index.keep_set("cats", ["a"], items="documents", version="")
    with pytest.raises(errors.ChangedSet, match="already"):
        index.keep_set("cats", ["b"], items="documents", version="")
    assert index.set("cats").version == first.version != ""
    assert index.keep_set("cats", ["a"], items="documents", version="").version == first.version
    with index._database.write() as cursor:
        cursor.execute("update setsearch_set set items = 'terms' where name = 'cats'")
    with pytest.raises(errors.ChangedSet, match="already"):  # the same names of another kind
        index.keep_set("cats", ["a"], items="documents", version="")
    with index._database.write() as cursor:
        cursor.execute("update setsearch_set set items = 'documents' where name = 'cats'")
    second = index.keep_set("cats", ["a"], ["b"], "documents", first.version)
    assert second.version == index.set("cats").version != first.version
    with pytest.raises(errors.ChangedSet, match="meanwhile"):
        index.keep_set("cats", ["d"], items="documents", version=first.version)
    assert (index.set("cats").accepted, index.set("cats").rejected) == (["a"], ["b"])
    mine, theirs = index.set("cats"), index.set("cats")
    theirs.accept("d")
    theirs.save()
    mine.accept("b")
    mine.save()  # both changes are kept, but this one has not seen the other
    with pytest.raises(errors.ChangedSet, match="meanwhile"):
        mine.save(replace=True, version=mine.version)
    index.delete_set("cats")
    with pytest.raises(errors.ChangedSet, match="meanwhile"):
        index.keep_set("cats", ["a"], items="documents", version=second.version)
    assert index.set("cats", "documents").version == ""
    with pytest.raises(errors.InvalidParameter, match="'a' is accepted and rejected"):
        index.keep_set("cats", ["b", "a"], ["a"], "documents")


def test_a_set_that_somebody_deleted_does_not_come_back(index):
    index.keep_set("gone", ["a"], items="documents")
    mine = index.set("gone")
    index.delete_set("gone")
    mine.accept("c")
    with pytest.raises(errors.ChangedSet, match="deleted or renamed the set 'gone' meanwhile; nothing was saved"):
        mine.save()
    assert "gone" not in index.sets()
    mine.save(replace=True)
    assert index.set("gone").accepted == ["a", "c"]


@pytest.mark.parametrize("name", ["\u200d", "cats\u200d", "\u200dcats", "ca\u200cts", "か\u200d\u200cき", "か\u200d x"])
def test_no_two_names_look_the_same_by_a_joiner(database, name):
    """Of sets, their groups, and collections."""
    with setsearch.open(database) as index:
        for own, group in ((name, None), ("plain", name)):
            with pytest.raises(errors.InvalidParameter, match="printable characters"):
                index.keep_set(own, ["d0"], items="documents", group=group)
    with pytest.raises(errors.InvalidParameter, match="a collection is a name"):
        setsearch.open(database, collection=name)


def test_names_of_sets_and_groups_may_have_joiners_and_wide_blanks_but_steer_nothing(database):
    with setsearch.open(database) as index:
        for name in ("کتاب\u200cها", "क\u094d\u200dष", "機械\u3000学習", "à\u00a0part", "👩\u200d🚀"):
            index.keep_set(name, ["d0"], items="documents", group=f"{name} {name}")
            assert index.set(name).group == f"{name} {name}"
        for evil in ("a\tb", "a\nb", "a\x1b[2J", "a\u202eb", "a\u2028b", "a\u200fb", "a\ue000b"):
            with pytest.raises(errors.InvalidParameter, match="printable characters"):
                index.keep_set(evil, ["d0"], items="documents")
            with pytest.raises(errors.InvalidParameter, match="printable characters"):
                index.keep_set("plain", ["d0"], items="documents", group=evil)


def test_a_set_is_saved_and_changed_without_a_look_at_all_others():
    connection = sqlite3.connect(":memory:")
    index = setsearch.open(connection, contexts="off")
    index.add([(f"d{n}", f"word{n} of all") for n in range(9)])

    def steps(do):
        """Instructions of SQLite, of which a look at all sets takes some for each."""
        counted = []
        with index._database.write() as cursor:
            connection.set_progress_handler(lambda: counted.append(1), 1)
            do(StoredSets(cursor))
            connection.set_progress_handler(None, 0)
        return len(counted)

    counts = []
    for many in (3, 300):
        rows = [{"name": f"{many} {n}", "accepted": ["d1"], "group": "all"} for n in range(many)]
        index.import_sets(rows, "documents")
        own = index.keep_set("mine", ["d2"], items="documents", version=None)
        own.accept("d8")
        changes = [
            lambda stored: stored.items_of("mine"),
            lambda stored: stored.items_of("new", under="mine"),
            lambda stored: stored.delete("nobody"),
            lambda stored, many=many: stored.put("mine", "all", f"{many} 0"),
            lambda stored, own=own: own.store(stored, replace=False, version=own.version),
        ]
        counts.append([steps(do) for do in changes])
    assert counts[0] == counts[1]


def test_a_set_alone_in_an_exclusive_group_leaves_it_so():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add(TEXTS)
        index.keep_set("whole", ["a"], items="documents")
        index.keep_set("part", ["a"], items="documents", group="kinds")
        index.group("kinds", exclusive=True)
        index.keep_set("part", ["a"], items="documents", under="whole")
        assert index.group("kinds").exclusive
        with pytest.raises(errors.InvalidParameter, match="the set 'words' is of terms, 'part' of documents"):
            index.keep_set("words", ["cat"], items="terms", group="kinds")
        with pytest.raises(errors.InvalidParameter, match="'whole' cannot lie within 'part', which is itself, or a"):
            index.keep_set("whole", ["a"], items="documents", under="part")


def test_a_group_that_was_refused_is_stored_when_the_item_is_gone():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add((name, "red") for name in "abc")
        for name in "ab":
            own = index.keep_set(name, [name], items="documents")
            own.group = "kinds"
            own.save()
        index.group("kinds", exclusive=True)
        own = index.keep_set("c", ["a", "c"], items="documents")
        own.group = "kinds"
        with pytest.raises(errors.InvalidParameter, match="which exclude one another"):
            own.save()
        own.forget("a")
        own.save()
        assert (own.group, index.set("c").group) == ("kinds", "kinds")
