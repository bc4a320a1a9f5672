"""Instructions of processors that numba compiles nothing to, for kernel_numba.py."""

from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic


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
