"""From weights to hits: the best items, where the set ends, what is folded, names, explanations, snippets, columns.

If the examples fall into groups, the hits of each take turns. An item that two groups have is a hit of the one where it
ranks better, at the same rank of the one where its score is larger. A group that is not heard in the list of all takes
every fourth place there, from the eighth to the twentieth.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.contributions import contributions, explanation
from setsearch.answers.passages import make_snippets
from setsearch.answers.reasons import wording
from setsearch.answers.results import SHARE_LITTLE, Explanation, Hit, Reason, rest_of, shortened
from setsearch.answers.word_notes import by_documents_note
from setsearch.arrays import Floats, Ints
from setsearch.errors import NothingToRank
from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.search.cutoff import belonging, few, n_leading, tells
from setsearch.search.examples import Examples
from setsearch.search.folding import FOLDED, first_of_each, fold
from setsearch.search.groups import LEADERS
from setsearch.search.passes import Wanted, uses_vectors
from setsearch.search.request import NO_LIMIT, ExpandRequest, nothing_left
from setsearch.search.weights import SeedWeights

DEEPER = 4  # times as many items are looked at if too many were dropped
PLACES = range(8, 21, 4)  # of hits of a group beside all examples
NAMED = 40  # characters of a text that is an example


Row = tuple[int, float, bool | None, int]  # an item that may be a hit, its score, whether it belongs, its group's place


def wanted_of(fields: Fields, request: ExpandRequest, defaults: Defaults) -> Wanted:
    """What a request wants of its question: the best items, unless more is to be added, or other items are left out."""
    given, has_more = request.options, uses_vectors(fields, defaults, request.model)
    has_more = has_more or defaults.wants_likes(request.model) or bool(request.exclude)
    chooses = request.among is not None or request.filter or given.get("keep_seeds")
    weighs = bool(given.get("explain") or given.get("snippets") or request.exclude)
    has_more = has_more or (fields.nearest is not None and bool(weighs or given.get("cut")))
    asks = given.get("cut") and not given.get("about")
    depth = 0 if has_more or chooses else max(_depth(fields, request, _shown(request), _waits(request)), LEADERS)
    return Wanted(depth, weighs, few(defaults) if asks else (0.0, 0.0))


def _shown(request: ExpandRequest) -> int:
    """How many of the best items may be hits, if some are dropped."""
    return min(2 * request.k + FOLDED, NO_LIMIT) if request.drops else request.k


def _waits(request: ExpandRequest) -> bool:
    """Whether the line may wait for the hits: it is drawn only as sharply as they need it."""
    return request.options.get("cut") == "mark" and not request.options.get("about")


def _depth(fields: Fields, request: ExpandRequest, shown: int, waits: bool) -> int:
    """How many of the best items are looked for; the line needs more of them."""
    return max(shown, _leading(fields, request)) if request.options.get("cut") and not waits else max(shown, LEADERS)


def _leading(fields: Fields, request: ExpandRequest) -> int:
    """How many of the best items draw the line."""
    return request.options.get("about") or n_leading(fields)


def best_hits(
    fields: Fields,
    groups: Sequence[SeedWeights],
    excluded: Sequence[int],
    request: ExpandRequest,
    defaults: Defaults,
    cannot_tell: bool,
) -> Hits:
    """The k best hits; if the fields `cannot_tell` what belongs, hits are marked only where no others are kept.

    If some of the best items are no hits, more are looked at until there are k, or no more items. Raises NothingToRank.
    """
    groups, named, in_turn = _lists(fields, groups)
    waits = _waits(request) and in_turn == 1 and groups[0].known is not None  # more is soon found
    among, wanted = fields.allowed(request.among, request.filter), _shown(request)
    told: dict[int, bool] = {}  # whether the seeds of each group tell what belongs, once they were asked
    while True:
        lists = []
        for place, weights in enumerate(groups):
            ids, scores = weights.best(excluded, _depth(fields, request, wanted, waits), fields, among)
            if not len(ids):
                raise NothingToRank(nothing_left(fields.items, among))
            scores, leaves = scores + weights.constant, request.options.get("cut") == "keep"
            belongs: list[bool | None] = []
            if request.options.get("cut") and place < in_turn:
                leaders = _leaders(fields, weights, excluded, request, among, scores)
                if place not in told:
                    asked = fields, weights, leaders, excluded, defaults
                    is_told = weights.decided[1] if weights.decided else not cannot_tell and tells(*asked)
                    told[place] = bool(request.options.get("about")) or is_told
                if not leaves:  # the line needs more items than are shown
                    ids, scores = ids[:wanted], scores[:wanted]
                if not waits:
                    belongs = _marks(fields, weights, ids, scores, leaders, request, told[place], in_turn)
            found = zip(ids.tolist(), scores.tolist(), belongs or [None] * len(ids), [place] * len(ids), strict=True)
            lists.append([row for row in found if row[2] or not leaves][:wanted])
        is_all = all(len(own) < wanted for own in lists)
        ranked, of_groups = _merged(fields, lists, request, in_turn)
        same = _hits_among(fields, [id for id, *_ in ranked[:wanted]], request)
        if of_groups:
            same = {id: list(dict.fromkeys([*own, *of_groups.get(id, ())])) for id, own in same.items()}
        if len(same) >= request.k or is_all:
            rows = [row for row in ranked if row[0] in same][: request.k]
            if waits and told[0]:
                rows = _marked(fields, groups[0], rows, leaders, excluded)
            hits = make_hits(fields, groups, rows, request, same, named)
            several = any(weights.examples.count > 1 for weights in groups)
            if (cannot_tell or several) and told and not any(told.values()):
                hits.untold = by_documents_note(fields) if cannot_tell else SHARE_LITTLE
            return hits
        wanted *= DEEPER


def _marks(
    fields: Fields,
    weights: SeedWeights,
    ids: Ints,
    scores: Floats,
    leaders: Floats,
    request: ExpandRequest,
    is_told: bool,
    n_groups: int,
) -> list[bool | None]:
    """Whether items belong, by their scores; None if that cannot be told, and hits need not belong."""
    about = request.options.get("about")
    if about:
        return [*(scores >= leaders[: -(-about // n_groups)][-1]).tolist()]
    if request.options.get("cut") == "keep" or is_told:
        if weights.decided is not None:
            return [*weights.decided[0][ids].tolist()]
        return [*belonging(fields, weights, scores, leaders).tolist()]
    return [None] * len(scores)


def _marked(
    fields: Fields, weights: SeedWeights, rows: Sequence[Row], leaders: Floats, excluded: Sequence[int]
) -> list[Row]:
    """The rows of hits, by some of the best scores, with what says whether they belong: those of the first list."""

    def more() -> Floats:
        """The scores by which the line is drawn."""
        return weights.best_scores(excluded, n_leading(fields)) + weights.constant

    belongs = belonging(fields, weights, np.array([score for _, score, *_ in rows]), leaders, more)
    marks = zip(rows, belongs.tolist(), strict=True)
    return [(id, score, old if group else mark, group) for (id, score, old, group), mark in marks]


def _merged(
    fields: Fields, lists: Sequence[Sequence[Row]], request: ExpandRequest, in_turn: int
) -> tuple[list[Row], Mapping[int, Sequence[int]]]:
    """The rows of each group in turn, each item once, those that belong first; and what was folded in a group.

    What a group loses by folding, it fills up from its own. The second list is beside the first if that is alone.
    """
    if len(lists) == 1:
        return [*lists[0]], {}
    same = [_hits_among(fields, [id for id, *_ in own], request) for own in lists]
    kept = [[row for row in own if row[0] in folded] for own, folded in zip(lists, same, strict=True)]
    merged: dict[int, Row] = {}
    for own in zip_longest(*kept) if in_turn > 1 else ():
        rows = [row for row in own if row is not None]
        best = {row[0]: row for row in sorted(rows, key=lambda row: row[1])}
        for id, *_ in rows:
            merged.setdefault(id, best[id])
    rows = sorted(merged.values(), key=lambda row: row[2] is False) if in_turn > 1 else _beside(*kept)
    return rows, {id: same[group].get(id, ()) for id, _, _, group in rows}


def _beside(rows: Iterable[Row], more: Iterable[Row]) -> list[Row]:
    """Rows, with the best others of a second list at some places, each item once: these need not belong."""
    merged, others = dict[int, Row](), iter(more)
    for row in rows:
        if len(merged) + 1 in PLACES:
            other = next((own for own in others if own[0] not in merged), row)
            merged[other[0]] = other
        merged.setdefault(row[0], row)
    return [*merged.values()]


def _leaders(
    fields: Fields,
    weights: SeedWeights,
    excluded: Sequence[int],
    request: ExpandRequest,
    among: Ints | None,
    scores: Floats,
) -> Floats:
    """The scores by which the line is drawn: neither a filter nor the seeds change what belongs."""
    if not request.options.get("cut"):
        return scores
    if among is None and not request.options.get("keep_seeds"):
        return scores
    found = weights.best_scores([*excluded, *weights.examples.seeds], _leading(fields, request))
    return found + weights.constant if len(found) else scores


def _hits_among(fields: Fields, ids: Sequence[int], request: ExpandRequest) -> Mapping[int, Sequence[int]]:
    """Those of the best items that are hits, each with its near-duplicates."""
    same = fold(fields, ids) if request.options.get("fold") else dict.fromkeys(ids, ())
    if request.at_most is None:
        return same
    return {id: same[id] for id in first_of_each(fields, list(same), request.at_most)}


def make_hits(
    fields: Fields,
    groups: Sequence[SeedWeights],
    rows: Sequence[Row],
    request: ExpandRequest,
    same: Mapping[int, Sequence[int]] = MappingProxyType({}),
    named: Sequence[tuple[str, ...]] = ((),),
) -> Hits:
    """Hits of items in the order of their rank, with near-duplicates; `named` as _lists has it."""
    ids = [id for id, *_ in rows]
    explain, snippets = request.options.get("explain"), request.options.get("snippets")
    features, reasons, common = {}, {}, list[Reason]()
    for place, weights in enumerate(groups if explain or snippets else ()):
        own = [row for row in rows if row[3] == place]
        parts = contributions(fields, weights, [id for id, *_ in own])
        features.update(parts)
        if explain:
            how = wording(fields, parts.values(), weights.examples.ids)
            reasons.update({id: how.reasons(parts[id], rest_of(score, parts[id])) for id, score, *_ in own})
            belonging = [parts[id] for id, _, belongs, _ in own if belongs is not False]
            common += how.common(belonging) if len(belonging) > 1 else ()
    passages = make_snippets(fields, features) if snippets else {}
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
            tuple([names[other][0] for other in same[id]]) if same.get(id) else (),
            reasons.get(id, ()),
            named[group],
        )
        for rank, (id, score, belongs, group) in enumerate(rows, 1)
    ]
    has_base = any(getattr(weights.model, "has_base", True) or weights.priors for weights in groups)
    blank, learned = None if has_base else groups[0].constant, bool(groups[0].corrections)
    revisions = fields.relation.revision, fields.contexts_revision
    found = Hits(hits, *revisions, blank, learned, tuple(common), whole=fields.items.whole)
    if named[0]:
        found.groups = tuple(named)
    else:
        found.beside = next((hit.group for hit in hits if hit.group), ())
    return found


def explain_item(fields: Fields, groups: Sequence[SeedWeights], excluded: Sequence[int], id: int) -> Explanation:
    """The parts of the score of one item, by the group of examples in whose list, without `excluded`, it comes first.

    At the same place of several lists, by the one where its score is the largest.
    """
    groups, named, in_turn = _lists(fields, groups)
    if in_turn < len(groups):
        lists = [zip(*own.best(excluded, PLACES.stop, fields), strict=True) for own in groups]
        rows = [[(int(id), float(score), None, place) for id, score in own] for place, own in enumerate(lists)]
        place = {own: place for own, _, _, place in _beside(*rows)}.get(id, 0)
        return explanation(fields, groups[place], id)._replace(group=named[place])
    if len(groups) == 1:
        return explanation(fields, groups[0], id)
    places = []
    for place, weights in enumerate(groups):
        scores = weights.scores()
        others = np.setdiff1d(np.flatnonzero(scores >= scores[id]), [*excluded, id])
        own, *ranks = fields.ranks(np.array([id, *others[scores[others] == scores[id]]])).tolist()
        before = np.count_nonzero(scores[others] > scores[id]) + sum(rank < own for rank in ranks)
        places.append((int(before), -float(scores[id] + weights.constant), -place))
    place = -min(places)[-1]
    return explanation(fields, groups[place], id)._replace(group=named[place])


def _lists(
    fields: Fields, groups: Sequence[SeedWeights]
) -> tuple[Sequence[SeedWeights], Sequence[tuple[str, ...]], int]:
    """Groups in the order of the names of their examples; these, () for all examples; and how many come in turn.

    One that is not heard in the list of all examples is beside that, which is the only one then.
    """
    is_beside, are_several = groups[-1].beside, len(groups) > 1
    named = [(_names(fields, own.examples) if are_several and own.beside == is_beside else (), own) for own in groups]
    named.sort(key=lambda pair: pair[0])
    return [own for _, own in named], [names for names, _ in named], 1 if is_beside else len(groups)


def _names(fields: Fields, examples: Examples) -> tuple[str, ...]:
    """What examples are called: items in order, then texts."""
    names = [name for name, _ in fields.describe(examples.ids).values()]
    if fields.stored is not None:  # words without contexts
        names += [name for name, _ in fields.stored.describe([*examples.rare]).values()]
    names.sort()
    names += [shortened(text, NAMED) for text in examples.like]
    return (*names, *["features"] * examples.has_features)
