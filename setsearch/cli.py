"""The command line: `setsearch index`, `expand`, `explain`, ...; the commands are in commands/.

Data goes to stdout, messages and progress to stderr. Exit codes: 0, 1 for a mistake in the data or the database, 2
for wrong usage, 130 when interrupted.
"""

import io
import signal
import sys
from collections.abc import Callable

import typer

from setsearch.commands import asking, distributed, growing, indexing, keeping, learning, measuring, serving
from setsearch.errors import SetsearchError
from setsearch.printing import say

INTERRUPTED = 130

app = typer.Typer(
    help="Give it a few examples, get the rest of the set.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "index": indexing.index_command,
    "expand": asking.expand,
    "explain": asking.explain_command,
    "features": asking.features,
    "update": indexing.update,
    "delete": indexing.delete,
    "info": indexing.info,
    "check": indexing.check,
    "drop": indexing.drop,
    "evaluate": measuring.evaluate_command,
    "tune": learning.tune,
    "concepts": learning.concepts,
    "classify": learning.classify,
    "prune": learning.prune,
    "grow": growing.grow,
    "serve": serving.serve,
    "mcp": serving.mcp,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(keeping.app, name="set")
app.add_typer(distributed.app, name="spark")


def main() -> None:
    """Run the command line; a mistake becomes one line on stderr and an exit code, never a traceback."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end as other tools do when the reader has gone
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
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
        place = "cannot write the output" if error.filename is None else f"cannot use {error.filename}"
        code = _fail(f"{place}: {error.strerror}", 1)
    except MemoryError:
        code = _fail("out of memory; nothing was changed", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # a usage error of the click that typer carries has one
            raise
        code = _fail(" ".join(error.format_message().split()) + " (see --help)", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> int:
    say("Error: " + " ".join(message.splitlines()))
    return code
