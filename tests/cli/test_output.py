"""Bars in the terminal."""

from hypothesis import given
from hypothesis import strategies as st

from setsearch.cli import output
from setsearch.cli.output import bars


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


def test_small_numbers_are_exact_for_programs(capsys):
    output.print_csv([{"item": "a", "weight": 0.00016865302451090622}])
    output.print_table([{"item": "a", "weight": 0.00016865302451090622}])
    printed = capsys.readouterr().out
    assert "a,0.00016865302451090622" in printed
    assert "0.00017" in printed


def test_a_map_on_the_command_line(run, failed, database):
    code, out, _ = run("expand", "x.db", "d0", "--items", "documents", "--map")
    assert code == 0
    *lines, legend = out.rstrip("\n").split("\n")
    assert sum(line.count("●") for line in lines) == 1 and any("● Lion" in line or "Lion ●" in line for line in lines)
    assert legend.startswith("● examples")
    failed(run("expand", "x.db", "lion", "--map", "--bars"), 2, "choose one of --bars, --map")
    failed(run("expand", "x.db", "--batch", "-", "--map"), 2, "--batch", "--map")
    failed(run("expand", "x.db", "lion", "-k", "1", "--map"), 1, "a map needs three items")
