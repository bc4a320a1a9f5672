"""Our ranking inside the real tantivy: its terms, its filters, and what is committed, deleted and merged."""

import random

import numpy as np
import pytest
from samples import TEXTS

import setsearch
from setsearch import Changes
from setsearch.errors import DuplicateItem, InvalidParameter, UnknownItem

pytest.importorskip("tantivy", reason="needs tantivy: pip install setsearch[tantivy]")

from tantivy import Document, Filter, Index, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

from setsearch.integrations.tantivy import TantivySets

WORDS = [f"{kind}{i}" for kind in ("cat", "dog", "crop", "the") for i in range(8)]
BUILDER = SchemaBuilder()
for own in ("path", "kind"):
    BUILDER.add_text_field(own, stored=True, tokenizer_name="raw")
for own in ("title", "body"):
    BUILDER.add_text_field(own, stored=True)
BUILDER.add_text_field("unstored")
SCHEMA = BUILDER.build()


def made(number, rng):
    """A document of one of three kinds."""
    kind = rng.choice(["cat", "dog", "crop"])
    words = rng.choices([word for word in WORDS if word.startswith((kind, "the"))], k=6) + rng.choices(WORDS, k=2)
    return {"path": f"d{number}", "kind": kind, "title": f"{kind} No. {number}", "body": " ".join(words)}


def write(index, documents, gone=()):
    """One commit."""
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for name in gone:
        writer.delete_documents_by_term("path", name)
    for document in documents:
        writer.add_document(Document(**document))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


def follow(index, place):
    return TantivySets(index, place, id="path", fields=["title", "body"], title="title")


@pytest.fixture
def filled(tmp_path):
    """An index of three commits with deletions, its documents by id, and what follows it."""
    rng = random.Random(7)
    documents = [made(number, rng) for number in range(90)]
    index = Index(SCHEMA)
    for part in range(3):
        write(index, documents[30 * part : 30 * part + 30])
    write(index, [], ["d3", "d33", "d88"])
    held = {own["path"]: own for own in documents if own["path"] not in ("d3", "d33", "d88")}
    sets = follow(index, tmp_path / "sets.db")
    assert sets.update() == Changes(87, 0)
    yield index, sets, held
    sets.close()


def names(index, result):
    searcher = index.searcher()
    return [searcher.doc(address).get_first("path") for _, address in result.hits]


def test_a_query_has_the_order_and_the_scores_of_ours(filled):
    index, sets, _ = filled
    for options in ({}, {"model": "bernoulli"}, {"exclude": ["d5"]}, {"like": ["cat1 cat2"]}):
        hits = sets.index.items("documents").expand(["d1", "d2"], 20, **options)
        result = index.searcher().search(sets.query(["d1", "d2"], **options), 20)
        np.testing.assert_array_equal([score for score, _ in result.hits], [np.float32(hit.score) for hit in hits])
        found = dict(
            zip(names(index, result), [score for score, _ in result.hits], strict=True)
        )  # ties: as tantivy has them
        assert found == {hit.item: np.float32(hit.score) for hit in hits if hit.item in found}
        assert len(found) == 20
    with pytest.raises(UnknownItem, match="d33"):
        sets.query(["d33"])


def test_terms_are_those_of_tantivy(filled, tmp_path):
    index, sets, _ = filled
    assert sets.index.items("terms").item_count() > 30
    searcher, terms = index.searcher(), dict.fromkeys(["no", "cat", *WORDS])
    for term in terms:
        body = sets.index.items("documents").document_frequency(term)
        matching = Query.boolean_query(
            [(Occur.Should, Query.term_query(SCHEMA, field, term)) for field in ("title", "body")]
        )
        assert body == searcher.search(matching, 100).count, term
    texts = Index(SCHEMA)
    write(
        texts,
        [{"path": f"t{n}", "body": f"{text} Don't STOP; naïve e-mail" + 50 * "x"} for n, (_, text) in enumerate(TEXTS)],
    )
    other = TantivySets(texts, tmp_path / "texts.db", id="path", fields="body")
    other.update()
    found = dict(texts.searcher().terms_with_prefix("body", ""))
    reading = other.index.items("documents")
    assert {term: reading.document_frequency(term) for term in found} == found
    assert reading.feature_count() == len(found)
    other.close()


def test_it_composes_with_filters(filled):
    index, sets, held = filled
    searcher, cats = index.searcher(), Query.term_query(SCHEMA, "kind", "cat")
    both = Query.boolean_query(
        [(Occur.Must, sets.query(["d1", "d2"])), (Occur.Must, Query.const_score_query(cats, 0.0))]
    )
    assert {held[name]["kind"] for name in names(index, searcher.search(both, 50))} == {"cat"}
    among = [name for name, own in held.items() if own["kind"] == "cat"]
    hits = sets.index.items("documents").expand(["d1"], 5, among=among)
    result = sets.more_like("d1", 5, filter=cats)
    assert [score for score, _ in result.hits] == [np.float32(hit.score) for hit in hits]
    assert sorted(sets.named(searcher, cats)) == sorted(among)
    two = sets.index.items("documents").expand(["d1", "d2"], 5, among=among, like=["cat1 cat2"], model="bernoulli")
    few = Query.term_query(SCHEMA, "kind", "cat"), Query.all_query()
    result = sets.more_like(["d1", "d2"], 5, text="cat1 cat2", filter=few, model="bernoulli")
    assert [score for score, _ in result.hits] == [np.float32(hit.score) for hit in two]
    assert "d1" not in names(index, sets.more_like("d1", 86))


@pytest.mark.parametrize("seed", range(3))
def test_after_any_commits_answers_are_those_of_a_new_database(filled, tmp_path, seed):
    index, sets, held = filled
    rng = random.Random(seed)
    for step in range(4):
        gone = rng.sample(sorted(held), 5)
        new = [made(rng.randrange(120), rng) for _ in range(4)]
        new = list({own["path"]: own for own in new}.values())
        before = dict(held)
        for name in gone:
            del held[name]
        held |= {own["path"]: own for own in new}
        write(index, new, [*gone, *(own["path"] for own in new)])
        written = sum(before.get(name) != own for name, own in held.items())
        assert sets.update() == Changes(written, len(before.keys() - held.keys()))
        assert sets.update() == Changes(0, 0)
        with setsearch.open(tmp_path / f"new{step}.db", create=True) as plain:
            plain.add((name, own) for name, own in counted(held).items())
            seeds = rng.sample(sorted(held), 2)
            expected = plain.items("documents").expand(seeds, 30)
        found = sets.index.items("documents").expand(seeds, 30)
        assert [(hit.item, hit.score) for hit in found] == [(hit.item, hit.score) for hit in expected]


def counted(held):
    """The terms of documents, cut by hand."""
    found = {}
    for name, own in held.items():
        terms = (own["title"] + " " + own["body"]).lower().replace(".", "").split()
        found[name] = {term: terms.count(term) for term in terms}
    return found


def test_an_analyzer_of_ones_own(tmp_path):
    index = Index(SCHEMA)
    write(
        index, [{"path": "a", "body": "Lions hunting"}, {"path": "b", "body": "lion hunts"}, {"path": "c", "body": "x"}]
    )
    stems = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase()).filter(Filter.stemmer("english")).build()
    sets = TantivySets(index, tmp_path / "a.db", id="path", fields="body", analyzer=stems)
    sets.update()
    assert names(index, sets.more_like("a", 1)) == ["b"]
    assert sets.index.items("documents").features_of("a") == {"lion": 1, "hunt": 1}
    sets.close()


def test_mistakes_are_told(tmp_path, caplog):
    index = Index(SCHEMA)
    for wrong in ({"id": "nope", "fields": "body"}, {"id": "path", "fields": ["body", "nope"]}):
        with pytest.raises(InvalidParameter, match="the tantivy schema has no text field 'nope'"):
            TantivySets(index, tmp_path / "a.db", **wrong)
    write(index, [{"path": "a", "body": "x"}, {"body": "no path"}, {"path": "", "body": "an empty one"}])
    sets = follow(index, tmp_path / "a.db")
    assert sets.update() == Changes(1, 0)
    assert "left out 2 documents without a stored 'path'" in caplog.text
    write(index, [{"path": "a", "body": "y"}])
    with pytest.raises(DuplicateItem, match="several documents of the tantivy index have the id 'a'"):
        sets.update()
    assert sets.index.items("documents").features_of("a") == {"x": 1}
    sets.close()
    empty = TantivySets(index, tmp_path / "b.db", id="path", fields="unstored")
    write(index, [], ["a"])
    write(index, [{"path": "a", "unstored": "y"}])
    with pytest.raises(InvalidParameter, match="stores no text in unstored; name others"):
        empty.update()
    empty.close()


def test_an_update_makes_a_file_anew_that_was_removed(filled, tmp_path):
    _, sets, held = filled
    before = sets.index.items("documents").expand(sorted(held)[:1], 9)
    for path in tmp_path.glob("*.db*"):
        path.unlink()
    assert sets.update() == Changes(len(held), 0)
    assert [hit[:3] for hit in sets.index.items("documents").expand(sorted(held)[:1], 9)] == [hit[:3] for hit in before]
