"""Groups among the examples: found by their definition, each answered as if it were asked alone."""

import json
import math
import pickle
import random
import sqlite3
from itertools import chain, combinations, zip_longest

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import examples
from oracle import soft_values

import setsearch
from setsearch import errors
from setsearch.core import binding, question
from setsearch.core.question import now
from setsearch.search import groups
from setsearch.search.cutoff import middle_seed
from setsearch.search.examples import Examples
from setsearch.search.passes import Wanted, Weighing

KINDS, ITEMS = 16, 320


def texts(seed=1):
    """Documents of sixteen kinds, whose words they have in common with a few of other kinds."""
    rng = random.Random(seed)
    words = [[f"w{kind}x{n}" for n in range(30)] for kind in range(KINDS)]
    every = [word for own in words for word in own]
    return {f"d{n}": rng.choices(words[n % KINDS], k=10) + rng.choices(every, k=n % 5) for n in range(ITEMS)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    data = texts()
    with setsearch.open(tmp_path_factory.mktemp("groups") / "a.db", create=True, contexts="off") as index:
        index.add((item, " ".join(words)) for item, words in data.items())
        yield data, index.items("documents")


def kind(*kinds, each=2, first=0):
    """Some documents of each kind."""
    return [f"d{KINDS * (first + n) + k}" for k in kinds for n in range(each)]


def in_turn(reading, parts, k, keep=False, **options):
    """What each group is answered alone, in turn, without the examples of others."""
    seeds = {*chain(*parts)}
    lists = [
        [hit for hit in reading.expand(part, ITEMS, groups=1, **options) if keep or hit.item not in seeds]
        for part in parts
    ]
    turns = {}
    for own in zip_longest(*lists):
        for hit in own:
            if hit is not None and hit.item not in turns:
                same = [other for other in own if other is not None and other.item == hit.item]
                turns[hit.item] = max(same, key=lambda hit: hit.score)
    return list(turns.values())[:k]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"explain": True},
        {"exclude": ["d7"]},
        {"exclude": ["d7"], "gamma": 0.2},
        {"keep_seeds": True},
        {"among": [f"d{n}" for n in range(0, ITEMS, 3)]},
        {"feedback": 0.0},
        {"snippets": True},
        {"model": "bernoulli"},
    ],
)
def test_each_group_is_answered_as_if_it_were_asked_alone(built, kernel, options):
    _, reading = built
    asked = {"groups": 2} if options.keys() & {"model", "gamma", "feedback"} else {}
    for parts in (kind(0), kind(3)), (kind(1, first=5), kind(2, first=3)), (kind(4, each=5), kind(5, each=3)):
        hits = reading.expand(parts[1] + parts[0], 30, **options, **asked)
        assert {frozenset(group) for group in hits.groups} == {*map(frozenset, parts)}
        expected = in_turn(reading, hits.groups, 30, options.get("keep_seeds"), **options)
        fields = [name for name in setsearch.Hit._fields if name not in ("rank", "group")]
        assert [[getattr(hit, name) for name in fields] for hit in hits] == [
            [getattr(hit, name) for name in fields] for hit in expected
        ]
        assert [hit.rank for hit in hits] == [*range(1, 31)] and {hit.group for hit in hits} == {*hits.groups}
        assert hits[:7] == reading.expand(parts[0] + parts[1], 7, **options, **asked)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exclude": ["d7"]},
        {"exclude": ["d7"], "gamma": 0.2, "groups": 2},
        {"like": ["w6x3 w6x4 w6x5"], "groups": 3},
    ],
)
def test_an_explanation_has_the_score_of_the_hit_and_its_group(built, kernel, options):
    _, reading = built
    for parts in (kind(0), kind(3)), (kind(1, first=5), kind(2, first=3)), (kind(4, each=5), kind(5, each=3)):
        seeds = parts[0] + parts[1]
        hits = reading.expand(seeds, ITEMS, explain=True, **options).shared()
        assert len(hits.groups) == options.get("groups", 2) and len(hits) > 50
        for hit in hits[:: len(hits) // 6]:
            own = reading.explain(seeds, hit.item, **options)
            assert (own.score, own.group, own.features) == (hit.score, hit.group, hit.features)
        own = [reading.explain(seeds, seed, **options).group for seed in seeds]
        assert all(seed in group for seed, group in zip(seeds, own, strict=True))
        assert [*hits.to_pandas()["group"]] == [", ".join(hit.group) for hit in hits]
        alone = reading.explain(seeds, hits[0].item, **{**options, "groups": 1})
        (same,) = (hit for hit in reading.expand(seeds, ITEMS, **{**options, "groups": 1}) if hit.item == alone.item)
        assert (alone.score, alone.group) == (same.score, ())


def test_what_a_group_loses_by_folding_it_fills_up(tmp_path):
    """Otherwise the other group would fill the list."""
    rng = np.random.default_rng(5)
    texts = {
        f"{topic}{n}": " ".join(f"{topic}{word}" for word in rng.permutation(20)[:9])
        for topic in "abc"
        for n in range(30)
    }
    copies = {f"{name} copy {n}": text for name, text in texts.items() if name[0] == "a" for n in range(4)}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((texts | copies).items())
        hits = index.items("documents").expand(["a0", "a1", "b0", "b1"], 12, groups=2, fold=True)
        assert [hit.group[0][0] for hit in hits] == ["a", "b"] * 6
        alone = index.items("documents").expand(["a0", "a1"], 6, groups=1, fold=True)
        assert [(hit.item, hit.duplicates) for hit in hits[::2]] == [(hit.item, hit.duplicates) for hit in alone]
        kept = index.items("documents").expand(["b0", "b1", "c0", "c1"], None, groups=2, cut="keep", about=10)
        assert len(kept) == 10
        seeds = [f"{topic}{n}" for topic in "bc" for n in range(3)]
        marked = index.items("documents").expand(seeds, 60, groups=2, cut="mark")
        assert [hit.belongs for hit in marked] == sorted([hit.belongs for hit in marked], reverse=True)


UNHEARD = ["d48", "d53", "d64", "d69"], ["d38", "d41", "d54", "d57"], ["d60", "d63", "d76", "d79"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"explain": True, "snippets": True},
        {"exclude": ["d7"]},
        {"keep_seeds": True},
        {"among": [f"d{n}" for n in range(0, ITEMS, 3)]},
        {"cut": "mark"},
        {"fold": True, "cut": "mark"},
    ],
)
def test_a_group_that_is_not_heard_has_a_few_hits_of_its_own_question(built, kernel, options):
    _, reading = built
    for seeds in UNHEARD[: 1 if options else None]:
        hits = reading.expand(seeds, 24, **options)
        assert len(hits.beside) == 2 and {*hits.beside} < {*seeds} and not hits.groups
        lists = [iter(reading.expand(own, 50, groups=1, **options)) for own in (seeds, hits.beside)]
        dropped, expected = set() if "keep_seeds" in options else {*seeds}, {}
        for place in range(1, 25):
            own = place in (8, 12, 16, 20)
            hit = next(hit for hit in lists[own] if hit.item not in {*expected, *dropped})
            belongs = None if own else hit.belongs
            expected[hit.item] = hit._replace(rank=place, group=hits.beside if own else (), belongs=belongs)
        assert [*hits] == [*expected.values()]
        for k in (7, 8, 13):
            fewer = reading.expand(seeds, k, **options)
            assert [*fewer] == hits[:k] and fewer.beside == (hits.beside if k >= 8 else ())
        assert {*hits.to_pandas()["group"]} == {"", ", ".join(hits.beside)}
        assert not reading.expand(seeds, 24, **options, groups=1).beside
        assert not reading.expand(seeds, None, **{**options, "cut": "keep"}).beside


@pytest.mark.skipif(binding.library() is None, reason="without a core numpy sums all")
def test_a_group_beside_the_list_is_asked_for_its_best_items_alone(built, monkeypatch):
    _, reading = built
    asked, at_once, have_sums = [], question.ask_all, []
    monkeypatch.setattr(
        question, "ask_all", lambda own: asked.extend(one.sums is not None for one in own) or at_once(own)
    )
    for seeds in UNHEARD * 2:  # the first time lists get values
        asked.clear()
        assert reading.expand(seeds, 24).beside
        have_sums.append([*asked])
    assert [False, False] in have_sums, have_sums
    assert [False, True] not in have_sums


@pytest.mark.parametrize("options", [{}, {"exclude": ["d7"]}])
def test_an_explanation_is_of_the_list_of_the_hit(built, kernel, options):
    _, reading = built
    for seeds in UNHEARD[: 1 if options else None]:
        for hit in reading.expand(seeds, 12, explain=True, **options)[6:]:
            own = reading.explain(seeds, hit.item, **options)
            assert (own.score, own.group, own.features) == (hit.score, hit.group, hit.features)


def test_who_is_heard_is_told_by_the_definition(built, kernel):
    """Groups of less than a third of the examples, and examples that share little, have no hits beside the list."""
    _, reading = built
    rng, found = random.Random(3), set()
    for _ in range(40):
        seeds = sorted(rng.sample(range(ITEMS), rng.choice([4, 5, 7, 10])))
        with reading.fields() as fields:
            names = [f"d{n}" for n in seeds]
            hits, ids = reading.expand(names, 20, groups=1), {name: fields.resolve(name) for name in names}
            every = sorted([*ids.values(), *(fields.resolve(hit.item) for hit in hits[:5])])
            alike = groups.likeness(fields, Examples(every), reading.defaults.make({}))
            places = [every.index(id) for id in sorted(ids.values())]
            mask = groups.divide(alike[np.ix_(places, places)])
            rest = [place for place in range(len(every)) if place not in places]
            parts = [[place for place, own in zip(places, mask, strict=True) if own == side] for side in (True, False)]
            heard = [alike[np.ix_(part, rest)].mean() for part in parts]
            weights = now(Weighing(fields, reading.defaults.choose({})).two_passes(Examples(sorted(ids.values()))))
            share_little = groups._share_little(fields, weights, sorted(ids.values()))
        hits = reading.expand(names, 20)
        expected = set()
        for part, own in zip(parts, heard, strict=True):
            if (
                not (share_little or hits.groups)
                and 3 * len(part) >= len(seeds)
                and own / sum(heard) < 0.55 * len(part) / len(seeds)
            ):
                expected = {name for name, id in ids.items() if every.index(id) in part}
        assert {*hits.beside} == expected
        found.add((bool(expected), share_little, bool(hits.groups)))
    assert len(found) == 4, "one list, also of those that share little, a group beside it, and groups"


def test_deleted_items_do_not_change_what_is_divided(kernel):
    """Of the items at equal steps of ids more are of the kinds of the examples than of all that are left."""
    rng = random.Random(1)
    words = [[f"w{own}x{n}" for n in range(30)] for own in range(KINDS)]
    every = [*chain(*words)]
    kinds = {f"d{n}": rng.choice([0, 1]) if n % 4 == 0 else rng.randrange(2, KINDS) for n in range(1024)}
    data = {name: " ".join(rng.choices(words[own], k=8) + rng.choices(every, k=4)) for name, own in kinds.items()}
    gone = [name for name in data if rng.random() < (0.7 if int(name[1:]) % 4 == 0 else 0.1)]
    left = {name: text for name, text in data.items() if name not in gone}
    sides = [[name for name in left if kinds[name] == side] for side in (0, 1)]
    found = []
    for rows in (data, left):
        with setsearch.open(sqlite3.connect(":memory:"), create=True, contexts="off") as index:
            index.add([*rows.items()])
            index.delete([name for name in gone if name in rows])
            sets = [[*rng.sample(sides[0], 2), *rng.sample(sides[1], 2)] for rng in map(random.Random, range(5))]
            hits = [index.items("documents").expand(seeds, 10) for seeds in sets]
            found.append([[(hit.item, hit.score, hit.group) for hit in own] for own in hits])
    assert found[0] == found[1] and all(own[0][2] for own in found[1])


def test_one_set_stays_one(built, kernel):
    _, reading = built
    for own in range(KINDS):
        seeds = kind(own, each=2 + own)
        hits = reading.expand(seeds, 20)
        assert hits == reading.expand(seeds, 20, groups=1) and not hits.groups and not hits[0].group
    assert not reading.expand(kind(1) + kind(2, each=1), 5).groups, "three are too few"


def test_three_sets_and_more_are_told_apart(built, kernel):
    _, reading = built
    found = reading.expand(kind(0, 2, 4, each=3), 9)
    assert {frozenset(group) for group in found.groups} == {frozenset(kind(own, each=3)) for own in (0, 2, 4)}
    assert [int(hit.item[1:]) % KINDS for hit in found] == [int(group[0][1:]) % KINDS for group in found.groups] * 3
    assert not reading.expand(kind(0, 2, each=6), 9).groups, "twelve are too many"
    divided = reading.expand(kind(0, 2, 4), 8, groups=3)
    assert {frozenset(group) for group in divided.groups} == {frozenset(kind(own)) for own in (0, 2, 4)}
    assert reading.expand(["d0", "d1"], 4, groups=2).groups == (("d0",), ("d1",))


def likeness(data, seeds):
    """s by its definition."""
    counts = {item: {word: own.count(word) for word in own} for item, own in data.items()}
    values, n = soft_values(counts, 0.8, "soft-twice-mean"), len(data)
    df = {word: sum(word in own for own in counts.values()) for word in chain(*data.values())}

    def product(a, b):
        """The sum over their features of lift and values."""
        shared = values[a].keys() & values[b].keys()
        p = {word: df[word] / n for word in shared}
        return sum(math.log((2 * p[w] + 1) / 3 / p[w]) * values[a][w] * values[b][w] for w in shared)

    return {(a, b): product(a, b) / math.sqrt(product(a, a) * product(b, b)) for a in seeds for b in seeds if a != b}


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else 0.0


class Equal(Exception):
    """Two divisions are equally good, as of an example that is like both groups: either may be found."""


def farthest(alike, seeds):
    """The two groups with the least mean s between them less that within them. Raises Equal."""
    found = {}
    for size in range(2, len(seeds) - 1):
        for one in combinations(seeds, size):
            other = [seed for seed in seeds if seed not in one]
            within = mean(alike[a, b] for own in (one, other) for a in own for b in own if a != b)
            groups = frozenset((frozenset(one), frozenset(other)))
            found[groups] = mean(alike[a, b] for a in one for b in other) - within
    best, *others = sorted(found, key=found.get)
    if others and found[others[0]] - found[best] < 1e-6:  # more than values that are rounded make
        raise Equal
    return best


def by_definition(data, reading, seeds):
    """The groups among examples."""
    if len(seeds) < 4:
        return {frozenset(seeds)}
    leaders = [hit.item for hit in reading.expand(seeds, ITEMS, groups=1)]
    return divided(data, reading, {*seeds}, seeds, leaders)


def told(reading, every, seeds):
    """Whether at most a quarter of 256 items, or 50 of all, score above the middle seed that is left out."""
    with reading.fields() as fields:
        weights = now(
            Weighing(fields, reading.defaults.choose({})).two_passes(Examples(sorted(fields.resolve_all(seeds))))
        )
        middle, scores = middle_seed(fields, weights, exactly=True), weights.scores()
        exist, n = {*fields.item_ids().tolist()}, len(scores)
        some = [id for id in (number * n // 256 for number in range(256)) if id in exist]
        others = [id for id in some if id not in fields.resolve_all(every)]
    return sum(scores[others] > middle) <= max(len(some) / 4, 50 * len(some) / len(exist))


def ids_of(reading, items):
    with reading.fields() as fields:
        return [fields.resolve(item) for item in items]


def divided(data, reading, every, seeds, leaders):
    leaders = [item for item in leaders if item not in every][:5]
    alike = likeness(data, [*seeds, *leaders])
    one, other = farthest(alike, seeds)
    if not mean(alike[a, b] for own in (one, other) for a in own for b in own if a != b) > 0.04:
        return {frozenset(seeds)}
    both = [[mean(alike[hit, seed] for seed in own) for own in (one, other)] for hit in leaders]
    if not sum(map(min, both)) < 0.2 * sum(map(max, both)):
        return {frozenset(seeds)}
    if not told(reading, every, seeds):
        return {frozenset(seeds)}
    ids = dict(zip([*data], ids_of(reading, data), strict=True))
    in_order = [sorted(own, key=ids.get) for own in (one, other)]
    n, k = len(data) - len(every), max(1, min(50, (len(data) - len(every)) // 20))

    def nearness(*questions):
        lists = []
        for own in questions:
            with reading.scores(sorted(own), keep_seeds=True) as (_, scores):
                lists.append({id: scores[id] for item, id in ids.items() if item not in every})
        found = []
        for own, of in (lists, lists[::-1]):
            for hit in sorted(own, key=lambda id: (-own[id], id))[:k]:
                above, same = (sum(map(test, of.values())) for test in (of[hit].__lt__, of[hit].__eq__))
                found.append(-math.log((above + (same + 1) / 2) / (n + 1)))
        return mean(found)

    between = nearness(one, other)
    at_random = mean(-math.log(place / (n + 1)) for place in range(1, n + 1))
    within = mean(nearness(own[::2], own[1::2]) for own in in_order)
    if between >= at_random + (2 * k) ** -0.5 or between >= within / 2:
        return {frozenset(seeds)}
    found = set()
    for part in map(sorted, (one, other)):
        best = [hit.item for hit in reading.expand(part, ITEMS, groups=1)]
        found |= {frozenset(part)} if len(part) < 4 else divided(data, reading, every, part, best)
    return found


@given(st.integers(0, 10_000))
@examples(30)
def test_groups_are_found_by_their_definition(built, number):
    texts, reading = built
    rng = random.Random(number)
    size, own = rng.randint(2, 4), rng.sample(range(KINDS), rng.randint(1, 2))
    seeds = [f"d{n}" for k in own for n in rng.sample(range(k, ITEMS, KINDS), size)]
    seeds = list(dict.fromkeys(seeds + rng.sample([*texts], rng.randint(0, 1))))
    try:
        expected = by_definition(texts, reading, seeds)
    except Equal:
        assume(False)
    answers = []
    for kernel in ("core", "numpy")[binding.library() is None :]:
        setsearch.use_kernel(kernel)
        answers.append(reading.expand(seeds, 12))
    assert answers[0] == answers[-1] and answers[0].groups == answers[-1].groups
    found = {frozenset(group) for group in answers[0].groups} or {frozenset(seeds)}
    assert found == expected


def test_examples_of_four_kinds_are_not_divided(built, kernel):
    """Their hits are strangers, too."""
    _, reading = built
    rng = random.Random(3)
    for _ in range(60):
        seeds = [f"d{KINDS * rng.randrange(ITEMS // KINDS) + own}" for own in rng.sample(range(KINDS), 4)]
        assert not reading.expand(seeds, 1).groups


def test_the_core_finds_that_there_are_no_groups(built):
    if binding.library() is None:
        pytest.skip("the core was not built (python hatch_build.py)")
    setsearch.use_kernel("core")
    _, reading = built

    def weigh(seeds, k=10):
        """What the core says of seeds."""
        with reading.fields() as fields:
            asked = Examples(sorted(fields.resolve_all(seeds)))
            return now(Weighing(fields, reading.defaults.choose({})).two_passes(asked, wanted=Wanted(k)))

    def together(*own):
        """Whether they fall into no groups."""
        return weigh(*own).found.told.together

    assert all(together(kind(own, each=each)) for own in (0, 7) for each in (4, 6, 10))
    assert together([f"d{n}" for n in range(10)]), "ten kinds share little"
    assert not together(kind(0, 3)) and not together(kind(0, each=3)) and not together(kind(0, each=4), 4)
    assert [weigh(own).found.told.share_much for own in (kind(0, 3), kind(0, each=4))] == [True, False]


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5), (6, 7), (12, 20)])
def test_few_and_many_examples_are_divided(sizes):
    rng = np.random.default_rng(sum(sizes))
    own = rng.permutation(np.repeat([True, False], sizes))
    alike = np.where(own[:, None] == own, 0.4, 0.1) + 0.1 * rng.random((len(own), len(own)))
    alike = (alike + alike.T) / 2
    assert (groups.divide(alike) == (own == own[0])).all()


def test_a_seed_that_is_nearly_another_one_is_not_excluded_in_silence(tmp_path):
    data = {name: " ".join(words) for name, words in texts().items()}
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((data | {"d0 copy": data["d0"]}).items())
        for count in (1, 2):
            with pytest.raises(errors.InvalidParameter, match=r"^'d0 copy' is both a seed and in `exclude`"):
                index.items("documents").expand(["d0", "d0 copy", "d1"], groups=count, exclude=["d0 copy"])


def test_near_duplicates_are_folded_across_groups(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        data = texts()
        bridge = kind(0, each=12)[10:], kind(3, each=12)[10:]
        both = data[bridge[0][0]] + data[bridge[1][0]]
        data |= {"x": [*both, "x1"], "y": [*both, "y1"]}
        index.add((item, " ".join(words)) for item, words in data.items())
        reading = index.items("documents")
        hits = reading.expand(kind(0) + kind(3), 200, groups=2, fold=True)
        (folded,) = [hit for hit in hits if hit.duplicates]
        assert {folded.item, *folded.duplicates} == {"x", "y"}
        kept = reading.expand(kind(0) + kind(3), 9, groups=2, cut="keep")
        marked = reading.expand(kind(0) + kind(3), 200, groups=2, cut="mark")
        for group in marked.groups:
            assert [hit.belongs for hit in marked if hit.group == group] == sorted(
                (hit.belongs for hit in marked if hit.group == group), reverse=True
            )
        assert [hit.item for hit in kept] == [hit.item for hit in marked if hit.belongs][:9]


def test_examples_of_all_kinds_have_groups(built):
    data, reading = built
    text = " ".join(data["d3"])
    hits = reading.expand(kind(0), 6, like=[text], having=["w3x1", "w3x2"], groups=2)
    assert hits.groups == (tuple(kind(0)), (text[:39] + "…", "features"))
    weighted = reading.expand({"d0": 1, "d16": 0.5, "d3": 2, "d19": 1}, 6, groups=2)
    assert {frozenset(group) for group in weighted.groups} == {frozenset(kind(0)), frozenset(kind(3))}
    alone = reading.expand({"d0": 1, "d16": 0.5}, ITEMS)
    assert {hit.item: hit.score for hit in alone}.items() >= {
        (hit.item, hit.score) for hit in weighted if hit.group == ("d0", "d16")
    }
    assert not reading.expand({"d0": 1, "d16": 0.5, "d3": 2, "d19": 1}, 6).groups, "weights say how examples count"
    with pytest.raises(errors.NoSeeds, match="groups = 3 needs 3 to 50 examples, not 2; 1 makes one list"):
        reading.expand(["d0", "d1"], groups=3)
    with pytest.raises(errors.NoSeeds, match="a group would have examples of weight 0 alone"):
        reading.expand({"d0": 1, "d3": 0}, groups=2)


def test_words_have_groups_if_these_are_asked_for(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add((f"{seed}{item}", " ".join(own)) for seed in (1, 2) for item, own in texts(seed).items())
        for by in ("documents", "contexts", "both"):
            reading, seeds = index.items("terms"), ["w0x1", "w0x2", "w3x1", "w3x2"]
            assert not reading.expand(seeds, 4, by=by).groups
            hits = reading.expand(seeds, 4, by=by, groups=2)
            assert hits.groups == (("w0x1", "w0x2"), ("w3x1", "w3x2"))
            for hit in hits:
                alone = reading.expand(hit.group, 200, by=by)
                assert hit.score in {other.score for other in alone if other.item == hit.item}


@pytest.mark.usefixtures("kernel")
def test_a_group_may_have_no_word_with_contexts(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add((f"{seed}{item}", " ".join(own)) for seed in (1, 2) for item, own in texts(seed).items())
        index.add([("r1", "rarity w5x1 w5x2"), ("r2", "w5x3 w5x4")])
        hits = index.items("terms").expand(["w0x1", "w0x2", "rarity"], 6, groups=2)
    assert hits.groups == (("rarity",), ("w0x1", "w0x2"))
    assert {hit.group for hit in hits} == {*hits.groups}


def test_the_command_line_tells_groups(built, run, tmp_path):
    data, reading = built
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((item, " ".join(words)) for item, words in data.items())
    seeds = kind(0) + kind(3)
    code, out, err = run("expand", "a.db", *seeds, "--items", "documents")
    rows, hits = json.loads(out), reading.expand(seeds, 10)
    assert code == 0 and [row["group"] for row in rows] == [list(hit.group) for hit in hits]
    assert "note: your examples fall into two groups: d0, d16 and d19, d3; --groups 1 makes one list" in err
    code, out, err = run("expand", "a.db", *seeds, "--items", "documents", "--groups", "1")
    assert code == 0 and "groups" not in err and "group" not in json.loads(out)[0]
    code, out, err = run("expand", "a.db", *UNHEARD[1], "--items", "documents")
    told = "a few hits are those of d38, d54 alone, which the others are less like"
    assert code == 0 and f"note: {told}; --groups 1 makes one list" in err
    assert [row.get("group") for row in json.loads(out)] == [None] * 7 + [["d38", "d54"]] + [None] * 2
    code, out, _ = run("expand", "a.db", *seeds, "--items", "documents", "--bars")
    assert code == 0 and out.count("the set ends here") <= 1
    (tmp_path / "sets.jsonl").write_text("\n".join(map(json.dumps, (seeds[:2], seeds))))
    code, out, err = run("expand", "a.db", "--batch", "sets.jsonl", "--items", "documents", "--groups", "3")
    assert code == 1 and json.loads(out)["seeds"] == seeds, "a short set does not stop the others"
    assert err.startswith("sets.jsonl, line 1: groups = 3 needs 3 to 50 examples, not 2")
    code, out, err = run("explain", "a.db", rows[0]["item"], *seeds, "--items", "documents")
    assert json.loads(out)["score"] == rows[0]["score"] and "this is the score by d0, d16" in err


def test_sql_and_pickles_tell_groups(built, tmp_path):
    data, reading = built
    seeds = kind(0) + kind(3)
    hits = reading.expand(seeds, 10)
    assert pickle.loads(pickle.dumps(hits)).groups == hits.groups == hits.shared().groups
    connection = sqlite3.connect(tmp_path / "a.db")
    with setsearch.open(connection, create=True, contexts="off") as index:
        index.add((item, " ".join(words)) for item, words in data.items())
        setsearch.register(connection)
        ask = "select setsearch_expand(?, json_object('items', 'documents', 'groups', ?))"
        rows = json.loads(connection.execute(ask, (json.dumps(seeds), None)).fetchone()[0])
        assert [row["group"] for row in rows] == [list(hit.group) for hit in hits]
        rows = json.loads(connection.execute(ask, (json.dumps(seeds), 1)).fetchone()[0])
        assert not any("group" in row for row in rows)


def test_page_and_api_tell_groups(built, tmp_path):
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")
    pytest.importorskip("httpx", reason="needs httpx: pip install httpx")
    from fastapi.testclient import TestClient

    from setsearch.web import make_app

    data, reading = built
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((item, " ".join(words)) for item, words in data.items())
    seeds = kind(0) + kind(3)
    with TestClient(make_app(tmp_path / "a.db")) as client:
        rows = client.get("/api/expand", params={"items": "documents", "seeds": seeds}).json()
        assert [row["group"] for row in rows] == [list(hit.group) for hit in reading.expand(seeds, 10)]
        page = client.get("/", params={"items": "documents", "seed": seeds}).text
        assert "your examples fall into two groups: d0, d16 and d19, d3" in page and "groups=1" in page
        page = client.get("/", params={"items": "documents", "seed": seeds, "groups": "1"}).text
        assert "fall into" not in page and "In two groups" in page and "groups=2" in page
        page = client.get("/", params={"items": "documents", "seed": UNHEARD[1]}).text
        assert "a few hits are those of d38, d54 alone" in page and "In two groups" in page and "like d38, d54" in page
