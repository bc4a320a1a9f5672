"""Answers as tables of HTML, as notebooks show them."""

from collections.abc import Iterable, Sequence
from typing import Any


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table with a caption; numbers stand to the right, with three decimals unless they are whole."""
    head = "".join(f"<th>{_escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    caption = caption and f'<caption style="text-align: left">{_escape(caption)}</caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        return f'<td style="text-align: right">{f"{value:,}" if isinstance(value, int) else f"{value:.3f}"}</td>'
    return f'<td style="text-align: left">{"" if value is None else _escape(str(value))}</td>'


def _escape(text: str) -> str:
    from html import escape  # slow to import, and only notebooks need it

    return escape(text)
