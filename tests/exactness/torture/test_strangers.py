"""Databases from strangers: nothing is allocated without bound, run for ever, or executed."""

import sqlite3
import zlib
from pathlib import Path

import pytest

import setsearch
from setsearch.errors import CorruptIndex, MissingDatabase, NewerSchema, SetsearchError
from setsearch.sqlite.integrity import add_checksum

pytest.importorskip("resource", reason="needs a system with limits of processes: POSIX")

import damage
import strangers
from processes import in_fresh_process

pytestmark = pytest.mark.long

NUMBERS = "with recursive n(x) as (select 1000 union all select x + 1 from n limit 200000)"
ATTACKS = {
    "2^62 items that have a feature": "update setsearch_feature set length = 4611686018427387904",
    "-5 items that have a feature": "update setsearch_feature set length = -5",
    "no items that have a feature": "update setsearch_feature set length = 0, total = 0",
    "totals of 2^62": "update setsearch_feature set total = 4611686018427387904",
    "features from 2^60 on": "update setsearch_feature set feature = feature + 1152921504606846976",
    "features below 0": "update setsearch_feature set feature = -9 - feature",
    "items from 2^60 on": "update setsearch_forward set first = first + 1152921504606846976",
    "items below 0": "update setsearch_forward set first = -9 - first",
    "columns of 2^32 numbers": "update setsearch_forward set data = x'ffffffffffffffffffffffffffffffff'",
    "an empty blob": "update setsearch_forward set data = x''",
    "2^40 names": "update setsearch_kind set size = 1099511627776, peak = 1099511627776",
    "ids up to 2^40": "update setsearch_kind set peak = 1099511627776",
    "-1 names": "update setsearch_kind set size = -1, peak = -1",
    "columns that are none": "insert or replace into setsearch_columns select 1, id, x'7b' from setsearch_name",
    "texts that unpack to a gigabyte": "update setsearch_text set data = (select blob from bomb)",
    "texts that are none": "update setsearch_text set data = x'00'",
    "texts of other documents": "update setsearch_text set items = x'00'",
    "arrays of other sizes": "update setsearch_array set data = zeroblob(40)",
    "numbers of other sizes": "update setsearch_numbers set numbers = zeroblob(8000000)",
    "numbers that are none": "update setsearch_numbers set numbers = x'000000000000f07f000000000000f07f'",
    "numbers of fields that are infinite": "insert or replace into setsearch_field_number "
    "select 1, 'year', 0, id, 9e999 from setsearch_name",
    "fields of numbers that are none": """update setsearch_relation set fields = '[["year", [1, 2], false]]'""",
    "columns that are no list": "update setsearch_relation set columns = '{}' where columns is not null",
    "columns that are deep": "update setsearch_relation set columns = (select text from deep) "
    "where columns is not null",
    "an origin that is deep": "update setsearch_origin set columns = (select text from deep)",
    "an origin of other columns": """update setsearch_origin set columns = '{"__class__": 1}'""",
    "an origin of another kind": "update setsearch_origin set kind = 'pickle'",
    "an origin that is a table of ours": "update setsearch_origin set place = 'setsearch_name'",
    "an analyzer that is none": "update setsearch_relation set analyzer = 'words klingon' where analyzer is not null",
    "an analyzer with code": "update setsearch_relation set analyzer = '__import__(''os'')' where analyzer is not null",
    "a tokenizer that is none": "update setsearch_relation set analyzer = 'fts5 x'' )' where analyzer is not null",
    "contexts that are none": "update setsearch_relation set contexts = 'sometimes'",
    "kinds that are missing": "delete from setsearch_kind",
    "relations of nothing": "update setsearch_relation set items = 99",
    "a relation that is its own parent": "update setsearch_relation set parent = id",
    "names that are missing": "delete from setsearch_name",
    "a set of nothing": "update setsearch_set set items = 'planets'",
    "a name with controls": "update setsearch_name set name = name || char(27) || '[2J'",
    "a migration of tomorrow": "insert into setsearch_migrations select 999, migration_set, 'm999', applied_at "
    "from setsearch_migrations limit 1",
    "an endless view": "drop table setsearch_text; "
    "create view setsearch_text as with recursive n(relation, first, items, data) as "
    "(select 1, 0, x'00', x'00' union all select relation, first + 1, items, data from n) select * from n",
    "a trigger that writes": "create trigger evil after insert on setsearch_array begin delete from likes; end",
    "a column more": "alter table setsearch_name add column evil text",
    "a table without strictness": "drop table setsearch_set; create table setsearch_set (name text, items text)",
    "200,000 relations": f"insert into setsearch_kind (id, name) {NUMBERS} select x, 'k' || x from n; "
    f"insert into setsearch_relation (items, features) {NUMBERS} select x, x + 1 from n where x % 2 = 0",
    "columns that are numbers": "update setsearch_relation set columns = '[1, 2]' where columns is not null",
    "columns of other numbers": """update setsearch_relation set columns = '["a"]' where columns is not null""",
    "arrays in the places of others": "update setsearch_array set data = (select data from setsearch_array limit 1)",
    "an array of each name but the first": "delete from setsearch_array where slice = 0",
    "generations of other revisions": "update setsearch_generation set revision = revision + 7, stamp = stamp + 1",
    "generations of other relations": "update setsearch_generation set relation = 1 + (relation + 1) % 3",
    "revisions that are missing": "delete from setsearch_revision",
    "revisions of other items": "update setsearch_revision set items = x'ffffff7f01000080', revision = revision",
    "a generated column": "alter table setsearch_set add column evil text as (hex(zeroblob(1000000))) virtual",
}

SLOW = "200,000 relations"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("strangers") / "whole.db"
    damage.make(path)
    connection = sqlite3.connect(path)
    relation, first, items = connection.execute("select relation, first, items from setsearch_text").fetchone()
    bomb = add_checksum(zlib.compress(bytes(300 << 20), 9), f"{relation} {first} {zlib.crc32(items)}")
    connection.execute("create table bomb (blob blob)")
    connection.execute("insert into bomb values (?)", (bomb,))
    connection.execute("create table deep (text text)")
    connection.execute("insert into deep values (?)", ("[" * 200_000,))
    connection.commit()
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name == SLOW)) for name in ATTACKS])
def test_an_attack_is_refused(tmp_path, whole, name):
    path = tmp_path / "hostile.db"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    for statement in ATTACKS[name].split("; ") if not name.startswith("a trigger") else [ATTACKS[name]]:
        connection.execute(statement)
    connection.commit()
    rows = connection.execute("select count(*) from likes").fetchone()
    in_fresh_process(strangers.ask_within_limits, path)
    assert connection.execute("select count(*) from likes").fetchone() == rows
    connection.close()


def test_refusals_say_what_is_wrong(tmp_path, whole):
    for name, error, message in [
        ("columns of 2^32 numbers", CorruptIndex, "damaged block"),
        ("ids up to 2^40", CorruptIndex, "cannot fit into this file"),
        ("an endless view", CorruptIndex, "that setsearch did not make"),
        ("a migration of tomorrow", NewerSchema, "newer setsearch"),
    ]:
        path = tmp_path / "hostile.db"
        path.write_bytes(whole)
        connection = sqlite3.connect(path)
        connection.executescript(ATTACKS[name] + "; delete from setsearch_generation")
        connection.close()
        with setsearch.open(path) as index, pytest.raises(error, match=message):
            index.items("documents").expand(["d1"], model="bernoulli")
    with pytest.raises(MissingDatabase):
        setsearch.open(tmp_path / "none.db").info()


@pytest.mark.parametrize("version", ["0.1.0", pytest.param("0.2.0", marks=pytest.mark.long)])
def test_a_migration_happens_completely_or_not_at_all(tmp_path, version):
    data = (Path(__file__).parents[2] / "fixtures" / f"{version}.db").read_bytes()
    path, stopped = tmp_path / "old.db", 0
    for limit in range(1, 400, 5):
        path.write_bytes(data)
        connection = sqlite3.connect(path, isolation_level=None)
        before = list(connection.iterdump())
        left = limit

        def count(*_):
            nonlocal left
            left -= 1
            return left < 0

        connection.set_progress_handler(count, 40)  # interrupted after so many steps of SQLite's machine
        try:
            setsearch.open(connection).info()
        except (SetsearchError, sqlite3.Error):
            connection.set_progress_handler(None, 0)
            if connection.in_transaction:
                connection.execute("rollback")
            if list(connection.iterdump()) != before:  # it was over when we stopped it
                assert setsearch.open(connection).check() == []
            stopped += 1
        else:
            break
        finally:
            connection.set_progress_handler(None, 0)
            connection.close()
    assert stopped > 5
    with setsearch.open(path) as index:
        assert index.check() == []


def test_a_damaged_schema_is_told_though_its_words_are_no_utf8(tmp_path, whole):
    path = tmp_path / "hostile.db"
    assert b"CREATE TABLE setsearch_set" in whole
    path.write_bytes(whole.replace(b"CREATE TABLE setsearch_set", b"CREATE T\xf4BLE setsearch_set"))
    with setsearch.open(path) as index, pytest.raises(SetsearchError, match="hostile"):
        index.info()
