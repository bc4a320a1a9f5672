"""Several collections in one database: each answers as if it had a database of its own."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from samples import TEXTS

import setsearch
from setsearch import Columns, Where
from setsearch.errors import InvalidParameter, UnknownReading, UsageError

GERMAN = [("1", "die Monde des Jupiter"), ("2", "der Mond des Saturn"), ("3", "Nudeln mit Tomaten"), ("4", "Tomaten")]
WORDS = st.sampled_from("moon moons ring rings pasta sauce tomato basil jupiter saturn".split())
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["articles", "comments", ""]),
        st.sampled_from(["update", "delete", "replace"]),
        st.integers(0, 5).map(str),
        st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
    ),
    min_size=3,
    max_size=12,
)
ANIMALS = "wolf fox bear deer wolf fox bear hare".split()
MODELS = ({"model": "bernoulli", "binarize": "presence"}, {"model": "multinomial"})
ANALYZED = {"articles": {"language": "english"}, "comments": {"contexts": "on"}, "": {}}


def answers(index, items):
    """All that a reading says about its first items."""
    reading = index.items(items)
    seeds = names_of(reading)[:2]
    hits = [reading.expand(seeds, 100, keep_seeds=True, **model) for model in MODELS]
    return [(hit.item, hit.score) for found in hits for hit in found], reading.features(seeds, 20, **MODELS[0])


def names_of(reading):
    with reading.stored() as fields:
        return sorted(name for name, _ in fields.describe(fields.item_ids().tolist()).values())


@pytest.mark.long
@examples(15)
@given(STEPS)
def test_a_collection_answers_as_a_database_of_its_own(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("collections")
    shared, alone = {}, {}
    for name, options in ANALYZED.items():
        shared[name] = setsearch.open(folder / "all.db", create=True, collection=name, **options)
        alone[name] = setsearch.open(folder / f"{name or 'plain'}.db", create=True, **options)
    written = {name: set() for name in ANALYZED}
    for name, step, id, text in steps:
        if step == "delete" and id not in written[name]:
            continue
        for index in (shared[name], alone[name]):
            if step == "delete":
                index.delete([id])
            else:
                getattr(index, step)([(id, text)])
        written[name] = {*(written[name] if step != "replace" else ()), id} - ({id} if step == "delete" else set())
        for own, ids in written.items():
            for items in ("documents", "terms") if ids else ():
                assert answers(shared[own], items) == answers(alone[own], items)
                assert answers(shared[""], f"{own}/{items}" if own else items) == answers(alone[own], items)
    if any(written.values()):
        assert shared[""].check() == []


def test_words_of_a_collection_have_their_own_contexts(tmp_path):
    def described(collection, path):
        with setsearch.open(path, create=True, collection=collection, contexts="on") as index:
            index.add((str(n), f"the lion and the tiger saw a {word}") for n, word in enumerate(ANIMALS))
            index.refresh()
            hits = [index.items().expand(["lion"], 50, by=by, explain=True) for by in ("both", "contexts", None)]
            assert hits[0].contexts_revision == 1
            return [[(hit.item, hit.score, hit.features) for hit in found] for found in hits], index.info()["contexts"]

    setsearch.open(tmp_path / "x.db", create=True).add([("1", "another collection")])
    assert described("comments", tmp_path / "x.db") == described("", tmp_path / "y.db")


@pytest.fixture
def shop(tmp_path):
    """A shop with articles and comments in tables, each a collection that is tracked."""
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("create table articles (id integer primary key, body text, year int)")
    connection.execute("create table comments (id integer primary key, body text)")
    connection.executemany("insert into articles (body, year) values (?, 2001)", [(text,) for _, text in TEXTS])
    connection.executemany("insert into comments (body) values (?)", [(text,) for _, text in GERMAN])
    connection.commit()
    for table, language in (("articles", "english"), ("comments", "german")):
        with setsearch.open(path, collection=table, language=language) as index:
            index.add_table(table, Columns(text="body"), track=True)
    return connection, path


def test_each_collection_has_its_language_and_its_changes(shop):
    connection, path = shop
    comments = setsearch.open(path, collection="comments")
    assert [hit.item for hit in comments.items("documents").expand(["1"], 1, model="bernoulli")] == ["2"]
    assert comments.items().name == "comments/terms"
    assert [reading["items"] for reading in comments.readings()] == ["comments/documents", "comments/terms"]
    assert {reading["items"] for reading in setsearch.open(path).readings()} > {"articles/documents", "comments/terms"}
    connection.execute("insert into comments (body) values ('noch ein Mond')")
    connection.execute("insert into articles (body, year) values ('one more', 2002)")
    connection.commit()
    assert comments.refresh().written == 1
    assert setsearch.open(path).refresh().written == 1, "without a name, all collections"
    assert setsearch.open(path, language="german").check() == []


def test_conditions_and_sql_functions_know_collections(shop):
    connection, path = shop
    articles = setsearch.open(path, collection="articles").items("documents")
    assert articles.expand(["1"], among=Where("id = 3"), model="bernoulli")[0].item == "3"
    assert setsearch.open(path).table_source("comments", ["table"])["items"] == "comments/documents"
    setsearch.register(connection)
    statement = "select id from comments order by setsearch_score(id, '1', 'comments/documents', 'bernoulli') desc"
    assert [id for (id,) in connection.execute(statement)][:2] == [1, 2]


def test_sets_belong_to_their_collection(shop):
    _, path = shop
    articles, comments = (setsearch.open(path, collection=name) for name in ("articles", "comments"))
    kept = comments.keep_set("moons", ["1", "2"], items="documents")
    assert (kept.items, comments.sets(), articles.sets()) == (
        "comments/documents",
        {"moons": "comments/documents"},
        {},
    )
    assert comments.set("moons").accepted == ["1", "2"]
    with pytest.raises(InvalidParameter, match="the set 'moons' is of comments/documents, not of articles/documents"):
        articles.set("moons", "documents")


def test_what_another_collection_has_is_not_deleted_and_told(tmp_path, run, failed):
    for name in ("", "notes", "mail"):
        with setsearch.open(tmp_path / "x.db", create=True, contexts="off", collection=name) as index:
            index.add([(f"{name} {own}", "a text of words") for own in ("first", "second")])
    failed(run("delete", "x.db", "mail first"), 1, "delete; with --collection mail there is one; nothing was")
    setsearch.open(tmp_path / "y.db", create=True, contexts="off", collection="notes").add([("a", "words")])
    failed(run("delete", "y.db", "a"), 1, "no relation to delete from; it has the --collection notes")
    mail = "x.db", "--collection", "mail"
    failed(run("delete", *mail, "mail first", " first"), 1, "no item ' first' to", "with no --collection there is one")
    failed(run("delete", *mail, "mail thirst"), 1, "did you mean 'mail first'? nothing was deleted")
    assert setsearch.open(tmp_path / "x.db", collection="mail").items("documents").item_count() == 2


def test_dropping_a_collection_leaves_the_others(shop):
    connection, path = shop
    comments = setsearch.open(path, collection="comments")
    comments.keep_set("moons", ["1"], items="documents")
    comments.drop()
    left = setsearch.open(path)
    assert [reading["items"] for reading in left.readings()] == ["articles/documents", "articles/terms"]
    assert (left.sets(), left.check()) == ({}, [])
    triggers = {name for (name,) in connection.execute("select tbl_name from sqlite_master where type = 'trigger'")}
    assert triggers == {"articles"}
    comments.add(GERMAN)
    assert comments.items("documents").item_count() == len(GERMAN)
    left.drop()
    assert not connection.execute("select 1 from sqlite_master where name like 'setsearch%'").fetchone()


def test_relations_numbers_and_vectors_within_a_collection(tmp_path):
    index = setsearch.open(tmp_path / "x.db", create=True, collection="shop")
    index.add([("Alien", ["u1", "u2"]), ("Heat", ["u2", "u3"])], relation=("film", "user"))
    index.add_numbers([("a", [1.0, 2.0]), ("b", [1.0, 3.0])], ["x", "y"], "wine")
    assert index.add_vectors(["Alien", "Heat"], [[1.0, 0.0], [0.0, 1.0]], "film") == 2
    assert [reading["items"] for reading in index.readings()] == ["shop/film", "shop/user", "shop/wine"]
    assert index.numbers("wine").expand(["a"])[0].item == "b"
    assert index.delete(["a"], ("wine", "numbers of wine")) == 1
    assert index.items("film").expand(["Alien"])[0].item == "Heat"
    assert setsearch.open(tmp_path / "x.db").items().name == "shop/film"


def test_mistakes_say_which_collections_there_are(shop):
    _, path = shop
    with pytest.raises(UnknownReading, match="no collection 'orders'; it has articles, comments"):
        setsearch.open(path, collection="orders").items()
    with pytest.raises(UnknownReading, match="no 'orders/terms'; it has articles/documents"):
        setsearch.open(path, collection="orders").items("terms")
    with pytest.raises(UsageError, match="use another `collection`"):
        setsearch.open(path, collection="articles").add_table("comments", Columns(text="body"))
    for name in ("a/b", "\n", 3):
        with pytest.raises(InvalidParameter, match="a collection is a name such as 'comments'"):
            setsearch.open(path, collection=name)
