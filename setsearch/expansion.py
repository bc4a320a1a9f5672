"""From seeds to the rest of the set: seeds -> model -> postings -> ranked hits, and why."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from setsearch.binarization import BINARIZATIONS
from setsearch.errors import AmbiguousItem, InvalidParameter, NoSeeds, NothingToRank, SetsearchError, UnknownItem
from setsearch.hits import Contribution, Explanation, Hit, ModelOptions, SetFeature
from setsearch.kernels import Floats, Postings
from setsearch.models import Model, Query, Seeds, make_model
from setsearch.names import Kind
from setsearch.postings import Ints, run_starts
from setsearch.scoring import Base, best, to_lattice
from setsearch.snapshot import Snapshot

Analyze = Callable[[str], Sequence[str] | Mapping[str, int]]


@dataclass(frozen=True)
class _Wanted:
    """What of an expanded set is wanted."""

    k: int
    exclude: list[str]
    keep_seeds: bool
    explain: bool


@dataclass(frozen=True)
class _Weighed:
    """A set of seeds, weighed: everything that scores an item."""

    seeds: list[int]
    features: Seeds
    postings: Postings
    weights: Floats
    base: Base
    constant: float
    twice_mean: bool


class Reading:
    """Items of one kind, described by features of another: what `index.items(name)` returns.

    Safe to share between threads; nothing of a query is kept on it.
    """

    def __init__(
        self,
        name: str,
        snapshot: Callable[[], AbstractContextManager[tuple[sqlite3.Cursor, Snapshot]]],
        analyze: Analyze,
    ) -> None:
        self.name = name
        self._snapshot = snapshot
        self._analyze = analyze

    def expand(
        self,
        seeds: Iterable[str],
        k: int = 10,
        *,
        exclude: Iterable[str] = (),
        keep_seeds: bool = False,
        explain: bool = False,
        **options: Unpack[ModelOptions],
    ) -> list[Hit]:
        """The k items that belong most with the seeds, best first; equal scores in the order of their ids.

        With the model "bernoulli" a score is the natural logarithm of p(x | D) / p(x), equation (12) of the paper,
        its constant included. Every item is ranked, those that share nothing with the seeds too. Seeds are left out
        unless `keep_seeds`; `exclude` leaves out more; `explain` fills the `features` of the hits.

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        (hits,) = self._expand([seeds], _Wanted(_whole(k), _several(exclude, "exclude"), keep_seeds, explain), options)
        return hits

    def expand_many(
        self,
        seed_sets: Iterable[Iterable[str]],
        k: int = 10,
        *,
        exclude: Iterable[str] = (),
        keep_seeds: bool = False,
        explain: bool = False,
        **options: Unpack[ModelOptions],
    ) -> list[list[Hit]]:
        """Expand many sets of seeds, all of them on the same content: for each the answer of `expand`, to the bit.

        Raises as `expand` does; the message says which set it was, counted from 1.
        """
        wanted = _Wanted(_whole(k), _several(exclude, "exclude"), keep_seeds, explain)
        return self._expand(list(seed_sets), wanted, options)

    def _expand(self, seed_sets: list[Iterable[str]], wanted: _Wanted, options: ModelOptions) -> list[list[Hit]]:
        with self._snapshot() as (cursor, snapshot):
            results = []
            for number, seeds in enumerate(seed_sets, 1):
                try:
                    results.append(self._expand_one(cursor, snapshot, seeds, wanted, options))
                except SetsearchError as error:
                    if len(seed_sets) > 1:
                        raise type(error)(f"set {number}: {error}") from error
                    raise
        return results

    def _expand_one(
        self,
        cursor: sqlite3.Cursor,
        snapshot: Snapshot,
        seeds: Iterable[str],
        wanted: _Wanted,
        options: ModelOptions,
    ) -> list[Hit]:
        weighed = self._weigh(cursor, snapshot, seeds, options)
        without = [self._resolve(cursor, snapshot, name) for name in wanted.exclude]
        without += [] if wanted.keep_seeds else weighed.seeds
        ids, scores = best(
            weighed.base, weighed.postings, weighed.weights, without, wanted.k, lambda: snapshot.ranks(cursor)
        )
        if not len(ids):
            raise NothingToRank(
                f"all {snapshot.items.size} {snapshot.items.name} are seeds or excluded, none is left to rank; "
                "give fewer seeds, or keep them in the ranking (--keep-seeds)"
            )
        names = snapshot.describe(cursor, ids.tolist())
        reasons = self._reasons(cursor, snapshot, weighed, ids.tolist()) if wanted.explain else {}
        found = zip(ids.tolist(), (scores + weighed.constant).tolist(), strict=True)
        return [
            Hit(rank, names[id][0], score, names[id][1], reasons.get(id, ()))
            for rank, (id, score) in enumerate(found, 1)
        ]

    def explain(self, seeds: Iterable[str], item: str, **options: Unpack[ModelOptions]) -> Explanation:
        """The parts that sum to the score of one item, its features by weight. Raises as `expand` does."""
        with self._snapshot() as (cursor, snapshot):
            weighed = self._weigh(cursor, snapshot, seeds, options)
            id = self._resolve(cursor, snapshot, item)
            features = self._reasons(cursor, snapshot, weighed, [id])[id]
            base = float(weighed.base.items[id])
            name, title = snapshot.describe(cursor, [id])[id]
        score = base + weighed.constant + sum(part.weight for part in features)
        return Explanation(name, score, weighed.constant, base, features, title)

    def features(self, seeds: Iterable[str], k: int = 10, **options: Unpack[ModelOptions]) -> list[SetFeature]:
        """The k features that define the set, by weight (table 4 of the paper). Raises as `expand` does."""
        k = _whole(k)
        with self._snapshot() as (cursor, snapshot):
            weighed = self._weigh(cursor, snapshot, seeds, options)
            ids = weighed.features.features.tolist()
            names = snapshot.features.describe(cursor, ids)
        columns = (ids, weighed.weights.tolist(), weighed.features.having.tolist(), weighed.postings.lengths.tolist())
        rows = sorted(zip(*columns, strict=True), key=lambda row: (-row[1], names[row[0]][0]))[:k]
        return [
            SetFeature(rank, names[id][0], weight, having, df, names[id][1])
            for rank, (id, weight, having, df) in enumerate(rows, 1)
        ]

    def item_count(self) -> int:
        """n, the number of items."""
        with self._snapshot() as (_, snapshot):
            return snapshot.items.size

    def feature_count(self) -> int:
        """The number of features that the index knows."""
        with self._snapshot() as (_, snapshot):
            return snapshot.features.size

    def document_frequency(self, feature: str) -> int:
        """The number of items that have a feature; 0 for one that the index does not know."""
        return len(self.postings(feature))

    def postings(self, feature: str) -> dict[str, int]:
        """The items that have a feature, with counts, in the order of their ids."""
        with self._snapshot() as (cursor, snapshot):
            id = snapshot.features.find_one(cursor, feature)
            entries = snapshot.postings.read(cursor, [] if id is None else [id])
            return _named(cursor, snapshot.items, entries.ids, entries.counts)

    def features_of(self, item: str) -> dict[str, int]:
        """The features that an item has, with counts, in the order of their ids; raises UnknownItem."""
        with self._snapshot() as (cursor, snapshot):
            entries = snapshot.forward.read(cursor, [self._resolve(cursor, snapshot, item)])
            return _named(cursor, snapshot.features, entries.ids, entries.counts)

    def _weigh(
        self, cursor: sqlite3.Cursor, snapshot: Snapshot, names: Iterable[str], options: ModelOptions
    ) -> _Weighed:
        """Seeds to active features and their weights on the lattice, base and constant."""
        model, twice_mean = _parse(options)
        seeds = list(dict.fromkeys(self._resolve(cursor, snapshot, name) for name in _several(names, "seeds")))
        if not seeds:
            raise NoSeeds(f"no seeds; give at least one of the {snapshot.items.size} {snapshot.items.name}")
        having_each = snapshot.features_of(cursor, np.array(sorted(seeds), np.int64), twice_mean)
        together = np.sort(having_each.together()).astype(np.int64)
        begin = run_starts(together)
        active = together[begin]
        features = Seeds(active, np.diff(begin, append=len(together)), len(seeds))
        postings = snapshot.active_postings(cursor, active, twice_mean)
        query: Query = model.query(features, postings.lengths, snapshot.items.size)
        base = snapshot.base(cursor, model, len(seeds), twice_mean)
        constant = float(to_lattice(np.append(query.constants, base.constant)).sum())
        return _Weighed(seeds, features, postings, to_lattice(query.weights), base, constant, twice_mean)

    def _reasons(
        self, cursor: sqlite3.Cursor, snapshot: Snapshot, weighed: _Weighed, items: list[int]
    ) -> dict[int, tuple[Contribution, ...]]:
        """The active features of each item with their weights, the heaviest first."""
        order = sorted(items)
        found = snapshot.features_of(cursor, np.array(order, np.int64), weighed.twice_mean).lists()
        active = weighed.features.features
        shared = {item: np.isin(active, own) for item, own in zip(order, found, strict=True)}
        names = snapshot.features.describe(cursor, active[np.any([*shared.values()], axis=0)].tolist())
        reasons = {}
        for item, mask in shared.items():
            pairs = zip(active[mask].tolist(), weighed.weights[mask].tolist(), strict=True)
            parts = [Contribution(names[id][0], weight, names[id][1]) for id, weight in pairs]
            reasons[item] = tuple(sorted(parts, key=lambda part: (-part.weight, part.feature)))
        return reasons

    def _resolve(self, cursor: sqlite3.Cursor, snapshot: Snapshot, name: str) -> int:
        """The item that is meant: by id, by id as the analyzer writes it, by title if only one has it."""
        kind = snapshot.items
        if not isinstance(name, str):
            raise InvalidParameter(f"an item is named by its id, a text, not by {name!r}")
        for candidate in self._forms(name, snapshot):
            id = snapshot.find(cursor, candidate)
            if id is not None:
                return id
        titled = kind.titled(cursor, name)
        if len(titled) == 1:
            return titled[0][0]
        if titled:
            ids = ", ".join(repr(id) for _, id in titled)
            raise AmbiguousItem(f"{name!r} is the title of several {kind.name}; name one by its id: {ids}")
        hint = kind.hint(cursor, name) or "look at what is there with `setsearch info`"
        raise UnknownItem(f"no {name!r} among the {kind.size} {kind.name}; {hint}")

    def _forms(self, name: str, snapshot: Snapshot) -> Iterator[str]:
        yield name
        if snapshot.transposed and snapshot.relation.analyzer:
            analyzed = list(self._analyze(name))
            if len(analyzed) == 1 and analyzed[0] != name:
                yield analyzed[0]


def _parse(options: ModelOptions) -> tuple[Model, bool]:
    binarize = options.get("binarize", "presence")
    if binarize not in BINARIZATIONS:
        raise InvalidParameter(f"binarize is one of {', '.join(BINARIZATIONS)}, not {binarize!r}")
    unknown = set(options) - {"model", "strength", "binarize"}
    if unknown:
        raise TypeError(f"unknown option {min(unknown)!r}; there is model, strength, binarize")
    strength = options.get("strength", 2.0)
    if isinstance(strength, bool) or not isinstance(strength, (int, float, np.number)):
        raise InvalidParameter(f"the strength must be a number, not {strength!r}")
    model = make_model(options.get("model", "bernoulli"), float(strength))
    return model, binarize == "twice-mean"


def _whole(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameter(f"k must be a whole number from 1 on, not {k!r}")
    return int(k)


def _several(names: Iterable[str], what: str) -> list[str]:
    if isinstance(names, str):
        raise InvalidParameter(f"{what} is a list of ids, not the one text {names!r}; write [{names!r}]")
    return list(names)


def _named(cursor: sqlite3.Cursor, kind: Kind, ids: Ints, counts: Ints) -> dict[str, int]:
    names = kind.describe(cursor, ids.tolist())
    pairs = zip(ids.tolist(), counts.tolist(), strict=True)
    return dict(sorted((names[id][0], count) for id, count in pairs))
