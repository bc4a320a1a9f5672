"""Tables of a host application, followed by an index in the same database."""

import sqlite3
import threading
from datetime import datetime

import numpy as np
import pytest
from hosts import ROWS, TEXTS, dump, host
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import Changes, Columns, Item, Where
from setsearch.errors import InvalidParameter, NoIndex, SourceError, UsageError


def schema(connection):
    return connection.execute("select type, name, sql from sqlite_master order by name").fetchall()


def contents(index, items="documents"):
    """Everything that a reading holds, and a ranking of it."""
    reading = index.items(items)
    with reading.stored() as fields:
        names = fields.items.names()
    held = {name: reading.features_of(name) for name in names}
    ranked = (
        [(hit.item, hit.score, hit.title) for hit in reading.expand(names[:1], 99, keep_seeds=True)] if names else []
    )
    return held, ranked


def fresh(connection, columns=TEXTS, table="articles"):
    """The same of an index that is made anew, elsewhere, without a mirror."""
    copy = sqlite3.connect(":memory:")
    copy.execute(connection.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()[0])
    rows = connection.execute(f"select * from {table}").fetchall()
    if rows:
        copy.executemany(f"insert into {table} values ({','.join('?' * len(rows[0]))})", rows)
    index = setsearch.open(copy)
    index.add_table(table, columns)
    return contents(index, columns.relation[0])


def test_a_tracked_table_is_followed_and_left_without_a_trace():
    connection = host()
    before, rows = schema(connection), dump(connection)
    index = setsearch.open(connection)
    assert index.add_table("articles", TEXTS, track=True) == Changes(5, 0)
    assert not connection.in_transaction
    assert index.refresh() == Changes()
    connection.execute("update articles set body = 'wheat rye' where id = 2")
    connection.execute("update articles set year = 1 where id = 1")  # no column that is indexed
    connection.execute("update articles set id = 77 where id = 1")
    connection.execute("delete from articles where id = 5")
    connection.execute("insert into articles (title, body) values ('Oats', 'oats rye')")
    assert index.info()["mirrors"] == [
        {"items": "documents", "kind": "table", "place": "articles", "tracked": True, "changed": 5}
    ]
    assert index.refresh() == Changes(3, 2)
    assert contents(index) == fresh(connection)
    connection.rollback()  # the host's transaction, our refresh in it
    assert contents(index) == fresh(connection)
    assert index.check() == []
    index.drop()
    assert schema(connection) == before
    assert dump(connection) == rows
    with pytest.raises(NoIndex):
        index.items()


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 6), st.sampled_from("abcde"), st.integers(0, 4))))
def test_whatever_the_host_does_a_refresh_equals_a_new_index(steps):
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    for kind, id, slug, which in steps:
        title, body = ROWS[which][:2]
        statement, values = [
            ("insert or ignore into articles (id, title, body, slug) values (?, ?, ?, ?)", (id, title, body, slug)),
            ("insert or replace into articles (id, title, body, slug) values (?, ?, ?, ?)", (id, title, body, slug)),
            ("update or ignore articles set body = ?, slug = ? where id = ?", (body, slug, id)),
            ("update or replace articles set id = ? where slug = ?", (id, slug)),
            ("delete from articles where id = ?", (id,)),
            ("insert into articles (id, title) values (?, ?) on conflict do update set title = 'x'", (id, title)),
            ("delete from articles where id > ?", (id,)),
            ("update articles set title = null, year = ? where id = ?", (which, id)),
        ][kind]
        connection.execute(statement, values)
        if which == 0:
            index.refresh()
    index.refresh()
    assert contents(index) == fresh(connection)
    assert index.check() == []


def test_an_explicit_conflict_clause_of_the_host_meets_no_constraint_of_ours():
    connection = host()
    setsearch.open(connection).add_table("articles", TEXTS, track=True)
    connection.execute("insert into articles (id) values (9)")
    for clause in ("abort", "fail", "rollback", "ignore", "replace"):
        connection.execute(f"update or {clause} articles set body = 'again' where id = 1")
        connection.execute(f"update or {clause} articles set body = 'again' where id = 1")
    assert connection.execute("select last_insert_rowid()").fetchone() == (9,)


def test_a_relation_and_groups_are_followed_too():
    connection = sqlite3.connect(":memory:")
    connection.executescript("""
        create table seen (film text, user text, times int);
        insert into seen values ('Alien', 'u1', 1), ('Aliens', 'u1', 2), ('Aliens', 'u2', 1), ('Brazil', 'u3', 1);
        create table papers (author text, text text) ;
        insert into papers values ('Ada', 'engines compute'), ('Babbage', 'engines grind'), ('Ada', 'notes');
    """)
    index = setsearch.open(connection)
    seen = Columns(items="film", features="user", count="times")
    papers = Columns(group_by="author")
    index.add_table("seen", seen, track=True)
    index.add_table("papers", papers, track=True)
    connection.executescript("""
        insert into seen values ('Brazil', 'u1', 1); delete from seen where film = 'Alien';
        update papers set text = 'looms weave' where text = 'notes'; insert into papers values ('Lovelace', 'poetry');
    """)
    assert index.refresh() == Changes(3, 1)
    assert contents(index, "film") == fresh(connection, seen, "seen")
    assert contents(index, "author") == fresh(connection, papers, "papers")


def test_without_triggers_all_rows_are_compared():
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    connection.execute("delete from articles where id = 3")
    connection.execute("update articles set title = 'Big' where id = 4")
    assert index.refresh().deleted == 1
    assert contents(index) == fresh(connection)
    assert not connection.execute("select 1 from sqlite_master where name like 'setsearch%insert'").fetchone()


def test_a_mirror_is_changed_at_its_table_only():
    connection = host()
    index = setsearch.open(connection)
    index.add([("x", "a text of its own")])
    with pytest.raises(UsageError, match=r"holds 1 document, not those of articles; .*replace"):
        index.add_table("articles", TEXTS)
    index.add_table("articles", TEXTS, replace=True)
    for change in (lambda: index.add([("y", "z")]), lambda: index.update([("1", "z")]), lambda: index.delete(["1"])):
        with pytest.raises(UsageError, match="follow articles: change them there"):
            change()
    index.replace([("x", "a text of its own")])
    assert index.info()["mirrors"] == []
    index.add([("y", "and another")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("alter table articles rename column body to words", "no column 'body'; it has .*words"),
        ("alter table articles rename to pages", "no table 'articles' in the database; it has .*pages"),
        ("update articles set title = x'ff00' where id = 1", "'title' is not a text"),
    ],
)
def test_a_table_that_changed_is_named_and_nothing_is_lost(change, message):
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    held = contents(index)
    connection.execute("update articles set body = 'other' where id = 2")
    connection.execute(change)
    connection.commit()
    with pytest.raises(SourceError, match=message):
        index.refresh()
    assert contents(index) == held
    assert not connection.in_transaction
    assert index.info()["mirrors"][0]["changed"] >= 1  # still to be read


def test_values_are_those_that_are_stored_whatever_a_connection_converts(tmp_path):
    """Django's makes truth of bool, and dates of datetime: the same row would differ by who reads it."""
    for type, own in (("truth", lambda raw: raw == b"1"), ("moment", lambda raw: datetime.fromisoformat(raw.decode()))):
        sqlite3.register_converter(type, own)
    try:
        connection = sqlite3.connect(tmp_path / "a.db", detect_types=sqlite3.PARSE_DECLTYPES)
        connection.execute("create table notes (body text, ok truth, at moment, label moment, other moment)")
        connection.execute("create table labels (note moment, name truth)")
        rows = [("lion tiger", n % 2, *[f"2004-05-06 07:08:0{n}"] * 3) for n in range(4)]
        connection.executemany("insert into notes values (?, ?, ?, ?, ?)", rows)
        connection.executemany("insert into labels values (?, 1)", [rows[0][2:3], rows[1][2:3]])
        texts = Columns(id="at", text=("body", "other"), tags=("ok", "labels.note=name"), keep=("ok", "label"))
        index = setsearch.open(connection)
        index.add_table("notes", texts)
        connection.commit()
        held, path = contents(index), f"{tmp_path}/a.db"
        assert index.refresh() == Changes(0, 0, True)
        with setsearch.open(path) as plain:
            assert plain.refresh() == Changes(0, 0, True)
            assert contents(plain) == held
        (hit,) = index.items("documents").expand([rows[0][2]], 9, filter=["ok = true"], snippets=True, cut=None)[:1]
        assert hit.columns == {"ok": 1, "label": hit.item} and hit.snippet.text == f"lion tiger {hit.item}"
        connection.close()
    finally:
        for type in ("TRUTH", "MOMENT"):
            sqlite3.converters.pop(type, None)


def test_tables_of_other_files_are_not_followed():
    connection = host()
    connection.execute("attach ':memory:' as \"the other\"")
    connection.execute('create table "the other".notes (body text)')
    connection.execute("create temp table articles (body text)")
    index = setsearch.open(connection)
    with pytest.raises(SourceError, match=r"no table 'notes' .*; 'the other' has one, and an index "):
        index.add_table("notes", Columns(text="body"))
    assert index.add_table("articles", TEXTS).written == len(ROWS)


def test_an_error_that_is_kept_locks_no_table_of_the_host():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table pages (id integer primary key, body text)")
    connection.executemany("insert into pages (body) values (?)", [("lion tiger",)] * 1200)
    index = setsearch.open(connection)
    index.add_table("pages", Columns(text="body"), track=True)
    connection.execute("alter table pages rename column body to words")
    connection.execute("update pages set words = 'cat' where id = 1")
    connection.commit()
    with pytest.raises(SourceError) as kept:  # as a web framework keeps it, with all frames
        index.refresh()
    connection.execute("drop table pages")
    connection.execute("vacuum")
    assert "no column 'body'; it has rowid, id, words (index it again, by columns that it has)" in str(kept.value)


@pytest.mark.parametrize("track", [True, False])
def test_a_table_that_lost_a_kept_column_is_indexed_again_without_it(track):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table pages (id integer primary key, body text, year integer)")
    rows = [(n, f"lion tiger {'cat' * (n % 2)}", 2000 + n) for n in range(9)]
    connection.executemany("insert into pages values (?, ?, ?)", rows)
    index = setsearch.open(connection)
    index.add_table("pages", Columns(text="body", keep=("year",)), track=track)
    index.keep_set("cats", ["1", "3"], items="documents")
    before = contents(index)
    connection.execute("alter table pages drop column year")
    connection.execute("insert into pages values (9, 'lion tiger')")
    connection.commit()
    with pytest.raises(SourceError, match=r"no column 'year'; it has rowid, id, body .index it again, by columns that"):
        index.refresh()
    assert contents(index) == before and index.set("cats").expand(1, filter=["year = 2005"])[0].item == "5"
    index.add_table("pages", Columns(text="body"), track=track)
    connection.execute("insert into pages values (10, 'lion tiger')")
    connection.commit()
    assert index.refresh() == Changes(1, 0) and index.set("cats").accepted == ["1", "3"] and index.check() == []


def test_a_table_cannot_be_indexed_in_vain():
    connection = host()
    connection.execute("create view recent as select * from articles where year > 2000")
    index = setsearch.open(connection)
    with pytest.raises(SourceError, match="no table 'nothing'"):
        index.add_table("nothing", TEXTS)
    with pytest.raises(SourceError, match="has no column 'words'"):
        index.add_table("articles", Columns(text="words"), track=True)
    with pytest.raises(InvalidParameter, match="recent is a view"):
        index.add_table("recent", TEXTS, track=True)
    with pytest.raises(InvalidParameter, match="search is a full-text table"):
        index.add_table("search", Columns(), track=True)
    assert index.add_table("recent", TEXTS) == Changes(4, 0)


@pytest.mark.parametrize("content", ["content='articles', content_rowid='id',", "", "content='',"])
@pytest.mark.parametrize("detail", ["full", "column", "none"])
def test_a_full_text_table_is_read_by_its_own_terms(content, detail):
    connection = host()
    connection.execute(f"""create virtual table terms using fts5(
        title, body, {content} detail={detail}, tokenize = 'porter unicode61')""")
    connection.execute("insert into terms (rowid, title, body) select id, title, body from articles")
    index = setsearch.open(connection)
    assert index.add_table("terms", Columns(), track=False) == Changes(5, 0)
    held = index.items("documents").features_of("1")
    assert set(held) == {"cat", "lion", "tiger"}
    assert held["cat"] == (1 if detail == "none" else 2)
    assert index.items("terms").expand(["Lions"], 1)[0].item in ("cat", "tiger", "leopard")  # as the table stems
    assert index.items("documents").expand([], 1, like=["barleys"])[0].item in ("3", "5")
    assert [hit.item for hit in index.items("documents").expand(["1"], among=Where(match="lion"))] == ["2"]
    if detail == "full":
        index.drop()
        index.add_table("terms", Columns(text="body"))
        assert index.items("documents").features_of("1") == {"cat": 1, "lion": 1, "tiger": 1}
    elif detail == "none":
        index.drop()
        with pytest.raises(SourceError, match="stores no columns"):
            index.add_table("terms", Columns(text="body"))


def test_hosts_in_threads_and_one_index_agree(tmp_path):
    path = tmp_path / "app.db"
    host(path).close()
    index = setsearch.open(path, timeout=30)
    index.add_table("articles", TEXTS, track=True)

    def work(number):
        connection = sqlite3.connect(path, timeout=30)
        for i in range(10):
            with connection:
                connection.execute("insert into articles (title, body) values (?, ?)", (f"t{number}", f"w{i} lion"))
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        index.refresh()
    for thread in threads:
        thread.join()
    index.refresh()
    connection = sqlite3.connect(path)
    assert contents(index) == fresh(connection)
    connection.close()
    index.close()


def test_a_table_that_was_made_anew_is_tracked_again():
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    connection.executescript("""
        create table new_articles (id integer primary key, title text, body text, year int, slug text unique);
        insert into new_articles select * from articles; drop table articles;
        alter table new_articles rename to articles;
        update articles set body = 'zebra' where id = 1;
    """)
    assert "triggers on articles" in index.check()[0]
    assert index.refresh() == Changes(1, 0), "all rows are compared, one is another"
    assert index.check() == []
    assert contents(index) == fresh(connection)
    connection.execute("update articles set body = 'lion' where id = 1")
    assert index.refresh() == Changes(1, 0)


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.sampled_from("ABC"), st.sampled_from("xyz"))))
def test_rows_that_or_replace_deletes_are_noted_for_items_of_several_rows(steps):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table likes (id integer primary key, film text, user text, unique (film, user))")
    connection.execute("insert into likes values (1, 'A', 'x'), (2, 'A', 'y'), (3, 'B', 'y'), (4, 'C', 'x')")
    index = setsearch.open(connection)
    likes = Columns(items="film", features="user")
    index.add_table("likes", likes, track=True)
    for kind, id, film, user in steps:
        statement = [
            "insert or replace into likes values (:id, :film, :user)",
            "update or replace likes set film = :film, user = :user where id = :id",
            "insert or ignore into likes (film, user) values (:film, :user)",
            "delete from likes where film = :film and user = :user",
        ][kind]
        connection.execute(statement, {"id": id, "film": film, "user": user})
    index.refresh()
    assert contents(index, "film") == fresh(connection, likes, "likes")


def test_a_row_is_noted_once_however_often_it_is_written():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key, text text)")
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    for clause in ("", "or abort", "or fail", "or rollback", "or ignore", "or replace"):
        connection.execute("insert or ignore into t values (1, 'cat')")
        connection.execute(f"update {clause} t set text = text || ' oat'")
        connection.execute("insert or replace into t values (1, 'cat')")
        connection.execute("insert into t values (1, 'x') on conflict do update set text = 'lion'")
        connection.execute("delete from t")
    assert connection.execute("select key from setsearch_change").fetchall() == [(1,)]
    assert index.refresh() == Changes(0, 0)


@pytest.mark.parametrize(
    ("declared", "notes_replaced_rows"),
    [
        ("id text primary key", False),
        ("id varchar(9) primary key", False),
        ("id text collate nocase primary key", True),  # A replaces a
        ("id primary key", True),  # 1.0 replaces 1
        ("id text primary key, text text unique", True),
    ],
)
def test_a_unique_key_replaces_no_other(declared, notes_replaced_rows):
    connection = sqlite3.connect(":memory:")
    more = "" if "text text" in declared else ", text text"
    connection.execute(f"create table t ({declared}{more}) without rowid")
    connection.execute("insert into t values ('a', 'lion')")
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'")]
    assert any("before" in name for name in names) == notes_replaced_rows
    last = ("1" if "id text" in declared or "varchar" in declared else "2", "rye")  # 1.0 and "1" are one id
    for id, text in (("A", "cat"), (1, "wheat"), (1.0, "oat"), ("b", "cat"), ("A", "oat"), last):
        connection.execute("insert or replace into t values (?, ?)", (id, text))
        index.refresh()
        assert contents(index) == fresh(connection, Columns(), "t")
    connection.execute("update or replace t set id = 'A', text = 'oat' where id = 'b'")
    index.refresh()
    assert contents(index) == fresh(connection, Columns(), "t")
    assert index.check() == []


@pytest.mark.parametrize("track", [False, True])
def test_a_table_without_a_column_id_is_known_by_rowid(track):
    connection = sqlite3.connect(":memory:")
    connection.executescript("create table t (text); insert into t values ('lion cat'), ('lion cub'), ('wheat')")
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=track)
    assert [hit.item for hit in index.items("documents").expand([1], 9, among=Where("text > 'm'"))] == ["3"]
    connection.execute("update t set text = 'lion oat' where rowid = 2")
    connection.execute("delete from t where rowid = 3")
    assert index.refresh() == Changes(1, 1)
    assert contents(index) == fresh(connection, Columns(), "t")


@pytest.mark.parametrize("roles", [Columns(), Columns(id="key"), Columns(items="key", features="text")])
def test_a_table_whose_rows_have_no_such_key_is_not_tracked(roles):
    """Its triggers would refuse each write of the host."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (name text primary key, text text) without rowid")
    with pytest.raises(InvalidParameter, match=r"rows of t have no (id|key); name their id column, of name, text"):
        setsearch.open(connection).add_table("t", roles, track=True)
    connection.execute("insert into t values ('a', 'lion')")


def test_tables_of_every_shape():
    connection = sqlite3.connect(":memory:")
    connection.executescript("""
        create table made (id integer primary key, x text, body text generated always as (x || ' lion') virtual);
        insert into made (id, x) values (1, 'cat'), (2, 'oat');
        attach ':memory:' as other; create table other.notes (id integer primary key, text text);
        create table named (ID text primary key, Text text) without rowid; insert into named values ('a', 'lion');
        create temp table named (ID text, Text text);
        create virtual table old using fts4(text);
        create table holes (id text primary key, text text); insert into holes values ('a', 'lion');
    """)
    index = setsearch.open(connection)
    index.add_table("made", Columns(text="body"), track=True)
    connection.execute("update made set x = 'wheat' where id = 2")
    index.refresh()
    assert index.items("documents").features_of("2") == {"lion": 1, "wheat": 1}
    with pytest.raises(SourceError, match="no table 'notes'"):
        index.add_table("notes", Columns(), replace=True)
    assert index.add_table("NAMED", Columns(id="id", text="TEXT"), track=True, replace=True) == Changes(1, 0)
    connection.execute("update main.named set text = 'oat'")
    assert index.refresh() == Changes(1, 0)
    with pytest.raises(InvalidParameter, match="old is a virtual table"):
        index.add_table("old", Columns(id="rowid"), track=True, replace=True)
    index.add_table("holes", Columns(), track=True, replace=True)
    connection.execute("insert into holes values (null, 'wheat')")
    with pytest.raises(SourceError, match="'id' is None"):
        index.refresh()
    connection.execute("delete from holes where id is null")
    assert index.refresh() == Changes(0, 0)


@pytest.mark.parametrize(
    ("declared", "notes_replaced_rows"),
    [
        ("id integer primary key", False),  # the row that goes has the key of the row that comes
        ("id INTEGER, text text, primary key (id)", False),
        ("id integer primary key desc", True),  # no alias of the rowid
        ("id int primary key", True),
        ("id text primary key", True),
        ("id integer primary key, url text unique", True),
    ],
)
def test_replaced_rows_are_noted_where_their_key_may_differ(declared, notes_replaced_rows):
    connection = sqlite3.connect(":memory:")
    more = "" if "text text" in declared else ", text text"
    constraint = declared if "primary key (" in declared else f"{declared}{more}"
    connection.execute(f"create table t ({constraint})")
    connection.execute("insert into t (rowid, id, text) values (7, 7, 'lion')")
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'")]
    assert any("before" in name for name in names) == notes_replaced_rows
    for statement in (
        "insert or replace into t (rowid, id, text) values (7, 7, 'cat')",
        "insert or replace into t (id, text) values (8, 'wheat')",
        "update or replace t set id = 8, text = 'oat' where id = 7",
        "insert or replace into t (rowid, id, text) select rowid, 9, 'rye' from t where id = 8",
    ):
        connection.execute(statement)
        index.refresh()
        assert contents(index) == fresh(connection, Columns(), "t")
        assert index.check() == []


@pytest.mark.parametrize("name", ["rowid", "oid", "_rowid_", "id"])
def test_a_rowid_is_written_by_any_of_its_names(name):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key, text text, seen integer)")
    connection.execute("insert into t (text) values ('lion'), ('cat'), ('oat')")
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    connection.execute(f"update t set {name} = 9 where id = 2")
    assert index.refresh() == Changes(1, 1)
    assert contents(index) == fresh(connection, Columns(), "t")
    connection.execute("update t set seen = 1")
    assert connection.execute("select count(*) from setsearch_change").fetchone() == (0,), "a column that nobody reads"


@pytest.mark.parametrize(
    "constraint",
    [
        "slug text; create unique index ux on t (slug collate nocase)",
        "slug text not null default 's2' unique on conflict replace; select 1",
    ],
)
@pytest.mark.parametrize("slug", ["'s2'", "'S2'", "null"])
def test_rows_that_are_replaced_by_another_are_noted(constraint, slug):
    """Several rows make an item, so that its row may go while the item stays."""
    connection = sqlite3.connect(":memory:")
    declared, more = constraint.split(";")
    connection.executescript(f"create table t (id integer primary key, author text, text text, {declared}); {more}")
    rows = [("ann", "red", "s1"), ("ann", "blue", "s2"), ("bob", "green", "s3")]
    connection.executemany("insert into t (author, text, slug) values (?, ?, ?)", rows)
    index, columns = setsearch.open(connection), Columns(group_by="author")
    index.add_table("t", columns, track=True)
    connection.execute(f"insert or replace into t (author, text, slug) values ('bob', 'gold', {slug})")
    index.refresh()
    assert contents(index, "author") == fresh(connection, columns, "t")


def test_a_unique_expression_is_refused_where_several_rows_make_an_item():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key, author text, text text)")
    connection.execute("create unique index ux on t (lower(text))")
    index = setsearch.open(connection)
    with pytest.raises(InvalidParameter, match=r"unique index on an expression.*leave `track` out"):
        index.add_table("t", Columns(group_by="author"), track=True)
    index.add_table("t", Columns(), track=True)


def test_texts_of_a_group_keep_their_order_when_some_are_read():
    """An index of the host must not change the order in which rows are read."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key, author text, text text)")
    connection.execute("create index ia on t (author, text)")
    words = ["plum apple", "lemon melon", "cherry fig", "apple lemon"]
    connection.executemany("insert into t (author, text) values ('ann', ?)", [(text,) for text in words])
    index, columns = setsearch.open(connection, analyzer="unicode+pairs"), Columns(group_by="author")
    index.add_table("t", columns, track=True)
    connection.execute("update t set text = 'zebra plum' where id = 2")
    index.refresh()
    before = contents(index, "author")
    index.add_table("t", columns, replace=True)
    assert before == contents(index, "author")


def test_what_is_as_it_was_is_no_change(tmp_path):
    """A table without triggers is compared; a folder that is indexed again starts no new revision."""
    connection = host()
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS)
    before = index.info()["revision"]
    assert index.refresh() == Changes(0, 0)
    assert index.info()["revision"] == before
    connection.execute("update articles set title = title || '!' where id = 1")
    connection.execute("update articles set body = body || ' zebra' where id = 2")
    assert index.refresh() == Changes(2, 0)
    assert contents(index) == fresh(connection)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as own:
        rows = [Item(f"d{n}", f"lion tiger {n}", f"T{n}", {"year": n, "by": "x"}) for n in range(5)]
        own.add(rows)
        own.refresh("now")
        turned = [row._replace(columns=dict(reversed(row.columns.items()))) for row in rows]
        assert own.update(turned) == 5
        assert own.info()["revision"] == 1 and own.info()["contexts"]["up_to_date"]
        others = [
            rows[0]._replace(features="lion tiger 0 "),
            rows[1]._replace(title=None),
            rows[2]._replace(columns={"year": 3, "by": "x"}),
            Item("d3", "lion tiger 3", "T3"),
            rows[4],
        ]
        own.update(others)
        assert own.info()["revision"] == 2
        with own._database.read() as cursor:
            (changed,) = cursor.execute("select items from setsearch_revision where revision = 2").fetchone()
        noted = np.frombuffer(changed, "<i4", 8).tolist()
        assert noted == [0, 1, 2, 2, 2, 3, 3, 3], "once: text or title; three times: columns alone"


def test_a_table_of_sqlite_itself_is_none(tmp_path, run, failed):
    sqlite3.connect(tmp_path / "a.db").executescript("create table t (id, sql); insert into t values (1, 'x')")
    told = run("index", "a.db", "--table", "sqlite_master", "--id", "name", "--text", "sql", "--title", "name")
    failed(told, 1, "sqlite_master")


def test_damaged_notes_are_told_for_their_table():
    connection = host()
    connection.execute("create table others as select * from articles")
    index = setsearch.open(connection)
    index.add_table("articles", TEXTS, track=True)
    other = setsearch.open(connection, collection="others")
    other.add_table("others", TEXTS, track=True)
    connection.execute("update articles set body = 'x' where id = 1")
    connection.execute("update setsearch_change set again = 7")
    assert [line for line in index.check() if "notes" in line] == ["1 notes of changed rows of articles are damaged"]


@pytest.mark.parametrize("key", ["", b"x", None])
def test_a_row_without_an_id_that_is_gone_again_holds_up_nothing(key):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table notes (id primary key, text)")
    connection.execute("insert into notes values ('a', 'lion')")
    index = setsearch.open(connection, create=True)
    index.add_table("notes", Columns(), track=True)
    connection.execute("insert into notes values (?, 'tiger')", (key,))
    connection.commit()
    way_out = "correct it, or index the table again with `errors=skip`$"
    with pytest.raises(SourceError, match=f"the column 'id' is .*{way_out}"):
        index.refresh()
    connection.execute("delete from notes where text = 'tiger'")
    connection.execute("insert into notes values ('b', 'lion')")
    connection.commit()
    assert index.refresh().written == 1
    connection.execute("insert into notes values (?, 'tiger')", (key,))
    connection.execute("insert into notes values ('c', 'lion')")
    connection.commit()
    assert index.add_table("notes", Columns(errors="skip"), track=True).written == 1
    connection.execute("update notes set text = 'wheat'")
    connection.commit()
    assert index.refresh().written == 3


def test_a_table_that_is_gone_holds_up_no_other_one(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    for name, words in (("one", "lion"), ("two", "wheat")):
        connection.execute(f"create table {name} (id integer primary key, body text)")
        connection.execute(f"insert into {name} (body) values (?)", (words,))
        connection.commit()
        with setsearch.open(tmp_path / "x.db", create=True, collection=name) as index:
            index.add_table(name, Columns(text=["body"]), track=True)
    connection.executescript("drop table one; insert into two (body) values ('oats')")
    connection.close()
    with setsearch.open(tmp_path / "x.db") as index:
        with pytest.raises(SourceError, match=r"no table 'one'.*drop the collection"):
            index.refresh()
        (problem,) = index.check()
        assert "no table 'one'" in problem
        assert index.items("two/documents").features_of("2") == {"oats": 1}
        assert index.items("one/documents").features_of("1") == {"lion": 1}


def test_an_answer_tells_that_rows_have_changed_since(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute("create table a (id integer primary key, text text)")
    connection.executemany("insert into a (text) values (?)", [("lion tiger",), ("tiger cat",), ("wheat",)])
    connection.commit()
    assert run("index", "app.db", "--table", "a", "--track")[0] == 0
    ask = "expand", "app.db", "1", "--items", "documents"
    assert "came after" not in run(*ask)[2]
    connection.execute("insert into a (text) values ('lion cat')")
    connection.commit()
    code, out, said = run(*ask)
    assert code == 0 and '"4"' not in out
    assert "note: 1 change of a came after this; `setsearch update` applies it\n" in said
    assert run("update", "app.db")[0] == 0
    code, out, said = run(*ask)
    assert '"4"' in out and "came after" not in said
    connection.close()


def test_a_table_that_0_33_followed_by_an_id_that_it_lacks_is_put_right():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table notes (body text, year int)")
    connection.executemany("insert into notes values (?, ?)", [(row[1], row[2]) for row in ROWS])
    index = setsearch.open(connection)
    index.add_table("notes", Columns(text="body"), track=True)
    connection.execute("""update setsearch_origin set columns = replace(columns, '"rowid"', '"id"')""")
    for kind, name, sql in schema(connection):
        if kind == "trigger":
            connection.execute(f"drop trigger {name}")
            connection.execute(sql.replace('"rowid"', '"id"'))
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute("insert into notes values ('lion rye', 2020)")
    late = Where("year > 2009")
    assert {hit.item for hit in index.items("documents").expand(["1"], among=late)} == {"3", "4"}
    assert index.refresh() == Changes()
    connection.execute("insert into notes values ('lion rye', 2020)")
    assert index.refresh() == Changes(1, 0)
    assert "6" in {hit.item for hit in index.items("documents").expand(["1"], among=late)}
