"""What hosts give: connections of other drivers, URIs, functions, a connection for each request, integer keys."""

import pickle
import sqlite3
import subprocess
import sys
import threading
import uuid
from array import array
from collections import UserString
from contextlib import closing
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import setsearch
from setsearch import Columns, Where, errors
from setsearch.memory import readings
from setsearch.sqlite import database

ROWS = [("lion tiger cat", 1999), ("lion leopard", 2005), ("wheat barley", 2010), ("lion cat leopard", 2011)]
DRIVERS = ["sqlite3", "pysqlite3.dbapi2", "sqlcipher3.dbapi2"]


def connect(driver, path):
    """A connection of a driver; sqlcipher3 encrypts."""
    module = pytest.importorskip(driver, reason=f"needs {driver}")
    connection = module.connect(str(path))
    if "cipher" in driver:
        connection.execute("pragma key = 'secret'")
        connection.execute("pragma kdf_iter = 1000")  # of 256,000, which take a third of a second
    return connection


@pytest.fixture(params=DRIVERS)
def host(request, tmp_path):
    """A driver, the path of its database, and a connection to a table of animals."""
    connection = connect(request.param, tmp_path / "a.db")
    connection.execute("create table animal (id integer primary key, text text, year int)")
    connection.executemany("insert into animal (text, year) values (?, ?)", ROWS)
    connection.commit()
    yield SimpleNamespace(driver=request.param, path=tmp_path / "a.db", connection=connection)
    connection.close()


def test_a_question_keeps_the_locks_that_the_process_has_on_the_file(tmp_path):
    """Closing a file ends them, whoever opened it: the file of a lent connection is SQLite's alone."""
    path = str(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as writer, closing(sqlite3.connect(path)) as asker:
        setsearch.open(writer, create=True).add([("a", "lion cat"), ("b", "tiger cat"), ("c", "wheat")])
        writer.commit()
        writer.execute("begin immediate")
        assert setsearch.open(asker).items("documents").expand(["a"], 1)
        other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('begin immediate')"
        told = subprocess.run([sys.executable, "-c", other, path], capture_output=True, text=True, check=False)
        assert "database is locked" in told.stderr
        writer.commit()


def test_any_driver_may_lend_a_connection(host):
    index = setsearch.open(host.connection)
    assert index.add_table("animal", Columns(text="text"), track=True).written == 4
    host.connection.execute("update animal set text = 'leopard cub' where id = 2")
    host.connection.commit()
    assert index.refresh().written == 1
    documents = index.items("documents")
    assert documents.features_of(2) == {"cub": 1, "leopard": 1}
    assert [hit.item for hit in documents.expand([4], 1, among=Where("year > ?", (2000,)))] == ["2"]
    with pytest.raises(errors.InvalidParameter, match="no such column: missing"):
        documents.expand([1], among=Where("missing > 1"))
    setsearch.register(host.connection)
    (answer,) = host.connection.execute("select setsearch_expand('4', 1)").fetchone()
    assert '"item": ' in answer
    host.connection.execute("begin")
    index.keep_set("cats", ["1", "4"], items="documents")
    host.connection.rollback()
    assert index.sets() == {}
    index.keep_set("cats", ["1", "4"], items="documents")
    assert index.sets() == {"cats": "documents"}
    assert index.check() == []


def test_errors_of_a_driver_are_ours(host):
    index = setsearch.open(host.connection, timeout=0)
    index.add_table("animal", Columns(text="text"))
    other = connect(host.driver, host.path)
    host.connection.execute("pragma busy_timeout = 0")
    other.execute("begin immediate")
    with pytest.raises(errors.LockedDatabase):
        index.keep_set("cats", ["1"], items="documents")
    other.rollback()
    other.close()


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_transaction_that_began_by_reading_does_not_say_that_it_waited(tmp_path, mode):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, 5)) as host, closing(sqlite3.connect(path)) as other:
        index = setsearch.open(host, create=True)
        index.add([("a", "lion cat"), ("b", "tiger cat"), ("c", "wheat")])
        host.execute(f"pragma journal_mode = {mode}")
        host.execute("begin")
        assert index.items("documents").expand(["a"], 1)
        other.execute("begin immediate")
        with pytest.raises(errors.LockedDatabase, match="began by reading cannot wait: roll it back"):
            index.keep_set("cats", ["a"], items="documents")
        host.rollback()
        other.rollback()
        host.execute("begin immediate")
        index.keep_set("cats", ["a"], items="documents")
        host.commit()
        assert index.sets() == {"cats": "documents"}


def test_a_connection_in_another_thread_and_a_closed_one_tell_the_way_out(host):
    connection = host.connection
    index, told = setsearch.open(connection), []
    index.add([("a", "lion tiger"), ("b", "lion wheat")])

    def ask():
        for call in (index.info, lambda: index.items("documents").expand(["a"]), lambda: index.add([("c", "rye")])):
            with pytest.raises(errors.DatabaseError) as raised:
                call()
            told.append(str(raised.value))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert {*told} == {
        "the connection is of another thread; "
        "lend one made with check_same_thread=False, or a function that makes connections"
    }
    assert index.items("documents").item_count() == 2
    connection.close()
    with pytest.raises(errors.DatabaseError, match="the connection is closed; lend an open one"):
        index.info()


def test_a_function_makes_a_connection_for_each_thread(host):
    setsearch.open(host.connection).add_table("animal", Columns(text="text"))
    made, answers = [], []

    def make():
        made.append(threading.get_ident())
        return connect(host.driver, host.path)

    index = setsearch.open(make)

    def ask():
        answers.extend([index.items("documents").expand([1], model="bernoulli") for _ in range(3)])

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    ask()
    assert len(made) == 4
    assert all(answer == answers[0] for answer in answers)
    assert len(answers) == 12
    index.keep_set("cats", [1], items="documents")
    index.close()
    assert not [path for path in host.path.parent.iterdir() if path.name.endswith("-wal")]
    assert index.sets() == {"cats": "documents"}
    assert len(made) == 5
    missing = host.path.with_name("folder") / "a.db"
    with pytest.raises(errors.DatabaseError, match="cannot be opened"):
        setsearch.open(lambda: connect(host.driver, missing)).sets()
    with pytest.raises(ZeroDivisionError):
        setsearch.open(lambda: 1 / 0).sets()
    with pytest.raises(errors.InvalidParameter, match="makes no connection"):
        setsearch.open(lambda: 7).sets()


def test_uris(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add([(1, "lion cat"), (2, "lion tiger"), (3, "wheat")])
    with setsearch.open(f"file:{path}?mode=ro") as index:
        assert index.items("documents").expand([1], 1)[0].item == "2"
        with pytest.raises(errors.ReadOnlyDatabase):
            index.keep_set("cats", [1], items="documents")
    with setsearch.open(f"file:{path}") as index:
        index.keep_set("cats", [1], items="documents")
    missing = tmp_path / "missing.db"
    with setsearch.open(f"file:{missing}") as index, pytest.raises(errors.DatabaseError, match=r"missing\.db"):
        index.sets()
    assert not missing.exists()


def test_wrappers_of_connections_are_opened(host):
    plain = setsearch.open(host.connection)
    plain.add_table("animal", Columns(text="text"))
    for wrapper in (SimpleNamespace(conn=host.connection), SimpleNamespace(driver_connection=host.connection)):
        assert setsearch.open(wrapper).items("documents").expand([1], model="bernoulli") == plain.items(
            "documents"
        ).expand([1], model="bernoulli")


def test_an_interface_of_its_own_is_refused():
    apsw = pytest.importorskip("apsw", reason="needs apsw")
    with pytest.raises(errors.InvalidParameter, match=r"apsw\.Connection .*in another process the path"):
        setsearch.open(apsw.Connection(":memory:"))


def test_a_connection_of_another_database_is_refused():
    class Connection:
        def cursor(self):
            """Of no SQLite."""

    with pytest.raises(errors.InvalidParameter, match=r"another interface .* rows of others go into a file by `add_fr"):
        setsearch.open(Connection())


def test_a_lent_database_without_an_index_is_no_path_of_a_command():
    index = setsearch.open(sqlite3.connect(":memory:"))
    for ask in (index.items, index.info, index.refresh, lambda: index.items("documents")):
        with pytest.raises(errors.NoIndex) as caught:
            ask()
        assert str(caught.value) == "the database holds no setsearch index; Index.add or add_table creates one"


def test_a_connection_for_each_request_shares_memory(host, monkeypatch):
    setsearch.open(host.connection).add_table("animal", Columns(text="text"))
    loads = []
    load = readings.read_content
    monkeypatch.setattr(readings, "read_content", lambda *given: loads.append(1) or load(*given))

    def ask(**options):
        connection = connect(host.driver, host.path)
        answer = setsearch.open(connection, **options).items("documents").expand([1], model="bernoulli")
        connection.close()
        return answer

    first = ask()
    assert [ask() for _ in range(3)] == [first] * 3
    assert len(loads) == 1
    ask(analyzer=str.split)  # other settings read texts otherwise
    assert len(loads) == 2
    host.connection.execute("update animal set text = 'lion tiger cat' where id = 3")
    host.connection.commit()
    setsearch.open(host.connection).refresh()
    changed = ask()
    assert len(loads) == 2  # the old content was brought up to date
    assert changed != first
    own = setsearch.open(lambda: connect(host.driver, host.path))
    assert changed == own.items("documents").expand([1], model="bernoulli")


def test_what_was_rolled_back_is_not_remembered(host):
    index = setsearch.open(host.connection)
    index.add_table("animal", Columns(text="text"))
    before = index.items("documents").expand([1], model="bernoulli")
    host.connection.execute("begin")
    host.connection.execute("update animal set text = 'lion tiger cat' where id = 3")
    index.refresh()
    assert setsearch.open(host.connection).items("documents").features_of(3) == {"lion": 1, "tiger": 1, "cat": 1}
    assert setsearch.open(host.connection).items("documents").expand([1], model="bernoulli") != before
    host.connection.rollback()
    assert setsearch.open(host.connection).items("documents").expand([1], model="bernoulli") == before


def test_tables_are_checked_once_for_a_file_and_again_where_a_host_changed_them(host, monkeypatch):
    setsearch.open(host.connection).add_table("animal", Columns(text="text"))
    checks, check = [], database.require_tables
    monkeypatch.setattr(database, "require_tables", lambda *given: checks.append(1) or check(*given))

    def ask():
        connection = connect(host.driver, host.path)
        try:
            return setsearch.open(connection).items("documents").expand([1])
        finally:
            connection.close()

    first = ask()
    assert [ask(), ask()] == [first] * 2
    assert len(checks) == 1
    host.connection.execute("begin")
    host.connection.execute("create table other (id)")
    assert setsearch.open(host.connection).items("documents").expand([1]) == first
    host.connection.rollback()
    host.connection.execute("alter table setsearch_name rename to another")  # SQLite gives it the same version
    host.connection.commit()
    with pytest.raises(errors.CorruptIndex):
        ask()
    host.connection.execute("alter table another rename to setsearch_name")
    host.connection.commit()
    assert ask() == first


class Row:
    """A row of an object-relational mapper."""

    def __init__(self, pk):
        self.pk = pk


def test_objects_and_rows_of_sqlalchemy_are_ids():
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    connection = sqlalchemy.create_engine("sqlite://").connect()
    registry = orm.registry()

    @registry.mapped
    class Shop:
        __tablename__ = "shop"
        id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        body = sqlalchemy.Column(sqlalchemy.Text)

    registry.metadata.create_all(connection)
    with orm.Session(connection) as session:
        session.add_all(Shop(body=body) for body in ("lion cat", "tiger cat", "wheat"))
        session.flush()
        index = setsearch.open(session.connection())
        index.add_table("shop", setsearch.Columns(text="body"))
        documents = index.items("documents")
        expected = documents.expand([1], 1)
        lion = session.get(Shop, 1)
        assert documents.expand([lion], 1) == expected
        query = sqlalchemy.select(Shop.id).order_by(Shop.id)
        assert documents.expand(session.execute(query.limit(1)).all(), 1, among=session.execute(query)) == expected
        plain = connection.connection.driver_connection.execute("select id from shop limit 1").fetchall()
        assert documents.expand(plain, 1) == expected
        with pytest.raises(errors.InvalidParameter, match=r"texts; <.* is not one"):
            documents.expand([Shop(body="never written")])
        with pytest.raises(errors.InvalidParameter, match=r"\(1, 'lion cat'\) is not one"):
            documents.expand(session.execute(sqlalchemy.select(Shop.id, Shop.body)).all())


@pytest.mark.parametrize("no_row", [UserString("1"), bytearray(b"1"), memoryview(b"1"), array("q", [1]), ["1"], b"1"])
def test_one_character_byte_or_element_is_no_row(tmp_path, no_row):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("1", "lion cat"), ("49", "lion tiger")])
        with pytest.raises(errors.InvalidParameter, match=r"seeds is a list of texts; .* is not one"):
            index.items("documents").expand([no_row])


def test_sessions_engines_and_addresses_are_refused_with_what_to_give():
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    engine = sqlalchemy.create_engine("sqlite:///shop.db")
    for wrong in (engine, orm.Session(engine), "sqlite:///shop.db", engine.url):
        with pytest.raises(errors.InvalidParameter, match=r"is of SQLAlchemy; give session.connection\(\)"):
            setsearch.open(wrong)


def test_uuids_are_ids(tmp_path):
    keys = [uuid.UUID(int=n) for n in range(3)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(zip(keys, ["lion cat", "lion tiger", "wheat"], strict=True))
        documents = index.items("documents")
        assert [hit.item for hit in documents.expand([Row(keys[0])], k=1)] == [keys[1].hex]
        assert documents.find(keys[2]) == keys[2].hex and index.delete(keys[:1]) == 1


def test_whole_numbers_and_rows_are_ids(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([(1, "lion cat"), (np.int64(2), "lion tiger"), (3, "wheat"), (4, "wheat lion")])
        documents = index.items("documents")
        expected = documents.expand(["1"], exclude=["3"], among=["2", "4"])
        assert documents.expand([1], exclude=[3], among=(n for n in (2, 4))) == expected
        rows = [Row(n) for n in range(5)]
        assert documents.expand(rows[1:2], exclude=rows[3:4], among=(rows[2], rows[4])) == expected
        assert documents.expand({1: 2.0, rows[2]: 1}) == documents.expand({"1": 2.0, "2": 1})
        assert documents.rank([2, 4], [1]) == documents.rank(["2", "4"], ["1"])
        assert documents.explain([1], 2) == documents.explain(["1"], "2")
        assert documents.find(4) == "4"
        kept = index.keep_set("s", [1], [rows[3]], "documents")
        assert kept.rejected == ["3"]
        kept.forget(3)
        assert kept.rejected == [] and documents.titles([1]) == documents.titles(["1"])
        assert documents.headlines([1]) == documents.headlines(["1"]) != {}
        assert index.add_vectors([1, 2, 3, 4], np.eye(4), "documents") == 4
        assert index.delete([rows[4]]) == 1
        for wrong in (True, 1.5, None, b"1"):
            with pytest.raises(errors.InvalidParameter):
                documents.expand([wrong])


def test_a_wrapper_that_has_a_connection_lends_it():
    connection = sqlite3.connect(":memory:")
    wrapper = SimpleNamespace(connection=connection, cursor=connection.cursor)  # as Django has one
    setsearch.open(wrapper).add([("a", "lion cat"), ("b", "tiger cat")])
    assert setsearch.open(connection).items("documents").item_count() == 2
    wrapper.connection = None
    with pytest.raises(errors.InvalidParameter, match="give an open one of sqlite3"):
        setsearch.open(wrapper)
    wrapper.ensure_connection = lambda: setattr(wrapper, "connection", connection)  # the first query of a thread
    assert setsearch.open(wrapper).items("documents").item_count() == 2


def _words(text):
    return text.upper().split()


def test_an_index_is_pickled_as_what_opens_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = setsearch.open("a.db", create=True, analyzer=_words, collection="cats", time_limit=3.0)
    index.add([("a", "lion cat"), ("b", "tiger cat"), ("c", "wheat")])
    sent = pickle.dumps(index)
    monkeypatch.chdir("/")
    other = pickle.loads(sent)
    other.add([("d", "lion cat")])
    assert other.items("documents").features_of("d") == {"LION": 1, "CAT": 1}
    assert other.items("documents").expand(["a"], 1)[0].item == "d"
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(errors.UsageError, match="is not pickled"):
        pickle.dumps(setsearch.open(connection))


def test_what_an_index_hands_out_is_pickled_with_it(tmp_path):
    index = setsearch.open(tmp_path / "a.db", create=True)
    index.add([("a", "lion cat"), ("b", "tiger cat"), ("c", "wheat"), ("d", "lion cat")])
    index.add_numbers([("x", [1.0]), ("y", [1.5]), ("z", [9.0])], ["size"], "wines")
    index.keep_set("crops", ["c"], items="documents", group="kinds")
    cats = index.keep_set("cats", ["a"], ["c"], items="documents", group="kinds")
    index.group("kinds", exclusive=True)
    assert cats.expand() and repr(cats) == "<setsearch.ItemSet cats of documents>"
    documents, wines = index.items("documents"), index.numbers("wines")
    asked = [partial(documents.expand, ["a"]), partial(wines.expand, ["x"], 1), partial(cats.expand, 2)]
    asked += [index.question(["b"], set="cats").expand, lambda: [*index.inbox()]]
    assert [ask() for ask in pickle.loads(pickle.dumps(asked[:-1]))] == [ask() for ask in asked[:-1]]
    assert [*pickle.loads(pickle.dumps(index.inbox()))] == asked[-1]()
    with closing(sqlite3.connect(":memory:")) as connection:
        lent = setsearch.open(connection)
        lent.add([("a", "lion cat"), ("b", "tiger cat")])
        for own in (lent.items("documents"), lent.keep_set("s", ["a"], items="documents"), lent.inbox()):
            with pytest.raises(errors.UsageError, match="is not pickled"):
                pickle.dumps(own)
