"""The index on Spark gives the answers of the SQLite index: same items, order, ties, and scores to the bit."""

import json
import random
import shutil
from pathlib import Path

import pytest

import setsearch
from setsearch import Columns, errors
from setsearch.spark import SparkIndex, build, cells_of, from_sqlite, read_source, to_sqlite
from setsearch.spark.builder import median
from setsearch.text.analyzer import Analyzer

pytestmark = pytest.mark.long  # a job takes Spark a third of a second, however small
WORDS = "lion tiger leopard cat dog wheat barley oats rye field savanna the a of and Über straße".split()


def texts(count, seed=0):
    """Documents of random words, some of them equal, one empty; ids in no order, some beyond ASCII."""
    rng = random.Random(seed)
    weights = [1 / (1 + n) for n in range(len(WORDS))]
    rows = []
    for n in range(count):
        words = rng.choices(WORDS, weights, k=rng.choice([1, 3, 8, 20]))
        rows.append({"id": f"{rng.choice('zaéB𝔘')}{n}", "text": " ".join(words), "title": f"T{n // 2}"})
    rows[3]["text"] = rows[4]["text"] = rows[5]["text"]
    rows[6]["text"] = ""
    return rows


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture(scope="module")
def both(spark, tmp_path_factory):
    """The same documents in a database and on Spark."""
    folder, rows = tmp_path_factory.mktemp("both"), texts(120)
    source = jsonl(folder / "docs.jsonl", rows)
    build(spark, cells_of(read_source(spark, source), Columns(), Analyzer()), str(folder / "index"))
    with setsearch.open(folder / "x.db", create=True, contexts="off") as index:
        index.add([(row["id"], row["text"], row["title"]) for row in rows])
        yield index, SparkIndex(spark, str(folder / "index")), folder


def same(reading, on_spark, sets, k=200, **options):
    """Both answers, to the bit."""
    found = on_spark.expand_many(sets, k, **options)
    for seeds, hits in zip(sets, found, strict=True):
        expected = [tuple(hit)[:4] for hit in reading.expand(seeds, k, **options)]
        assert [tuple(hit)[:4] for hit in hits] == expected


@pytest.mark.parametrize("name", ["documents", "terms"])
@pytest.mark.parametrize("options", [{}, {"model": "bernoulli", "strength": 3.0}], ids=["lift", "bernoulli"])
def test_the_same_answers(both, name, options):
    index, on_spark, _ = both
    reading = index.items(name)
    with reading.stored() as fields:
        names = fields.items.names()
    rng = random.Random(name)
    sets = [rng.sample(names, count) for count in (1, 2, 3, 10)]
    same(reading, on_spark.items(name), sets, **options)
    same(reading, on_spark.items(name), sets[:1], k=3, keep_seeds=True, **options)


def test_other_options_give_the_same(both):
    index, on_spark, _ = both
    reading, other = index.items("documents"), on_spark.items("documents")
    assert other._repr_html_() == reading._repr_html_(), "as notebooks show them"
    seeds = [[hit.item for hit in reading.expand([texts(120)[0]["id"]], 2)]]
    for options in ({"popularity": 0.7}, {"binarize": "presence", "model": "lift"}, {"strength": 0.5}):
        same(reading, other, seeds, k=20, **options)


def test_a_relation_gives_the_same(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("setsearch.spark.builder.BUCKET_SIZE", 50)
    monkeypatch.setattr("setsearch.spark.builder.SLICE", 7)
    rng = random.Random(5)
    rows = [
        {"film": f"f{rng.randint(0, 30)}", "user": f"u{rng.randint(0, 40)}", "n": rng.randint(0, 3)} for _ in range(400)
    ]
    columns = Columns(items="film", features="user", count="n")
    source = jsonl(tmp_path / "likes.jsonl", rows)
    spark.read.json(source).write.parquet(str(tmp_path / "likes"))
    counts = {}
    for row in rows:
        own = counts.setdefault(row["film"], {})
        own[row["user"]] = own.get(row["user"], 0) + row["n"]
    kept = [(film, {user: n for user, n in own.items() if n}) for film, own in counts.items()]
    build(spark, cells_of(read_source(spark, str(tmp_path / "likes")), columns, Analyzer()), str(tmp_path / "index"))
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(kept, ("film", "user"))
        for name, seeds in (("film", ["f1", "f2"]), ("user", ["u3"])):
            same(index.items(name), SparkIndex(spark, str(tmp_path / "index")).items(name), [seeds], 50, explain=True)
        # Sets that tell what belongs and others, asked together.
        other, sets = SparkIndex(spark, str(tmp_path / "index")).items("film"), []
        for size in (1, 2, 3, 4):
            sets += [rng.sample([name for name, _ in kept], size) for _ in range(4)]
        answers = [index.items("film").expand(seeds, 5, cut="mark") for seeds in sets]
        assert other.expand_many(sets, 5, cut="mark") == answers
        assert {hits[0].belongs is None for hits in answers} == {True, False}


def test_items_with_several_fields_are_refused(spark, tmp_path):
    with setsearch.open(tmp_path / "f.db", create=True, contexts="off") as index:
        index.add([setsearch.Item("a", "lion", None, None, {"tags": ["cat"], "year": 1999})])
    with pytest.raises(
        errors.UsageError, match="Spark has one field, documents also tags, year; index them without these"
    ):
        from_sqlite(spark, tmp_path / "f.db", str(tmp_path / "index"))


def test_texts_are_read_without_tags(spark, tmp_path):
    rows = [
        {"id": "a", "title": "R&amp;D", "text": "<p>_red_ lions</p>"},
        {"id": "b", "title": None, "text": "red <b>tigers</b>"},
        {"id": "c", "title": "C", "text": None},
        {"id": "d", "title": "D", "text": "blue wheat"},
    ]
    source = jsonl(tmp_path / "docs.jsonl", rows)
    build(spark, cells_of(read_source(spark, source), Columns(), Analyzer()), str(tmp_path / "index"))
    on_spark = SparkIndex(spark, str(tmp_path / "index"))
    with setsearch.open(tmp_path / "x.db", create=True, contexts="off") as index:
        index.add_frame(rows)
        for name, seed in (("documents", "b"), ("terms", "tigers")):
            same(index.items(name), on_spark.items(name), [[seed]])


def test_there_and_back_again(spark, tmp_path):
    """A collection of stems, to Parquet, and all and parts of it to databases again."""
    rows = texts(120)
    with setsearch.open(tmp_path / "x.db", create=True, language="english", stop_words=True, contexts="off") as index:
        index.add([(row["id"], row["text"], row["title"]) for row in rows])
        seeds, expected = [rows[10]["id"]], index.items("documents").expand([rows[10]["id"]], 30)
    place = str(tmp_path / "index")
    from_sqlite(spark, tmp_path / "x.db", place)
    assert SparkIndex(spark, place).items("documents").expand(seeds, 30) == [
        hit._replace(belongs=None) for hit in expected
    ]
    assert "lion" in {hit.item for hit in SparkIndex(spark, place).items("terms").expand(["Tigers"], 99)}
    assert to_sqlite(spark, place, tmp_path / "back.db") == 120
    with setsearch.open(tmp_path / "back.db") as back:
        assert back.check() == []
        assert back.items("documents").expand(seeds, 30) == expected
        back.update([("new", "the dogs of lions")])
        assert back.items("documents").features_of("new") == {"dog": 1, "lion": 1}, "the analyzer came along"
    assert to_sqlite(spark, place, tmp_path / "part.db", where="length > 5 and name like 'z%'") > 0
    to_sqlite(spark, place, tmp_path / "sample.db", sample=0.3)
    with setsearch.open(tmp_path / "part.db") as part, setsearch.open(tmp_path / "sample.db") as sample:
        with part.items("documents").stored() as fields:
            names = fields.items.names()
        assert all(name.startswith("z") and len(part.items("documents").features_of(name)) > 5 for name in names)
        assert 10 < sample.items("documents").item_count() < 70


def test_stems_are_shown_as_they_are_written(spark, tmp_path):
    rows = [
        ("a", "the running dogs and the dogs"),
        ("b", "a dog is running, runs and runs with dogs"),
        ("c", "running"),
        ("d", "cats"),
        ("e", "cats and dogs"),
    ]
    frame = spark.createDataFrame(rows, "id string, text string")
    analyzer = Analyzer("english", stop_words=True)
    build(spark, cells_of(frame, Columns(), analyzer), str(tmp_path / "index"))
    with setsearch.open(tmp_path / "x.db", create=True, language="english", stop_words=True, contexts="off") as index:
        index.add(rows)
        terms = index.items("terms")
        assert {hit.item for hit in terms.expand(["runs"], by="documents")} == {"dogs", "cats"}
        same(terms, SparkIndex(spark, str(tmp_path / "index")).items("terms"), [["runs"], ["cat"]], by="documents")


def test_items_without_features_can_be_asked_for(spark, tmp_path):
    frame = spark.createDataFrame([("a", ""), ("b", "…"), ("c", None)], "id string, text string")
    build(spark, cells_of(frame, Columns(), Analyzer()), str(tmp_path / "index"))
    for model in ("lift", "bernoulli"):
        hits = SparkIndex(spark, str(tmp_path / "index")).items("documents").expand(["b"], model=model)
        assert [(hit.item, hit.score) for hit in hits] == [("a", 0.0), ("c", 0.0)]


def test_untouched_items_are_found_however_many_are_touched(spark, tmp_path, monkeypatch):
    """Where the first items of highest base are all touched, the workers look for the others."""
    monkeypatch.setattr("setsearch.spark.ranking.RESERVE", 1)
    rng = random.Random(2)
    items = [(f"i{n:02}", ["every", *rng.sample("abcdef", rng.randint(0, 4))]) for n in range(40)]
    rows = [{"film": film, "user": user} for film, users in items for user in users]
    build(
        spark,
        cells_of(spark.createDataFrame(rows), Columns(items="film", features="user"), Analyzer()),
        str(tmp_path / "index"),
    )
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(items, ("film", "user"))
        films, on_spark = index.items("film"), SparkIndex(spark, str(tmp_path / "index")).items("film")
        for options in ({"model": "bernoulli"}, {"model": "bernoulli", "strength": 40.0}, {}):
            for k in (1, 3, 30, 10**9):
                same(films, on_spark, [["i03"], ["i04", "i05"]], k, **options)
        on_spark.release()
        assert not len(on_spark._source.bases)
        monkeypatch.setattr("setsearch.spark.field.MOST_ACTIVE", 2)
        with pytest.raises(errors.InvalidParameter, match="more than 2 user"):
            on_spark.expand(["i03", "i04", "i05"])


def test_terms_of_a_relation_are_terms(spark, tmp_path):
    """A relation whose features are called terms is a collection of texts, here as in a file."""
    docs = [(f"d{n}", words.split()) for n, words in enumerate(["a b", "b c", "a c d", "d"])]
    rows = [{"doc": doc, "terms": word} for doc, words in docs for word in words]
    columns = Columns(items="doc", features="terms")
    build(spark, cells_of(spark.createDataFrame(rows), columns, Analyzer()), str(tmp_path / "index"))
    on_spark = SparkIndex(spark, str(tmp_path / "index"))
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(docs, ("doc", "terms"))
        assert on_spark.items().name == index.items().name == "terms"
        same(index.items("doc"), on_spark.items("doc"), [["d0"], ["d1", "d2"]])


def test_odd_cells_are_refused(spark, tmp_path):
    def relation(count, type_="double"):
        frame = spark.createDataFrame([("a", "x", count)], f"item string, feature string, n {type_}")
        return build(
            spark,
            cells_of(frame, Columns(items="item", features="feature", count="n"), Analyzer()),
            str(tmp_path / "index"),
        )

    for count, type_ in [(0.7, "double"), (-1.0, "double"), (None, "double"), ("many", "string"), (2**31, "bigint")]:
        with pytest.raises(errors.SourceError, match="no count"):
            relation(count, type_)
    frame = spark.createDataFrame([(1.5, ["a", None]), (2.5, ["b"])], "id double, text array<string>")
    with pytest.raises(errors.InvalidItem, match="is double"):
        cells_of(frame, Columns(), Analyzer())
    cells = cells_of(frame.withColumn("id", frame.id.cast("int")), Columns(), Analyzer()).cells.collect()
    assert {(row.item, row.feature) for row in cells} == {("1", "a"), ("2", "b")}
    odd = spark.createDataFrame([("a", {"x": "y"})], "id string, text map<string, string>")
    with pytest.raises(errors.SourceError, match="map"):
        cells_of(odd, Columns(), Analyzer())
    for place in ("", "/", "a*", "x[1]"):
        with pytest.raises(errors.InvalidParameter, match="place"):
            build(spark, cells_of(frame.withColumn("id", frame.id.cast("int")), Columns(), Analyzer()), place)


def test_mistakes_are_told(spark, both, tmp_path):
    _, on_spark, folder = both
    reading = on_spark.items("documents")
    for call, kind in [
        (lambda: reading.expand(["nobody"]), errors.UnknownItem),
        (lambda: reading.expand(["\ud800"]), errors.UnknownItem),
        (lambda: reading.expand([""]), errors.UnknownItem),
        (lambda: reading.expand(["T1"]), errors.AmbiguousItem),
        (lambda: reading.expand([]), errors.NoSeeds),
        (lambda: reading.expand(["T1"], model="poisson"), errors.InvalidParameter),
        (lambda: reading.expand(["T1"], 0), errors.InvalidParameter),
        (lambda: on_spark.items("planets"), errors.InvalidParameter),
        (lambda: SparkIndex(spark, str(tmp_path)), errors.NoIndex),
        (lambda: read_source(spark, str(tmp_path / "none")), errors.SourceError),
        (lambda: to_sqlite(spark, on_spark.layout.place, folder / "x.db"), errors.UsageError),
        (lambda: to_sqlite(spark, on_spark.layout.place, tmp_path / "y.db", where="no such"), errors.SourceError),
        (lambda: to_sqlite(spark, on_spark.layout.place, tmp_path / "y.db", where="length > 999"), errors.SourceError),
    ]:
        with pytest.raises(kind) as told:
            call()
        assert "\n" not in str(told.value)

    def given(rows, columns=Columns()):  # noqa: B008
        frame = spark.createDataFrame(rows, "id string, text string")
        build(spark, cells_of(frame, columns, Analyzer()), str(tmp_path / "bad"))

    for rows, kind in [
        ([("a", "x"), ("a", "y")], errors.DuplicateItem),
        ([(None, "x")], errors.InvalidItem),
        ([("", "x")], errors.InvalidItem),
        ([], errors.SourceError),
    ]:
        with pytest.raises(kind):
            given(rows)
    with pytest.raises(errors.SourceError, match="body"):
        given([("a", "x")], Columns(text="body"))
    assert not (tmp_path / "y.db").exists()


def test_a_build_that_stops_leaves_no_index(spark, both, tmp_path, monkeypatch):
    place = str(tmp_path / "index")
    shutil.copytree(both[1].layout.place, place)
    assert SparkIndex(spark, place).items("documents").name == "documents"
    frame = spark.createDataFrame([("a", "x y"), ("b", "y")], "id string, text string")
    monkeypatch.setattr("setsearch.spark.builder._write_side", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build(spark, cells_of(frame, Columns(), Analyzer()), place)
    with pytest.raises(errors.NoIndex):
        SparkIndex(spark, place)


def test_the_median_is_exact(spark, tmp_path):
    rng = random.Random(1)
    for values in (
        [1.0],
        [1.0, 2.0],
        [2.0] * 9,
        [1.0] * 5 + [2.0] * 5,
        [rng.random() for _ in range(100)],
        [1, 2, 3, 4.5],
    ):
        frame = spark.createDataFrame([(float(value),) for value in values], "x double")
        ordered = sorted(values)
        expected = (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2
        assert median(spark, frame, "x", str(tmp_path / "stage")) == expected
    assert median(spark, spark.createDataFrame([], "x double"), "x", str(tmp_path / "stage")) == 1.0


def test_als_is_compared(spark, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from als import als_score

    from setsearch.learning.evaluation import Design, evaluate
    from setsearch.search.passes import Weighing

    with setsearch.open(tmp_path / "x.db", create=True) as index:
        rng = random.Random(3)
        films = [(f"{g}{n}", [f"{g}u{rng.randint(0, 9)}" for _ in range(6)]) for g in "ab" for n in range(12)]
        index.add(films, ("film", "user"))
        reading = index.items("film")
        with reading.fields() as fields:
            rivals = {"ALS (spark.ml)": als_score(spark, fields)}
            sets = {g: [f"{g}{n}" for n in range(12)] for g in "ab"}
            evaluation = evaluate(Weighing(fields, reading.defaults.choose({})), sets, Design(3, 3), rivals=rivals)
    (als,) = [result for result in evaluation.results if result.method == "ALS (spark.ml)"]
    assert als.map > 0.8
    assert als.options is None
