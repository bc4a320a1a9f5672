"""The tables of a new file are those to which files of all versions come, and those that the checks know."""

import gzip
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import setsearch
from setsearch.sqlite.schema import declared

FIXTURES = Path(__file__).parents[1] / "fixtures"

OBJECTS = """
    select type, name, tbl_name, case type when 'view' then sql end from sqlite_master
    where tbl_name glob 'setsearch_*' and name not glob 'sqlite_*' and type <> 'trigger' order by name
"""
COLUMNS = """
    select l.name, l.strict, l.wr, c.* from pragma_table_list l join pragma_table_xinfo(l.name) c
    where l.schema = 'main' and l.name glob 'setsearch_*' order by l.name, c.cid
"""
INDEXES = """
    select m.name, l.*, x.* from sqlite_master m join pragma_index_list(m.name) l join pragma_index_xinfo(l.name) x
    where m.type = 'table' and m.name glob 'setsearch_*' order by m.name, l.name, x.seqno
"""
KEYS = """
    select m.name, k.* from sqlite_master m join pragma_foreign_key_list(m.name) k
    where m.name glob 'setsearch_*' order by m.name, k.id
"""


def described(connection):
    """What there is: tables, indexes, views, their columns and keys, whatever the spelling of their declarations."""
    objects = [(*own, sql and " ".join(re.sub("--.*", "", sql).split())) for *own, sql in connection.execute(OBJECTS)]
    return objects, *[connection.execute(query).fetchall() for query in (COLUMNS, INDEXES, KEYS)]


@pytest.mark.parametrize("old", sorted(FIXTURES.glob("*.db*")), ids=lambda own: own.name)
def test_a_new_file_is_as_files_of_all_versions_become(tmp_path, old):
    data = old.read_bytes()
    (tmp_path / "old.db").write_bytes(gzip.decompress(data) if old.suffix == ".gz" else data)
    with setsearch.open(tmp_path / "old.db") as index:
        index.info()
    with closing(sqlite3.connect(":memory:")) as new, closing(sqlite3.connect(tmp_path / "old.db")) as converted:
        setsearch.open(new).add([("a", "b")])
        for ours, theirs in zip(described(new), described(converted), strict=True):
            assert ours == theirs
        applied = "select id, migration_set, name from setsearch_migrations"
        assert new.execute(applied).fetchall() == converted.execute(applied).fetchall()


def test_the_checks_know_all_tables():
    with closing(sqlite3.connect(":memory:")) as new:
        index = setsearch.open(new)
        index.add([("a", "b")])
        tables = {name for (name,) in new.execute("select name from sqlite_master where type = 'table'")}
        assert tables == {*declared(), "setsearch_migrations"}
        index.drop()
        assert new.execute("select name from sqlite_master").fetchall() == []
