"""What features say about a set: mutual information, and the language model of a set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.errors import InvalidParameter, NoSeeds, UsageError
from setsearch.index import Index
from setsearch.indexing.intake import TextSettings
from setsearch.models.values import COUNTS, PRESENCE
from setsearch.search.reading import Reading
from setsearch.search.request import whole
from setsearch.search.results import SetFeature
from setsearch.storage.database import Database
from setsearch.text.analyzer import Analyzer


class TermProbability(NamedTuple):
    """How probable a term is in the texts of a set."""

    rank: int
    feature: str
    probability: float
    occurrences: int


def mutual_information(inside: Ints, outside: Ints, n_inside: int, n_outside: int) -> Floats:
    """I(feature; set) in bits, `(n_features,)`, from how many items inside and outside of the set have each feature.

    I = sum over x in 0, 1 and y in in, out of p(x, y) log2( p(x, y) / (p(x) p(y)) ), the four counts plus one each.
    """
    cells = np.array([inside, n_inside - inside, outside, n_outside - outside], float) + 1
    p = cells / cells.sum(axis=0)
    present, absent = p[0] + p[2], p[1] + p[3]
    in_set, out_of_set = p[0] + p[1], p[2] + p[3]
    independent = np.array([present * in_set, absent * in_set, present * out_of_set, absent * out_of_set])
    result: Floats = (p * np.log2(p / independent)).sum(axis=0)
    return result


def most_informative(reading: Reading, members: Iterable[str], k: int = 10) -> list[SetFeature]:
    """The k features that tell members of a set from all other items, `weight` in bits; what they lack too."""
    k = whole(k)
    with reading.plain() as fields:
        ids = reading.resolve_all(fields, members)
        snapshot, cursor = fields.first, fields.cursor
        having = snapshot.features_of(cursor, np.array(sorted(ids), np.int64), PRESENCE)
        inside = np.bincount(having.together(), minlength=snapshot.features.peak)
        df = snapshot.frequencies(cursor)[0]
        bits = mutual_information(inside, df - inside, len(ids), snapshot.items.size - len(ids))
        bits[df == 0] = -1.0
        kth = np.partition(bits, -k)[-k] if k < len(bits) else -1.0
        best = np.flatnonzero(bits >= kth)
        names = snapshot.features.describe(cursor, best.tolist())
    rows = [(*names[id], float(bits[id]), int(inside[id]), int(df[id])) for id in best.tolist() if df[id]]
    rows.sort(key=lambda row: (-row[2], row[0]))
    return [
        SetFeature(rank, name, weight, having, of_all, title)
        for rank, (name, title, weight, having, of_all) in enumerate(rows[:k], 1)
    ]


def language_model(reading: Reading, members: Iterable[str], k: int = 10, alpha: float = 1.0) -> list[TermProbability]:
    """The k most probable terms of the texts of a set: the posterior predictive under a Dirichlet prior,

    (alpha + count_j) / (alpha V + N),  V features in the index, N occurrences in the set.
    """
    if not (isinstance(alpha, (int, float)) and 0 < alpha < 1e100):
        raise InvalidParameter(f"alpha must be a number above 0, not {alpha!r}")
    k = whole(k)
    with reading.plain() as fields:
        ids = reading.resolve_all(fields, members)
        snapshot, cursor = fields.first, fields.cursor
        stored = snapshot.features_of(cursor, np.array(sorted(ids), np.int64), COUNTS)
        counts = np.bincount(stored.together(), stored.values_together(), snapshot.features.peak).astype(np.int64)
        shown = np.flatnonzero(counts).tolist()
        if k > len(shown):
            shown = list(snapshot.features.ids(cursor))
        names = snapshot.features.describe(cursor, shown)
        total, size = int(counts.sum()), snapshot.features.size
    rows = sorted((-int(counts[id]), names[id][0]) for id in names)[:k]
    return [
        TermProbability(rank, name, (alpha - count) / (alpha * size + total), -count)
        for rank, (count, name) in enumerate(rows, 1)
    ]


def prune(
    index: Index, items: str | None, sets: Mapping[str, Sequence[str]], keep: int, place: str
) -> tuple[int, int, int]:
    """A new database with the `keep` features that are most informative about any of the sets.

    Returns how many features it has, and the number of entries before and after. Raises UsageError where the place
    exists already: UsageError.
    """
    if Path(place).exists():
        raise UsageError(f"{place} exists; name a new database")
    reading = index.items(items)
    with reading.plain() as fields:
        snapshot, cursor = fields.first, fields.cursor
        df = snapshot.frequencies(cursor)[0]
        bits, known = np.zeros(len(df)), 0
        for members in sets.values():
            ids = np.array(sorted(fields.known(members)), np.int64)
            known += len(ids)
            having = snapshot.features_of(cursor, ids, PRESENCE)
            inside = np.bincount(having.together(), minlength=len(df))
            own = mutual_information(inside, df - inside, len(ids), snapshot.items.size - len(ids))
            bits = np.maximum(bits, own)
        if not known:
            raise NoSeeds(f"no set has a member among the {snapshot.items.size} {snapshot.items.name}; give other sets")
        bits[df == 0] = -1.0
        order = np.argsort(-bits, kind="stable")[:keep]
        kept = np.sort(order[df[order] > 0])
        items_of, features_of = snapshot.items, snapshot.features
        rows: dict[int, dict[str, int]] = {id: {} for id in items_of.ids(cursor)}
        names = replace(features_of, titles_shown=False).describe(cursor, kept.tolist())
        entries = snapshot.postings.read(cursor, kept.tolist())
        for feature, item, count in zip(*(column.tolist() for column in entries), strict=True):
            rows[item][names[feature][0]] = count
        described = items_of.describe(cursor, list(rows))
        relation = (items_of.name, features_of.name)
        analyzer = fields.analyzer or Analyzer()
    settings = TextSettings(analyzer, "off")
    with Index(Database(place, create=True), settings) as pruned:
        pruned.add(((described[id][0], counts, described[id][1]) for id, counts in rows.items()), relation)
    return len(kept), int(df.sum()), len(entries.ids)
