"""Rejected words: what they have counts less, and a part of it is subtracted. Scores equal their definition."""

import random

import pytest
from oracle import RARITY, lift_weights, same_scores, soft_values, transpose

import setsearch

SEEDS, REJECTED = ["w3", "w6", "w9"], ["w12", "w16"]
GAMMA, DISCOUNT = 0.03, 0.05


def word_texts(seed, n_texts=150):
    """Texts of words of three kinds, w0, w3, ... in one; some words are of no kind."""
    rng = random.Random(seed)
    for number in range(n_texts):
        own = [f"w{n}" for n in range(number % 3, 36, 3)]
        yield f"d{number}", rng.choices(own, k=8) + rng.choices([f"w{n}" for n in range(48)], k=4)


@pytest.fixture(scope="module", params=range(3))
def built(request, tmp_path_factory):
    texts = dict(word_texts(request.param))
    with setsearch.open(tmp_path_factory.mktemp("discount") / "a.db", create=True, contexts="on") as index:
        index.add((name, " ".join(words)) for name, words in texts.items())
        yield texts, index.items("terms")


def discounts(values, seeds, rejected):
    """a / (a + d r) of every feature."""

    def share(items, feature):
        return sum(feature in values[item] for item in items) / len(items)

    features = {feature for seed in seeds for feature in values[seed]}
    return {f: share(seeds, f) / (share(seeds, f) + DISCOUNT * share(rejected, f)) for f in features}


@pytest.mark.parametrize("rejected", [REJECTED, REJECTED[:1]])
def test_words_by_documents_equal_the_definition(built, rejected, kernel):
    texts, reading = built
    data = transpose({name: {word: words.count(word) for word in words} for name, words in texts.items()})
    values = soft_values(data, 0.8, "twice-mean")
    plus, minus = (lift_weights(values, own, 2.0, rarity=RARITY) for own in (SEEDS, rejected))
    factors = discounts(values, SEEDS, rejected)
    weights = {f: plus.get(f, 0.0) * factors.get(f, 0.0) - GAMMA * minus.get(f, 0.0) for f in {*plus, *minus}}
    expected = {item: sum(x * weights.get(f, 0.0) for f, x in own.items()) for item, own in values.items()}
    hits = reading.expand(SEEDS, 100, by="documents", exclude=rejected, explain=True)
    same_scores(hits, expected, [*SEEDS, *rejected], 1e-5)
    for hit in hits:
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)


def test_contexts_that_rejected_words_have_count_less(built):
    _, reading = built
    plain = {h.item: h for h in reading.expand(SEEDS, 100, explain=True, neighbors=0, vectors=0)}
    negative = {h.item: h for h in reading.expand(REJECTED, 100, explain=True, neighbors=0, vectors=0)}
    with_rejected = reading.expand(SEEDS, 100, explain=True, exclude=REJECTED, neighbors=0, vectors=0)
    assert not with_rejected.learned
    own = {item: reading.explain([item], item, neighbors=0, vectors=0).features for item in (*SEEDS, *REJECTED)}
    known = {item: {part.feature for part in own[item]} for item in (*SEEDS, *REJECTED)}
    changed = 0
    for hit in with_rejected:
        before = {part.feature: part.weight for part in plain[hit.item].features}
        subtracted = {part.feature: part.weight for part in negative[hit.item].features}
        assert {part.feature for part in hit.features} == {*before, *subtracted}
        for part in hit.features:
            shares = [sum(part.feature in known[item] for item in own) / len(own) for own in (SEEDS, REJECTED)]
            factor = shares[0] / (shares[0] + DISCOUNT * shares[1]) if shares[0] else 1
            expected = before.get(part.feature, 0) * factor - GAMMA * subtracted.get(part.feature, 0)
            assert part.weight == pytest.approx(expected, abs=1e-6)
            changed += factor < 1
    assert changed > 20


def test_a_coefficient_subtracts_instead(built):
    _, reading = built
    subtracted = reading.expand(SEEDS, 9, exclude=REJECTED, gamma=0.1)
    left_out = reading.expand(SEEDS, 9, exclude=REJECTED, gamma=0)
    discounted = reading.expand(SEEDS, 9, exclude=REJECTED)
    assert len({tuple(hit.score for hit in hits) for hits in (subtracted, left_out, discounted)}) == 3
    alone = {hit.item: hit.score for hit in reading.expand(SEEDS, 99)}
    assert all(hit.score == alone[hit.item] for hit in left_out)
    assert all(hit.score <= alone[hit.item] for hit in discounted)


def test_a_seed_of_weight_0_has_no_features_to_discount(built):
    _, reading = built
    alone = reading.expand({"w3": 1, "w6": 1}, 20, exclude=REJECTED)
    with_nothing = reading.expand({"w3": 1, "w6": 1, "w9": 0}, 21, exclude=REJECTED)
    scores = {hit.item: hit.score for hit in alone}
    assert all(hit.score == scores[hit.item] for hit in with_nothing if hit.item in scores)
