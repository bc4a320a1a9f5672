"""The examples of a set: which fields know them, and what they are there (items, texts, features), with weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np

from setsearch.arrays import Floats, Ints, repeat
from setsearch.errors import InvalidParameter, NoSeeds
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.memory.readings import BY, FieldsBy
from setsearch.models.values import ValueRule
from setsearch.options import Id, Ids, ModelOptions
from setsearch.search.near_duplicates import without_copies
from setsearch.search.request import Seeds, id_list, require_distinct

WEIGHT_LATTICE, LARGEST_WEIGHT = 1024, 1000  # of seeds


def keys_of(name: str, has_contexts: bool, options: ModelOptions) -> list[str]:
    """The keys of BY that may answer where `name` is ranked, the preferred one first; raises InvalidParameter."""
    by = options.get("by") if name == "terms" else None  # others have fields in one relation (defaults.py)
    if by is not None and by not in [*BY]:
        raise InvalidParameter(f"by must be one of {', '.join(BY)}, not {by!r:.40}")
    is_default = has_contexts and options.get("model") in (None, "lift")
    if by is None or (by == "both" and is_default):
        return ["both", "documents"] if is_default else ["documents"]
    return [by]


def choose_fields(
    fields_by: FieldsBy,
    keys: Sequence[str],
    seeds: Iterable[str],
    excluded: Iterable[str] = (),
    item: Id | None = None,
) -> Fields:
    """The fields to use, unless `by` decides: contexts if one of the seeds, and the `item`, have them.

    Seeds without contexts then count by their documents. They, and excluded words without contexts, are looked up
    in `Fields.stored`, which is there only if it is needed.
    """
    *preferred, last = keys
    best = fields_by(preferred[0]) if preferred else None
    if best is not None and (item is None or best.knows(item)):
        asked, left_out = [*seeds], {*excluded}
        known = best.find_all([*asked, *left_out]).keys()
        if known >= left_out.union(asked):
            return best
        if not asked or not known.isdisjoint(asked):
            return best._replace(stored=fields_by(last))
    fields = fields_by(last)
    if fields is None:
        raise InvalidParameter("the index has no contexts; index it with `contexts`, or expand by documents")
    return fields if best is None else fields._replace(phrases=best.items)


def cannot_tell(fields: Fields, keys: Sequence[str]) -> bool:
    """Whether no seed has the contexts that it should have: what belongs by documents is another question."""
    return len(keys) > 1 and fields.contexts_revision is None


@dataclass(slots=True)
class Examples:
    """The examples of a set: `ids` of items, and `texts`, the counted features of things that the index lacks.

    `weights` are those of the ids (ascending if there are weights), then of the texts: multiples of 1/1024, so that
    their sums are exact; all are 1 if there are none.
    """

    ids: Sequence[int]
    texts: Sequence[Mapping[str, int]] = ()
    weights: Floats | None = None
    has_features: bool = False  # whether one of the texts is a set of features
    like: Sequence[str] = ()  # the first texts as they were given
    given: float | None = None  # the sum of weights without items that joined
    # Words without contexts, by their stored id, with their counted documents: for the field of documents.
    rare: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    copies: Sequence[int] = ()  # seeds that are nearly the same as one of the ids, which count no more

    @property
    def seeds(self) -> list[int]:
        """The ids of all items that were given."""
        return [*self.ids, *self.copies]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.ids) + len(self.texts) + len(self.rare)

    @property
    def total(self) -> float:
        """N: the sum of their weights."""
        return self.count if self.weights is None else float(self.weights.sum())

    def weight(self) -> Floats:
        """The weight of each."""
        return np.ones(self.count) if self.weights is None else self.weights

    def within(self, field: Field) -> "Examples":
        """The examples that a field knows: contexts know nothing of rare words."""
        if not self.rare:
            return self
        if not getattr(field.features, "are_contexts", False):
            return replace(self, texts=[*self.texts, *self.rare.values()], rare={})
        weights = None if self.weights is None else self.weights[: -len(self.rare)]
        lost = len(self.rare) if self.weights is None else float(self.weights[-len(self.rare) :].sum())
        return replace(self, weights=weights, rare={}, given=None if self.given is None else self.given - lost)

    def part(self, places: Iterable[int]) -> "Examples":
        """Those examples at some places, ascending: of ids, then of texts, then of rare words."""
        places, rare, first = [*places], [*self.rare.items()], len(self.ids)
        texts = [place - first for place in places if first <= place < first + len(self.texts)]
        words = [place - first - len(self.texts) for place in places if place >= first + len(self.texts)]
        return replace(
            self,
            ids=[self.ids[place] for place in places if place < first],
            texts=[self.texts[place] for place in texts],
            weights=None if self.weights is None else self.weights[places],
            has_features=self.has_features and len(self.texts) - 1 in texts,
            like=[self.like[place] for place in texts if place < len(self.like)],
            rare=dict(rare[place] for place in words),
            copies=(),
        )

    def joined_by(self, ids: Sequence[int], joining: Floats) -> "Examples":
        """These examples, and other items with the weights of these."""
        every = np.array([*self.ids, *ids], np.int64)
        weights, order = self.weight(), np.argsort(every)
        of_ids = np.append(weights[: len(self.ids)], joining)
        of_texts = weights[len(self.ids) :]
        return replace(self, ids=every[order].tolist(), weights=np.append(of_ids[order], of_texts), given=self.total)


def find_examples(fields: Fields, seeds: Seeds, like: Sequence[str] = (), having: Sequence[str] = ()) -> Examples:
    """The examples as the index knows them, of checked names; raises NoSeeds, InvalidParameter."""
    names = [*seeds]
    rare = fields.without_contexts(names)
    ids = fields.resolve_all([name for name in names if name not in rare] if rare else names)
    texts = [fields.count_terms(text) for text in like]
    texts += [fields.resolve_features(having)] if having else []
    if not ids and not texts:
        raise no_seeds(fields)
    counted = {id: fields.counted_documents(id) for id in rare.values()}
    examples = Examples(ids, texts, has_features=bool(having), like=like, rare=counted)
    if not isinstance(seeds, dict):
        return examples
    given = {name: seed_weight(name, weight) for name, weight in seeds.items()}
    if all(weight == 1 for weight in given.values()):
        return examples
    known = {name: rare[name] if name in rare else fields.resolve(name) for name in given}
    by_id: dict[tuple[bool, int], float] = {}
    for name, weight in given.items():
        if by_id.setdefault((name in rare, known[name]), weight) != weight:
            raise InvalidParameter(f"{name!r} is another name of a seed that has another weight; give it once")
    weights = [by_id[False, id] for id in sorted(ids)] + [1.0 for _ in texts] + [by_id[True, id] for id in counted]
    examples.weights = np.array(weights)
    if not examples.total:
        raise NoSeeds("the weights of all seeds are 0; give one of them a larger one")
    examples.ids = sorted(ids)
    return examples


def once_each(fields: Fields, examples: Examples, rule: ValueRule) -> Examples:
    """Examples of which those that are nearly the same count once, unless they have weights: the first one by name."""
    if len(examples.ids) < 2 or examples.weights is not None or not fields.are_documents:
        return examples
    kept = without_copies(fields.first, rule, (), examples.ids)
    if len(kept) < len(examples.ids):
        names = fields.describe(examples.ids)
        kept = without_copies(fields.first, rule, (), sorted(examples.ids, key=lambda id: names[id][0]))
    copies = [id for id in examples.ids if id not in kept]
    return replace(examples, ids=[id for id in examples.ids if id in kept], copies=copies) if copies else examples


def find_rejected(fields: Fields, examples: Examples, names: Sequence[str]) -> list[int]:
    """The distinct ids of negative examples, which are no examples; words without contexts are none of them.

    Raises UnknownItem, AmbiguousItem, InvalidParameter.
    """
    if not names:
        return []
    unknown = fields.without_contexts(names)
    ids = fields.resolve_all([name for name in names if name not in unknown])
    require_distinct(name for name, id in unknown.items() if id in examples.rare)
    require_distinct(name for name, _ in fields.describe(sorted({*examples.ids}.intersection(ids))).values())
    return ids


def resolve_seeds(fields: Fields, seeds: Ids) -> list[int]:
    """The distinct ids of seeds; raises UnknownItem, AmbiguousItem, NoSeeds."""
    ids = fields.resolve_all(id_list(seeds, "seeds"))
    if not ids:
        raise no_seeds(fields)
    return ids


def no_seeds(fields: Fields) -> NoSeeds:
    """The error for a query without examples."""
    return NoSeeds(f"no seeds; give at least one of the {fields.items.own_size():,} {fields.items.name}")


def seed_weight(name: str, weight: float) -> float:
    """The weight of a seed as a multiple of 1/1024; raises InvalidParameter."""
    is_number = isinstance(weight, Real) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= LARGEST_WEIGHT:
        raise InvalidParameter(f"the weight of {name!r} is a number from 0 to {LARGEST_WEIGHT}, not {weight!r}")
    return round(float(weight) * WEIGHT_LATTICE) / WEIGHT_LATTICE


def example_entries(field: Field, examples: Examples, rule: ValueRule) -> tuple[Ints, Ints, Floats]:
    """(number of the example, feature, value) of every entry of the examples."""
    stored = field.forward(examples.ids, rule)
    which = repeat(np.arange(len(examples.ids)), stored.lengths)
    features, values = stored.concatenated_ids().astype(np.int64), stored.concatenated_values()
    if examples.texts:
        new = [field.new_item(text, rule) for text in examples.texts]
        numbers = len(examples.ids) + np.arange(len(new))
        which = np.concatenate([which, repeat(numbers, [len(own) for own, _ in new])])
        features = np.concatenate([features, *(own for own, _ in new)])
        values = np.concatenate([values, *(own for _, own in new)])
    return which, features, values
