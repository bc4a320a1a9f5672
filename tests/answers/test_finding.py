"""Items are found by what is known of their names."""

import ast
import re
import sqlite3
import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

import setsearch
from setsearch import errors
from setsearch.errors import shown
from setsearch.storage import name_search
from setsearch.storage.ids import is_storable
from setsearch.text.matching import as_typed, is_one_edit


def test_names_are_completed(database):
    with setsearch.open(database) as index:
        documents, terms = index.items("documents"), index.items("terms")
        assert [row.item for row in documents.find_names("l", 2)] == ["d0", "d2"], "by title, those with most first"
        assert [row.item for row in documents.find_names("BARLEY")] == ["d4"]
        assert [row.item for row in documents.find_names("yor")] == ["d5"], "a later word"
        assert documents.find_names("yor")[0].total == 2
        assert terms.find_names("the")[0].total == 4
        assert terms.find_names("q") == []
        assert terms.find_names("\0") == []
        assert len(terms.find_names("", 5)) == 5
        assert terms.find_names("loin")[0].item == "lion"
        index.add_numbers([("ann", [1.0]), ("bob", [2.0])], ["height"], "body")
        assert [row.item for row in index.numbers("body").find_names("A")] == ["ann"]


def test_a_stem_and_its_word_are_found_once_and_phrases_with_their_uses(tmp_path):
    texts = ["the hash join reads joins", "a hash join writes, and", "to join the ship", "a ship of logs joins us"]
    with setsearch.open(tmp_path / "x.db", create=True, language="english", contexts="on") as index:
        index.add((f"d{n}", texts[n % 4]) for n in range(80))
        index.refresh("now")
        found = index.items("terms").find_names("join", 50)
        assert len({row.item for row in found}) == len(found)
        assert {row.item: row.total for row in found}.items() >= {"join": 100, "joins us": 20}.items()


@pytest.mark.parametrize("text", [" ".join(f"w{n}" for n in range(1500)), "x" * 60_000])
def test_very_long_names_are_only_unknown(database, text):
    with setsearch.open(database) as index:
        documents = index.items("documents")
        assert documents.find_names(text) == []
        with pytest.raises(errors.UnknownItem):
            documents.find(text)


def test_completion_equals_a_look_at_every_name(build):
    names = ["lion", "Lion", "lioness", "a lion", "LIONS", "li", "l%on", "l_on", "ließ", "z"]
    index = build({name: {"x": n + 1} for n, name in enumerate(names)})
    reading = index.items("film")
    totals = {name: n + 1 for n, name in enumerate(names)}
    for prefix in ("l", "li", "lion", "L", "z", "l%"):
        expected = [name for name in names if name.lower().startswith(prefix.lower())]
        expected.sort(key=lambda name: (name.lower() != prefix.lower(), -totals[name], name))
        assert [row.item for row in reading.find_names(prefix, len(expected))] == expected


TITLES = ["Toy Story (1995)", "Toy Story 2 (1999)", "Story of Us, The (1999)", "Café Society (2016)", "МОСКВА", "Alien"]


def titles_found(index, text, k=10):
    return [found.title for found in index.items("film").find_names(text, k)]


@pytest.fixture
def films(tmp_path):
    with setsearch.open(tmp_path / "f.db", create=True) as index:
        index.add([(f"f{n}", {"ann": n + 1}, title) for n, title in enumerate(TITLES)], ("film", "user"))
        yield index


def test_titles_are_found_as_people_remember_them(films):
    assert titles_found(films, "Toy Story") == ["Toy Story 2 (1999)", "Toy Story (1995)"], "the one with more first"
    assert titles_found(films, "toy stroy") == ["Toy Story 2 (1999)", "Toy Story (1995)"]
    assert titles_found(films, "us story") == ["Story of Us, The (1999)"], "its words"
    assert titles_found(films, "ociet") == ["Café Society (2016)"], "inside"
    assert titles_found(films, "CAFÉ") == ["Café Society (2016)"]
    assert titles_found(films, "москва") == ["МОСКВА"]
    assert titles_found(films, "1999") == ["Story of Us, The (1999)", "Toy Story 2 (1999)"]
    assert titles_found(films, "Allien") == ["Alien"]
    assert titles_found(films, "f5") == ["Alien"]
    assert titles_found(films, "100%") == titles_found(films, "zzzzz") == titles_found(films, "_") == []
    with pytest.raises(errors.InvalidParameter):
        titles_found(films, "x", 0)


def test_titles_have_their_article_first_or_last(films):
    for typed in ("Story of Us, The", "The Story of Us", "the story of us", "The Story of Us (1999)"):
        assert films.items("film").find(typed) == "f2"
    films.update(
        [("f9", {"ann": 1}, "The Alien"), ("f10", {"ann": 1}, "Das Boot (Boat, The) (1981)")], ("film", "user")
    )
    assert films.items("film").find("Alien, The") == "f9" and films.items("film").find("alien") == "f5"
    assert films.items("film").find("boot, das") == "f10"
    for unknown in ("The", "The ", ", The", "Us, Story"):
        with pytest.raises(errors.UnknownItem):
            films.items("film").find(unknown)


@pytest.mark.parametrize(
    ("typed", "meant"), [("Toy Storys", "Toy Story (1995)"), ("allien", "Alien"), ("ociety", "Café"), ("F5s", "'f5'")]
)
def test_an_unknown_name_offers_titles(films, typed, meant):
    with pytest.raises(errors.UnknownItem, match=f"did you mean .*{re.escape(meant)}"):
        films.items("film").expand([typed])


def test_what_is_one_edit_away_is_offered_before_what_is_longer(tmp_path):
    with setsearch.open(tmp_path / "names.db", create=True) as index:
        index.add([("schematic diagram", "a b c d e"), ("schemata of rows", "a b c d"), ("scheme", "a b")])
        documents = index.items("documents")
        with pytest.raises(errors.UnknownItem, match="did you mean 'scheme' or 'schematic diagram'"):
            documents.expand(["schem"])
        for empty in ("", " "):
            with pytest.raises(errors.UnknownItem, match="`setsearch info`"):
                documents.expand([empty])


def test_among_many_names_no_trigrams_are_counted(monkeypatch):
    connection, statements = sqlite3.connect(":memory:"), []
    index = setsearch.open(connection)
    index.add([("photograph", "a"), ("fauna", "b"), ("The Godfather", "c"), ("tetrahedron", "d")])
    documents = index.items("documents")
    assert [row.item for row in documents.find_names("fotogaph")] == ["photograph"], "by trigrams"
    monkeypatch.setattr(name_search, "MOST_COUNTED", 3)
    connection.set_trace_callback(statements.append)
    assert [row.item for row in documents.find_names("the gudfahter")] == ["The Godfather"], "by two letters"
    assert documents.find_names("fotogaph") == []
    near = [statement for statement in statements if "length(name)" in statement and " like " not in statement]
    assert near
    for statement in near:
        assert "kind=? AND name>? AND name<?" in connection.execute(f"explain query plan {statement}").fetchone()[3]


@pytest.mark.parametrize("most", [1, 3, 5, 100])
def test_names_of_about_the_length_begin_alike_first_then_in_the_order_of_ids(monkeypatch, most):
    monkeypatch.setattr(name_search, "MOST_CANDIDATES", most)
    index = setsearch.open(sqlite3.connect(":memory:"))
    titles = ["plum", "quince", None, "", "peach tree of China", "pear"]
    index.add((f"{'pqr'[n % 3]}{n}" * (n % 4 + 1), "fruit", titles[n % 6]) for n in range(40))
    with index.items("documents").fields() as fields:
        items = fields.items
        rows = [(id, *items.stored([id])[id]) for id in [*items.ids()]]
        for text in ("pq", "pqxyz", "ruvwxyz", "quvwxyzabc"):
            expected = set()
            for column in (1, 2):
                own = [row for row in rows if row[column] is not None]
                own = [row for row in own if len(text) * 2 // 3 <= len(row[column]) <= len(text) * 3 // 2 + 1]
                own.sort(key=lambda row: (row[column][:1] != text[0], row[0]))
                expected |= {*own[:most]}
            assert {(id, *both) for id, both in items.alike(text, []).items()} == expected


def test_a_title_is_looked_up_and_not_searched_for():
    connection, statements = sqlite3.connect(":memory:"), []
    index = setsearch.open(connection)
    index.add((f"d{n}", "lion", f"Title {n}") for n in range(9))
    documents = index.items("documents")
    connection.set_trace_callback(statements.append)
    assert documents.find("Title 7") == "d7"
    connection.set_trace_callback(None)
    (own,) = (statement for statement in statements if " title = " in statement)
    assert "kind=? AND title=?" in connection.execute(f"explain query plan {own}").fetchone()[3]


@pytest.mark.parametrize("others", [0, 3000])  # that begin as it was typed
def test_who_types_no_accents_finds_names_with_some(build, others):
    names = ["été", "et", "élevée", "œuvre", "Généralité des élèves", "eleve", "Ürümqi"]
    documents = build({name: {"x": 1} for name in [*names, *(f"e{n}" for n in range(others))]}).items("film")
    typed = {"elevee": "élevée", "ELEVEE": "élevée", "urumqi": "Ürümqi", "generalite des eleves": names[4]}
    for own, name in {**typed, **({} if others else {"ete": "été"})}.items():
        assert documents.find_names(own)[0].item == name
        with pytest.raises(errors.UnknownItem, match=f"did you mean '{name}'"):
            documents.find(own)
    assert documents.find_names("eleve")[0].item == "eleve"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("елка", "ёлка"),
        ("αρχειο", "αρχείο"),
        ("كليد", "کلید"),
        ("إسم", "اسم"),
        ("مدرسه", "مدرسة"),
        ("سي", "سی"),
        ("mexico", "México"),
        ("한국어", "한국어"),
    ],
)
@pytest.mark.parametrize("others", [0, 3000])
def test_letters_that_people_exchange_are_offered(build, typed, meant, others):
    items = build({name: {"x": 1} for name in [meant, *(f"{meant[:1]}{n}" for n in range(others))]}).items("film")
    assert items.find_names(typed)[0].item == meant
    if typed != meant:
        with pytest.raises(errors.UnknownItem, match=f"did you mean '{meant}'"):
            items.find(typed)


@given(st.text("a\\'\"u200cd\u200c\u200d\u202e\n\u3000é", max_size=20))
def test_messages_show_names_that_can_be_copied_with_their_joiners(text):
    assert ast.literal_eval(shown(text)) == text
    assert all(shown(text).count(own) == text.count(own) for own in "\u200c\u200d")
    assert not {*"\u202e\n\u3000"}.intersection(shown(text))


def test_a_name_is_one_in_any_case_and_without_its_parenthesis(films):
    reading = films.items("film")
    for typed, id in (("toy story", "f0"), ("TOY STORY 2 (1999)", "f1"), ("alien", "f5"), ("café society", "f3")):
        assert reading.find(typed) == id
        assert reading.expand([typed], 2) == reading.expand([id], 2)
    films.update([("f9", {"ann": 1}, "Alien (1979)"), ("f8", {"ann": 1}, "Hamlet (1990)"), ("f7", {}, "Hamlet (1996)")])
    assert reading.find("ALIEN") == "f5", "the whole title comes first"
    with pytest.raises(errors.AmbiguousItem, match="'f7', 'f8'"):
        reading.find("hamlet")
    chosen = films.set("mine", "film")
    chosen.accept("toy story", "москва")
    assert chosen.accepted == ["f0", "f4"]


def test_a_year_that_titles_lack_hides_none(build):
    reading = build({name: {"x": 1} for name in ["Heat", "The Italian Job", "Heat and Dust"]}).items("film")
    for typed, name in (("Heat (1995)", "Heat"), ("Italian Job, The (1969)", "The Italian Job")):
        assert reading.find_names(typed, 1)[0].item == name
        with pytest.raises(errors.UnknownItem, match=f"no '{re.escape(typed)}' among .*did you mean '{name}'"):
            reading.find(typed)
    for typed in ("Zulu (1964)", "(1964)", "Heat 1995", "Heat (1995) cut"):
        assert [one.item for one in reading.find_names(typed)] == []


@given(st.text("aéがёÅ가ﷺ", min_size=1, max_size=4), st.sampled_from(["NFC", "NFD"]), st.sampled_from(["NFC", "NFD"]))
def test_a_name_is_one_whether_its_letters_and_marks_are_one_or_apart(name, stored, typed):
    own, given = (unicodedata.normalize(form, name) + ".md" for form in (stored, typed))
    with setsearch.open(sqlite3.connect(":memory:"), create=True) as index:
        index.add([(own, "some words", f"{own} as a title"), ("other", "more words")])
        index.add_vectors([own, "other"], [[1, 0], [0, 1]], items="documents")
        documents = index.items("documents")
        assert documents.find(given) == documents.find(f"{given} AS A TITLE") == own
        assert documents.expand([given], 1) == documents.expand([own], 1)
        index.delete([given, own])
        assert index.info()["vectors"]["documents"]["count"] == 1


def test_of_names_that_differ_in_form_alone_each_is_itself(tmp_path):
    forms = ["caf\u00e9", "cafe\u0301"]
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add((name, "some words") for name in forms)
        documents = index.items("documents")
        assert [documents.find(name) for name in forms] == forms
        index.delete(forms[:1])
        assert documents.find(forms[0]) == forms[1]


def test_of_names_that_differ_in_form_the_one_that_is_found_is_deleted():
    composed, apart, typed = "\u1ec7", "e\u0323\u0302", "\u00ea\u0323"
    with setsearch.open(sqlite3.connect(":memory:"), create=True) as index:
        index.add((name, "some words") for name in (apart, composed))
        documents = index.items("documents")
        assert documents.find(typed) == composed
        index.delete([typed])
        assert documents.find(typed) == apart


@given(st.text("abAB%_ é(É)", max_size=5), st.lists(st.text("abAB%_ é(É)", min_size=1), max_size=9))
def test_who_is_called_so_is_found_as_by_a_look_at_every_name(text, names):
    held = [name for name in dict.fromkeys(names) if is_storable(name)]
    connection = sqlite3.connect(":memory:")
    with setsearch.open(connection) as index:
        index.add([(name, {"x": 1}) for name in ["zzz", *held]], ("film", "user"))
        with index.items("film").stored() as fields:
            found = [name for _, name in fields.items.called(text)]
    connection.close()
    whole = [name for name in held if name.casefold() == text.casefold()]
    before = [name for name in held if name.endswith(")") and name.partition(" (")[0].casefold() == text.casefold()]
    before = [name for name in before if " (" in name]
    assert found == (sorted(whole or before)[:5] if is_storable(text) else [])


@given(
    st.text(st.sampled_from("abAB%_\\ é"), min_size=1, max_size=4),
    st.lists(st.text("abAB%_\\ é", min_size=1), max_size=9),
)
def test_what_contains_a_text_is_found(text, names):
    """Whatever stands in SQLite's patterns."""
    held = [name for name in dict.fromkeys(names) if is_storable(name)]
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add([(name, {"x": 1}) for name in [*held, "zzz"]], ("film", "user"))
        found = [one.item for one in index.items("film").find_names(text, 99)]
    assert {name for name in held if text.strip() and text.lower() in name.lower()} <= set(found)


LETTERS = "abAé%_"


def edits(text):
    """All texts that one edit makes of a text, by the definition."""
    cuts = [(text[:n], text[n:]) for n in range(len(text) + 1)]
    yield from (before + after[1:] for before, after in cuts if after)
    yield from (before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1)
    for letter in LETTERS.lower() + "e":
        yield from (before + letter + after for before, after in cuts)
        yield from (before + letter + after[1:] for before, after in cuts if after)


@pytest.mark.long
@given(
    st.text(LETTERS, min_size=3, max_size=6), st.lists(st.text(LETTERS, min_size=1, max_size=7), max_size=9), st.data()
)
def test_names_one_edit_away_are_found_as_by_all_edits(text, names, data):
    held = list(dict.fromkeys([*names, data.draw(st.sampled_from([*edits(text)]))]))
    held = [name for name in held if name]
    swaps = {text[:n] + text[n : n + 2][::-1] + text[n + 2 :] for n in range(len(text) - 1)}
    near = {own.lower() for own in (text, *(edits(text) if len(text) > 3 else swaps))}
    away = {name for name in held if name.lower() in near}
    assert {name for name in held if is_one_edit(text.lower(), name.lower())} == {
        name for name in away if name.lower() != text.lower()
    }
    without_accents = {name for name in held if text.isascii() and name.lower().replace("é", "e") in near}
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add([(f"{n} of these", {"x": 1}, name) for n, name in enumerate(held)], ("film", "user"))
        index.add([(name, {"x": 1}) for name in held], ("book", "reader"))
        for kind in ("film", "book"):
            with index.items(kind).stored() as fields:
                vocabulary = fields.items
                described = vocabulary.describe(vocabulary.one_edit_away(text))
                found = {title or name for name, title in described.values()}
                assert away <= found <= away | without_accents


def test_an_error_in_a_frequent_word_is_offered_before_what_contains_it(tmp_path):
    texts = ["italy " * 9, "fitly", "explicitly implicitly tacitly", "spain", "itl italy", "idly ably"]
    filler = "the kings of italy and the towns of spain"
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([(str(n), text) for n, text in enumerate([*texts, *[filler] * 9])])
        terms = index.items("terms")
        assert [row.item for row in terms.find_names("itly", 4)] == ["italy", "fitly", "idly", "itl"]
        assert terms.find_names("spian")[0].item == terms.find_names("Spsin")[0].item == "spain"
        assert terms.find_names("citly")[0].item == "fitly", "before what contains it"
        for by in ("documents", "contexts", None):
            with pytest.raises(errors.UnknownItem, match="did you mean 'italy'"):
                terms.expand(["itly"], by=by)


def test_two_letters_that_were_swapped_are_found_in_a_short_word(build):
    words = build({name: {"x": 1} for name in ("border", "garden", "rd", "rdf", "red", "reds")}).items("film")
    assert [row.item for row in words.find_names("rde", 2)] == ["red", "border"]
    with pytest.raises(errors.UnknownItem, match="did you mean 'red' or"):
        words.find("rde")


def test_a_letter_too_many_is_offered_without_before_what_begins_so(build):
    words = build({name: {"x": 1} for name in ("red", "reddening", "reddish", "reddle")}).items("film")
    with pytest.raises(errors.UnknownItem, match="did you mean 'red' or 'reddening' or"):
        words.find("redd")


AUTHORS = ["J. R. R. Tolkien", "Ursula K. Le Guin", "Gabriel García Márquez", "Horror Story 3", "Horror Story 4"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("tolken", AUTHORS[0]), ("j.r.r. tolkien", AUTHORS[0]), ("r tolkein", AUTHORS[0]), ("le gwin", AUTHORS[1])),
        *(("marques", AUTHORS[2]), ("garcia marques", AUTHORS[2]), ("horor 3", AUTHORS[3]), ("4 sotry", AUTHORS[4])),
    ],
)
def test_a_small_error_within_one_word_of_a_longer_name_is_forgiven(build, typed, meant):
    others = [f"author {n}" for n in range(9)]
    authors = build({name: {"x": 1} for name in [*AUTHORS, *others]}).items("film")
    assert [row.item for row in authors.find_names(typed)] == [meant]
    with pytest.raises(errors.UnknownItem, match=f"did you mean {re.escape(repr(meant))}"):
        authors.find(typed)
    for nonsense in ("tolcen", "gwins", "qqqqq", "sotry tolken"):
        assert authors.find_names(nonsense) == []


@given(
    st.text("abAB", min_size=4, max_size=5),
    st.lists(st.text("abAé_. \n", min_size=1, max_size=12), max_size=9),
    st.integers(1, 3),
)
def test_names_with_words_near_a_word_are_found_as_by_a_look_at_each(word, held, page):
    held = [name for name in dict.fromkeys(held) if name.strip()]

    def is_near(name):
        typed = as_typed(word, name)
        words = re.findall(r"[^\W_]+", typed)
        return word.lower() in typed or any(is_one_edit(word.lower(), own) for own in words)

    with setsearch.open(sqlite3.connect(":memory:")) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_search, "NAMES_OF_PAGE", page)
        index.add([(f"{n}", {"x": 1}, name) for n, name in enumerate(held)] + [("zzz", {"x": 1})], ("film", "user"))
        index.add([(name, {"x": 1}) for name in ["zzz", *held]], ("book", "reader"))
        for kind in ("film", "book"):
            with index.items(kind).stored() as fields:
                described = fields.items.describe(fields.items.with_near_words(word, fields.items._pages(word)))
            assert {title or name for name, title in described.values()} == {name for name in held if is_near(name)}


def test_each_name_is_found_as_by_itself_or_has_its_error(tmp_path):
    with setsearch.open(tmp_path / "e.db", create=True) as index:
        index.add([("1", "lion", "Alien"), ("2", "tiger", "Alien"), ("3", "cat", "Brazil (1985)"), ("Brazil", "dog")])
        index.add_numbers([("a", [1.0], "First"), ("b", [2.0], "First")], ["size"], "things")
        names = ["3", "nobody", "Alien", "Brazil (1985)", "Brazil", "1", "a", "First", "b"]
        for reading in (index.items("documents"), index.items("terms"), index.numbers("things")):
            found = reading.find_each(names)
            assert [*found] and {*found} == {*names}
            for name, own in found.items():
                if isinstance(own, str):
                    assert reading.find(name) == own
                else:
                    with pytest.raises(type(own)) as error:
                        reading.find(name, hint=False)
                    assert str(error.value) == str(own)
