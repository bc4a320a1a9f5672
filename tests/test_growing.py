"""The dialogue in the terminal, bars, and completion."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch.cli.output import bars
from setsearch.search.completion import complete, similar_names
from setsearch.search.highlight import item_text, mark_features
from setsearch.search.results import Contribution

TEXTS = [
    ("Lion", "the lion and the tiger are big cats"),
    ("Tiger", "the tiger and the lion are cats"),
    ("Leopard", "a leopard is a cat among cats"),
    ("Wheat", "wheat and barley grow"),
    ("Barley bread", "barley and oats grow"),
    ("New York", "a town"),
]


@pytest.fixture
def database(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True, contexts="on") as index:
        index.add([(f"d{n}", text, title) for n, (title, text) in enumerate(TEXTS)])
    return tmp_path / "x.db"


@pytest.fixture
def grow(run, database, monkeypatch):
    def dialogue(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return run("grow", "x.db", *arguments, "--items", "documents", "--csv")

    return dialogue


def test_a_set_grows_in_the_terminal(grow, database):
    with setsearch.open(database) as index:
        reading = index.items("documents")
        first = [hit.item for hit in reading.expand(["d0"], 15)]
        second = [hit.item for hit in reading.expand(["d0", first[0]], 15, exclude=[first[2]])]
    third = next(name for name, _ in TEXTS_BY_ID if name not in ("d0", first[0], first[2]))
    code, out, err = grow(f"1 -3\n1\nu\n?1\n{dict(TEXTS_BY_ID)[third]}\nq\n", "Lion")
    assert code == 0
    assert out == f"item,status\nd0,accepted\n{first[0]},accepted\n{third},accepted\n{first[2]},rejected\n"
    assert f"d0, {first[0]}   rejected: {first[2]}" in err
    assert dict(TEXTS_BY_ID)[second[0]] in err


TEXTS_BY_ID = [(f"d{n}", title) for n, (title, _) in enumerate(TEXTS)]


def test_mistakes_are_answered_and_nothing_is_lost(grow, database):
    code, out, err = grow("unicorn\n99\n-99\n?99\nu\ns\nh\n0\n1\n", "d0")  # and the input ends
    assert code == 0
    assert out.count("accepted") == 2
    assert err.count("Error: ") == 6
    assert "nothing to undo" in err
    code, out, err = grow("1 2 3 4 5\n", "d0")  # all of them: no answer is left, but the set stays
    assert (code, out.count("accepted"), err.count("Error: all 6 documents")) == (0, 1, 1)
    code, _, err = grow("", "unicorn")
    assert (code, err.count("\n")) == (1, 1)
    assert grow("")[0] == 2


def test_a_set_is_saved_and_gone_on_with(grow, database):
    grow("1 -2\ns cats\nq\n", "d0")
    with setsearch.open(database) as index:
        kept = index.set("cats")
        assert len(kept.accepted) == 2
        assert len(kept.rejected) == 1
    code, out, _ = grow("q\n", "--set", "cats")
    assert code == 0
    assert out.count("accepted") == 2
    assert "already" in grow("s cats\n", "d3")[2], "a set of another is not written over"


def test_bars_on_the_command_line(run, failed, database):
    code, out, _ = run("expand", "x.db", "lion", "--bars")
    assert code == 0
    assert "█" in out
    assert out == run("expand", "x.db", "lion", "--plot", "-")[1], "the spelling of version 0.3"
    for how in ("weight", "mi", "probability"):
        assert "█" in run("features", "x.db", "d0", "--items", "documents", "--weigh", how, "--bars")[1]
    failed(run("expand", "x.db", "lion", "--plot", "a.png"), 2, "a.png", "--bars")


rows = st.lists(st.tuples(st.text(max_size=50), st.floats(-1e6, 1e6), st.booleans()), min_size=1, max_size=20).map(
    lambda found: sorted(found, key=lambda row: (-row[1], not row[2]))
)


@given(rows, st.integers(30, 120))
def test_bars_fit_and_are_in_order(found, width):
    lines = bars([{"item": name, "score": score, "belongs": above} for name, score, above in found], width)
    shown = [line for line in lines if line.strip("- ") != "the set ends here"]
    assert len(shown) == len(found)
    lengths = [line.count("█") for line in shown]
    assert lengths == sorted(lengths, reverse=True)
    assert all(line.isprintable() or not found[n][0].isprintable() for n, line in enumerate(shown))


def test_names_are_completed(database):
    with setsearch.open(database) as index:
        documents, terms = index.items("documents"), index.items("terms")
        assert [row.item for row in complete(documents, "l")] == ["d0", "d2"], "by title, those with most first"
        assert [row.item for row in complete(documents, "BARLEY")] == ["d4"]
        assert [row.item for row in complete(documents, "yor")] == ["d5"], "a later word"
        assert complete(documents, "yor")[0].total == 2
        assert complete(terms, "the")[0].total == 4
        assert complete(terms, "q") == []
        assert complete(terms, "\0") == []
        assert len(complete(terms, "", 5)) == 5
        assert similar_names(terms, "loin") == ["lion"]
        index.add_numbers([("ann", [1.0]), ("bob", [2.0])], ["height"], "body")
        assert [row.item for row in complete(index.numbers("body"), "A")] == ["ann"]


def test_completion_equals_a_look_at_every_name(build):
    names = ["lion", "Lion", "lioness", "a lion", "LIONS", "li", "l%on", "l_on", "ließ", "z"]
    index = build({name: {"x": n + 1} for n, name in enumerate(names)})
    reading = index.items("film")
    totals = {name: n + 1 for n, name in enumerate(names)}
    for prefix in ("l", "li", "lion", "L", "z", "l%"):
        expected = [name for name in names if name.lower().startswith(prefix.lower())]
        expected.sort(key=lambda name: (name.lower() != prefix.lower(), -totals[name], name))
        assert [row.item for row in complete(reading, prefix, len(expected))] == expected


def test_a_text_is_marked_where_its_features_stand(tmp_path):
    with setsearch.open(tmp_path / "s.db", create=True, language="english", contexts="on") as index:
        index.add([("a", "Running dogs; a dog RAN, cafe\u0301 runs."), ("b", "dogs run")])
        index.add((f"c{n}", f"cats sleep {n}") for n in range(8))
        reading = index.items("documents")
        assert item_text(reading, "a") == "Running dogs; a dog RAN, cafe\u0301 runs."
        (hit,) = reading.expand(["b"], 1, explain=True)
        pieces = mark_features(reading, item_text(reading, "a"), hit.features)
        assert "".join(piece.text for piece in pieces) == "Running dogs; a dog RAN, café runs."
        assert [piece.text for piece in pieces if piece.weight] == ["Running", "dogs", "dog", "runs"]
        assert item_text(index.items("terms"), "dog") is None
        assert mark_features(reading, "", hit.features) == []
        assert [piece.weight for piece in mark_features(reading, "dog", [Contribution("dog", 2.5)])] == [2.5]


def test_the_text_of_a_mirrored_row(tmp_path):
    import sqlite3

    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute('create table "my notes" (id integer primary key, "the title" text, body text)')
    connection.execute("""insert into "my notes" values (4, 'One', 'a lion'), (7, 'Two', null)""")
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "app.db", contexts="off") as index:
        index.add_table("my notes", setsearch.Columns(text=("the title", "body")))
        reading = index.items("documents")
        assert item_text(reading, "4") == "One\na lion"
        assert item_text(reading, "7") == "Two\n"
        with sqlite3.connect(tmp_path / "app.db") as other:
            other.execute('alter table "my notes" rename column body to content')
        other.close()
        assert item_text(reading, "4") is None, "the table is no longer as it was"
