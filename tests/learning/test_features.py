"""Mutual information equals its definition, and a printed example."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from oracle import transpose
from samples import random_data

from setsearch.learning import most_informative
from setsearch.learning.features import mutual_information

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))


def test_mutual_information_of_the_windows_example():
    """6 of 450 documents of one class have the word, 107 of 450 of the other: .095 bits with add-one smoothing."""
    (bits,) = mutual_information(np.array([6]), np.array([107]), 450, 450)
    assert bits == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("case", range(4))
def test_the_most_informative_features(build, case):
    data = random_data(case, 30, 15, 0.4)
    members = ["i1", "i2", "i5", "i9"]
    expected = {}
    for feature, own in transpose(data).items():
        inside = sum(m in own for m in members)
        cells = {
            (1, 1): inside + 1,
            (0, 1): len(members) - inside + 1,
            (1, 0): len(own) - inside + 1,
            (0, 0): len(data) - len(members) - len(own) + inside + 1,
        }
        total = sum(cells.values())
        expected[feature] = sum(
            n / total * math.log2(n * total / sum(cells[x, b] for b in (0, 1)) / sum(cells[a, y] for a in (0, 1)))
            for (x, y), n in cells.items()
        )
    found = most_informative(build(data).items("film"), members, 99)
    assert {f.feature: f.weight for f in found} == pytest.approx(expected, abs=1e-12)
    assert most_informative(build(data).items("film"), members, 3) == found[:3]
