"""Words by contexts on Spark, and what a question may want: as the SQLite index answers, to the bit."""

import random

import pytest
from test_spark import jsonl

import setsearch
from setsearch import Columns, Where, errors
from setsearch.spark import SparkIndex, build, cells_of, from_sqlite, read_source
from setsearch.text.analyzer import Analyzer

pytestmark = pytest.mark.long

FRUITS, METALS = ["apple", "pear", "plum", "new york apple", "fig"], ["iron", "tin", "zinc", "lead", "gold"]
RARE = ["quince", "medlar"]  # each in a single document
FRAMES = [
    "The farmer ate {a}, {b} and {c}. A ripe {a} is sweet!",
    "He sells a ripe {a} or {b}; the tree bears {c}",
    "They melt {x} in the furnace. {x}, {y}, and {z} are metals?",
    "a bar of {x}... the price of {y}, {z} or {x}",
    "In New York the price of {x} and of {a} fell.",
]


def texts(count=70, seed=4):
    """Documents about fruit and metals, with lists and phrases; one is empty, two have marks only."""
    rng = random.Random(seed)
    rows = []
    for n in range(count):
        fruits, metals = rng.sample(FRUITS, 3), rng.sample(METALS, 3)
        names = dict(zip("abcxyz", fruits + metals, strict=True))
        text = " ".join(rng.choice(FRAMES).format(**names) for _ in range(rng.randint(1, 4)))
        rows.append({"id": f"d{rng.randint(0, 9)}-{n}", "text": text, "title": f"T{n}"})
    rows[3]["text"], rows[4]["text"], rows[5]["text"] = "", "...", ". , !"
    rows[7]["title"], rows[8]["title"], rows[9]["title"] = "Pear", "New York apple (a kind)", None
    rows[9]["id"] = "fruit/plum.txt"
    rows[6]["text"] += f" The farmer ate {RARE[0]} and {RARE[1]} and plum."
    return rows


@pytest.fixture(scope="module")
def both(spark, tmp_path_factory):
    """The same documents in a database and on Spark, with contexts and phrases."""
    folder, rows = tmp_path_factory.mktemp("contexts"), texts()
    frame = read_source(spark, jsonl(folder / "docs.jsonl", rows)).repartition(3)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 7)  # many streams
    try:
        build(spark, cells_of(frame, Columns(), Analyzer(), "phrases"), str(folder / "index"))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    with setsearch.open(folder / "x.db", create=True, contexts="phrases") as index:
        index.add([(row["id"], row["text"], row["title"]) for row in rows])
        yield index, SparkIndex(spark, str(folder / "index")), folder


def same(reading, on_spark, sets, k=30, **options):
    """Both answers, to the bit, with what belongs and why."""
    found = on_spark.expand_many(sets, k, **options)
    for seeds, hits in zip(sets, found, strict=True):
        expected = reading.expand(seeds, k, **{"neighbors": 0, "vectors": 0, **options})  # there are none on Spark
        assert [tuple(hit)[:6] for hit in hits] == [tuple(hit)[:6] for hit in expected]
        assert (hits.blank, hits.learned) == (expected.blank, expected.learned)
        assert (hits.contexts_revision is None) == (expected.contexts_revision is None)
    return found


def test_words_by_contexts(both):
    index, on_spark, _ = both
    reading, other = index.items("terms"), on_spark.items("terms")
    sets = [["pear", "Plum"], ["iron"], ["tin", "zinc", "gold"], ["new york"]]
    (fruits, *_) = same(reading, other, sets, explain=True)
    assert fruits[0].item == "fig"
    assert any("_" in part.feature for part in fruits[0].features), "contexts are told in words"
    for by in ("contexts", "documents", "both"):
        same(reading, other, sets[:2], by=by)
    same(reading, other, [{"pear": 2, "plum": 0.5}])


def test_words_without_contexts_count_by_their_documents(both):
    index, on_spark, _ = both
    reading, other = index.items("terms"), on_spark.items("terms")
    assert reading.words_without_contexts(RARE) == other.words_without_contexts(RARE) == RARE
    same(reading, other, [["pear", RARE[0]], RARE, [RARE[1], "tin"]], cut="mark")
    same(reading, other, [["pear", "plum"]], exclude=[RARE[0], "iron"])
    with pytest.raises(errors.InvalidParameter, match=f"set 1: '{RARE[0]}' is both"):
        other.expand_many([["pear", RARE[0]]], exclude=RARE)


@pytest.mark.parametrize("name", ["terms", "documents"])
def test_what_belongs(both, name):
    index, on_spark, _ = both
    reading, other = index.items(name), on_spark.items(name)
    seeds = ["pear", "plum"] if name == "terms" else [row["id"] for row in texts()[:2]]
    for options in (
        {"cut": "mark"},
        {"cut": "keep"},
        {"cut": "mark", "keep_seeds": True},
        {"model": "bernoulli", "cut": "mark"},
    ):
        same(reading, other, [seeds, seeds[:1]], 5, **options)
    same(reading, other, [seeds], None, cut="keep")


def test_all_that_belong_are_found_however_many(both, monkeypatch):
    monkeypatch.setattr("setsearch.spark.reading.FIRST", 1)
    monkeypatch.setattr("setsearch.spark.reading.DEEPER", 2)
    index, on_spark, _ = both
    same(index.items("documents"), on_spark.items("documents"), [[texts()[0]["id"]]], None, cut="keep")


@pytest.mark.parametrize("name", ["terms", "documents"])
def test_rejected_items(both, name):
    """Documents learn what separates them, of words contexts count less; a coefficient subtracts from both."""
    index, on_spark, _ = both
    reading, other = index.items(name), on_spark.items(name)
    ids = [row["id"] for row in texts()]
    sets, rejected = (
        ([["pear", "plum"], ["fig"]], ["iron", "lead"]) if name == "terms" else ([ids[:2], ids[2:3]], ids[7:12])
    )
    learned = same(reading, other, sets, exclude=rejected, cut="mark", explain=True)
    assert learned[0].learned == (name == "documents")
    same(reading, other, sets, exclude=rejected, gamma=0.5)
    same(reading, other, sets, exclude=rejected, gamma=0)
    same(reading, other, sets[:1], exclude=rejected[:1], keep_seeds=True, model="bernoulli", gamma=0.3)
    with pytest.raises(errors.InvalidParameter, match="both a seed and in `exclude`"):
        other.expand(sets[0], exclude=sets[0][:1])


def test_rejected_items_of_sets_that_others_join(both):
    """A first pass does not tell of what rejected items teach, and is less what they subtract."""
    index, on_spark, _ = both
    reading, other = index.items("documents"), on_spark.items("documents")
    ids, rng = [row["id"] for row in texts() if row["text"][:1].isalpha()], random.Random(2)
    sets, rejected = [rng.sample(ids[10:], n) for n in (3, 4, 5) * 6], ids[5:9]
    few = {"setsearch.search.cutoff.FEW": 0, "setsearch.search.cutoff.UNLIKE": 0.1}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in few.items():
            patch.setattr(name, value)
        for options in ({}, {"gamma": 0.9}, {"gamma": 0.0}):
            same(reading, other, sets, 5, exclude=rejected, cut="mark", **options)


def test_only_some_may_be_returned(both):
    index, on_spark, _ = both
    ids = [row["id"] for row in texts()]
    words = ["apple", "iron", "nowhere", "Tin", RARE[0]]
    for options in ({}, {"model": "bernoulli"}, {"cut": "mark", "explain": True}):
        same(
            index.items("documents"),
            on_spark.items("documents"),
            [ids[:2]],
            40,
            among=[*ids[1:50:2], "none"],
            **options,
        )
        same(index.items("terms"), on_spark.items("terms"), [["pear", "plum"]], among=words, **options)
    for reading in (index.items("terms"), on_spark.items("terms")):
        with pytest.raises(errors.NothingToRank):
            reading.expand(["pear"], among=["nowhere"])
    with pytest.raises(errors.InvalidParameter, match="list of ids"):
        on_spark.items("documents").expand(ids[:1], among=Where("year > 3"))


def test_explanations(both):
    index, on_spark, _ = both
    ids = [row["id"] for row in texts()]
    for name, seeds, item in (
        ("terms", ["pear", "plum"], "fig"),
        ("terms", ["pear"], RARE[0]),
        ("documents", ids[:2], ids[2]),
    ):
        for options in ({}, {"model": "bernoulli"}):
            expected = index.items(name).explain(seeds, item, neighbors=0, vectors=0, **options)
            assert on_spark.items(name).explain(seeds, item, **options) == expected


def test_contexts_come_along_from_a_database(spark, both):
    index, _, folder = both
    from_sqlite(spark, folder / "x.db", str(folder / "again"))
    again = SparkIndex(spark, str(folder / "again"))
    same(index.items("terms"), again.items("terms"), [["pear", "plum"], ["tin", RARE[0]]], cut="mark", explain=True)
    same(index.items("documents"), again.items("documents"), [[texts()[1]["id"]]], exclude=[texts()[9]["id"]])


def test_stems_contexts_and_inflections(spark, tmp_path):
    rows = texts(60)
    with setsearch.open(tmp_path / "x.db", create=True, language="english", contexts="on") as index:
        index.add([(row["id"], row["text"], row["title"]) for row in rows])
        source = read_source(spark, jsonl(tmp_path / "docs.jsonl", rows))
        build(spark, cells_of(source, Columns(), Analyzer("english"), "on"), str(tmp_path / "index"))
        on_spark = SparkIndex(spark, str(tmp_path / "index")).items("terms")
        same(index.items("terms"), on_spark, [["pears", "Plums"], ["melting"], ["pear", RARE[0]]], cut="mark")


def test_contexts_are_automatic_for_large_collections(spark, tmp_path, monkeypatch):
    frame = read_source(spark, jsonl(tmp_path / "docs.jsonl", texts(12)))
    assert not build(spark, cells_of(frame, Columns(), Analyzer()), str(tmp_path / "index")).contexts
    monkeypatch.setattr("setsearch.spark.builder.FEWEST_WORDS", 100)
    build(spark, cells_of(frame, Columns(), Analyzer()), str(tmp_path / "index"))
    on_spark = SparkIndex(spark, str(tmp_path / "index"))
    assert [own.features for own, _ in on_spark.layout.contexts] == [
        "contexts win2",
        "contexts skip",
        "contexts lists",
        "contexts titled",
        "documents",
    ]
    with pytest.raises(errors.InvalidParameter, match="contexts is one of"):
        cells_of(frame, Columns(), Analyzer(), "some")


def test_what_an_index_on_spark_lacks_is_refused(both):
    _, on_spark, _ = both
    terms, documents = on_spark.items("terms"), on_spark.items("documents")
    for name, value in (
        ("vectors", 1.0),
        ("purpose", "likes"),
        ("fresh", "now"),
        ("snippets", True),
        ("fold", True),
        ("filter", ["year > 3"]),
    ):
        with pytest.raises(errors.InvalidParameter, match=f"'{name}' is not for Spark"):
            documents.expand([texts()[0]["id"]], **{name: value})
    with pytest.raises(errors.InvalidParameter, match="bernoulli is by documents"):
        terms.expand(["pear"], model="bernoulli", by="contexts")
    with pytest.raises(errors.UnknownItem, match="one of the documents; rank the documents with"):
        terms.expand([texts()[0]["id"]])
    with pytest.raises(errors.UnknownItem, match="one of the terms; rank the terms with"):
        documents.expand(["pear"])
