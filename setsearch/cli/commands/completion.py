"""Completion of commands and options in the shell."""

from typing import Annotated

from setsearch.cli.help import argument
from setsearch.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[str, argument("SHELL", "bash, zsh or fish.")],
) -> None:
    """Print a script that lets a shell complete commands and options.

    Example: setsearch completion bash >> ~/.bashrc
    """
    from typer._completion_shared import get_completion_script

    if shell not in SHELLS:
        raise UsageError(f"the shell is one of {', '.join(SHELLS)}, not {shell!r}")
    print(get_completion_script(prog_name="setsearch", complete_var="_SETSEARCH_COMPLETE", shell=shell))
