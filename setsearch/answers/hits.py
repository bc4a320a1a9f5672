"""From weights to hits: the best items, where the set ends, what is folded, names, explanations, snippets, columns."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from setsearch.answers.answer import Hits
from setsearch.answers.contributions import contributions
from setsearch.answers.passages import make_snippets
from setsearch.answers.reasons import wording
from setsearch.answers.results import BY_DOCUMENTS, SHARE_LITTLE, Hit, rest_of
from setsearch.arrays import Floats, Ints
from setsearch.errors import NothingToRank
from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.search.cutoff import FLOOR, belonging, few, tells
from setsearch.search.diversity import first_of_each
from setsearch.search.folding import FOLDED, fold
from setsearch.search.passes import Wanted, uses_vectors
from setsearch.search.request import NO_LIMIT, ExpandRequest, nothing_left
from setsearch.search.weights import SeedWeights

Row = tuple[int, float, bool | None]  # id, score, whether it belongs

DEEPER = 4  # times as many items are looked at if too many were dropped


def wanted_of(fields: Fields, request: ExpandRequest, defaults: Defaults) -> Wanted:
    """What a request wants of its question: the best items, unless more is to be added, or other items are left out."""
    given, has_more = request.options, fields.nearest is not None or uses_vectors(fields, defaults, request.model)
    has_more = has_more or defaults.wants_likes(request.model) or bool(request.exclude)
    chooses = request.among is not None or request.filter or given.get("keep_seeds")
    weighs = bool(given.get("explain") or given.get("snippets") or request.exclude)
    asks = given.get("cut") and not given.get("about")
    depth = 0 if has_more or chooses else _depth(request, _shown(request))
    return Wanted(depth, weighs, few(defaults) if asks else (0.0, 0.0))


def _shown(request: ExpandRequest) -> int:
    """How many of the best items may be hits, if some are dropped."""
    return min(2 * request.k + FOLDED, NO_LIMIT) if request.drops else request.k


def _depth(request: ExpandRequest, shown: int) -> int:
    """How many of the best items are looked for; the line needs more of them."""
    return max(shown, _leading(request)) if request.options.get("cut") else shown


def _leading(request: ExpandRequest) -> int:
    """How many of the best items draw the line."""
    return request.options.get("about") or FLOOR


def best_hits(
    fields: Fields,
    weights: SeedWeights,
    excluded: Sequence[int],
    request: ExpandRequest,
    defaults: Defaults,
    cannot_tell: bool,
) -> Hits:
    """The k best hits; if the fields `cannot_tell` what belongs, hits are marked only where no others are kept.

    If some of the best items are no hits, more are looked at until there are k, or no more items. Raises NothingToRank.
    """
    among = fields.allowed(request.among, request.filter)
    wanted, cut, about = _shown(request), request.options.get("cut"), request.options.get("about")
    is_told: bool | None = None  # whether the seeds tell what belongs, once they were asked
    while True:
        ids, scores = weights.best(excluded, _depth(request, wanted), fields, among)
        if not len(ids):
            raise NothingToRank(nothing_left(fields.items, among))
        scores = scores + weights.constant
        belongs: list[bool | None] = [None] * len(ids)
        if cut:
            leaders = _leaders(fields, weights, excluded, request, among, scores)
            if is_told is None:
                is_told = bool(about) or (not cannot_tell and tells(fields, weights, leaders, excluded, defaults))
            if about:
                belongs = (scores >= leaders[:about][-1]).tolist()
            elif cut == "keep" or is_told:
                belongs = belonging(fields, weights, scores, leaders).tolist()
        ranked = list(zip(ids.tolist(), scores.tolist(), belongs, strict=True))
        if cut == "keep":
            ranked = [row for row in ranked if row[2]]
        ranked = ranked[:wanted]
        same = _hits_among(fields, [id for id, _, _ in ranked], request)
        if len(same) >= request.k or len(ranked) < wanted:
            hits = make_hits(fields, weights, [row for row in ranked if row[0] in same][: request.k], request, same)
            if is_told is False and (cannot_tell or weights.examples.count > 1):
                hits.untold = BY_DOCUMENTS if cannot_tell else SHARE_LITTLE
            return hits
        wanted *= DEEPER


def _leaders(
    fields: Fields,
    weights: SeedWeights,
    excluded: Sequence[int],
    request: ExpandRequest,
    among: Ints | None,
    scores: Floats,
) -> Floats:
    """The scores by which the line is drawn: neither a filter nor the seeds change what belongs."""
    if among is None and not request.options.get("keep_seeds"):
        return scores
    found = weights.best([*excluded, *weights.examples.seeds], _leading(request), fields)[1]
    return found + weights.constant if len(found) else scores


def _hits_among(fields: Fields, ids: Sequence[int], request: ExpandRequest) -> Mapping[int, Sequence[int]]:
    """Those of the best items that are hits, each with its near-duplicates."""
    same = fold(fields, ids) if request.options.get("fold") else dict[int, list[int]].fromkeys(ids, [])
    if request.at_most is None:
        return same
    return {id: same[id] for id in first_of_each(fields, list(same), request.at_most)}


def make_hits(
    fields: Fields,
    weights: SeedWeights,
    rows: Sequence[Row],
    request: ExpandRequest,
    same: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Hits:
    """Hits of items in the order of their rank, with near-duplicates."""
    ids = [id for id, _, _ in rows]
    explain, snippets = request.options.get("explain"), request.options.get("snippets")
    features = contributions(fields, weights, ids) if explain or snippets else {}
    passages = make_snippets(fields, features) if snippets else {}
    how = wording(fields, features.values(), weights.examples.ids) if explain else None
    columns = fields.columns_of(ids)
    names = fields.describe([*ids, *(other for id in ids for other in same.get(id, ()))])
    hits = [
        Hit(
            rank,
            names[id][0],
            score,
            names[id][1],
            features[id] if explain else (),
            belongs,
            passages.get(id),
            columns.get(id),
            tuple(names[other][0] for other in same.get(id, ())),
            how.reasons(features[id], rest_of(score, features[id])) if how else (),
        )
        for rank, (id, score, belongs) in enumerate(rows, 1)
    ]
    has_base = getattr(weights.model, "has_base", True) or bool(weights.priors)
    blank = None if has_base else weights.constant
    belonging = [hit.features for hit in hits if hit.belongs is not False]
    common = how.common(belonging) if how and len(belonging) > 1 else ()
    own = fields.relation.revision, fields.contexts_revision
    return Hits(hits, *own, blank, bool(weights.corrections), common, whole=fields.items.whole)
