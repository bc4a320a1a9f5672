"""CSV that spreadsheets open."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MARK = "\ufeff"  # without it Excel takes UTF-8 for an encoding of its country
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows as CSV with a header, behind a byte order mark if not all is ASCII.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        are_formulas = {name: isinstance(own, str) and own.startswith(FORMULA_STARTS) for name, own in row.items()}
        writer.writerow({name: f"'{own}" if are_formulas[name] else own for name, own in row.items()})
    text = out.getvalue()
    return text if text.isascii() else MARK + text


def unmarked(text: str) -> str:
    """A text as it was before `csv_text` put an apostrophe before it."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA_STARTS) else text
