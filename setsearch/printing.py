"""Rows on stdout: a table for people, JSON, CSV and TSV for programs."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from setsearch.errors import UsageError

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


def says_more(title: str | None, name: str) -> bool:
    """Whether a title tells a reader something that the name does not."""
    return title is not None and title not in name


def shown(name: str, title: str | None) -> str:
    """The title in the place of the name, where it says more."""
    return title if title is not None and says_more(title, name) else name


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
