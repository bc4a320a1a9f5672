"""Cells of CSV that spreadsheets open."""

from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def without_formula(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: a text that looks like one gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
