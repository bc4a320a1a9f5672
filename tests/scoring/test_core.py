"""The compiled core gives the items, order and bits of numpy's plain way, at every door."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples
from samples import NamesByRank, random_data, with_kernels
from starlette.testclient import TestClient

import setsearch
from setsearch.arrays import Entries, to_lattice
from setsearch.core import binding, indexing, question
from setsearch.core.rule import CoreRule
from setsearch.core.threads import side_by_side
from setsearch.errors import InvalidParameter, LostArrays
from setsearch.lists import Lists, transposed
from setsearch.scoring import best as kernels
from setsearch.scoring.best import accumulate, best, use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.web import make_app

needs_core = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")


@pytest.mark.parametrize("told", [0, 1, 3])
def test_threads_are_a_few_items_ahead(monkeypatch, told):
    monkeypatch.setenv("SETSEARCH_THREADS", str(told))
    begun = []

    def work(item):
        begun.append(item)
        return item * item

    results = side_by_side(work, range(50))
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    assert len(begun) <= 3 + told
    assert [*results] == [item * item for item in range(3, 50)]
    assert sorted(begun) == [*range(50)]


def test_one_item_starts_no_thread(monkeypatch):
    monkeypatch.setenv("SETSEARCH_THREADS", "2")
    monkeypatch.setattr("setsearch.core.threads.workers", lambda: pytest.fail("threads"))
    assert [*side_by_side(str, [7])] == ["7"]
    assert not [*side_by_side(str, [])]


def random_lists(rng, n, digits):
    """Some posting lists with weights: of ones, or of values in either precision."""
    sizes = rng.integers(0, n // int(rng.choice([1, 2, 30])) + 1, rng.integers(0, 9))
    ids = [np.sort(rng.choice(n, size, replace=False)) for size in sizes]
    ends = np.cumsum(sizes, dtype=np.int64)
    kind = rng.choice(["ones", "float32", "float64"])
    values = None if kind == "ones" else to_lattice(rng.random(int(sizes.sum())) * 3, False).astype(kind)
    weights = to_lattice(np.round(rng.normal(size=len(sizes)), digits), False)
    postings = PostingArrays(np.concatenate([*ids, []]).astype(np.int32), ends - sizes, ends, values, largest=3.0)
    return WeightedLists(postings, weights)


@examples(300)
@given(st.lists(st.tuples(st.integers(0, 2**63 - 1) | st.integers(0, 300), st.integers(-9, 9))), st.booleans())
def test_numbers_are_sorted_as_numpy_does(pairs, have_others):
    """Of one byte or eight, with ties, and with what comes with each or without."""
    numbers, others = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    others = others.astype(np.int32)
    order = np.argsort(numbers, kind="stable")
    expected = numbers[order].tolist(), others[order].tolist()
    indexing.sort(numbers, others if have_others else None)
    assert numbers.tolist() == expected[0]
    assert not have_others or others.tolist() == expected[1]


@examples(100)
@given(
    st.sampled_from([40, 70_000]).flatmap(
        lambda most: st.dictionaries(st.tuples(st.integers(0, 300), st.integers(0, most)), st.integers(1, 9))
    ),
    st.booleans(),
)
def test_transposed_entries_are_those_sorted_by_id(cells, is_narrow):
    """Each with its count, with few ids or many; transposed again they are what they were."""
    columns = np.array([(*cell, cells[cell]) for cell in sorted(cells)], np.int64).reshape(-1, 3).T
    entries = Entries(*columns).narrow() if is_narrow else Entries(*columns)
    turned = transposed(entries)
    expected = sorted((id, own, count) for (own, id), count in cells.items())
    assert [*zip(*(own.tolist() for own in turned), strict=True)] == expected
    assert [own.dtype for own in turned] == [own.dtype for own in entries]
    assert all(map(np.array_equal, transposed(turned), entries))


@needs_core
def test_damaged_ids_are_not_counted():
    columns = np.ones((3, 4), np.int32)
    columns[1, 2] = -1
    with pytest.raises(LostArrays):
        transposed(Entries(*columns))


@pytest.mark.long
@examples(1000)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 40, 700, 33_000, 70_000]), st.booleans(), st.booleans())
def test_any_lists_give_what_sorting_does(seed, n, is_flat, is_filtered):
    """Whatever the signs, the ties, the values, what is left out, and more wanted than there is."""
    rng = np.random.default_rng(seed)
    digits = int(rng.integers(0, 4))
    items = to_lattice(np.round(rng.normal(size=n) * (0 if is_flat else 30), digits), False)
    items[rng.random(n) < rng.choice([0, 0.1, 1], p=[0.5, 0.4, 0.1])] = -np.inf
    parts, expected = [random_lists(rng, n, digits) for _ in range(rng.integers(0, 4))], items.copy()
    for (ids, starts, ends, values, *_), weights in parts:
        for start, end, weight in zip(starts, ends, weights, strict=True):
            expected[ids[start:end]] += weight * (1 if values is None else values[start:end].astype(float))
    excluded = rng.choice(n, int(rng.integers(0, min(n, 4) + 1)), replace=False).tolist()
    among = rng.permutation(n)[: int(rng.integers(0, n + 1))] if is_filtered else None
    expected[excluded] = -np.inf
    if among is not None:
        expected[np.setdiff1d(np.arange(n), among)] = -np.inf
    ranks, k = rng.permutation(n), int(rng.choice([1, 3, 20, n, n + 5]))
    order = np.lexsort((ranks, -expected))
    plain = order[: min(k, int((expected > -np.inf).sum()))]

    def asked():
        """The best of the sums."""
        sums = items.copy()
        accumulate(sums, *parts)
        return best(sums, excluded, k, NamesByRank(ranks), among)

    for ids, scores in with_kernels(asked):
        assert ids.tolist() == plain.tolist()
        assert scores.tolist() == expected[plain].tolist()


@needs_core
@pytest.mark.parametrize("k", [5, 10, 900])
@pytest.mark.parametrize("is_filtered", [False, True])
def test_a_crowd_of_ties_is_in_the_order_of_names(k, is_filtered):
    """Names are read until there are enough, some of which others have that are above, excluded or not among them."""
    n, rng = kernels.CROWD * 3, np.random.default_rng(0)
    items, positions = np.zeros(n), rng.permutation(n)
    first = np.argsort(positions)
    items[first[[0, 3, 5]]], items[first[1]] = [1.0, 2.0, 1.0], -1.0
    excluded, among = [int(first[2])], rng.permutation(n)[: n // 2] if is_filtered else None
    allowed = {*range(n)} if among is None else {*among.tolist()}
    rest = [id for id in first.tolist() if id in allowed and id not in excluded]
    expected = sorted(rest, key=lambda id: -items[id])[:k]
    ids, scores = best(items, excluded, k, NamesByRank(positions), among)
    assert ids.tolist() == expected
    assert scores.tolist() == items[expected].tolist()


@needs_core
@pytest.mark.parametrize(
    ("ids", "starts", "ends"),
    [
        ([0, 3, 50], [0], [3]),  # no item
        ([0, 3, -1], [0], [3]),
        ([0, 50, 3], [0], [3]),
        ([0, 1, 2], [0], [4]),  # beyond the array
        ([0, 1, 2], [-1], [2]),
        ([0, 1, 2], [2], [1]),
    ],
)
def test_lists_that_cannot_be_are_refused(ids, starts, ends):
    part = np.array(ids, np.int32), None, np.array(starts), np.array(ends), np.ones(1)
    with pytest.raises(LostArrays):
        binding.add(np.zeros(50), [part])


@needs_core
def test_a_list_that_goes_back_is_refused_and_writes_nowhere_else():
    n = 3 * binding.BLOCK
    part = np.array([5, 2 * binding.BLOCK, 7], np.int32), None, np.array([0]), np.array([3]), np.ones(1)
    scores = np.zeros(n)
    with pytest.raises(LostArrays):
        binding.add(scores, [part])
    assert np.flatnonzero(scores).tolist() in ([5], [5, 2 * binding.BLOCK])


@needs_core
@pytest.mark.parametrize(("at", "change"), [(0, 99), (2, -1), (3, 99)])
def test_values_of_damaged_lists_are_refused(at, change):
    source = [np.array([0, 1], np.int32), np.ones(2, np.uint16), np.array([0, 1]), np.array([1, 2])]
    statistics = np.ones(2, np.int64), None, np.ones(2), np.ones(2)
    arguments = True, statistics, np.ones(5)
    assert binding.values(np.arange(2), source, *arguments).lengths.tolist() == [1, 1]
    source[at] = source[at].copy()
    source[at][-1 if at == 3 else 0] = change
    with pytest.raises(LostArrays):
        binding.values(np.arange(2), source, *arguments)


def rule_of(*, starts=(0, 2), ends=(2, 4), df=(2, 1, 1), everything=0, counted=np.uint16, totals=np.int64, **entries):
    """Two items with two of three features each; counts up to 3 have logarithms, frequencies up to 2 have factors."""
    ids, counts = entries.get("ids", (0, 1, 0, 2)), entries.get("counts", (1, 1, 3, 1))
    starts, ends = (np.array([0, *own, 1])[1:-1] for own in (starts, ends))  # there are others around them
    source = np.array([*ids, 0], np.int32)[:-1], np.array([*counts, 1], counted)[:-1], starts, ends
    statistics = np.array([2, 4], totals), np.array(df), np.array([4, 1, 1])
    factors, logs, unit = np.array([0, 1.5, 0.5]), np.arange(4.0), 2.0**20
    return CoreRule(source, statistics, (factors, factors**2 * unit), (logs, logs**2), (everything, unit, 1.0, 0.5))


@needs_core
@pytest.mark.parametrize("counted", [np.uint16, np.int32])
@pytest.mark.parametrize("everything", [0, 8])
def test_a_rule_gives_values_of_the_definition(counted, everything):
    """Of 8 all entries together, feature 2 has the share of its threshold in item 1: this entry does not exist."""
    rule = rule_of(counted=counted, everything=everything)
    weights = [[0.5 * 1, 1.5 * 1, 0], [0.5 * 3, 0, 1.5 * 1]]
    if everything:
        weights = [[0, 1.5, 0], [0, 0, 0]]
    norms, expected = np.linalg.norm(weights, axis=1), []
    assert rule.norms(np.arange(2)) == pytest.approx(norms)
    found = rule.values(np.arange(2))
    for own, norm in zip(weights, norms, strict=True):
        expected += [(feature, min(weight / (0.5 + norm / 2), 1)) for feature, weight in enumerate(own) if weight]
    assert found.ids.tolist() == [feature for feature, _ in expected]
    assert found.values == pytest.approx([value for _, value in expected], abs=1e-6)
    assert found.lengths.tolist() == [sum(map(bool, own)) for own in weights]
    assert rule.with_pivot(9.0).values(np.arange(1)).values[-1] == pytest.approx(1.5 / (4.5 + norms[0] / 2), abs=1e-6)


@needs_core
def test_a_value_that_is_rounded_to_zero_is_none():
    rule = rule_of().with_pivot(1e9)
    assert rule.values(np.arange(2)).lengths.tolist() == [0, 0]


@needs_core
@pytest.mark.parametrize("type", [{"totals": np.int32}, {"totals": np.float64}])
def test_a_rule_of_other_types_is_refused(type):
    with pytest.raises(TypeError):
        rule_of(**type)


@needs_core
@pytest.mark.parametrize(
    "damage",
    [
        {"ids": (0, 1, 0, 3)},
        {"ids": (0, 1, -1, 2)},
        {"counts": (1, 1, 4, 1)},  # no logarithm
        {"counts": (1, 1, -1, 1), "counted": np.int32},
        {"counts": (1, 1, -1, 1), "counted": np.int32, "everything": 8},
        {"starts": (0, -1)},
        {"starts": (0, -(1 << 60))},
        {"ends": (2, 5)},
        {"ends": (2, 1 << 60)},
        {"df": (3, 1, 1)},  # no factor
        {"df": (-1, 1, 1)},
    ],
)
def test_a_rule_of_damaged_lists_is_refused(damage):
    rule = rule_of(**damage)
    for asked in (rule.norms, rule.values):
        with pytest.raises(LostArrays):
            asked(np.array([1]))


@needs_core
@pytest.mark.parametrize("item", [-1, 2])
def test_a_rule_has_no_norms_of_other_items(item):
    with pytest.raises(LostArrays):
        rule_of().norms(np.array([item]))


@needs_core
@pytest.mark.parametrize("counted", [np.uint16, np.int32])
@pytest.mark.parametrize(("at", "change"), [(None, 0), (0, 9), (0, -1), (2, -1), (3, 4)])
def test_shares_near_thresholds_are_not_those_of_damaged_lists(counted, at, change):
    source = [np.array([0, 1, 1], np.int32), np.array([1, 1, 2], counted), np.array([0, 1]), np.array([1, 3])]
    if at is not None:
        source[at][-1 if at == 3 else 0] = change
    arguments = np.arange(2), tuple(source), np.array([2, 4]), np.array([0.25, 0.5]), 0.0, 9
    if at is None:
        assert [own.tolist() for own in binding.close(*arguments)] == [[1], [1], [0.5]]
        return
    with pytest.raises(LostArrays):
        binding.close(*arguments)


@needs_core
def test_without_a_core_others_answer(monkeypatch, build):
    reading = build(random_data(3, 60, 40, 0.4)).items("film")
    expected = reading.expand(["i1", "i2"], 99)
    monkeypatch.setattr(binding, "library", lambda: None)
    assert not kernels.is_core()
    assert reading.expand(["i1", "i2"], 99) == expected
    with pytest.raises(InvalidParameter, match="C compiler"):
        use_kernel("core")


def test_a_library_of_other_sources_is_not_used(monkeypatch):
    monkeypatch.setattr(binding, "VERSION", binding.VERSION + 1)
    assert binding.library.__wrapped__() is None
    monkeypatch.setattr(binding, "LIBRARY", binding.LIBRARY.with_name("none.so"))
    assert binding.library.__wrapped__() is None


MODELS = [
    {},
    {"popularity": 0.5},
    {"binarize": "presence"},
    {"model": "bernoulli"},
    {"model": "bernoulli", "binarize": "twice-mean"},
    {"model": "bernoulli", "strength": 1e6},
    {"model": "multinomial"},
    {"model": "poisson"},
]
QUESTIONS = [
    {"cut": "mark", "fold": True},
    {"exclude": 2},
    {"among": 30},
    {"weights": True},
    {"k": 500, "keep_seeds": True},
    {"explain": True},
]


@needs_core
@pytest.mark.parametrize(("model", "items"), [*product(MODELS, ["film", "user"])], ids=str)
def test_models_readings_and_options_give_the_bits_of_numpy(build, model, items):
    reading, rng = build(random_data(5, 90, 50, 0.3)).items(items), np.random.default_rng(1)
    letter = "i" if items == "film" else "f"
    names = [f"{letter}{number}" for number in range(90 if items == "film" else 50)]
    names = [name for name in names if reading.find(name)]
    for size, options in product((1, 3, 7), QUESTIONS):
        asked = {"k": 12, **model, **options}
        seeds, others = np.split(rng.choice(names, size + 2, replace=False), [size])
        if "exclude" in options:
            asked["exclude"] = others.tolist()
        if "among" in options:
            asked["among"] = rng.choice(names, 30).tolist()
        given = {name: 1 + place / 4 for place, name in enumerate(seeds.tolist())}
        asked_of = given if asked.pop("weights", False) else seeds.tolist()
        answers = []
        for kernel in ("core", "numpy"):
            use_kernel(kernel)
            answers.append(reading.expand(asked_of, **asked))
        assert answers[0] == answers[1]


@pytest.fixture
def asked(monkeypatch):
    """How often the core answered a whole question, or added lists."""
    counts, at_once, add = {"core": 0}, question.ask_all, binding.add

    def answer(*arguments):
        """Count sums of the core."""
        counts["core"] += 1
        add(*arguments)

    def answer_at_once(*arguments):
        """Count a whole question that the core answers."""
        found = at_once(*arguments)
        counts["core"] += found != [None]
        return found

    monkeypatch.setattr(binding, "add", answer)
    monkeypatch.setattr(question, "ask_all", answer_at_once)
    use_kernel("core")
    return counts


TEXTS = [(str(n), " ".join(f"w{(n * step) % 97}" for step in range(3, 15))) for n in range(120)]
OPTIONS = [
    {},
    {"cut": "mark"},
    {"fold": True},
    {"cut": "mark", "fold": True, "explain": True, "snippets": True},
]


@needs_core
@pytest.mark.parametrize("items", ["documents", "terms"])
def test_the_core_answers_whatever_is_asked(tmp_path, asked, items):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(TEXTS)
        reading, names = index.items(items), ["1", "2", "3"] if items == "documents" else ["w1", "w2", "w3"]
        for options in (*OPTIONS, {"exclude": ["9" if items == "documents" else "w9"]}):
            before = asked["core"]
            assert reading.expand(names, 10, **options)
            assert asked["core"] > before, options


@needs_core
def test_the_core_answers_what_has_no_seeds(tmp_path, asked):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(TEXTS)
        reading = index.items("documents")
        assert reading.expand([], 10, having=["w1"])  # under the sanitizers, too: nothing is copied from nowhere
        assert reading.expand([], 10, like=["w1 w2"])
    assert asked["core"] >= 2


@needs_core
def test_the_core_answers_the_command_line_the_page_and_the_api(tmp_path, asked, run):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(TEXTS)
    app = TestClient(make_app(tmp_path / "x.db"))
    seeds = [("items", "documents"), ("seed", "1"), ("seed", "2")]
    for ask in (
        lambda: run("expand", "x.db", "1", "2", "--items", "documents", "--json")[1],
        lambda: run("expand", "x.db", "1", "2", "--items", "documents", "--explain", "--json")[1],
        lambda: app.get("/", params=seeds).raise_for_status().text,
        lambda: app.get("/api/expand?items=documents&seeds=1&seeds=2").raise_for_status().text,
    ):
        before = asked["core"]
        assert "7" in ask()
        assert asked["core"] > before


def test_lists_that_change_leave_the_places_of_those_before():
    """They share them until they need their own."""
    entries = Entries(*(np.array(own) for own in ([0, 0, 1, 2], [1, 3, 0, 2], [1, 1, 2, 1])))
    before = Lists.of(entries, 3, 4)
    new = Entries(*(np.array(own) for own in ([1, 3], [3, 3], [5, 1])))
    old = before.take(np.arange(3)).select(np.array([False, True, False, False]))
    after = before.changed(np.array([3]), old, new, (4, 4))
    assert after.take(np.arange(4)).lists.tolist() == [0, 1, 1, 2, 3]
    assert before.take(np.arange(3)).ids.tolist() == [1, 3, 0, 2]
    assert len(before.arrays[1]) == 3 and len(after.arrays[1]) == 4
