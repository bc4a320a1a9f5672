"""The plan of a question: what its options ask for, checked and worked out once, before any examples are known."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from setsearch.models.defaults import Defaults
from setsearch.options import ExpandOptions, ModelOptions, parse_fresh
from setsearch.search.cutoff import few
from setsearch.search.near_duplicates import FOLDED
from setsearch.search.request import NO_LIMIT, parse_request

Keys = Callable[[ModelOptions], list[str]]  # of the fields that may answer, the preferred one first


class Plan:
    """What depends on the options of a question alone. Raises InvalidParameter, UnknownOption.

    `keys`: which fields may answer. `fresh`: how far contexts may be behind. `weighs`: whether the weights of examples
    are told, too. `leaves_out`: whether the best hits are not the best items that the core finds: others than the seeds
    are left out, these are kept, or likes come first. `waits`: whether the line may be drawn after the hits are known,
    by as many items as they need. `shown`: how many of the best items may be hits, if some are dropped. `few` as
    `Wanted` has it. `again`: the options that scores depend on.
    """

    def __init__(self, keys: Keys, defaults: Defaults, k: int | None, options: ExpandOptions) -> None:
        self.request = request = parse_request(k, options)
        self.k = request.k
        self.chosen = defaults.choose(request.model)
        self.keys = keys(request.model)
        self.fresh = parse_fresh(request.model.get("fresh"))
        given = request.options
        self.cut, self.about = given.get("cut"), given.get("about")
        self.gamma, self.groups = given.get("gamma"), given.get("groups")
        self.keeps_seeds, self.folds = bool(given.get("keep_seeds")), bool(given.get("fold"))
        self.explains = bool(given.get("explain"))
        self.weighs = bool(self.explains or given.get("snippets") or request.exclude)
        filters = request.among is not None or request.filter or request.exclude
        self.leaves_out = bool(filters or self.keeps_seeds or self.chosen.likes)
        self.waits = self.cut == "mark" and not self.about
        self.shown = min(2 * self.k + FOLDED, NO_LIMIT) if self.folds or request.at_most else self.k
        self.few = few(defaults) if self.cut and not self.about else (0.0, 0.0)
        examples = {"exclude": request.exclude, "like": request.like, "having": request.having}
        again = {**request.model, "gamma": self.gamma, "groups": self.groups, **examples}
        self.again: Mapping[str, Any] = MappingProxyType(again)  # hits have it, and anybody may have these
