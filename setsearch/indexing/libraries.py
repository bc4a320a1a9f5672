"""Libraries that read some files, loaded when such a file comes."""

from importlib import import_module
from typing import Any

from setsearch.errors import SourceError


def load_library(name: str, what: str, package: str | None = None) -> Any:
    """A library; raises SourceError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise SourceError(f"{what} need {name}: pip install {package or name}") from None
