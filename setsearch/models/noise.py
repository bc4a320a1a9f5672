"""Which fields of features are noise beside the first one: what items share there, they share by chance.

Items that share a feature of the first field are compared in pairs with any of these items. In a field, s_j of the
pairs share a feature j, where by chance c_j would; rare ones tell more: b_j = floor(log2(n / df_j)).

    the field is noise if   sum_j b_j s_j + 2 sqrt(sum_j b_j^2 s_j) < 1.1 sum_j b_j c_j

So surely less than a tenth more is shared than by chance; of few pairs that is never sure. The pairs are those of first
features that few items have, as many as are counted soon. Sums are of whole numbers: no order of items changes them.
"""

import numpy as np

from setsearch.arrays import Ints, bincount, offsets, places_among, positions, repeat, run_starts
from setsearch.lists import Lists

MOST_PAIRS, MOST_COMPARED = 100_000, 1_000_000  # pairs, and features of these, about
MORE, SURE = 1.1, 2.0  # times what is shared by chance, and standard errors


def noisy_fields(lists: Lists, of_feature: Ints, n_items: int) -> list[int]:
    """The places of the fields that are noise; `of_feature` has the place of the field of each feature, 0 the first."""
    n_ids, df = lists.n_ids, lists.lengths
    entries = lists.take(np.flatnonzero(of_feature))
    most = min(MOST_PAIRS, MOST_COMPARED * n_items // max(len(entries.ids), 1))
    one, other = _pairs(lists, np.flatnonzero(of_feature == 0), most)
    times = bincount(np.concatenate([one, other]), minlength=n_ids).astype(float)  # in how many pairs an item is
    entries = entries.select(times[entries.ids] > 0)
    order, lengths = np.argsort(entries.ids, kind="stable"), bincount(entries.ids, minlength=n_ids)
    of_one = entries.lists[order][positions(offsets(lengths)[one], lengths[one])]
    cells, wanted = entries.lists * n_ids + entries.ids, of_one * n_ids + repeat(other, lengths[one])
    shared = bincount(of_one[places_among(cells, wanted)[1]], minlength=len(df))
    having, same = (bincount(entries.lists, own[entries.ids], len(df)) for own in (times, times**2))
    bits = np.frexp(n_items // np.maximum(df, 1))[1] - 1.0
    told = (bits * shared, bits**2 * shared, bits * (having**2 - same))
    found, squares, others = (bincount(of_feature, own) for own in told)
    by_chance = others * (len(one) / max(times.sum() ** 2 - (times**2).sum(), 1.0))
    return np.flatnonzero(found + SURE * np.sqrt(squares) < MORE * by_chance).tolist()


def _pairs(lists: Lists, features: Ints, most: int) -> tuple[Ints, Ints]:
    """The items of pairs that share a feature, each pair once: of the features with few items, the fewest first."""
    df, chosen = lists.lengths[features], list[int]()
    counts = bincount(df)
    for size in np.flatnonzero(counts)[np.flatnonzero(counts) > 1].tolist():
        pairs = int(counts[size]) * size * (size - 1) // 2
        if pairs <= most:
            chosen.append(size)
            most -= pairs
    few = features[np.isin(df, chosen)]
    entries, lengths = lists.take(few), lists.lengths[few]
    ends = repeat(offsets(lengths)[1:], lengths)
    later = ends - np.arange(len(entries.ids)) - 1  # items behind one in its list, whose ids are larger
    both = repeat(entries.ids, later) * lists.n_ids + entries.ids[positions(ends - later, later)]
    both.sort()
    both = both[run_starts(both)]
    return both // lists.n_ids, both % lists.n_ids
