"""Posting lists in memory, and their weights."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Floats32, Ids, Ints


class PostingArrays(NamedTuple):
    """Posting lists inside one array: list i is `ids[starts[i] : ends[i]]`, with `values` likewise, or ones.

    `largest` is an upper bound of |value|.
    """

    ids: Ids
    starts: Ints
    ends: Ints
    values: Floats32 | Floats | None = None
    largest: float = 1.0

    def lists(self) -> list[Ids]:
        """The lists one by one."""
        return [self.ids[start:end] for start, end in self.spans()]

    def concatenated_ids(self) -> Ids:
        """The ids of all lists."""
        return np.concatenate(self.lists()) if len(self.starts) else self.ids[:0]

    def concatenated_values(self) -> Floats:
        """The values of all lists."""
        if self.values is None:
            return np.ones(self.size)
        if not len(self.starts):
            return np.zeros(0)
        return np.concatenate([self.values[start:end] for start, end in self.spans()], dtype=np.float64)

    def spans(self) -> Iterable[tuple[int, int]]:
        """(start, end) of each list."""
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)

    @property
    def lengths(self) -> Ints:
        """The length of each list: the document frequency of its feature."""
        return self.ends - self.starts

    @property
    def size(self) -> int:
        """The number of postings in all lists."""
        return int(self.lengths.sum())


class WeightedLists(NamedTuple):
    """Posting lists and the weight of each, on the lattice (arrays.py)."""

    postings: PostingArrays
    weights: Floats

    @property
    def bound(self) -> float:
        """Upper bound of what these lists add to any score."""
        return float(np.abs(self.weights).sum()) * self.postings.largest


Parts = Sequence[WeightedLists]
