"""Lists as people paste them: a column of a spreadsheet, a row of it, names with commas, in quotes or not."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.storage.names import Vocabulary

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

from setsearch.web.page_state import Address
from setsearch.web.typed_names import find_typed, typed_list

FILMS = [
    "Terminator, The (1984)",
    "Alien (1979)",
    "Good, the Bad and the Ugly, The",
    'The "Burbs',
    "Heat; or, Snow",
    "M",
]


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    with setsearch.open(tmp_path_factory.mktemp("films") / "films.db", create=True) as index:
        index.add([(f"{n}", f"a film of the year {n}", title) for n, title in enumerate(FILMS)])
        yield index.reading("documents")


def found(reading, typed):
    address, unknown = find_typed(reading, Address(reading.name, (typed,)))
    return [*address.seeds], [own["name"] for own in unknown]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_line_is_a_name_whatever_it_has(films, ending):
    assert found(films, ending.join(FILMS)) == ([*"012345"], [])


@examples(100)
@given(chosen=st.lists(st.integers(0, len(FILMS) - 1), min_size=2, unique=True), separator=st.sampled_from("\t;,"))
def test_cells_in_quotes_are_names(films, chosen, separator):
    row = io.StringIO()
    csv.writer(row, delimiter=separator).writerow([FILMS[n] for n in chosen])
    assert found(films, row.getvalue()) == ([str(n) for n in chosen], [])


@examples(100)
@given(chosen=st.lists(st.sampled_from([0, 1, 2, 5]), min_size=2, unique=True))
def test_titles_have_commas_in_a_list_without_quotes(films, chosen):
    assert found(films, ", ".join(FILMS[n] for n in chosen)) == ([str(n) for n in chosen], [])


def test_what_is_unknown_in_a_list_is_told_by_its_own_name(films):
    assert found(films, "Alien (1979)\nAlein; 2\nM") == (["1", "2", "5"], ["Alein"])


@examples(100)
@given(typed=st.text(st.sampled_from('ab ,;\t\r\n"')))
def test_no_letter_of_what_is_typed_is_lost(films, typed):
    letters = str.maketrans("", "", ' ,;\t\r\n"')
    assert "".join(typed_list(films, typed)).translate(letters) == typed.translate(letters)


def test_words_with_commas_are_no_phrase(tmp_path):
    with setsearch.open(tmp_path / "words.db", create=True, contexts="on") as index:
        index.add([(f"{n}", "the reddish brown fox and the grey fox; a reddish bear, a brown bear") for n in range(9)])
        words = index.reading("terms")
        assert found(words, "reddish, brown") == (["reddish", "brown"], [])
        assert found(words, "grey\nreddish\nbrown") == (["grey", "reddish", "brown"], [])


def test_separators_alone_are_told(films):
    for typed in (",", ";;", '""', '"'):
        assert found(films, typed) == ([], [typed])
    assert found(films, 'M,, "",') == (["5"], [])


def test_a_page_has_at_most_two_hundred_names_however_they_come(tmp_path):
    names = [f"w{n}" for n in range(201)]
    with setsearch.open(tmp_path / "many.db", create=True, contexts="off") as index:
        index.add([(name, name) for name in names])
        assert len(found(index.reading("documents"), ",".join(names[:200]))[0]) == 200
        for kind, typed in (
            ("documents", [",".join(names)]),
            ("documents", ["\n".join(names)]),
            ("terms", [names[0], ",".join(names[1:])]),
        ):
            with pytest.raises(errors.UsageError, match="at most 200 names fit on a page, not 201; the API takes"):
                find_typed(index.reading(kind), Address(kind, tuple(typed)))


def test_many_unknown_names_are_told_in_one_line(asked):
    html = asked.ask("/", items="documents", seed="lion\n" + "\n".join(f"xq{n}" for n in range(40)))[2]
    assert html.count('class="problem"') == 4
    assert "and 37 more: xq3, xq4" in html


def test_an_unknown_name_is_looked_for_once(films, monkeypatch):
    """Each look costs some .4 ms, and a page has up to two hundred names."""
    looks, resolve = [], Vocabulary.resolve
    monkeypatch.setattr(Vocabulary, "resolve", lambda own, name, *how: looks.append(name) or resolve(own, name, *how))
    names = [f"xq{n}" for n in range(9)]
    _, unknown = find_typed(films, Address(films.name, tuple(names)))
    assert [own["name"] for own in unknown] == looks == names


def test_a_mistyped_name_stays_in_the_field(asked):
    def field(**query):
        return asked.ask("/", items="documents", **query)[2].partition('id="seed"')[2].partition(">")[0]

    assert 'value="tigr"' in field(seed=["lion", "tigr"])
    assert 'value=""' in field(seed=["lion", "tigr", "whea"])
    assert 'value=""' in field(seed=["lion"], reject="tigr")
    assert 'value=""' in field(seed=["lion", "tiger"])
