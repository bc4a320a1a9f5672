"""The way of a question, as a reader walks it: how many modules it enters, and how often it goes to another room."""

import random
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import setsearch
from setsearch.core import binding

PACKAGE = Path(setsearch.__file__).parent
MOST_MODULES, MOST_CHANGES = 25, 90  # of a question whose answer needs nothing that was not read before
SEEDS = {"documents": ["d1", "d2"], "terms": ["w1", "w2"]}


def walk(ask):
    """The modules whose functions are called, one after another, each as the parts of its path."""
    steps = []

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            steps.append(path.relative_to(PACKAGE).parts)

    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return steps


@pytest.mark.skipif(binding.library() is None, reason="without a core numpy goes other ways")
@pytest.mark.parametrize("items", SEEDS)
def test_a_question_enters_few_modules(tmp_path, items):
    rng = random.Random(7)
    texts = [(f"d{n}", " ".join(f"w{min(rng.randrange(40), rng.randrange(40))}" for _ in range(30))) for n in range(80)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts)
        index.refresh()
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items(items)
        for _ in range(2):
            reading.expand(SEEDS[items])
        steps = walk(lambda: reading.expand(SEEDS[items]))
    assert len({*steps}) <= MOST_MODULES, {*steps}
    changes = sum(one[0] != other[0] for one, other in pairwise(steps))
    assert 20 < changes <= MOST_CHANGES, changes
