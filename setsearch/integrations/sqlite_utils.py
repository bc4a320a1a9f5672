"""sqlite-utils: `sqlite-utils setsearch ...` is this command line, and its connections have our SQL functions."""

import sqlite3
import sys

import click
from sqlite_utils import hookimpl

EVERYTHING = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Add the command `setsearch`, which hands its arguments on."""

    @cli.command(name="setsearch", context_settings=EVERYTHING, help="Give a few examples, get the rest of the set.")
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def _run(arguments: tuple[str, ...]) -> None:
        from setsearch.cli.app import main

        sys.argv = ["sqlite-utils setsearch", *arguments]
        main()


@hookimpl
def prepare_connection(conn: sqlite3.Connection) -> None:
    """Give a connection the SQL functions of sql.py."""
    from setsearch.integrations.sql import register

    register(conn)
