"""The tables that a new database gets are those that the checks know."""

import sqlite3

import setsearch
from setsearch.sqlite.database import SCHEMA
from setsearch.sqlite.integrity import TABLES
from setsearch.sqlite.schema import migrations


def test_migrations_are_known_to_the_database():
    assert {migration.name for migration in migrations._migrations} == SCHEMA
    connection = sqlite3.connect(":memory:")
    setsearch.open(connection).add([("a", "b")])
    tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    assert tables - {"setsearch_migrations"} == TABLES
