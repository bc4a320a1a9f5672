"""Models by name, one in a file: each turns statistics and seeds into weights (model.py). Knows no SQL, no text."""

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

from setsearch.errors import InvalidParameter
from setsearch.models.bernoulli import Bernoulli
from setsearch.models.counts import Multinomial, Poisson
from setsearch.models.lift import Lift
from setsearch.models.model import Background, Model, Query, Seeds
from setsearch.models.values import PRESENCE, TWICE_MEAN, ValueRule

BINARIZATIONS = {"presence": PRESENCE, "twice-mean": TWICE_MEAN}
SOFT_BINARIZATIONS = {"presence": "presence", "twice-mean": "soft-twice-mean"}
ALIASES: dict[str, dict[str, Any]] = {
    "x1": {"model": "bernoulli", "strength": 50.0, "binarize": "twice-mean", "popularity": 0.0}  # of version 0.2
}
PLUGINS = "setsearch.models"  # the entry-point group in which packages offer models


def _bernoulli(strength: float = 2.0, binarize: str = "presence", popularity: float | None = None) -> Model:
    slope = None if popularity is None else 1 - popularity
    return Bernoulli(strength, BINARIZATIONS[binarize]._replace(slope=slope))


def _lift(
    strength: float = 2.0,
    popularity: float = 0.2,
    binarize: str = "twice-mean",
    rarity: float = 0.0,
    budget: float = 0.0,
    fields: tuple[tuple[str, float], ...] = (),
) -> Model:
    return Lift(strength, 1 - popularity, SOFT_BINARIZATIONS[binarize], rarity, budget, fields)


MODELS: dict[str, Callable[..., Model]] = {
    "bernoulli": _bernoulli,
    "lift": _lift,
    "multinomial": Multinomial,
    "poisson": Poisson,
}

BUILT_IN = frozenset(MODELS)


def register(name: str, make: Callable[..., Model]) -> None:
    """Add a model under a name: a class or function whose parameters are the options of the model.

    Raises InvalidParameter for the name of one of ours.
    """
    if name in BUILT_IN:
        raise InvalidParameter(f"{name!r} is the name of a model of setsearch; take another one")
    MODELS[name] = make
    options_of.cache_clear()


@cache
def options_of(name: str) -> list[str]:
    """The options of a model: strength, binarize, ..."""
    return list(signature(MODELS[name]).parameters)


def make_model(name: str, **options: Any) -> Model:
    """The model with this name; an option that is None has its default.

    Raises InvalidParameter for an unknown model or option.
    """
    chosen = {key: value for key, value in options.items() if value is not None}
    if isinstance(name, str) and name in ALIASES:
        chosen = ALIASES[name] | chosen
        name = chosen.pop("model")
    if isinstance(name, str) and name not in MODELS:
        _load_plugins()
    if not isinstance(name, str) or name not in MODELS:
        raise InvalidParameter(f"unknown model {name!r}; choose from {', '.join(sorted(MODELS))}")
    for key, value in chosen.items():
        if key not in options_of(name):
            known = " and ".join(options_of(name)) or "no options"
            raise InvalidParameter(f"the model {name} has no option {key} (given: {value!r}); it has {known}")
    model = MODELS[name](**chosen)
    lacking = [own for own in ("rule", "background", "query") if not hasattr(model, own)]
    if lacking:
        raise InvalidParameter(f"the model {name} has no {' and no '.join(lacking)}, as docs/models.md shows them")
    return model


def _load_plugins() -> None:
    """Register the models that installed packages offer."""
    from importlib.metadata import entry_points

    for plugin in entry_points(group=PLUGINS):
        if plugin.name not in MODELS:
            register(plugin.name, plugin.load())


__all__ = [
    "MODELS",
    "Background",
    "Bernoulli",
    "Lift",
    "Model",
    "Multinomial",
    "Poisson",
    "Query",
    "Seeds",
    "ValueRule",
    "make_model",
    "options_of",
    "register",
]
