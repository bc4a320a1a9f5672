"""The interface of models: mathematics on arrays, without SQL, text or files.

Notation of all models (Ghahramani and Heller, Bayesian Sets, NIPS 2005; equation numbers are theirs):

    n     number of items                           N     number of seeds
    x_ij  value of feature j in item i, 0 to 1      s_j   sum of x_ij over the seeds
    df_j  number of items with x_ij > 0             c_j   number of seeds with x_ij > 0
    m_j   = df_j / n

A score is  constant + base(x) + sum over the features of x that a seed has too of weight_j x_j.  The base depends on
the number of seeds, not on which items they are: it is computed once and cached.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints
from setsearch.errors import InvalidParameter, SetsearchError
from setsearch.models.values import ValueRule

Table = Callable[[Ints, Floats], Floats]
_empty: Ints = np.zeros(0, np.int64)


@dataclass(slots=True)
class Seeds:
    """What the seeds have: `features` `(n_active,)` ascending ids, `having` c_j, `sums` s_j, `count` N.

    Seeds may have weights: these add up to N, those of the seeds with a feature to c_j, times their values to s_j.

    For models of counts also `cf` `(n_active,)`, the counts of each feature summed over all items, and `cf_of_all`,
    the sum over all features. `given` is N without items that joined the seeds, if some did.
    """

    features: Ints
    having: Ints | Floats
    sums: Floats
    count: float
    cf: Ints = field(default_factory=_empty.copy)
    cf_of_all: int = 0
    given: float | None = None

    def some(self, kept: npt.NDArray[np.bool_]) -> "Seeds":
        """What they have of some of these features."""
        own = {name: getattr(self, name)[kept] for name in ("features", "having", "sums")}
        return replace(self, **own, cf=self.cf[kept] if len(self.cf) else self.cf)


class Background(NamedTuple):
    """The part of a score that is the same for all sets of N seeds, in nats.

    `weights` `(n_features,)`: what each feature of an item adds, times its value, if no seed has it; `constant`: added
    to every item.
    """

    weights: Floats
    constant: float


class Query(NamedTuple):
    """The part of a score that depends on the seeds, in nats.

    `weights` `(n_active,)`: what each active feature adds, times its value, beyond its background weight;
    `constants` `(n_active,)`: what it adds to every item beyond the background's constant (zeros for most models).
    A model whose entries do not add weight times value has a `table`: from positions among the active features and
    values, `(n_entries,)` each, to what the entries add; `weights` are then those of the value 1, for display.
    """

    weights: Floats
    constants: Floats
    table: Table | None = None


class Model(Protocol):
    """Weights from statistics and seeds. Equal models are equal objects with equal `repr`: both are cache keys.

    A model may also have `of_lengths(lengths, seeds)`: what an item's length L, `(n_items,)`, adds to its score;
    `usual_strength`: above it, weights are too small to be rounded as they are; and `has_base` = False if its
    background is always None, so that nobody counts document frequencies for it.
    """

    @property
    def rule(self) -> ValueRule:
        """How stored counts become values."""
        ...

    def background(self, df: Ints, n_items: int, n_seeds: float) -> Background | None:
        """Weights of all features, `df` `(n_features,)`, if no seed has them; None for a model without a base."""
        ...

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """Weights of the active features, `df` `(n_active,)`."""
        ...


def ask_query(model: Model, seeds: Seeds, df: Ints, n_items: int) -> Query:
    """The query of a model, which may be somebody's own; raises InvalidParameter if it fails, or gives no weights."""
    query: Query = _ask(model, Query, "query", seeds, df, n_items)
    constants = query.constants  # some have one number for all features
    if not _are_weights(query.weights, len(df)) or not _are_weights(constants, np.size(constants)):
        raise InvalidParameter(_problem(model, "query", f"gives no two arrays of {len(df)} finite numbers"))
    return query


def ask_background(model: Model, df: Ints, n_items: int, n_seeds: float) -> Background | None:
    """Likewise its background."""
    background: Background | None = _ask(model, Background | None, "background", df, n_items, n_seeds)
    if background is not None and not _are_weights(background.weights, len(df)):
        raise InvalidParameter(_problem(model, "background", f"gives no array of {len(df)} finite weights, nor None"))
    return background


def _ask(model: Model, kind: Any, method: str, *given: Any) -> Any:
    try:
        answer = getattr(model, method)(*given)
    except (SetsearchError, MemoryError):
        raise
    except Exception as error:  # whatever somebody's code raises: the index is not damaged
        raise InvalidParameter(_problem(model, method, f"raises {type(error).__name__}: {error}")) from error
    if not isinstance(answer, kind):
        raise InvalidParameter(_problem(model, method, f"gives {type(answer).__name__}, not {method.title()}"))
    return answer


def _are_weights(weights: Any, n: int) -> bool:
    return isinstance(weights, np.ndarray) and weights.shape == (n,) and bool(np.isfinite(weights).all())


def _problem(model: Model, method: str, what: str) -> str:
    return f"the model {type(model).__name__} cannot answer: its method {method} {what}"


def has_tiny_weights(model: Model) -> bool:
    """Whether the strength of the prior makes weights so small that they are scaled before they are rounded."""
    return bool(getattr(model, "strength", 0.0) > getattr(model, "usual_strength", np.inf))
