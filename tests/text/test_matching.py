"""How well names match a text, by plain definitions."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from setsearch.text.matching import (
    BEGINNING,
    INSIDE,
    LATER_WORD,
    LEAST_SIMILAR,
    SIMILAR,
    is_one_edit,
    likely,
    match,
    one_edit_away,
)

TEXTS = st.text("abc d-", min_size=1, max_size=12)


@examples(200)
@given(wanted=TEXTS, name=TEXTS)
def test_similar_names_have_the_ratio_of_difflib(wanted, name):
    found = match(wanted, 1, name, None)
    ratio = max(SequenceMatcher(None, own, wanted).ratio() for own in (name, name[: len(wanted)]))
    if found is None:
        assert ratio < LEAST_SIMILAR
    elif found.quality == SIMILAR:
        assert found.ratio == ratio >= LEAST_SIMILAR


@examples(200)
@given(wanted=TEXTS, name=TEXTS)
def test_a_later_word_begins_behind_what_is_no_letter(wanted, name):
    found = match(wanted, 1, name, None)
    places = [place for place in range(len(name)) if name.startswith(wanted, place)]
    begins = any(place and not name[place - 1].isalnum() for place in places)
    assert (found is not None and found.quality == LATER_WORD) == (begins and places[0] > 0)
    if found is not None and found.quality in (BEGINNING, INSIDE):
        assert wanted in name and (places[0] == 0) == (found.quality == BEGINNING)


@examples(300)
@given(*[st.text("abAB é(", max_size=6) for _ in range(3)])
def test_a_thing_matches_as_the_better_of_its_name_and_title(text, name, title):
    alone = [own for own in (match(text, 1, one, None) for one in (title, name) if one) if own is not None]
    expected = min(alone, key=lambda one: one.order, default=None)
    found = match(text, 1, name, title) if name or title else None
    assert (found and (*found.order, found.shown)) == (expected and (*expected.order, expected.shown))


ROWS = st.lists(st.tuples(st.integers(), st.text("abAB éيی.", min_size=1), st.none() | st.text("abAB éيی.")))


@examples(500)
@given(st.text("abAB éيی.", max_size=9), ROWS)
def test_no_row_that_matches_is_unlikely(text, rows):
    found = likely(text, rows)
    assert [own for own in (match(text, *row) for row in found) if own] == [
        own for own in (match(text, *row) for row in rows) if own
    ]


def test_most_of_many_rows_are_unlikely():
    rows = [(n, f"name {n}", None) for n in range(99)]
    assert likely("elephant", [*rows, (99, "elehpont", None), (100, "x", "Elefant")]) == [
        (99, "elehpont", None),
        (100, "x", "Elefant"),
    ]


@examples(500)
@given(st.text("abc", max_size=7), st.lists(st.text("abc", max_size=7)))
def test_names_one_edit_away_are_found_by_what_an_edit_leaves(text, names):
    assert one_edit_away(text, names) == [place for place, name in enumerate(names) if is_one_edit(text, name)]
