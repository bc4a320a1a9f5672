import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import setsearch
from setsearch import Index, profiles

Data = Mapping[str, Mapping[str, int]]


@pytest.fixture
def papers_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's model as the default of every reading: for tests that were derived from the paper."""
    for name in ("DOCUMENTS", "TERMS", "RATINGS"):
        monkeypatch.setattr(f"setsearch.views.{name}", replace(getattr(profiles, name), model="bernoulli"))


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[[Data], Index]]:
    """Make a fresh index of items with counted features, in a file of its own."""
    made: list[Index] = []

    def make(data: Data) -> Index:
        index = setsearch.open(tmp_path / f"{len(made)}.db", create=True)
        index.add(((item, counts) for item, counts in data.items()), ("film", "user"))
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


def random_data(seed: int, items: int, features: int, density: float) -> dict[str, dict[str, int]]:
    """Random counts, with a feature of all items and an item without features among them."""
    rng = random.Random(seed)
    data = {
        f"i{item}": {
            f"f{f}": rng.choice((1, 1, 2, 5)) for f in range(features) if rng.random() < density * 2 / (1 + f % 4)
        }
        for item in range(items)
    }
    if seed % 2:
        for counts in data.values():
            counts["everywhere"] = rng.randint(1, 3)
    else:
        data["i0"] = {}
    return data
