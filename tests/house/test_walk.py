"""The way of a question, as a reader walks it: how many modules it enters, and how often it goes to another room."""

import random
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import setsearch
from setsearch.core import binding

PACKAGE = Path(setsearch.__file__).parent
MOST_MODULES, MOST_CHANGES = 25, 90  # of a question whose answer needs nothing that was not read before
MOST_CALLS, DEEPEST = 115, 12  # from one module into another; own functions that wait for one another
SEEDS = {"documents": ["d1", "d2"], "terms": ["w1", "w2"]}


def walk(ask):
    """The own functions that are called, one after another: of each those that wait, the inner one first.

    A function is the path of its module, in parts, and its name.
    """
    steps = []

    def note(frame, event, _):
        if event == "call" and PACKAGE in Path(frame.f_code.co_filename).parents:
            steps.append([*waiting(frame)])

    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return steps


def waiting(frame):
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if PACKAGE in path.parents and not frame.f_code.co_name.endswith("comp>"):  # no functions since Python 3.12
            yield path.relative_to(PACKAGE).parts, frame.f_code.co_name
        frame = frame.f_back


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
        steps = walk(partial(reading.expand, SEEDS[items]))
    modules = [own[0][0] for own in steps]
    assert len({*modules}) <= MOST_MODULES, {*modules}
    changes = sum(one[0] != other[0] for one, other in pairwise(modules))
    assert 20 < changes <= MOST_CHANGES, changes
    calls = sum(own[0][0] != own[1][0] for own in steps if len(own) > 1)
    assert 20 < calls <= MOST_CALLS, calls
    assert max(map(len, steps)) <= DEEPEST, max(steps, key=len)
