"""`sqlite-utils migrate DB migrations/` finds the migrations of setsearch through this door."""

from sqlite_utils import Migrations
from sqlite_utils.db import Database

from setsearch.sqlite.migrations import convert
from setsearch.sqlite.schema import LOG, MIGRATIONS


def to_tables_of_today(db: Database) -> None:
    """The first migration does all; the others find nothing to do."""
    convert(db.conn)


migrations = Migrations("setsearch")
migrations.migrations_table = LOG
for name in MIGRATIONS:
    migrations(name=name)(to_tables_of_today)
