"""Files and connections: what is lent is given back as it was, what fails leaves no trace."""

import gzip
import math
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from laws import examples
from samples import change_blocks, delete_arrays, random_data

import setsearch
from setsearch import errors, lists
from setsearch.indexing.writing import batch
from setsearch.memory import field
from setsearch.scoring import postings as valued_lists
from setsearch.sqlite import database
from setsearch.storage import names

ITEMS = [("a", "lion tiger cat"), ("b", "lion cat"), ("c", "wheat barley")]


@pytest.fixture
def host(tmp_path):
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute("create table article (id text primary key, body text)")
    connection.executemany("insert into article values (?, ?)", ITEMS)
    connection.commit()
    yield connection
    connection.close()


def test_a_lent_connection_is_given_back_as_it_was(host):
    host.row_factory = lambda cursor, row: {
        column[0]: value for column, value in zip(cursor.description, row, strict=True)
    }
    host.text_factory = bytes
    before = host.row_factory, host.text_factory, host.isolation_level, host.execute("pragma journal_mode").fetchone()
    index = setsearch.open(host)
    index.add(ITEMS)
    assert [hit.item for hit in index.items("terms").expand(["lion"], 1)] == ["cat"]
    after = host.row_factory, host.text_factory, host.isolation_level, host.execute("pragma journal_mode").fetchone()
    assert before == after
    assert not host.in_transaction
    assert host.execute("select count(*) as n from article").fetchone() == {"n": 3}
    assert host.execute("pragma recursive_triggers").fetchone() == {"recursive_triggers": 0}
    index.close()
    host.execute("select 1")


def test_the_hosts_transaction_stays_the_hosts(host, tmp_path):
    index = setsearch.open(host)
    index.add(ITEMS[:2])
    host.execute("insert into article values ('x', 'y')")
    assert host.in_transaction
    index.add(ITEMS[2:])
    assert index.items("documents").item_count() == 3
    with pytest.raises(errors.DuplicateItem):
        index.add(ITEMS)
    assert host.in_transaction
    assert index.items("documents").item_count() == 3
    host.rollback()
    assert index.items("documents").item_count() == 2
    assert host.execute("select count(*) from article").fetchone() == (3,)
    index.add(ITEMS[2:])
    assert index.items("documents").item_count() == 3
    assert index.check() == []


def test_an_undone_write_leaves_no_cache(host):
    """The same revision number, another content: caches go by a stamp of the content."""
    index = setsearch.open(host)
    index.add(ITEMS)
    documents = index.items("documents")
    host.execute("begin")
    index.add([("d", "lion dog")])
    inside = documents.expand(["a"])
    host.rollback()
    index.add([("d", "barley")])
    assert documents.expand(["a"]) != inside
    with setsearch.open(host) as fresh:
        assert documents.expand(["a"]) == fresh.items("documents").expand(["a"])


def test_all_tables_carry_the_prefix(host):
    setsearch.open(host).add(ITEMS)
    names = {name for (name,) in host.execute("select name from sqlite_master where name not like 'sqlite_%'")}
    assert {name for name in names if not name.startswith(("setsearch_", "idx_setsearch_"))} == {"article"}


def test_document_frequencies_can_be_read_with_sql(host):
    setsearch.open(host).add(ITEMS)
    rows = host.execute("select name, document_frequency from setsearch_frequency where kind = 'terms' order by name")
    assert rows.fetchall() == [("barley", 1), ("cat", 2), ("lion", 2), ("tiger", 1), ("wheat", 1)]


def test_a_failed_first_write_leaves_no_file(tmp_path):
    path = tmp_path / "new.db"
    index = setsearch.open(path, create=True)
    with pytest.raises(errors.InvalidItem):
        index.add([("a", "x"), ("", "y")])
    assert list(tmp_path.iterdir()) == []
    index.add(ITEMS)
    index.close()
    assert list(tmp_path.iterdir()) == [path]


def test_missing_foreign_and_newer_databases(tmp_path):
    with pytest.raises(errors.MissingDatabase, match="create=True"):
        setsearch.open(tmp_path / "no.db")
    (tmp_path / "text.db").write_text("this is not a database, but longer than a header would be" * 20)
    with setsearch.open(tmp_path / "text.db") as index, pytest.raises(errors.NotADatabase, match=r"text\.db"):
        index.items()
    (tmp_path / "empty.db").touch()
    with setsearch.open(tmp_path / "empty.db") as index, pytest.raises(errors.NoIndex):
        index.items()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("insert into setsearch_migrations (migration_set, name) values ('setsearch', 'm999_future')")
    connection.commit()
    connection.close()
    for call in (lambda i: i.items("terms"), lambda i: i.add([("z", "z")])):
        with setsearch.open(tmp_path / "a.db") as index, pytest.raises(errors.NewerSchema, match="m999_future"):
            call(index)


def test_a_file_that_has_lost_the_names_of_its_migrations_is_not_written_to(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            connection.execute("drop table setsearch_migrations")
        with pytest.raises(errors.DatabaseError, match="already exists"):
            index.add([("z", "z")])


def test_an_older_process_is_told_that_a_newer_one_converted_its_file(tmp_path, monkeypatch):
    """Also by a migration that leaves the schema: else `check` of the older one would see damage."""
    path, last = tmp_path / "a.db", database.MIGRATIONS[-1]
    with setsearch.open(path, create=True) as older:
        older.add(ITEMS)
        words, kept = older.items("terms"), older.keep_set("kept", ["lion"], items="terms")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("delete from setsearch_migrations where name = ?", [last])
        with monkeypatch.context() as then, setsearch.open(path) as newer:
            then.setattr(database, "MIGRATIONS", database.MIGRATIONS[:-1])
            assert len(words.expand(["lion"])) == 4
            then.undo()
            assert newer.sets() == {"kept": "terms"}
            assert newer.check() == []
        monkeypatch.setattr(database, "MIGRATIONS", database.MIGRATIONS[:-1])
        told = rf"^.*a\.db was written by a newer setsearch \({last}\); upgrade setsearch to read it$"
        for call in (lambda: words.expand(["lion"]), lambda: older.add([("z", "z")]), kept.save, older.check):
            with pytest.raises(errors.NewerSchema, match=told):
                call()


def test_a_locked_database_can_be_read_and_says_who_waits(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, timeout=0.05) as index:
        index.add(ITEMS)
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("begin immediate")
        assert len(index.items("terms").expand(["lion"])) == 4
        with pytest.raises(errors.LockedDatabase, match=r"a\.db is locked by another writer \(waited 0\.05 s\)"):
            index.add([("d", "x")])
        lent = sqlite3.connect(path, timeout=0.02)  # which has a timeout of its own
        with pytest.raises(errors.LockedDatabase, match=r"waited 0\.02 s.*`timeout`"):
            setsearch.open(lent).add([("d", "x")])
        lent.close()
        writer.rollback()
        writer.close()
        index.add([("d", "x")])


def test_a_read_only_connection(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    index = setsearch.open(connection)
    assert len(index.items("terms").expand(["lion"])) == 4
    with pytest.raises(errors.ReadOnlyDatabase):
        index.add([("d", "x")])
    connection.close()


def test_threads_share_an_index(tmp_path, monkeypatch, kernel):
    """Eight threads: the answers of one thread."""
    monkeypatch.setattr(valued_lists, "AHEAD", 20)
    monkeypatch.setattr(valued_lists, "AHEAD_IN_CORE", 20)
    monkeypatch.setattr(valued_lists, "NOTHING_AHEAD", 2)
    data = random_data(6, 80, 60, 0.2)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        films = index.items("film")
        expected = {n: films.expand([f"i{n}", f"i{n + 1}"], 5) for n in range(40)}
        wrong = []

        def ask(start):
            for step in range(80):
                n = (start * 7 + step) % 40
                if films.expand([f"i{n}", f"i{n + 1}"], 5) != expected[n]:
                    wrong.append(n)

        threads = [threading.Thread(target=ask, args=(start,)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(index._database._connections._idle) <= 8, "threads that are gone leave no connection behind"
        assert list(films.expand_many([[f"i{n}", f"i{n + 1}"] for n in range(40)], 5)) == list(expected.values())


def test_small_caches_and_pieces_change_nothing(tmp_path, monkeypatch):
    data = random_data(8, 50, 40, 0.2)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        expected = [index.items("film").expand([f"i{n}"]) for n in range(30)]
    for ahead in (1, 100):
        monkeypatch.setattr(valued_lists, "AHEAD", ahead)
        monkeypatch.setattr(valued_lists, "AHEAD_IN_CORE", ahead)
        monkeypatch.setattr(valued_lists, "NOTHING_AHEAD", 2)
        monkeypatch.setattr(field, "KEPT", 1)
        monkeypatch.setattr(lists, "CHUNK", 1 + ahead % 7)
        with setsearch.open(tmp_path / "a.db") as index:
            assert [index.items("film").expand([f"i{n}"]) for n in range(30)] == expected


def test_norms_are_kept_in_the_file(tmp_path, monkeypatch):
    monkeypatch.undo()  # the default model has norms
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        index.refresh("now")
        expected = index.items("documents").expand(["a"], model="lift", binarize="twice-mean")
    monkeypatch.setattr("setsearch.models.values.norms_of", None)
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").expand(["a"], model="lift", binarize="twice-mean") == expected


def test_damage_is_found(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    for statement in (
        "update setsearch_feature set total = total + 1 where feature = 1",
        "update setsearch_forward set data = x'0505'",
        "update setsearch_kind set size = size + 1",
        "delete from setsearch_feature where feature = 2",
        "update setsearch_forward set first = first + 1",
        "delete from setsearch_forward",
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        connection = sqlite3.connect(copy)
        connection.execute(statement)
        connection.commit()
        connection.close()
        with setsearch.open(copy) as index:
            assert index.check(), statement
        copy.unlink()


MADE = {  # the entries of one block, which are items, features and counts, as somebody makes one block or more of them
    "items that do not exist": lambda own: [own._replace(lists=own.lists + 1_000_000)],
    "negative items": lambda own: [own._replace(lists=own.lists - 1)],
    "features that do not exist": lambda own: [own._replace(ids=own.ids + 1_000_000)],
    "negative features": lambda own: [own._replace(ids=own.ids - 1)],
    "counts of 0": lambda own: [own._replace(counts=own.counts - 1)],
    "counts of 2^40": lambda own: [own._replace(counts=own.counts << 40)],
    "twice the same": lambda own: [own._replace(ids=own.ids // 2)],
    "features that descend": lambda own: [own._replace(ids=own.ids[::-1])],
    "items that descend": lambda own: [own._replace(lists=own.lists[::-1])],
    "overlapping blocks": lambda own: [own, own.select(own.lists > 0)],
}


@pytest.mark.parametrize("name", MADE)
def test_lists_that_somebody_made_never_reach_a_kernel(tmp_path, name, kernel):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add([("d", [f"w{n:02}" for n in range(60)]), ("e", ["w00", "w01"])], ("document", "word"))
    connection = sqlite3.connect(path)
    change_blocks(connection, MADE[name])
    connection.close()
    with setsearch.open(path) as index:
        for binarize in ("presence", "twice-mean"):
            with pytest.raises(errors.CorruptIndex, match="damaged block"):
                index.items("document").expand(["e"], binarize=binarize)
        assert index.check()


def test_a_repair_takes_lists_from_what_was_derived_and_counts_again(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        expected = index.items("documents").expand(["a"])
        index.refresh("now")
    for statement in (
        "setsearch_forward set data = x'0505'",
        "setsearch_feature set length = 0, total = 0",
    ):
        connection = sqlite3.connect(path)
        connection.execute(f"update {statement}")
        connection.commit()
        connection.close()
        with setsearch.open(path) as index:
            assert index.check()
            assert [line for line in index.repair() if "made again" in line or "counted again" in line]
            assert index.check() == []
            assert index.items("documents").expand(["a"]) == expected
            index.refresh("now")
    with setsearch.open(path) as index, index._database.write() as cursor:
        cursor.execute("update setsearch_forward set data = x'0505'")
        delete_arrays(path)
    with setsearch.open(path) as index:
        assert "documents x terms: the lists are damaged; index the collection again" in index.repair()
        assert index.check()


@pytest.mark.parametrize("id", [-1, 1 << 31, (1 << 63) - 1])
def test_a_repair_tells_ids_that_cannot_be(tmp_path, id):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        with index._database.write() as cursor:
            cursor.execute("update setsearch_name set id = ? where name = 'tiger'", (id,))
        assert "terms: an id is damaged; index the collection again" in index.repair()
        assert index.check()


@pytest.mark.parametrize("revision", [-(1 << 63), -1, 1 << 62, (1 << 63) - 1])
def test_a_number_of_writes_that_cannot_be_is_damage(tmp_path, revision):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        with index._database.write() as cursor:
            cursor.execute("update setsearch_relation set revision = ?", (revision,))
    with setsearch.open(path) as index:
        for call in (index.info, index.refresh, lambda: index.update(ITEMS), lambda: index.delete(["a"]), index.repair):
            with pytest.raises(errors.CorruptIndex, match="are at revision"):
                call()
        assert index.check()


def test_a_repair_keeps_contexts_that_damaged_texts_cannot_give_again(tmp_path, run):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add([(f"d{n}", f"the w{n % 5} and w{n % 7} eat w{n % 3} grass") for n in range(60)])
        index.refresh("now")
        expected = index.items("terms").expand(["w1", "w2"], by="contexts")
        with index._database.write() as cursor:
            cursor.execute("update setsearch_text set data = zeroblob(99)")
    code, out, said = run("check", str(path), "--repair")
    kept = "documents x terms: contexts stay as they are, because damaged texts cannot give them again\n"
    problem = "documents x terms: a stored text is damaged (its checksum); index the collection again"
    assert (code, out, said) == (1, "", f"{kept}Error: {path}: {problem}\n")
    with setsearch.open(path) as index:
        found = index.items("terms").expand(["w1", "w2"], by="contexts")
        assert [(hit.item, hit.score) for hit in found] == [(hit.item, hit.score) for hit in expected]
        with index._database.write() as cursor:
            cursor.execute("update setsearch_array set data = zeroblob(9)")
        assert not [line for line in index.repair() if "stay" in line]  # what is damaged itself goes
        index.replace([("a", "lion tiger")])
        assert "documents x terms: contexts will be derived again" in index.repair()


@pytest.mark.long
def test_nothing_is_written_to_a_file_that_is_opened_to_be_read(tmp_path, run, caplog):
    path, old = tmp_path / "a.db", tmp_path / "old.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add([(f"d{n}", f"the w{n % 5} and w{n % 7} eat w{n % 3} grass") for n in range(60)])
    ask = """
import setsearch, sys
with setsearch.open(sys.argv[1], read_only=sys.argv[2] == "1") as index:
    for items, seed in ("documents", "d1"), ("terms", "w1"):
        print([(hit.item, hit.score) for hit in index.items(items).expand([seed])])
    """

    def answer(read_only):
        command = [sys.executable, "-c", ask, str(path), str(int(read_only))]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    before = path.read_bytes()
    found = answer(read_only=True)
    log = path.with_name("a.db-wal")
    assert path.read_bytes() == before and (not log.exists() or not log.stat().st_size)
    assert answer(read_only=False) == found and path.read_bytes() != before
    with setsearch.open(path, read_only=True) as index:
        for write in (lambda: index.add([("x", "y")]), lambda: index.keep_set("a", ["w1"]), index.repair, index.drop):
            with pytest.raises(errors.ReadOnlyDatabase, match=r"a\.db is read-only"):
                write()
    old.write_bytes(gzip.decompress((Path(__file__).parents[1] / "fixtures" / "0.24.0.db.gz").read_bytes()))
    before = old.read_bytes()
    with (
        setsearch.open(old, read_only=True) as index,
        pytest.raises(errors.ReadOnlyDatabase, match=r"`setsearch update .* converts it"),
    ):
        index.info()
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")
    told = (
        f"Error: {old} was written by an earlier setsearch; `setsearch update {old}` converts it, where you may write\n"
    )
    assert run("serve", str(old), "--read-only") == (1, "", told)
    assert caplog.records == [], "it does not say that it converts what it cannot"
    assert old.read_bytes() == before


def test_a_file_may_be_away_for_a_moment(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        expected = index.items("documents").expand(["a"])
        path.rename(tmp_path / "b.db")
        with pytest.raises(errors.MissingDatabase):
            index.items("documents").expand(["a"])
        assert not path.exists()
        (tmp_path / "b.db").rename(path)
        assert index.items("documents").expand(["a"]) == expected


@pytest.mark.parametrize(
    "bad",
    [("", "x"), ("a\0b", "x"), (b"a", "x"), (7.5, "x"), ("\ud800", "x"), ("z", None), ("z", [["x"]]), ("z", [7]),
     ("z", [""]), ("z", {"x": -1}), ("z", {"x": 1.5}), ("z", {"x": True}), ("z", {"x": 2**31}), ("z",), "z",
     ("z", "x", None, 1)],
    ids=repr,
)  # fmt: skip
def test_items_that_cannot_be_stored(tmp_path, bad):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        before = index.info()
        for call in (index.add, index.update, index.replace):
            with pytest.raises(errors.InvalidItem):
                call([("fine", "lion"), bad])
        assert index.info() == before
        assert index.check() == []


def test_an_item_is_an_item(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        assert index.add([setsearch.Item("a", "lion tiger", "A"), setsearch.Item("b", ["lion"])]) == 2
        assert index.items("documents").features_of("A") == {"a": 1, "lion": 1, "tiger": 1}


def test_an_error_in_the_hosts_items_is_the_hosts(tmp_path):
    def items():
        yield "fine", "lion"
        raise TypeError("of the host")

    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        with pytest.raises(TypeError, match="of the host"):
            index.update(items())
        assert index.items("documents").item_count() == 3


def test_items_may_be_read_from_the_lent_connection(host):
    """The host's own code runs while we write: its connection is as it expects."""
    host.row_factory = sqlite3.Row
    index = setsearch.open(host)

    def items():
        for row in host.execute("select * from article"):
            yield row["id"], row["body"]

    assert index.add(items()) == 3
    assert index.items("documents").item_count() == 3


def test_a_call_within_a_call_on_a_lent_connection_is_refused(host):
    index = setsearch.open(host)
    index.add(ITEMS)

    def items():
        yield "d", "lion"
        index.delete(["a"])

    with pytest.raises(errors.UsageError, match="finish that call"):
        index.update(items())
    assert index.check() == []
    assert index.items("documents").item_count() == 3


def test_a_transaction_that_is_ended_from_outside(host):
    index = setsearch.open(host)
    index.add(ITEMS)

    def items():
        yield "d", "lion"
        host.rollback()
        yield "e", "lion"

    for begin in ("select 1", "begin"):
        host.execute(begin)
        with pytest.raises(errors.DatabaseError, match="application ended the transaction"):
            index.update(items())
        assert not host.in_transaction
        assert index.check() == []
        assert index.items("documents").item_count() == 3


def test_threads_share_a_lent_connection(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.db", check_same_thread=False)
    connection.row_factory = sqlite3.Row
    index = setsearch.open(connection)
    index.add(ITEMS)
    reading = index.items("documents")
    expected, wrong = reading.expand(["a"]), []

    def ask():
        for _ in range(100):
            if reading.expand(["a"]) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert connection.row_factory is sqlite3.Row
    connection.close()


@pytest.mark.long
def test_the_first_write_that_fails_spares_another_writers_file(tmp_path):
    """Two make the same new database; whoever fails must not remove what the other has written."""
    for round_ in range(20):
        path = tmp_path / f"{round_}.db"
        results = {}

        def write(name, items, path=path, results=results):
            with setsearch.open(path, create=True) as index:
                try:
                    results[name] = index.add(items)
                except errors.SetsearchError as error:
                    results[name] = error

        threads = [
            threading.Thread(target=write, args=("good", [(f"g{n}", "lion") for n in range(50)])),
            threading.Thread(target=write, args=("bad", [("b", "x"), ("b", "y")])),
        ]
        for thread in threads[:: 1 if round_ % 2 else -1]:
            thread.start()
        for thread in threads:
            thread.join()
        assert isinstance(results["bad"], errors.SetsearchError)
        assert results["good"] == 50
        with setsearch.open(path) as index:
            assert index.items("documents").item_count() == 50


def test_a_file_that_vanished_is_not_written_to(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        path.unlink()
        with pytest.raises(errors.MissingDatabase):
            index.update(ITEMS)
        assert not path.exists()
        with pytest.raises(errors.MissingDatabase, match="not a file"):
            index.items("terms")
    with pytest.raises(errors.InvalidParameter, match="memory"):
        setsearch.open(":memory:", create=True)
    for timeout in (-1, float("nan"), float("inf")):
        with pytest.raises(errors.InvalidParameter, match="timeout"):
            setsearch.open(path, create=True, timeout=timeout)
    with setsearch.open(path, create=True) as index, pytest.raises(errors.MissingDatabase, match="first write"):
        index.info()
    assert not path.exists()


@pytest.mark.parametrize(
    "relation", [("a",), ("a", "b", "c"), "ab", ("", "z"), (1, 2), ["film", "user"], ("x", "x")], ids=repr
)
def test_relations_are_two_names(tmp_path, relation):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        with pytest.raises((errors.InvalidParameter, errors.InvalidItem)):
            index.add([("i", ["f"])], relation)
        with pytest.raises(errors.InvalidParameter):
            index.delete([5.5])


def test_questions_of_wrong_types(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        reading = index.items("documents")
        assert reading.postings("\ud800") == {}
        for call in (
            lambda: reading.expand("a"),
            lambda: reading.expand([7.5]),
            lambda: reading.expand(["a"], k=2.5),
            lambda: reading.expand(["a"], strength="x"),
            lambda: reading.expand(["a"], strength=[1]),
            lambda: reading.expand(["a"], model=[]),
            lambda: reading.expand(["a"], binarize=1),
            lambda: index.delete([b"a"]),
        ):
            with pytest.raises(errors.InvalidParameter):
                call()
        for call in (
            lambda: index.delete(["\ud800"]),
            lambda: reading.expand(["\ud800"]),
            lambda: reading.expand([""]),
        ):
            with pytest.raises(errors.UnknownItem):
                call()


@pytest.mark.parametrize("mode", [True, False])
def test_autocommit_of_python_3_12(tmp_path, mode):
    """Both values of `sqlite3.connect(autocommit=...)`; on 3.11, where there is none, the default."""
    modern = sys.version_info >= (3, 12)
    connection = sqlite3.connect(tmp_path / "a.db", **({"autocommit": mode} if modern else {}))
    index = setsearch.open(connection)
    index.add(ITEMS[:2])
    index.add(ITEMS[2:])
    assert index.items("documents").item_count() == 3
    if modern:
        assert connection.autocommit is mode
        assert connection.in_transaction is not mode
        connection.rollback()
    if modern and not mode:  # the host is always in a transaction, and what it rolls back is gone
        with pytest.raises(errors.NoIndex):
            index.items("documents")
    else:
        assert index.items("documents").item_count() == 3
    connection.close()


@pytest.mark.parametrize("title", [None, "T"])
def test_an_id_that_comes_again_is_named_whatever_was_written_before(tmp_path, monkeypatch, title):
    monkeypatch.setattr(batch, "FULL_BATCH", 6)
    monkeypatch.setattr(names, "NAMES_OF_INSERT", 2)
    items = [(f"d{number}", "lion tiger", title) for number in range(9)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("old", "lion")])
        for again in ("d0", "d1", "d7", "d8"):
            with pytest.raises(errors.DuplicateItem, match=f"'{again}' occurs twice"):
                index.add([*items, (again, "x", title)])
        with pytest.raises(errors.DuplicateItem, match="already an item 'old'"):
            index.add([*items, ("old", "x", title)])
        assert index.items("documents").item_count() == 1
        assert index.check() == []


@examples(30)
@given(ids=st.sets(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=1))
def test_ids_of_any_characters_come_back(ids):
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add([(id, {id: 1}) for id in ids], ("film", "user"))
    for id in ids:
        assert index.items("film").features_of(id) == {id: 1}
    assert index.check() == []


def test_options_of_callers_do_not_fill_memory(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        documents = index.items("documents")
        for number in range(40):
            documents.expand(["a"], popularity=number / 100, explain=True)
        with documents.fields() as fields:
            kept = vars(fields.first)
            assert all(len(kept[name]) <= field.KEPT for name in ("_valued", "_statistics", "kept_bases"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("strength", 10**400),
        ("feedback", 10**400),
        ("vectors", 1e300),
        ("popularity", "much"),
        ("binarize", ["presence"]),
        ("by", ["both"]),
        ("fresh", math.inf),
        ("fresh", 10**400),
    ],
)
def test_a_wrong_option_is_no_damage(tmp_path, option, value):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        with pytest.raises(errors.InvalidParameter, match=option):
            index.items("documents").expand(["a"], **{option: value})


def test_another_question_may_start_the_caches_again_at_any_time(tmp_path, monkeypatch):
    options = {"model": "bernoulli", "binarize": "twice-mean"}
    texts = [(f"d{n}", f"lion tiger w{n % 3} x{n % 5} " * (1 + n % 4)) for n in range(30)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts)
        expected = index.items("documents").expand(["d1"], 3, **options)
    postings = field.Field.postings

    def cleared(self, *arguments):
        found = postings(self, *arguments)
        self._valued.clear()
        return found

    monkeypatch.setattr(field.Field, "postings", cleared)
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").expand(["d1"], 3, **options) == expected


def test_an_error_of_the_caller_is_no_damage(tmp_path):
    """Of the first write, too, which rolls back the tables that it made."""
    for _ in range(2):
        with setsearch.open(tmp_path / "a.db", create=True) as index, pytest.raises(KeyError, match="body"):
            index.add((row["id"], row["body"]) for row in [{"id": "a", "text": "x"}])


def test_long_names_are_shortened_in_hints(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "a" * 100_000)])
        with pytest.raises(errors.UnknownItem) as caught:
            index.items("terms").expand(["aa"])
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("error", [OSError("no links"), NotImplementedError("os.link() not available on this system")])
def test_a_new_database_needs_no_links(tmp_path, monkeypatch, error):
    """A file system or a platform, such as a browser, may have none."""

    def refuse(self, target):
        raise error

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "the lion"), ("b", "the tiger")])
    assert [path.name for path in tmp_path.glob("*.db")] == ["a.db"]
