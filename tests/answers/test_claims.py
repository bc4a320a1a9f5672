"""The saved sets of an item or a text: `Index.sets_of` says what `expand` of each set says."""

import json
import math
import random
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from test_inbox import TOPICS, fill, text, texts

import setsearch
from setsearch import errors
from setsearch.answers.results import BY_DOCUMENTS, CONTEXTS_HELP
from setsearch.answers.saved import set_index


def make(place=":memory:", **options):
    return setsearch.open(sqlite3.connect(place), contexts="off", **options)


def truth(index, name, item):
    """(score, belongs) by the question of one set; None for what it does not rank."""
    own = index.set(name)
    reading = index.items(own.items)
    hits = reading.expand(
        own.accepted, reading.item_count(), exclude=own.rejected, cut="mark", keep_seeds=True, explain=True
    )
    return next(((hit.score, hit.belongs, hit) for hit in hits if hit.item == item), None)


def compare(index, item, items="documents"):
    """Compare the claims of all sets with their questions; returns the claims by set."""
    found = {claim.set: claim for claim in index.sets_of(item, items=items, k=None)}
    for name in [name for name, kind in index.sets().items() if kind == items]:
        own = index.set(name)
        if item in own.rejected:
            assert (found[name].said, found[name].belongs) == ("rejected", False)
            continue
        score, belongs, hit = truth(index, name, item)
        assert found[name].score == score
        if item in own.accepted:
            assert (found[name].said, found[name].belongs) == ("accepted", True)
        else:
            assert (found[name].said, found[name].belongs) == (None, belongs)
        reasons = [reason.label for reason in hit.reasons if reason.weight > 0]
        assert found[name].reason == next(iter(reasons), "")
    return found


@pytest.fixture(scope="module")
def index():
    with make() as made:
        fill(made)
        made.keep_set("one", ["music0"], items="documents")
        made.keep_set("mixed", ["music1", "sea1", "cats4"], items="documents")
        made.keep_set("words", ["lion", "tiger"], items="terms")
        yield made


@pytest.mark.parametrize("item", ["cats0", "cats5", "sea0", "sea3", "grain7", "music9"])
def test_scores_and_lines_are_those_of_the_question_of_each_set(index, item):
    found = compare(index, item)
    assert {claim.belongs for claim in found.values()} >= {True, False}
    for claim in found.values():
        if claim.said is None and claim.belongs is not None:
            assert claim.belongs == (claim.score > claim.line)


def test_a_text_scores_as_a_document_with_its_words(index):
    for item in ("cats5", "grain5", "sea5"):
        topic, number = item[:-1], int(item[-1])
        of_text, of_item = (
            index.sets_of(text=text(topic, number), k=None),
            index.sets_of(item, items="documents", k=None),
        )
        assert [claim[1:6] for claim in of_text] == [claim[1:6] for claim in of_item]
    new = " ".join(TOPICS["cats"][:7]) + " unheard"
    first = index.sets_of(text=new, k=1)[0]
    assert (first.set, first.belongs, first.rank) == ("cats", True, 1)


def test_words_are_asked_by_what_describes_them(index):
    for word in ("leopard", "wheat"):
        compare(index, word, "terms")


def test_why_a_set_cannot_tell_is_noted():
    """Words without contexts; what is told of a member needs no note."""
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        fill(index).keep_set("words", ["lion", "tiger"], items="terms")
        found = index.sets_of("wheat", items="terms")
        assert (found[0].belongs, found.notes) == (None, [f"words: {BY_DOCUMENTS}{CONTEXTS_HELP}"])
        assert index.sets_of("lion", items="terms").notes == index.sets_of("cats5", items="documents").notes == []


def test_the_order_is_by_how_far_above_the_line_a_set_has_the_item(index):
    found = index.sets_of("cats5", items="documents", k=None)
    assert [claim.rank for claim in found] == [1, 2, 3, 4]
    told = [claim.belongs for claim in found]
    assert found[0].set == "cats" and told == [True] * told.count(True) + told[told.count(True) :] != [True] * 4
    above = [(claim.belongs is True, claim.score - claim.line) for claim in found]
    assert above == sorted(above, reverse=True)
    assert index.sets_of("cats5", 2, items="documents") == found[:2]


def test_a_set_that_has_rejected_items_is_in_the_same_order():
    """Its scores are of another size; how far they are above the line counts in units of the best scores of the set."""
    with make() as index:
        fill(index)
        index.keep_set("careful", ["cats0", "cats1", "cats2"], ["sea1", "grain2", "music3"], items="documents")
        index.keep_set("plain", ["sea0", "sea2", "sea3"], items="documents")
        found = index.sets_of(text=" ".join(TOPICS["cats"][:3] + TOPICS["sea"][:4]), items="documents", k=2)
        n, above, units = index.items("documents").item_count(), {}, {}
        for claim in found:
            own = index.set(claim.set)
            scores = [hit.score for hit in index.items("documents").expand(own.accepted, n, exclude=own.rejected)]
            units[claim.set] = sum(scores[:5]) / 5 - scores[min(3 * math.isqrt(n), n // 2) - 1]
            above[claim.set] = claim.score - claim.line
        assert [(claim.set, claim.belongs) for claim in found] == [("plain", True), ("careful", True)]
        assert above["plain"] / units["plain"] > above["careful"] / units["careful"]
        assert above["plain"] < above["careful"], "by nats it would come last"


def test_what_changes_is_weighed_again(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        fill(index)
        counted = []
        weigh = set_index.note_weighed

        def count(made, name, *where):
            """Note which sets are weighed."""
            counted.append(name)
            return weigh(made, name, *where)

        set_index.note_weighed = count
        try:
            compare(index, "cats5")
            assert len(counted) == 2
            compare(index, "grain5")
            assert len(counted) == 2, "the second item costs no weights"
            with setsearch.open(tmp_path / "a.db") as other:
                changed = other.set("cats")
                changed.accept("cats5")
                changed.save()
            compare(index, "cats6")
            assert len(counted) == 3, "one set has changed"
            index.keep_set("another", ["sea4", "sea5"], items="documents")
            index.delete_set("grain")
            assert compare(index, "sea6").keys() == {"another", "cats"}
            assert len(counted) == 4
            index.add([("new", text("cats", 10))])
            compare(index, "new")
            assert len(counted) == 6, "all weights depend on the documents"
        finally:
            set_index.note_weighed = weigh


def test_more_weights_than_are_kept(monkeypatch):
    with make() as index:
        fill(index)
        monkeypatch.setattr(set_index, "MOST_KEPT", 10)
        compare(index, "cats5")
        assert index.sets_of(text=text("cats", 5), k=1)[0].set == "cats"


def test_words_with_contexts_and_neighbors():
    draw = random.Random(5)
    with setsearch.open(sqlite3.connect(":memory:"), contexts="on") as index:
        for n in range(20):
            cats = " . ".join(f"the {draw.choice(['lion', 'tiger', 'puma'])} hunts deer" for _ in range(6))
            grain = " . ".join(f"we grow {draw.choice(['wheat', 'rye', 'oats'])} in the field" for _ in range(6))
            index.add([(f"d{n}", f"{cats} . {grain}")])
        index.refresh("now")
        index.keep_set("hunters", ["lion", "tiger"], items="terms")
        index.keep_set("grain", ["wheat", "rye"], ["deer"], items="terms")
        index.keep_set("field", ["field"], items="terms")
        for word in ("puma", "oats", "hunts"):
            compare(index, word, "terms")


def test_relations_and_vectors():
    draw = random.Random(2)
    with make() as index:
        rows = [
            (f"{kind}{n}", draw.sample([f"{kind} fan {u}" for u in range(30)], 12))
            for kind in ("war", "love")
            for n in range(30)
        ]
        index.add(rows, ("film", "user"))
        index.keep_set("war", ["war0", "war1", "war2"], items="film")
        index.keep_set("love", ["love0", "love1"], ["war4"], "film")
        for film in ("war5", "love5", "war0"):
            compare(index, film, "film")
    with make() as index:
        fill(index)
        index.sets_of("cats5")
        names = [id for id, _ in texts(range(10))]
        index.add_vectors(
            names, [[float(name[0] == letter) + 0.1 * draw.random() for letter in "cgms"] for name in names]
        )
        compare(index, "cats5")
        with pytest.raises(errors.InvalidParameter, match="a text has no vectors"):
            index.sets_of(text="lion tiger")


@examples(50)
@given(st.data())
def test_any_sets_of_any_texts(data):
    words = st.lists(st.sampled_from("lion tiger cat wheat rye field sea".split()), min_size=1, max_size=6)
    documents = [(f"d{n}", " ".join(own)) for n, own in enumerate(data.draw(st.lists(words, min_size=4, max_size=9)))]
    names = [name for name, _ in documents]
    with make() as index:
        index.add(documents)
        for number in range(data.draw(st.integers(1, 3))):
            accepted = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
            rejected = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
            index.keep_set(f"s{number}", accepted, [name for name in rejected if name not in accepted], "documents")
        try:
            compare(index, data.draw(st.sampled_from(names)))
        except errors.QueryError:
            return


def test_errors():
    with make() as index:
        index.add(texts(range(4)))
        with pytest.raises(errors.UnknownSet, match="no set is saved; `setsearch set save` saves one"):
            index.sets_of("cats1")
        index.keep_set("cats", ["cats0", "cats1"], items="documents")
        index.keep_set("grain", ["grain0", "grain1"], items="documents")
        for given_ in ({}, {"item": "cats1", "text": "lion"}):
            with pytest.raises(errors.InvalidParameter, match="give an item or a text, one of the two"):
                index.sets_of(**given_)
        with pytest.raises(errors.UnknownItem, match="'nobody'"):
            index.sets_of("nobody")
        with pytest.raises(errors.UnknownItem, match="no word that the index knows"):
            index.sets_of(text="zzz")
        with pytest.raises(errors.UnknownSet, match="no set of terms is saved"):
            index.sets_of("lion", items="terms")
        with pytest.raises(errors.InvalidParameter, match="k must be"):
            index.sets_of("cats1", k=0)
        index.delete(["grain0"])
        found = index.sets_of("cats2")
        assert {claim.set for claim in found} == {"cats", "grain"}
        assert found.notes == ["grain: grain0 left the index; `setsearch set remove DB grain grain0` takes it out"]
        gone = index.set("grain")
        gone.forget("grain0")
        gone.save()
        again = index.sets_of("cats2")
        assert (again, again.notes) == (found, [])
        index.delete(["grain1"])
        found = index.sets_of("cats2")
        assert [claim.set for claim in found] == ["cats"]
        assert found.notes == ["grain: none of its accepted items is in the index; accept one first"]
        index.keep_set("words", ["lion"], items="terms")
        with pytest.raises(
            errors.UsageError, match="there are sets of documents and of terms; choose one with `items`"
        ):
            index.sets_of("cats2")


def test_the_command(tmp_path, run, failed):
    failed(run("set", "of", "a.db", "cats5"), 1, "a.db")
    with make(tmp_path / "a.db") as index:
        fill(index)
        expected = [claim._asdict() for claim in index.sets_of("cats5")]
        member = {key: value for key, value in index.sets_of("cats0", k=1)[0]._asdict().items() if key != "better"}
    for row in expected:
        assert (row.pop("said"), row.pop("better")) == (None, None)
    assert run("set", "of", "a.db", "cats5", "--json")[1:] == (
        "[" + ",\n ".join(map(json.dumps, expected)) + "]\n",
        "",
    )
    assert json.loads(run("set", "of", "a.db", "cats0", "-k", "1")[1]) == [member]
    by_text = json.loads(run("set", "of", "a.db", "--text", text("cats", 5))[1])
    assert [(row["set"], row["score"]) for row in by_text] == [(row["set"], row["score"]) for row in expected]
    failed(run("set", "of", "a.db"), 2, "give an item or a text")
    failed(run("set", "of", "a.db", "nobody"), 1, "'nobody'")


@pytest.mark.parametrize("rejected", [[], ["c", "d"]])
def test_a_set_without_other_items_has_no_line(rejected):
    with make() as index:
        index.add([(name, f"{name} shared") for name in "abcd"])
        index.keep_set("every", [name for name in "abcd" if name not in rejected], rejected, "documents")
        for claims in (index.sets_of("a", items="documents"), index.sets_of(text="a shared")):
            assert [(claim.set, claim.line) for claim in claims] == [("every", None)]
