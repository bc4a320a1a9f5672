"""Compiled loops (extra `[numba]`), compiled once and then cached on disk.

The cache of this file does not notice a change of compiled_primitives.py: change this file too, or delete the cache.

    lists    unsigned ids of posting lists, where each starts and ends
    part     lists, values of their entries (empty: ones), and a weight for each list
    bitmaps  bits `(n_rows, n_words)`, the rows of some long lists (bitmaps.py), and the weights of these
    long     bitmaps, these weights in multiples of a unit, and a bound (`split_long`)
    items    the base, and a bound of it: top - step * steps[i]
    state    the k best so far (compiled_primitives.py)
"""

import math
from typing import Any

import numpy as np

from setsearch.arrays import compiled
from setsearch.scoring.compiled_primitives import (
    INEXACT,
    MISSING_BITMAP,
    add_where,
    kth_largest,
    offer,
    prefetch,
    sort_candidates,
)

BIT = np.array([1 << b for b in range(32)], np.uint32)
CACHE_LINE, PREFETCHED = 16, 256  # ids; beyond, processors prefetch by themselves
AHEAD = 16  # lists: far memory answers after some of them were added
ROWS = 64  # items of a column, whose maximum is a bound
READ_TOGETHER = 256  # items whose bases are read together
WORDS_TOGETHER = 64  # of bitmaps; their sums stay in the processor's nearest cache
LARGEST_WEIGHT, LARGEST_SUM = 1 << 10, (1 << 15) - 1  # in units; sums have 16 bits


@compiled
def _first_reaching(ids: Any, begin: Any, end: Any, guess: Any, id: Any) -> Any:
    """The first position from `begin` whose id is at least `id`, or `end`; reads few positions if the guess is near."""
    below, reaching, step = guess, guess, 1
    if ids[guess] < id:
        reaching += 1
        while reaching < end and ids[reaching] < id:
            below, reaching, step = reaching, reaching + step, 2 * step
        reaching = min(reaching, end)
    else:
        below -= 1
        while below >= begin and ids[below] >= id:
            reaching, below, step = below, below - step, 2 * step
        below = max(below, begin - 1)
    while reaching - below > 1:
        middle = (below + reaching) >> 1
        if ids[middle] < id:
            below = middle
        else:
            reaching = middle
    return reaching


@compiled
def _prefetch_list(lists: Any, values: Any, i: Any) -> None:
    ids, starts, ends = lists
    for p in range(starts[i], min(ends[i], starts[i] + PREFETCHED), CACHE_LINE):
        prefetch(ids, p)
        if len(values):
            prefetch(values, p)


@compiled
def add(scores: Any, lists: Any, values: Any, weights: Any, low: Any, n_items: Any, everywhere: Any) -> None:
    """Add weights[i] * values[p] at ids[p] - low, from starts[i] to the last id that `scores` has room for.

    Moves the starts behind that id. Without values entries are 1, and are added `everywhere` or only to nonzero scores.
    """
    ids, starts, ends = lists
    first, beyond = np.uint32(low), np.int64(low) + len(scores)
    for i in range(min(AHEAD, len(weights))):
        _prefetch_list(lists, values, i)
    for i in range(len(weights)):
        if i + AHEAD < len(weights):
            _prefetch_list(lists, values, i + AHEAD)
        weight, begin, end = weights[i], starts[i], ends[i]
        if beyond < n_items and begin < end and ids[end - 1] >= beyond:  # reading the end waits for far memory
            share = len(scores) / (np.int64(ids[end - 1]) - low + 1)
            end = _first_reaching(ids, begin, end, begin + int(share * (end - begin)), beyond)
        if len(values):
            for p in range(begin, end):
                scores[ids[p] - first] += weight * values[p]
        elif everywhere:
            for p in range(begin, end):
                scores[ids[p] - first] += weight
        else:
            for p in range(begin, end):
                if scores[ids[p] - first] != 0.0:
                    scores[ids[p] - first] += weight
        starts[i] = end


@compiled
def split_long(lists: Any, row_of: Any, shortest: Any) -> Any:
    """Separate the lists of `shortest` ids and more: ends without them; their rows, weights, rounded weights, a bound.

    Lists are starts, ends and weights; `row_of` gives rows by stretches of starts (bitmaps.py). The bound is the unit
    of the rounded weights, -1 if a bitmap is missing, and what rounding takes away at most. Rows of weight 0 fill up a
    multiple of four.
    """
    starts, ends, weights = lists
    short_ends, rows, long_weights = ends.copy(), np.zeros(len(starts) + 3, np.int64), np.zeros(len(starts) + 3)
    n_long, complete, lost = 0, True, 0.0
    for i in range(len(starts)):
        if ends[i] - starts[i] >= shortest:
            stretch = starts[i] // shortest
            rows[n_long] = row_of[stretch] if stretch < len(row_of) else -1
            complete &= rows[n_long] >= 0
            long_weights[n_long], short_ends[i] = weights[i], starts[i]
            n_long += 1
    n_long = (n_long + 3) // 4 * 4
    unit = max(2.0 ** math.frexp(np.abs(long_weights).max())[1] / LARGEST_WEIGHT, 2.0**-36)
    rounded = np.empty(n_long, np.int16)
    for i in range(n_long):
        rounded[i] = np.rint(long_weights[i] / unit)
        lost += max(0.0, long_weights[i] - rounded[i] * unit)
    return short_ends, (rows[:n_long], long_weights[:n_long], rounded, (unit if complete else -1.0, lost))


@compiled
def add_bitmaps(added: Any, bitmaps: Any, rounded: Any, unit: Any, low: Any) -> None:
    """Add rounded[i] units to the items of the bitmaps, four bitmaps at a time, in 16 bits; added[0] is item low.

    What was in `added` before is overwritten.
    """
    bits, rows, _ = bitmaps
    first, n_words, sums = low // 32, -(-len(added) // 32), np.empty(32 * WORDS_TOGETHER, np.int16)
    for begin in range(0, n_words, WORDS_TOGETHER):
        n_together, i = min(WORDS_TOGETHER, n_words - begin), 0
        target = added[32 * begin : 32 * (begin + n_together)]
        if not len(rows):
            target[:] = 0.0
        while i < len(rows):
            overwrite, sums[:], room = i == 0, 0, LARGEST_SUM
            while i < len(rows) and room >= 4 * LARGEST_WEIGHT:
                a, b, c, d = rounded[i], rounded[i + 1], rounded[i + 2], rounded[i + 3]
                bits_a, bits_b, bits_c, bits_d = bits[rows[i]], bits[rows[i + 1]], bits[rows[i + 2]], bits[rows[i + 3]]
                for word in range(n_together):
                    at = first + begin + word
                    add_where(sums, 32 * word, (bits_a[at], bits_b[at], bits_c[at], bits_d[at]), (a, b, c, d))
                room -= abs(a) + abs(b) + abs(c) + abs(d)
                i += 4
            if overwrite:
                for place in range(len(target)):
                    target[place] = unit * sums[place]
            else:
                for place in range(len(target)):
                    target[place] += unit * sums[place]


@compiled
def _column_bounds(added: Any, steps: Any, step: Any, top: Any) -> Any:
    """The largest added - step * steps + top of each column."""
    height, width = added.shape
    bounds = np.full(width, -np.inf)
    for row in range(height):
        row_steps = steps[row * width : (row + 1) * width]
        for column in range(len(row_steps)):
            bound = added[row, column] - step * row_steps[column]
            bounds[column] = bound if bound > bounds[column] else bounds[column]
    bounds += top
    return bounds


@compiled
def _offer_at(place: Any, added: Any, long: Any, base: Any, low: Any, state: Any) -> None:
    """Offer an item with its exact score: base + added + what rounding took away."""
    (bits, rows, long_weights), rounded, (unit, _) = long
    id, score = low + place, added[place] + base[place]
    word, bit = id // 32, BIT[id % 32]
    for i in range(len(rows)):
        if bits[rows[i], word] & bit:
            score += long_weights[i] - rounded[i] * unit
    offer(state, id, score)


@compiled
def _offer_best(added: Any, long: Any, items: Any, low: Any, state: Any) -> None:
    """Offer the best of the items from `low` on. Item low + i is in row i // width and column i % width.

    First the items of largest bounds in the k columns of largest bounds, then all whose bounds reach the k best.
    """
    base, steps, top, step = items
    best, k, width = state[0], len(state[0]), len(added) // ROWS
    top += long[2][1]
    reach = _column_bounds(added.reshape((ROWS, width)), steps, step, top)
    least, count = max(kth_largest(reach, k), best[0]), 0
    places, bounds = np.empty(ROWS * k, np.int64), np.empty(ROWS * k)
    for column in range(width):
        if reach[column] >= least and count + ROWS <= len(bounds):
            for place in range(column, len(base), width):
                places[count], bounds[count] = place, added[place] - step * steps[place] + top
                count += 1
            reach[column] = -np.inf
    least = kth_largest(bounds[:count], k)
    for i in range(count):
        if bounds[i] >= least:
            _offer_at(places[i], added, long, base, low, state)
            bounds[i] = -np.inf
    for i in range(count):
        if bounds[i] >= best[0] and bounds[i] != -np.inf:
            _offer_at(places[i], added, long, base, low, state)
    for column in range(width):
        if reach[column] >= best[0] and reach[column] != -np.inf:
            for place in range(column, len(base), width):
                if added[place] - step * steps[place] + top >= best[0]:
                    _offer_at(place, added, long, base, low, state)


@compiled
def _set(added: Any, ids: Any, low: Any, value: Any) -> None:
    """Overwrite what was added to some ids; added[0] is item low."""
    for id in ids:
        if low <= id < low + len(added):
            added[id - low] = value


@compiled
def search_all(scratch: Any, items: Any, part: Any, long: Any, excluded: Any, state: Any) -> None:
    """Find the best of all items, as many at a time as fit into `scratch`."""
    base, steps, top, step = items
    ids, starts, ends, values, weights = part
    positions, size = starts.copy(), len(scratch)
    for low in range(0, len(base), size):
        chunk = (base[low : low + size], steps[low : low + size], top, step)
        added = scratch[: -(-len(chunk[0]) // ROWS) * ROWS]
        add_bitmaps(added[: len(chunk[0])], long[0], long[1], long[2][0], low)
        add(added, (ids, positions, ends), values, weights, low, len(base), True)
        _set(added, excluded, low, -np.inf)
        _offer_best(added, long, chunk, low, state)


@compiled
def _offer_several(state: Any, ids: Any, added: Any, base: Any) -> None:
    """Offer items by what was added to their base."""
    for i in range(len(ids)):
        added[i] += base[ids[i]]  # without a branch, so that the processor reads many at once
    for i in range(len(ids)):
        offer(state, ids[i], added[i])


@compiled
def search_touched(added: Any, items: Any, part: Any, excluded: Any, state: Any) -> None:
    """Find the best of the items that lists touch, len(added) items at a time; `added` ends as it began, all zeros.

    The lists of largest weights come first: their items are the best. Items that occur only in the last lists, whose
    weights together do not reach the k best, are skipped.
    """
    base, steps, top, step = items
    ids, starts, ends, values, weights = part
    order, positions = np.argsort(-weights), starts.copy()
    if not len(values):  # then the order of additions changes no bit
        positions, ends, weights, order = positions[order], ends[order], weights[order], np.arange(len(order))
    likely, likely_added, best = np.empty(READ_TOGETHER, np.uint32), np.empty(READ_TOGETHER), state[0]
    for low in range(0, len(base), len(added)):
        begins, first, count, needed, reach = positions.copy(), np.uint32(low), 0, len(order), top
        while needed and not len(values) and reach + max(weights[needed - 1], 0.0) < best[0]:
            needed, reach = needed - 1, reach + max(weights[needed - 1], 0.0)
        add(added, (ids, positions[:needed], ends[:needed]), values, weights[:needed], low, len(base), True)
        add(added, (ids, positions[needed:], ends[needed:]), values, weights[needed:], low, len(base), False)
        _set(added, excluded, low, -np.inf)
        for i in order[:needed]:
            for p in range(begins[i], positions[i]):
                id = ids[p]
                more = added[id - first]
                added[id - first] = 0.0  # so that each item counts once
                if more + top >= best[0] and more + top - step * steps[id] >= best[0] and more != 0.0:
                    likely[count], likely_added[count] = id, more
                    count += 1
                    if count == READ_TOGETHER:
                        _offer_several(state, likely, likely_added, base)
                        count = 0
        _offer_several(state, likely[:count], likely_added[:count], base)
        _set(added, excluded, low, 0.0)


@compiled
def find(scratch: Any, items: Any, part: Any, known_bitmaps: Any, excluded: Any, limits: Any) -> Any:
    """How the search ended, and the number of the k best items; if DONE, `scratch` holds them, best first.

    `scratch` has four arrays: any numbers; zeros, restored at the end; ids; scores. `known_bitmaps` are `row_of` of
    `split_long`, bits, and the length of a long list. `limits` are k, the bound of exact sums, and how many postings
    are few.
    """
    ids, starts, ends, values, weights = part
    (sums, zeros, found_ids, found_scores), (k, bound, few) = scratch, limits
    state = np.full(k, -np.inf), found_ids[: 8 * k + 1000], found_scores[: 8 * k + 1000], np.zeros(2, np.int64)
    if np.abs(weights).sum() * (1 if len(values) else 3) >= bound:  # rounded sums are up to three times as large
        return INEXACT, 0
    if (ends - starts).sum() < few:
        search_touched(zeros, items, part, excluded, state)
        if state[0][0] > items[2]:  # no untouched item reaches that
            return sort_candidates(state)
        state[0][:], state[3][:] = -np.inf, 0
    row_of, bits, shortest = known_bitmaps
    short_ends, (rows, long_weights, rounded, unit_and_lost) = split_long((starts, ends, weights), row_of, shortest)
    if unit_and_lost[0] < 0:
        return MISSING_BITMAP, 0
    long = (bits, rows, long_weights), rounded, unit_and_lost
    search_all(sums, items, (ids, starts, short_ends, values, weights), long, excluded, state)
    return sort_candidates(state)


@compiled
def multiply(rows: Any, numbers: Any, found: Any) -> None:
    """found[i] = the sum of rows[i, j] * numbers[j]: whole numbers of 8 and 32 bits, sums of 32 bits."""
    for i in range(len(rows)):
        total = np.int32(0)
        for j in range(rows.shape[1]):
            total += np.int32(rows[i, j]) * numbers[j]
        found[i] = total
