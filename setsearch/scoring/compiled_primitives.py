"""Primitives of the compiled loops: a heap of the k best, and two instructions that numba does not compile to.

`state` is the heap of the k best scores, least first; ids and scores of candidates, items that reached the least when
they were seen; and [number of candidates, whether their room was exceeded].

The instructions are written in LLVM's intermediate representation. Where llvmlite does not offer it, or with
SETSEARCH_PLAIN_LOOPS=1, plain loops with the same results take their place.
"""

import os
from typing import Any

import numba
import numpy as np

from setsearch.arrays import compiled

DONE, TIES, CROWDED, INEXACT, MISSING_BITMAP = range(5)  # how a search ends


@compiled
def replace_least(best: Any, score: Any) -> None:
    """Replace the least of a heap by a score."""
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
def kth_largest(values: Any, k: Any) -> Any:
    """The k-th largest of values; -inf if there are fewer."""
    heap = np.full(k, -np.inf)
    for value in values:
        if value > heap[0]:
            replace_least(heap, value)
    return heap[0]


@compiled
def offer(state: Any, id: Any, score: Any) -> None:
    """Add an item to the candidates if it reaches the least of the k best; -inf is no item."""
    best, ids, scores, counters = state
    if score < best[0] or score == -np.inf:
        return
    if counters[0] == len(ids) and not counters[1]:  # once crowded, another way gives the answer
        kept = 0
        for i in range(len(ids)):
            if scores[i] >= best[0]:
                ids[kept], scores[kept] = ids[i], scores[i]
                kept += 1
        counters[0] = kept
        counters[1] |= 2 * kept > len(ids)
    if not counters[1]:
        ids[counters[0]], scores[counters[0]] = id, score
        counters[0] += 1
    if score > best[0]:
        replace_least(best, score)


@compiled
def sort_candidates(state: Any) -> Any:
    """Move the best candidates to the front, in order; returns how the search ended, and how many there are."""
    best, ids, scores, counters = state
    end, count = CROWDED if counters[1] else DONE, 0
    for i in range(counters[0]):
        id, score, place = ids[i], scores[i], count
        if score >= best[0] and end != CROWDED:
            while place and scores[place - 1] < score:
                ids[place], scores[place] = ids[place - 1], scores[place - 1]
                place -= 1
            end = TIES if place and scores[place - 1] == score else end
            ids[place], scores[place] = id, score
            count += 1
    return end, count


@numba.njit(nogil=True)
def _add_where_plain(sums: Any, at: Any, words: Any, weights: Any) -> None:
    """sums[at + b] += weights[i] wherever words[i] has bit b."""
    for i in range(len(words)):
        for b in range(32):
            if words[i] >> np.uint32(b) & np.uint32(1):
                sums[at + b] += weights[i]


@numba.njit(nogil=True)
def _prefetch_plain(array: Any, at: Any) -> None:
    """Nothing: prefetching changes no result."""


def _add_where_llvm(typing: Any, sums: Any, at: Any, words: Any, weights: Any) -> Any:
    """sums[at + b] += weights[i] wherever words[i] has bit b: for 32 sums of 16 bits one addition under a mask."""
    from llvmlite import ir

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Four operations for each word."""
        sums, at, words, weights = arguments
        bits, places, lanes = (ir.VectorType(ir.IntType(width), 32) for width in (1, 32, 16))
        target = builder.gep(context.make_array(signature.args[0])(context, builder, sums).data, [at])
        target = builder.bitcast(target, lanes.as_pointer())
        total = builder.load(target, align=2)
        for i in range(len(signature.args[2])):
            mask = builder.bitcast(builder.extract_value(words, i), bits)
            weight = builder.insert_element(lanes(ir.Undefined), builder.extract_value(weights, i), ir.IntType(32)(0))
            weight = builder.shuffle_vector(weight, weight, places([0] * 32))
            total = builder.select(mask, builder.add(total, weight), total)
        builder.store(total, target, align=2)
        return context.get_dummy_value()

    return numba.void(sums, at, words, weights), generate


def _prefetch_llvm(typing: Any, array: Any, at: Any) -> Any:
    """Request the cache line of array[at] without waiting for it."""
    from llvmlite import ir

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """LLVM's prefetch, for reading, to all cache levels."""
        array, at = arguments
        place, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        target = builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [at])
        type = ir.FunctionType(ir.VoidType(), [place, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place], type)
        builder.call(prefetch, [builder.bitcast(target, place), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return numba.void(array, at), generate


def _offers_llvm() -> bool:
    try:
        from llvmlite import ir
    except ImportError:
        return False
    return hasattr(ir.IntType(8), "as_pointer") and not os.environ.get("SETSEARCH_PLAIN_LOOPS")


if _offers_llvm():
    from numba.extending import intrinsic

    add_where: Any = intrinsic(_add_where_llvm)
    prefetch: Any = intrinsic(_prefetch_llvm)
else:
    add_where, prefetch = _add_where_plain, _prefetch_plain
