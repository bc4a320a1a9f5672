"""The command line: `setsearch index`, `expand`, `explain`, ...

Data goes to stdout, messages and progress to stderr. Exit codes: 0; 1 for a mistake in the data or the database; 2 for
wrong usage; 130 when interrupted.
"""

import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from math import inf
from typing import Annotated, Any

import typer

import setsearch
from setsearch.cli.help import PanelCommand, PanelGroup
from setsearch.cli.messages import be_quiet, say
from setsearch.cli.options import with_collection
from setsearch.errors import Fault, SetsearchError, fault_of
from setsearch.options import Option

INTERRUPTED = 130  # the exit code of shells after Ctrl-C
COMPLETION = "_SETSEARCH_COMPLETE"  # the environment's variable by which a shell asks
DEBUG = "SETSEARCH_DEBUG"  # the variable that shows where a fault of ours arose

# Module and function of each command, by panels of the help; a module without a function is a group of commands.
PANELS = {
    "Ask": {
        "expand": "query.expand",
        "explain": "query.explain_command",
        "features": "query.features",
        "find": "query.find",
        "grow": "grow.grow",
        "review": "review.review",
    },
    "Index": {
        "index": "index.index_command",
        "update": "content.update",
        "vectors": "vectors.vectors",
        "delete": "content.delete",
        "export": "content.export",
        "info": "content.info",
        "check": "content.check",
        "drop": "content.drop",
    },
    "Sets": {
        "set": "sets",
        "inbox": "inbox.inbox",
        "evaluate": "learning.evaluate_command",
    },
    "Serve": {"serve": "serve.serve", "mcp": "serve.mcp", "spark": "spark"},
    "Help": {"completion": "completion.completion"},
}
COMMANDS = {name: place for panel in PANELS.values() for name, place in panel.items()}


def make_app(names: Iterable[str]) -> typer.Typer:
    """The command line with these commands only: importing all takes longer than most commands."""
    app = typer.Typer(
        cls=PanelGroup,
        help="Give it a few examples, get the rest of the set.",
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    panel_of = {name: panel for panel, commands in PANELS.items() for name in commands}
    for name in names:
        module_name, _, function = COMMANDS[name].partition(".")
        module = import_module(f"setsearch.cli.commands.{module_name}")
        panel = panel_of[name]
        if function:
            app.command(name, cls=PanelCommand, rich_help_panel=panel)(with_collection(getattr(module, function)))
        else:
            app.add_typer(module.app, name=name, rich_help_panel=panel)
    return app


def run() -> None:
    """Run the command line as a process of its own."""
    if _command() in ("", *PANELS["Index"]):
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was begun goes, as by Ctrl-C
    try:
        main()
    finally:
        gc.freeze()  # the process ends: the last collection has nothing to do


def main() -> None:
    """Run the command line; an error becomes one line on stderr and an exit code, never a traceback."""
    _prepare()
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:], "--help"]
    try:
        command = _command()
        app = make_app([command] if command in COMMANDS else COMMANDS)
        code = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        if code == INTERRUPTED:  # as typer reports Ctrl-C
            raise KeyboardInterrupt
    except SetsearchError as error:
        if isinstance(error, Fault) and DEBUG in os.environ:
            traceback.print_exception(error)  # what a report needs
        code = _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail(f"stopped; {_kept()}", INTERRUPTED)
    except OSError as error:
        problem = f"cannot use {error.filename}"
        if error.filename is None:
            problem = "cannot write the output"
            _discard_output()
        code = _fail(f"{problem}: {error.strerror}", 1)
    except MemoryError:
        code = _fail(f"out of memory; {_kept()}", 1)
    except (ImportError, SystemError) as error:  # also what Python and libraries raise if memory ends while they load
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        code = _fail(f"out of memory, or a library cannot be loaded ({first}); {_kept()}", 1)
    except Exception as error:
        code = _tell_unexpected(error)
    be_quiet(False)  # a process may run several commands
    sys.exit(code if isinstance(code, int) else 0)


def _command() -> str:
    """The command that is wanted; empty for none."""
    return next((own for own in sys.argv[1:] if not own.startswith("-")), "")


def _show_version(requested: bool) -> None:
    if requested:
        print(f"setsearch {setsearch.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Tell errors only: `setsearch -q COMMAND ...`.", callback=be_quiet)
    ] = False,
) -> None:
    """The options of `setsearch` itself; a callback also makes typer keep the name of a single command."""


def _discard_output() -> None:
    """Drop unwritten output: Python tries to write it again at exit, and early 3.11 exits with a code of its own."""
    stdout = sys.__stdout__
    if stdout is not None and sys.stdout is stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())


def _prepare() -> None:
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end as other tools do when the reader is gone
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if COMPLETION in os.environ:  # a shell asks while somebody types
        from typer._completion_classes import completion_init

        completion_init()
        make_app(COMMANDS)(prog_name="setsearch", complete_var=COMPLETION)
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _kept() -> str:
    """What a command leaves that was stopped."""
    database = sys.modules.get("setsearch.sqlite.database")  # to load it may take what is missing
    has_written = database is not None and database.Database.has_written
    return "what was complete before is kept" if has_written else "nothing was changed"


def _tell_unexpected(error: Exception) -> int:
    """Tell a usage error of typer's own click, or a mistake of ours; returns the exit code."""
    if hasattr(error, "format_message"):
        problem = _no_number(error) or " ".join(error.format_message().split())
        return _fail(f"{problem} (see --help)", 2)
    if DEBUG in os.environ:
        traceback.print_exception(error)
    return _fail(str(fault_of(error)), Fault.exit_code)


def _no_number(error: Any) -> str:
    """That an option is to be a number, in our words; empty if that is not what typer's own click says."""
    kind = getattr(getattr(error, "param", None), "type", None)
    wanted = {"int": "a whole number", "flo": "a number"}.get(getattr(kind, "name", "")[:3])
    value, _, problem = error.format_message().partition(": ")[2].rpartition(" is not ")
    if wanted is None or not problem:
        return ""
    least, most = (getattr(kind, side, None) for side in ("min", "max"))
    bounds = Option(float, "", "", -inf if least is None else least, inf if most is None else most).bounds
    return f"{error.param.opts[0]} must be {wanted}{f' from {bounds}' if bounds else ''}, not {value}"


def _fail(message: str, code: int) -> int:
    say("Error: " + " ".join(message.splitlines()), is_error=True)
    return code
