"""A set as a query of other engines: on their own indexes, in the order of our scores without the base."""

import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import setsearch
from setsearch import Statistics
from setsearch.errors import UsageError

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from other_engines import elasticsearch_query, lucene_query, postgres_query, tantivy_query

CORPUS = Path(__file__).parent.parent.parent / "sample_corpus" / "wordnet.jsonl"
WORDS = [kind + letter for kind in ("cat", "dog", "crop") for letter in "abcdefghijkl"]


def documents():
    """Texts of three topics, which mix."""
    rng = random.Random(5)
    for number in range(400):
        topic = rng.choice(["cat", "dog", "crop"])
        own = [word for word in WORDS if word.startswith(topic)]
        yield f"d{number:03}", " ".join(rng.choices(own, k=8) + rng.choices(WORDS, k=4))


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(documents())
        yield index


def sums(index, query, seeds=()):
    """What a query adds to each document, by its definition."""
    reading, found = index.items("documents"), {}
    for feature, amount in query.weights:
        if amount > 0:
            for name in reading.postings(feature):
                found[name] = found.get(name, 0.0) + amount
    return dict(sorted(found.items(), key=lambda part: (-part[1], part[0])))


def test_a_query_is_the_score_without_its_base(index):
    reading, seeds = index.items("documents"), ["d001", "d007", "d020"]
    query = reading.query(seeds, model="bernoulli")
    for hit in reading.expand(seeds, 20, model="bernoulli"):
        explained = reading.explain(seeds, hit.item, model="bernoulli")
        added = sum(amount for feature, amount in query.weights if feature in reading.features_of(hit.item))
        assert query.constant + explained.base + added == pytest.approx(hit.score, abs=1e-9)
    assert reading.query(seeds, 3, model="bernoulli").weights == query.weights[:3]
    with_no = reading.query(["d001"], exclude=["d002", "d003"], gamma=0.5, model="bernoulli")
    assert any(amount < 0 for _, amount in with_no.weights)
    for feature, amount in reading.query(seeds, 3).weights:  # of lift, an average
        parts = [reading.explain(seeds, name).features for name in reading.postings(feature)]
        amounts = [part.weight for own in parts for part in own if part.feature == feature]
        assert amount == pytest.approx(sum(amounts) / len(amounts), abs=1e-9)


def test_words_by_contexts_have_no_query(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        rows = map(json.loads, CORPUS.read_text().splitlines()[:1000])
        index.add((row["id"], row["text"]) for row in rows)
        index.refresh("now")
        terms = index.items("terms")
        words = [hit.item for hit in terms.expand(["instrument"], 2, by="contexts")]
        with pytest.raises(UsageError, match="by='documents'"):
            terms.query(words)
        assert terms.query(words, by="documents").weights


def test_statistics_of_another_engine(index, tmp_path):
    reading, seeds = index.items("documents"), ["d001", "d007", "d020"]
    own = Statistics(400, lambda names: [reading.document_frequency(name) for name in names])
    for options in ({"model": "bernoulli"}, {}, {"exclude": ["d002"], "model": "bernoulli", "gamma": 0.5}):
        amounts = dict(reading.query(seeds, **options).weights)
        assert dict(reading.query(seeds, engine=own, **options).weights) == pytest.approx(amounts, abs=1e-6)
    larger = Statistics(40_000, lambda names: [30 * reading.document_frequency(name) for name in names])
    for feature, amount in reading.query(seeds, engine=larger, model="bernoulli", strength=3.0).weights:
        having = sum(feature in reading.features_of(seed) for seed in seeds)
        p = 30 * reading.document_frequency(feature) / 40_000
        alpha, beta = 3.0 * p, 3.0 * (1 - p)  # equations 8 and 9 of the paper
        weight = math.log((alpha + having) / alpha) - math.log((beta + 3 - having) / beta)
        background = -math.log((beta + 3) / beta)
        assert amount == pytest.approx(weight - background, rel=1e-9)
    with pytest.raises(UsageError, match="lift and bernoulli"):
        reading.query(seeds, engine=own, model="poisson")


@pytest.fixture(scope="module")
def lucene():
    """The package of Lucene in a virtual machine of Java."""
    jpype = pytest.importorskip("jpype", reason="needs JPype: pip install JPype1")
    jars = [str(path) for path in Path("/usr/share/java").glob("lucene-*-8.*.jar")]
    if not jars or shutil.which("java") is None:
        pytest.skip("needs Lucene: apt-get install liblucene8-java")
    if not jpype.isJVMStarted():
        jpype.startJVM(classpath=jars)
    return jpype.JPackage("org").apache.lucene


def as_elasticsearch_does(lucene, query):
    """The query of Lucene that Elasticsearch makes of JSON."""
    every = lucene.search.BooleanQuery.Builder()
    for clause in query["bool"]["should"]:
        ((field, term),) = clause["constant_score"]["filter"]["term"].items()
        own = lucene.search.TermQuery(lucene.index.Term(field, term["value"]))
        constant = lucene.search.ConstantScoreQuery(own)
        boosted = lucene.search.BoostQuery(constant, clause["constant_score"]["boost"])
        every.add(boosted, lucene.search.BooleanClause.Occur.SHOULD)
    return every.build()


@pytest.mark.long
def test_lucene_ranks_alike(tmp_path, lucene):
    """Terms stay as they are, whatever the analyzer of the parser does."""
    odd = ["TO", 'say"so', "back\\slash", "a:b", "NOT", "wine*", "straße", "日本"]
    rng = random.Random(2)
    texts = [(id, " ".join([text, *rng.sample(odd, 2)])) for id, text in documents()]
    place, analyzer = lucene.store.ByteBuffersDirectory(), lucene.analysis.core.WhitespaceAnalyzer()
    writer = lucene.index.IndexWriter(place, lucene.index.IndexWriterConfig(analyzer))
    stored, absent = lucene.document.Field.Store.YES, lucene.document.Field.Store.NO
    for id, text in texts:
        document = lucene.document.Document()
        document.add(lucene.document.StringField("id", id, stored))
        document.add(lucene.document.TextField("body", text, absent))
        writer.addDocument(document)
    writer.close()
    searcher = lucene.search.IndexSearcher(lucene.index.DirectoryReader.open(place))
    parser = lucene.queryparser.classic.QueryParser("body", lucene.analysis.en.EnglishAnalyzer())
    with setsearch.open(tmp_path / "b.db", create=True, contexts="off", analyzer=str.split) as index:
        index.add(texts)
        for options in ({"model": "bernoulli"}, {}):
            query = index.items("documents").query(["d001", "d007", "d020"], 60, **options)
            assert set(odd) & {feature for feature, _ in query.weights}
            expected = sums(index, query)
            by_syntax = parser.parse(lucene_query(query, "body"))
            by_json = as_elasticsearch_does(lucene, elasticsearch_query(query, "body"))
            for asked in (by_syntax, by_json):
                hits = searcher.search(asked, 400).scoreDocs
                scores = {str(searcher.doc(hit.doc).get("id")): hit.score for hit in hits}
                assert scores == {name: pytest.approx(score, rel=1e-5) for name, score in expected.items()}


def test_tantivy_ranks_alike(index):
    tantivy = pytest.importorskip("tantivy", reason="needs tantivy: pip install tantivy")
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", tokenizer_name="whitespace")
    schema = builder.build()
    engine = tantivy.Index(schema)
    writer = engine.writer()
    for id, text in documents():
        writer.add_document(tantivy.Document(id=id, body=text))
    writer.commit()
    writer.wait_merging_threads()
    engine.reload()
    searcher = engine.searcher()
    for options in ({"model": "bernoulli"}, {}):
        query = index.items("documents").query(["d001", "d007", "d020"], 50, **options)
        expected = sums(index, query)
        hits = searcher.search(tantivy_query(query, schema, "body"), 400).hits
        scores = {searcher.doc(address)["id"][0]: score for score, address in hits}
        assert scores == {name: pytest.approx(score, rel=1e-5) for name, score in expected.items()}


@pytest.fixture
def postgres():
    """A connection to a server of Postgres of its own; root starts it as another user."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install psycopg[binary]")
    places = [*os.environ["PATH"].split(os.pathsep), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    initdb = shutil.which("initdb", path=os.pathsep.join(places))
    if initdb is None:
        pytest.skip("needs a server of Postgres: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp())
    as_user = {"user": "postgres", "cwd": "/"} if os.geteuid() == 0 else {}
    if as_user:
        shutil.chown(folder, "postgres")
    tools = Path(initdb).resolve().parent

    def run(tool, *arguments):
        command = [tools / tool, "-D", folder / "data", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)

    run("initdb", "-U", "tester", "-A", "trust")
    run("pg_ctl", "-w", "-l", folder / "log", "-o", f"-k {folder} -c listen_addresses=''", "start")
    with psycopg.connect(host=str(folder), user="tester", dbname="postgres") as connection:
        yield connection
    run("pg_ctl", "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.mark.long
def test_postgres_ranks_alike(index, postgres):
    cursor = postgres.cursor()
    cursor.execute("create table articles (id text primary key, words tsvector)")
    cursor.executemany("insert into articles values (%s, array_to_tsvector(%s))",
                       [(id, sorted(set(text.split()))) for id, text in documents()])  # fmt: skip
    cursor.execute("create index on articles using gin (words)")
    for options in ({"model": "bernoulli"}, {}):
        query = index.items("documents").query(["d001", "d007", "d020"], 50, **options)
        expected = sums(index, query)
        cursor.execute(*postgres_query(query, "articles", "id", "words", 400))
        found = dict(cursor.fetchall())
        assert found == {name: pytest.approx(score, rel=1e-9) for name, score in expected.items()}
        assert json.dumps([*found.values()]) == json.dumps(sorted(found.values(), reverse=True))
