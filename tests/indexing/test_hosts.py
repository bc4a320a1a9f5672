"""Lent connections of all kinds: a collection with contexts is written, asked, and written again."""

import sqlite3
import sys

import pytest

import setsearch

SETTINGS = {
    "foreign keys": lambda connection: connection.execute("pragma foreign_keys = on"),
    "recursive triggers": lambda connection: connection.execute("pragma recursive_triggers = on"),
    "no implicit transactions": lambda connection: setattr(connection, "isolation_level", None),
    "rows": lambda connection: setattr(connection, "row_factory", sqlite3.Row),
    "bytes": lambda connection: setattr(connection, "text_factory", bytes),
    "write-ahead log": lambda connection: connection.execute("pragma journal_mode = wal"),
    "secure delete": lambda connection: connection.execute("pragma secure_delete = on"),
    "immediate": lambda connection: setattr(connection, "isolation_level", "IMMEDIATE"),
    "exclusive": lambda connection: setattr(connection, "isolation_level", "EXCLUSIVE"),
    "autocommit": lambda connection: _set_autocommit(connection, True),
    "always in a transaction": lambda connection: _set_autocommit(connection, False),
}


def _set_autocommit(connection, mode):
    """Set what Python 3.12 and later have; 3.11 keeps its default."""
    if sys.version_info >= (3, 12):
        connection.autocommit = mode


@pytest.mark.parametrize("names", [[name] for name in SETTINGS] + [list(SETTINGS)[:-1]], ids=", ".join)
def test_contexts_are_derived_again_on_the_connection_of_a_host(tmp_path, names):
    connection = sqlite3.connect(tmp_path / "app.db")
    for name in names:
        SETTINGS[name](connection)
    index = setsearch.open(connection, contexts="on")
    sentences = ["the lion hunts in the savanna", "the tiger hunts in the jungle", "the farmer grows wheat"]
    index.add((f"d{n}", f"{sentences[n % 3]} {n}") for n in range(40))
    index.refresh()
    first = index.items("terms").expand(["lion"], 5, by="contexts")
    index.update([("d1", "the leopard hunts in the savanna")])
    index.delete(["d0"])
    again = index.items("terms").expand(["lion"], 5, by="contexts")
    index.add([("more", "the lion sleeps in the savanna")])
    index.refresh()
    assert first
    assert again
    assert index.items("documents").item_count() == 40
    assert index.check() == []
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "app.db") as reopened:
        assert reopened.items("terms").expand(["lion"], 5, by="contexts")
        assert reopened.check() == []
