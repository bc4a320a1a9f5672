"""What of an expanded set is wanted: how many, without what, with which explanations."""

from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np

from setsearch.errors import InvalidParameter
from setsearch.models.defaults import ModelOptions
from setsearch.search.where import Where

Among = Iterable[str] | Where | None
ALL = 1 << 62
CUTS = (None, "mark", "keep")


class Wanting(ModelOptions, total=False):
    """What of an expanded set is wanted, and how to score.

    `exclude`: items to leave out, as negative examples; `gamma`: how much these count, 0 to 1; `among`: the only
    items that may be answered, ids or a `Where`; `keep_seeds`: rank the seeds too; `explain`: fill the `features` of
    hits; `cut`: "mark" fills their `belongs`, "keep" leaves out what does not belong.
    """

    exclude: Iterable[str]
    among: Among
    gamma: float | None
    keep_seeds: bool
    explain: bool
    cut: str | None


OWN = set(Wanting.__annotations__) - set(ModelOptions.__annotations__)


class Wanted(NamedTuple):
    """What of an expanded set is wanted, checked; `model`: how to score."""

    k: int
    exclude: list[str]
    among: list[str] | Where | None
    gamma: float | None
    keep_seeds: bool
    explain: bool
    cut: str | None
    model: ModelOptions


def parse_wanted(k: int | None, options: Wanting) -> Wanted:
    """What is wanted, checked; raises InvalidParameter."""
    cut, gamma, among = options.get("cut"), options.get("gamma"), options.get("among")
    if cut not in CUTS:
        raise InvalidParameter(f"cut is 'mark' or 'keep', not {cut!r}")
    if k is None and cut != "keep":
        raise InvalidParameter("k = None is for cut = 'keep': all that belong")
    if gamma is not None and not (isinstance(gamma, (int, float)) and 0 <= gamma <= 1):
        raise InvalidParameter(f"gamma must lie from 0 to 1, not {gamma!r}")
    return Wanted(
        ALL if k is None else whole(k),
        several(options.get("exclude", ()), "exclude"),
        among if among is None or isinstance(among, Where) else several(among, "among"),
        gamma,
        bool(options.get("keep_seeds")),
        bool(options.get("explain")),
        cut,
        cast(ModelOptions, {key: value for key, value in options.items() if key not in OWN}),
    )


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
