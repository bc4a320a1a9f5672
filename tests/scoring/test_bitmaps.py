"""Bitmaps hold the bits of their lists."""

import numpy as np
import pytest

from setsearch.scoring import compiled_loops as kernel_numba
from setsearch.scoring.bitmaps import Bitmaps


@pytest.mark.parametrize("shortest", [1, 32, 250, 500])
def test_planes_hold_the_bits_of_lists(shortest):
    """In whatever order they are asked for, more of them than there was room for at first."""
    rng = np.random.default_rng(shortest)
    lists = [np.sort(rng.choice(1000, int(rng.integers(1, 900)), replace=False)).astype(np.int32) for _ in range(40)]
    ends = np.cumsum([len(ids) for ids in lists])
    starts, ids, planes = ends - [len(ids) for ids in lists], np.concatenate(lists), Bitmaps(1000)
    weights, planes.shortest = rng.normal(size=40), shortest
    assert kernel_numba.split_long((starts, ends, weights), planes.rows, shortest)[1][3][0] == -1  # not yet made
    for _ in range(30):
        some = np.sort(rng.choice(40, 7, replace=False))
        planes.add_missing(ids, starts[some], ends[some])
        of_some = starts[some], ends[some], weights[some]
        short, (rows, of_long, counts, (unit, more)) = kernel_numba.split_long(of_some, planes.rows, shortest)
        long = some[ends[some] - starts[some] >= shortest]
        assert np.flatnonzero(short == starts[some]).tolist() == np.flatnonzero(np.isin(some, long)).tolist()
        assert (np.isin(some, long) | (short == ends[some])).all()
        assert of_long.tolist() == weights[long].tolist() + [0] * (-len(long) % 4) and len(rows) == len(of_long)
        assert (np.abs(counts) <= kernel_numba.LARGEST_WEIGHT).all() and (
            np.abs(counts * unit - of_long) <= unit / 2
        ).all()
        assert more == pytest.approx(np.maximum(0, of_long - counts * unit).sum())
        for place, row in zip(long.tolist(), rows.tolist(), strict=False):
            there = np.unpackbits(planes.bits[row].astype("<u4").view(np.uint8), bitorder="little")
            assert np.flatnonzero(there).tolist() == lists[place].tolist()
    assert (
        shortest == 1 or kernel_numba.split_long((starts, ends, weights), planes.rows, 1)[1][3][0] == -1
    )  # only long ones


@pytest.mark.parametrize("n_rows", [0, 4, 8, 200])
def test_planes_add_units_to_their_items(n_rows):
    """Whatever the signs; sums of many rows do not fit into the 16 bits in which they are added."""
    rng = np.random.default_rng(n_rows)
    bits = rng.integers(0, 1 << 32, (n_rows + 3, 200), np.uint32)
    rows = rng.choice(len(bits), n_rows, replace=False)
    for extreme in (
        rng.integers(0, kernel_numba.LARGEST_WEIGHT + 1, n_rows),
        np.full(n_rows, -kernel_numba.LARGEST_WEIGHT),
    ):
        counts = np.concatenate([extreme[: n_rows // 2], -extreme[n_rows // 2 :]]).astype(np.int16)
        for low, n_items in ((0, 6400), (64, 5001), (3200, 31), (32, 0)):
            added = np.full(n_items, np.nan)
            kernel_numba.add_bitmaps(added, (bits, rows, counts), counts, 0.5, low)
            there = np.unpackbits(bits[rows].astype("<u4").view(np.uint8), bitorder="little").reshape(n_rows, 6400)
            expected = counts.astype(float) @ there[:, low : low + n_items]
            assert np.array_equal(added, 0.5 * expected)
