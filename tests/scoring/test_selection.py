"""The k best equal sorting."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra import numpy as hnp
from samples import KERNELS, NamesByRank

from setsearch.scoring.best import ByIds, best, middle_ranks, use_kernel


@given(
    hnp.arrays(float, st.integers(1, 800), elements=st.sampled_from([-np.inf, -2.0, -1.5, 0.0, 3.25])),
    st.integers(1, 900),
    st.randoms(use_true_random=False),
)
def test_top_k_equals_sorting(scores, k, random):
    ranks = np.array(random.sample(range(len(scores)), len(scores)))
    expected = sorted(np.flatnonzero(scores > -np.inf).tolist(), key=lambda id: (-scores[id], ranks[id]))[:k]
    ids, found = best(scores, [], k, NamesByRank(ranks))
    assert ids.tolist() == expected
    assert found.tolist() == scores[expected].tolist()
    by_ids = best(scores, [], k, ByIds(len(scores)))
    assert by_ids[1].tolist() == found.tolist(), "the scores are the same in any order of names"


@given(hnp.arrays(float, st.integers(1, 2000), elements=st.floats(-1e4, 1e4)), st.integers(1, 40))
def test_distinct_scores_ask_for_no_ranks(scores, k):
    scores = np.unique(scores)
    ids, _ = best(scores, [], k, None)
    assert ids.tolist() == list(range(len(scores)))[::-1][:k]


def test_a_crowd_of_equal_scores_has_the_same_scores_in_any_order(monkeypatch):
    monkeypatch.setattr("setsearch.scoring.best.CROWD", 3)
    scores = np.array([1.0, *[0.0] * 40, 2.0, -np.inf, *[0.0] * 40])
    ranks = np.arange(len(scores))[::-1]
    for k in (1, 2, 5, 60, 90):
        named, by_ids = (best(scores, [7], k, own) for own in (NamesByRank(ranks), ByIds(len(scores))))
        assert named[1].tolist() == by_ids[1].tolist()


SOME = st.sampled_from([-np.inf, -2.0, -1.5, 0.0, 0.25, 3.25])


@given(hnp.arrays(float, st.integers(1, 60), elements=SOME), st.lists(SOME, min_size=1, max_size=8), st.data())
def test_middle_ranks_are_counted(scores, few, data):
    excluded = data.draw(st.lists(st.integers(0, len(scores) - 1), unique=True))
    others = [score for id, score in enumerate(scores.tolist()) if id not in excluded]
    ranks = [(sum(s > own for s in others) + sum(s >= own for s in others) + 1) / 2 for own in few]
    for kernel in KERNELS:
        use_kernel(kernel)
        assert middle_ranks(scores, np.array(few), excluded).tolist() == ranks
