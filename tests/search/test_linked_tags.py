"""Tags that other tables of a host have: followed whatever it does there."""

import sqlite3

import hypothesis.strategies as st
import pytest
from fielded_items import answers
from hypothesis import given
from laws import examples

import setsearch
from setsearch import Columns, Item
from setsearch.errors import InvalidParameter, SourceError, UsageError

JOINS = st.lists(
    st.tuples(
        st.sampled_from(["tag", "untag", "move", "replace", "edit", "drop"]), st.integers(1, 5), st.integers(1, 5)
    )
)


def tagged():
    """Articles, and a table of their tags, which has a key of its own."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table articles (id integer primary key, body text)")
    connection.execute("create table tagged (id integer primary key, article integer, tag text, unique (article, tag))")
    connection.executemany("insert into articles values (?, ?)", [(n, f"w{n} w{n % 2} and more") for n in range(1, 6)])
    connection.executemany("insert into tagged values (?, ?, ?)", [(n, n, f"t{n % 2}") for n in range(1, 5)])
    return connection


TAGGED = Columns(text="body", tags="tagged.article=tag")


@examples(40)
@given(JOINS)
def test_tags_of_another_table_are_followed_whatever_the_host_does(steps):
    connection = tagged()
    index = setsearch.open(connection)
    index.add_table("articles", TAGGED, track=True)
    for what, one, other in steps:
        with connection:
            if what == "tag":
                connection.execute("insert or ignore into tagged (article, tag) values (?, ?)", (one, f"t{other}"))
            elif what == "untag":
                connection.execute("delete from tagged where article = ?", (one,))
            elif what == "move":
                connection.execute("update or replace tagged set article = ? where id = ?", (one, other))
            elif what == "replace":
                connection.execute("insert or replace into tagged values (?, ?, 't9')", (other, one))
            elif what == "edit":
                connection.execute("update articles set body = body || ' again' where id = ?", (one,))
            elif what == "drop":
                connection.execute("delete from articles where id = ? and id > 1", (one,))
        if one == other:
            index.refresh()
    index.refresh()
    fresh = setsearch.open(sqlite3.connect(":memory:"))
    rows = connection.execute("select id, body from articles").fetchall()
    of = {
        id: [tag for (tag,) in connection.execute("select tag from tagged where article = ?", (id,))] for id, _ in rows
    }
    fresh.add([Item(str(id), body, None, None, {"tag": of[id]}) for id, body in rows])
    held = [{str(id): own.items("documents").features_of(str(id)) for id, _ in rows} for own in (index, fresh)]
    assert held[0] == held[1]
    assert answers(index.items("documents"), ["1"]) == answers(fresh.items("documents"), ["1"])
    assert index.check() == []


NAMED = Columns(
    text="body", tags=("tagged.article=tag_id,tags.id=name", "articles.id=author_id,people.id=name"), title="body"
)
NAMINGS = st.lists(
    st.tuples(
        st.sampled_from(["tag", "untag", "name", "rename", "number", "forget", "replace", "write", "drop"]),
        st.integers(1, 4),
        st.integers(1, 4),
    )
)


def named():
    """Articles of people, and their tags, the names of which two other tables have."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        """
        create table articles (id integer primary key, body text, author_id integer);
        create table tagged (article integer, tag_id integer, primary key (article, tag_id));
        create table tags (id integer primary key, name text unique);
        create table people (id text primary key, name text);
        insert into articles values (1, 'w1 w3 more', 1), (2, 'w2 more', 2), (3, 'w3 more', 1), (4, 'w4 w3', null);
        insert into tagged values (1, 1), (2, 1), (2, 2), (3, 7);
        insert into tags values (1, 'one'), (2, 'two');
        insert into people values ('1', 'Ann'), ('2', 'Bob');
        """
    )
    return connection


@examples(60)
@given(NAMINGS)
def test_names_of_tags_of_another_table_are_followed_whatever_the_host_does(steps):
    connection = named()
    index = setsearch.open(connection)
    index.add_table("articles", NAMED, track=True)
    assert {"tag:one", "tag:two", "author:Bob"} <= {*index.items("documents").features_of("2")}
    statements = {
        "tag": "insert or ignore into tagged values (:one, :other)",
        "untag": "delete from tagged where article = :one",
        "name": "insert or replace into tags values (:one, 'n' || :other)",
        "rename": "update or replace tags set name = 'm' || :other where id = :one",
        "number": "update or ignore tags set id = :other where id = :one",
        "forget": "delete from tags where id = :one",
        "replace": "insert or replace into people values (:one, 'p' || :other)",
        "write": "update articles set author_id = :other where id = :one",
        "drop": "delete from articles where id = :one and id > 1",
    }
    for what, one, other in steps:
        with connection:
            connection.execute(statements[what], {"one": one, "other": other})
        if one == other:
            index.refresh()
    index.refresh()
    assert not connection.execute("select 1 from setsearch_change").fetchall()
    anew = setsearch.open(connection, collection="anew")
    anew.add_table("articles", NAMED)
    names = [str(id) for (id,) in connection.execute("select id from articles")]
    both = (index, "documents"), (anew, "anew/documents")
    held = [[own.items(items).features_of(name) for name in names] for own, items in both]
    assert held[0] == held[1]
    assert index.check() == []


def test_names_of_tags_are_of_tables_and_links_have_none():
    connection = named()
    before = connection.execute("select name from sqlite_master").fetchall()
    index = setsearch.open(connection)
    for tags, told in (
        ("tagged.article=tag_id,none.id=name", "none"),
        ("tagged.article=tag_id,tags.id=nope", "table tags has no column 'nope'; it has id, name"),
    ):
        with pytest.raises(SourceError, match=told):
            index.add_table("articles", Columns(text="body", tags=tags), track=True)
    with pytest.raises(UsageError, match="`links` are ids, which need no names"):
        index.add_table("articles", Columns(text="body", links="tagged.article=tag_id,tags.id=name"))
    index.add_table("articles", NAMED, track=True)
    connection.execute("update tags set name = 'first' where id = 1")
    assert index.info()["mirrors"][0]["changed"] == 1
    assert index.refresh() == setsearch.Changes(written=2, deleted=0)
    assert "tag:first" in index.items("documents").features_of("1")
    index.drop()
    assert connection.execute("select name from sqlite_master").fetchall() == before


def test_tags_of_another_table_leave_no_trace_and_wrong_ones_are_one_line():
    connection = tagged()
    before = connection.execute("select name from sqlite_master").fetchall()
    index = setsearch.open(connection)
    for tags, told in (
        ("none.article=tag", "none"),
        ("tagged.nope=tag", "table tagged has no column 'nope'; it has id, article, tag"),
    ):
        with pytest.raises(SourceError, match=told):
            index.add_table("articles", Columns(text="body", tags=tags), track=True)
    connection.execute("insert into tagged values (9, 1, cast(x'ff41' as text))")
    with pytest.raises(SourceError, match=r"table tagged cannot be read: Could not decode to UTF-8 .* or name a view"):
        index.add_table("articles", TAGGED)
    connection.execute("delete from tagged where id = 9")
    connection.execute("create view seen as select * from tagged")
    with pytest.raises(InvalidParameter, match="seen is no table, and has no triggers: leave `track` out"):
        index.add_table("articles", Columns(text="body", tags="seen.article=tag"), track=True)
    index.add_table("articles", Columns(text="body", links="seen.article=tag"))
    assert index.items("documents").features_of("1").keys() >= {"tag:t1", "tag:1"}
    connection.execute("drop view seen")
    index.add_table("articles", TAGGED, track=True)
    assert len(connection.execute("select 1 from sqlite_master where type = 'trigger'").fetchall()) > 6
    index.add_table("articles", TAGGED)
    assert not connection.execute("select 1 from sqlite_master where type = 'trigger'").fetchall()
    index.add_table("articles", TAGGED, track=True)
    index.drop()
    assert connection.execute("select name from sqlite_master").fetchall() == before


@pytest.mark.parametrize(("of_article", "of_tag"), [("text", "int"), ("integer", "text"), ("", "text"), ("text", "")])
def test_ids_of_two_tables_may_have_two_types(tmp_path, of_article, of_tag):
    """What was read at first, by names, is read again by names."""
    host = sqlite3.connect(tmp_path / "a.db")
    host.execute(f"create table article (id {of_article} primary key, body text)")
    host.execute(f"create table tagged (article {of_tag}, tag text)")
    kinds = [str if kind == "text" else int for kind in (of_article, of_tag)]
    host.executemany("insert into article values (?, ?)", [(kinds[0](n), f"word{n}") for n in range(1, 5)])
    rows = [
        (kinds[1](1), "cats"),
        (kinds[1](2), "cats"),
        (kinds[1](3), ""),
        (kinds[1](3), None),
        (None, "cats"),
        ("", "x"),
    ]
    host.executemany("insert into tagged values (?, ?)", rows)  # what is empty says nothing
    host.commit()
    with setsearch.open(tmp_path / "a.db", contexts="off") as index:
        index.add_table("article", setsearch.Columns(id="id", text="body", tags="tagged.article=tag"), track=True)
        host.execute("insert into tagged values (?, 'cats')", (kinds[1](4),))
        host.execute("update article set body = 'other' where id = ?", (kinds[0](2),))
        host.commit()
        assert index.refresh() == setsearch.Changes(written=2, deleted=0)
        features = {name: set(index.items("documents").features_of(name)) for name in "1234"}
    host.close()
    assert features == {
        "1": {"word1", "tag:cats"},
        "2": {"other", "tag:cats"},
        "3": {"word3"},
        "4": {"word4", "tag:cats"},
    }
