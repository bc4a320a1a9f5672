"""The k best so far, in compiled loops: a heap of their scores, least first, and the items that may have these.

`found` is the heap; ids and scores of items that reached the least when they were seen; and [how many these are,
whether there was no room for one].


Instructions of processors that numba compiles nothing to, for kernel_numba.py."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

DONE, EQUAL, CROWDED, INEXACT, MISSING = range(5)  # how a search ends
compiled = numba.njit(nogil=True, cache=True)


@compiled
def replace_least(best: Any, score: Any) -> None:
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
def kth_largest(values: Any, k: Any) -> Any:
    """The k-th largest of values, -inf if there are fewer."""
    heap = np.full(k, -np.inf)
    for value in values:
        if value > heap[0]:
            replace_least(heap, value)
    return heap[0]


@compiled
def offer(found: Any, id: Any, score: Any) -> None:
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
        replace_least(best, score)


@compiled
def in_order(found: Any) -> Any:
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


def _add_where(typing: Any, sums: Any, at: Any, words: Any, weights: Any) -> Any:
    """sums[at + b] += weights[i] wherever words[i] has bit b: for 32 sums of 16 bits an addition under a mask."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """The operations of LLVM, four of them a word."""
        sums, at, words, weights = arguments
        bits, places, lanes = (ir.VectorType(ir.IntType(width), 32) for width in (1, 32, 16))
        own = builder.gep(context.make_array(signature.args[0])(context, builder, sums).data, [at])
        own = builder.bitcast(own, lanes.as_pointer())
        total = builder.load(own, align=2)
        for i in range(len(signature.args[2])):
            mask = builder.bitcast(builder.extract_value(words, i), bits)
            weight = builder.insert_element(lanes(ir.Undefined), builder.extract_value(weights, i), ir.IntType(32)(0))
            weight = builder.shuffle_vector(weight, weight, places([0] * 32))
            total = builder.select(mask, builder.add(total, weight), total)
        builder.store(total, own, align=2)
        return context.get_dummy_value()

    return numba.void(sums, at, words, weights), generate


add_where: Any = intrinsic(_add_where)


def _fetch(typing: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of array[at], without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """LLVM's prefetch, for reading, to all levels."""
        array, at = arguments
        place, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        own = builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [at])
        type = ir.FunctionType(ir.VoidType(), [place, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place], type)
        builder.call(prefetch, [builder.bitcast(own, place), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return numba.void(array, at), generate


fetch: Any = intrinsic(_fetch)
