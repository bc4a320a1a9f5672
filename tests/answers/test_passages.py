"""Snippets: the passage that speaks for the set, on one line, with its words marked."""

import json
import re
from itertools import accumulate

import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from laws import examples

import setsearch
from setsearch.answers.passages import WIDTH, Piece, best_passage, marked_places
from setsearch.text.analyzer import Analyzer

FILLER = "nothing of interest happens here and there "
LONG = FILLER * 9 + "the lion\n\n hunts with the Tiger at night " + FILLER * 9 + " lion " + FILLER * 9

words = st.lists(
    st.tuples(st.sampled_from(["lion", "tiger", "of", "a", "x" * 30]), st.sampled_from([0.0, 1.0, 2.5])), max_size=90
)


def test_the_passage_with_the_words_of_the_set_is_shown(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([("seed", "lion tiger"), ("long", LONG), *((f"d{n}", FILLER) for n in range(200))])
        (hit,) = index.items("documents").expand(["seed"], 1, snippets=True)
        assert hit.item == "long"
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["lion", "Tiger"]
        assert "lion hunts with the Tiger at night" in hit.snippet.text
        assert hit.snippet.text.startswith("… ")
        assert hit.snippet.text.endswith(" …")
        assert len(hit.snippet.text) < WIDTH + 60
        assert hit.features == ()
        assert index.items("documents").expand(["seed"], 1, explain=True)[0].snippet is None
        assert index.items("terms").expand(["lion"], 1, by="documents", snippets=True)[0].snippet is None


def test_words_in_context_have_no_passages(tmp_path):
    """Their numbers are not those of documents."""
    with setsearch.open(tmp_path / "w.db", create=True, contexts="on") as index:
        index.add((f"d{n}", "the lion sleeps, the tiger sleeps, the wolf sleeps") for n in range(9))
        hits = index.items("terms").expand(["lion"], 2, by="both", snippets=True)
        assert len(hits) == 2 and {hit.snippet for hit in hits} == {None}


def test_pairs_of_characters_are_marked_as_one(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([("a", "北京天安门"), ("b", "我爱北京天安门很好"), *((f"d{n}", "上海很好") for n in range(9))])
        (hit,) = index.items("documents").expand(["a"], 1, snippets=True)
        assert "".join(hit.snippet.text[start:end] for start, end in hit.snippet.marks) == "北京天安门"


def test_the_command_line_shows_snippets(tmp_path, run):
    rows = [{"id": "seed", "text": "lion tiger"}, {"id": "b", "text": LONG}]
    rows += [{"id": n, "text": FILLER} for n in range(200)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "d.jsonl", "--contexts")[0] == 0
    code, out, err = run("expand", "a.db", "seed", "--items", "documents", "--snippets", "--table", "-k", "1")
    assert (code, err) == (0, "")
    assert "the lion hunts with the Tiger at night" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    (row,) = json.loads(run("expand", "a.db", "seed", "--items", "documents", "--snippets", "-k", "1")[1])
    assert [row["snippet"][start:end] for start, end in row["marks"]] == ["lion", "Tiger"]
    options = ("--items", "documents", "--snippets", "--explain", "--table", "-k", "1")
    both = run("expand", "a.db", "seed", *options)[1]
    assert both.startswith(out) and {"lion", "tiger"} <= {*both.removeprefix(out).split()}


WEIGHTS = {"lion": 1.0, "on": 0.5, "lion's": 1.5, "path": 2.0, "北京": 4.0, "c++": 3.0, "été": 1.0, "k": 2.0, "": 9.0}
WEIGHTS |= {"a": 1.0, "a1": 0.25, "aa": 0.0, "1": 2.0, "ﬁ": 3.0}
WEIGHTS |= {"e-mail": 5.0, "lion cub": 6.0, "a_b": 7.0, "3.14": 8.0, "14": 1.0, "net": 2.0, ".net": 3.0, "_": 4.0}
BLANKS = [" ", "\n", "\t ", "\r\n", "\xa0", "\x1c"]
pieces = (
    "lion. lion, lion,3 'lion xlion lion_ lion-lion, «lion» (e-mail) mail e-mail a_b x_a_b 3.14 3,14. "
    ".net net. a.net _ -_- lion#lion +lion k# lion++ lion&lt;k&gt; lion\u200dk "
    "lion Lions LION, lions' on.Path os.path -on- 北京天 c++ C++; été ÉTÉ (lion) don't \u212a K İon \xadlion ﬁ".split()
)


@pytest.mark.parametrize(
    "analyzer",
    [
        Analyzer(),
        Analyzer.from_spec("words"),
        Analyzer("english"),
        Analyzer("english", stop_words=True),
        Analyzer(function=str.split),
        None,
    ],
)
@example(text=" ".join(pieces), weights=WEIGHTS)
@examples(500)
@given(
    text=st.one_of(
        st.lists(st.tuples(st.sampled_from(pieces), st.sampled_from(BLANKS)).map("".join), max_size=12).map("".join),
        st.text(alphabet="aAkK14ﬁ_.,'+#-&\"(é\u0301\u0130\u212a\u200d北 \n\u3000", max_size=9),
    ),
    weights=st.sets(st.sampled_from([*WEIGHTS])).map(lambda own: {term: WEIGHTS[term] for term in own}),
)
def test_marked_places_are_those_of_all_pieces_between_blanks(analyzer, text, weights):
    """Also where only parts are looked at that may have such words."""
    words = Analyzer().words if analyzer is None else analyzer.words
    expected, end = [], 0
    for piece in re.finditer(r"\S+", text):
        for start, stop, word in words.spans(piece[0]):
            terms = {word} if analyzer is None else {*analyzer.terms(word)}
            weight = sum(weights.get(term, 0.0) for term in terms)
            if weight and piece.start() + stop > end:
                expected.append((max(piece.start() + start, end), end := piece.start() + stop, weight))
    assert [*marked_places(text, analyzer, weights)] == expected


def test_only_pieces_that_may_have_a_word_are_cut_into_words():
    analyzer = Analyzer()
    text = "the lion, a sea-Lion\u3000and pandeli\xf3n or lions, sealion, lion's (lion's)"
    marked = marked_places(text, analyzer, {"lion": 1.0})
    assert [(start, end) for start, end, _ in marked] == [(4, 8), (16, 20)]
    assert {*analyzer.places} == {"pandeli\xf3n", "lion's", "(lion's)"}


@given(words)
def test_no_other_passage_weighs_more(words):
    weight_of = {}
    for word, weight in words:
        if word != "of":
            weight_of[word] = weight
    pieces = [piece for word, _ in words for piece in (Piece(word, weight_of.get(word, 0.0)), Piece(" "))]
    text = "".join(piece.text for piece in pieces)
    ends = [*accumulate(len(piece.text) for piece in pieces)]
    places = [(end - len(piece.text), end, piece.weight) for piece, end in zip(pieces, ends, strict=True)]
    snippet = best_passage(text, [place for place in places if place[2]])
    shown = {snippet.text[start:end] for start, end in snippet.marks}
    assert all(weight_of[word] > 0 for word in shown)
    best = 0.0
    for start in range(len(text)):
        inside = text[start : start + WIDTH]
        place, found = 0, set()
        for piece in pieces:
            if start <= place and place + len(piece.text) <= start + len(inside):
                found.add(piece.text)
            place += len(piece.text)
        best = max(best, sum(weight_of.get(word, 0.0) for word in found))
    assert abs(sum(weight_of[word] for word in shown) - best) < 1e-9 or sum(weight_of[w] for w in shown) > best
