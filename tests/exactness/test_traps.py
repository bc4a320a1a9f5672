"""The traps that published implementations of Bayesian Sets fell into, by name."""

import pytest
from oracle import log_scores, presence, twice_mean
from samples import random_data

from setsearch import errors

pytestmark = pytest.mark.usefixtures("papers_model")


def test_items_that_match_nothing_still_rank(build):
    """1. The base counts: an item that shares nothing can beat one that shares little and has much else."""
    data = {"seed": {"x": 1}, "busy": {"x": 1} | {f"f{i}": 1 for i in range(40)}, "empty": {}, "other": {"y": 1}}
    hits = build(data).items("film").expand(["seed"])
    assert [hit.item for hit in hits][:2] == ["empty", "other"]
    assert hits[-1].item == "busy"


def test_the_inactive_weight_is_counted_once(build):
    """2. An active feature adds q_j, of which the base holds a part already."""
    data = random_data(1, 12, 8, 0.4)
    reading = build(data).items("film")
    scores = log_scores(presence(data), ["i1"])
    for item in data:
        assert reading.explain(["i1"], item).score == pytest.approx(scores[item], abs=1e-7)


def test_features_of_all_items_and_of_none_add_nothing(build):
    """3. df = n and df = 0 are exactly neutral, without an epsilon and without NaN."""
    data = {"a": {"x": 1}, "b": {"x": 1, "y": 1}, "c": {"y": 1}}
    plain = build(data).items("film").expand(["a"])
    index = build({item: counts | {"all": 2} for item, counts in data.items()})
    assert index.items("film").expand(["a"]) == plain
    index.update([("z", {"none": 1})])
    index.delete(["z"])
    assert index.items("film").expand(["a"]) == plain
    assert index.items("film").document_frequency("none") == 0


def test_one_item_and_one_feature(build):
    """3. In a collection of one everything has df = n: the score is 0."""
    (hit,) = build({"a": {"x": 1, "y": 4}}).items("film").expand(["a"], keep_seeds=True)
    assert hit.score == 0.0


def test_the_constant_has_its_logarithms(build):
    """4. The absolute score, not only the ranking: 30 features would be off by 39 nats."""
    data = random_data(5, 20, 30, 0.3)
    scores = log_scores(presence(data), ["i2", "i3"])
    for hit in build(data).items("film").expand(["i2", "i3"], 50):
        assert hit.score == pytest.approx(scores[hit.item], abs=1e-7)


def test_seeds_are_distinct_and_known(build):
    """5. A seed twice is one seed; an unknown one is an error that names near ones."""
    reading = build({"lion": {"x": 1}, "tiger": {"x": 1, "y": 1}, "wheat": {"z": 1}}).items("film")
    assert reading.expand(["lion", "lion"]) == reading.expand(["lion"])
    with pytest.raises(errors.UnknownItem, match=r"'tigre'.*did you mean 'tiger'"):
        reading.expand(["lion", "tigre"])
    with pytest.raises(errors.NoSeeds):
        reading.expand([])


def test_top_k(build):
    """6. Negative scores, k beyond n, ties by id, filters before the top k."""
    data = {f"i{n:02}": {"x": 1, f"own{n}": 1} for n in range(30)} | {"seed": {f"s{n}": 1 for n in range(9)}}
    reading = build(data).items("film")
    every = reading.expand(["seed"], 1000)
    assert len(every) == 30
    assert max(hit.score for hit in every) < 0
    assert [hit.item for hit in every] == sorted(hit.item for hit in every), "all are equal, so ids decide"
    assert reading.expand(["seed"], 7) == every[:7]
    gone = [hit.item for hit in every[:5]]
    assert [hit.item for hit in reading.expand(["seed"], 4, exclude=gone)] == [hit.item for hit in every[5:9]]


def test_statistics_count_what_the_postings_count(build):
    """7. After deletions and updates, nothing of the old content is counted."""
    data = random_data(2, 30, 20, 0.3)
    index = build(data)
    index.delete(["i3", "i4"])
    index.update([("i5", {"f1": 7}), ("new", {"f2": 1, "fresh": 2})])
    now = {item: c for item, c in data.items() if item not in ("i3", "i4")} | {
        "i5": {"f1": 7},
        "new": {"f2": 1, "fresh": 2},
    }
    for name in ("film", "user"):
        seeds = ["i1"] if name == "film" else ["f1"]
        assert index.items(name).expand(seeds, 99) == build(now).items(name).expand(seeds, 99)
    assert index.check() == []


def test_twice_the_mean_moves_with_every_add(build):
    """8. The rule is applied from stored counts, not frozen when an item is written."""
    data = {"a": {"x": 3, "y": 1}, "b": {"x": 1, "y": 3}, "c": {"y": 2}}
    index = build(data)
    before = index.items("film").expand(["a"], binarize="twice-mean")
    more = {f"m{n}": {"z": 1} for n in range(20)}
    index.add(more.items())
    hits = index.items("film").expand(["a"], 50, binarize="twice-mean")
    scores = log_scores(twice_mean(data | more), ["a"])
    assert {hit.item: pytest.approx(hit.score, abs=1e-7) for hit in hits} == {
        i: s for i, s in scores.items() if i != "a"
    }
    assert before != hits


def test_a_share_that_is_twice_the_mean_is_not_above_it(build):
    """8. Two of four items with the share 1/3: twice the mean is 1/3, whatever rounding says."""
    data = {"a": {"x": 1, "y": 2}, "b": {"x": 2, "z": 4}, "c": {"w": 1}, "d": {"w": 3}}
    assert all("x" not in own for own in twice_mean(data).values())
    reading = build(data).items("film")
    assert "x" not in [f.feature for f in reading.features(["a", "b"], binarize="twice-mean")]


def test_the_two_readings_are_apart(build):
    """9. Items and features swap: other means, other bases, other caches."""
    data = {"a": {"a": 1, "b": 1}, "b": {"a": 1}, "c": {"c": 2, "b": 1}}
    index = build(data)
    films, users = index.items("film"), index.items("user")
    for _ in range(2):
        assert films.expand(["a"], keep_seeds=True) != users.expand(["a"], keep_seeds=True)
    assert films.features_of("c") == {"b": 1, "c": 2}
    assert users.postings("c") == {"b": 1, "c": 2}
