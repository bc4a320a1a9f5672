"""What sets teach: which method finds them best, informative features."""

from typing import Any

_MODULES = {
    "Design": "evaluation",
    "Review": "review",
    "evaluate": "evaluation",
    "most_informative": "features",
}
__all__ = ["Design", "Review", "evaluate", "most_informative"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:  # on demand: evaluation imports scipy
        from importlib import import_module

        return getattr(import_module(f"setsearch.learning.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'setsearch.learning' has no attribute {name!r}")
