"""Words, stems, stop words, custom analyzers."""

import json
import sys

import pytest
import Stemmer
from whoosh.analysis import StemmingAnalyzer

import setsearch
from setsearch import errors
from setsearch.text.analyzer import Analyzer
from setsearch.text.function_words import snowball

DOCUMENTS = [
    ("cats", "Lions and tigers are hunting in the jungles."),
    ("cat", "A lion hunts; the tiger hunted."),
    ("grain", "Wheat and barley grow on fields."),
    ("farm", "The farmer grows wheat in a field"),
    ("art", "Painting of a lion"),
]


def test_stems_are_snowballs():
    stem = Stemmer.Stemmer("english").stemWord
    assert Analyzer("english")("Running Horses, armies") == [stem(w) for w in ("running", "horses", "armies")]
    assert Analyzer()("Running Horses") == ["running", "horses"]
    assert Analyzer("german")("Häuser") == [Stemmer.Stemmer("german").stemWord("häuser")]


def test_stemmers_in_python_are_the_same(monkeypatch):
    """WebAssembly has no others."""
    pytest.importorskip("snowballstemmer", reason="snowballstemmer is not installed")
    words = {word for _, text in DOCUMENTS for word in text.lower().split()} | {"häuser", "l'été", "maçãs", "größe"}
    names, compiled = snowball()
    for name in [name for name in sys.modules if name.startswith("snowballstemmer")]:
        monkeypatch.delitem(sys.modules, name)  # it takes the compiled ones if it can
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    others, pure = snowball()
    assert sorted(others) == sorted(names)
    for name in names:
        assert [*map(compiled(name), words)] == [*map(pure(name), words)], name
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(errors.UsageError, match="stems of german need PyStemmer or snowballstemmer"):
        Analyzer("german")


def test_stop_words_are_left_out():
    assert Analyzer("english", stop_words=True)("The king of the hill") == ["king", "hill"]
    with pytest.raises(errors.InvalidParameter, match="stop words belong to a language"):
        Analyzer(stop_words=True)
    with pytest.raises(errors.InvalidParameter, match="'klingon'"):
        Analyzer("klingon")
    with pytest.raises(errors.InvalidParameter, match="no list of stop words"):
        Analyzer("basque", stop_words=True)


def test_a_long_text_is_counted_in_pieces(monkeypatch):
    text = "Lions hunt lions " * 50
    whole = Analyzer("english")(text)
    monkeypatch.setattr("setsearch.text.analyzer.CHUNK", 40)
    counts = Analyzer("english")(text)
    assert sorted(counts.elements()) == sorted(whole)


def test_seeds_are_analysed_as_documents_are(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, language="english") as index:
        index.add(DOCUMENTS)
    with setsearch.open(tmp_path / "a.db") as index:  # the language is stored
        terms = index.items("terms")
        assert terms.expand(["Lions"]) == terms.expand(["lion"])
        assert terms.features_of("Lions") == {"art": 1, "cat": 1, "cats": 1}
        assert sum(index.items("documents").features_of("cat").values()) == 6


def test_results_are_shown_as_readers_wrote_them(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, language="english") as index:
        index.add([("a", "the armies marched"), ("b", "armies marched, the army marches"), ("c", "ponies, armies")])
        hits = index.items("terms").expand(["ponies"], 9)
        assert {hit.item for hit in hits} == {"armies", "marched", "the"}
        assert index.items("terms").expand(["armies"]) == index.items("terms").expand(["army"])
        index.delete(["b"])
        index.update([("a", "army army army marching")])
        hits = index.items("terms").expand(["ponies"], 9, fresh="now")
        assert {hit.item for hit in hits} == {"army", "marching"}
        why = index.items("documents").explain(["c"], "a", model="bernoulli")
        assert [part.feature for part in why.features] == ["army"]
        assert index.check() == []


def test_words_of_any_inflection_are_found_in_contexts(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, language="english", contexts="on") as index:
        index.add([(str(n), "the lions ate the red apples and the tigers ate the green pears") for n in range(3)])
        index.add([("x", "the lion, the lion"), ("y", "tall apples")])
        terms = index.items("terms")
        assert terms.expand(["LIONS"], by="contexts") == terms.expand(["lions"], by="contexts")
        assert terms.expand(["tiger"], by="contexts") == terms.expand(["tigers"], by="contexts")
        assert terms.expand(["apple"], by="contexts") == terms.expand(["apples"], by="contexts")


def test_a_whoosh_analyzer_is_accepted(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, analyzer=StemmingAnalyzer()) as index:
        index.add(DOCUMENTS)
        assert index.items("documents").features_of("cat") == {"hunt": 2, "lion": 1, "tiger": 1}
        assert index.items("terms").expand(["hunting"]) == index.items("terms").expand(["hunt"])
        assert index.info()["contexts"] == {}
    with setsearch.open(tmp_path / "a.db") as index, pytest.raises(errors.UsageError, match="custom analyzer"):
        index.add([("new", "lion")])
    with pytest.raises(errors.InvalidParameter, match="the analyzer or the language"):
        setsearch.open(tmp_path / "b.db", create=True, analyzer=str.split, language="english")


def test_a_collection_keeps_its_language(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, language="english") as index:
        index.add(DOCUMENTS)
    with (
        setsearch.open(tmp_path / "a.db", language="german") as index,
        pytest.raises(errors.UsageError, match=r"unicode-2\+titled english.*unicode-2\+titled german"),
    ):
        index.add([("new", "lion")])


def test_texts_and_features_are_examples(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(DOCUMENTS)
        documents = index.items("documents")
        text = dict(DOCUMENTS)["cat"]
        for model in ("lift", "bernoulli", "x1"):
            of_item = {h.item: h.score for h in documents.expand(["cat"], 9, model=model)}
            of_text = {
                h.item: h.score for h in documents.expand([], 9, like=[text], model=model, exclude=["cat"], gamma=0)
            }
            assert of_text == of_item, "a text that equals an item says what the item says"
        both = documents.expand(["grain"], 9, like=[text], having=["Painting"])
        assert both != documents.expand(["grain"], 9)
        assert documents.expand([], 1, having=["wheat", "farmer"])[0].item == "farm"
        assert index.items("terms").expand([], 2, having=["cat"])
        for bad, error in (
            ({"like": ["zzz"]}, errors.UnknownItem),
            ({"like": [""]}, errors.UnknownItem),
            ({"like": "lion"}, errors.InvalidParameter),
            ({"having": ["zzz"]}, errors.UnknownItem),
        ):
            with pytest.raises(error):
                documents.expand([], **bad)
        with pytest.raises(errors.InvalidParameter, match="not of terms"):
            index.items("terms").expand([], like=["lion"])


def test_texts_of_a_group_are_one_item(tmp_path):
    from setsearch.indexing.rows.reader import RowReader
    from setsearch.indexing.sources import SourceReader
    from setsearch.storage.synced_source import Columns

    rows = [{"author": a, "text": t} for a, t in (("x", "lion cat"), ("y", "wheat field"), ("x", "tiger cat"))]
    rows += [{"author": "z", "text": "cat lion"}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    columns = Columns(group_by="author")
    items = list(SourceReader(columns, RowReader()).read([str(tmp_path / "r.jsonl")]))
    assert items == [("x", "lion cat\ntiger cat", None), ("y", "wheat field", None), ("z", "cat lion", None)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(items, columns.relation)
        assert index.items("author").features_of("x") == {"cat": 2, "lion": 1, "tiger": 1}
        assert index.items("author").expand(["z"], 1)[0].item == "x"
        assert index.info()["readings"][0]["defaults"]["popularity"] == 0
    with pytest.raises(errors.UsageError, match="group_by"):
        _ = Columns(group_by="author", items="film").relation


def test_titles_that_are_refused_are_not_taken_for_a_default():
    without, titled = Analyzer(function="unicode+0-titles"), Analyzer()
    assert not without.agrees(titled.spec) and not without.agrees(Analyzer(function="unicode+2-titles").spec)
    assert without.agrees(without.spec) and titled.agrees(without.spec)
