"""`sqlite-utils migrate DB migrations/` finds the migrations of setsearch through this door."""

from sqlite_utils import Migrations

from setsearch.sqlite.migrations import convert
from setsearch.sqlite.schema import LOG, MIGRATIONS

migrations = Migrations("setsearch")
migrations.migrations_table = LOG
for name in MIGRATIONS:
    migrations(name=name)(lambda db: convert(db.conn))  # the first one does all
