"""Models by name: each turns statistics and seeds into weights (see model.py)."""

from collections.abc import Callable
from typing import Any

from setsearch.errors import InvalidParameter
from setsearch.models.bernoulli import Bernoulli
from setsearch.models.lift import Lift
from setsearch.models.model import Background, Model, Query, Seeds
from setsearch.values import PRESENCE, TWICE_MEAN, Rule

BINARIZATIONS = {"presence": PRESENCE, "twice-mean": TWICE_MEAN}
SOFT = {"presence": "presence", "twice-mean": "soft-twice-mean"}
X1 = Rule("twice-mean", balance=1.0)


def _bernoulli(strength: float = 2.0, binarize: str = "presence") -> Model:
    return Bernoulli(strength, BINARIZATIONS[binarize])


def _lift(strength: float = 2.0, popularity: float = 0.2, binarize: str = "twice-mean") -> Model:
    return Lift(strength, 1 - popularity, SOFT[binarize])


def _x1(strength: float = 50.0) -> Model:
    return Bernoulli(strength, X1)


MODELS: dict[str, Callable[..., Model]] = {"bernoulli": _bernoulli, "lift": _lift, "x1": _x1}
OPTIONS = {
    "bernoulli": ("strength", "binarize"),
    "lift": ("strength", "popularity", "binarize"),
    "x1": ("strength",),
}


def make_model(name: str, **options: Any) -> Model:
    """The model of this name; an option that is None has its default.

    Raises InvalidParameter for a model, or an option of it, that does not exist.
    """
    if not isinstance(name, str) or name not in MODELS:
        raise InvalidParameter(f"there is no model {name!r}; there is {', '.join(sorted(MODELS))}")
    given = {key: value for key, value in options.items() if value is not None}
    for key, value in given.items():
        if key not in OPTIONS[name]:
            has = " and ".join(OPTIONS[name])
            raise InvalidParameter(f"the model {name} has no {key} (given: {value!r}); it has {has}")
    if given.get("binarize", "presence") not in BINARIZATIONS:
        raise InvalidParameter(f"binarize is one of {', '.join(BINARIZATIONS)}, not {given['binarize']!r}")
    return MODELS[name](**given)


__all__ = ["MODELS", "OPTIONS", "Background", "Bernoulli", "Lift", "Model", "Query", "Seeds", "make_model"]
