"""A saved set in a group, or within another: it expands, explains and scores as a reading does, beside its rivals."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.contributions import explanation
from setsearch.answers.ranking import Judge, best_hits
from setsearch.answers.reading import Reading
from setsearch.answers.results import Asked, Explanation, Hit
from setsearch.answers.saved.standing import Given, Options, Several
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.saved.together import Row, Together
from setsearch.arrays import Floats, only
from setsearch.core.question import now
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.options import Id, refuse
from setsearch.search.groups import Divided
from setsearch.search.plan import Plan
from setsearch.search.request import Seeds
from setsearch.search.weights import RIVAL, SeedWeights

Found = TypeVar("Found", Hit, Explanation)
T = TypeVar("T")


class Beside(NamedTuple):
    """The question of a set beside its rivals: `left_out` has what its options leave out, and what others have.

    `taking`: what the best of them takes from its scores.
    """

    fields: Fields
    weights: SeedWeights
    left_out: list[int]
    cannot_tell: bool
    row: Row
    taking: Floats

    def named(self, found: Found, id: int) -> Found:
        """A hit or an explanation whose rival is told by its name, or that has none."""
        label, row = "", self.row
        if self.taking[id]:
            label = f"fits {row.names[row.who[id]]} {'better' if row.best[id] >= row.heights[id] else 'too'}"
        features = (part._replace(feature=label) if part.feature == RIVAL else part for part in found.features)
        reasons = (
            own._replace(label=label, features=(label,)) if own.features == (RIVAL,) else own for own in found.reasons
        )
        return found._replace(
            features=tuple(part for part in features if part.feature),
            reasons=tuple(own for own in reasons if own.label),
        )


class SetBeside(NamedTuple):
    """A set in a group, or within another, as a reading is asked about it: its name, and accepted and rejected items.

    `kept` has what sets said together, for those that are asked next on the same content.
    """

    reading: Reading
    name: str
    seeds: Seeds
    rejected: Sequence[str]
    kept: list[Any]

    def expand(self, k: int | None, options: Options) -> Hits:
        """As `Reading.expand`."""

        def answer(own: Beside, plan: Plan) -> Hits:
            decided = own.row.belong, own.row.standing.weighed.is_told
            judge = Judge(own.cannot_tell, decided)
            hits = best_hits(own.fields, Divided([own.weights]), own.left_out, plan, judge)
            hits.asked = Asked(self.reading, self.seeds, {**plan.request.model, "exclude": self.rejected})
            if not plan.explains:
                return hits
            ids = own.fields.find_all([hit.item for hit in hits])
            return hits.with_hits(own.named(hit, ids[hit.item]) for hit in hits)

        return self._ask(k, options, answer)

    def explain(self, item: Id, options: Options) -> Explanation:
        """As `Reading.explain`."""

        def answer(own: Beside, plan: Plan) -> Explanation:
            id = own.fields.resolve(item)
            return own.named(explanation(own.fields, own.weights, id), id)

        return self._ask(1, {**options, "explain": True}, answer)

    def scored(self, options: Options, answer: Callable[[Fields, Floats], T]) -> T:
        """What `answer` makes of the fields and the scores of all items, as `Reading.scores` has them."""
        refuse("scores", options)

        def scored(own: Beside, plan: Plan) -> T:
            scores = own.weights.scores() + own.weights.constant
            scores[own.left_out] = -np.inf
            among = own.fields.allowed(plan.request.among, plan.request.filter)
            return answer(own.fields, scores if among is None else only(scores, among))

        return self._ask(1, options, scored)

    def _ask(self, k: int | None, options: Options, answer: Callable[[Beside, Plan], T]) -> T:
        """What `answer` makes of the question. Raises as `Reading.expand`."""
        reading, name, seeds, rejected, kept = self
        plan = reading.plan(k, cast(Any, {**options, "exclude": rejected}))
        given = seeds if isinstance(seeds, dict) else tuple(seeds), tuple(rejected)

        def ask(fields_by: FieldsBy) -> T:
            """The same in one transaction."""
            known = reading.candidates(fields_by)
            sets = StoredSets(known[-1].cursor)
            groups, stored = sets.groups(), dict[str, Given](sets.marks_of(reading.name))
            stored[name] = given
            asked = {other: stored[other] for other in groups.asked_with([name]) if other in stored}
            more = {key: options[key] for key in ("like", "having", "gamma") if key in options}
            relation, sources = known[-1].relation, [own.first.source for own in known]
            vectors = relation.items.vectors, relation.features.vectors
            key = (asked, groups, plan.request.model, more, sources, vectors)
            several = Several(reading, fields_by, asked, groups, plan.request.model, {name: more})
            if not kept or kept[0] != key:
                kept[:] = key, Together(several)
            if name in kept[1].problems:
                raise kept[1].problems[name]
            row: Row = kept[1].asked_by(several).row(name)
            fields, weights, left_out, cannot_tell = now(reading.weigh(fields_by, seeds, plan, row.standing.taken))
            taking = row.taking()
            weights = weights.less(RIVAL, taking) if taking.any() else weights
            left_out += np.flatnonzero(row.taken & ~row.members).tolist()
            return answer(Beside(fields, weights, left_out, cannot_tell, row, taking), plan)

        return reading.answer(plan, ask)
