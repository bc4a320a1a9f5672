"""From examples to weights: what the examples have, what the model makes of it, which lists then score every item.

Why an item has its score: what each feature that it shares with the examples adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import LATTICE, Floats, Ints, offsets, run_lengths, run_starts, to_lattice
from setsearch.models import Model, Query, Seeds
from setsearch.models.values import PRESENCE
from setsearch.scoring.base import Base
from setsearch.scoring.best import accumulate
from setsearch.scoring.kernels import ones
from setsearch.scoring.postings import Part, Postings
from setsearch.search.fields import Field, Fields
from setsearch.search.results import Contribution

INTEGER, DOUBLE = np.dtype(np.int64), np.dtype(np.float64)


@dataclass(slots=True)
class Examples:
    """A set by its examples: `ids` of items, and `texts`, the counted features of things that the index lacks."""

    ids: Sequence[int]
    texts: Sequence[Mapping[str, int]] = ()

    @property
    def count(self) -> int:
        """N."""
        return len(self.ids) + len(self.texts)


class FieldWeights(NamedTuple):
    """One field, weighed: what the seeds have there, the model's answer, and the lists that score."""

    field: Field
    seeds: Seeds
    query: Query
    part: Part
    share: float = 1.0  # of the answer: the field's weight, negative for negative examples

    @property
    def df(self) -> Ints:
        """Document frequencies of the active features."""
        return self.part.postings.lengths

    def added(self, places: Ints, values: Floats, binary: bool) -> Floats:
        """What entries add, given the places of their features among the active ones, and their values."""
        if self.query.table is not None:
            return to_lattice(self.query.table(places, values), coefficient=self.share)
        return to_lattice(self.query.weights, binary, self.share)[places] * values


class Weighed(NamedTuple):
    """A set of examples, weighed: everything that scores an item."""

    model: Model
    examples: Examples
    fields: tuple[FieldWeights, ...]
    base: Base
    constant: float
    against: tuple[FieldWeights, ...] = ()  # what negative examples take away

    @property
    def scoring(self) -> tuple[FieldWeights, ...]:
        """Everything that depends on the examples."""
        return self.fields + self.against

    def scores(self) -> Floats:
        """The scores of all items, `(n_ids,)`, the constant not added; a copy of one's own."""
        scores = self.base.items.copy()
        accumulate(scores, *(own.part for own in self.scoring))
        return scores

    def less(self, other: "Weighed", gamma: float) -> "Weighed":
        """v+ - gamma v-: these weights, less a share of those of negative examples."""
        binary = self.model.rule.binary
        against = [
            own._replace(share=-gamma * own.share, part=_part(own.part.postings, own.query, -gamma * own.share, binary))
            for own in other.fields
        ]
        return self._replace(against=tuple(against))


def weigh(fields: Fields, examples: Examples, model: Model) -> Weighed:
    """The weights of everything that the examples have, on the lattice; base and constant."""
    base = fields.base(model, examples.count)
    weighed, constant = [], round(base.constant * LATTICE) / LATTICE
    for field in fields.all:
        seeds = _seeds(fields, field, examples, model)
        postings = field.snapshot.active_postings(fields.cursor, seeds.features, model.rule)
        query = model.query(seeds, postings.lengths, fields.items.size)
        part = _part(postings, query, field.weight, model.rule.binary)
        weighed.append(FieldWeights(field, seeds, query, part, field.weight))
        constant += float(np.add.reduce(to_lattice(query.constants, coefficient=field.weight)))
        of_lengths = getattr(model, "of_lengths", None)
        if of_lengths is not None:
            lengths = field.snapshot.totals(fields.cursor)
            base = Base(base.items + to_lattice(of_lengths(lengths, seeds), coefficient=field.weight), base.constant)
    return Weighed(model, examples, tuple(weighed), base, constant)


def _part(postings: Postings, query: Query, share: float, binary: bool) -> Part:
    """Lists and weights; where the model has a table, what each entry adds as its value, and weights of 1."""
    if query.table is None:
        return Part(postings, to_lattice(query.weights, binary, share))
    places = np.repeat(np.arange(len(query.weights)), postings.lengths)
    added = to_lattice(query.table(places, postings.values_together()), coefficient=share)
    starts = offsets(postings.lengths)
    lists = Postings(postings.together(), starts[:-1], starts[1:], added, largest=float(np.abs(added).max(initial=1.0)))
    return Part(lists, np.ones(len(query.weights)))


def _seeds(fields: Fields, field: Field, examples: Examples, model: Model) -> Seeds:
    """What the examples have in one field."""
    if model.rule == PRESENCE and not examples.texts:
        stored = _stored(fields, field, examples, model)
        count = len(examples.ids)
        if count == 1:  # as it is stored: ascending, each once
            own = stored.ids[stored.starts[0] : stored.ends[0]]
            # Copies, for a model may work in them; np.ones takes longer.
            return Seeds(own.astype(np.int64), ones(len(own), INTEGER).copy(), ones(len(own), DOUBLE).copy(), 1)
        ids = stored.together()
        ids.sort()
        begin = run_starts(ids)
        having = run_lengths(begin, len(ids))
        return Seeds(ids.take(begin).astype(np.int64), having, having.astype(float), count)
    _, features, values = _entries(fields, field, examples, model)
    order = np.argsort(features, kind="stable")
    in_order = features[order]
    begin = run_starts(in_order)
    having = run_lengths(begin, len(in_order))
    sums = np.add.reduceat(values[order], begin) if len(begin) else np.zeros(0)
    seeds = Seeds(in_order[begin], having, sums, examples.count)
    if not model.rule.counted:
        return seeds
    cf = field.snapshot.frequencies(fields.cursor)[1]
    return replace(seeds, cf=cf[seeds.features], cf_of_all=int(cf.sum()))


def _stored(fields: Fields, field: Field, examples: Examples, model: Model) -> Postings:
    ids = np.array(sorted(examples.ids), np.int64)
    return field.snapshot.features_of(fields.cursor, ids, model.rule)


def _entries(fields: Fields, field: Field, examples: Examples, model: Model) -> tuple[Ints, Ints, Floats]:
    """(number of the example, feature, value) of every entry of the examples."""
    stored = _stored(fields, field, examples, model)
    which = np.repeat(np.arange(len(examples.ids)), stored.lengths)
    features, values = stored.together().astype(np.int64), stored.values_together()
    if examples.texts:
        new = [field.snapshot.entries_of(fields.cursor, text, model.rule) for text in examples.texts]
        numbers = len(examples.ids) + np.arange(len(new))
        which = np.concatenate([which, np.repeat(numbers, [len(own) for own, _ in new])])
        features = np.concatenate([features, *(own for own, _ in new)])
        values = np.concatenate([values, *(own for _, own in new)])
    return which, features, values


def reasons_of(fields: Fields, weighed: Weighed, items: list[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features of each item add, the heaviest first."""
    order, rule = np.array(sorted(items), np.int64), weighed.model.rule
    found: dict[int, dict[tuple[str, str | None], float]] = {item: {} for item in items}
    for own in weighed.scoring:
        snapshot, active = own.field.snapshot, own.seeds.features
        stored = snapshot.features_of(fields.cursor, order, rule)
        features, values = stored.together().astype(np.int64), stored.values_together()
        places = np.searchsorted(active, features)
        shared = np.append(active, -1)[places] == features
        owners = np.repeat(order, stored.lengths)[shared]
        places, values = places[shared], values[shared]
        names = snapshot.features.describe(fields.cursor, active[np.unique(places)].tolist())
        added = own.added(places, values, rule.binary)
        for item, place, weight in zip(owners.tolist(), places.tolist(), added.tolist(), strict=True):
            name = names[int(active[place])]
            found[item][name] = found[item].get(name, 0.0) + weight
    return {
        item: tuple(
            Contribution(name, weight, title)
            for (name, title), weight in sorted(parts.items(), key=lambda part: (-part[1], part[0][0]))
        )
        for item, parts in found.items()
    }
