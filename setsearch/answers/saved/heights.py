"""Heights of items in the sets of an exclusive group (rivals.py), set after set.

All heights of six hundred sets of 126,000 items would take 600 MB, and what is told by them several times as much. The
two best heights of each item are enough: the best rival of a set is the first one, or the second one if that is itself.
"""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats


def heights_of(scores: Floats, floors: Floats | float, units: Floats | float) -> Floats:
    """Heights of scores, `(n,)`, or `(n_sets, n)` by columns; 0 in a set in which all items score the same."""
    are_apart = np.greater(units, 0)
    return np.where(are_apart, (scores - floors) / np.where(are_apart, units, 1.0), 0.0)


class Highest:
    """The two best heights of each item in the sets that were added, and the places of these sets, which ascend.

    `rivals`: of each set that has kin in the group, the places of those that exclude it. Its best rival is kept apart.
    """

    def __init__(self, n: int, rivals: Mapping[int, Collection[int]]) -> None:
        self._first: Floats
        self._first, self._second = np.full((2, n), -np.inf)
        self._who, self._next = np.full((2, n), -1, np.int32)
        self._rivals = rivals
        self._of_kin = {place: (np.full(n, -np.inf), np.full(n, -1, np.int32)) for place in rivals}

    def add(self, place: int, heights: Floats) -> None:
        """Add a set. Of equal heights that of the first one stays the best."""
        changed = np.flatnonzero(heights > self._second)
        are_first = heights[changed] > self._first[changed]
        first, second = changed[are_first], changed[~are_first]
        self._second[first], self._next[first] = self._first[first], self._who[first]
        self._first[first], self._who[first] = heights[first], place
        self._second[second], self._next[second] = heights[second], place
        for other, (best, who) in self._of_kin.items():
            if place in self._rivals[other]:
                who[heights > best] = place
                np.maximum(best, heights, out=best)

    def best(self, place: int) -> tuple[Floats, npt.NDArray[np.int32]]:
        """The height of each item in the best rival of a set, -inf without one, and its place, -1 without, `(n,)`."""
        if place in self._of_kin:
            return self._of_kin[place]
        is_own = self._who == place
        return np.where(is_own, self._second, self._first), np.where(is_own, self._next, self._who)
