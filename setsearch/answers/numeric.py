"""Items that numbers describe: the whole matrix is read and kept in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, NoReturn, Unpack

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.base_reading import BaseReading
from setsearch.answers.finding import Named, Names
from setsearch.answers.results import Asked, Contribution, Explanation, Hit
from setsearch.arrays import Floats, Ints
from setsearch.errors import (
    REPAIR_HINT,
    CorruptIndex,
    InvalidParameter,
    NoSeeds,
    NothingToRank,
    QueryError,
    SetsearchError,
    UsageError,
)
from setsearch.memory.where import Where
from setsearch.models.defaults import NUMBERS
from setsearch.models.gaussian import Gaussian
from setsearch.options import MODEL, ExpandOptions, Id, Ids, ModelOptions, check, refuse
from setsearch.search.request import id_list, parse_request, require_distinct
from setsearch.storage.ids import id_text
from setsearch.storage.kept.numbers import column_names, read_numbers
from setsearch.storage.relation import Relation

Open = Callable[[], AbstractContextManager[Relation]]


class _Matrix(NamedTuple):
    """The numbers of one content: row i belongs to `ids[i]`. Rows are in the order of the names."""

    stamp: int
    ids: Ints
    x: Floats

    def row(self, id: int) -> int:
        """The row of an item. Raises CorruptIndex."""
        rows = np.flatnonzero(self.ids == id)
        if not len(rows):
            raise CorruptIndex(f"an item has lost its numbers; {REPAIR_HINT}")
        return int(rows[0])


class NumericReading(BaseReading, Named):
    """Items that numbers describe: what `index.numbers(name)` returns. Threads may share it."""

    defaults = NUMBERS

    def __init__(self, name: str, open: Open) -> None:
        self.name = name
        self._open = open
        self._matrix: _Matrix | None = None

    def expand(self, seeds: Ids, k: int | None = 10, **options: Unpack[ExpandOptions]) -> Hits:
        """The k items that belong most with the seeds, by models/gaussian.py, in nats; ties in the order of ids.

        `among` are the only items to return. Raises UnknownItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        refuse("numbers", options)
        if options.get("cut") == "keep":
            raise InvalidParameter("'cut' is not for numbers; leave it out")
        request = parse_request(10 if k is None else k, options)
        model, wanted, among, exclude = _model(request.model), request.options, request.among, request.exclude
        if isinstance(among, Where):
            raise InvalidParameter("among is a list of texts for numbers, not a condition")
        with self._open() as relation:
            matrix = self._load(relation)
            ids, parts = self._score(relation, matrix, seeds, model)
            excluded = [relation.items.resolve(name) for name in exclude]
            both = relation.items.describe(sorted({*ids}.intersection(excluded)))
            require_distinct(name for name, _ in both.values())
            allowed = ~np.isin(matrix.ids, excluded + ([] if wanted.get("keep_seeds") else ids))
            if among is not None:
                allowed &= np.isin(matrix.ids, [*relation.items.find(among).values()])
            rows = np.flatnonzero(allowed)
            if not len(rows):
                raise NothingToRank(
                    f"all {len(matrix.ids)} {self.name} are seeds or excluded; give fewer, or allow others"
                )
            scores = parts.sum(axis=1)
            names = relation.items.describe(matrix.ids[rows].tolist())
            ranked = sorted((-float(scores[row]), names[int(matrix.ids[row])][0], int(row)) for row in rows)
            columns = column_names(relation)
            revision, whole = relation.revision, relation.items.whole
        titles, explains = dict(names.values()), wanted.get("explain")
        hits = [
            Hit(rank, name, -score, titles[name], _contributions(columns, parts[row]) if explains else ())
            for rank, (score, name, row) in enumerate(ranked[: request.k], 1)
        ]
        found = Hits(hits)
        found.asked = Asked(self, seeds, {**request.model, "exclude": exclude})
        found.revision, found.whole = revision, whole
        return found

    def expand_each(
        self, seed_sets: Iterable[Ids], k: int | None = 10, **options: Unpack[ExpandOptions]
    ) -> list[Hits | SetsearchError]:
        """As `expand_many`; a set that has no answer has an error in its place."""
        answers = list[Hits | SetsearchError]()
        for seeds in seed_sets:
            try:
                answers.append(self.expand(seeds, k, **options))
            except (QueryError, UsageError) as error:
                answers.append(error)
        return answers

    def scores(self, seeds: Ids, **options: Unpack[ExpandOptions]) -> AbstractContextManager[NoReturn]:
        """As `Reading.scores`, which numbers do not have: raises UsageError."""
        raise UsageError(f"{self.name} have numbers, and no scores of all items; expand them")

    def explain(self, seeds: Ids, item: Id, **options: Unpack[ExpandOptions]) -> Explanation:
        """What each dimension adds to the score of one item. Raises as `expand` does."""
        refuse("explain", options)
        options.update({"exclude": (), "among": [self.find(item)], "keep_seeds": True, "explain": True})
        (hit,) = self.expand(seeds, 1, **options)
        return Explanation(hit.item, hit.score, 0.0, 0.0, hit.features, hit.title)

    def find(self, name: Id, hint: bool = True) -> str:
        """The name of an item as the index has it; raises UnknownItem (with similar names), AmbiguousItem."""
        with self._open() as relation:
            id = relation.items.resolve(name, hint)
            return relation.items.describe([id])[id][0]

    def find_all(self, names: Ids, hint: bool = True) -> list[str]:
        """The names of items as the index has them, one for each; raises as `find` does."""
        return [self.find(name, hint) for name in names]

    def find_each(self, names: Ids) -> dict[str, str | QueryError]:
        """As `Reading.find_each`."""
        found: dict[Any, str | QueryError] = {}
        for name in names:
            try:
                found[name] = self.find(name, hint=False)
            except QueryError as error:
                found[name] = error
        return found

    def vocabularies(self) -> Iterator[Names]:
        """The names of the items, within one transaction."""
        with self._open() as relation:
            yield relation.items, None

    def titles(self, names: Ids) -> dict[str, str | None]:
        """The titles of those names that exist."""
        with self._open() as relation:
            ids = relation.items.find([*map(id_text, names)]).values()
            return dict(relation.items.describe(list(ids)).values())

    def features_of(self, item: Id) -> dict[str, float]:
        """The numbers of an item, by column; raises UnknownItem."""
        with self._open() as relation:
            matrix = self._load(relation)
            row = matrix.row(relation.items.resolve(item))
            return dict(zip(column_names(relation), matrix.x[row].tolist(), strict=True))

    def item_count(self) -> int:
        """n, the number of items."""
        with self._open() as relation:
            return relation.items.size

    def _score(self, relation: Relation, matrix: _Matrix, seeds: Ids, model: Gaussian) -> tuple[list[int], Floats]:
        """The ids of the seeds, and what each dimension adds to each item."""
        ids = list(dict.fromkeys(relation.items.resolve(name) for name in id_list(seeds, "seeds")))
        if not ids:
            raise NoSeeds(f"no seeds; give at least one of the {relation.items.size:,} {self.name}")
        return ids, model.parts(matrix.x, np.array(sorted(map(matrix.row, ids))))

    def _load(self, relation: Relation) -> _Matrix:
        matrix = self._matrix
        if matrix is None or matrix.stamp != relation.stamp:
            self._matrix = matrix = _Matrix(relation.stamp, *read_numbers(relation))
        return matrix


def _model(options: ModelOptions) -> Gaussian:
    """The model; raises InvalidParameter, UnknownOption."""
    check(options, MODEL)
    if options.get("model") not in (None, "gaussian"):
        raise InvalidParameter(f"numbers have the model gaussian, not {options['model']!r}")
    strength = options.get("strength")
    return Gaussian() if strength is None else Gaussian(float(strength))


def _contributions(columns: Sequence[str], parts: Floats) -> tuple[Contribution, ...]:
    pairs = sorted(zip(parts.tolist(), columns, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return tuple(Contribution(column, part) for part, column in pairs)
