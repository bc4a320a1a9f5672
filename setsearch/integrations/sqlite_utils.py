"""sqlite-utils plug-in: the command `sqlite-utils setsearch ...`, and our SQL functions on its connections."""

import sqlite3
import sys

import click
from sqlite_utils import hookimpl

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
    from setsearch.integrations.sql import register

    register(conn)
