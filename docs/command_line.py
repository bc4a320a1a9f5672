"""Write docs/cli.md from the `--help-all` of every command: python docs/command_line.py (`make docs`)."""

import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from setsearch.cli.app import COMMANDS, make_app
from setsearch.cli.help import SHOW_ALL

TARGET = Path(__file__).with_name("cli.md")
WIDTH = 100  # characters
HEAD = """# The command line

Made from `--help-all` by `make docs`. Data goes to stdout, messages and progress to stderr. Exit codes: 0; 1 for
a mistake in the data or the database; 2 for wrong usage; 130 when interrupted.
"""


def render() -> str:
    """The text of docs/cli.md."""
    command: Any = get_command(make_app(COMMANDS))
    context = command.make_context("setsearch", ["info", "x"], terminal_width=WIDTH, max_content_width=WIDTH)
    context.meta[SHOW_ALL] = True
    parts = [HEAD, *_sections(command, context, "setsearch", 2)]
    return "\n".join(parts)


def _sections(command: Any, context: Any, title: str, level: int) -> list[str]:
    """The help of a command and its subcommands."""
    parts = [f"{'#' * level} {title}\n\n```text\n{command.get_help(context).strip()}\n```\n"]
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            inner_context = type(context)(
                inner, parent=context, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
            )
            parts += _sections(inner, inner_context, f"{title} {name}", min(level + 1, 3))
    return parts


if __name__ == "__main__":
    text = render()
    TARGET.write_text(text)
    print(f"{TARGET.name}: {len(text.splitlines())} lines", file=sys.stderr)
