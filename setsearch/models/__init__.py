"""Models by name: each turns statistics and seeds into weights (see model.py)."""

from collections.abc import Callable

from setsearch.errors import InvalidParameter
from setsearch.models.bernoulli import Bernoulli
from setsearch.models.model import Background, Model, Query, Seeds

MODELS: dict[str, Callable[[float], Model]] = {"bernoulli": Bernoulli}


def make_model(name: str, strength: float) -> Model:
    """The model of this name; raises InvalidParameter, naming the models there are."""
    if not isinstance(name, str) or name not in MODELS:
        raise InvalidParameter(f"there is no model {name!r}; there is {', '.join(sorted(MODELS))}")
    return MODELS[name](strength)


__all__ = ["MODELS", "Background", "Bernoulli", "Model", "Query", "Seeds", "make_model"]
