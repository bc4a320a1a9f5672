"""Compiled loops (extra `[numba]`), with heap_numba.py and instructions_numba.py. Compiled once, then cached.

The cache of this file does not see a change of the other two: change this one, too, or delete it.

`lists` are the ids of posting lists, unsigned so that no loop looks for negative ones, where each starts and ends.
`planes` are bits, `(n_rows, n_words)`, the rows of some long lists (planes.py), and the weights of these; `long` are
planes, these weights as whole numbers of units, and a bound (`split`). `part` are lists, values of their entries or
nothing for ones, and the weights of the lists. `items` are the base, and a bound of it: top - step * below[i].
`found` are the k best so far (heap_numba.py).
"""

import math
from typing import Any

import numpy as np

from setsearch.scoring.compiled_primitives import (
    INEXACT,
    MISSING,
    add_where,
    compiled,
    fetch,
    in_order,
    kth_largest,
    offer,
)

BIT = np.array([1 << b for b in range(32)], np.uint32)
LINE, AHEAD = 16, 1024  # ids of a cache line, and how many of a list are fetched ahead; further on processors do so
ROWS = 64  # of which the maxima of scores are taken
WAITING = 256  # items whose bases are read together
WORDS = 64  # of planes, whose sums stay in the processor's nearest cache while all planes are added
FINEST, LARGEST = 1 << 10, (1 << 15) - 1  # the largest weight in units, and what sums in 16 bits may reach


@compiled
def _place_of(ids: Any, begin: Any, end: Any, guess: Any, id: Any) -> Any:
    """The first place from `begin` on whose id is `id` or larger, or `end`; near the guess, few places are read."""
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
def add(scores: Any, lists: Any, values: Any, weights: Any, low: Any, n_items: Any, everywhere: Any) -> None:
    """Add weights[i] * values[p] at ids[p] - low, from starts[i] on to the last id that `scores` has room for.

    The starts are moved on behind it. No values: ones; these `everywhere`, or only where a score is not 0.
    """
    ids, starts, ends = lists
    first, beyond = np.uint32(low), np.int64(low) + len(scores)
    for i in range(len(weights)):
        if beyond >= n_items and i + 1 < len(weights):  # the next list, while this one is added
            for p in range(starts[i + 1], min(ends[i + 1], starts[i + 1] + AHEAD), LINE):
                fetch(ids, p)
                if len(values):
                    fetch(values, p)
        weight, begin, end = weights[i], starts[i], ends[i]
        if beyond < n_items and begin < end and ids[end - 1] >= beyond:  # a look at the end waits for far memory
            share = len(scores) / (np.int64(ids[end - 1]) - low + 1)
            end = _place_of(ids, begin, end, begin + int(share * (end - begin)), beyond)
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
def split(lists: Any, row_of: Any, shortest: Any) -> Any:
    """Ends of lists without those of `shortest` ids and more; of these rows, weights, weights in units, and a bound.

    Lists are starts, ends, weights, `row_of` the rows by stretches of starts (planes.py). The bound is the unit, and
    how much more than what is in units some weights add up to; a unit of -1 says that a row is missing. Rows of weight
    0 fill up a multiple of four.
    """
    starts, ends, weights = lists
    short, rows, of_long = ends.copy(), np.zeros(len(starts) + 3, np.int64), np.zeros(len(starts) + 3)
    n_long, complete, more = 0, True, 0.0
    for i in range(len(starts)):
        if ends[i] - starts[i] >= shortest:
            stretch = starts[i] // shortest
            rows[n_long] = row_of[stretch] if stretch < len(row_of) else -1
            complete &= rows[n_long] >= 0
            of_long[n_long], short[i] = weights[i], starts[i]
            n_long += 1
    n_long = (n_long + 3) // 4 * 4
    unit = max(2.0 ** math.frexp(np.abs(of_long).max())[1] / FINEST, 2.0**-36)  # of which weights are multiples
    counts = np.empty(n_long, np.int16)
    for i in range(n_long):
        counts[i] = np.rint(of_long[i] / unit)
        more += max(0.0, of_long[i] - counts[i] * unit)
    return short, (rows[:n_long], of_long[:n_long], counts, (unit if complete else -1.0, more))


@compiled
def add_planes(added: Any, planes: Any, counts: Any, unit: Any, low: Any, kept: Any) -> None:
    """Add counts[i] units to the items of the planes, added[0] being item low; four planes at a time, in 16 bits.

    What is in `added` before counts only if it is `kept`.
    """
    bits, rows, _ = planes
    first, n_words, some = low // 32, -(-len(added) // 32), np.empty(32 * WORDS, np.int16)
    for begin in range(0, n_words, WORDS):
        n_some, i = min(WORDS, n_words - begin), 0
        own = added[32 * begin : 32 * (begin + n_some)]
        if not kept and not len(rows):
            own[:] = 0.0
        while i < len(rows):
            new, some[:], room = i == 0 and not kept, 0, LARGEST
            while i < len(rows) and room >= 4 * FINEST:
                a, b, c, d = counts[i], counts[i + 1], counts[i + 2], counts[i + 3]
                of_a, of_b, of_c, of_d = bits[rows[i]], bits[rows[i + 1]], bits[rows[i + 2]], bits[rows[i + 3]]
                for word in range(n_some):
                    at = first + begin + word
                    add_where(some, 32 * word, (of_a[at], of_b[at], of_c[at], of_d[at]), (a, b, c, d))
                room -= abs(a) + abs(b) + abs(c) + abs(d)
                i += 4
            if new:
                for place in range(len(own)):
                    own[place] = unit * some[place]
            else:
                for place in range(len(own)):
                    own[place] += unit * some[place]


@compiled
def _reach_of_columns(added: Any, below: Any, step: Any, top: Any) -> Any:
    """The largest added - step * below + top of each column."""
    height, width = added.shape
    reach = np.full(width, -np.inf)
    for row in range(height):
        steps = below[row * width : (row + 1) * width]
        for column in range(len(steps)):
            reached = added[row, column] - step * steps[column]
            reach[column] = reached if reached > reach[column] else reach[column]
    reach += top
    return reach


@compiled
def _offer_at(place: Any, added: Any, long: Any, base: Any, low: Any, found: Any) -> None:
    """Offer an item by its score, base + added + what planes add beyond their units."""
    (bits, rows, of_long), counts, (unit, _) = long
    id, score = low + place, added[place] + base[place]
    word, bit = id // 32, BIT[id % 32]
    for i in range(len(rows)):
        if bits[rows[i], word] & bit:
            score += of_long[i] - counts[i] * unit
    offer(found, id, score)


@compiled
def _offer_best(added: Any, long: Any, items: Any, low: Any, found: Any) -> None:
    """Offer the best of the items from `low` on. Item low + i is in row i // width and column i % width.

    First those of largest bounds in the k columns of largest bounds, then all whose bounds reach the least of the best.
    """
    base, below, top, step = items
    best, k, width = found[0], len(found[0]), len(added) // ROWS
    top += long[2][1]
    reach = _reach_of_columns(added.reshape((ROWS, width)), below, step, top)
    least, count = max(kth_largest(reach, k), best[0]), 0
    places, bounds = np.empty(ROWS * k, np.int64), np.empty(ROWS * k)
    for column in range(width):
        if reach[column] >= least and count + ROWS <= len(bounds):
            for place in range(column, len(base), width):
                places[count], bounds[count] = place, added[place] - step * below[place] + top
                count += 1
            reach[column] = -np.inf
    least = kth_largest(bounds[:count], k)
    for i in range(count):
        if bounds[i] >= least:
            _offer_at(places[i], added, long, base, low, found)
            bounds[i] = -np.inf
    for i in range(count):
        if bounds[i] >= best[0] and bounds[i] != -np.inf:
            _offer_at(places[i], added, long, base, low, found)
    for column in range(width):
        if reach[column] >= best[0] and reach[column] != -np.inf:
            for place in range(column, len(base), width):
                if added[place] - step * below[place] + top >= best[0]:
                    _offer_at(place, added, long, base, low, found)


@compiled
def _put(added: Any, ids: Any, low: Any, value: Any) -> None:
    """A value for some ids, in the place of what was added to these of the items from `low` on."""
    for id in ids:
        if low <= id < low + len(added):
            added[id - low] = value


@compiled
def search_all(work: Any, items: Any, part: Any, long: Any, without: Any, found: Any, kept: Any) -> None:
    """Find the best of all items but some, as many at a time as there is room for in `work`.

    What that holds before, where there is room for all items, counts too if it is `kept`.
    """
    base, below, top, step = items
    ids, starts, ends, values, weights = part
    places, size = starts.copy(), len(work)
    for low in range(0, len(base), size):
        own = (base[low : low + size], below[low : low + size], top, step)
        added = work[: -(-len(own[0]) // ROWS) * ROWS]
        add_planes(added[: len(own[0])], long[0], long[1], long[2][0], low, kept)
        add(added, (ids, places, ends), values, weights, low, len(base), True)
        _put(added, without, low, -np.inf)
        _offer_best(added, long, own, low, found)


@compiled
def _offer_several(found: Any, ids: Any, added: Any, base: Any) -> None:
    """Offer items by what was added to their base."""
    for i in range(len(ids)):
        added[i] += base[ids[i]]  # without a branch, so that the processor waits for many at once
    for i in range(len(ids)):
        offer(found, ids[i], added[i])


@compiled
def search_touched(added: Any, items: Any, part: Any, without: Any, found: Any) -> None:
    """Find the best of the items of some lists but some, len(added) items at a time; `added` is put back to zeros.

    The lists of largest weights come first: their items are the best. What is in none but the last lists, which all
    together do not reach the least of the best, is passed over, and so are items to which nothing was added.
    """
    base, below, top, step = items
    ids, starts, ends, values, weights = part
    turn, places = np.argsort(-weights), starts.copy()
    if not len(values):  # then the order of additions changes no bit
        places, ends, weights, turn = places[turn], ends[turn], weights[turn], np.arange(len(turn))
    likely, added_to_likely, best = np.empty(WAITING, np.uint32), np.empty(WAITING), found[0]
    for low in range(0, len(base), len(added)):
        begins, first, count, some, reach = places.copy(), np.uint32(low), 0, len(turn), top
        while some and not len(values) and reach + max(weights[some - 1], 0.0) < best[0]:
            some, reach = some - 1, reach + max(weights[some - 1], 0.0)
        add(added, (ids, places[:some], ends[:some]), values, weights[:some], low, len(base), True)
        add(added, (ids, places[some:], ends[some:]), values, weights[some:], low, len(base), False)
        _put(added, without, low, -np.inf)
        for i in turn[:some]:
            for p in range(begins[i], places[i]):
                id = ids[p]
                more = added[id - first]
                added[id - first] = 0.0  # so that each item counts once
                if more + top >= best[0] and more + top - step * below[id] >= best[0] and more != 0.0:
                    likely[count], added_to_likely[count] = id, more
                    count += 1
                    if count == WAITING:
                        _offer_several(found, likely, added_to_likely, base)
                        count = 0
        _offer_several(found, likely[:count], added_to_likely[:count], base)
        _put(added, without, low, 0.0)


@compiled
def find(work: Any, items: Any, part: Any, known: Any, without: Any, wanted: Any) -> Any:
    """How it ended, and the number of the k best items but some, which are in `work` then, best first if it is DONE.

    `work` are anything, zeros, put back to that, ids and scores; `known` are `row_of` of `split`, bits, and the length
    of a long list; `wanted` are k, what weights may add up to so that sums are exact, how many postings are few, and
    whether the first of `work` counts (`search_all`).
    """
    ids, starts, ends, values, weights = part
    (sums, zeros, found_ids, found_scores), (k, room, few, kept) = work, wanted
    found = np.full(k, -np.inf), found_ids[: 8 * k + 1000], found_scores[: 8 * k + 1000], np.zeros(2, np.int64)
    if np.abs(weights).sum() * (1 if len(values) else 3) >= room:  # in units they are up to three times as much
        return INEXACT, 0
    if (ends - starts).sum() < few:
        search_touched(zeros, items, part, without, found)
        if found[0][0] > items[2]:  # no other item reaches that
            return in_order(found)
        found[0][:], found[3][:] = -np.inf, 0
    row_of, bits, shortest = known
    short, (rows, of_long, counts, bound) = split((starts, ends, weights), row_of, shortest)
    if bound[0] < 0:
        return MISSING, 0
    long = (bits, rows, of_long), counts, bound
    search_all(sums, items, (ids, starts, short, values, weights), long, without, found, kept)
    return in_order(found)
