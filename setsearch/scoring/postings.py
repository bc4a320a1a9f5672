"""TODO"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Ids
from setsearch.scoring.bitmaps import Planes

_NO_VALUES = np.zeros(0, np.float32)


class Postings(NamedTuple):
    """Some posting lists within one array: list i is `ids[starts[i] : ends[i]]`, with `values` likewise, or ones.

    `planes`, if there are, are for long lists. No |value| is above `largest`.
    """

    ids: Ids
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    values: Floats32 | Floats | None = None
    planes: Planes | None = None
    largest: float = 1.0

    def lists(self) -> list[Ids]:
        """The lists one by one."""
        return [self.ids[start:end] for start, end in self._places()]

    def together(self) -> Ids:
        """All lists, one behind the other."""
        return np.concatenate(self.lists()) if len(self.starts) else self.ids[:0]

    def values_together(self) -> Floats:
        """The values of all lists, one behind the other."""
        if self.values is None:
            return np.ones(self.size)
        if not len(self.starts):
            return np.zeros(0)
        return np.concatenate([self.values[start:end] for start, end in self._places()], dtype=np.float64)

    def columns(self) -> tuple[Any, ...]:
        """What compiled loops take: ids, starts, ends, and values or nothing for ones.

        Ids are unsigned, so that no loop looks for negative ones.
        """
        return self.ids.view(np.uint32), self.starts, self.ends, _NO_VALUES if self.values is None else self.values

    def _places(self) -> Iterable[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Length of each list, the document frequency of its feature."""
        return self.ends - self.starts

    @property
    def size(self) -> int:
        """Number of postings in all lists."""
        return int(self.lengths.sum())


class Part(NamedTuple):
    """Posting lists and the weight of each, on the lattice (scoring.py)."""

    postings: Postings
    weights: Floats

    @property
    def most(self) -> float:
        """What the lists add to no item more than."""
        return float(np.abs(self.weights).sum()) * self.postings.largest


def have_values(parts: Sequence[Part]) -> bool:
    """Whether the entries of some lists have values."""
    return any(part.postings.values is not None for part in parts)
