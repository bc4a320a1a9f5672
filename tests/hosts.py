"""A host application: its database, with a table of texts, triggers, foreign keys and full-text search."""

import sqlite3

from setsearch import Columns

ROWS = [
    ("Cats", "lion tiger cat", 1999, "a"),
    ("More cats", "lion leopard cat", 2005, "b"),
    ("Wheat", "wheat barley field", 2010, "c"),
    ("Savanna", "tiger leopard savanna", 2011, "d"),
    ("Field", "barley field oats", 2001, "e"),
]
TEXTS = Columns(text=("title", "body"), title="title")


def host(path=":memory:"):
    """A connection to the database of the application."""
    connection = sqlite3.connect(path)
    connection.executescript("""
        create table articles (id integer primary key, title text, body text, year int, slug text unique);
        create virtual table search using fts5(
            title, body, content='articles', content_rowid='id', tokenize="porter unicode61");
        create table log (what text);
        create trigger host_insert after insert on articles begin insert into log values ('new'); end;
        create table comment (article references articles (id) on delete cascade);
        pragma foreign_keys = on;
    """)
    connection.executemany("insert into articles (title, body, year, slug) values (?, ?, ?, ?)", ROWS)
    connection.execute("insert into search (search) values ('rebuild')")
    connection.commit()
    return connection


def dump(connection):
    """What the host has, without our tables."""
    return [line for line in connection.iterdump() if "setsearch" not in line]
