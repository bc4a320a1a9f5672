"""sqlite-utils plug-in: the command `sqlite-utils setsearch ...`, our SQL functions, and `expand` of its tables.

db["articles"].expand([1, 4], k=5)
"""

import sqlite3
import sys
from typing import Any

import click
from sqlite_utils import hookimpl
from sqlite_utils.db import Table

import setsearch
from setsearch.errors import UsageError

EVERYTHING = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Add the command `setsearch`, which passes its arguments to our command line."""

    @cli.command(name="setsearch", context_settings=EVERYTHING, help="Give a few examples, get the rest of the set.")
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def _run(arguments: tuple[str, ...]) -> None:
        from setsearch.cli.app import main

        sys.argv = ["sqlite-utils setsearch", *arguments]
        main()


@hookimpl
def prepare_connection(conn: sqlite3.Connection) -> None:
    """Add the SQL functions of sql.py to a connection."""
    setsearch.register(conn)


def expand(table: Table, seeds: Any, k: int | None = 10, **options: Any) -> Any:
    """The k rows of an indexed table that belong most with some rows, by their keys: `Hits` of `Reading.expand`."""
    from setsearch.storage.synced_source import TABLE

    index = setsearch.open(table.db)
    source = index.table_source(table.name, [TABLE])
    if source is None:
        raise UsageError(f"the table {table.name!r} is not indexed; setsearch.open(db).add_table({table.name!r}, ...)")
    return index.reading(source["items"]).expand(seeds, k, **options)


Table.expand = expand  # type: ignore[attr-defined]
