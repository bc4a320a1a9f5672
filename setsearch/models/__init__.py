"""Models by name: each turns statistics and seeds into weights (see model.py)."""

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

from setsearch.errors import InvalidParameter
from setsearch.models.bernoulli import Bernoulli
from setsearch.models.concept import Concept
from setsearch.models.counts import Multinomial, Poisson
from setsearch.models.lift import Lift
from setsearch.models.model import Background, Model, Query, Seeds
from setsearch.models.values import PRESENCE, TWICE_MEAN, Rule

BINARIZATIONS = {"presence": PRESENCE, "twice-mean": TWICE_MEAN}
SOFT = {"presence": "presence", "twice-mean": "soft-twice-mean"}
X1 = Rule("twice-mean", balance=1.0)


def _bernoulli(strength: float = 2.0, binarize: str = "presence") -> Model:
    return Bernoulli(strength, BINARIZATIONS[binarize])


def _lift(strength: float = 2.0, popularity: float = 0.2, binarize: str = "twice-mean") -> Model:
    return Lift(strength, 1 - popularity, SOFT[binarize])


def _x1(strength: float = 50.0) -> Model:
    return Bernoulli(strength, X1)


MODELS: dict[str, Callable[..., Model]] = {
    "bernoulli": _bernoulli,
    "lift": _lift,
    "x1": _x1,
    "multinomial": Multinomial,
    "poisson": Poisson,
    "concept": Concept,
}


on_register: list[Callable[[], None]] = []  # what keeps models by their names


def register(name: str, make: Callable[..., Model]) -> None:
    """Add a model of your own under a name: a class, or a function, whose parameters are the options that it has."""
    MODELS[name] = make
    options_of.cache_clear()
    for forget in on_register:
        forget()


@cache
def options_of(name: str) -> list[str]:
    """The options that a model has: strength, binarize, ..."""
    return list(signature(MODELS[name]).parameters)


def make_model(name: str, **options: Any) -> Model:
    """The model of this name; an option that is None has its default.

    Raises InvalidParameter for a model, or an option of it, that does not exist.
    """
    if not isinstance(name, str) or name not in MODELS:
        raise InvalidParameter(f"there is no model {name!r}; there is {', '.join(sorted(MODELS))}")
    given = {key: value for key, value in options.items() if value is not None}
    for key, value in given.items():
        if key not in options_of(name):
            has = " and ".join(options_of(name)) or "no options"
            raise InvalidParameter(f"the model {name} has no {key} (given: {value!r}); it has {has}")
    if given.get("binarize", "presence") not in BINARIZATIONS:
        raise InvalidParameter(f"binarize is one of {', '.join(BINARIZATIONS)}, not {given['binarize']!r}")
    return MODELS[name](**given)


__all__ = [
    "MODELS",
    "Background",
    "Bernoulli",
    "Concept",
    "Lift",
    "Model",
    "Multinomial",
    "Poisson",
    "Query",
    "Seeds",
    "make_model",
    "on_register",
    "options_of",
    "register",
]
