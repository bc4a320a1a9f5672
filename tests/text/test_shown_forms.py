"""Stems are shown by their most frequent form, whatever was written before."""

import random
import sqlite3
from collections import Counter

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from laws import examples

import setsearch
from setsearch.text.shown_forms import changed_forms, stem_numbers
from setsearch.text.token_stream import MARKS, Tokens

FORMS = ["run", "runs", "running", "runner", "lion", "lions", "cat", "cats", "ox"]
texts = st.lists(st.integers(3, 2 + len(FORMS)), max_size=30)


def plain_stem(word):
    return word.removesuffix("s")[:3]


def definition(numbers):
    """Stem -> form, straight from the definition."""
    counts, forms = Counter(FORMS[number - 3] for number in numbers), {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        forms.setdefault(plain_stem(word), word)
    return forms


def tokens_of(numbers, names):
    return Tokens(np.zeros(1, np.int64), np.array([len(numbers)]), np.array(numbers, np.int32), names)


@given(texts, texts, texts, st.integers(0, len(FORMS)), st.booleans())
@examples(100)
def test_forms_that_change_are_those_of_the_definition(before, kept, written, n_known, is_known):
    names = [*MARKS, *FORMS]
    stems = stem_numbers(names, plain_stem, stem_numbers(names[: 3 + n_known], plain_stem, np.zeros(0, np.int64)))
    assert len({*stems[3:].tolist()}) == len({*map(plain_stem, FORMS)})
    one, two, three = (tokens_of([*own, 1, 2], names) for own in (before, written, kept + written))
    found = changed_forms(one if is_known else None, two, three, stems, plain_stem)
    old, new = definition(before) if is_known else {}, definition(kept + written)
    own = {plain_stem(FORMS[number - 3]) for number in written}
    assert found == {stem: form for stem, form in new.items() if old.get(stem) != form or stem in own}


def test_titles_of_stems_are_those_of_a_new_index(tmp_path):
    rng, held = random.Random(1), {}
    with setsearch.open(tmp_path / "a.db", create=True, language="english") as index:
        for step in range(6):
            gone = rng.sample(sorted(held), min(len(held), 2))
            if gone:
                index.delete(gone)
            new = {f"d{rng.randrange(12)}": " ".join(rng.choices(FORMS, k=4)) for _ in range(5 - 3 * (step > 0))}
            held = {name: text for name, text in held.items() if name not in gone} | new
            index.update(new.items())
            index.refresh("now")
            with setsearch.open(tmp_path / f"{step}.db", create=True, language="english") as fresh:
                fresh.add(held.items())
                fresh.refresh("now")
            assert titles_of(tmp_path / "a.db") == titles_of(tmp_path / f"{step}.db"), step


def titles_of(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("select name, title from setsearch_name where title is not null and kind = 2").fetchall()
    connection.close()
    assert {title for _, title in rows} <= {*FORMS}
    assert len(rows) > 2
    return dict(rows)
