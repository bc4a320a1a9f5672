"""The command line: commands, their options, and what they print."""

from setsearch.cli.app import COMMANDS, main, run

__all__ = ["COMMANDS", "main", "run"]
