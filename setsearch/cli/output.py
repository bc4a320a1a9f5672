"""Rows on stdout: a table for people, JSON, CSV and TSV for programs.

Scores with the cut, features of a set: as bars in the terminal, or as a PNG or SVG file."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from setsearch.errors import SourceError, UsageError
from setsearch.search.results import says_more, shown

CONTROL = dict.fromkeys([*range(32), *range(127, 160)], " ")  # characters that would break a line of a table
SMALL = 0.01  # below, three decimals would say little
SHOWN = 8  # parts of an explanation in one cell
Row = dict[str, Any]
Show = Callable[[list[Row]], None]


def printer(
    *,
    json: Annotated[bool, typer.Option("--json", help="A JSON array (default when piped).")] = False,
    nl: Annotated[bool, typer.Option("--nl", help="One JSON object a line.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV with a header.")] = False,
    tsv: Annotated[bool, typer.Option("--tsv", help="TSV with a header.")] = False,
    table: Annotated[bool, typer.Option("--table", help="A table (default on a terminal).")] = False,
) -> Show:
    """How to print rows: as asked, else a table on a terminal and JSON into a pipe."""
    asked = {print_json: json, print_lines: nl, print_csv: csv, print_tsv: tsv, print_table: table}
    chosen = [show for show, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        raise UsageError("choose one of --json, --nl, --csv, --tsv, --table")
    if chosen:
        return chosen[0]
    return print_table if sys.stdout.isatty() else print_json


def say(message: str) -> None:
    """A message for people, on stderr."""
    print(message.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def with_titles_that_say_more(rows: list[Row]) -> list[Row]:
    """Rows of features, without their titles where none of these tells more than the names."""
    if any(says_more(row.get("title"), row["feature"]) for row in rows):
        return rows
    return [{key: row[key] for key in row if key != "title"} for row in rows]


def print_json(rows: list[Row]) -> None:
    """A JSON array, a row a line."""
    import json

    print("[" + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "]")


def print_lines(rows: list[Row]) -> None:
    """One JSON object a line."""
    import json

    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def print_csv(rows: list[Row], delimiter: str = ",") -> None:
    """CSV with a header."""
    import csv

    writer = csv.DictWriter(sys.stdout, rows[0] if rows else (), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def print_tsv(rows: list[Row]) -> None:
    """TSV with a header."""
    print_csv(rows, "\t")


def print_table(rows: list[Row]) -> None:
    """Columns, numbers to the right, texts cut at 60 characters but for the last column."""
    if not rows:
        return
    cells = [[*rows[0]], *([_cell(value, "{:.3f}") for value in row.values()] for row in rows)]
    cells = [[text.translate(CONTROL) for text in line] for line in cells]
    cells = [[*(text if len(text) <= 60 else text[:59] + "…" for text in line[:-1]), line[-1]] for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [isinstance(value, (int, float)) for value in rows[0].values()]
    for line in cells:
        padded = (
            text.rjust(w) if right else text.ljust(w) for text, w, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip())


def _cell(value: Any, number: str = "{!r}") -> str:
    """A value as one line of text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number.format(value) if abs(value) >= SMALL or value == 0 else f"{value:.2g}"
    if isinstance(value, list):
        shown = ", ".join(f"{part['feature']} {part['weight']:+.2f}" for part in value[:SHOWN])
        rest = sum(part["weight"] for part in value[SHOWN:])
        return shown + (f", {len(value) - SHOWN} more {rest:+.2f}" if len(value) > SHOWN else "")
    return "" if value is None else str(value)


EIGHTHS = " ▏▎▍▌▋▊▉█"
LONGEST = 32  # characters of a label
END = "here the set ends"
TERMINAL = "-"
UNITS = {"score": "score, nats", "weight": "weight", "probability": "probability"}  # of a column
MOST = 500  # bars in a file
Draw = Callable[[list[Row], Show], None]


def plotter(
    *,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw: into a .png or .svg file, or - on the terminal.")
    ] = None,
) -> Draw:
    """What to do with rows: draw them if that is asked for, else show them."""
    if plot is not None and plot != TERMINAL and Path(plot).suffix not in (".png", ".svg"):
        raise UsageError(f"--plot {plot} is neither a .png nor a .svg file, nor - for the terminal")

    def draw(rows: list[Row], show: Show) -> None:
        """Draw or show."""
        if plot is None:
            show(rows)
        elif plot == TERMINAL:
            print("\n".join(bars(rows)))
        else:
            draw_file(rows, Path(plot))
            say(f"drawn: {plot}")

    return draw


def bars(rows: list[Row], width: int | None = None, numbered: bool = False) -> list[str]:
    """Rows as lines of `width` characters: label, bar, value; with a line where the set ends."""
    if not rows:
        return []
    labels, values = _parts(rows)
    if numbered:
        labels = [f"{number:>3}  {label}" for number, label in enumerate(labels, 1)]
    space = max(map(len, labels))
    width = width or min(shutil.get_terminal_size().columns, 100)
    room = max(8, width - space - 11)
    zero, top = min(0.0, *values), max(values)
    lines = []
    for row, label, value, after in zip(rows, labels, values, [*rows[1:], {}], strict=True):
        eighths = round(8 * room * (value - zero) / (top - zero)) if top > zero else 0
        bar = EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        lines.append(f"{label:<{space}}  {bar:<{room}} {value:>8.3f}")
        if row.get("belongs") is True and after.get("belongs") is False:
            lines.append(f" {END} ".center(width, "-"))
    return lines


def draw_file(rows: list[Row], path: Path) -> None:
    """Rows as horizontal bars in a PNG or SVG file. Raises SourceError where it cannot be written."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError(
            "a plot in a file needs an extra: pip install 'setsearch[plot]'; --plot - needs none"
        ) from error
    if len(rows) > MOST:
        raise UsageError(f"{len(rows)} bars do not fit into a picture; draw at most {MOST} (-k {MOST})")
    labels, values = _parts(rows)
    belongs = [row.get("belongs") for row in rows]
    figure = Figure(figsize=(7, 0.8 + 0.28 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colors = ["#9aa3ad" if above is False else "#2f63c9" for above in belongs]
    axes.barh(range(len(rows)), values, color=colors)
    axes.set_yticks(range(len(rows)), [label.replace("$", r"\$") for label in labels])  # no mathematics in names
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel(UNITS[_value(rows)])
    axes.spines[["top", "right"]].set_visible(False)
    if True in belongs and False in belongs:
        end = belongs.index(False) - 0.5
        axes.axhline(end, color="#a3321f", linestyle="--", linewidth=1)
        axes.text(max(values), end, END, color="#a3321f", ha="right", va="bottom", fontsize="small")
    try:
        with rc_context({"svg.fonttype": "none"}):  # words stay words
            figure.savefig(path, dpi=150)
    except OSError as error:
        raise SourceError(f"{path} cannot be written ({error.strerror}); choose another place") from error


def _parts(rows: list[Row]) -> tuple[list[str], list[float]]:
    """Labels and values of hits or features."""
    name = "item" if rows and "item" in rows[0] else "feature"
    value = _value(rows)
    return [_label(row.get("title"), row[name]) for row in rows], [float(row[value]) for row in rows]


def _value(rows: list[Row]) -> str:
    """The column to draw."""
    return next((name for name in UNITS if rows and name in rows[0]), "weight")


def _label(title: str | None, name: str) -> str:
    label = shown(name, title).translate(CONTROL)
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
