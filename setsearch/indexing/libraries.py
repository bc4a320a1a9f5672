"""Libraries that read some files, loaded when such a file comes."""

from importlib import import_module
from typing import Any

from setsearch.errors import SourceError


class MissingLibrary(SourceError):
    """A library that reads some files is not installed."""


def load_library(name: str, what: str, extra: str) -> Any:
    """A library of an extra; raises MissingLibrary if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingLibrary(f"{what} need {name}: pip install 'setsearch[{extra}]'") from None
