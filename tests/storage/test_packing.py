"""Slices of arrays as bytes: what is packed comes back, and what was not packed is refused."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from setsearch.core import binding
from setsearch.storage import codec as packing
from setsearch.storage.codec import LONGEST, pack, unpack

EDGES = [0, 1, 2, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**63 - 1, -1, -(2**63)]
ANY = st.one_of(st.sampled_from(EDGES), st.integers(0, 3), st.integers(0, 70_000), st.integers(-(2**63), 2**63 - 1))
IDS = st.one_of(st.sampled_from(EDGES[:8]), st.integers(0, 2**31 - 1), st.integers(0, 300))


def is_patched(data):
    return data[0] == packing._PATCHED


@given(st.one_of(st.lists(ANY, min_size=1, max_size=99), st.lists(IDS, min_size=1, max_size=99)), st.integers(1, 40))
def test_integers_come_back(values, times):
    array = np.tile(np.array(values, np.int64), times)
    unpacked = unpack(pack(array))
    assert np.array_equal(unpacked, array)
    assert unpacked.dtype.kind in "iu"


@given(arrays(np.float64, st.integers(1, 99)))
def test_floats_of_earlier_versions_come_back(values):
    assert unpack(bytes([packing._FLOATS]) + values.tobytes()).tobytes() == values.tobytes()


def lists_of_ids(rng, n_lists, n_ids):
    return np.concatenate([np.sort(rng.choice(n_ids, LONGEST // n_lists, replace=False)) for _ in range(n_lists)])


@pytest.mark.parametrize(
    ("values", "bits"),
    [
        (lambda rng: rng.geometric(0.9, LONGEST), 2.5),
        (lambda rng: rng.geometric(0.1, LONGEST) + 70_000, 8.1),
        (lambda rng: lists_of_ids(rng, 64, 100_000), 12),
        (lambda rng: lists_of_ids(rng, 1024, 1_000_000), 20),
    ],
)
def test_what_slices_hold_becomes_short(values, bits):
    """Counts, mostly 1, and ids that ascend within each list; `bits` a value at most."""
    array = values(np.random.default_rng(1))
    data = pack(array)
    assert is_patched(data)
    assert np.array_equal(unpack(data), array)
    assert 8 * len(data) < bits * LONGEST


def test_numbers_at_random_stay_as_they_are():
    array = np.random.default_rng(1).integers(0, 2**31, 1000)
    assert len(pack(array)) == 1 + 4 * 1000


def unpacked_both_ways(data, unpack=unpack):
    """What the core and numpy make of bytes; the core alone is asked if it was built."""
    found = unpack(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binding, "library", lambda: None)
        return [as_lists(own) for own in (found, unpack(data))]


def as_lists(found):
    return found.tolist() if isinstance(found, np.ndarray) else found and [column.tolist() for column in found]


@given(
    st.lists(IDS, min_size=1, max_size=99),
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=3),
    st.booleans(),
)
def test_the_core_reads_what_numpy_reads(values, times, changes, ascend):
    """Also of damaged slices."""
    array = np.tile(np.array(sorted(values) if ascend else values, np.int64), times)
    data = bytearray(pack(array))
    for place, byte in changes:
        data[1 + place % (len(data) - 1)] = byte
    core, plain = unpacked_both_ways(bytes(data))
    assert core == plain
    assert changes or core == array.tolist()


CHANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=3)
COLUMN = arrays(np.int64, st.integers(1, 30), elements=ANY) | arrays(np.int64, st.integers(1, 30), elements=IDS)


@pytest.mark.skipif(binding.library() is None, reason="the core was not built")
@given(st.lists(COLUMN, min_size=1, max_size=3), st.integers(1, 9), CHANGES)
def test_the_core_reads_columns_as_numpy_does(columns, longest, changes):
    """Of several slices, and damaged ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LONGEST", longest)
        data = bytearray(packing.pack_columns(columns))
        for place, byte in changes:
            data[place % len(data)] = byte
        core, plain = unpacked_both_ways(bytes(data), lambda data: packing.unpack_columns(data, len(columns)))
    assert core == plain
    assert changes or core == [column.tolist() for column in columns]


@given(
    st.sampled_from([1, 8, 16]), st.booleans(), st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=70), st.data()
)
def test_the_core_reads_every_form(bits, are_gaps, numbers, chance):
    """Patches that come twice, and sums and least values beyond 2^31."""
    places = chance.draw(st.lists(st.integers(0, len(numbers)), max_size=4))
    least = chance.draw(st.sampled_from([0, 3, -7, 2**31 - 1, -(2**31)]))
    small = np.array(numbers) % (1 << bits)
    packed = np.packbits(small.astype(bool)) if bits == 1 else small.astype(f"<u{bits // 8}")
    patches = np.array(numbers[: len(places)] + [2**31 - 1] * 4)[: len(places)]
    head = packing._HEAD.pack(bits, are_gaps, len(numbers), least, len(places))
    parts = np.array(places, "<u2").tobytes(), patches.astype("<i4").tobytes(), packed.tobytes()
    core, plain = unpacked_both_ways(bytes([packing._PATCHED]) + head + b"".join(parts))
    assert core == plain
    assert (core is None) == (len(numbers) in places)


@given(st.binary(max_size=80))
def test_other_bytes_are_refused_or_an_array(data):
    for kind in (b"", bytes([packing._PATCHED])):
        array = unpack(kind + data)
        assert array is None or len(array) <= LONGEST


def test_a_patched_slice_that_lost_or_gained_bytes_is_refused():
    data = pack(np.random.default_rng(1).geometric(0.8, 1000))
    assert is_patched(data)
    for end in range(1, len(data)):
        assert unpack(data[:end]) is None
    assert unpack(data + b"0") is None


@pytest.mark.parametrize(("place", "byte"), [(1, 7), (3, 0), (3, 255)])
def test_a_patched_slice_with_another_head_is_refused(place, byte):
    """Of other bits, or shorter or longer than its bytes."""
    data = bytearray(pack(np.random.default_rng(1).geometric(0.8, 3000)))
    data[place] = byte
    assert unpack(bytes(data)) is None


def test_a_patch_behind_the_end_is_refused():
    data = bytearray(pack(np.append(np.ones(3000, np.int64), 9)))
    assert is_patched(data)
    data[15:17] = (3001).to_bytes(2, "little")
    assert unpack(bytes(data)) is None


@given(st.binary(min_size=1, max_size=300), st.integers(1, 200), st.integers(0, 60), st.integers(0, 255))
def test_bytes_come_back_and_damaged_ones_are_refused_or_bounded(text, times, place, byte):
    array = np.frombuffer(text * times, np.uint8)
    data = bytearray(pack(array))
    assert np.array_equal(unpack(bytes(data)), array)
    assert times < 20 or len(data) < len(array)
    data[1 + place % (len(data) - 1)] = byte
    found = unpack(bytes(data))
    assert found is None or len(found) <= LONGEST


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=99), st.integers(0, 60), st.integers(0, 255))
def test_tokens_come_back_and_damaged_ones_are_refused_or_bounded(numbers, place, byte):
    array = np.array(numbers, np.int32)
    data = bytearray(pack(array))
    assert np.array_equal(unpack(bytes(data)), array)
    data[1 + place % (len(data) - 1)] = byte
    found = unpack(bytes(data))
    assert found is None or len(found) <= LONGEST


@pytest.mark.parametrize("kind", [packing._DEFLATED, packing._HALVES])
def test_bytes_that_inflate_without_end_are_cut(kind):
    found = unpack(bytes([kind]) + zlib.compress(bytes(10_000_000)))
    assert len(found) == LONGEST
