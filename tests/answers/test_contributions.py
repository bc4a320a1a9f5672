"""What features add: all hits at once equal one after another, to the bit, and in the same order."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch.answers import hits
from setsearch.answers.contributions import contributions
from setsearch.answers.results import Contribution
from setsearch.memory.fields import Fields
from setsearch.search.weights import NEAR, RIVAL, SeedWeights
from setsearch.text.analyzer import KINDS, Analyzer

WORDS = "the lion hunts a zebra while wheat grows near rivers and wolves howl at night".split()


def plain(fields: Fields, weights: SeedWeights, items: Sequence[int]) -> dict[int, tuple[Contribution, ...]]:
    """The same, item by item and entry by entry."""
    found = {}
    for item in items:
        added: dict[tuple[str, str | None], float] = {}
        for name, part in weights.parts:
            if name != NEAR and (name != RIVAL or part[item]):
                added[name, None] = float(part[item]) / weights.scale
        if weights.neighborhood is not None:
            for other, part in weights.neighborhood.near_parts(item).items():
                added[NEAR + fields.describe([other])[other][0], None] = part / weights.scale
        for own in weights.all:
            stored, active = own.field.forward([item], own.rule), own.seeds.features.tolist()
            values = stored.concatenated_values().tolist()
            for feature, value in zip(stored.concatenated_ids().tolist(), values, strict=True):
                if feature in active:
                    name = own.field.describe_features([feature])[feature]
                    place = np.array([active.index(feature)])
                    (amount,) = own.added(place, np.array([value])).tolist()
                    added[name] = added.get(name, 0.0) + amount
        ranked = sorted(added.items(), key=lambda part: (-part[1], part[0][0]))
        found[item] = tuple(Contribution(name, weight, title) for (name, title), weight in ranked)
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = random.Random(4)
    with setsearch.open(tmp_path_factory.mktemp("parts") / "a.db", create=True, contexts="on") as made:
        made.add((f"d{n}", " ".join(rng.choices(WORDS, k=12)), "title" * (n % 2) or None) for n in range(60))
        likes = ((f"f{n}", {f"u{user}": 1 + user % 3 for user in rng.sample(range(20), 6)}) for n in range(40))
        made.add(likes, ("film", "user"))
        yield made


@pytest.mark.parametrize(
    ("items", "names", "options"),
    [
        ("documents", ["d1", "d2"], {}),
        ("documents", ["d1", "d2"], {"exclude": ["d3"]}),
        ("documents", ["d1", "d2"], {"exclude": ["d3"], "gamma": 0.5}),
        ("documents", ["d1"], {"model": "bernoulli"}),
        ("documents", ["d1", "d2"], {"model": "multinomial"}),
        ("terms", ["lion", "zebra"], {"by": "both"}),
        ("terms", ["lion", "zebra"], {"by": "contexts", "neighbors": 1.0}),
        ("film", ["f1", "f2", "f3"], {}),
    ],
)
def test_all_hits_at_once_equal_one_after_another(index, monkeypatch, items, names, options):
    asked = []

    def both(fields: Fields, weights: SeedWeights, ids: list[int]) -> dict[int, tuple[Contribution, ...]]:
        """The parts, and whether they are the plain ones."""
        found = contributions(fields, weights, ids)
        asked.append(len(ids))
        assert found == plain(fields, weights, ids)
        assert {id: sum(part.weight for part in own) for id, own in found.items()} == {
            id: sum(sorted(part.weight for part in own)) for id, own in found.items()
        }, "sums are exact"
        return found

    monkeypatch.setattr(hits, "contributions", both)
    found = index.items(items).expand(names, 10, explain=True, **options)
    assert asked == [len(found)] and any(hit.features for hit in found)


@given(kind=st.sampled_from([kind for kind in KINDS if "icu" not in kind]), text=st.text("aZ09ßé_.' ", max_size=6))
def test_one_word_has_the_terms_of_a_text(kind, text):
    analyzer = Analyzer(function=kind)
    assert analyzer.terms(text) == analyzer.words.split(text)


@pytest.mark.parametrize(("items", "names"), [("documents", ["d1", "d2"]), ("terms", ["lion"]), ("film", ["f1", "f2"])])
def test_the_first_features_are_those_of_all(index, items, names):
    reading = index.items(items)
    every = reading.features(names, 10**6)
    assert items != "terms" or len({own.weight for own in every}) < len(every)  # some are equal
    assert every == sorted(every, key=lambda own: (-own.weight, own.feature))
    assert all(reading.features(names, k) == every[:k] for k in range(1, len(every) + 2))
