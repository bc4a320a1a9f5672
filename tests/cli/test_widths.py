"""Columns of a terminal that texts take, and where they are cut."""

import unicodedata
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from setsearch.answers.picture import INSIDE, Point
from setsearch.cli import output, widths

TEXTS = st.text("ab cé e\u0301か\u3099漢字 नम\u0938\u094d\u0924\u0947ก\u0e34👩\u200d🚀", max_size=40)


def plain_lines(text, width):
    """The lines of a text of narrow letters."""
    start = 0
    while len(text) - start > width:
        end = text.rfind(" ", start, start + width)
        end = start + width if end <= start else end
        yield start, text[start:end]
        start = end + (text[end] == " ")
    yield start, text[start:]


@given(st.text("ab ", max_size=60), st.integers(1, 20))
def test_narrow_letters_are_cut_as_by_the_plain_definition(text, columns):
    assert [*widths.wrapped(text, columns)] == [*plain_lines(text, columns)]


@given(TEXTS, st.integers(2, 20))
def test_lines_fit_and_are_cut_between_letters(text, columns):
    lines = [*widths.wrapped(text, columns)]
    assert all(text[start : start + len(line)] == line for start, line in lines)
    ends = [(start + len(line), after) for (start, line), (after, _) in pairwise(lines)]
    assert all(text[end:after] in ("", " ") for end, after in ends) and lines[-1][0] + len(lines[-1][1]) == len(text)
    for start, line in lines:
        assert widths.width_of(line) <= columns or len(widths.letters_of(line)) == 1
        assert start == 0 or not unicodedata.category((text + " ")[start]).startswith("M")


@given(TEXTS, st.integers(3, 20))
def test_what_is_too_wide_is_cut_between_letters(text, columns):
    shown = widths.fitted(text, columns)
    if widths.width_of(text) <= columns:
        assert shown == text
    else:
        begin = shown.removesuffix("…")
        assert begin != shown and text.startswith(begin)
        assert widths.width_of(shown) <= columns or len(widths.letters_of(begin)) == 1
        assert widths.letters_of(text)[: len(widths.letters_of(begin))] == widths.letters_of(begin)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("漢字", 4),
        ("か\u3099き", 4),
        ("cafe\u0301", 4),
        ("می\u200cشود", 5),
        ("नम\u0938\u094d\u0924\u0947", 4),
    ],
)
def test_wide_letters_take_two_columns_and_marks_none(text, columns):
    assert widths.width_of(text) == len(widths.in_cells(text)) == columns


def test_snippets_of_wide_letters_stay_within_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    text = "昨日、東京で大きな会議が開かれた。参加者は気候変動について議論した。" * 2
    row = {"rank": 1, "item": "a", "title": None, "score": 1.0, "snippet": text, "marks": [(3, 5), (9, 11)]}
    output.print_table([row])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert "".join(line.strip() for line in lines) == text
    assert max(map(widths.width_of, lines)) == 40


def test_a_map_of_wide_names_keeps_its_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    names = ("漢字の名前", 0.0), ("名前", 0.5), ("終", 1.0)
    points = [Point(name, name, INSIDE, place, 1.0) for name, place in names]
    output.print_map(points)
    first = capsys.readouterr().out.splitlines()[0]
    assert [widths.width_of(first[:n]) for n, own in enumerate(first) if own == "○"] == [0, 30, 59]


def test_marks_without_end_are_not_copied_again_and_again():
    """A letter with 2^20 marks: copied with each of them, it would take minutes."""
    text = "a" + "\u0301" * (1 << 20)
    assert widths.letters_of(text + "b") == [text, "b"]
