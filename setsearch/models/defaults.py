"""What is best for which kind of items, as docs/relevance.md measures it: defaults that every call can override."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypedDict, cast

from setsearch.errors import InvalidParameter
from setsearch.models import Model, make_model, on_register


class ModelOptions(TypedDict, total=False):
    """How to score; what is left out, or None, has the default of the kind of items (`Index.info`).

    `model`: "lift", "bernoulli" (the paper's), "x1", "multinomial", "poisson", "concept"; `strength`: k of the prior;
    `binarize`: which counts are an entry, "presence" or "twice-mean"; `popularity`, of lift: how far items with much
    in them may be ahead, 0 to 1; `by`, of terms: what describes them, "contexts", "documents" or "both"; by default
    both where all the terms of the question are frequent enough to have contexts, else documents.
    """

    model: str | None
    strength: float | None
    binarize: str | None
    popularity: float | None
    by: str | None


@dataclass(frozen=True)
class Profile:
    """Defaults of a kind of items.

    `cut`: an item belongs to the set if its score is above cut[0] times the mean of the five best scores plus cut[1]
    times the median of the scores that the seeds have when each is left out in turn; with one seed above `cut_of_one`
    times the former.
    """

    model: str
    popularity: float
    binarize: str
    cut: tuple[float, float]
    cut_of_one: float

    def make(self, options: ModelOptions) -> Model:
        """The model that the options ask for; raises InvalidParameter, and TypeError for an unknown option."""
        try:
            return _made(self, tuple(options.items()), tuple(map(type, options.values())))
        except TypeError:  # a value that cannot be a key
            return self._make(options)

    def _make(self, options: ModelOptions) -> Model:
        unknown = set(options) - set(ModelOptions.__annotations__)
        if unknown:
            raise TypeError(f"unknown option {min(unknown)!r}; there is {', '.join(ModelOptions.__annotations__)}")
        given: dict[str, Any] = {key: value for key, value in options.items() if value is not None and key != "by"}
        name = given.pop("model", self.model)
        for key in ("strength", "popularity"):
            if key in given and (isinstance(given[key], bool) or not hasattr(given[key], "__float__")):
                raise InvalidParameter(f"the {key} must be a number, not {given[key]!r}")
        if name == "lift":
            given = {"popularity": self.popularity, "binarize": self.binarize} | given
        return make_model(name, **{key: float(v) if key != "binarize" else v for key, v in given.items()})

    def describe(self) -> dict[str, Any]:
        """The defaults, as `info` shows them."""
        return {"model": self.model, "strength": 2.0, "binarize": self.binarize, "popularity": self.popularity}


def profile_for(name: str, features: str, analyzed: bool) -> Profile:
    """The defaults of a reading, by what it ranks, what its relation calls features, and whether these are terms."""
    if not analyzed:
        return RATINGS
    if name == features:
        return TERMS
    return DOCUMENTS if name == "documents" else GROUPS


@lru_cache(maxsize=64)
def _made(profile: Profile, options: tuple[tuple[str, Any], ...], types: tuple[type, ...]) -> Model:
    return profile._make(cast(ModelOptions, dict(options)))  # True equals 1, but is another type


on_register.append(_made.cache_clear)
DOCUMENTS = Profile("lift", 0.2, "twice-mean", cut=(0.25, 0.4), cut_of_one=0.45)
TERMS = Profile("lift", 0.2, "twice-mean", cut=(0.6, 0.0), cut_of_one=0.6)
GROUPS = Profile("lift", 0.0, "twice-mean", cut=(0.25, 0.4), cut_of_one=0.45)  # authors: many documents as one item
RATINGS = Profile("lift", 0.0, "presence", cut=(0.25, 0.4), cut_of_one=0.45)
NUMBERS = Profile("gaussian", 0.0, "presence", cut=(0.0, 0.0), cut_of_one=0.0)
