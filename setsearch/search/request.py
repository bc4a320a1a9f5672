"""What is asked of `expand`, checked."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from setsearch.arrays import Ints
from setsearch.errors import InvalidParameter
from setsearch.memory.where import Where
from setsearch.options import MODEL, ExpandOptions, Ids, ModelOptions, Option, check
from setsearch.storage.ids import id_text
from setsearch.storage.names import Vocabulary

NO_LIMIT = 1 << 62  # hits: more than there are
SeedNames = Ids | Mapping[Any, float]  # with the weights of the seeds, 1 without
Seeds = list[str] | dict[str, float]  # the same, checked
K = Option(int, "K", "How many", 1, name="k")


class AtMost(NamedTuple):
    """At most `most` hits with the same value of the kept column `per`."""

    most: int
    per: str


class ExpandRequest(NamedTuple):
    """Checked options; `model`: how to score. Those that are used as they were given are in `options` alone."""

    k: int
    like: list[str]
    having: list[str]
    exclude: list[str]
    among: list[str] | Where | None
    filter: list[str]
    at_most: AtMost | None
    options: ExpandOptions
    model: ModelOptions


def parse_request(k: int | None, options: ExpandOptions) -> ExpandRequest:
    """Check options; raises InvalidParameter. Those of the model are checked with the reading (`Chosen`)."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    model = {name: given.pop(name) for name in [*given] if name in MODEL}
    check(given)
    among = given.get("among")
    if given.get("about"):
        given.setdefault("cut", "mark")
    if k is None and given.get("cut") != "keep":
        raise InvalidParameter(
            "k = None needs cut = 'keep': all that belong; for all items give their number, item_count()"
        )
    return ExpandRequest(
        NO_LIMIT if k is None else positive_integer(k),
        text_list(given.get("like", ()), "like"),
        id_list(given.get("having", ()), "having"),
        id_list(given.get("exclude", ()), "exclude"),
        among if among is None or isinstance(among, Where) else id_list(among, "among"),
        text_list(given.get("filter", ()), "filter"),
        _at_most(given.get("at_most"), given.get("per")),
        cast(ExpandOptions, given),
        cast(ModelOptions, model),
    )


def positive_integer(k: int) -> int:
    """k as an int, at most NO_LIMIT; raises InvalidParameter unless it is a whole number from 1 on."""
    K.check(k)
    return min(int(k), NO_LIMIT)


def _at_most(most: int | None, per: str | None) -> AtMost | None:
    if most is None and per is None:
        return None
    if most is None or per is None:
        raise InvalidParameter(
            "`at_most` and `per` belong together: how many hits, and the kept column, such as author"
        )
    if not isinstance(per, str):
        raise InvalidParameter(f"per is the name of one kept column, not {per!r:.60}")
    return AtMost(int(most), per)


def id_list(ids: Ids, parameter: str) -> list[str]:
    """Ids as a list of texts; raises InvalidParameter for a single text and for what is no id."""
    if not isinstance(ids, (list, tuple)) and (isinstance(ids, (str, Mapping)) or not isinstance(ids, Iterable)):
        return text_list(ids, parameter)
    if isinstance(ids, tuple) and not ids:
        return []
    if not callable(getattr(ids, "columns", len)):  # a frame has the names of its columns where a list has items
        raise InvalidParameter(f"{parameter} is a list of texts, not a frame; give one of its columns")
    return text_list([id if type(id) is str else id_text(id) for id in ids], parameter)


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
            shown = " ".join(f"{text!r:.60}".split())  # arrays have several lines
            raise InvalidParameter(f"{parameter} is a list of texts; {shown} is not one")
    return texts


def nothing_left(items: Vocabulary, among: Ints | None) -> str:
    """The message if no item is left to rank."""
    n_items = f"{items.size:,} {items.name}"
    if among is not None and not len(among):
        return f"none of the {n_items} may be returned; allow others (`among`, `where`, `match`, `filter`)"
    rankable = n_items if among is None else f"{len(among):,} {items.name} that may be returned"
    return f"all {rankable} are seeds or excluded; give fewer seeds, or rank them too (`keep_seeds`)"


def parse_seeds(seeds: SeedNames) -> Seeds:
    """Names, with their weights if these are given; raises InvalidParameter."""
    if not isinstance(seeds, Mapping):
        return id_list(seeds, "seeds")
    return dict(zip(id_list(list(seeds), "seeds"), seeds.values(), strict=True))


def require_distinct(both: Iterable[str]) -> None:
    """Raise InvalidParameter if items, given by their names, are both seeds and excluded."""
    for name in both:
        raise InvalidParameter(f"{name!r} is both a seed and in `exclude`; leave it out of one")
