"""Tables, reasons and bars in the terminal."""

import io
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setsearch.cli import output
from setsearch.cli.messages import say
from setsearch.cli.output import bars


def test_bars_on_the_command_line(run, database):
    code, out, _ = run("expand", "x.db", "lion", "--bars")
    assert code == 0
    assert "█" in out
    for how in ("weight", "mi"):
        assert "█" in run("features", "x.db", "d0", "--items", "documents", "--weigh", how, "--bars")[1]


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


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.integers(30, 120))
def test_bars_of_weights_begin_at_zero(weights, width):
    """Their lengths are in proportion to the numbers, and those below zero are light."""
    largest, room = max(map(abs, weights)), max(8, width - 1 - 11)
    for weight, line in zip(weights, bars([{"feature": "x", "weight": own} for own in weights], width), strict=True):
        length = room * abs(weight) / largest if largest else 0
        dark, light = line.count("█"), line.count("░")
        assert abs((light if weight < 0 else dark) - length) <= 1.1
        assert not (dark if weight < 0 else light)


def test_small_numbers_are_exact_for_programs(capsys):
    output.print_csv([{"item": "a", "weight": 0.00016865302451090622}])
    output.print_table([{"item": "a", "weight": 0.00016865302451090622}])
    printed = capsys.readouterr().out
    assert "a,0.00016865302451090622" in printed
    assert "0.00017" in printed


@given(st.lists(st.integers(-99, 99), max_size=12), st.booleans())
def test_each_reason_has_its_line_and_what_is_left_is_summed(weights, are_reasons):
    parts = [{"label" if are_reasons else "feature": f"a {n} of", "weight": weight} for n, weight in enumerate(weights)]
    row = {"rank": 1, "item": "x", "score": float(sum(weights)), "reasons" if are_reasons else "features": parts}
    with redirect_stdout(io.StringIO()) as printed:
        output.print_table([row | {"duplicates": []}])
    header, _, *lines = printed.getvalue().splitlines()
    assert header.split() == ["rank", "item", "score", "duplicates"]
    told = [(float(line.split()[0]), line.split(maxsplit=1)[1]) for line in lines]
    assert sum(weight for weight, _ in told) == sum(weights)
    shown = [(weight, f"a {n} of") for n, weight in enumerate(weights)]
    lines = [n for n in range(5, 10) if abs(sum(weights[n:])) <= 0.3 * abs(sum(weights))]
    number = lines[0] if lines else 10
    assert told == (shown if len(shown) <= number + 1 else [*shown[:number], (sum(weights[number:]), "other reasons")])


@pytest.mark.parametrize(
    ("label", "note"),
    [
        ("the _ of", "note: “_” is the place of the word\n"),
        ("_ · purple", "note: “_” is the place of the word, “·” any one word\n"),
        ("snake_case", ""),
        ("_", ""),
    ],
)
def test_marks_of_contexts_are_told_once(capsys, label, note):
    part = {"label": label, "weight": 1.0}
    hit = {"rank": 1, "item": "x", "score": 1.0, "reasons": [part, part]}
    output.print_table([hit, hit])
    assert capsys.readouterr().err == note
    for show in (output.print_table, output.print_bars):
        show([{"feature": label, "weight": 1.0}])
        assert capsys.readouterr().err == note
    output.print_json([hit])
    assert capsys.readouterr().err == ""


def test_a_map_on_the_command_line(run, failed, database):
    code, out, _ = run("expand", "x.db", "d0", "--items", "documents", "--map")
    assert code == 0
    *lines, legend = out.rstrip("\n").split("\n")
    assert sum(line.count("●") for line in lines) == 1 and any("● Lion" in line or "Lion ●" in line for line in lines)
    assert legend.startswith("● examples")
    failed(run("expand", "x.db", "lion", "--map", "--bars"), 2, "choose one of --bars, --map")
    for format in ("json", "nl", "csv", "tsv", "table"):
        failed(run("expand", "x.db", "lion", "--map", f"--{format}"), 2, f"choose one of --map, --{format}")
        failed(run("features", "x.db", "lion", "--bars", f"--{format}"), 2, f"choose one of --bars, --{format}")
    failed(run("expand", "x.db", "--batch", "-", "--map"), 2, "--batch", "--map")
    failed(run("expand", "x.db", "lion", "-k", "1", "--map"), 1, "a map needs three items")


def test_numbers_have_the_decimals_of_their_column(capsys):
    rows = [{"item": "a", "score": 1.23456, "price": 9.9}, {"item": "b", "score": 1.0, "price": 17.99}]
    output.print_table([{**row, "year": 1999.0} for row in rows])
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["a", "1.235", "9.90", "1999"],
        ["b", "1.000", "17.99", "1999"],
    ]


@pytest.mark.parametrize("columns", [30, 60, 100, 300])
def test_the_widest_texts_give_way_to_a_narrow_terminal(capsys, monkeypatch, columns):
    row = {"item": "i" * 20, "score": 1.125, "title": "t" * 90, "place": "p" * 15, "about": "a" * 70}
    output.print_table([row])
    assert {len(cell) for cell in capsys.readouterr().out.splitlines()[1].split()} == {20, 5, 60, 15, 70}
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    output.print_table([row])
    line = capsys.readouterr().out.splitlines()[1]
    item, _, *texts = line.split()
    assert item == row["item"] and all(len(cell) >= output.LEAST_WIDTH for cell in texts)
    assert len(line) == min(max(columns, 20 + 5 + 3 * output.LEAST_WIDTH + 8), 20 + 5 + 60 + 15 + 70 + 8)


def test_wide_characters_and_marks_keep_columns_straight(capsys):
    names = ["目录", "cafe\u0301", "ลู่วิ่ง", "plain"]  # 4, 4, 3 and 5 columns of a terminal
    rows = [{"rank": n, "item": name, "score": 1.125, "belongs": True} for n, name in enumerate(names, 1)]
    output.print_table(rows)
    _, *lines = capsys.readouterr().out.splitlines()
    assert [line[4:].removeprefix("  ") for line in lines] == [
        f"{name}{' ' * blanks}  1.125      yes" for name, blanks in zip(names, (1, 1, 2, 0), strict=True)
    ]
    for name, line, blanks in zip(names, bars(rows, 40), (1, 1, 2, 0), strict=True):
        assert line.startswith(f"{name}{' ' * blanks}  █")


def test_texts_of_strangers_steer_no_terminal(capsys):
    name = "a\x1b]0;b\x07\x9b2Jc\u202ed\u2066e\u2028f"
    output.print_table([{"rank": 1, "item": name, "score": 1.0, "belongs": True}])
    say(f"skipped {name}\nnext")
    out, err = capsys.readouterr()
    assert " a ]0;b  2Jc d e f " in out
    assert err == "skipped a ]0;b  2Jc d e f\nnext\n"


def test_columns_that_tell_nothing_are_left_out():
    rows = [{"item": "lion.txt", "title": "lion", "said": ""}, {"item": "b", "title": None, "said": ""}]
    assert output.informative(rows, "title", "said") == [{"item": "lion.txt"}, {"item": "b"}]
    rows[1]["title"] = "Tiger"
    assert output.informative(rows, "title", "said") == [{key: row[key] for key in ("item", "title")} for row in rows]
