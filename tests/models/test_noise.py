"""Fields that tell nothing of the first one, by the definition, pair by pair."""

import math
import random
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from laws import examples

from setsearch.arrays import Entries
from setsearch.lists import Lists, transposed
from setsearch.models.noise import MOST_PAIRS, noisy_fields


def drawn(seed, n_items, likeness):
    """Items with features of three fields: users, what depends on these by a likeness, and noise."""
    rng, items = random.Random(seed), []
    for n in range(n_items):
        users = {rng.randrange(8) + 8 * (n % 3) for _ in range(rng.randint(0, 5))}
        told = {24 + (n % 3 if rng.random() < likeness else rng.randrange(3)) for _ in range(rng.randint(0, 2))}
        items.append(sorted({*users, *told, *(30 + rng.randrange(6) for _ in range(rng.randint(0, 3)))}))
    return items


def lists_of(items, n_features=36):
    cells = [(item, feature) for item, own in enumerate(items) for feature in own]
    rows, columns = (np.array(own, np.int64) for own in zip(*cells, strict=True))
    return Lists.of(transposed(Entries(rows, columns, np.ones(len(rows), np.int64))), n_features, len(items))


def by_definition(items, of_feature):
    """What is noise, by all pairs, since these are few."""
    df = {j: sum(j in own for own in items) for j in range(len(of_feature))}
    bits = {j: math.floor(math.log2(len(items) / own)) for j, own in df.items() if own}
    pairs = [
        (a, b)
        for a, b in combinations(range(len(items)), 2)
        if any(of_feature[j] == 0 for j in {*items[a]} & {*items[b]})
    ]
    ends = [item for pair in pairs for item in pair]
    times = [ends.count(item) for item in range(len(items))]
    others = sum(x * y for a, x in enumerate(times) for b, y in enumerate(times) if a != b)
    noisy = []
    for field in sorted({*of_feature.tolist()}):
        found = squares = chance = 0.0
        for j in [j for j in bits if of_feature[j] == field and field]:
            shared = sum(j in items[a] and j in items[b] for a, b in pairs)
            found, squares = found + bits[j] * shared, squares + bits[j] ** 2 * shared
            having = [item for item, own in enumerate(items) if j in own]
            chance += bits[j] * sum(times[a] * times[b] for a in having for b in having if a != b)
        if found + 2 * math.sqrt(squares) < 1.1 * chance * (len(pairs) / max(others, 1)):
            noisy.append(field)
    return noisy


@examples(40)
@given(st.integers(0, 1 << 20), st.integers(4, 70), st.sampled_from([0.0, 0.3, 1.0]))
def test_noise_is_what_the_definition_says_in_any_order(seed, n_items, likeness):
    items, of_feature = drawn(seed, n_items, likeness), np.array([0] * 24 + [1] * 6 + [2] * 6)
    if not any(items):
        return
    found = noisy_fields(lists_of(items), of_feature, n_items)
    assert found == by_definition(items, of_feature)
    assert found == noisy_fields(lists_of(items[::-1]), of_feature, n_items)


def test_what_depends_on_the_users_is_no_noise_and_few_pairs_tell_nothing():
    of_feature = np.array([0] * 24 + [1] * 6 + [2] * 6)
    assert noisy_fields(lists_of(drawn(1, 300, 1.0)), of_feature, 300) == [2]
    assert noisy_fields(lists_of(drawn(1, 300, 0.0)), of_feature, 300) == [1, 2]
    assert noisy_fields(lists_of(drawn(1, 12, 1.0)), of_feature, 12) == []


def test_features_of_too_many_items_are_left_out():
    """Nothing is known where each first feature has more pairs than are counted."""
    n_items = 2 * math.isqrt(MOST_PAIRS)
    items = [[0, 24 + n % 2] for n in range(n_items)]
    assert noisy_fields(lists_of(items), np.array([0] * 24 + [1] * 12), n_items) == []
