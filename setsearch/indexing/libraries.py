"""Libraries that read some files, loaded when such a file comes."""

from importlib import import_module
from typing import Any

from setsearch.errors import SourceError


def load_library(name: str, what: str, extra: str) -> Any:
    """A library of an extra; raises SourceError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise SourceError(f"{what} need {name}: pip install 'setsearch[{extra}]'") from None
