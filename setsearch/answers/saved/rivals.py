"""Saved sets that exclude one another: an item belongs where it fits best.

    h_c(x) = (score_c(x) - floor_c) / (top_c - floor_c)       the height of an item in a set
    score of c in its group = score_c(x) - 1/2 (top_c - floor_c) max(0, h_o(x))

top_c is the mean of the five best scores, floor_c what an item has by chance (search/cutoff.py), and o the other set
of the group in which x is highest. x belongs to c if its score alone is above the line of c, if it is higher in c than
in o, and if it belongs to all wholes of c. What o has accepted belongs to o; what it rejected has no height there.
Without rivals scores are, to the bit, those of the set alone. Other rules do less well (benchmarks/LOG.md).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.heights import heights_of
from setsearch.answers.saved.standing import Weighed
from setsearch.arrays import Floats, Ints, to_lattice

OTHERS = 0.5  # of the height in the best other set, which is subtracted
Flags = npt.NDArray[np.bool_]


class Rivalry(NamedTuple):
    """Sets that are asked together, in the order of their places; `weighed` has a row of Weighed for each.

    `exclusive`: the places of those that exclude one another, group by group. `rivals` has those of each that has kin
    among them. `within`: places of parts and of their wholes.
    """

    names: list[str]
    weighed: Floats
    exclusive: list[Ints]
    rivals: dict[int, set[int]]
    within: list[tuple[int, int]]

    @classmethod
    def of(cls, groups: Groups, known: Mapping[str, Weighed]) -> "Rivalry":
        """Of some sets, and what is known of each."""
        names, weighed = [*known], np.array([*known.values()], float).reshape(len(known), len(Weighed._fields))
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if groups.of.get(name) in groups.exclusive:
                places.setdefault(groups.of[name], []).append(place)
        rivals: dict[int, set[int]] = {}
        for group in places:
            rivals |= groups.rivals_of_kin(group, names)
        exclusive = [np.array(own, np.int64) for own in places.values() if len(own) > 1]
        number_of = {name: place for place, name in enumerate(names)}
        within = [
            (number_of[name], number_of[whole])
            for name in names
            for whole in groups.wholes(name)
            if whole in known and known[whole].is_told
        ]
        return cls(names, weighed, exclusive, rivals, within)

    def couple(self, scores: Floats, members: Flags, rejected: Flags) -> "Coupled":
        """What the sets say together of items, by the `scores` of each alone; all are `(n_sets, n)`."""
        lines, _, floors, units = self.weighed[:, 2:].T
        heights = heights_of(scores, floors[:, None], units[:, None])
        heights[rejected] = -np.inf
        best, who = self.best(heights)
        taken = self.best(np.where(members, 1.0, 0.0))[0] > 0 if members.any() else np.zeros(members.shape, bool)
        are_above, alone = scores > lines[:, None], (heights > best) & ~taken
        fits = alone.copy()
        for part, whole in self.within:
            fits[part] &= members[whole] | (are_above[whole] & alone[whole])
        return Coupled(members, rejected, heights, best, who, taken, fits, are_above & fits)

    def taking(self, best: Floats) -> Floats:
        """What the best rivals take from scores, on the lattice of sums, in nats, `(n_sets, n)`."""
        scales, *_, units = (column[:, None] for column in self.weighed.T)
        return taken_by(best, scales, units)

    def best(self, heights: Floats) -> tuple[Floats, Ints]:
        """The height of each item in the best rival of each set, -inf without one, and its place: `(n_sets, n)`."""
        best, who = np.full(heights.shape, -np.inf), np.full(heights.shape, -1)
        columns = np.arange(heights.shape[1])
        for rows in self.exclusive:
            left = heights[rows]
            first = left.argmax(0)
            best[rows], who[rows] = left[first, columns], rows[first]
            left[first, columns] = -np.inf
            second = left.argmax(0)  # of the best one itself, the best rival
            best[rows[first], columns], who[rows[first], columns] = left[second, columns], rows[second]
            for row in [row for row in rows.tolist() if row in self.rivals]:
                others = np.array(sorted(self.rivals[row]), np.int64)
                best[row] = heights[others].max(0, initial=-np.inf)
                who[row] = others[heights[others].argmax(0)] if len(others) else -1
        who[best == -np.inf] = -1
        return best, who


def taken_by(best: Floats, scales: Any, units: Any) -> Floats:
    """What rivals take from scores, by heights in the best of them, on the lattice of sums, in nats."""
    taken: Floats = to_lattice(np.maximum(best, 0.0) * (OTHERS * scales * np.where(units > 0, units, 0.0))) / scales
    return taken


class Coupled(NamedTuple):
    """Items in sets that know each other, `(n_sets, n)` each: heights, and those in the `best` rival, `who`.

    Members are accepted. `taken`: a rival has it; `fits`: it may belong beside the rivals and within the wholes;
    `belong`: it is above the line, too.
    """

    members: Flags
    rejected: Flags
    heights: Floats
    best: Floats
    who: Ints
    taken: Flags
    fits: Flags
    belong: Flags

    @property
    def are_open(self) -> Flags:
        """Nobody has said anything of these in the set, nor has a rival them."""
        return ~(self.members | self.rejected | self.taken)
