"""The options of `expand`, checked."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import InvalidParameter
from setsearch.memory.where import Where
from setsearch.models.defaults import ModelOptions
from setsearch.storage.ids import id_text
from setsearch.storage.names import Vocabulary

NO_LIMIT = 1 << 62
# Ids are texts, whole numbers, or objects with a primary key `pk`; with the weights of the seeds, 1 without.
Ids = Iterable[str | int | Any]
SeedNames = Ids | Mapping[Any, float]
CUTS = (None, "mark", "keep")


class ExpandOptions(ModelOptions, total=False):
    """What to return, and how to score.

    `exclude`: items to leave out, as negative examples; `gamma`: the coefficient of their weights, 0 to 1; `among`: the
    only items to return, ids or a `Where`; `filter`: conditions on kept columns such as "year >= 2001", all of which
    these must meet; `at_most` so many hits `per` value of a kept column (search/diversity.py); `keep_seeds`: rank the
    seeds too; `explain`: fill the `features` of hits; `snippets`: fill their `snippet`; `fold`: put documents with
    nearly the same words into their `duplicates`; `cut`: "mark" fills their `belongs`, "keep" drops items below the
    threshold.
    """

    exclude: Ids
    among: Ids | Where | None
    filter: Iterable[str]
    at_most: int | None
    per: str | None
    gamma: float | None
    keep_seeds: bool
    explain: bool
    snippets: bool
    fold: bool
    cut: str | None


_NOT_OF_MODEL = set(ExpandOptions.__annotations__) - set(ModelOptions.__annotations__)


class AtMost(NamedTuple):
    """At most `most` hits with the same value of the kept column `per`."""

    most: int
    per: str


class ExpandRequest(NamedTuple):
    """Checked options; `model`: how to score."""

    k: int
    exclude: list[str]
    among: list[str] | Where | None
    filter: list[str]
    at_most: AtMost | None
    gamma: float | None
    keep_seeds: bool
    explain: bool
    snippets: bool
    fold: bool
    cut: str | None
    model: ModelOptions

    @property
    def drops(self) -> bool:
        """Whether some of the best items may be no hits."""
        return self.fold or self.at_most is not None


def parse_request(k: int | None, options: ExpandOptions) -> ExpandRequest:
    """Check options; raises InvalidParameter."""
    cut, gamma, among = options.get("cut"), options.get("gamma"), options.get("among")
    if cut not in CUTS:
        raise InvalidParameter(f"cut is 'mark' or 'keep', not {cut!r}")
    if k is None and cut != "keep":
        raise InvalidParameter("k = None needs cut = 'keep': all that belong")
    if gamma is not None and not (isinstance(gamma, (int, float)) and 0 <= gamma <= 1):
        raise InvalidParameter(f"gamma must lie from 0 to 1, not {gamma!r}")
    return ExpandRequest(
        NO_LIMIT if k is None else positive_integer(k),
        id_list(options.get("exclude", ()), "exclude"),
        among if among is None or isinstance(among, Where) else id_list(among, "among"),
        text_list(options.get("filter", ()), "filter"),
        _at_most(options.get("at_most"), options.get("per")),
        gamma,
        bool(options.get("keep_seeds")),
        bool(options.get("explain")),
        bool(options.get("snippets")),
        bool(options.get("fold")),
        cut,
        cast(ModelOptions, {key: value for key, value in options.items() if key not in _NOT_OF_MODEL}),
    )


def positive_integer(k: int, name: str = "k") -> int:
    """k as an int; raises InvalidParameter unless it is a whole number from 1 on."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameter(f"{name} must be a whole number from 1 on, not {k!r}")
    return int(k)


def _at_most(most: int | None, per: str | None) -> AtMost | None:
    if most is None and per is None:
        return None
    if most is None or per is None:
        raise InvalidParameter(
            "`at_most` and `per` belong together: how many hits, and the kept column, such as author"
        )
    if not isinstance(per, str):
        raise InvalidParameter(f"per is the name of one kept column, not {per!r:.60}")
    return AtMost(positive_integer(most, "at_most"), per)


def id_list(ids: Ids, parameter: str) -> list[str]:
    """Ids as a list of texts; raises InvalidParameter for a single text and for what is no id."""
    if not isinstance(ids, (list, tuple)) and (isinstance(ids, (str, Mapping)) or not isinstance(ids, Iterable)):
        return text_list(ids, parameter)
    if ids == ():
        return []
    return text_list([id_text(id) for id in ids], parameter)


def text_list(names: Iterable[str], parameter: str) -> list[str]:
    """Names as a list; raises InvalidParameter for a single text and for what is not text."""
    if isinstance(names, str):
        raise InvalidParameter(f"{parameter} is a list of texts, not one text; write [{names!r}]")
    if not isinstance(names, (list, tuple)) and isinstance(names, Mapping):
        raise InvalidParameter(f"{parameter} have no weights here; give a list of texts")
    try:
        texts = list(names)
    except TypeError as error:
        raise InvalidParameter(f"{parameter} is a list of texts, not {names!r:.60}") from error
    for text in texts:
        if not isinstance(text, str):
            raise InvalidParameter(f"{parameter} is a list of texts; {text!r:.60} is not one")
    return texts


def nothing_left(items: Vocabulary, among: Ints | None) -> str:
    """The message if no item is left to rank."""
    n_items = f"{items.size} {items.name}"
    if among is not None and not len(among):
        return f"none of the {n_items} may be returned (`among`, `where`, `match`, `filter`); allow others"
    rankable = n_items if among is None else f"{len(among)} {items.name} that may be returned"
    return f"all {rankable} are seeds or excluded; give fewer seeds, or rank them too (`keep_seeds`)"


def parse_seeds(seeds: SeedNames) -> list[str] | dict[str, float]:
    """Names, with their weights if these are given; raises InvalidParameter."""
    if not isinstance(seeds, Mapping):
        return id_list(seeds, "seeds")
    return dict(zip(id_list(list(seeds), "seeds"), seeds.values(), strict=True))


def require_distinct(both: Iterable[str]) -> None:
    """Raise InvalidParameter if items, given by their names, are both seeds and excluded."""
    for name in both:
        raise InvalidParameter(f"{name!r} is both a seed and in `exclude`; leave it out of one")
