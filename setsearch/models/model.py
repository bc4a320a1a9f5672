"""What a model is: mathematics on arrays. It knows no SQL, no text, no files.

Notation, here and in every model (Ghahramani and Heller, Bayesian Sets, NIPS 2005; equation numbers are theirs):

    n     number of items             N     number of seeds
    df_j  items that have feature j   s_j   seeds that have feature j
    m_j   = df_j / n                  x_j   1 if the item has feature j, else 0

A score is  constant + base(x) + sum over the features of x that a seed has too of weight_j.  The base does not depend
on which items are seeds, only on how many: it is computed once and kept.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Seeds:
    """What the seeds have: `features` `(n_active,)` ascending ids, `having` `(n_active,)` s_j, `count` N."""

    features: Ints
    having: Ints
    count: int


@dataclass(frozen=True)
class Background:
    """The part of a score that holds for every set of N seeds, in nats.

    `weights` `(n_features,)`: what each feature of an item adds as long as no seed has it; `constant`: what is added
    to every item.
    """

    weights: Floats
    constant: float


@dataclass(frozen=True)
class Query:
    """The part that depends on the seeds, in nats.

    `weights` `(n_active,)`: what each active feature adds to the items that have it, beyond its background weight;
    `constants` `(n_active,)`: what it adds to every item beyond the background's constant.
    """

    weights: Floats
    constants: Floats


class Model(Protocol):
    """Weights from statistics and seeds. Equal models are equal objects and print equally: both are used as keys."""

    def background(self, df: Ints, n_items: int, n_seeds: int) -> Background:
        """Weights of all features, `df` `(n_features,)`, for any `n_seeds` seeds that have none of them."""
        ...

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """Weights of the active features, `df` `(n_active,)`."""
        ...
