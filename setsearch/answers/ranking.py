"""Which items are hits: the best ones of each list, where the set ends, what is folded, in which order.

If the examples fall into groups, the hits of each take turns. An item that two groups have is a hit of the one where it
ranks better, at the same rank of the one where its score is larger. A group that is not heard in the list of all takes
every fourth place there, from the eighth to the twentieth.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice, repeat, zip_longest
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.answers.answer import Hits
from setsearch.answers.contributions import explanation
from setsearch.answers.hits import Group, Row, make_hits, named_groups
from setsearch.answers.results import SHARE_LITTLE, Explanation
from setsearch.answers.word_notes import by_documents_note
from setsearch.arrays import Floats, Ints
from setsearch.errors import NothingToRank
from setsearch.memory.fields import Fields
from setsearch.models import Lift
from setsearch.search.cutoff import belonging, n_leading, tells
from setsearch.search.examples import Examples
from setsearch.search.groups import LEADERS, Divided
from setsearch.search.near_duplicates import FOLDED, Folding, are_alone, first_of_each, fold
from setsearch.search.passes import Wanted, Weighing
from setsearch.search.plan import Plan
from setsearch.search.request import nothing_left
from setsearch.search.weights import SeedWeights

DEEPER = 4  # times as many items are looked at if too many were dropped
PLACES = range(8, 21, 4)  # of hits of a group beside all examples


class Judge(NamedTuple):
    """What tells where a set ends, beside its scores and the plan.

    `cannot_tell`: nothing does, but hits are marked where no others are kept. `decided`: which items belong, and
    whether that is told, where other sets have their say.
    """

    cannot_tell: bool
    decided: tuple[npt.NDArray[np.bool_], bool] | None = None


HitsAmong = Callable[[Sequence[int]], Mapping[int, Sequence[int]]]  # of the best items, with their near-duplicates


def wanted_of(weighing: Weighing, examples: Examples, plan: Plan) -> Wanted:
    """What a plan wants of its question: the best items, unless more is to be added, or other items are left out."""
    is_added_to = weighing.fields.nearest is not None or weighing.uses_vectors
    knows_line = not (plan.cut and (examples.texts or examples.rare))  # else the core does not tell all of it
    if plan.leaves_out or (is_added_to and (plan.weighs or not knows_line)):
        return Wanted(0, plan.weighs, plan.few)
    is_sharp = examples.count == 1 or isinstance(weighing.model, Lift)  # of others few hits do not tell the line
    waits = plan.waits and not is_added_to and is_sharp
    shown = plan.k if _looks_at_first(weighing.fields, plan) else plan.shown
    return Wanted(_depth(weighing.fields, examples, plan, shown, waits), plan.weighs, plan.few)


def _looks_at_first(fields: Fields, plan: Plan) -> bool:
    """Whether the k best items are asked for first: if none of them has near-duplicates, they are the hits."""
    may_be_hits = plan.folds and plan.request.at_most is None and plan.cut != "keep"
    return may_be_hits and Folding.of(fields).is_seldom


def _depth(fields: Fields, examples: Examples, plan: Plan, shown: int, waits: bool) -> int:
    """How many of the best items are looked for; the line needs more of them, that of one example some if it waits."""
    if waits and examples.count == 1:  # the scores of a few hits would not draw it sharply enough
        return max(shown, 2 * plan.k + FOLDED)
    return max(shown, LEADERS, _leading(fields, plan) if plan.cut and not waits else 0)


def _leading(fields: Fields, plan: Plan) -> int:
    """How many of the best items draw the line."""
    return plan.about or n_leading(fields)


class _Asked(NamedTuple):
    """What the lists of all groups are asked for; `in_turn` of them take turns."""

    fields: Fields
    plan: Plan
    excluded: Sequence[int]
    among: Ints | None
    judge: Judge
    in_turn: int
    waits: bool  # whether the line is drawn once the hits are known


class _List:
    """The items of one group, the best first, and its line. `is_told`: whether seeds tell what belongs, if asked."""

    def __init__(self, asked: _Asked, weights: SeedWeights, place: int) -> None:
        self._asked, self._weights, self._place = asked, weights, place
        self.is_told: bool | None = None
        self._leaders = np.zeros(0)  # the scores by which the line is drawn

    def rows(self, wanted: int) -> list[Row]:
        """The best ones that may be hits, at most so many. Raises NothingToRank."""
        asked, plan = self._asked, self._asked.plan
        cut = plan.cut if self._place < asked.in_turn else None
        depth = _depth(asked.fields, self._weights.examples, plan, wanted, asked.waits)
        ids, scores = self._weights.best(asked.excluded, depth, asked.fields, asked.among)
        if not len(ids):
            raise NothingToRank(nothing_left(asked.fields.items, asked.among))
        scores = scores + self._weights.constant
        marks: list[bool | None] = []  # an annotation is not evaluated, unlike a call of list[...]
        if cut:
            self._leaders = self._find_leaders(scores)
            self.is_told = self._tells() if self.is_told is None else self.is_told
            if cut == "mark":  # the line needs more items than are shown
                ids, scores = ids[:wanted], scores[:wanted]
            marks = [] if asked.waits else self._marks(ids, scores)
        if plan.cut == "keep":  # of all items, few belong
            kept = [place for place, mark in enumerate(marks) if mark]
            ids, scores, marks = ids[kept], scores[kept], [True] * len(kept)
        columns = ids.tolist(), scores.tolist(), marks or repeat(None), repeat(self._place)
        return [*map(Row._make, islice(zip(*columns, strict=False), wanted))]

    def marked(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with what says whether they belong; those of other lists stay as they are."""
        fields = self._asked.fields
        scores = np.array([row.score for row in rows])
        marks = belonging(fields, self._weights, scores, self._leaders, lambda: self._best(n_leading(fields)))
        pairs = zip(rows, marks.tolist(), strict=True)
        return [Row(id, score, mark if place == self._place else own, place) for (id, score, own, place), mark in pairs]

    def _best(self, k: int, without: Sequence[int] = ()) -> Floats:
        """The scores of the k best items, whatever the filter."""
        return self._weights.best_scores([*self._asked.excluded, *without], k) + self._weights.constant

    def _find_leaders(self, scores: Floats) -> Floats:
        """The scores by which the line is drawn: neither a filter nor the seeds change what belongs."""
        asked = self._asked
        if asked.among is None and not asked.plan.keeps_seeds:
            return scores
        found = self._best(_leading(asked.fields, asked.plan), self._weights.examples.seeds)
        return found if len(found) else scores

    def _tells(self) -> bool:
        """Whether the seeds tell what belongs, or a person did."""
        asked, judge = self._asked, self._asked.judge
        if asked.plan.about:
            return True
        if judge.decided is not None:
            return judge.decided[1]
        defaults = asked.plan.chosen.defaults
        return not judge.cannot_tell and tells(asked.fields, self._weights, self._leaders, asked.excluded, defaults)

    def _marks(self, ids: Ints, scores: Floats) -> list[bool | None]:
        """Whether items belong, by their scores; None if that cannot be told, and hits need not belong."""
        plan = self._asked.plan
        if plan.about:
            return [*(scores >= self._leaders[: -(-plan.about // self._asked.in_turn)][-1]).tolist()]
        if plan.cut != "keep" and not self.is_told:
            return []
        if (decided := self._asked.judge.decided) is not None:
            return [*decided[0][ids].tolist()]
        return [*belonging(self._asked.fields, self._weights, scores, self._leaders).tolist()]


def best_hits(fields: Fields, found: Divided, excluded: Sequence[int], plan: Plan, judge: Judge) -> Hits:
    """The k best hits.

    If some of the best items are no hits, more are looked at until there are k, or no more items. Raises NothingToRank.
    """
    groups, in_turn = named_groups(fields, found), len(found.in_turn)
    known = groups[0].weights.found.known  # more is soon found
    waits = plan.waits and in_turn == 1 and known is not None and known.least > -np.inf and judge.decided is None
    among = fields.allowed(plan.request.among, plan.request.filter)
    wanted = plan.k if in_turn == 1 and known is not None and known.k < plan.shown else plan.shown
    asked = _Asked(fields, plan, excluded, among, judge, in_turn, waits)
    lists = [_List(asked, group.weights, place) for place, group in enumerate(groups)]
    while True:
        every = [own.rows(wanted) for own in lists]
        hits_among: HitsAmong = partial(_hits_among, fields, plan)
        if wanted < plan.shown:
            if not _are_first(fields, every, excluded):
                wanted = plan.shown
                continue
            hits_among = _unfolded
        ranked, same = _merged(every, hits_among, in_turn, wanted)
        if len(same) >= plan.k or all(len(own) < wanted for own in every):
            break
        wanted = max(DEEPER * wanted, plan.shown)
    if plan.folds:
        Folding.of(fields).asked += 1
    rows = [*islice((row for row in ranked if row.id in same), plan.k)]
    if waits and lists[0].is_told:
        rows = lists[0].marked(rows)
    hits = make_hits(fields, groups, rows, plan.request, same)
    if plan.cut and not any(own.is_told for own in lists[:in_turn]):
        several = any(own.weights.examples.count > 1 for own in groups)
        hits.untold = by_documents_note(fields) if judge.cannot_tell else SHARE_LITTLE if several else None
    return hits


def _are_first(fields: Fields, lists: Sequence[Sequence[Row]], excluded: Sequence[int]) -> bool:
    """Whether none of the first rows has near-duplicates, so that nothing is folded."""
    are_first = are_alone(fields, [*{row.id: row for own in lists for row in own}], excluded)
    Folding.of(fields).in_vain += not are_first
    return are_first


def _merged(
    lists: Sequence[Sequence[Row]], hits_among: HitsAmong, in_turn: int, wanted: int
) -> tuple[Sequence[Row], Mapping[int, Sequence[int]]]:
    """The rows of all lists, each item once; and those that are hits, with what was folded in all or in its list.

    Rows come in turn, those that belong first. What a list loses by folding, it fills up from its own. The second list
    is beside the first if that is alone.
    """
    if len(lists) == 1:
        return lists[0], hits_among([row.id for row in lists[0]])
    folded = [hits_among([row.id for row in own]) for own in lists]
    kept = [[row for row in own if row.id in same] for own, same in zip(lists, folded, strict=True)]
    rows = sorted(_in_turn(kept), key=lambda row: row.belongs is False) if in_turn > 1 else _beside(*kept)
    same = hits_among([row.id for row in rows[:wanted]])
    own = {row.id: folded[row.place].get(row.id, ()) for row in rows}
    return rows, {id: [*dict.fromkeys([*others, *own[id]])] for id, others in same.items()}


def _in_turn(lists: Iterable[Iterable[Row]]) -> list[Row]:
    """The first of each list, the second of each and so on; at the same place the one whose score is larger."""
    merged: dict[int, Row] = {}
    for ranked in zip_longest(*lists):
        rows = [row for row in ranked if row is not None]
        best = {row.id: row for row in sorted(rows, key=lambda row: row.score)}
        for row in rows:
            merged.setdefault(row.id, best[row.id])
    return [*merged.values()]


def _beside(rows: Iterable[Row], more: Iterable[Row]) -> list[Row]:
    """Rows, with the best others of a second list at some places, each item once: these need not belong."""
    merged, others = dict[int, Row](), iter(more)
    for row in rows:
        if len(merged) + 1 in PLACES:
            other = next((own for own in others if own.id not in merged), row)
            merged[other.id] = other
        merged.setdefault(row.id, row)
    return [*merged.values()]


def _unfolded(ids: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """All of the best items as hits."""
    return dict.fromkeys(ids, ())


def _hits_among(fields: Fields, plan: Plan, ids: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """Those of the best items that are hits, each with its near-duplicates."""
    same = fold(fields, ids) if plan.folds else dict.fromkeys(ids, ())
    at_most = plan.request.at_most
    return same if at_most is None else {id: same[id] for id in first_of_each(fields, list(same), at_most)}


def explain_item(fields: Fields, found: Divided, excluded: Sequence[int], id: int) -> Explanation:
    """The parts of the score of one item, by the group of examples in whose list, without `excluded`, it comes first.

    At the same place of several lists, by the one where its score is the largest.
    """
    groups, place = named_groups(fields, found), 0
    if found.unheard is not None:
        lists = [zip(*own.best(excluded, PLACES.stop, fields), strict=True) for own, _ in groups]
        rows = [[Row(int(id), float(score), None, place) for id, score in own] for place, own in enumerate(lists)]
        place = {row.id: row.place for row in _beside(*rows)}.get(id, 0)
    elif len(groups) > 1:
        place = _first_list(fields, groups, excluded, id)
    return explanation(fields, groups[place].weights, id)._replace(group=groups[place].names)


def _first_list(fields: Fields, groups: Sequence[Group], excluded: Sequence[int], id: int) -> int:
    """In which of several lists an item comes first."""
    places = []
    for place, (weights, _) in enumerate(groups):
        scores = weights.scores()
        is_before = scores >= scores[id]
        is_before[[*excluded, id]] = False
        others = np.flatnonzero(is_before)
        own, *ranks = fields.ranks(np.array([id, *others[scores[others] == scores[id]]])).tolist()
        before = np.count_nonzero(scores[others] > scores[id]) + sum(rank < own for rank in ranks)
        places.append((int(before), -float(scores[id] + weights.constant), -place))
    return -min(places)[-1]
