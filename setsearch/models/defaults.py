"""The best model and options for each kind of items (docs/relevance.md); every call can override them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from setsearch.errors import InvalidParameter, there_is
from setsearch.models import Lift, Model, make_model
from setsearch.options import MODEL, ModelOptions, Option, check

NOT_OF_MODELS = ("by", "fresh", "feedback", "neighbors", "vectors", "purpose")  # options that choose what answers
COEFFICIENT = Option(float, "W", "The weight of a field", 0, 1000)
WEIGHT_BEHIND = "="  # the name of a field


class VectorWeights(NamedTuple):
    """The weights of vectors by where they come from: the user, an encoder, the collection itself."""

    own: float = 1.0
    encoder: float = 1.0
    latent: float = 1.0


_ALIKE = VectorWeights()


class Rejection(NamedTuple):
    """What rejected items take away: `gamma` times their weights, and of features that they have a `discount`.

    See SeedWeights.minus.
    """

    gamma: float
    discount: float = 0.0


@dataclass(frozen=True)
class Defaults:
    """The defaults of a kind of items.

    `feedback`, `neighbors`, `rarity` and `budget` are those of the model lift; `vectors`: the weights of vectors.
    `rejection`: how rejected items change the weights; None if they teach what separates them (search/rejected.py).
    `divided`: whether examples fall into groups without being asked (search/groups.py). `fields`: the names of the
    fields of the features, if there are several; `weights`: what these count by default, if not alike.
    """

    model: str
    popularity: float
    binarize: str
    feedback: float = 0.0
    neighbors: float = 0.0
    rarity: float = 0.0
    budget: float = 0.0
    vectors: VectorWeights = _ALIKE
    rejection: Rejection | None = None
    divided: bool = False
    fields: tuple[str, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()

    @cached_property
    def kind(self) -> "Defaults":
        """Those of its kind, whatever fields there are."""
        return replace(self, fields=(), weights=())

    def rejection_of(self, model: Model, gamma: float | None) -> Rejection | None:
        """How rejected items change the weights, by `gamma` if it is given; None if they teach what separates them."""
        return self.rejection if gamma is None and isinstance(model, Lift) else Rejection(gamma or 0.0)

    def choose(self, options: ModelOptions) -> "Chosen":
        """What some options choose; raises InvalidParameter, UnknownOption."""
        return Chosen(self, options)

    def make(self, options: ModelOptions) -> Model:
        """The model for some options; raises InvalidParameter, UnknownOption."""
        return self.choose(options).model

    def coefficients(self, given: Any) -> tuple[tuple[str, float], ...]:
        """The fields, with their coefficients, in their order.

        Raises InvalidParameter.
        """
        if not self.fields:
            raise InvalidParameter("by is for terms, and for items with several fields; leave it out")
        chosen = field_weights(given)
        for name in chosen:
            if name not in self.fields:
                raise InvalidParameter(f"there is no field {name!r:.60}; {there_is(self.fields)}")
        if not any(chosen.values()):
            raise InvalidParameter(f"no field counts by {given!r:.60}; give one a weight above 0")
        weights = {name: chosen.get(name, 0.0) for name in self.fields}
        return tuple(weights.items())

    def describe(self) -> dict[str, Any]:
        """The defaults as `info` shows them."""
        shown = {"model": self.model, "strength": 2.0, "binarize": self.binarize, "popularity": self.popularity}
        if self == VECTORS:
            return {"model": self.model, "vectors": self.vectors.own}
        if self.weights:
            shown["by"] = dict(self.weights)
        if self.neighbors:
            shown["neighbors"] = self.neighbors  # by default what has neighbors is asked once
        elif self.feedback:
            shown["feedback"] = self.feedback
        return shown


class Chosen:
    """What options choose with the defaults of a kind of items. Raises InvalidParameter, UnknownOption.

    `feedback`: the share that a second pass may read; `neighbors` and `vectors`: their weights; `likes`: whether
    popular items come first.
    """

    def __init__(self, defaults: Defaults, options: ModelOptions) -> None:
        check(options, MODEL)
        self.defaults, self.options = defaults, options
        self._name = options.get("model") or defaults.model
        self.feedback = self._of_lift("feedback", options.get("feedback"), defaults.feedback)
        self.neighbors = self._of_lift("neighbors", options.get("neighbors"), defaults.neighbors)
        by_source = VectorWeights(0.0, 0.0, 0.0) if options.get("purpose") == "likes" else defaults.vectors
        self.vectors = VectorWeights(*(self._of_lift("vectors", options.get("vectors"), own) for own in by_source))
        if defaults == VECTORS and not self.vectors.own:
            raise InvalidParameter(
                "only vectors describe these items, and count with the model lift; leave `model` out"
            )
        self.likes = options.get("purpose") == "likes"
        if self.likes and (defaults.kind != RATINGS or self._name != "lift"):
            raise InvalidParameter("likes are asked of relations such as ratings, by the model lift")

    def _of_lift(self, name: str, given: float | None, default: float) -> float:
        """A number that only the model lift has."""
        if given is None:
            return default if self._name == "lift" else 0.0
        if given and self._name != "lift":
            raise InvalidParameter(f"{name} needs the model lift, not {self.options.get('model')}; leave out one")
        return float(given)

    @cached_property
    def model(self) -> Model:
        """The model; raises InvalidParameter, UnknownOption."""
        defaults, by = self.defaults, self.options.get("by")
        options: dict[str, Any] = {**self.options}
        given: dict[str, Any] = {
            key: float(value) if MODEL[key].type is float else value
            for key, value in options.items()
            if value is not None and key not in NOT_OF_MODELS
        }
        name: str = given.pop("model", defaults.model)
        if name == "lift":
            given = {key: getattr(defaults, key) for key in ("popularity", "binarize", "rarity", "budget")} | given
        if by is not None and defaults.kind != TERMS:
            given["fields"] = defaults.coefficients(by)
            if name != "lift":
                raise InvalidParameter(f"fields are chosen with the model lift, not with {name}; leave out one")
        elif defaults.weights and name == "lift":
            given["fields"] = defaults.weights
        return make_model(name, **given)

    @cached_property
    def by_presence(self) -> Model | None:
        """The model by which all features count; None if that is another one's choice, or the same model."""
        if not isinstance(self.model, Lift) or self.options.get("binarize") is not None:
            return None
        other = self.defaults.make({**self.options, "binarize": "presence"})
        return None if other == self.model else other


def field_weights(given: Any) -> dict[str, float]:
    """The weights of fields by name, of a text "text,tags=0.5", names, or a mapping. Raises InvalidParameter."""
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, (Mapping, Iterable)):
        raise InvalidParameter(f"by is the names of fields such as text,tags=0.5, not {given!r:.60}")
    pairs = given.items() if isinstance(given, Mapping) else [_named_weight(part) for part in given]
    weights: dict[str, float] = {}
    for name, weight in pairs:
        COEFFICIENT._replace(name=f"the weight of the field {name}").check(weight)
        if name in weights:
            raise InvalidParameter(f"the field {name!r:.60} comes twice in `by`; give it once")
        weights[name] = float(weight)
    return weights


def _named_weight(part: Any) -> tuple[str, Any]:
    """A name, with its weight behind an equals sign, or 1."""
    name, mark, weight = str(part).partition(WEIGHT_BEHIND)
    return name.strip(), COEFFICIENT.read([weight.strip()]) if mark else 1.0


def defaults_for(name: str, features: str, is_text: bool) -> Defaults:
    """The defaults for items, given the name of their features and whether these are terms of texts."""
    if not is_text:
        return RATINGS
    if name == features:
        return TERMS
    return DOCUMENTS if name == "documents" else GROUPS


_OF_TEXTS = VectorWeights(encoder=2.0, latent=0.25)
DOCUMENTS = Defaults("lift", 0.2, "twice-mean", feedback=0.25, rarity=0.25, vectors=_OF_TEXTS, divided=True)
TERMS = Defaults(
    "lift",
    0.2,
    "twice-mean",
    rarity=0.25,
    feedback=1.0,
    neighbors=1.0,
    budget=700.0,
    vectors=VectorWeights(latent=0.75),
    rejection=Rejection(gamma=0.03, discount=0.05),
)
# Authors: many documents as one item.
GROUPS = Defaults("lift", 0.0, "twice-mean", rarity=0.25, vectors=_OF_TEXTS)
RATINGS = Defaults("lift", 0.0, "presence")
VECTORS = Defaults("lift", 0.0, "presence", rejection=Rejection(0.0))  # of items with nothing else
NUMBERS = Defaults("gaussian", 0.0, "presence")
