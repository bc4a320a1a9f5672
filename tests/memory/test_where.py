"""SQL conditions and full text filter before the best are taken."""

import sqlite3

import pytest
from hosts import TEXTS, dump, host

import setsearch
from setsearch import Where
from setsearch.errors import InvalidParameter, NothingToRank


def test_a_condition_filters_before_the_best_are_taken():
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    documents = index.items("documents")
    whole = documents.expand(["1"], 99)
    for where, allowed in [
        (Where("year > ?", (2004,)), {"2", "3", "4"}),
        (Where("year > :year and body like '%leopard%'", {"year": 2004}), {"2", "4"}),
        (Where(match="barley OR leopards"), {"2", "3", "4", "5"}),
        (Where("id in (select rowid from search where search match 'leopard')"), {"2", "4"}),
        (Where("year < 2005", match="field"), {"5"}),
    ]:
        for k in (1, 2, 99):
            got = documents.expand(["1"], k, among=where)
            expected = [(h.item, h.score) for h in whole if h.item in allowed][:k]
            assert [(h.item, h.score) for h in got] == expected
    with pytest.raises(NothingToRank, match="none of the 5 documents"):
        documents.expand(["1"], among=Where("year > 3000"))
    with pytest.raises(InvalidParameter, match="so to documents"):
        index.items("terms").expand(["lion"], among=Where("1"))


@pytest.mark.parametrize(
    "condition",
    [
        "1=1) union select what from log where (1=1",
        "1=1)) union select what from log where ((1=1",
        "1=1) union select what from log --",
        "1=1) union select what from log /*",
        "1=1); delete from articles; --",
        "id in (select id from nothing)",
        "year >",
        "year > ?",
        "",
        "1\0",
    ],
)
def test_a_condition_is_one_expression(condition):
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    rows = dump(connection)
    with pytest.raises(InvalidParameter, match="condition"):
        index.items("documents").expand(["1"], among=Where(condition))
    assert dump(connection) == rows
    assert not connection.in_transaction


@pytest.mark.parametrize("parameter", [2**70, "\ud800"])
def test_parameters_that_sqlite_does_not_take_are_named(parameter):
    index = setsearch.open(host())
    index.add_table("articles", TEXTS)
    with pytest.raises(InvalidParameter, match="the condition 'year > \\?'"):
        index.items("documents").expand(["1"], among=Where("year > ?", (parameter,)))
    assert len(index.items("documents").expand(["1"], 2)) == 2


def test_a_full_text_query_with_an_error_is_named():
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    with pytest.raises(InvalidParameter, match="'AND AND' on articles: fts5: syntax error"):
        index.items("documents").expand(["1"], among=Where(match="AND AND"))
    connection.execute("drop table search")
    with pytest.raises(InvalidParameter, match="no FTS5 table has the content 'articles'"):
        index.items("documents").expand(["1"], among=Where(match="cat"))


def test_keys_that_are_real_numbers_are_found():
    """SQLite writes them otherwise than ids are written."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id real primary key, text text)")
    rows = [(key, "lion tiger") for key in (7.0, 1e20, 0.1 + 0.2, 12345.678)]
    connection.executemany("insert into t values (?, ?)", [*rows, (8.5, "oat")])
    index = setsearch.open(connection)
    index.add_table("t", setsearch.Columns())
    found = index.items("documents").expand(["8.5"], 9, among=Where("1"))
    assert {hit.item for hit in found} == {"7", *(str(key) for key, _ in rows[1:])}
    cursor = connection.execute("select * from t")
    cursor.fetchone()  # while it is open, SQLite takes no function again
    assert index.items("documents").expand(["8.5"], 9, among=Where("1")) == found


def test_a_condition_on_a_view_whose_rows_have_only_numbers_is_told():
    connection = host()
    connection.execute("create view told as select body, year from articles")
    index = setsearch.open(connection)
    index.add_table("told", setsearch.Columns(text="body"))
    with pytest.raises(InvalidParameter, match="finds no rows of told, which has no column 'id'; index it again with"):
        index.items("documents").expand(["1"], among=Where("year > 2000"))
