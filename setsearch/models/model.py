"""What a model is: mathematics on arrays. It knows no SQL, no text, no files.

Notation, here and in every model (Ghahramani and Heller, Bayesian Sets, NIPS 2005; equation numbers are theirs):

    n     number of items                           N     number of seeds
    x_ij  value of feature j in item i, 0 to 1      s_j   sum of x_ij over the seeds
    df_j  number of items with x_ij > 0             c_j   number of seeds with x_ij > 0
    m_j   = df_j / n

A score is  constant + base(x) + sum over the features of x that a seed has too of weight_j x_j.  The base does not
depend on which items are seeds, only on how many: it is computed once and kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.errors import InvalidParameter
from setsearch.models.values import Rule

SMALLEST, LARGEST = 1e-100, 1e100  # strengths within which float64 neither over- nor underflows
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Table = Callable[[Ints, Floats], Floats]
_nothing: Ints = np.zeros(0, np.int64)


@dataclass(slots=True)
class Seeds:
    """What the seeds have: `features` `(n_active,)` ascending ids, `having` c_j, `sums` s_j, `count` N.

    For models of counts also `cf` `(n_active,)`, how often all items have each, and `cf_of_all`, the sum over all
    features.
    """

    features: Ints
    having: Ints
    sums: Floats
    count: int
    cf: Ints = field(default_factory=_nothing.copy)
    cf_of_all: int = 0


class Background(NamedTuple):
    """The part of a score that holds for every set of N seeds, in nats.

    `weights` `(n_features,)`: what each feature of an item adds as long as no seed has it, times its value;
    `constant`: what is added to every item.
    """

    weights: Floats
    constant: float


class Query(NamedTuple):
    """The part that depends on the seeds, in nats.

    `weights` `(n_active,)`: what each active feature adds, times its value, beyond its background weight;
    `constants` `(n_active,)`: what it adds to every item beyond the background's constant.
    A model whose entries are not worth weight times value gives a `table`: from places in the active features and
    values, `(n_entries,)` each, to what these entries add; `weights` are then those of the value 1, for showing.
    """

    weights: Floats
    constants: Floats
    table: Table | None = None


class Model(Protocol):
    """Weights from statistics and seeds. Equal models are equal objects and print equally: both are used as keys.

    A model may also have `of_lengths(lengths, seeds)`: what an item's length L, `(n_items,)`, adds to its score.
    """

    @property
    def rule(self) -> Rule:
        """How stored counts turn into values."""
        ...

    def background(self, df: Ints, n_items: int, n_seeds: int) -> Background | None:
        """Weights of all features, `df` `(n_features,)`, for any `n_seeds` seeds without them; None: no base."""
        ...

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """Weights of the active features, `df` `(n_active,)`."""
        ...


def check_strength(strength: float) -> None:
    """Refuse a strength of the prior with which numbers over- or underflow."""
    if not SMALLEST <= strength <= LARGEST:
        raise InvalidParameter(
            f"the strength must lie from {SMALLEST:g} to {LARGEST:g}, not {strength:g}; the paper's is 2"
        )
