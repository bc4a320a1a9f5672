"""What is kept of a group: after any changes the sets say what they say to one who has never asked before."""

import gc
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from test_inbox import OTHER, TOPICS

import setsearch
from setsearch import errors
from setsearch.answers.saved import joiners, set_index, together
from setsearch.answers.saved.joiners import NEAR, FirstPass, Passes
from setsearch.search.passes import FLAT

NAMES = sorted(TOPICS)


PER_TOPIC = 32


def loose(topic, number):
    """A text of one to nine words of a topic, some of another and of none; always the same."""
    draw = random.Random(f"{topic} {number} loose")
    own = draw.sample(TOPICS[topic], draw.randint(1, 9))
    return " ".join(own + draw.sample(TOPICS[draw.choice(NAMES)], draw.randint(0, 4)) + draw.sample(OTHER, 4))


def fill(index):
    """Documents of each topic, so many that five join a set; a set of three of each, in one group."""
    index.add([(f"{topic}{n}", loose(topic, n)) for topic in TOPICS for n in range(PER_TOPIC)])
    for topic in TOPICS:
        index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group="kinds")
    index.group("kinds", exclusive=True)


def opened(place):
    return setsearch.open(Path(place) / "a.db", create=True, contexts="off")


def said(index):
    """What all sets say of some items, and of what is new."""
    claims = [[*index.sets_of(item, k=None, items="documents")] for item in ("cats9", "sea12", "grain5", "music15")]
    inbox = [row[:2] + row[3:] for row in index.inbox()]
    hits = []
    for name in index.sets():
        try:
            hits.append([(hit.item, hit.score, hit.belongs) for hit in index.set(name).expand(100, cut="mark")])
        except errors.QueryError as error:
            hits.append(str(error))
    return claims, inbox, hits


def change(index, data):
    """Change something."""
    name = data.draw(st.sampled_from(sorted(index.sets())))
    item = f"{data.draw(st.sampled_from(NAMES))}{data.draw(st.integers(0, PER_TOPIC - 1))}"
    how = data.draw(st.sampled_from(["accept"] * 4 + ["reject", "forget", "alone", "under", "delete", "write"]))
    own = index.set(name)
    if how == "delete" and len(index.sets()) > 1:
        index.delete_set(name)
    elif how == "write":
        index.update([(item, loose(data.draw(st.sampled_from(NAMES)), data.draw(st.integers(20, 30))))])
    else:
        if how == "alone":
            own.group = None if own.group else "kinds"
        elif how == "under":
            own.under = None if own.under else data.draw(st.sampled_from(sorted(index.sets())))
        elif how in ("accept", "reject", "forget"):
            getattr(own, how)(item)
        try:
            own.save()
        except errors.InvalidParameter:  # a rival has it, or it would be its own whole
            return


@examples(40)
@given(st.data())
def test_what_is_kept_answers_as_what_is_made_anew(data):
    with TemporaryDirectory() as place, opened(place) as index:
        fill(index)
        said(index)
        for _ in range(data.draw(st.integers(1, 4))):
            with opened(place) as other:
                change(index if data.draw(st.booleans()) else other, data)
            now = said(index)
            with opened(place) as other:
                assert now == said(other)


@pytest.mark.parametrize("name", NAMES)
def test_a_first_rival_changes_how_the_same_items_join(tmp_path, name):
    with opened(tmp_path) as index:
        fill(index)
        for other in NAMES:
            own = index.set(other)
            own.group = "kinds" if other == name else None
            own.save()
        said(index)
        own = index.set(next(other for other in NAMES if other != name))
        own.group = "kinds"
        own.save()
        with opened(tmp_path) as other:
            assert said(index) == said(other)


def test_a_change_asks_what_changed(tmp_path, monkeypatch):
    asked, passes = [], []
    note, ask = set_index.note_weighed, Passes.of

    def noting(made, name, *where):
        """Note a set that is asked."""
        asked.append(name)
        return note(made, name, *where)

    def passing(own, group, made_of, ask_each):
        """Note those that are asked for one pass."""
        return ask(own, group, made_of, lambda names: ask_each(passes.extend(names) or names))

    monkeypatch.setattr(set_index, "note_weighed", noting)
    monkeypatch.setattr(Passes, "of", passing)
    with opened(tmp_path) as index:
        fill(index)
        index.sets_of("cats9", items="documents")
        assert sorted(asked) == sorted(passes) == NAMES
        every = 0
        for number in range(3, 8):
            asked.clear()
            passes.clear()
            own = index.set("cats")
            own.accept(f"cats{number}")
            own.save()
            index.sets_of("cats9", items="documents")
            assert passes == ["cats"]
            assert "cats" in asked
            every += len(asked)
        assert 5 <= every < 5 * len(NAMES), "others join some sets, and not all"
        asked.clear()
        index.update([("new", loose("cats", 40))])
        index.sets_of("cats9", items="documents")
        assert sorted(asked) == NAMES


def first(scores, most=2, excluded=()):
    return FirstPass("of", np.array(scores, float), 0.0, 0.0, 1.0, [], [*excluded], most)


@pytest.mark.parametrize(
    ("scores", "taken", "joining"),
    [
        ([9, 5, 7, 1], [0, 0, 0, 0], {0: 1 / 2, 2: 50 / 128}),
        ([9, 5, 7, 1], [5, 0, np.inf, 0], {1: 1 / 2, 0: 51 / 128}),
        ([9, 5, 7, 1], [0, 5 + 1e-3, 8, 2], {0: 1 / 2}),  # as no other has more than 0
        ([9, 0, 0, 0], [0, 0, 0, 0], {0: 1 / 2}),
        ([9, 1e-3, 0, 0], [0, 0, 0, 0], {0: 1 / 2, 1: 1 / 128}),
        ([9, 8.7, 7, 1], [0, 0, 0, 0], {}),  # flat
        ([128, 99 + NEAR / 2, 7, 1], [0, 0, 0, 0], None),  # in the middle of two weights
        ([128, 99 + 2 * NEAR, 7, 1], [0, 0, 0, 0], {0: 1 / 2, 1: 50 / 128}),
        ([128, 99 - 2 * NEAR, 7, 1], [0, 0, 0, 0], {0: 1 / 2, 1: 49 / 128}),
        ([9, 7, 7 - NEAR / 2, 1], [0, 0, 0, 0], None),
        ([9, NEAR / 2, 0, 0], [0, 0, 0, 0], None),
        ([9, 9 * FLAT + NEAR / 2, 1, 0], [0, 0, 0, 0], None),
        ([9, 5], [0, 0], None),  # all join
        ([9, 5, 7, 1], None, None),
    ],
)
def test_who_joins_is_told_if_it_is_sure(scores, taken, joining):
    taken = None if taken is None else np.array(taken, float)
    assert first(scores).joining(taken) == joining
    assert first(scores, most=0).joining(taken) is None
    more = None if taken is None else np.append(taken, 0)
    assert first([*scores, 99], excluded=[len(scores)]).joining(more) == joining or len(scores) == 2


def test_what_is_kept_of_first_passes_is_bounded(monkeypatch):
    def ask(names):
        """What a set says, and one that has no answer."""
        return [None if name == "b" else first([1, 2]) for name in names]

    kept, asked = Passes(), []

    def of(group, **made_of):
        """Ask for a group, and note of which sets."""
        return kept.of(group, made_of, lambda names: ask(asked.extend(names) or names))

    of("g", a=1, b=1)
    of("h", a=1)
    assert of("g", a=2, b=1).keys() == {"a", "b"}
    assert asked == ["a", "b", "a", "a"]
    assert kept.keys() == {"g", "h"}
    monkeypatch.setattr(joiners, "MOST_BYTES", 16)
    of("g", a=3)
    assert kept.keys() == {"g"}, "one more than there is room for starts again"
    of("h", a=2, c=2)
    assert not kept, "too many of one group are not kept"


def test_first_passes_of_large_groups_are_held_one_group_at_a_time(tmp_path, monkeypatch):
    held, note = [], set_index.note_weighed

    def noting(*given):
        """Note how many first passes there are when a set is asked."""
        held.append(sum(type(own) is FirstPass for own in gc.get_objects()))
        return note(*given)

    with opened(tmp_path) as index:
        fill(index)
        for topic in TOPICS:  # the names of two groups are in turns
            members = [f"{topic}{n}" for n in range(3, 6)]
            index.keep_set(f"{topic} too", members, items="documents", group="more kinds")
        index.group("more kinds", exclusive=True)
        before = sum(type(own) is FirstPass for own in gc.get_objects())
        for module in (joiners, together):
            monkeypatch.setattr(module, "MOST_BYTES", 0)
        monkeypatch.setattr(set_index, "note_weighed", noting)
        found = [said(index)]
        for name in ("cats", "sea too"):
            own = index.set(name)
            own.accept(own.accepted[0][:-1] + "7")
            own.save()
        found.append(said(index))
        assert max(held) <= before + len(TOPICS)
        monkeypatch.undo()
        with opened(tmp_path) as other:
            assert found[1] == said(other) != found[0]


def test_other_options_and_more_examples_are_asked_anew(tmp_path):
    """What is kept is that of the defaults."""
    ways = {"by": {"text": 0.5}}, {"by": "text,tags=2"}, {"like": ["lion tiger"]}, {"having": np.array(["lion"])}
    ways = *ways, {"feedback": 0.0}, {"gamma": 0.1}, {}
    with opened(tmp_path) as index:
        fill(index)
        index.update([setsearch.Item("cats3", loose("cats", 3), fields={"tags": ["big", "wild"]})])
        own = index.set("cats")
        own.accept("cats3")
        own.reject("sea3")
        own.save()
        said(index)
        for how in ways * 2:
            with opened(tmp_path) as other:
                hits = [one.set("cats").expand(20, **how) for one in (index, other)]
            assert [*hits[0]] == [*hits[1]]
