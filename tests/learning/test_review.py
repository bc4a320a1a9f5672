"""Reviews: decisions are kept in their order, the queue follows them, and the rule for stopping keeps its promise."""

import random
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.answers.saved.decisions import MOST_EARLIER, Decision
from setsearch.cli.commands.review import _state
from setsearch.learning import Review
from setsearch.learning.stopping import EVEN_AT, ODDS, chance_of_few, chance_of_missing, outlook


@pytest.fixture
def path(tmp_path):
    """Records about strokes and about the weather."""
    rng = random.Random(0)
    sick, sky = "stroke patients aspirin trial clot brain".split(), "wind cloud rain storm front sun".split()
    with setsearch.open(tmp_path / "r.db", create=True, language="english", analyzer="unicode+pairs") as index:
        words = [sick if number % 4 == 0 else sky for number in range(60)]
        index.add((f"r{n:02}", " ".join(rng.choices(own, k=6)), f"Record {n}") for n, own in enumerate(words))
    return tmp_path / "r.db"


def is_sick(item):
    return int(item[1:]) % 4 == 0


def test_a_review_finds_everything_and_says_when_to_stop(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        assert review.reading.name == "documents"
        with pytest.raises(errors.NoSeeds, match="accept one"):
            review.queue()
        review.know(["r00"], ["r01"])
        order = []
        assert _state(review) == "1 found, 2 of 60 read; at least 40 more answers before you can stop"
        while (hits := review.queue()) and not review.progress().may_stop:
            order.append(hits[0].item)
            review.decide(order[-1], "yes" if is_sick(order[-1]) else "no")
        progress = review.progress()
        assert progress.found == 15 and progress.read == len(order) + 2 < 60
        assert progress.curve[:3] == [2, 3, 4] and progress.records == 60
        assert [decision.item for decision in review.decisions()[2:]] == order
        assert [decision[:3] for decision in review.decisions()[:2]] == [("r00", "yes", None), ("r01", "no", None)]


def test_later_comes_last_and_undo_takes_back(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00", "r04"])
        first, second = (hit.item for hit in review.queue(2))
        review.decide(first, "later")
        assert review.queue()[0].item == second
        assert review.queue(58)[-1].item == first
        assert review.progress().read == 2
        assert review.undo() == Decision(first, "later", 1)
        assert review.queue()[0].item == first
        assert review.undo() is None
        assert index.set("stroke").accepted == ["r00", "r04"]
        with pytest.raises(errors.InvalidParameter, match="yes, no or later"):
            review.decide(first, "maybe")
        with pytest.raises(errors.UnknownItem):
            review.decide("r99", "yes")
        with pytest.raises(errors.InvalidParameter, match="is of documents, not of terms"):
            index.decisions("stroke", "terms").write({"rain": "yes"})
        with pytest.raises(errors.InvalidParameter, match="between 0 and 1"):
            Review(index, "stroke", recall=95)


def test_a_set_that_is_saved_again_keeps_the_order_of_its_review(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"])
        for item, said in (("r08", "yes"), ("r04", "no"), ("r01", "later"), ("r12", "yes")):
            review.decide(item, said)
        index.keep_set("stroke", ["r00", "r08", "r04"], ["r05"], "documents")  # as the page does
        assert [tuple(decision[:3]) for decision in review.decisions()] == [
            ("r00", "yes", None), ("r04", "yes", None), ("r05", "no", None), ("r08", "yes", 1), ("r01", "later", 3),
        ]  # fmt: skip


def test_what_was_put_off_stays_when_the_set_is_saved(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"])
        review.decide("r01", "later")
        for item in ("r04", "r08"):
            kept = index.set("stroke")
            kept.accept(item)
            kept.save(version=kept.version)
            kept.accept("r12")
            kept.save(version=kept.version)
            index.keep_set("stroke", kept.accepted, kept.rejected, "documents", kept.version)
        assert ("r01", "later", 1) in [decision[:3] for decision in review.decisions()]
        index.keep_set("stroke", ["r01"], [], "documents")
        assert [(one.item, one.said) for one in review.decisions()] == [("r01", "yes")]


def test_what_was_noted_stays_when_an_answer_is_taken_back_elsewhere(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"])
        review.decide("r04", "later", note="ask Ann")
        review.decide("r08", "yes")
        own = index.set("stroke")
        own.accept("r04")  # as the inbox does
        own.save()
        assert {"r00", "r04", "r08"} == {*index.set("stroke").accepted}
        for item in ("r04", "r08"):
            own = index.set("stroke")
            own.forget(item)
            own.save()
        assert index.set("stroke").accepted == ["r00"]
        (noted,) = [decision for decision in Review(index, "stroke").decisions() if decision.item != "r00"]
        assert (noted.item, noted.said, noted.note) == ("r04", "later", "ask Ann")
        assert index.check() == []


def test_records_that_left_the_index_do_not_count(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00", "r04"], ["r01"])
        before = [hit.item for hit in review.queue(5) if hit.item != "r08"]
        index.delete(["r04", "r01"])
        review.know(["r00"], ["r02"])
        assert len(review.queue(5)) == 5 and before
        index.delete(["r00"])
        with pytest.raises(errors.NoSeeds, match="'stroke'"):
            review.queue()


def test_all_are_decided(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know([f"r{n:02}" for n in range(60) if n % 4 == 0], [f"r{n:02}" for n in range(60) if n % 4])
        assert review.queue() == []
        assert review.progress().outlook == (0.0, 0, 0, 0)


def test_two_people_and_a_killed_process_lose_nothing(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        Review(one, "stroke").know(["r00"])
        Review(one, "stroke").decide("r04", "yes")
        Review(other, "stroke").decide("r01", "no")
        code = (
            "import os, setsearch; from setsearch.learning import Review; "
            f"Review(setsearch.open({str(path)!r}), 'stroke').decide('r08', 'yes'); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", code], check=False)
        said = [(decision.item, decision.said, decision.number) for decision in Review(other, "stroke").decisions()]
        assert said == [("r00", "yes", None), ("r04", "yes", 1), ("r01", "no", 2), ("r08", "yes", 3)]
        assert one.check() == []


def said_of(review):
    return {own.item: (own.said, own.reason, own.note) for own in review.decisions()}


@pytest.mark.parametrize("again", [False, True])
def test_undo_brings_back_what_was_said_before(path, again):
    """Also what another object said: it is in the database."""
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"], ["r01"])
        before = [review.decisions()]
        steps = [("r04", "later", None, "ask Ann"), ("r04", "yes", None, None), ("r01", "yes", None, None)]
        steps += [("r04", "no", "too old", "she says no"), ("r01", "later", None, None)]
        for item, said, reason, note in steps:
            review.decide(item, said, reason=reason, note=note)
            before.append(review.decisions())
        review = Review(index, "stroke") if again else review
        told = ["later to r01", "no to r04 (too old), with the note: she says no", "yes to r01", "yes to r04"]
        for sentence in [*told, "the note on r04: ask Ann"]:
            before.pop()
            assert str(review.undo()) == sentence
            assert review.decisions() == before[-1]
        assert review.undo() is None


def test_undo_knows_of_as_many_answers_as_it_says(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"])
        for number in range(MOST_EARLIER + 5):
            review.decide("r04", "later", note=str(number))
        taken = [own.note for own in iter(lambda: Review(index, "stroke").undo("r04"), None)]
        assert taken == [str(number) for number in range(MOST_EARLIER + 5)][::-1][: MOST_EARLIER + 1]
        assert index.check() == []


def test_an_item_can_be_asked_for(path):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"], ["r01"])
        last = review.queue(58)[-1].item
        assert [hit.item for hit in review.queue(3, item=last)] == [last]
        review.decide(last, "later")
        assert [hit.item for hit in review.queue(item=last)] == [last]
        first = review.queue()[0].item
        for decided in ("r00", "r01"):
            assert review.queue(item=decided)[0].item == first
        index.delete([last])
        assert review.queue(item=last)[0].item == first


def test_two_windows_undo_their_own_answers_and_hear_of_others(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = Review(one, "stroke"), Review(other, "stroke")
        mine.know(["r00"])
        assert mine.decide("r04", "yes") is None and mine.decide("r04", "yes") is None
        assert mine.decide("r08", "later") is None and yours.decide("r08", "yes") is None
        replaced = yours.decide("r04", "no", reason="wrong part", replaces="yes")
        assert replaced[:2] == ("r04", "yes") and said_of(mine)["r04"] == ("no", "wrong part", None)
        mine.decide("r12", "yes")
        assert str(yours.undo()) == "no to r04 (wrong part)" and said_of(mine)["r04"][0] == "yes"
        assert str(yours.undo("r12")) == "yes to r12" and yours.undo("r12") is None
        assert mine.undo().item == "r04", "its last answer is gone, and that before stands"
        assert said_of(yours) == {"r00": ("yes", None, None), "r04": ("yes", None, None), "r08": ("yes", None, None)}


def test_undo_leaves_what_somebody_else_has_answered_meanwhile(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = Review(one, "stroke"), Review(other, "stroke")
        mine.know(["r00"])
        mine.decide("r04", "yes")
        yours.decide("r08", "no")
        mine.decide("r08", "yes", replaces="no")
        mine.decide("r12", "yes")
        assert yours.undo().item == "r04", "of those before it began"
        assert yours.undo() is None and [*said_of(mine)] == ["r00", "r08", "r12"]
        assert [Review(other, "stroke").undo().item, mine.undo().item] == ["r12", "r08"]


def test_an_answer_of_somebody_else_is_replaced_only_where_it_is_named(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = Review(one, "stroke"), Review(other, "stroke")
        mine.know(["r00"])
        mine.decide("r04", "no", reason="too old", note="ask Ann")
        yours.queue()  # having read the answer is not yet a wish to change it
        before = mine.decisions()
        told = r"said no to r04 \(too old\), with the note: ask Ann meanwhile, and your {} was not saved; `replaces` "
        for given in ({"said": "yes"}, {"said": "later"}, {"said": "no", "reason": "wrong part"}):
            for replaces in (None, "yes"):
                with pytest.raises(errors.AnsweredMeanwhile, match=told.format(given["said"])) as raised:
                    yours.decide("r04", **given, replaces=replaces)
                assert raised.value.said == "no" and mine.decisions() == before
        assert yours.decide("r04", "no") is None and said_of(mine)["r04"] == ("no", "too old", "ask Ann")
        assert yours.decide("r04", "yes")[:2] == ("r04", "no"), "its own answer now"
        with pytest.raises(errors.AnsweredMeanwhile):
            mine.decide("r04", "no")
        assert mine.decide("r04", "no", replaces="yes").said == "yes"
        assert str(mine.undo()).startswith("no to r04") and said_of(mine)["r04"][0] == "yes"
        with pytest.raises(errors.AnsweredMeanwhile):  # what undo brought back is still that of somebody else
            mine.decide("r04", "no")


def test_a_review_that_somebody_deleted_is_told_and_can_come_back(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        review = Review(one, "stroke")
        review.know(["r00"], ["r01"])
        review.decide("r04", "no", reason="too old", note="ask Ann")
        before = review.decisions()
        other.delete_set("stroke")
        for use in (review.queue, review.progress, review.undo, lambda: review.decide("r08", "yes")):
            with pytest.raises(
                errors.ChangedSet, match=r"somebody has deleted the set 'stroke' .*`restore` brings its 3 "
            ):
                use()
        assert "stroke" not in other.sets()
        review.restore()
        assert Review(other, "stroke").decisions() == review.decisions() == before
        review.decide("r08", "yes")
        other.delete_set("stroke")
        Review(other, "stroke").know(["r12"])
        review.restore()
        assert [own.item for own in review.decisions()] == ["r12"], "somebody has begun it anew"
        assert one.check() == []


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 10_001])
def test_a_text_that_cannot_be_kept_is_told(path, text):
    with setsearch.open(path) as index:
        review = Review(index, "stroke")
        review.know(["r00"])
        for given in ({"reason": text}, {"note": text}):
            with pytest.raises(errors.InvalidParameter, match=r"^a reason or a note has up to 10,000 characters"):
                review.decide("r04", "no", **given)
        assert [own.item for own in review.decisions()] == ["r00"]
        for name in ("", "a\0b", "\ud800"):
            with pytest.raises(errors.InvalidParameter, match=r"^the name of a set is 1 to 200 printable characters"):
                index.decisions(name, "documents")


def test_decisions_name_items_as_all_doors_do(path):
    with setsearch.open(path) as index:
        own = index.decisions("numbers", "documents")
        own.write({5: "yes"}, {5: ("a reason", None)})
        own.write({5.0: "no"})
        own.complete({5: ("another", "a note")})
        assert [row[:2] + row[4:] for row in own.read()] == [("5", "no", "another", "a note")]
        assert own.undo(5) == Decision("5", "no", 2, None, "another", "a note")
        assert [row[:2] + row[4:] for row in own.read()] == [("5", "yes", "a reason", None)]


NO_IDS = (None, True, b"a", object(), ("a", "b"), "", "a\0", "\ud800")
NO_TEXTS = (5, None, "", "ab ", ("a",))


@pytest.mark.parametrize(
    ("wrong", "call", "told"),
    [
        (NO_IDS, lambda own, wrong: own.write({wrong: "yes"}), "ids are text, not empty"),
        (NO_IDS, lambda own, wrong: own.write({"r00": "yes"}, {wrong: ("b", "c")}), "ids are text, not empty"),
        (NO_IDS, lambda own, wrong: own.complete({wrong: ("b", "c")}), "ids are text, not empty"),
        ([*NO_IDS[1:], [1]], lambda own, wrong: own.undo(wrong), "ids are text, not empty"),
        (NO_TEXTS, lambda own, wrong: own.write({"r00": "yes"}, {"r00": wrong}), "are a reason and a note, not"),
        (NO_TEXTS, lambda own, wrong: own.complete({"r00": wrong}), "are a reason and a note, not"),
        ([["yes"]], lambda own, wrong: own.write({"r00": wrong}), "a decision is yes, no or later, not"),
    ],
)
def test_what_is_no_decision_is_told(path, wrong, call, told):
    with setsearch.open(path) as index:
        own = index.decisions("stroke", "documents")
        for given in wrong:
            with pytest.raises(errors.SetsearchError, match=told):
                call(own, given)
        assert own.read() == [] == index.check()
        for ask in (lambda: Review(index, "stroke").know(5), lambda: Review(index, "stroke").queue("1")):
            with pytest.raises(errors.InvalidParameter):
                ask()


def test_what_was_taken_back_does_not_come_back(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        review = Review(one, "stroke")
        review.know(["r00"])
        review.decide("r01", "no", note="ask Ann")
        for said in (("r01", "yes"), ("r04", "yes")):
            review.decide(*said)
        assert [review.undo().item for _ in range(2)] == ["r04", "r01"]
        other.delete_set("stroke")
        review.restore()
        assert said_of(review) == {"r00": ("yes", None, None), "r01": ("no", None, "ask Ann")}


def test_an_answer_with_the_reason_of_somebody_else_stays_that_of_who_gave_it(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = Review(one, "stroke"), Review(other, "stroke")
        mine.know(["r00"])
        mine.decide("r04", "no")
        yours.decide("r08", "yes")
        yours.know([], ["r04"], {"r04": ("too old", "ask Ann")})
        with pytest.raises(errors.AnsweredMeanwhile):
            yours.decide("r04", "yes")
        assert str(mine.undo()) == "no to r04 (too old), with the note: ask Ann", "not yes to r08"
        mine.decide("r04", "no")
        yours.know([], ["r04"], {"r04": ("too old", "ask Ann")})
        assert mine.decide("r04", "yes").reason == "too old"


def test_undo_takes_one_of_two_decisions_of_one_number(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = one.decisions("stroke", "documents"), other.decisions("stroke", "documents")
        mine.write({"r00": "yes"})
        assert yours.undo().item == "r00"
        mine.write({"r04": "yes"})  # its number is free again
        other.delete_set("stroke")
        mine.restore()
        assert {(own.item, own.number) for own in yours.read()} == {("r00", 1), ("r04", 1)}
        assert yours.undo().item == "r04" and [own.item for own in yours.read()] == ["r00"]
        assert one.check() == []


def test_decisions_are_numbered_in_the_order_in_which_they_came(path):
    with setsearch.open(path) as one, setsearch.open(path) as other:
        mine, yours = one.decisions("stroke", "documents"), other.decisions("stroke", "documents")
        mine.write({"r00": "yes", "r01": "no"})
        yours.write({"r02": "no"})
        mine.write({"r03": "no", "r00": "yes"})
        mine.write({"r05": "no"}, known=True)
        mine.undo("r03")
        yours.write({"r04": "yes"})
        mine.write({"r06": "no"})
        order = {"r05": None, "r01": 2, "r02": 3, "r00": 5, "r04": 6, "r06": 7}
        assert {own.item: own.number for own in mine.read()} == order
        assert [own.item for own in mine.read()] == [*order]


@given(st.lists(st.integers(0, 1), max_size=25), st.integers(0, 25), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_chance_equals_the_definition(found, unread, recall):
    from scipy.stats import hypergeom  # takes a while, and most processes run other tests

    n_records, n, r = len(found) + unread, len(found), sum(found)
    chances = [1.0]
    for i in range(n):
        before = sum(found[:i])
        k = int(r / recall + 1) - before
        if k <= n_records - i:
            chances.append(float(hypergeom.cdf(r - before, n_records - i, k, n - i)))
        elif unread:
            chances.append(0.0)
    expected = min(chances) if unread else 0.0
    assert chance_of_missing(found, n_records, recall, odds=1) == pytest.approx(expected, abs=1e-7)
    assert chance_of_missing(found, n_records, recall) <= expected + 1e-9  # a ranking finds relevant ones earlier
    ahead = outlook(found, n_records, recall)
    assert 0 <= ahead.at_least <= ahead.at_most <= unread


def chance_of_drawing(most, n_records, relevant, drawn, odds):
    """P(X <= most), draw by draw: a relevant record is `odds` times as likely to be next as any other."""
    chances = {0: 1.0}
    for number in range(drawn):
        following: dict[int, float] = {}
        for x, chance in chances.items():
            if chance == 0:
                continue
            weight = odds * (relevant - x)
            hit = weight / (weight + n_records - relevant - (number - x))
            following[x + 1] = following.get(x + 1, 0.0) + chance * hit
            following[x] = following.get(x, 0.0) + chance * (1 - hit)
        chances = following
    return sum(chance for x, chance in chances.items() if x <= most)


@pytest.mark.parametrize("seed", range(10))
def test_the_biased_urn_is_drawn_from_draw_by_draw(seed):
    rng = random.Random(seed)
    found = [int(rng.random() < 0.4) for _ in range(rng.randint(3, 30))]
    n_records, r = len(found) + rng.randint(20, 60), sum(found)
    expected = 1.0
    for i in range(len(found)):
        before = sum(found[:i])
        k = int(r / 0.9 + 1) - before
        expected = min(expected, chance_of_drawing(r - before, n_records - i, k, len(found) - i, 2.0))
    assert chance_of_missing(found, n_records, 0.9, odds=2.0) == pytest.approx(expected, abs=1e-7)


def test_a_random_order_keeps_the_promise():
    """Without a ranking the test is what it says: recall is missed in less than one of twenty runs."""
    missed = 0
    for run in range(200):
        rng = random.Random(run)
        labels = [1] * 40 + [0] * 160
        rng.shuffle(labels)
        for read in range(20, 200, 20):
            if chance_of_missing(labels[:read], 200, 0.9, odds=1) < 0.05:
                missed += sum(labels[:read]) < 0.9 * 40
                break
    assert missed <= 10 + 6


LABELS = st.lists(st.integers(0, 1), max_size=40)


@given(LABELS, st.integers(0, 60), st.sampled_from([0.8, 0.95]), st.sampled_from([0.5, 0.9, 0.95]))
@examples(60)
def test_laws_of_what_is_left(found, unread, recall, confidence):
    n_records = len(found) + unread
    ahead = outlook(found, n_records, recall, confidence)
    assert 0 <= ahead.at_least <= ahead.at_most <= unread
    assert 0 <= ahead.answers_needed <= unread
    assert (ahead.answers_needed == 0) == (unread == 0 or ahead.chance < 1 - confidence)
    surer = outlook(found, n_records, recall, (1 + confidence) / 2)
    assert surer.at_least <= ahead.at_least and surer.at_most >= ahead.at_most
    larger = outlook(found, n_records + 10, recall, confidence)
    assert larger.at_most >= ahead.at_most
    if unread:
        after = outlook([*found, 0], n_records, recall, confidence)
        assert after.at_most <= ahead.at_most and after.at_least <= ahead.at_least


@given(LABELS, st.integers(1, 30), st.sampled_from([0.7, 0.95]))
@examples(40)
def test_what_is_left_equals_the_definition(found, unread, confidence):
    """The most and the fewest with which no place of the review is a surprise, draw by draw."""
    n_records, error = len(found) + unread, (1 - confidence) / 2
    places = [(n_records - i, sum(found[i:]), len(found) - i) for i in range(len(found))]

    def so_few(left):
        return min([chance_of_drawing(x, n, left + x, m, ODDS) for n, x, m in places], default=1.0)

    def so_many(left):
        odds = [max(ODDS, n / EVEN_AT) for n, _, _ in places]
        below = [chance_of_drawing(x - 1, n, left + x, m, w) for (n, x, m), w in zip(places, odds, strict=True)]
        return 1 - max(below, default=0.0)

    ahead = outlook(found, n_records, confidence=confidence)
    assert so_few(ahead.at_most) > error - 1e-6
    assert ahead.at_most == unread or so_few(ahead.at_most + 1) < error + 1e-6
    assert ahead.at_least == ahead.at_most or so_many(ahead.at_least) > error - 1e-6
    assert ahead.at_least == 0 or so_many(ahead.at_least - 1) < error + 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_no_answers_end_a_review_sooner(seed):
    """The answers that a stop needs, against every way to answer."""
    rng = random.Random(seed)
    found = [int(rng.random() < 0.5) for _ in range(rng.randint(0, 14))]
    n_records = len(found) + rng.randint(1, 9)
    recall, confidence = rng.choice([0.5, 0.8, 0.95]), rng.choice([0.713, 0.913, 0.947])
    ahead = outlook(found, n_records, recall, confidence)
    soonest = next(
        count
        for count in range(n_records + 1)
        for answers in product((0, 1), repeat=count)
        if sum(answers) <= ahead.at_most and chance_of_missing([*found, *answers], n_records, recall) < 1 - confidence
    )
    assert ahead.answers_needed == soonest


def test_the_chance_of_few_is_that_of_scipy():
    from scipy.stats import nchypergeom_wallenius

    rng = np.random.default_rng(0)
    records = rng.integers(50, 5000, 200)
    relevant, drawn = 1 + records // rng.integers(5, 50, 200), records // rng.integers(2, 20, 200)
    found = np.minimum(np.minimum(relevant, drawn), rng.integers(0, 60, 200))
    chances = chance_of_few(found, records, relevant, drawn, np.full(200, ODDS))
    expected = nchypergeom_wallenius.cdf(found, records, relevant, drawn, ODDS)
    assert chances == pytest.approx(expected, abs=1e-7)


def review_of(seed):
    """The labels in the order of a ranking that is better at some records than at others, and worse at its start."""
    rng = np.random.default_rng(seed)
    records, relevant = rng.integers(200, 600), rng.integers(10, 50)
    labels = np.arange(records) < relevant
    at = rng.exponential(1.0, records) / np.where(labels, rng.lognormal(np.log(rng.uniform(5, 40)), 0.7, records), 1.0)
    return labels[np.argsort(at)].astype(int).tolist()


def test_what_is_said_to_be_left_is_left():
    """Generated reviews whose truth is known, at every 25 answers until the stop."""
    held, shown, reviews = 0, 0, 10
    for seed in range(reviews):
        labels, said = review_of(seed), False
        for read in range(25, len(labels), 25):
            ahead, left = outlook(labels[:read], len(labels)), sum(labels[read:])
            if ahead.answers_needed == 0:
                break
            assert ahead.at_least <= left
            if ahead.is_narrow:
                held, shown, said = held + (left <= ahead.at_most), shown + 1, True
                assert ahead.at_most <= 3 * max(ahead.at_least, 1)
            assert not said or ahead.at_most < 40
    assert held >= 0.95 * shown and shown >= 2 * reviews


def test_early_on_nothing_is_said_of_what_is_left():
    """34 of 95 found after 57 of 4,628: a curve cannot tell; a stop needs hundreds of answers."""
    rng = random.Random(0)
    labels = [1] * 33 + [0] * 23
    rng.shuffle(labels)
    for order in (labels, sorted(labels), sorted(labels, reverse=True)):
        ahead = outlook([1, *order], 4628)
        assert not ahead.is_narrow and ahead.at_least <= 61 <= ahead.at_most
        assert 100 < ahead.answers_needed < 1000


def test_more_evidence_leaves_less():
    labels = [1] * 20 + [0] * 380
    left = [outlook(labels[:read], 1000).at_most for read in range(20, 400, 60)]
    assert left == sorted(left, reverse=True)
