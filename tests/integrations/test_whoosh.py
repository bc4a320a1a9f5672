"""Our ranking inside real Whoosh: followed through segments, deletions and merges, composed with its own queries."""

import datetime
import random
import re
from decimal import Decimal

import pytest

import setsearch
from setsearch import Changes
from setsearch.errors import DuplicateItem, InvalidParameter, MissingDatabase, UnknownItem

whoosh = pytest.importorskip("whoosh", reason="needs Whoosh: pip install setsearch[whoosh]")

from whoosh import fields, qparser, query, sorting  # noqa: E402
from whoosh.analysis import StemmingAnalyzer  # noqa: E402
from whoosh.filedb.filestore import RamStorage  # noqa: E402
from whoosh.index import create_in  # noqa: E402
from whoosh.writing import CLEAR  # noqa: E402

from setsearch.integrations.whoosh import LOWEST_SCORE, SetQuery, WhooshSets  # noqa: E402

WORDS = [f"{kind}{i}" for kind in ("cat", "dog", "crop", "field", "the") for i in range(6)]
SCHEMA = fields.Schema(
    path=fields.ID(stored=True, unique=True),
    title=fields.TEXT(stored=True),
    content=fields.TEXT(analyzer=StemmingAnalyzer()),
    kind=fields.KEYWORD(stored=True, sortable=True),
    size=fields.NUMERIC(stored=True, sortable=True),
)


def document(number, rng):
    kind = rng.choice(["cat", "dog", "crop"])
    words = rng.choices([w for w in WORDS if w.startswith((kind, "the"))], k=6) + rng.choices(WORDS, k=2)
    return {"path": f"d{number}", "title": f"{kind} {number}", "content": " ".join(words), "kind": kind, "size": number}


@pytest.fixture
def filled(tmp_path):
    """A Whoosh index of three segments with deletions, and the database that follows it."""
    (tmp_path / "ix").mkdir()
    index, rng = create_in(tmp_path / "ix", SCHEMA), random.Random(7)
    for part in range(3):
        writer = index.writer()
        for number in range(part * 30, part * 30 + 30):
            writer.add_document(**document(number, rng))
        writer.commit(merge=False)
    writer = index.writer()
    for number in (3, 33, 34, 88):
        writer.delete_by_term("path", f"d{number}")
    writer.commit(merge=False)
    sets = WhooshSets(index, tmp_path / "sets.db", id="path", fields=["title", "content"], title="title")
    assert sets.update() == Changes(86, 0)
    yield index, sets
    sets.close()


def test_stored_fields_are_fields_beside_the_terms(filled, tmp_path):
    index, _ = filled
    sets = WhooshSets(index, tmp_path / "others.db", id="path", fields="content", others=["kind", "size"])
    sets.update()
    reading = sets.index.items("documents")
    assert reading.defaults.fields == ("text", "kind", "size")
    with index.searcher() as searcher:
        rows = {stored["path"]: stored for stored in searcher.documents()}
    terms = {name: own for name, own in reading.features_of("d1").items() if ":" not in name}
    assert terms and f"kind:{rows['d1']['kind']}" in reading.features_of("d1")
    items = []
    for name, stored in rows.items():
        terms = {own: count for own, count in reading.features_of(name).items() if ":" not in own}
        items.append(setsearch.Item(name, terms, None, None, {"kind": stored["kind"], "size": stored["size"]}))
    other = setsearch.open(tmp_path / "same.db", create=True)
    other.add(items)
    expected = other.items("documents").expand(["d1", "d2"], 9, by="kind,size")
    assert [(hit.item, hit.score) for hit in reading.expand(["d1", "d2"], 9, by="kind,size")] == [
        (hit.item, hit.score) for hit in expected
    ]
    writer = index.writer()
    writer.update_document(path="d1", title="t", content="cat1", kind="new tags", size=4)
    writer.commit(merge=False)
    sets.update()
    assert {"kind:new", "kind:tags"} <= reading.features_of("d1").keys()
    with pytest.raises(InvalidParameter, match="'content' is not stored"):
        WhooshSets(index, tmp_path / "x.db", id="path", fields="content", others="content")
    sets.close()
    other.close()


def oracle(index, sets):
    """A new index of the same documents, by what Whoosh says of each: its stored fields, and the terms of its text."""
    made = setsearch.open(sets.index._database.path.with_name("oracle.db"), create=True)
    rng, rows = random.Random(7), []
    texts = {f"d{n}": document(n, rng) for n in range(90)}
    with index.searcher() as searcher:
        for stored in searcher.documents():
            given = texts.get(stored["path"], {}) | stored
            terms = [t for name in sets.fields for t in SCHEMA[name].process_text(given[name], mode="index")]
            rows.append((stored["path"], terms, stored["title"]))
    made.replace(rows, ("documents", "terms"))
    return made


def agree(index, sets):
    made = oracle(index, sets)
    ours, theirs = sets.index.items("documents"), made.items("documents")
    assert sets.index.check() == []
    assert ours.item_count() == theirs.item_count()
    seeds = [hit.item for hit in theirs.expand([], 2, having=["cat1"])]
    assert ours.expand(seeds, 999, keep_seeds=True) == theirs.expand(seeds, 999, keep_seeds=True)
    made.close()


def found(results):
    return [hit["path"] for hit in results]


def scored(results):
    return {hit["path"]: score for score, hit in zip((score for score, _ in results.top_n), results, strict=True)}


def test_the_index_is_followed_through_segments_deletions_and_merges(filled):
    index, sets = filled
    agree(index, sets)
    assert sets.update() == Changes(0, 0)
    writer = index.writer()
    writer.update_document(path="d5", title="cat 5", content="cat1 cat1 field2", kind="cat", size=5)
    writer.add_document(path="d90", title="dog 90", content="dog1", kind="dog", size=90)
    writer.add_document(path="d91", title="", content="", kind="dog", size=91)
    writer.delete_by_term("path", "d40")
    writer.commit(merge=False)
    assert sets.update() == Changes(3, 1)
    assert sets.index.items("documents").features_of("d5") == {"cat": 1, "cat1": 2, "field2": 1}
    assert sets.index.items("documents").features_of("d91") == {}
    writer = index.writer()
    writer.delete_by_term("path", "d41")
    writer.commit(optimize=True)
    revision = sets.index.info()["revision"]
    changes = sets.update()
    assert changes == Changes(0, 1)  # one merged segment was read, whose documents are as they were
    assert sets.update() == Changes(0, 0)
    assert sets.index.info()["revision"] > revision
    assert set(sets.index.source_state()) == {leaf.segment().segment_id() for leaf in leaves(index)}


def leaves(index):
    with index.reader() as reader:
        return [leaf for leaf, _ in reader.leaf_readers()]


@pytest.mark.parametrize("options", [{}, {"model": "bernoulli"}, {"keep_seeds": True}, {"exclude": ["d1"], "fresh": 0}])
def test_the_scores_are_ours(filled, options):
    index, sets = filled
    seeds = ["d10", "d20"]
    expected = sets.index.items("documents").expand(seeds, 999, **options)
    with index.searcher() as searcher:
        results = searcher.search(SetQuery(seeds, sets, **options), limit=None)
        assert len(results) == len(expected)
        scores = scored(results)
        shift = LOWEST_SCORE - expected[-1].score
        assert scores == {hit.item: pytest.approx(hit.score + shift, abs=1e-12) for hit in expected}
        assert [scores[name] for name in found(results)] == sorted(scores.values(), reverse=True)
        boosted = scored(searcher.search(SetQuery(seeds, sets, boost=2.0, **options), limit=None))
        assert boosted == {name: 2 * score for name, score in scores.items()}


def test_it_composes_with_whoosh(filled):
    index, sets = filled
    asked = SetQuery(["d10", "d20"], sets)
    ranked = [hit.item for hit in sets.index.items("documents").expand(["d10", "d20"], 999)]
    with index.searcher() as searcher:
        whole = scored(searcher.search(asked, limit=None))
        cats = {hit["path"] for hit in searcher.search(query.Term("kind", "cat"), limit=None)}
        dogs = query.Term("kind", "dog")
        term = scored(searcher.search(query.Term("content", "cat1"), limit=None))
        both = scored(searcher.search(asked & query.Term("content", "cat1"), limit=None))
        assert both == {name: pytest.approx(whole[name] + score) for name, score in term.items() if name in whole}
        either = scored(searcher.search(asked | query.Term("content", "cat1"), limit=None))
        assert set(either) == set(whole) | set(term)
        assert all(score == pytest.approx(whole.get(n, 0) + term.get(n, 0)) for n, score in either.items())
        maybe = scored(searcher.search(query.AndMaybe(asked, query.Term("content", "cat1")), limit=None))
        assert maybe == {name: pytest.approx(score + term.get(name, 0)) for name, score in whole.items()}
        without = searcher.search(query.AndNot(asked, dogs), limit=None)
        assert found(without) == found(searcher.search(asked & query.Not(dogs), limit=None))
        assert set(found(without)) == {n for n in whole if searcher.document(path=n)["kind"] != "dog"}
        assert found(searcher.search(query.Not(asked), limit=None)) == ["d10", "d20"]
        filtered = searcher.search(asked, filter=query.Term("kind", "cat"), limit=None)
        assert set(found(filtered)) == cats & set(ranked)
        masked = searcher.search(asked, mask=query.Term("kind", "cat"), limit=None)
        assert set(found(masked)) == set(ranked) - cats
        scores = [whole[name] for name in found(filtered)]
        assert scores == sorted(scores, reverse=True)
        pages = [name for page in (1, 2, 3) for name in found(searcher.search_page(asked, page, pagelen=10))]
        assert pages == found(searcher.search(asked, limit=30))
        groups = searcher.search(asked, groupedby="kind", limit=None).groups("kind")
        assert {kind: len(own) for kind, own in groups.items()} == {
            kind: len([n for n in ranked if searcher.document(path=n)["kind"] == kind]) for kind in groups
        }
        by_size = searcher.search(asked, sortedby=sorting.FieldFacet("size", reverse=True), limit=5)
        assert found(by_size) == sorted(ranked, key=lambda name: -int(name[1:]))[:5]
        assert len(found(searcher.search(asked, collapse="kind", limit=None))) == 3


def test_the_best_k_are_exact_among_those_that_live(filled):
    index, sets = filled
    writer = index.writer()  # not taken over: one document is gone, one is new
    best = sets.index.items("documents").expand(["d10", "d20"], 1)[0].item
    writer.delete_by_term("path", best)
    writer.add_document(path="new", title="cat", content="cat1 cat2", kind="cat", size=1)
    writer.commit(merge=False)
    expected = [hit.item for hit in sets.index.items("documents").expand(["d10", "d20"], 999) if hit.item != best]
    with index.searcher() as searcher:
        whole = searcher.search(SetQuery(["d10", "d20"], sets), limit=None)
        assert set(found(whole)) == set(expected)
        assert set(found(searcher.search(SetQuery(["d10", "d20"], sets, k=7), limit=None))) == set(expected[:7])
        kept = [h.item for h in sets.index.items("documents").expand(["d10", "d20"], None, cut="keep")]
        cut = found(searcher.search(SetQuery(["d10", "d20"], sets, cut="keep"), limit=None))
        assert set(cut) == set(kept) - {best}
    sets.update()
    with index.searcher() as searcher:
        assert "new" in found(searcher.search(SetQuery(["d10", "d20"], sets), limit=None))


def test_a_query_survives_an_update_of_the_index(filled):
    index, sets = filled
    asked = SetQuery(["d10"], sets)
    with index.searcher() as old:
        before = scored(old.search(asked, limit=None))
        writer = index.writer()
        writer.update_document(path="d10", title="crop", content="crop1 crop2 crop3", kind="crop", size=1)
        writer.commit()
        sets.update()
        with index.searcher() as searcher:
            after = found(searcher.search(asked, limit=10))
            assert after == found(searcher.search(SetQuery(["d10"], sets), limit=10))
            assert all(searcher.document(path=name)["kind"] == "crop" for name in after[:3])
        assert set(found(old.search(asked, limit=None))) <= set(before) | {"d10"}


def test_answers_go_on_through_merges(filled, caplog):
    index, sets = filled
    asked = SetQuery(["d10", "d20"], sets)
    held = index.searcher()
    before = scored(held.search(asked, limit=None))
    assert before
    for merge in range(2):
        writer = index.writer()
        writer.add_document(path=f"new{merge}", title="cat", content="cat1 cat2", kind="cat", size=1)
        writer.commit(optimize=True)
        with index.searcher() as searcher:
            assert scored(searcher.search(asked, limit=None)) == before
            assert scored(searcher.search(SetQuery(["d10", "d20"], sets), limit=None)) == before
        assert caplog.messages == [
            f"{merge + 1} new documents of the Whoosh index are not ranked before WhooshSets.update()"
        ]
        caplog.clear()
    sets.update()
    with index.searcher() as searcher:
        after = scored(searcher.search(asked, limit=None))
    assert after.keys() == {*before, "new0", "new1"}
    old = scored(held.search(asked, limit=None))
    assert old.keys() == before.keys()
    shift = {round(old[name] - after[name], 9) for name in old}
    assert len(shift) == 1  # the same scores, above the worst one of other documents
    held.close()


def test_a_seed_that_is_deleted_is_left_out(filled):
    index, sets = filled
    asked = SetQuery(["d10", "d20"], sets, exclude=["d1"])
    with pytest.raises(UnknownItem, match="no 'nobody'"):
        SetQuery(["d10"], sets, exclude=["nobody"])
    writer = index.writer()
    for name in ("d10", "d1"):
        writer.delete_by_term("path", name)
    writer.commit(merge=False)
    sets.update()
    with index.searcher() as searcher:
        assert scored(searcher.search(asked, limit=None)) == scored(
            searcher.search(SetQuery(["d20"], sets), limit=None)
        )
        writer = index.writer()
        writer.delete_by_term("path", "d20")
        writer.commit(merge=False)
        sets.update()
    with index.searcher() as searcher:
        assert not searcher.search(asked)
    assert "d10" in str(asked)


def test_users_type_sets(filled):
    index, sets = filled
    parser = qparser.QueryParser("content", SCHEMA)
    parser.add_plugin(sets.plugin())
    with index.searcher() as searcher:

        def search(text):
            return found(searcher.search(parser.parse(text), limit=None))

        assert search("like:(d10 d20)") == found(searcher.search(SetQuery(["d10", "d20"], sets), limit=None))
        alone = found(searcher.search(SetQuery(["d10"], sets), limit=None))
        assert search("LIKE:d10") == search("like:d10") == search('like:("d10")') == search('like:"d10"') == alone
        assert set(search("like:(d10, d20) cat1 kind:cat")) == {
            hit["path"]
            for hit in searcher.search(query.Term("content", "cat1") & query.Term("kind", "cat"), limit=None)
        } - {"d10", "d20"}
        words = search("~{cat1, cat2}")
        documents = sets.index.items("documents")
        more = [hit.item for hit in sets.index.items("terms").expand(["cat1", "cat2"], 10, cut="keep")]
        held = {name for word in ("cat1", "cat2", *more) for name in documents.postings(word)}
        assert set(words) == held
        assert words[0] == documents.expand([], 1, having=["cat1", "cat2", *more])[0].item
        assert set(search("~{cat1, cat2} NOT kind:cat")) == {n for n in held if not n_is_cat(searcher, n)}
        assert search("~{cat1 cat2}^3 AND kind:cat") == [name for name in words if n_is_cat(searcher, name)]
        assert parser.parse("unlike:d1").__class__ is not SetQuery
        assert parser.parse("~{}") == query.NullQuery or search("~{}") == []
        assert search("like: d10") == alone, "a blank before the name"
        for nothing in ("like:", "like:()", "like:(", 'like:""', "like:,"):
            assert search(nothing) == [], nothing
        assert search("like:nobody") == search("~{nothing}") == []
        assert search("like:(nobody d10)") == search("like:d10") == search("like:(d10") == alone
        assert set(search("~{nothing} OR cat1")) == set(search("cat1"))
        strict = qparser.QueryParser("content", SCHEMA, plugins=[sets.plugin(missing="error")])
        with pytest.raises(UnknownItem, match="no 'nobody'"):
            searcher.search(strict.parse("like:nobody"))
        asked = SetQuery(["d10"], sets, k=5)
        assert sorted(asked.docs(searcher)) == sorted(hit.docnum for hit in searcher.search(asked))
        with pytest.raises(InvalidParameter, match="k must be"):
            SetQuery(["d10"], sets, k=0)
        with pytest.raises(TypeError, match=r"'nosuch'; choose from .*having"):
            SetQuery(["d10"], sets, nosuch=1)


def n_is_cat(searcher, name):
    return searcher.document(path=name)["kind"] == "cat"


def test_whoosh_highlights_what_speaks_for_the_set(filled):
    index, sets = filled
    with index.searcher() as searcher:
        strongest = sets.index.items("documents").features(["d0", "d6"], 20)
        words = {one.feature for one in strongest if one.weight > 0}
        kind = searcher.document(path="d0")["kind"]
        for asked in (
            SetQuery(["d0", "d6"], sets, k=5),
            query.Or([SetQuery(["d0", "d6"], sets), query.Term("title", kind)]),
        ):
            assert {text for name, text in asked.all_terms() if name == "content"} == words
            found = searcher.search(asked)
            marked = [re.findall('<b class="match term[0-9]+">([^<]+)</b>', hit.highlights("title")) for hit in found]
            assert any(marked)
            assert {word.lower() for own in marked for word in own} <= words | {kind}
        assert not SetQuery(["nobody"], sets, missing="skip").all_terms()


def test_more_like_is_called_as_whooshs(filled):
    index, sets = filled
    documents = sets.index.items("documents")
    with index.searcher() as searcher:
        docnum = searcher.document_number(path="d10")
        ours = sets.more_like(searcher, docnum, "content", top=5, numterms=5, normalize=True)
        assert found(ours) == [hit.item for hit in documents.expand(["d10"], 5)]
        assert type(ours) is type(searcher.more_like(docnum, "content", text="cat1 cat2"))
        dogs = query.Term("kind", "dog")
        allowed = {hit["path"] for hit in searcher.search(dogs, limit=None)}
        expected = [hit.item for hit in documents.expand(["d10"], 5, among=allowed)]
        for filter in (dogs, searcher.search(dogs, limit=None), set(searcher.docs_for_query(dogs))):
            assert found(sets.more_like(searcher, docnum, "content", top=5, filter=filter)) == expected
        by_text = [hit.item for hit in documents.expand([], 6, like=["cat1 cat2 cats"])]
        assert (
            found(sets.more_like(searcher, docnum, text="cat1 cat2 cats", top=5))
            == [name for name in by_text if name != "d10"][:5]
        )
        with pytest.raises(TypeError, match="'limit'"):
            sets.more_like(searcher, docnum, limit=5)


def test_fields_of_any_type_have_terms(tmp_path):
    schema = fields.Schema(path=fields.ID(stored=True), year=fields.NUMERIC, flag=fields.BOOLEAN, tags=fields.KEYWORD)
    index = RamStorage().create_index(schema)
    writer = index.writer()
    for name, year, tags in (("a", 2001, "x y"), ("b", 2001, "y"), ("c", -7, "z")):
        writer.add_document(path=name, year=year, flag=year > 0, tags=tags)
    writer.commit()
    sets = WhooshSets(index, tmp_path / "x.db", id="path", fields=["year", "flag", "tags"])
    sets.update()
    documents = sets.index.items("documents")
    assert documents.features_of("a").keys() - {"t", "True"} == {"2001", "x", "y"}
    assert "-7" in documents.features_of("c")
    assert documents.expand(["a"], 1)[0].item == "b"
    assert sets.index.items("terms").expand(["2001"], 1)
    sets.close()


def test_stored_fields_count_however_their_values_were_given(tmp_path):
    """Whoosh stores what it was given: texts in place of numbers, dates and truth, whole numbers in place of truth."""
    others = {
        "day": fields.DATETIME(stored=True),
        "flag": fields.BOOLEAN(stored=True),
        "note": fields.STORED,
        "price": fields.NUMERIC(int, decimal_places=2, stored=True),
        "tags": fields.KEYWORD(stored=True),
    }
    index = RamStorage().create_index(fields.Schema(path=fields.ID(stored=True), body=fields.TEXT, **others))
    day, price = datetime.datetime(2005, 3, 4), Decimal("3.25")
    values = [
        ("a", {"day": day, "flag": True, "note": "some text", "price": price, "tags": "x y"}),
        ("b", {"day": "20050304", "flag": "yes", "note": "some text", "price": "3.25", "tags": ["x", "y"]}),
        ("c", {"day": day.replace(1999), "flag": 1, "price": "17", "tags": ("x", "y")}),
        ("d", {}),
    ]
    writer = index.writer()
    for name, own in values:
        writer.add_document(path=name, body="lion", **own)
    writer.commit()
    sets = WhooshSets(index, tmp_path / "x.db", id="path", fields="body", others=[*others])
    sets.update()
    found = {name: sets.index.items("documents").features_of(name) for name in "abcd"}
    sets.close()
    assert found["a"] == found["b"]
    assert {"flag:true", "note:some text", "tags:x", "tags:y"} <= found["a"].keys()
    assert {name.partition(":")[0] for name in found["a"]} == {"lion", *others}
    assert {name for name in found["c"] if name.startswith(("flag", "tags"))} == {"flag:true", "tags:x", "tags:y"}
    assert found["d"] == {"lion": 1}


def test_of_an_empty_index_nothing_is_found(tmp_path):
    index = RamStorage().create_index(SCHEMA)
    sets = WhooshSets(index, tmp_path / "x.db", id="path", fields="content")
    sets.update()
    with index.searcher() as searcher:
        assert not len(searcher.search(SetQuery(["a"], sets, missing="skip")))
    writer = index.writer()
    writer.add_document(path="a", content="cat1")
    writer.add_document(path="b", content="cat1")
    writer.commit()
    assert sets.update() == Changes(2, 0)
    query = SetQuery(["a"], sets)
    writer = index.writer()
    writer.commit(mergetype=CLEAR)
    for changes in (None, Changes(0, 2)):
        assert changes is None or sets.update() == changes
        with index.searcher() as searcher:
            assert not len(searcher.search(query))
    sets.close()


def test_a_field_that_the_schema_lacks_by_now_is_named(tmp_path):
    index = RamStorage().create_index(SCHEMA.copy())
    sets = WhooshSets(index, tmp_path / "x.db", id="path", fields="content", others="size")
    sets.update()
    writer = index.writer()
    writer.remove_field("size")
    writer.commit()
    with pytest.raises(InvalidParameter, match="no field 'size'; it has content"):
        sets.update()
    sets.close()


def test_mistakes_are_named_and_nothing_is_written(tmp_path, caplog):
    index = RamStorage().create_index(SCHEMA)
    for options, message in [
        ({"id": "nothing", "fields": "content"}, "no field 'nothing'; it has .*content"),
        ({"id": "content", "fields": "content"}, "'content' is not stored"),
        ({"id": "path", "fields": []}, "at least one field"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            WhooshSets(index, tmp_path / "x.db", **options)
    sets = WhooshSets(index, tmp_path / "x.db", id="path", fields="content")
    with index.searcher() as searcher, pytest.raises(MissingDatabase, match="update"):
        searcher.search(SetQuery(["a"], sets))
    assert sets.update() == Changes(0, 0)
    writer = index.writer()
    writer.add_document(path="a", content="cat1 cat2")
    writer.add_document(path="b", content="cat1 cat3")
    writer.commit()
    sets.update()
    writer = index.writer()
    writer.add_document(path="a", content="cat1 cat2")
    writer.commit(merge=False)
    with pytest.raises(DuplicateItem, match="'a'"):
        sets.update()
    writer = index.writer()
    writer.delete_by_term("path", "a")
    writer.add_document(path="a", content="cat1 cat2")
    writer.add_document(content="no name")
    writer.add_document(path="", content="an empty name")
    writer.commit(merge=False)
    sets.update()
    assert "left out 2 documents of the Whoosh index without a stored 'path'" in caplog.text
    assert sets.index.items("documents").item_count() == 2
    with index.searcher() as searcher:
        assert found(searcher.search(SetQuery(["a"], sets), limit=None)) == ["b"]
    sets.close()
    with setsearch.open(tmp_path / "x.db") as plain:  # by others, who do not have the analyzer
        assert plain.items("documents").expand(["a"])[0].item == "b"
        assert plain.items("terms").expand(["cat1"])
        with pytest.raises(setsearch.errors.UsageError, match="custom analyzer"):
            plain.items("documents").expand([], like=["cats"])
        with pytest.raises(setsearch.errors.UsageError, match="follow the Whoosh index"):
            plain.delete(["a"])


def test_an_update_makes_a_file_anew_that_was_removed(filled, tmp_path):
    index, sets = filled
    with index.searcher() as searcher:
        before = [hit["path"] for hit in searcher.search(SetQuery(["d1"], sets, k=9))]
    for path in tmp_path.glob("sets.db*"):
        path.unlink()
    assert sets.update() == Changes(86, 0)
    with index.searcher() as searcher:
        assert [hit["path"] for hit in searcher.search(SetQuery(["d1"], sets, k=9))] == before
