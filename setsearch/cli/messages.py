"""Messages for people on stderr: when they are told, and how they name options and files."""

import re
import shlex
import sys
from collections.abc import Sequence

_broken = [*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
CONTROL = dict.fromkeys(_broken, " ")  # characters that break a line, steer a terminal, or turn what follows around
TYPED = {own: f"'$'\\u{own:04x}''" for own in CONTROL}  # how they are typed within the quotes of a shell
NAMED = 3  # names in a message
PARAMETER = re.compile(r"`([a-z_]+)(?:=([^`]+))?`")  # in messages of the library

_is_quiet = False


def be_quiet(wanted: bool) -> None:
    """Let messages be errors only, or all again."""
    global _is_quiet
    if wanted != _is_quiet:
        import logging

        logging.getLogger("setsearch").setLevel(logging.ERROR if wanted else logging.NOTSET)
    _is_quiet = wanted


def is_quiet() -> bool:
    """Whether only errors are told."""
    return _is_quiet


def say(message: str, *, is_error: bool = False) -> None:
    """A message for people, on stderr, with flags in place of parameters; its names and texts are of strangers."""
    if _is_quiet and not is_error:
        return
    shown = with_flags(message).translate({**CONTROL, ord("\n"): "\n"})
    print(shown.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def say_lines(what: str, lines: Sequence[str], most: int = 20) -> None:
    """The first of some lines, if there are some."""
    for line in [f"{what}:", *(f"  {line}" for line in lines[:most])] if lines else ():
        say(line)
    if len(lines) > most:
        say(f"  ... and {len(lines) - most:,} more")


def first_of(names: Sequence[str], most: int = NAMED) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:most]) + ", ..." * (len(names) > most)


def with_flags(message: str) -> str:
    """A message with flags in place of parameters: `keep_seeds` -> --keep-seeds, `errors=skip` -> --errors skip."""

    def flag_of(match: re.Match[str]) -> str:
        """A flag, with its value as a shell reads it."""
        name = f"--{match[1].replace('_', '-')}"
        return f"{name} {shlex.quote(match[2])}" if match[2] else name

    return PARAMETER.sub(flag_of, message)
