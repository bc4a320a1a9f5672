"""Who joins the few examples of a set beside its rivals (rivals.py), by what is kept of first passes.

A set says the same as before if its members are the same, and the same items join them with the same weights. Its
scores of one pass tell which these are without its question. So after a change in a group those sets are asked that
have changed, or that others join now; and those of which it is not sure, since scores are near to each other, or
documents nearly the same.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.answers.saved.heights import heights_of
from setsearch.arrays import Floats
from setsearch.search.passes import FLAT, PARTS, WEIGHT, are_flat, parts_of_weight

NEAR = 1e-6  # nats: rounding is far less
MOST_BYTES = 1 << 27  # of scores of all items


class FirstPass(NamedTuple):
    """What one pass says of a set: the `scores` of all items of a `source`, without the constant.

    `floor` and `unit` turn scores into heights; `seeds` are members, `excluded` these and rejected items. So many as
    `most` may join: 0 if these scores do not tell who does.
    """

    source: Hashable
    scores: Floats
    constant: float
    floor: float
    unit: float
    seeds: Sequence[int]
    excluded: Sequence[int]
    most: int

    def heights(self) -> Floats:
        """The height of each item, `(n_ids,)`; what the set has is as high as can be."""
        found = heights_of(self.scores + self.constant, self.floor, self.unit)
        found[self.excluded] = -np.inf
        found[self.seeds] = np.inf
        return found

    def joining(self, taken: Floats | None) -> dict[int, float] | None:
        """The items that join beside what rivals take, `(n_ids,)`, with their weights, if all of them differ.

        None if it is not sure.
        """
        if taken is None or not 0 < self.most < len(self.scores):
            return None
        left = self.scores - taken
        left[self.excluded] = -np.inf
        best = np.argpartition(left, -self.most - 1)[-self.most - 1 :]
        best = best[np.argsort(-left[best])]
        scores = np.maximum(left[best], -1.0)  # no such item joins
        joining, last = scores[: self.most][scores[: self.most] > 0], scores[self.most - 1]
        apart = [*scores[scores != 0], last - FLAT * scores[0], *([last - scores[self.most]] if last > 0 else [])]
        apart += [*joining - (np.floor(PARTS * joining / scores[0]) + 0.5) * scores[0] / PARTS]  # where parts change
        if np.abs(apart).min() < NEAR:
            return None
        weights = WEIGHT * parts_of_weight(joining) / PARTS
        return {} if are_flat(scores, self.most) else dict(zip(best.tolist(), weights.tolist(), strict=False))


class Passes(dict[str, dict[str, tuple[object, FirstPass | None]]]):
    """First passes of the sets of groups on one content, each with what it was made of; None: no answer.

    Threads may share it.
    """

    def of(
        self,
        group: str,
        made_of: Mapping[str, object],
        ask: Callable[[Sequence[str]], Iterable[FirstPass | None]],
    ) -> dict[str, FirstPass | None]:
        """Those of all sets of a group, of which only those that changed are asked."""
        before = self.get(group, {})
        own = {name: before[name] for name, now in made_of.items() if name in before and before[name][0] == now}
        new = [name for name in made_of if name not in own]
        own |= {name: (made_of[name], found) for name, found in zip(new, ask(new), strict=True)}
        others = (each for other, each in [*self.items()] if other != group)
        if sum(map(_bytes, (own, *others))) > MOST_BYTES:
            self.clear()
        if _bytes(own) <= MOST_BYTES:
            self[group] = own
        return {name: own[name][1] for name in made_of}


def _bytes(passes: Mapping[str, tuple[object, FirstPass | None]]) -> int:
    return sum(own.scores.nbytes for _, own in passes.values() if own is not None)
