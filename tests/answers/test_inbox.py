"""What came or changed and belongs to saved sets: `Index.inbox`, and `setsearch inbox`."""

import io
import json
import random
import shlex
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import Item, errors
from setsearch.answers.saved import inbox as inboxes
from setsearch.answers.saved import set_index
from setsearch.answers.saved.groups import unknown_set

TOPICS = {
    "cats": "lion tiger leopard claw prowl savanna jungle whisker roar fur".split(),
    "grain": "wheat rye barley oats field harvest flour mill bread sickle".split(),
    "music": "violin cello oboe flute chord melody concert string tempo bow".split(),
    "sea": "wave tide harbor sail anchor gull shore salt mast keel".split(),
}
OTHER = "day man house time year place thing hand world word".split()


def text(topic, number, own=6):
    """A text of words of a topic and of others, always the same."""
    draw = random.Random(f"{topic} {number}")
    return " ".join(draw.sample(TOPICS[topic], own) + draw.sample(OTHER, 3))


def vague(topic, number):
    """A text of some words of a topic, of another one, and of all; always the same."""
    draw = random.Random(f"{topic} {number}")
    other = draw.choice([own for own in TOPICS if own != topic])
    own = draw.sample(TOPICS[topic], draw.randint(2, 6))
    return " ".join(own + draw.sample(TOPICS[other], draw.randint(0, 3)) + draw.sample(OTHER, 4))


def texts(numbers, topics=TOPICS):
    return [(f"{topic}{number}", text(topic, number)) for topic in topics for number in numbers]


def fill(index):
    """Ten documents of each topic, and two sets of three."""
    index.add(texts(range(10)))
    index.keep_set("cats", ["cats0", "cats1", "cats2"], ["sea0"], "documents")
    index.keep_set("grain", ["grain0", "grain1", "grain2"], items="documents")
    return index


@pytest.fixture
def index():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as made:
        yield fill(made)


def shown(rows):
    return [(row.set, row.item) for row in rows]


def test_what_came_and_belongs_comes_with_the_scores_of_the_sets_own_question(index):
    assert index.inbox() == [], "what was there when a set was saved is not new"
    new = [*texts([10, 11]), ("both", " ".join(TOPICS["cats"][:6] + TOPICS["grain"][:6]))]
    index.add(new)
    rows = index.inbox()
    ids = [id for id, _ in new]
    for name in ("cats", "grain"):
        hits = index.set(name).expand(None, cut="keep", among=ids, explain=True)
        own = [row for row in rows if row.set == name]
        assert [(row.item, row.score) for row in own] == [(hit.item, hit.score) for hit in hits]
        assert {f"{name}10", f"{name}11"} <= {row.item for row in own} <= {f"{name}10", f"{name}11", "both"}
        assert [row.reason for row in own] == [hit.reasons[0].label for hit in hits]
    assert [row.number for row in rows] == [*range(1, len(rows) + 1)]
    assert {(row.set, row.others) for row in rows if row.item == "both"} == {
        ("cats", ("grain",)),
        ("grain", ("cats",)),
    }
    assert index.inbox(["grain"]) == [
        row._replace(number=number) for number, row in enumerate((row for row in rows if row.set == "grain"), 1)
    ]
    assert index.inbox(["grain"]) == index.inbox(["grain"]), "looking at them is not the end of them"


def test_rows_are_accepted_rejected_and_done(index):
    index.add(texts([10, 11, 12]))
    rows = index.inbox(["cats"])
    assert {row.item for row in rows} == {"cats10", "cats11", "cats12"}
    first, second, third = [row.item for row in rows]
    with pytest.raises(errors.InvalidParameter, match="is accepted and rejected"):
        rows.decide([1, second], [rows[0]])
    with pytest.raises(errors.UnknownItem, match="no row '7' in the inbox, which has 3"):
        rows.accept(1, 7)
    assert len(index.set("cats").accepted) == 3, "then nothing has changed"
    assert [row.item for row in rows.accept(1)] == [first]
    assert [row.item for row in rows.reject(second)] == [second]
    assert [row.item for row in rows] == [third]
    grown = index.set("cats")
    assert first in grown.accepted and second in grown.rejected
    assert {row.item for row in index.inbox(["cats"])} <= {third}, "members and rejected ones do not come"
    rows.done()
    assert index.inbox(["cats"]) == [] == rows
    assert shown(index.inbox()), "another set was not looked at"
    index.update([(third, text("cats", 99, 9))])
    assert third in {row.item for row in index.inbox(["cats"])}, "it changed"
    assert index.check() == []


def put_into_one_group(index):
    for name in ("cats", "grain"):
        own = index.set(name)
        own.group = "kinds"
        own.save()
    index.group("kinds", exclusive=True)


def test_decisions_that_cannot_be_saved_change_nothing(index):
    put_into_one_group(index)
    index.add(texts([10, 11], ["cats", "grain"]))
    rows = index.inbox()
    somebody = index.set("grain")
    somebody.accept("cats10")
    somebody.save()
    with pytest.raises(errors.InvalidParameter, match="'cats10' is in 'cats' and 'grain', which exclude one another"):
        rows.accept("grain10", "cats10")
    assert len(rows) == 4 and "grain10" not in index.set("grain").accepted, "all of them are saved, or none"
    rows.accept("cats11")
    assert {*index.set("cats").accepted} == {"cats0", "cats1", "cats2", "cats11"}, "what was refused is not tried again"
    index.delete_set("grain")
    with pytest.raises(errors.ChangedSet, match="somebody has deleted or renamed the set 'grain' meanwhile"):
        rows.decide(["grain10"], ["cats10"])
    assert index.set("cats").rejected == ["sea0"]


def test_a_row_is_named_as_items_are_at_all_doors(index, tmp_path, run):
    (name, words), (other, more) = ("cats10", text("cats", 10)), ("grain10", text("grain", 10))
    for number, typed in enumerate(("The Cat (felid)", "the cat (felid)", "THE CAT", "CATS10", "=the cat")):
        index.update([(name, f"{words} {number}", "The Cat (felid)"), (other, f"{more} {number}")])
        (row,) = index.inbox().accept(typed)
        assert (row.item, row.set) == (name, "cats")
        changed = index.set("cats")
        changed.forget(name)
        changed.save()
    index.update([("x1", "x", "The Cat"), ("x2", "x", "The Cat")])
    with pytest.raises(errors.AmbiguousItem, match="use one of the ids: 'x1', 'x2'"):
        index.inbox().accept("The Cat")
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as own:
        fill(own).add([(name, words, "The Cat (felid)")])
    assert run("inbox", "a.db", "--accept", "the cat")[2].startswith("cats: cats10 accepted")


def test_what_comes_while_somebody_looks_is_not_lost(index):
    index.add(texts([10]))
    rows = index.inbox(["cats"])
    index.add(texts([11]))
    rows.done()
    assert shown(index.inbox(["cats"])) == [("cats", "cats11")]


@pytest.mark.parametrize(
    "gone", [lambda index: index.delete_set("cats"), lambda index: index.rename_set("cats", "lions")]
)
def test_a_set_that_goes_while_the_inbox_is_read_is_noted(index, gone):
    index.add(texts(range(20, 23)))
    known, left = index.sets(), [row for row in shown(index.inbox()) if row[0] != "cats"]
    gone(index)
    found = inboxes.read_inbox(index._database, known, index.reading, None)
    assert [row for row in shown(found) if row[0] in known] == left != []
    assert found.notes == ["cats: somebody has deleted or renamed it meanwhile"]
    found.done()


def test_an_item_that_is_gone_and_the_number_of_an_item(index):
    index.add([("2", text("cats", 10)), ("cats11", text("cats", 11)), ("gone", text("cats", 12))])
    rows = index.inbox(["cats"])
    place = next(row.number for row in rows if row.item == "2")
    if place != 2:
        with pytest.raises(errors.InvalidParameter, match="'2' is the number of a row and the item of another; =2"):
            rows.accept("2")
    assert rows.find("=2").item == "2"
    index.delete(["gone"])
    with pytest.raises(errors.UnknownItem, match="'gone'"):
        rows.accept("=2", "gone")
    assert len(index.set("cats").accepted) == 3


def test_without_a_history_all_items_but_the_members_count_as_new(index):
    index.delete_set("grain")
    with index._database.write() as cursor:
        cursor.execute("update setsearch_set set revision = null, stamp = null")
    hits = index.set("cats").expand(None, cut="keep")
    rows = index.inbox()
    assert shown(rows) == [("cats", hit.item) for hit in hits] != []
    rows.done()
    assert index.inbox() == []
    index.replace(texts(range(12)))  # more than a history tells is told by its stamp
    assert index.inbox() != []


def test_a_set_that_cannot_answer_is_noted_and_the_others_do(index):
    index.add_numbers([(f"n{n}", [n, n]) for n in range(5)], ["x", "y"], "wines")
    index.keep_set("wines", ["n1"], items="wines")
    index.keep_set("none", [], ["cats1"], "documents")
    index.add(texts([10]), ("documents", "terms"))
    index.delete(["grain1"], ("documents", "terms"))
    rows = index.inbox()
    assert shown(rows) == [("cats", "cats10"), ("grain", "grain10")]
    said = {note.split(":")[0]: note for note in rows.notes}
    assert said.keys() == {"grain", "none", "wines"}
    assert said["grain"] == "grain: grain1 left the index; `setsearch set remove DB grain grain1` takes it out"
    rows.done()
    again = index.set("none")
    again.accept("cats5")
    again.save()
    assert ("none", "cats10") in shown(index.inbox()), "what a set could not say is not done"


def test_one_note_names_all_members_that_left_and_the_command_that_removes_them(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        fill(index)
        index.add([("-c", text("cats", 20)), ("c 1", text("cats", 21))])
        index.keep_set("big cats", ["-c", "c 1", "cats1"], items="documents")
        index.delete(["-c", "c 1"])
        index.add(texts([10]))
    note = run("inbox", "a.db")[2].splitlines()[0]
    assert note.startswith("note: big cats: -c, c 1 left the index; `setsearch set remove ")
    command = shlex.split(note.partition("`")[2].partition("`")[0])
    assert run(*command[1:])[0] == 0
    assert "left the index" not in run("inbox", "a.db")[2]


def test_examples_that_share_little_are_noted():
    """As tests/search/test_passes.py has them: at random, of six kinds."""
    draw = random.Random(1)
    kinds = [[f"w{kind}x{n}" for n in range(30)] for kind in range(6)]
    rows = [(f"d{n}", " ".join(draw.choices(kinds[n % 6], k=12)) + " all") for n in range(240)]
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add(rows)
        index.keep_set("mixed", [f"d{n}" for n in range(12)], items="documents")
        index.add([("new", f"{rows[0][1]} {rows[1][1]}")])
        rows = index.inbox()
        assert shown(rows) == [("mixed", "new")]
        assert rows.notes == ["mixed: these examples share little, so what belongs cannot be told"]
        assert index.sets_of("new")[0].belongs is None


def test_unknown_sets(index):
    with pytest.raises(errors.UnknownSet, match="no set 'dogs'; there are cats, grain"):
        index.inbox(["dogs"])
    with pytest.raises(errors.UnknownSet, match=r"there are a, b, c, d, e, f, g, h, i, j, and 16 more$"):
        raise unknown_set("dogs", "abcdefghijklmnopqrstuvwxyz")
    with pytest.raises(errors.InvalidParameter, match="`names` is several sets, not one text"):
        index.inbox("cats")
    for name in index.sets():
        index.delete_set(name)
    with pytest.raises(errors.UnknownSet, match="no set is saved; `setsearch set save` saves one"):
        index.inbox()


def test_words_of_texts_that_came_or_changed(tmp_path):
    with setsearch.open(tmp_path / "w.db", create=True, contexts="on") as index:
        draw = random.Random(5)

        def sentences(cats, count):
            """Sentences in which cats do what cats do, and other words what they do."""
            lines = [f"the {draw.choice(cats)} hunts deer in the {draw.choice(OTHER)}" for _ in range(count)]
            grain = [f"we grow {draw.choice(TOPICS['grain'])} on the {draw.choice(OTHER)}" for _ in range(count)]
            return " . ".join(lines + grain)

        index.add([(f"d{n}", sentences(["lion", "tiger", "puma"], 6)) for n in range(20)])
        index.refresh("now")
        index.keep_set("hunters", ["lion", "tiger"], items="terms")
        assert index.inbox() == []
        index.add([(f"e{n}", sentences(["lynx"], 6)) for n in range(10)])
        assert "lynx" not in {row.item for row in index.inbox()}, "contexts do not know it yet"
        index.inbox().done()
        index.refresh("now")
        rows = index.inbox()
        hits = {hit.item: hit.score for hit in index.set("hunters").expand(None, cut="keep")}
        assert "lynx" in {row.item for row in rows} and "puma" in hits
        assert "puma" not in {row.item for row in rows}, "no text with it came"
        assert all(hits[row.item] == row.score for row in rows)
        rows.done()
        assert index.inbox() == []


def test_tables_that_are_followed_are_applied_first(tmp_path):
    app = sqlite3.connect(tmp_path / "app.db")
    app.execute("create table notes (id text primary key, body text)")
    app.executemany("insert into notes values (?, ?)", texts(range(10)))
    app.commit()
    with setsearch.open(app) as index:
        index.add_table("notes", setsearch.Columns(id="id", text=("body",)), track=True)
        index.keep_set("cats", ["cats0", "cats1", "cats2"], items="documents")
        app.execute("insert into notes values ('new', ?)", [text("cats", 10)])
        app.commit()
        assert shown(index.inbox()) == [("cats", "new")]


def test_the_command(tmp_path, run, failed):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        fill(index)
    assert run("inbox", "a.db") == (0, "[]\n", "nothing new belongs\n")
    with setsearch.open(tmp_path / "a.db") as index:
        index.add(texts([10, 11]))
        expected = [{**row._asdict(), "others": []} for row in index.inbox(["cats"])]
    code, out, err = run("inbox", "a.db", "cats", "--json")
    for row in expected:
        assert row.pop("title") is None
        del row["number"]
    assert (code, json.loads(out), err) == (0, expected, "")
    first, second = (row["item"] for row in expected)
    failed(run("inbox", "a.db", "--accept", "1"), 2, "no item '1' in the inbox, which has 4")
    failed(run("inbox", "a.db", "dogs"), 1, "'dogs'", "cats, grain")
    code, out, err = run("inbox", "a.db", "cats", "--accept", first, "--reject", f"={second}")
    assert (code, out) == (0, "[]\n")
    assert err == f"cats: {first} accepted\ncats: {second} rejected\nnothing new belongs\n"
    with setsearch.open(tmp_path / "a.db") as index:
        index.add([("both", " ".join(TOPICS["cats"][:6] + TOPICS["grain"][:6]))])
    failed(run("inbox", "a.db", "--accept", "both"), 2, "'both' is new for cats and grain; name one")
    assert run("inbox", "a.db", "cats", "--reject", "both")[2] == "cats: both rejected\nnothing new belongs\n"
    code, out, err = run("inbox", "a.db", "--done")
    assert {row["item"] for row in json.loads(out)} == {"grain10", "grain11", "both"}
    assert err == "all of these were looked at; they come again if they change\n"
    assert run("inbox", "a.db") == (0, "[]\n", "nothing new belongs\n")
    with setsearch.open(tmp_path / "a.db") as index:
        assert first in index.set("cats").accepted and second in index.set("cats").rejected
        assert index.check() == []


def test_rows_are_decided_one_by_one_at_a_terminal(tmp_path, run, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        fill(index)
        index.add(texts([10, 11, 12]))
        first, second, third, *_ = shown(index.inbox())
    monkeypatch.setattr("setsearch.cli.commands.inbox.at_terminal", lambda: True)

    def answer(lines, name="cats"):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return run("inbox", "a.db", name, "--table")

    assert "nothing to undo" in answer("u\n\nq\n")[2]
    assert "u  undo: the last answer is taken back\n" in answer("?\nq\n")[2]
    code, out, err = answer("what\ny\nn\nu\ns\ny\n")  # and the input ends
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["item", first[1], second[1], third[1]]
    assert f"2 of 3  {second[1]}: cats?" in err
    assert f"cats: {second[1]} rejected\n" in err
    assert f"cats: {second[1]} is open again\n" in err
    with setsearch.open(tmp_path / "a.db") as index:
        assert set(index.set("cats").accepted) == {"cats0", "cats1", "cats2", first[1], third[1]}
        assert second[1] not in index.set("cats").rejected
        assert second in shown(index.inbox()), "what was skipped comes again"

    def typed():
        yield "y"
        raise KeyboardInterrupt

    monkeypatch.setattr("setsearch.cli.commands.inbox.typed_lines", typed)
    code, _, err = answer("", "grain")
    assert (code, "stopped; every answer is kept" in err) == (130, True)
    with setsearch.open(tmp_path / "a.db") as index:
        assert len(index.set("grain").accepted) == 4


def test_an_undo_at_a_terminal_takes_back_what_was_said_there(tmp_path, run, monkeypatch):
    """Somebody else answers the first row in the same way before, and the second one otherwise behind."""
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        fill(index)
        index.add(texts([10, 11, 12]))
        (_, first), (_, second), *_ = [row for row in shown(index.inbox()) if row[0] == "cats"]
    monkeypatch.setattr("setsearch.cli.commands.inbox.at_terminal", lambda: True)

    def others(item, yes):
        with setsearch.open(path) as index:
            own = index.set("cats")
            (own.accept if yes else own.reject)(item)
            own.save()

    def typed():
        others(first, True)
        yield "y"
        yield "y"
        others(second, False)
        yield "u"
        yield "u"

    monkeypatch.setattr("setsearch.cli.commands.inbox.typed_lines", typed)
    err = run("inbox", "a.db", "cats", "--table")[2]
    for told in (f"{first} accepted by somebody else\n", f"{second} rejected by somebody else, which stays\n"):
        assert f"cats: {told}" in err
    assert "nothing to undo" in err
    with setsearch.open(path) as index:
        assert first in index.set("cats").accepted and second in index.set("cats").rejected


def test_an_answer_at_a_terminal_leaves_what_somebody_else_said(tmp_path, run, monkeypatch):
    """Somebody rejects the first row before it is accepted, and deletes the set before the second is undone."""
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        fill(index)
        index.add(texts([10, 11, 12]))
        first, second, *_ = [item for name, item, *_ in shown(index.inbox()) if name == "cats"]
    monkeypatch.setattr("setsearch.cli.commands.inbox.at_terminal", lambda: True)

    def typed():
        with setsearch.open(path) as index:
            own = index.set("cats")
            own.reject(first)
            own.save()
        yield "y"
        yield "y"
        with setsearch.open(path) as index:
            assert (first in index.set("cats").rejected, second in index.set("cats").accepted) == (True, True)
            index.delete_set("cats")
        yield "u"

    monkeypatch.setattr("setsearch.cli.commands.inbox.typed_lines", typed)
    err = run("inbox", "a.db", "cats", "--table")[2]
    assert f"cats: {first} rejected by somebody else, which stays\n" in err
    assert "Error: somebody has deleted or renamed the set 'cats' meanwhile; nothing was saved\n" in err
    with setsearch.open(path) as index:
        assert "cats" not in index.sets(), "an undo does not begin it anew"


def test_what_has_no_title_is_told_by_its_text(tmp_path, run, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        fill(index)
        index.add([*texts([10], ["grain"]), ("cats10", f"{text('cats', 10)}\nand more", "A title")])
        assert [row.title for row in index.inbox()] == ["A title", None]
        assert [row.title for row in index.inbox().with_headlines(1)] == ["A title", None]
        assert [row.title for row in index.inbox().with_headlines()] == ["A title", text("grain", 10)]
    monkeypatch.setattr("setsearch.cli.commands.inbox.at_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    _, out, err = run("inbox", "a.db", "grain", "--table")
    assert text("grain", 10) in out and f"1 of 1  {text('grain', 10)}: grain?" in err
    assert {row["item"]: row["title"] for row in json.loads(run("set", "show", "a.db", "grain")[1])} == {
        name: text("grain", number) for name, number in (("grain0", 0), ("grain1", 1), ("grain2", 2), ("grain10", 10))
    }


@pytest.mark.parametrize("most", [2000, 3])
def test_ranges_of_numbers_that_move_make_nothing_new(monkeypatch, most):
    """Half of all items may get other ranges when a tenth of the numbers are others; they did not change."""
    monkeypatch.setattr("setsearch.storage.revisions.MOST_ITEMS", most)

    def items(numbers, start=0):
        return [
            Item(f"{topic}{n}", text(topic, n), None, None, {"size": float(start + 7 * n + 50 * place)})
            for place, topic in enumerate(("cats", "grain"))
            for n in numbers
        ]

    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add(items(range(60)))
        index.keep_set("cats", ["cats0", "cats1", "cats2"], items="documents")
        index.add(items([61], -427))
        with index.items("documents").fields() as fields:
            history = fields.relation.history
            then = history.past(history.now.number - 1)
            assert len(history.changed_items(then)) > 20, "they have other features"
            assert len(history.changes(then).given) == 2
        assert [row.item for row in index.inbox()] == ["cats61"]
        index.update([items([9])[0]])
        assert [row.item for row in index.inbox()] == ["cats61"], "it is as it was"


def one_by_one(index, names=None):
    """The inbox, by the question of each set."""
    kept, set_index.are_kept = set_index.are_kept, lambda candidates: False
    try:
        return index.inbox(names)
    finally:
        set_index.are_kept = kept


@examples(40)
@given(st.data())
def test_what_the_index_of_sets_answers_is_what_each_set_says(data):
    words = st.lists(st.sampled_from("lion tiger cat the wheat rye field sea of".split()), min_size=1, max_size=7)
    count = data.draw(st.integers(5, 12))
    names = [f"d{n}" for n in range(count)]
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off", language="english") as index:
        index.add([(name, " ".join(data.draw(words))) for name in names])
        taken = set()
        for number in range(data.draw(st.integers(1, 4))):
            free = [name for name in names if name not in taken]
            accepted = data.draw(st.lists(st.sampled_from(free), min_size=1, max_size=3, unique=True)) if free else []
            rejected = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
            group = data.draw(st.sampled_from(["", "g", "h"]))
            under = f"s{data.draw(st.integers(0, number - 1))}" if number and data.draw(st.booleans()) else ""
            rejected = [name for name in rejected if name not in accepted]
            index.keep_set(f"s{number}", accepted, rejected, "documents", group=group, under=under)
            taken |= {*accepted}
            if group == "g":
                index.group("g", exclusive=True)
            if data.draw(st.booleans()):
                index.update([(data.draw(st.sampled_from(names)), " ".join(data.draw(words)))])
        index.add([(f"e{n}", " ".join(data.draw(words))) for n in range(data.draw(st.integers(0, 4)))])
        if data.draw(st.booleans()):
            index.delete([data.draw(st.sampled_from(names))])
        if data.draw(st.booleans()):
            with index._database.write() as cursor:  # what growing left in doubt
                cursor.execute(
                    "insert or ignore into setsearch_member (name, item, accepted, round) values ('s0', ?, 2, 1)",
                    (data.draw(st.sampled_from(names)),),
                )
        wanted = data.draw(st.sampled_from([None, ["s0"]]))
        set_index.AT_ONCE, before = data.draw(st.sampled_from([1, 1 << 16])), set_index.AT_ONCE
        found = index.inbox(wanted)
        set_index.AT_ONCE = before
        assert found == one_by_one(index, wanted)


def test_what_is_in_doubt_and_a_rival_has_does_not_come(index):
    put_into_one_group(index)
    with index._database.write() as cursor:
        for item in ("cats0", "grain9", "sea1"):
            values = "values ('grain', ?, 2, 1)"
            cursor.execute(f"insert into setsearch_member (name, item, accepted, round) {values}", (item,))
    index.add(texts([10]))
    found = index.inbox()
    assert found == one_by_one(index)
    assert {row.item for row in found if row.set == "grain"} == {"grain10", "grain9", "sea1"}


def test_of_equal_scores_what_is_new_comes_before_what_is_in_doubt(index):
    with index._database.write() as cursor:
        cursor.execute("insert into setsearch_member (name, item, accepted, round) values ('grain', 'grain9', 2, 1)")
    index.add([("grain90", text("grain", 9)), ("a", text("grain", 9))])
    found = index.inbox(["grain"])
    assert found == one_by_one(index, ["grain"])
    assert [row.item for row in found if row.item in ("a", "grain9", "grain90")] == ["a", "grain90", "grain9"]


def test_a_second_look_weighs_only_what_changed(index, monkeypatch):
    index.add(texts([10, 11]))
    rows = index.inbox()
    weighed = []
    weigh = set_index.note_weighed
    monkeypatch.setattr(
        set_index, "note_weighed", lambda made, name, *more: weighed.append(name) or weigh(made, name, *more)
    )
    assert index.inbox() == rows and weighed == []
    rows.accept(1)
    assert index.inbox() == one_by_one(index) and weighed == ["cats"]
    index.inbox().done()
    assert (index.inbox(), weighed) == ([], ["cats"])


def test_sets_change_within_a_transaction_of_the_host(tmp_path):
    app = sqlite3.connect(tmp_path / "app.db", isolation_level=None)
    with setsearch.open(app, contexts="off") as index:
        fill(index)
        index.add(texts([10, 11]))
        before, claims = index.inbox(), index.sets_of("cats11", items="documents")
        app.execute("begin")
        index.inbox().accept("cats10")
        index.add([("more", text("cats", 12))])
        index.delete_set("grain")
        within = index.inbox()
        assert within == one_by_one(index) and "more" in {row.item for row in within}
        assert {claim.set for claim in index.sets_of("cats11", items="documents")} == {"cats"}
        app.execute("rollback")
        assert index.inbox() == before == one_by_one(index)
        assert index.sets_of("cats11", items="documents") == claims


def test_a_collection_that_comes_again_has_only_what_changed(index):
    before = texts(range(10))
    revision = index.revision()
    assert index.replace(before) == 40 and index.revision() == revision
    index.replace([*before[1:], ("cats10", text("cats", 10))])
    assert [(row.set, row.item) for row in index.inbox()] == [("cats", "cats10")]
    assert "cats0" not in index.items("documents").titles(["cats0", "cats10"])


def test_tags_and_ranges_are_no_words_that_belong():
    """They are features beside words: what `expand` never returns comes to no inbox, and no set claims it."""
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        tagged = [
            Item(name, text, fields={"tags": [name[:3]], "year": 1990 + n})
            for n, (name, text) in enumerate(texts(range(10)))
        ]
        index.add(tagged)
        index.keep_set("words", ["lion", "tiger"], items="terms")
        index.update([Item("new", "lion tiger leopard claw", fields={"tags": ["cat", "new"], "year": 1991})])
        words = {hit.item for hit in index.set("words").expand(100)}
        rows = index.inbox()
        assert "leopard" in {row.item for row in rows} <= words
        assert index.sets_of("tags:cat", items="terms") == []
        assert index.sets_of("leopard", items="terms")[0].belongs


def test_who_looks_at_less_does_not_bring_back_what_another_has_looked_at(index):
    index.update(texts([20], ["cats"]))
    mine = index.inbox()
    index.update(texts([21], ["cats"]))
    yours = index.inbox()
    assert [{row.item for row in own} for own in (mine, yours)] == [{"cats20"}, {"cats20", "cats21"}]
    yours.done()
    mine.done()
    assert index.inbox() == []
    index.update(texts([22], ["cats"]))
    assert [row.item for row in index.inbox()] == ["cats22"]
    index.replace(texts(range(10)) + texts([23], ["cats"]))  # another history begins
    index.inbox().done()
    assert index.inbox() == [] and index.check() == []
