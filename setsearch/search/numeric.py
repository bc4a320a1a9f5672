"""TODO"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.errors import InvalidParameter, NoSeeds, NothingToRank, UsageError
from setsearch.models.gaussian import Gaussian
from setsearch.search.request import several, whole
from setsearch.search.results import Contribution, Explanation, Hit
from setsearch.storage.names import Kind, resolve_item
from setsearch.storage.numbers import _sound, columns_of
from setsearch.storage.relation import Relation

Open = Callable[[], AbstractContextManager[tuple[sqlite3.Cursor, Relation]]]


@dataclass(frozen=True)
class _Matrix:
    """The numbers of one content: row i belongs to `ids[i]`."""

    stamp: int
    ids: Ints
    x: Floats


class NumericReading:
    """Items described by numbers: what `index.items(name)` returns for a relation made by `Index.add_numbers`."""

    def __init__(self, name: str, open: Open) -> None:
        self.name = name
        self._open = open
        self._matrix: _Matrix | None = None

    def expand(
        self,
        seeds: Iterable[str],
        k: int | None = 10,
        *,
        exclude: Iterable[str] = (),
        keep_seeds: bool = False,
        explain: bool = False,
        strength: float | None = None,
        **options: Any,
    ) -> list[Hit]:
        """The k items that belong most with the seeds: scores of models/gaussian.py, in nats, ties by id.

        Raises UnknownItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        model, k = _model(strength, options), whole(10 if k is None else k)
        with self._open() as (cursor, relation):
            matrix = self._load(cursor, relation)
            ids, parts = self._score(cursor, relation, matrix, seeds, model)
            without = [] if keep_seeds else ids
            without += [resolve_item(cursor, relation.items, name) for name in several(exclude, "exclude")]
            rows = np.flatnonzero(~np.isin(matrix.ids, without))
            if not len(rows):
                raise NothingToRank(f"all {len(matrix.ids)} {self.name} are seeds or excluded, none is left to rank")
            scores = parts.sum(axis=1)
            names = relation.items.describe(cursor, matrix.ids[rows].tolist())
            ranked = sorted((-float(scores[row]), names[int(matrix.ids[row])][0], int(row)) for row in rows)[:k]
            columns = columns_of(relation)
        return [
            Hit(
                rank,
                name,
                -score,
                names[int(matrix.ids[row])][1],
                _contributions(columns, parts[row]) if explain else (),
            )
            for rank, (score, name, row) in enumerate(ranked, 1)
        ]

    def explain(self, seeds: Iterable[str], item: str, *, strength: float | None = None, **options: Any) -> Explanation:
        """What each dimension adds to the score of one item. Raises as `expand` does."""
        model = _model(strength, options)
        with self._open() as (cursor, relation):
            matrix = self._load(cursor, relation)
            _, parts = self._score(cursor, relation, matrix, seeds, model)
            id = resolve_item(cursor, relation.items, item)
            row = int(np.searchsorted(matrix.ids, id))
            name, title = relation.items.describe(cursor, [id])[id]
            features = _contributions(columns_of(relation), parts[row])
        return Explanation(name, float(parts[row].sum()), 0.0, 0.0, features, title)

    def find(self, name: str, hint: bool = True) -> str:
        """An item as the index names it; raises UnknownItem, with a hint at names that look alike, AmbiguousItem."""
        with self._open() as (cursor, relation):
            id = resolve_item(cursor, relation.items, name, hint)
            return relation.items.describe(cursor, [id])[id][0]

    def features_of(self, item: str) -> dict[str, float]:
        """The numbers of an item, by column; raises UnknownItem."""
        with self._open() as (cursor, relation):
            matrix = self._load(cursor, relation)
            row = int(np.searchsorted(matrix.ids, resolve_item(cursor, relation.items, item)))
            return dict(zip(columns_of(relation), matrix.x[row].tolist(), strict=True))

    def expand_many(self, seed_sets: Iterable[Iterable[str]], k: int | None = 10, **options: Any) -> list[list[Hit]]:
        """Expand many sets of seeds: for each the answer of `expand`. Raises as it does."""
        return [self.expand(seeds, k, **options) for seeds in seed_sets]

    @contextmanager
    def names(self) -> Iterator[tuple[sqlite3.Cursor, Kind]]:
        """The names of the items, within one transaction."""
        with self._open() as (cursor, relation):
            yield cursor, relation.items

    def fields(self, **options: Any) -> NoReturn:
        """Numbers are no features: raises UsageError."""
        raise UsageError(f"{self.name} are described by numbers; this needs items with features")

    def plain(self) -> NoReturn:
        """Numbers are no features: raises UsageError."""
        self.fields()

    def features(self, seeds: Iterable[str], k: int = 10, **options: Any) -> NoReturn:
        """Numbers are no features: raises UsageError."""
        self.fields()

    def without_context(self, names: Iterable[str], **options: Any) -> list[str]:
        """None: numbers are no words."""
        return []

    def item_count(self) -> int:
        """n, the number of items."""
        with self._open() as (_, relation):
            return relation.items.size

    def _score(
        self, cursor: sqlite3.Cursor, relation: Relation, matrix: _Matrix, seeds: Iterable[str], model: Gaussian
    ) -> tuple[list[int], Floats]:
        ids = list(dict.fromkeys(resolve_item(cursor, relation.items, name) for name in several(seeds, "seeds")))
        if not ids:
            raise NoSeeds(f"no seeds; give at least one of the {relation.items.size} {self.name}")
        return ids, model.parts(matrix.x, np.searchsorted(matrix.ids, sorted(ids)))

    def _load(self, cursor: sqlite3.Cursor, relation: Relation) -> _Matrix:
        matrix = self._matrix
        if matrix is None or matrix.stamp != relation.stamp:
            rows = cursor.execute(
                "select item, numbers from setsearch_numbers where relation = ? order by item", (relation.id,)
            ).fetchall()
            width = len(columns_of(relation))
            x = np.frombuffer(b"".join(_sound(numbers, width) for _, numbers in rows), "<f8").reshape(len(rows), width)
            self._matrix = matrix = _Matrix(relation.stamp, np.array([item for item, _ in rows], np.int64), x)
        return matrix


def _model(strength: float | None, options: dict[str, Any]) -> Gaussian:
    given = {key: value for key, value in options.items() if value and key not in ("cut", "gamma")}
    if given.pop("model", "gaussian") != "gaussian":
        raise InvalidParameter(f"numbers have the model gaussian, not {options['model']!r}")
    if options.get("cut") == "keep" or given:
        raise InvalidParameter(f"{min(given, default='cut')!r} is not for numbers; leave it out")
    return Gaussian() if strength is None else Gaussian(float(strength))


def _contributions(columns: Sequence[str], parts: Floats) -> tuple[Contribution, ...]:
    pairs = sorted(zip(parts.tolist(), columns, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return tuple(Contribution(column, part) for part, column in pairs)
