"""Stored arrays: what somebody wrote there, with right checksums, never reaches a kernel, and changes no answer."""

import shutil
import sqlite3

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples
from samples import random_data

import setsearch
from setsearch.lists import SLICE, Lists
from setsearch.storage import generations

HOSTILE = {
    "ids that do not ascend": ("features ids", lambda own: own[::-1]),
    "the same id twice": ("features ids", lambda own: np.repeat(own[:1], len(own))),
    "ids beyond all items": ("features ids", lambda own: own + 1_000_000),
    "ids of 2^62": ("items ids", lambda own: own + (1 << 62)),
    "negative ids": ("items ids", lambda own: own - 50),
    "counts of 0": ("features counts", lambda own: own * 0),
    "counts of 2^40": ("items counts", lambda own: own + (1 << 40)),
    "negative lengths": ("features lengths", lambda own: np.where(np.arange(len(own)) == 0, own - 99, own)),
    "lengths of 2^40": ("items lengths", lambda own: own + (1 << 40)),
    "longer lists": ("items lengths", lambda own: own + 1),
    "fewer lists": ("features lengths", lambda own: own[:-1]),
    "more items": ("sizes", lambda own: own + 7),
    "sizes of 2^40": ("sizes", lambda own: own + (1 << 40)),
    "sizes that are none": ("sizes", lambda own: own[:1]),
    "fractions as ids": ("items ids", lambda own: own + 0.5),
    "ids that are gone": ("absent", lambda own: np.array([1 << 40])),
    "norms that are none": ("norms", lambda own: own * np.nan),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A relation with what is derived from it."""
    path = tmp_path_factory.mktemp("generations") / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(random_data(3, 40, 25, 0.4).items(), ("film", "user"))
        index.refresh("now")
    return path


@pytest.fixture
def path(whole, tmp_path):
    """A copy of it."""
    return shutil.copy(whole, tmp_path / "a.db")


def ask(path):
    with setsearch.open(path) as index:
        films = index.items("film")
        return [films.expand(["i1", "i2"], 99, model=model) for model in ("lift", "bernoulli", "multinomial")]


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_hostile_array_is_not_used(path, attack, kernel):
    expected = ask(path)
    name, change = HOSTILE[attack]
    connection = sqlite3.connect(path)
    rows = connection.execute("select distinct generation, name from setsearch_array").fetchall()
    for id, own in rows:
        if own != name and not own.startswith(f"{name} "):
            continue
        with setsearch.open(path) as index, index._database.read() as cursor:
            generation = generations.find_generation(cursor, 1, generations.LISTS)
            array = change(generations.read_array(cursor, generation, own))
        connection.execute("delete from setsearch_array where name = ?", (own,))
        connection.executemany(
            "insert into setsearch_array (generation, name, slice, data) values (?, ?, ?, ?)",
            [(id, own, number, data) for number, data in generations._packed(id, own, array)],
        )
    connection.commit()
    connection.close()
    assert ask(path) == expected


@examples(20)
@given(st.integers(0, 99), st.integers(0, 4), st.sampled_from([0, 1, 7, 60]))
def test_entries_that_are_picked_are_those_that_are_kept(seed, n_wanted, length):
    """Also of lists that lie in several slices."""
    rng = np.random.default_rng(seed)
    n_ids = 3 * SLICE
    sizes = np.append(rng.integers(0, length + 1, 9), [2 * SLICE - 5, 3, SLICE + 1])
    rng.shuffle(sizes)
    ids = np.concatenate([np.sort(rng.choice(n_ids, size, replace=False)) for size in sizes])
    counts = rng.integers(1, 9, len(ids))

    def made():
        return Lists.stored(sizes, np.zeros(len(sizes), np.int64), n_ids, "a file", 9)

    def slices(lists, wanted):
        for slice_ in lists.missing(wanted):
            span = slice(slice_ * SLICE, (slice_ + 1) * SLICE)
            yield slice_, ids[span], counts[span]

    wanted = np.sort(rng.choice(len(sizes), n_wanted, replace=False))
    kept, picking = made(), made()
    assert picking.is_unread
    picked = picking.gathered(wanted, slices(picking, wanted))
    for part in slices(kept, wanted):
        kept.fill(*part)
    for own, other in zip(picked, kept.take(wanted), strict=True):
        assert np.array_equal(own, other)
    assert picking.is_unread
    if len(picked.ids):
        assert not kept.is_unread
