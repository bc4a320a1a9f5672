"""What of an expanded set is wanted: how many, without what, with which explanations."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from setsearch.errors import InvalidParameter

ALL = 1 << 62
CUTS = (None, "mark", "keep")


@dataclass(frozen=True)
class Wanted:
    """What of an expanded set is wanted."""

    k: int
    exclude: list[str]
    gamma: float | None
    keep_seeds: bool
    explain: bool
    cut: str | None


def parse_wanted(
    k: int | None, exclude: Iterable[str], gamma: float | None, keep_seeds: bool, explain: bool, cut: str | None
) -> Wanted:
    """What is wanted, checked; raises InvalidParameter."""
    if cut not in CUTS:
        raise InvalidParameter(f"cut is 'mark' or 'keep', not {cut!r}")
    if k is None and cut != "keep":
        raise InvalidParameter("k = None is for cut = 'keep': all that belong")
    if gamma is not None and not (isinstance(gamma, (int, float)) and 0 <= gamma <= 1):
        raise InvalidParameter(f"gamma must lie from 0 to 1, not {gamma!r}")
    return Wanted(ALL if k is None else whole(k), several(exclude, "exclude"), gamma, keep_seeds, explain, cut)


def whole(k: int) -> int:
    """k as a whole number from 1 on; raises InvalidParameter."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameter(f"k must be a whole number from 1 on, not {k!r}")
    return int(k)


def several(names: Iterable[str], what: str) -> list[str]:
    """Names as a list; raises InvalidParameter for a single text."""
    if isinstance(names, str):
        raise InvalidParameter(f"{what} is a list of ids, not the one text {names!r}; write [{names!r}]")
    try:
        found = list(names)
    except TypeError as error:
        raise InvalidParameter(f"{what} is a list of texts, not {names!r:.60}") from error
    for name in found:
        if not isinstance(name, str):
            raise InvalidParameter(f"{what} are texts, not {name!r:.60}")
    return found
