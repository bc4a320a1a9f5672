"""Compiled loops (extra `[numba]`; masks_numba.py belongs to them). Compiled once, then loaded from a cache.

`lists` are the ids of posting lists, unsigned so that no loop looks for negative ones, where each starts and ends.
`planes` are bits, `(n_rows, n_words)`, the rows of some long lists (planes.py), and the weights of these; `long` are
planes, these weights as whole numbers of units, and a bound (`split`). `part` are lists, values of their entries or
nothing for ones, and the weights of the lists. `items` are the base, and a bound of it: top - step * below[i].
`found` is the k best scores so far as a heap, least first; ids and scores of items that reached the least when they
were seen; and [how many these are, whether there was no room for one].
"""

import math
from typing import Any

import numba
import numpy as np

from setsearch.masks_numba import add_where

DONE, EQUAL, CROWDED, INEXACT, MISSING = range(5)  # how a search ends
BIT = np.array([1 << b for b in range(32)], np.uint32)
ROWS = 64  # of which the maxima of scores are taken
WAITING = 256  # items whose bases are read together
WORDS = 64  # of planes, whose sums stay in the processor's nearest cache while all planes are added
FINEST, LARGEST = 1 << 10, (1 << 15) - 1  # the largest weight in units, and what sums in 16 bits may reach

compiled = numba.njit(nogil=True, cache=True)


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
def _replace_least(best: Any, score: Any) -> None:
    """Put a score in the place of the least of a heap."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(best):
            break
        if child + 1 < len(best) and best[child + 1] < best[child]:
            child += 1
        if best[child] >= score:
            break
        best[place] = best[child]
        place = child
    best[place] = score


@compiled
def _offer(found: Any, id: Any, score: Any) -> None:
    """Take an item that reaches the least of the best; one of -inf is none."""
    best, ids, scores, state = found
    if score < best[0] or score == -np.inf:
        return
    if state[0] == len(ids):
        kept = 0
        for i in range(len(ids)):
            if scores[i] >= best[0]:
                ids[kept], scores[kept] = ids[i], scores[i]
                kept += 1
        state[0] = kept
        state[1] |= 2 * kept > len(ids)
    if not state[1]:
        ids[state[0]], scores[state[0]] = id, score
        state[0] += 1
    if score > best[0]:
        _replace_least(best, score)


@compiled
def add(scores: Any, lists: Any, values: Any, weights: Any, low: Any, n_items: Any, everywhere: Any) -> None:
    """Add weights[i] * values[p] at ids[p] - low, from starts[i] on to the last id that `scores` has room for.

    The starts are moved on behind it. No values: ones; these `everywhere`, or only where a score is not 0.
    """
    ids, starts, ends = lists
    first, beyond = np.uint32(low), np.int64(low) + len(scores)
    for i in range(len(weights)):
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
def split(lists: Any, known: Any, shortest: Any) -> Any:
    """Ends of lists without those of `shortest` ids and more; of these rows, weights, weights in units, and a bound.

    Lists are starts, ends, weights, `known` starts, ascending, and their rows. The bound is the unit, and how much more
    than what is in units some weights add up to; a unit of -1 says that a row is missing. Rows of weight 0 fill up a
    multiple of four.
    """
    starts, ends, weights = lists
    short, rows, of_long = ends.copy(), np.zeros(len(starts) + 3, np.int64), np.zeros(len(starts) + 3)
    n_long, complete, more = 0, True, 0.0
    for i in range(len(starts)):
        if ends[i] - starts[i] >= shortest:
            place = np.searchsorted(known[0], starts[i], "right") - 1
            complete &= known[0][place] == starts[i]
            rows[n_long], of_long[n_long] = known[1][place], weights[i]
            short[i] = starts[i]
            n_long += 1
    n_long = (n_long + 3) // 4 * 4
    unit = max(2.0 ** math.frexp(np.abs(of_long).max())[1] / FINEST, 2.0**-36)  # of which weights are multiples
    counts = np.empty(n_long, np.int16)
    for i in range(n_long):
        counts[i] = np.rint(of_long[i] / unit)
        more += max(0.0, of_long[i] - counts[i] * unit)
    return short, (rows[:n_long], of_long[:n_long], counts, (unit if complete else -1.0, more))


@compiled
def add_planes(added: Any, planes: Any, counts: Any, unit: Any, low: Any) -> None:
    """Add counts[i] units to the items of the planes, added[0] being item low; four planes at a time, in 16 bits."""
    bits, rows, _ = planes
    first, n_words, some = low // 32, -(-len(added) // 32), np.empty(32 * WORDS, np.int16)
    for begin in range(0, n_words, WORDS):
        n_some, i = min(WORDS, n_words - begin), 0
        while i < len(rows):
            some[:], room = 0, LARGEST
            while i < len(rows) and room >= 4 * FINEST:
                a, b, c, d = counts[i], counts[i + 1], counts[i + 2], counts[i + 3]
                of_a, of_b, of_c, of_d = bits[rows[i]], bits[rows[i + 1]], bits[rows[i + 2]], bits[rows[i + 3]]
                for word in range(n_some):
                    at = first + begin + word
                    add_where(some, 32 * word, (of_a[at], of_b[at], of_c[at], of_d[at]), (a, b, c, d))
                room -= abs(a) + abs(b) + abs(c) + abs(d)
                i += 4
            own = added[32 * begin : 32 * (begin + n_some)]
            for place in range(len(own)):
                own[place] += unit * some[place]


@compiled
def _reach_of_columns(added: Any, below: Any, step: Any) -> Any:
    """The largest added - step * below of each column."""
    height, width = added.shape
    reach = np.full(width, -np.inf)
    for row in range(height):
        steps = below[row * width : (row + 1) * width]
        for column in range(len(steps)):
            reached = added[row, column] - step * steps[column]
            reach[column] = reached if reached > reach[column] else reach[column]
    return reach


@compiled
def _offer_best(added: Any, long: Any, items: Any, low: Any, found: Any) -> None:
    """Offer the best of the items from `low` on, whose scores are base + added + what planes add beyond their units.

    Item low + i is in row i // width and column i % width. A column whose bounds do not reach the least of the best is
    not looked at; those of largest bounds come first.
    """
    base, below, top, step = items
    (bits, rows, of_long), counts, (unit, more_at_most) = long
    width, best = added.shape[1], found[0]
    top += more_at_most
    reach = _reach_of_columns(added, below, step)
    likely = np.full(len(best), -np.inf)
    for column in range(width):
        reach[column] += top
        if reach[column] > likely[0]:
            _replace_least(likely, reach[column])
    for first in (True, False):
        for column in range(width):
            if reach[column] >= best[0] and (reach[column] >= likely[0]) == first:
                for place in range(column, len(base), width):
                    score = added[place // width, column]
                    if score - step * below[place] + top >= best[0]:
                        id, score = low + place, score + base[place]
                        for i in range(len(rows)):
                            if bits[rows[i], id // 32] & BIT[id % 32]:
                                score += of_long[i] - counts[i] * unit
                        _offer(found, id, score)


@compiled
def _put(added: Any, ids: Any, low: Any, value: Any) -> None:
    """A value for some ids, in the place of what was added to these of the items from `low` on."""
    for id in ids:
        if low <= id < low + len(added):
            added[id - low] = value


@compiled
def search_all(work: Any, items: Any, part: Any, long: Any, without: Any, found: Any) -> None:
    """Find the best of all items but some, as many at a time as there is room for in `work`; that is put back to zeros.

    What it holds already, where there is room for all items, counts too.
    """
    base, below, top, step = items
    ids, starts, ends, values, weights = part
    places, size = starts.copy(), len(work)
    for low in range(0, len(base), size):
        own = (base[low : low + size], below[low : low + size], top, step)
        width = -(-len(own[0]) // ROWS)
        added = work[: ROWS * width]
        add_planes(added[: len(own[0])], long[0], long[1], long[2][0], low)
        add(added, (ids, places, ends), values, weights, low, len(base), True)
        _put(added, without, low, -np.inf)
        _offer_best(added.reshape((ROWS, width)), long, own, low, found)
        added[:] = 0.0


@compiled
def _offer_several(found: Any, ids: Any, added: Any, base: Any) -> None:
    """Offer items by what was added to their base."""
    for i in range(len(ids)):
        added[i] += base[ids[i]]  # without a branch, so that the processor waits for many at once
    for i in range(len(ids)):
        _offer(found, ids[i], added[i])


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
def _in_order(found: Any) -> Any:
    """How it ended, and how many best items come first now, in order; EQUAL: some have equal scores."""
    best, ids, scores, state = found
    end, count = CROWDED if state[1] else DONE, 0
    for i in range(state[0]):
        id, score, place = ids[i], scores[i], count
        if score >= best[0] and end != CROWDED:
            while place and scores[place - 1] < score:
                ids[place], scores[place] = ids[place - 1], scores[place - 1]
                place -= 1
            end = EQUAL if place and scores[place - 1] == score else end
            ids[place], scores[place] = id, score
            count += 1
    return end, count


@compiled
def find(work: Any, items: Any, part: Any, planes: Any, without: Any, wanted: Any) -> Any:
    """How it ended, and the number of the k best items but some, which are in `work` then, best first if it is DONE.

    `work` are zeros, put back to that, ids and scores; `planes` are `known` of `split`, bits, and the length of a long
    list; `wanted` are k, what weights may add up to so that sums are exact, and how many postings are few.
    """
    ids, starts, ends, values, weights = part
    (added, found_ids, found_scores), (k, room, few) = work, wanted
    found = np.full(k, -np.inf), found_ids[: 8 * k + 1000], found_scores[: 8 * k + 1000], np.zeros(2, np.int64)
    if np.abs(weights).sum() * (1 if len(values) else 3) >= room:  # in units they are up to three times as much
        return INEXACT, 0
    if (ends - starts).sum() < few:
        search_touched(added, items, part, without, found)
        if found[0][0] > items[2]:  # no other item reaches that
            return _in_order(found)
        found[0][:], found[3][:] = -np.inf, 0
    known, bits, shortest = planes
    short, (rows, of_long, counts, bound) = split((starts, ends, weights), known, shortest)
    if bound[0] < 0:
        return MISSING, 0
    long = (bits, rows, of_long), counts, bound
    search_all(added, items, (ids, starts, short, values, weights), long, without, found)
    return _in_order(found)
