"""The command line: `setsearch index`, `expand`, `explain`, ...; the commands are in commands/.

Data goes to stdout, messages and progress to stderr. Exit codes: 0, 1 for a mistake in the data or the database, 2
for wrong usage, 130 when interrupted.
"""

import gc
import io
import os
import signal
import sys
from collections.abc import Iterable
from importlib import import_module

import typer

from setsearch.cli.output import say
from setsearch.errors import SetsearchError

INTERRUPTED = 130
FEW_LOOKS = 100_000  # new objects between two looks for garbage: most commands are done before the first
# Where each command is, in commands/; a module without a function is a group of commands.
COMMANDS = {
    "index": "indexing.index_command",
    "expand": "query.expand",
    "explain": "query.explain_command",
    "features": "query.features",
    "update": "indexing.update",
    "delete": "indexing.delete",
    "info": "indexing.info",
    "check": "indexing.check",
    "drop": "indexing.drop",
    "evaluate": "learning.evaluate_command",
    "tune": "learning.tune",
    "concepts": "learning.concepts",
    "classify": "learning.classify",
    "prune": "learning.prune",
    "grow": "grow.grow",
    "serve": "serve.serve",
    "mcp": "serve.mcp",
    "set": "sets",
    "spark": "spark",
}


def app_of(names: Iterable[str]) -> typer.Typer:
    """The command line with these commands: what is not asked for need not be loaded."""
    app = typer.Typer(
        help="Give it a few examples, get the rest of the set.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)  # so that a single command has its name, too
    for name in names:
        module, _, function = COMMANDS[name].partition(".")
        commands = import_module(f"setsearch.cli.{module}")
        if function:
            app.command(name)(getattr(commands, function))
        else:
            app.add_typer(commands.app, name=name)
    return app


def run() -> None:
    """Run the command line as a process of its own, which starts and ends faster for few looks for garbage."""
    gc.set_threshold(FEW_LOOKS)
    try:
        main()
    finally:
        gc.freeze()  # the process ends: whoever looks for garbage now finds nothing to look at


def main() -> None:
    """Run the command line; a mistake becomes one line on stderr and an exit code, never a traceback."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end as other tools do when the reader has gone
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        asked = sys.argv[1]
        app = app_of([asked] if asked in COMMANDS else COMMANDS)
        code = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        if code == INTERRUPTED:  # as typer reports Ctrl-C
            raise KeyboardInterrupt
    except SetsearchError as error:
        code = _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("stopped; nothing was changed", INTERRUPTED)
    except OSError as error:
        place = f"cannot use {error.filename}"
        if error.filename is None:
            place = "cannot write the output"
            _drop_output()
        code = _fail(f"{place}: {error.strerror}", 1)
    except MemoryError:
        code = _fail("out of memory; nothing was changed", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # a usage error of the click that typer carries has one
            raise
        code = _fail(" ".join(error.format_message().split()) + " (see --help)", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _drop_output() -> None:
    """Let go of what was not written: Python tries again when it ends, and early 3.11 ends with a code of its own."""
    own = sys.__stdout__
    if own is not None and sys.stdout is own:
        os.dup2(os.open(os.devnull, os.O_WRONLY), own.fileno())


def _fail(message: str, code: int) -> int:
    say("Error: " + " ".join(message.splitlines()))
    return code
