"""What features tell about a set: mutual information."""

from collections.abc import Iterable

import numpy as np

from setsearch.answers.contributions import ranked_features
from setsearch.answers.reading import Reading
from setsearch.answers.results import SetFeature
from setsearch.arrays import Floats, Ints, bincount
from setsearch.models.values import PRESENCE
from setsearch.search.examples import resolve_seeds
from setsearch.search.request import positive_integer


def most_informative(reading: Reading, members: Iterable[str], k: int = 10) -> list[SetFeature]:
    """The k features that best separate a set from all other items, also by their absence; `weight` in bits."""
    k = positive_integer(k)
    with reading.stored() as fields:
        ids, field = resolve_seeds(fields, members), fields.first
        seed_features = field.forward(ids, PRESENCE).concatenated_ids()
        inside = bincount(seed_features, minlength=field.features.next_id)
        df = field.frequencies()[0]
        bits = mutual_information(inside, df - inside, len(ids), field.items.size - len(ids))
        bits[df == 0] = -1.0
        kth = np.partition(bits, -k)[-k] if k < len(bits) else -1.0
        best = np.flatnonzero(bits >= kth)
        names = field.describe_features(best.tolist())
    rows = [(*names[id], float(bits[id]), int(inside[id]), int(df[id])) for id in best.tolist() if df[id]]
    return ranked_features(rows, k)


def mutual_information(inside: Ints, outside: Ints, n_inside: int, n_outside: int) -> Floats:
    """I(feature; set) in bits, `(n_features,)`, from the number of items in and out of the set with each feature.

    I = sum over x in 0, 1 and y in in, out of p(x, y) log2( p(x, y) / (p(x) p(y)) ), with add-one smoothing of the four
    counts (Manning, Raghavan and Schuetze 2008, section 13.5).
    """
    cells = np.array([inside, n_inside - inside, outside, n_outside - outside], float) + 1
    p = cells / cells.sum(axis=0)
    present, absent = p[0] + p[2], p[1] + p[3]
    in_set, out_of_set = p[0] + p[1], p[2] + p[3]
    independent = np.array([present * in_set, absent * in_set, present * out_of_set, absent * out_of_set])
    bits: Floats = (p * np.log2(p / independent)).sum(axis=0)
    return bits
