"""`--help` in panels: options in groups, commands in groups, an example for each command. Needs no rich.

`--help` shows what people use; `--help-all` also the panels of BEHIND.
"""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from setsearch.errors import number_of

ADVANCED = "Advanced options"
MODEL_PANEL = "Model options"
OUTPUT = "Output options"
COLUMNS = "Columns"
BEHIND = {MODEL_PANEL, ADVANCED}
SHOW_ALL = "setsearch: all options"  # in `meta` of a context
LONGEST_SUMMARY = 200  # characters
_ORDER = ("Arguments", "Options", COLUMNS, MODEL_PANEL, OUTPUT, ADVANCED)


def argument(metavar: str, help: str, show_default: bool = False, **more: Any) -> Any:
    """A positional argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=show_default, **more)


def option(metavar: str, help: str, panel: str | None = None, *names: str, **more: Any) -> Any:
    """An option with a value, in a panel."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help, rich_help_panel=panel)


class PanelCommand(TyperCommand):
    """A command whose options are shown in panels; the last paragraph of its docstring, "Example: ...", at the end."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        behind = sum(_panel(param) in BEHIND for param in self.params)
        if behind:
            help = f"Show {number_of(behind, 'more option')}."
            self.params.append(
                TyperOption(
                    param_decls=["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_help,
                    help=help,
                )
            )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, a section for each panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                panels.setdefault(_panel(param), []).append(record)
        shown = panels if SHOW_ALL in ctx.meta else panels.keys() - BEHIND
        for name in sorted(shown, key=_ORDER.index):
            with formatter.section(name):
                formatter.write_dl(panels[name])

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the docstring without its example."""
        help, self.help = self.help, _split(self.help)[0]
        super().format_help_text(ctx, formatter)
        self.help = help

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example."""
        example = _split(self.help)[1]
        if example:
            with formatter.section("Example"):
                formatter.write(f"{' ' * formatter.current_indent}{example}\n")


def _panel(param: Any) -> str:
    default = "Arguments" if param.param_type_name == "argument" else "Options"
    return getattr(param, "rich_help_panel", None) or default


def _help(ctx: Any, param: Any, is_wanted: bool) -> None:
    """Show all options, and end."""
    if is_wanted:
        ctx.meta[SHOW_ALL] = True
        print(ctx.get_help())
        ctx.exit()


class PanelGroup(TyperGroup):
    """A group whose commands are shown in panels."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, a section for each panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                panels.setdefault(panel if isinstance(panel, str) else "Commands", []).append(
                    (name, command.get_short_help_str(LONGEST_SUMMARY))
                )
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def _split(help: str | None) -> tuple[str, str]:
    """The text of a docstring, and its example."""
    text, _, example = (help or "").partition("Example: ")
    return text.strip(), example.strip()
