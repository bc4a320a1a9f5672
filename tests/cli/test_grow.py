"""The dialogue in the terminal."""

import io
import os
import random
import subprocess
import sys

import pytest
from samples import TEXTS

import setsearch


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
    code, out, err = grow("d5\n", "d0", "d1", "d2", "d3", "d4")  # no answer is left, but the set stays
    assert (code, out.count("accepted"), err.count("Error: all 6 documents")) == (0, 5, 1)
    code, _, err = grow("", "unicorn")
    assert (code, err.count("\n")) == (1, 1)
    assert grow("")[0] == 2


def test_a_note_is_told_once_and_no_hint_is_an_option(run, tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        kinds = [[f"w{kind}x{n}" for n in range(30)] for kind in range(6)]
        draw = random.Random(1)
        index.add([(f"d{n}", " ".join(draw.choices(kinds[n % 6], k=12)) + " all") for n in range(240)])
        index.keep_set("mine", ["d3"], items="documents")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n-1\nw1x1\ns mine\n"))
    code, _, err = run("grow", "a.db", "d1", "d7", "d13", "d19", "d2", "--items", "documents")
    assert code == 0 and err.count("numbers accept") == 3 and err.count("fits the other examples least") == 1
    assert "note: scores are margins, learned from what was accepted and rejected\n" in err
    assert "Error: no 'w1x1' among the 240 documents, but it is one of the terms\n" in err
    assert "Error: there is a set 'mine' already; take another name\n" in err


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
    assert "stays as it was saved" in grow("1\nq\n", "--set", "cats")[2]
    assert "stays as it was saved" not in grow("1\ns\nq\n", "--set", "cats")[2]


def test_what_others_save_meanwhile_stays(grow, database, monkeypatch):
    grow("s cats\nq\n", "d0")
    from setsearch.cli.dialogue import typed_lines

    def typed():
        with setsearch.open(database) as other:
            theirs = other.set("cats")
            theirs.accept("d4")
            theirs.save()
        yield from typed_lines()

    monkeypatch.setattr("setsearch.cli.dialogue.typed_lines", typed)
    code, _, err = grow("1\ns\ns mine\nq\n", "--set", "cats")
    assert code == 0
    assert "somebody has changed the set 'cats' meanwhile" in err
    with setsearch.open(database) as index:
        assert "d4" in index.set("cats").accepted
        assert len(index.set("mine").accepted) == 2


@pytest.mark.skipif(os.name != "posix", reason="elsewhere terminals have no device files")
def test_arrow_keys_edit_the_line(database):
    outer, inner = os.openpty()
    asked = [sys.executable, "-m", "setsearch", "grow", str(database), "d0", "--items", "documents"]
    streams = {"stdin": inner, "stdout": inner, "stderr": inner}
    with subprocess.Popen(asked, **streams, env=os.environ | {"TERM": "xterm"}) as dialogue:
        os.close(inner)
        shown = b""
        for typed in (b"1\x1b[D-\n", b"q\n"):  # 1, left, minus
            while not shown.endswith(b"> "):
                shown += os.read(outer, 1000)
            os.write(outer, typed)
            shown += os.read(outer, 1000)
        while b"rejected" not in shown.rpartition(b"> ")[2]:
            shown += os.read(outer, 1000)
        assert dialogue.wait() == 0
    os.close(outer)
    assert b"Error" not in shown


def test_ctrl_c_prints_the_set(grow, monkeypatch):
    def typed():
        yield "1"
        raise KeyboardInterrupt

    monkeypatch.setattr("setsearch.cli.dialogue.typed_lines", typed)
    code, out, err = grow("", "d0")
    assert code == 130
    assert out.count("accepted") == 2
    assert "stopped" in err


def test_ctrl_c_ends_the_line_of_the_prompt(grow, monkeypatch):
    def stopped():
        print("> ", end="", file=sys.stderr)
        raise KeyboardInterrupt

    monkeypatch.setattr("setsearch.cli.dialogue._line", stopped)
    assert grow("", "d0")[2].endswith("> \nError: stopped; saved sets stay saved\n")


@pytest.mark.parametrize("content", ["set,item\nA\n", 'set,item\nA,lion,tiger\n"A\n', "set,item\nA,unicorn\n"])
@pytest.mark.parametrize("command", [["grow", "x.db", "--sets"], ["evaluate", "x.db"]])
def test_errors_of_files_advise_the_option_of_commands_that_have_it(run, database, tmp_path, content, command):
    (tmp_path / "sets.csv").write_text(content)
    code, _, said = run(*command, "sets.csv", "--items", "documents")
    assert code != 0 and ("or pass --errors skip" in said) == (command[0] == "grow")
    assert command[0] == "evaluate" or "sets.csv, line 2: " in said


@pytest.mark.parametrize(
    "command",
    ["grow x.db --sets", "evaluate x.db", "set import x.db", "index y.db", "vectors x.db", "review x.db r d0 --known"],
)
def test_an_empty_name_is_not_the_folder_here(run, database, tmp_path, command):
    code, _, said = run(*command.split(), "")
    assert code == 1 and "a source has an empty name; name a file" in said
