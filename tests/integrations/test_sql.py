"""SQL functions on any connection."""

import json
import logging
import sqlite3
from types import SimpleNamespace

import pytest
from hosts import TEXTS, host

import setsearch
from setsearch import Changes
from setsearch.errors import InvalidParameter, LockedDatabase

# A host, such as Datasette, may show the errors of functions.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_what_lends_a_connection_gets_the_functions():
    connection = host()
    setsearch.open(connection).add_table("articles", TEXTS)
    setsearch.register(SimpleNamespace(driver_connection=connection))  # as SQLAlchemy has one
    assert connection.execute("select setsearch_score(1, '1')").fetchone()[0] > 0
    with pytest.raises(InvalidParameter, match=r"a connection of SQLite, not to 'app.db'"):
        setsearch.register("app.db")


def test_scores_go_with_their_items_whatever_was_asked_before():
    connection = host()
    setsearch.register(connection)
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)

    def are_right(items, seed):
        expected = {hit.item: hit.score for hit in index.items(items).expand([seed], 99, keep_seeds=True)}
        scored = "select value, setsearch_score(value, ?, ?) from json_each(?)"
        return dict(connection.execute(scored, (seed, items, json.dumps([*expected])))) == expected

    assert are_right("documents", "1") and are_right("terms", "lion") and are_right("documents", "4")
    connection.execute("delete from articles where id = 2")
    connection.execute("insert into articles (id, body) values (77, 'a lion and a zebra')")
    index.refresh()
    assert are_right("documents", "77") and are_right("terms", "zebra")
    assert connection.execute("select setsearch_score(2, '77')").fetchone() == (None,)


def test_sql_functions_answer_as_the_index_does(caplog):
    connection = host()
    setsearch.register(connection)
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    connection.row_factory = sqlite3.Row
    rows = connection.execute("""
        select a.id, e.value ->> 'score' as score
        from json_each(setsearch_expand('1, 4', 2)) e join articles a on a.id = e.value ->> 'item'
    """).fetchall()
    hits = index.items("documents").expand(["1", "4"], 2)
    assert {(str(row["id"]), row["score"]) for row in rows} == {(hit.item, hit.score) for hit in hits}
    scored = """select id, setsearch_score(id, '["1"]') as score from articles order by score desc, id"""
    expected = [(hit.item, hit.score) for hit in index.items("documents").expand(["1"], 9, keep_seeds=True)]
    assert [(str(row["id"]), row["score"]) for row in connection.execute(scored)] == expected
    connection.execute("update articles set body = 'oats' where id = 2")
    index.refresh()
    connection.commit()
    expected = [(hit.item, hit.score) for hit in index.items("documents").expand(["1"], 9, keep_seeds=True)]
    assert [(str(row["id"]), row["score"]) for row in connection.execute(scored)] == expected
    (told,) = connection.execute("select setsearch_explain(4, '1', 'documents', 'bernoulli')").fetchone()
    told = json.loads(told)
    assert told["score"] == pytest.approx(told["constant"] + told["base"] + sum(told["features"].values()))
    by_number, by_text = connection.execute("select setsearch_expand(1, 2), setsearch_expand('1', 2)").fetchone()
    assert by_number == by_text
    words = connection.execute("select setsearch_expand('lion', 1, 'terms')").fetchone()[0]
    assert json.loads(words)[0]["item"]
    named = "setsearch_expand('1, 4', 9, json_object('cut', 'keep', 'exclude', json_array(2), 'by', null))"
    kept = index.items("documents").expand(["1", "4"], 9, cut="keep", exclude=["2"])
    told = json.loads(connection.execute(f"select {named}").fetchone()[0])
    assert [(row["item"], row["score"], row["belongs"]) for row in told] == [(h.item, h.score, True) for h in kept]
    ask = "select setsearch_score(4, '1', json_object('model', 'bernoulli', 'strength', 3))"
    assert (
        connection.execute(ask).fetchone()[0]
        == index.items("documents").expand(["1"], 1, among=["4"], model="bernoulli", strength=3)[0].score
    )
    learned = index.items("documents").expand(["1", "4"], 9, exclude=["2"])
    told = connection.execute("select setsearch_expand('1, 4', 9, 'documents', null, '2')").fetchone()[0]
    assert [(row["item"], row["score"]) for row in json.loads(told)] == [(hit.item, hit.score) for hit in learned]
    for item, score in [(learned[0].item, learned[0].score), ("2", None)]:
        ask = "select setsearch_score(?, '1, 4', 'documents', null, '2')"
        assert connection.execute(ask, (item,)).fetchone()[0] == score
    with caplog.at_level(logging.ERROR), pytest.raises(sqlite3.OperationalError):
        connection.execute("select setsearch_expand('99')").fetchall()
    assert "no '99' among the 5 documents" in caplog.text
    assert "no '99'" in connection.execute("select setsearch_error()").fetchone()[0]
    with caplog.at_level(logging.CRITICAL, "setsearch"), pytest.raises(sqlite3.OperationalError):
        connection.execute("select setsearch_expand('[1, /france]')").fetchone()
    said = connection.execute("select setsearch_error()").fetchone()[0]
    assert "[1, /france]; give texts in quotes" in said
    for bad in (
        "setsearch_expand()",
        "setsearch_expand(null)",
        "setsearch_expand('[1')",
        "setsearch_score('1')",
        "setsearch_expand('1', '{')",
    ):
        with caplog.at_level(logging.CRITICAL, "setsearch"), pytest.raises(sqlite3.OperationalError):
            connection.execute(f"select {bad}").fetchall()


def test_null_asks_for_all_that_belong():
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    setsearch.register(connection)
    every = "select setsearch_expand('1', json_object('k', null, 'about', 3, 'cut', ?))"
    told = [row["item"] for row in json.loads(connection.execute(every, ("keep",)).fetchone()[0])]
    assert told == [hit.item for hit in index.items("documents").expand(["1"], None, about=3, cut="keep")] != []
    with pytest.raises(sqlite3.OperationalError):
        connection.execute(every, ("mark",))
    said = connection.execute("select setsearch_error()").fetchone()[0]
    assert said == "k = None needs cut = 'keep': all that belong; for all items give their number, item_count()"


def test_an_index_that_is_locked_says_so(tmp_path):
    connection = host(tmp_path / "app.db")
    index = setsearch.open(tmp_path / "app.db", timeout=0.1)
    index.add_table("articles", TEXTS, track=True)
    connection.execute("update articles set body = 'oats' where id = 2")  # and does not commit
    with pytest.raises(LockedDatabase, match=r"waited 0\.1 s"):
        index.add_table("articles", TEXTS)
    assert len(index.items("documents").expand(["1"])) == 4
    connection.commit()
    assert index.refresh() == Changes(1, 0)
    assert connection.execute("pragma journal_mode").fetchone() == ("delete",)
    assert connection.execute("select count(*) from log").fetchone() == (5,)
    index.close()


def test_the_saved_sets_of_rows(caplog):
    connection = host()
    setsearch.register(connection)
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    index.keep_set("cats", ["1", "4"], items="documents")
    index.keep_set("grain", ["3"], items="documents")
    index.keep_set("words", ["lion"], items="terms")
    for id, told in connection.execute("select id, setsearch_sets_of(id, 9) from articles").fetchall():
        expected = [own._asdict() for own in index.sets_of(str(id), items="documents")]
        assert [
            {"line": None, "belongs": None, "said": None, "better": None} | row for row in json.loads(told)
        ] == expected
    by_text = "select setsearch_sets_of(null, json_object('text', body)) from articles where id = 2"
    (told,) = connection.execute(by_text).fetchone()
    (body,) = connection.execute("select body from articles where id = 2").fetchone()
    assert [row["score"] for row in json.loads(told)] == [own.score for own in index.sets_of(text=body)]
    assert connection.execute("select setsearch_sets_of(99)").fetchone() == (None,)
    (told,) = connection.execute("select setsearch_sets_of('tiger', 1, 'terms')").fetchone()
    assert json.loads(told)[0]["set"] == "words"
    for wrong, said in [("1, 0", "k must be"), ("1, json_object('kk', 1)", "unknown option 'kk'")]:
        with caplog.at_level(logging.ERROR), pytest.raises(sqlite3.OperationalError):
            connection.execute(f"select setsearch_sets_of({wrong})").fetchall()
        assert said in connection.execute("select setsearch_error()").fetchone()[0]


def test_a_mistake_of_ours_is_told_and_not_the_error_before(monkeypatch):
    connection = host()
    setsearch.register(connection)
    setsearch.open(connection).add_table("articles", TEXTS)
    said = []
    for seeds in ("'99'", "'1'"):
        with pytest.raises(sqlite3.OperationalError):
            connection.execute(f"select setsearch_expand({seeds})")
        said += connection.execute("select setsearch_error()").fetchone()
        monkeypatch.setattr("setsearch.integrations.sql._shown", lambda _: {}["own"])
    assert "no '99'" in said[0]
    assert said[1].startswith("a fault of setsearch (KeyError: 'own', in integrations/sql.py")
