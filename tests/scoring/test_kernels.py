"""The kernels give the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import random_data

from setsearch.arrays import to_lattice
from setsearch.errors import InvalidParameter
from setsearch.scoring import kernels
from setsearch.scoring.kernels import KERNELS, use_kernel
from setsearch.scoring.postings import PostingArrays


@pytest.mark.parametrize("seed", range(5))
def test_kernels_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5000))
    lists = [np.sort(rng.choice(n, int(rng.integers(0, n + 1)), replace=False)).astype(np.int32) for _ in range(50)]
    weights, base = to_lattice(rng.normal(size=50) * 9), to_lattice(rng.normal(size=n) * 99)
    base[:: max(n // 7, 1)] = -np.inf
    expected = base.copy()
    for ids, weight in zip(reversed(lists), reversed(weights), strict=True):
        expected[ids] += weight
    ends = np.cumsum([len(ids) for ids in lists])
    postings = PostingArrays(np.concatenate(lists), ends - [len(ids) for ids in lists], ends)
    for kernel in KERNELS.values():
        scores = base.copy()
        kernel(scores, postings, weights)
        assert np.array_equal(scores, expected)
        kernel(scores, postings, -weights)
        assert np.array_equal(scores, base)


def test_kernels_are_chosen_by_name():
    with pytest.raises(InvalidParameter, match="'fortran'"):
        use_kernel("fortran")


def test_without_the_private_functions_of_scipy_numpy_takes_over(build, monkeypatch):
    reading = build(random_data(3, 60, 40, 0.4)).items("film")
    with_kernel("scipy", monkeypatch)
    expected = reading.expand(["i1", "i2"], 99, model="bernoulli")
    monkeypatch.setattr(kernels, "sparse_functions", lambda: None)
    rng, scores = np.random.default_rng(1), np.zeros(50)
    ids = np.sort(rng.choice(50, 20, replace=False)).astype(np.int32)
    postings, weights = PostingArrays(ids, np.array([0]), np.array([20])), to_lattice(np.array([0.7]))
    KERNELS["scipy"](scores, postings, weights)
    assert np.array_equal(np.flatnonzero(scores), ids)
    assert reading.expand(["i1", "i2"], 99, model="bernoulli") == expected


def with_kernel(name, monkeypatch):
    """Choose a kernel until the test ends."""
    monkeypatch.setattr(kernels, "_chosen", name)


TESTS = Path(__file__).parents[1]
PLAIN_LOOPS = """
import sys
sys.path[:0] = sys.argv[1:]
from random import Random
import numpy as np
import setsearch
from samples import random_data
from setsearch.scoring import compiled_primitives
setsearch.use_kernel("numba")
with setsearch.open("x.db", create=True) as index:
    index.add(random_data(3, 3000, 60, 0.5).items(), ("film", "user"))
    reading, rng = index.items("film"), Random(1)
    for model in ("bernoulli", "lift", "poisson"):
        for size in (1, 3, 9):
            for hit in reading.expand([f"i{rng.randrange(3000)}" for _ in range(size)], 12, model=model):
                print(model, size, hit.item, hit.score.hex())
"""


@pytest.mark.long
def test_plain_loops_give_the_bits_of_the_compiled_instructions(tmp_path):
    helpers = [str(TESTS), str(TESTS / "exactness")]
    outputs = []
    for number, plain in enumerate(("", "1")):
        folder = tmp_path / str(number)
        folder.mkdir()
        environment = os.environ | {"SETSEARCH_PLAIN_LOOPS": plain, "NUMBA_CACHE_DIR": str(folder / "cache")}
        command = [sys.executable, "-c", PLAIN_LOOPS, *helpers]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 3 * 3 * 12


WITHOUT_A_FOLDER = """
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []  # as where no folder may be written to
from setsearch.arrays import compiled
print(compiled(lambda x: x + 1)(1))
"""


def test_functions_are_compiled_where_nothing_can_be_kept():
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_FOLDER], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
