"""Rows on stdout: a table or bars for people; JSON, CSV and TSV for programs."""

import io
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from setsearch.answers.results import display_name, is_informative
from setsearch.cli.help import OUTPUT, flag
from setsearch.cli.messages import CONTROL, say
from setsearch.cli.widths import fitted, in_cells, width_of, wrapped
from setsearch.errors import QueryError, UsageError
from setsearch.options import Option, with_parameters

if TYPE_CHECKING:
    from setsearch.answers.picture import Point

TWO_DIGITS_BELOW = 0.01  # three decimals would show too little
CELL_WIDTH, LEAST_WIDTH = 60, 12  # columns of a cell of a table, and on a narrow terminal
DECIMALS = 3  # of the numbers of a table, at most
INDENT = 6  # of what stands below a hit
FEW_REASONS, MOST_REASONS = 5, 10  # of a hit, on lines of their own
SMALL_SHARE = 0.3  # of a score, which the other reasons add at most, unless there are most lines
PARTS = ("reasons", "features")  # columns of a hit; reasons are the features for people
LABEL_WIDTH = 32  # columns before a bar
WIDEST_BARS = 100  # characters of a line of bars, or of a map
EIGHTHS = " ▏▎▍▌▋▊▉█"
BELOW = "░"  # of weights below 0
MAP_ROWS = 24  # lines of a small terminal
VALUE_COLUMNS = ("score", "weight")

Row = dict[str, Any]
Show = Callable[..., None]  # of rows, and of the columns that there would be, if there are none


def informative(rows: list[Row], *names: str) -> list[Row]:
    """Rows without those columns that are empty in all of them, or titles that tell no more than the names."""

    def tells(row: Row, name: str) -> bool:
        return is_informative(row.get(name), row.get("item") or row["feature"]) if name == "title" else bool(row[name])

    empty = [name for name in names if not any(tells(row, name) for row in rows)]
    return [{key: value for key, value in row.items() if key not in empty} for row in rows]


def _as_json(row: Any) -> str:
    """A row as JSON; in ASCII for an output that knows no Unicode, whose escapes JSON would not understand."""
    import json

    return json.dumps(row, ensure_ascii="utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower())


def print_json(rows: list[Row], columns: Sequence[str] = ()) -> None:
    """A JSON array, one row a line."""
    print("[" + ",\n ".join(map(_as_json, rows)) + "]")


def print_lines(rows: list[Row], columns: Sequence[str] = ()) -> None:
    """One JSON object a line."""
    for row in rows:
        print(_as_json(row))


def write_in_utf8() -> None:
    """Let the output be in UTF-8, whatever the locale knows: a file for programs has names as they are."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def print_csv(rows: list[Row], columns: Sequence[str] = (), delimiter: str = ",") -> None:
    """CSV with a header."""
    import csv

    write_in_utf8()
    writer = csv.DictWriter(sys.stdout, rows[0] if rows else columns, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


print_tsv = partial(print_csv, delimiter="\t")


def print_table(rows: list[Row], columns: Sequence[str] = ()) -> None:
    """A table: numbers to the right, texts cut, reasons below their hit."""
    if any("snippet" in row for row in rows):
        _print_snippets(rows)
    elif rows:
        above = [{name: value for name, value in row.items() if not _are_parts(name, value)} for row in rows]
        _print_cells(above, [_reason_lines(row) for row in rows])
    _tell_places(rows)


def _print_cells(rows: list[Row], below: list[list[str]]) -> None:
    """Rows as a table, each with the lines below it."""
    columns = [_shown_column(name, [row[name] for row in rows]) for name in rows[0]]
    numeric = [isinstance(value, (int, float)) for value in rows[0].values()]
    most = _most_widths([max(map(width_of, column)) for column in columns], numeric)
    columns = [[fitted(text, own) for text in column] for column, own in zip(columns, most, strict=True)]
    widths = [max(map(width_of, column)) for column in columns]
    for line, own in zip(zip(*columns, strict=True), [[], *below], strict=True):
        padded = (
            text.rjust(w) if right else _padded(text, w) for text, w, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip(), *own, sep="\n")


def _shown_column(name: str, values: Sequence[Any]) -> list[str]:
    """The cells of a column below its name: all numbers with the decimals that one of them needs, three at most."""
    floats = [value for value in values if isinstance(value, float)]
    enough = (places for places in range(DECIMALS) if all(round(value, places) == value for value in floats))
    number = partial(_rounded, places=next(enough, DECIMALS))
    return [text.translate(CONTROL) for text in (name, *(_cell(value, number) for value in values))]


def _most_widths(widths: Sequence[int], numeric: Sequence[bool]) -> list[int]:
    """How wide the cells of each column may be: 60, the last one as it is.

    On a terminal the widest texts give way until a line has room, but for the first ones, which name the rows.
    """
    most = [*(min(width, CELL_WIDTH) for width in widths[:-1]), widths[-1]]
    texts = [place for place, is_number in enumerate(numeric) if not is_number][1:]
    room = shutil.get_terminal_size().columns - 2 * (len(widths) - 1)
    while sys.stdout.isatty() and texts and sum(most) > room:
        widest = max(texts, key=most.__getitem__)
        if most[widest] <= LEAST_WIDTH:
            break
        most[widest] -= 1
    return most


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _parts(row: Row) -> list[Row]:
    """The reasons of a hit, or its features where these are its reasons."""
    return next((row[name] for name in PARTS if _are_parts(name, row.get(name))), [])


def _are_parts(name: str, value: Any) -> bool:
    """Whether a column has the parts of a score: in other tables it is a name."""
    return name in PARTS and isinstance(value, list)


def _reason_lines(row: Row) -> list[str]:
    """The reasons of a hit, one a line, the first of many; what the others add, not much, is one more."""
    parts = [(_label(part), part["weight"]) for part in _parts(row)]
    weights = [weight for _, weight in parts]
    most = SMALL_SHARE * abs(sum(weights))
    enough = (number for number in range(FEW_REASONS, MOST_REASONS) if abs(sum(weights[number:])) <= most)
    shown = next(enough, MOST_REASONS)
    if len(parts) > shown + 1:  # one alone is told itself
        parts[shown:] = [("other reasons", sum(weights[shown:]))]
    return [f"{' ' * INDENT}{weight:+.3f}  {label.translate(CONTROL)}" for label, weight in parts]


def _label(part: Row) -> str:
    return str(part.get("label") or part.get("part") or part.get("feature") or "")


def _tell_places(rows: list[Row]) -> None:
    """Say what the marks of contexts mean, if contexts are shown."""
    from setsearch.answers.reasons import ANY, PLACE  # which loads numpy

    labels = [_label(part).split(" ") for row in rows for part in (row, *_parts(row))]
    marks = {mark for label in labels if PLACE in label and len(label) > 1 for mark in label}
    if marks:
        say(f"note: “{PLACE}” is the place of the word" + f", “{ANY}” any one word" * (ANY in marks))


def _print_snippets(rows: list[Row]) -> None:
    """Each hit on a line of its own, and below it the passage that speaks for it, its words in bold, and reasons."""
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    width = max(shutil.get_terminal_size().columns - INDENT, INDENT)
    for row in rows:
        name = display_name(row["item"], row.get("title"))
        known = f"  ({row['item']})" if name != row["item"] else ""
        end = "" if row.get("belongs") is not False else "  beyond the set"
        name, known = name.translate(CONTROL), known.translate(CONTROL)
        print(f"{row['rank']:>4}  {bold}{name}{plain}{known}  {row['score']:.3f}{end}")
        text, marks = row.get("snippet", "").translate(CONTROL), row.get("marks", ())
        for start, line in wrapped(text, width):
            inside = [(max(a - start, 0), b - start) for a, b in marks if a < start + len(line) and b > start]
            cuts = [0, *(place for mark in inside for place in mark), len(line)]
            parts = [line[begin:stop] for begin, stop in pairwise(cuts)]  # every other one is marked
            print(" " * INDENT + "".join(bold + part + plain if n % 2 else part for n, part in enumerate(parts)))
        for line in _reason_lines(row):
            print(line)


def print_bars(rows: list[Row], columns: Sequence[str] = ()) -> None:
    """Hits or features as bars."""
    print("\n".join(bars(rows)))
    _tell_places(rows)


def bars(rows: list[Row], width: int | None = None, numbered: bool = False) -> list[str]:
    """Rows as lines of `width` characters: label, bar, value; with a line at the end of the set.

    Weights begin at 0, those below it have light bars; scores begin at the least one if some are below 0.
    """
    if not rows:
        return []
    name = "item" if "item" in rows[0] else "feature"
    column = next((name for name in VALUE_COLUMNS if name in rows[0]), "weight")
    labels = [fitted(display_name(row[name], row.get("title")).translate(CONTROL), LABEL_WIDTH) for row in rows]
    values = [float(row[column]) for row in rows]
    if numbered:
        labels = [f"{number:>3}  {label}" for number, label in enumerate(labels, 1)]
    label_width = max(map(width_of, labels))
    width = width or min(shutil.get_terminal_size().columns, WIDEST_BARS)
    bar_width = max(8, width - label_width - 11)
    zero = min(0.0, *values) if column == "score" else 0.0
    top = max(abs(value - zero) for value in values)
    lines = []
    last = max((place for place, row in enumerate(rows[:-1]) if row.get("belongs")), default=None)
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        eighths = round(8 * bar_width * abs(value - zero) / top) if top else 0
        bar = EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip() if value >= zero else BELOW * (eighths // 8)
        lines.append(f"{_padded(label, label_width)}  {bar:<{bar_width}} {value:>8.3f}")
        if place == last and rows[place + 1].get("belongs") is False:
            lines.append(" the set ends here ".center(width, "-"))
    return lines


def print_map(points: "list[Point]") -> None:
    """A map of a set; labels stand where there is room for them. Raises QueryError for one without points."""
    if not points:
        raise QueryError("a map needs three items that share something; give more examples, or a larger -k")
    from setsearch.answers.picture import BEYOND, EXAMPLE, INSIDE, place_labels

    columns = min(shutil.get_terminal_size().columns, WIDEST_BARS)
    marks = {EXAMPLE: "●", INSIDE: "○", BEYOND: "·"}
    grid = [[" "] * columns for _ in range(MAP_ROWS)]
    for own in reversed(place_labels(points, columns, MAP_ROWS, wide=width_of)):  # examples, the first, cover others
        line = grid[own.row]
        if own.start is not None:
            cells = in_cells(own.label.translate(CONTROL))
            line[own.start : own.start + len(cells)] = cells
        line[own.column] = marks[own.point.kind]
    print(*("".join(line).rstrip() for line in grid), sep="\n")
    print("● examples  ○ in the set  · beyond; near: same reasons")


def _rounded(value: float, places: int = DECIMALS) -> str:
    """A number for people."""
    return f"{value:.2g}" if 0 < abs(value) < TWO_DIGITS_BELOW else f"{value:.{places}f}"


def _cell(value: Any, number: Callable[[float], str] = repr) -> str:
    """A value as one line of text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (list, tuple)) and not (value and isinstance(value[0], dict)):
        return ", ".join("-".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in value)
    if isinstance(value, list):
        return ", ".join(f"{part.get('label') or part['feature']} {part['weight']:+.2f}" for part in value)
    return "" if value is None else str(value)


HOW: dict[str, tuple[Show, str]] = {
    "bars": (print_bars, "Bars in the terminal."),
    "map": (print_map, "A map in the terminal: near ones are there for the same reasons."),
    "json": (print_json, "A JSON array (default when piped)."),
    "nl": (print_lines, "One JSON object a line."),
    "csv": (print_csv, "CSV with a header."),
    "tsv": (print_tsv, "TSV with a header."),
    "table": (print_table, "A table (default on a terminal)."),
}
PICTURES = ("bars", "map")  # which only some commands can show


def _chosen(**flags: bool) -> Show:
    """How to print rows: as requested, else a table on a terminal and JSON into a pipe."""
    chosen = [name for name in HOW if flags.get(name)]
    if len(chosen) > 1:
        raise UsageError(f"choose one of {', '.join(f'--{name}' for name in chosen)}")
    return HOW[chosen[0] if chosen else "table" if sys.stdout.isatty() else "json"][0]


def _show_options(*pictures: str) -> Callable[..., Show]:
    """A group of options that chooses how to print."""
    names = [name for name in HOW if name in pictures or name not in PICTURES]
    own = [Option(bool, "", HOW[name][1], name=name) for name in names]
    return with_parameters(partial(_chosen), own, lambda one: Annotated[bool, flag(f"--{one.name}", one.help, OUTPUT)])


format_options = _show_options()
bar_options = _show_options("bars")
picture_options = _show_options(*PICTURES)
