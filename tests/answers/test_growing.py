"""Saved sets that grow by themselves, side by side."""

import json
import math
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from oracle import floor_of
from patience import patience
from test_claims import make
from test_inbox import OTHER, TOPICS, vague
from test_set_groups import alone, beside, definition

import setsearch
from setsearch import errors
from setsearch.answers.saved import together
from setsearch.answers.saved.growth import chances, rounds, runs
from setsearch.answers.saved.stored import StoredSets
from setsearch.cli import progress
from setsearch.cli.commands import grow
from setsearch.sqlite import forks


def made(place=":memory:", exclusive=True, order=tuple(TOPICS), size=16):
    index = make(place)
    index.add([(f"{topic}{n}", vague(topic, n)) for topic in TOPICS for n in range(size)])
    for topic in order:
        index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group="kinds")
    index.group("kinds", exclusive=exclusive)
    return index


def members(index):
    return {name: (index.set(name).accepted, index.set(name).grown()) for name in index.sets()}


def untitled(rows):
    """Rows as the command line has them where none has a title."""
    assert all(own.title is None for own in rows)
    return [{key: value for key, value in own._asdict().items() if key != "title"} for own in rows]


def first_round(index, names, each, precision):
    """What joins in the first round, {set: [(item, chance)]}, by the definition at the top of chances.py."""
    rows = definition(index, names, {})
    found = {}
    for name in names:
        own = index.set(name)
        rivals = {one: [other for other in names if other != one] for one in names}
        said = beside(index, name, rivals) if rivals[name] else alone(index, name)
        score = {item: value for item, (value, _) in said.items()}
        free = sorted((value for item, value in score.items() if item not in own.accepted), reverse=True)
        floor = floor_of(free, len(score))
        unit = sum(free[:5]) / 5 - floor
        taken = {item for other in names for item in index.set(other).accepted}
        candidates = []
        for item, (left, _, better) in rows[name].items():
            if item not in taken and better is None:
                v = (left - floor) / unit
                odds = math.exp(5.9 + (1.14 + 3.0) * v) * unit / max(len(score), 262)
                candidates.append((-odds / (1 + odds), item))
        candidates.sort()
        count = max(
            (n for n in range(1, each + 1) if -sum(chance for chance, _ in candidates[:n]) >= precision * n), default=0
        )
        found[name] = [(item, pytest.approx(-chance, abs=1e-6)) for chance, item in candidates[:count]]
    return found


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize(("each", "precision"), [(1, 0.5), (4, 0.9), (6, 0.97)])
def test_a_round_is_that_of_the_definition(exclusive, each, precision, monkeypatch):
    if each == 4:  # no scores of all items are kept: sets are asked again
        monkeypatch.setattr(together, "MOST_BYTES", 0)
    with made(exclusive=exclusive) as index:
        names = sorted(TOPICS)
        if exclusive:
            expected = first_round(index, names, each, precision)
        else:
            expected = {name: own for one in names for name, own in first_round_alone(index, one, each, precision)}
        joined = index.grow(group="kinds", rounds=1, each=each, precision=precision)
        found = {name: [(own.item, own.chance) for own in joined if own.set == name] for name in names}
        assert found == expected
        assert any(found.values())
        for own in joined:
            assert (own.round, own.over is None or own.over in names) == (1, True)
            assert own.reason in " ".join([*TOPICS[own.set], *OTHER])
            assert own.item in index.set(own.set).accepted
        assert {own.over for own in joined} != {None} or not exclusive
        assert index.check() == []


def first_round_alone(index, name, each, precision):
    """The same for a set that has no rivals."""
    return first_round(index, [name], each, precision).items()


def test_a_run_goes_on_where_it_was():
    with made() as index:
        whole = index.grow(group="kinds", rounds=6, each=2, precision=0.7)
        expected = members(index)
    assert {own.round for own in whole} >= {1, 2, 3}
    with made(order=[*reversed(TOPICS)]) as index:
        seen = []

        def stop(rounds):
            """Stop as Ctrl-C does, after each round."""
            for rows in rounds:
                seen.append(rows)
                yield rows
                raise KeyboardInterrupt

        for _ in range(10):
            try:
                index.grow(group="kinds", rounds=6, each=2, precision=0.7, progress=stop)
            except KeyboardInterrupt:
                continue
        assert [own for rows in seen for own in rows] == whole
        assert members(index) == expected
        assert index.grow(group="kinds", rounds=6, each=2, precision=0.7) == [], "all rounds are done"
        assert index.grow(sorted(TOPICS), rounds=6, each=2, precision=0.7) == []


def test_a_round_is_taken_back():
    with made() as index, made() as until_two:
        first = index.grow(group="kinds", rounds=2, each=2, precision=0.7)
        until_two.grow(group="kinds", rounds=2, each=2, precision=0.7)
        expected = members(until_two)
        later = index.grow(group="kinds", rounds=4, each=2, precision=0.7)
        grown = index.growth(group="kinds")
        assert (grown, grown.last, grown.ended) == ([*first, *later], 4, "round 4 is reached")
        assert grown.untold == later.untold and grown.notes == later.notes and grown.runs is None
        judged, rejected = later[0], later[-1]
        index.set("cats").expand(1)  # weights that are kept
        assert grown.take_back(3) == later and grown == first == index.growth(group="kinds")
        assert (grown.ended, index.growth(group="kinds").ended, grown.untold) == ("", "", None)
        assert members(index) == expected and index.check() == [] and grown.take_back(3) == []
        assert {row.item for row in index.inbox()}.isdisjoint(own.item for own in later)
        assert index.grow(group="kinds", rounds=4, each=2, precision=0.7) == later, "the same again"
        for own, say in ((judged, "accept"), (rejected, "reject")):
            marked = index.set(own.set)
            getattr(marked, say)(own.item)
            marked.save()
        index.growth(group="kinds").take_back(1)
        assert judged.item in index.set(judged.set).accepted and rejected.item in index.set(rejected.set).rejected
        assert len([item for name in TOPICS for item in index.set(name).accepted]) == 3 * len(TOPICS) + 1
        with pytest.raises(errors.InvalidParameter, match="round must be a whole number from 1 on, not 0"):
            grown.take_back(0)


def test_a_second_run_of_a_group_is_told_and_may_stop_the_first(tmp_path):
    with made(tmp_path / "a.db") as index, setsearch.open(tmp_path / "a.db") as other:
        index.keep_set("alone", ["cats9"], items="documents")

        def look(rounds):
            for rows in rounds:
                growth = other.growth(group="kinds")
                assert (growth, growth.runs) == (rows, forks.this_process())
                with pytest.raises(errors.ChangedSet, match="the group 'kinds' grows already "):
                    other.grow(group="kinds")
                with pytest.raises(errors.ChangedSet, match="cats, sea grows already"):
                    other.grow(["sea", "cats"])
                with pytest.raises(errors.ChangedSet, match="alone, sea grows already"):
                    other.grow(["alone", "sea"])
                with pytest.raises(errors.ChangedSet, match="grows already"):
                    growth.take_back(1)
                assert other.grow(["alone"], rounds=1, precision=1e-6) != [], "no set of that group"
                growth.stop()
                assert other.growth(group="kinds").runs is None
                yield rows

        first = index.grow(group="kinds", rounds=4, each=1, progress=look)
        assert {own.round for own in first} == {1} and first.ended == "somebody has stopped it in round 2"
        assert first.end is runs.End.STOPPED
        assert other.growth(group="kinds").ended == "", "who stopped it knows"
        rest = other.grow(group="kinds", rounds=4, each=1)
        with made() as whole:
            assert [*first, *rest] == whole.grow(group="kinds", rounds=4, each=1)
        assert other.growth(group="kinds").ended == rest.ended == "round 4 is reached"
        assert rest.end is runs.End.REACHED


def test_a_run_of_sets_of_two_groups_is_one_of_both(tmp_path):
    with made(tmp_path / "a.db") as index, setsearch.open(tmp_path / "a.db") as other:
        for name in ("music", "sea"):
            own = index.set(name)
            own.group = ""
            own.save()
            own.group = "others"
            own.save()
        index.keep_set("alone", ["cats9"], items="documents")
        names = ["alone", "cats", "music"]

        def look(rounds):
            for rows in rounds:
                for what in ({"group": "kinds"}, {"group": "others"}, {"names": ["sea"]}, {"names": ["alone"]}):
                    with pytest.raises(errors.ChangedSet, match="grows already"):
                        other.grow(**what)
                    assert other.growth(**what).runs == forks.this_process()
                other.growth(group="others").stop()
                yield rows

        first = index.grow(names, rounds=4, each=1, precision=0.6, progress=look)
        assert {own.round for own in first} == {1} and first.ended == "somebody has stopped it in round 2"
        assert other.growth(group="kinds").ended == first.ended and other.growth(names).runs is None
        assert other.grow(group="others", rounds=2, each=1, precision=0.6).ended == "round 2 is reached"
        assert index.check() == []


def test_a_run_that_cannot_mark_all_groups_marks_none(tmp_path, monkeypatch):
    with made(tmp_path / "a.db") as index:
        index.keep_set("alone", ["cats9"], items="documents")
        begin = runs.Draft.begin

        def only_the_first(database, relation, name, seconds):
            if name != "growth of kinds":
                raise errors.LockedDatabase("a.db is locked by another writer")
            return begin(database, relation, name, seconds)

        with monkeypatch.context() as patched:
            patched.setattr(runs.Draft, "begin", only_the_first)
            with pytest.raises(errors.LockedDatabase):
                index.grow(["alone", "cats"])
        assert index.growth(group="kinds").runs is None
        assert index.grow(group="kinds", rounds=1, each=1).ended == "round 1 is reached"


def test_a_run_that_fails_is_told_to_all(tmp_path):
    with made(tmp_path / "a.db") as index:

        def fail(rounds):
            for rows in rounds:
                yield rows
                raise errors.SourceError("the disk is full")

        with pytest.raises(errors.SourceError):
            index.grow(group="kinds", progress=fail)
        growth = index.growth(group="kinds")
        assert (growth.ended, growth.last, growth.runs) == ("the disk is full", 1, None)


def test_what_a_person_says_stays():
    with made() as index:
        joined = [own for own in index.grow(group="kinds", rounds=2, each=2, precision=0.6) if own.set == "cats"]
        wrong, right = joined[0].item, joined[1].item
        own = index.set("cats")
        own.reject(wrong)
        own.accept(right)
        own.save()
        assert {row.item for row in index.set("cats").grown()} == {row.item for row in joined} - {wrong, right}
        index.grow(group="kinds", rounds=8, each=2, precision=0.6)
        assert wrong in index.set("cats").rejected and right in index.set("cats").accepted
        kept = index.set("cats")
        index.keep_set("cats", kept.accepted, kept.rejected, "documents")
        assert index.set("cats").grown() == kept.grown() != [], "saving a whole set is no word about its members"


@examples(50)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_odds_are_the_most_likely_ones(said):
    def loss(d):
        """Minus the logarithm of the likelihood of d."""
        odds = [math.log(min(max(p, 1e-9), 1 - 1e-9) / (1 - min(max(p, 1e-9), 1 - 1e-9))) + d for p, _ in said]
        own = zip(odds, said, strict=True)
        return d * d / 2 + sum(math.log1p(math.exp(-z if right else z)) for z, (_, right) in own)

    d = chances.most_likely(said)
    assert loss(d) <= min(loss(d - 1e-4), loss(d + 1e-4))


@pytest.mark.parametrize("are_right", [True, False])
def test_a_chance_learns_from_what_people_say_of_the_sets_of_a_group(are_right):
    with made() as index:
        index.delete_set("music")
        index.keep_set("music", [f"music{n}" for n in range(3)], items="documents")  # in no group
        first = index.grow(group="kinds", rounds=1, each=2, precision=0.8)
        for own in first:
            marked = index.set(own.set)
            (marked.accept if are_right else marked.reject)(own.item)
            marked.save()
        d = chances.most_likely([(own.chance, are_right) for own in first])
        with index._database.read() as cursor:
            found = chances.odds_of(StoredSets(cursor), ["cats", "music", "sea"])
        assert found == pytest.approx({"cats": d / 2 if are_right else d, "music": 0, "sea": d / 2 if are_right else d})
        assert (d > 0.01) == are_right
        names = [name for name in sorted(TOPICS) if name != "music"]
        joined = {(own.set, own.item): own.chance for own in index.grow(names, rounds=1, each=6, precision=0.5)}
        assert {(name, own.item): own.chance for name in names for own in index.set(name).grown()} == joined
        with index._database.read() as cursor:
            rows = "select name, item, chance from setsearch_member where round is not null and accepted = 1"
            stored = {(name, item): chance for name, item, chance in cursor.execute(rows)}
        assert joined.keys() == stored.keys() and len(joined) > 4
        for key, chance in stored.items():
            odds = chance / (1 - chance) * math.exp(found["cats"])
            assert joined[key] == pytest.approx(odds / (1 + odds), abs=1e-9)


def test_the_number_of_items_counts_as_far_as_it_was_measured(monkeypatch):
    odds = []
    for sizes in ((1, 10), (1, 30), (1000, 2000), (1, 10**6)):
        monkeypatch.setattr(chances, "SIZES", sizes)
        with made() as index:
            first = index.grow(["sea"], rounds=1, each=1, precision=1e-6)[0]
            odds.append(first.chance / (1 - first.chance))
            with index.items("documents").fields() as fields:
                size = fields.items.size
    assert odds == [pytest.approx(odds[3] * size / n, rel=1e-6) for n in (10, 30, 1000, size)]


def test_what_joined_is_accepted_at_once():
    with made() as index, made() as other:
        joined = index.grow(group="kinds", rounds=2, each=2, precision=0.6)
        other.grow(group="kinds", rounds=2, each=2, precision=0.6)
        wrong = joined[0]
        for own in (index, other):
            marked = own.set(wrong.set)
            marked.reject(wrong.item)
            marked.save()
        for row in joined[1:]:
            marked = other.set(row.set)
            marked.accept(row.item)
            marked.save()
        more = index.grow(group="kinds", rounds=1, each=2, precision=0.6, accept=True)
        assert more == other.grow(group="kinds", rounds=1, each=2, precision=0.6) != []
        assert members(index) == members(other)
        assert index.check() == []


@pytest.mark.parametrize("new", ["music, all", "zebra's"])
def test_a_set_with_another_name_goes_on(new):
    """What is stored, the inbox and what joins next are those of a set that had the name before."""
    found = []
    for is_early in (True, False):
        with made() as index:
            index.add([("late", vague("music", 30)), ("later", vague("grain", 30))])
            name = index.rename_set("music", new).name if is_early else "music"
            index.keep_set("part", ["music5"], items="documents", under=name)
            index.grow(group="kinds", rounds=1, each=4, precision=0.6)
            index.set("grain").save()
            if not is_early:
                index.rename_set(name, new)
            with index._database.read() as cursor:
                tables = (
                    'name, items, revision, "group", exclusive, under from setsearch_set',
                    "* from setsearch_member",
                )
                stored = [cursor.execute(f"select {table} order by 1, 2").fetchall() for table in tables]
            found.append((stored, [*index.inbox()], index.grow(group="kinds", rounds=2, each=4, precision=0.6)))
            assert index.check() == []
    assert found[0] == found[1] and found[0][1] and found[0][2]
    assert new in {row[10] for row in found[0][0][1]}, "what joined over it tells its name"


def test_somebody_changes_a_set_while_it_grows():
    with made() as index:
        changes = []

        def change(rounds):
            """Reject the next best item after the first round, as somebody else might."""
            for rows in rounds:
                if not changes:
                    changes.append(index.set("sea").expand(1)[0].item)
                    own = index.set("sea")
                    own.reject(changes[0])
                    own.save()
                yield rows

        index.grow(group="kinds", rounds=8, each=2, precision=0.6, progress=change)
        assert changes[0] in index.set("sea").rejected
    with made() as index:
        grower = index.growth(group="kinds")._grower
        begun = rounds.Rounds(grower, runs.Plan(3, 2, 0.6), grower.begin())
        found = grower.reading.answer(grower.reading.plan(1, {}), partial(begun._ask, 1))
        assert found.joining
        own = found.joining[0]
        index.decisions(own.set, "documents").write({own.item: "later"}, {own.item: ("ask Ann", None)})
        assert not begun._store(found)
        own = index.set("sea")
        own.reject("cats9")
        own.save()
        assert not begun._store(found)
        assert index.set("cats").grown() == []


@pytest.mark.parametrize("is_of_sets", [False, True])
def test_others_write_in_the_middle_of_a_round(tmp_path, monkeypatch, is_of_sets):
    """In a file with a rollback journal, where a write waits for all transactions."""
    monkeypatch.setattr(rounds, "PAUSE", 0.0)
    path, asked, is_over = tmp_path / "a.db", [], []
    with made(path), closing(sqlite3.connect(path)) as host:
        host.execute("create table host (x)")

    def write():
        """A row of the host's, or of ours."""
        if is_of_sets:
            with setsearch.open(path, timeout=patience(5)) as other:
                reject_one(other)
        else:
            with closing(sqlite3.connect(path, timeout=patience(5))) as host, host:
                host.execute("insert into host values (1)")

    writer = threading.Thread(target=write)

    def follow(rounds):
        """The second question begins the write; at the third one it is over."""
        tell = rounds.tell

        def told():
            tell()
            asked.append(len(asked))
            if len(asked) == 2:
                writer.start()
                while is_readable(path) and writer.is_alive():
                    time.sleep(0.001)
            elif len(asked) == 3:
                is_over.append(is_readable(path))

        rounds.tell = told
        yield from rounds

    with setsearch.open(path) as index, made() as whole:
        joined = index.grow(group="kinds", rounds=1, each=2, precision=0.6, progress=follow)
        writer.join()
        if is_of_sets:
            reject_one(whole)
        assert joined == whole.grow(group="kinds", rounds=1, each=2, precision=0.6)
        assert is_over == [True] and len(asked) == len(TOPICS) + (2 if is_of_sets else 0)
        assert (index.set("sea").rejected == ["cats9"]) is is_of_sets


def reject_one(index):
    own = index.set("sea")
    own.reject("cats9")
    own.save()


def is_readable(path):
    """Whether nobody is about to write, who waits for the end of transactions."""
    with closing(sqlite3.connect(path, timeout=0)) as other:
        try:
            return bool(other.execute("select 1 from sqlite_master").fetchone())
        except sqlite3.OperationalError:
            return False


def test_the_doubtful_come_to_the_inbox():
    with made() as index:
        index.grow(group="kinds", rounds=10, each=3, precision=0.97)
        rows = index.inbox()
        assert rows and all(row.item not in index.set(row.set).accepted for row in rows)
        assert len({(row.set, row.item) for row in rows}) == len(rows) == len({row.item for row in rows})
        scores = {(name, hit.item): hit.score for name in index.sets() for hit in index.set(name).expand(100)}
        assert all(row.score == scores[row.set, row.item] for row in rows)
        first, second, *others = rows
        rows.accept(first)
        rows.reject(second)
        again = index.inbox()
        assert {(row.set, row.item) for row in again} == {(row.set, row.item) for row in others}
        again.done()
        assert index.inbox() == []
        assert first.item in index.set(first.set).accepted


def test_what_came_into_doubt_meanwhile_stays(tmp_path):
    with made(tmp_path / "a.db") as index, setsearch.open(tmp_path / "a.db") as other:
        index.keep_set("empty", ["sea0"], items="documents")
        read, of_one = other.inbox(), other.inbox(["empty"])
        index.grow(group="kinds", rounds=1, each=3, precision=0.97)
        rows = list(index.inbox())
        assert rows
        read.done()
        of_one.done()
        assert index.inbox() == rows
        index.inbox().done({"empty": index.inbox().seen["empty"]})
        assert index.inbox() == rows, "of sets that nobody has seen"
        index.inbox().done({name: own[:2] for name, own in (of_one.seen | read.seen).items()})
        assert index.inbox() == rows, "the same, told by another inbox"
        index.inbox().done()
        assert index.inbox() == []
        assert index.check() == []


def test_what_was_in_doubt_is_in_doubt_again_when_a_decision_is_taken_back():
    with made() as index:
        index.grow(group="kinds", rounds=1, each=4, precision=0.9)
        rows = index.inbox()
        for decide in (rows.accept, rows.reject):
            row = rows[0]
            decide(row)
            assert row.item not in {other.item for other in index.inbox()}
            own = index.set(row.set)
            own.forget(row.item)
            own.save()
            assert row[1:] in [other[1:] for other in index.inbox()]
        (joined,) = index.set("sea").grown()[:1]
        own = index.set("sea")
        own.forget(joined.item)
        own.save()
        assert joined.item not in {other.item for other in index.inbox(["sea"])}, "nobody had decided that"
        assert index.check() == []


def test_without_enough_certainty_a_set_stops():
    with made() as index:
        before = members(index)
        assert index.grow(group="kinds", precision=0.999999) == []
        assert members(index) == before
        sizes = []
        for precision in (0.97, 0.9, 0.7):
            with made() as other:
                joined = other.grow(group="kinds", rounds=20, each=3, precision=precision)
            assert all(own.chance > 0 for own in joined)
            sizes.append(len(joined))
        assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


def test_sets_that_cannot_answer_or_tell_do_not_grow():
    draw = random.Random(1)
    kinds = [[f"w{kind}x{n}" for n in range(30)] for kind in range(6)]
    with make() as index:
        index.add([(f"d{n}", " ".join(draw.choices(kinds[n % 6], k=12)) + " all") for n in range(240)])
        index.keep_set("mixed", [f"d{n}" for n in range(12)], items="documents")
        index.keep_set("empty", [], ["d1"], "documents")
        index.keep_set("one kind", [f"d{n}" for n in range(0, 36, 6)], items="documents")
        index.keep_set("but one", ["d1", "d7", "d13", "d19", "d2"], items="documents")
        index.keep_set("other", ["d4", "d5"], items="documents")
        joined = index.grow(["mixed", "empty", "one kind", "but one"], rounds=2, precision=0.5)
        assert {own.set for own in joined} == {"one kind", "but one"}, "the examples of the others share little"
        assert joined.notes == [
            "empty: it has no accepted item; accept one first",
            "but one: d2 fits the other examples least",
            "mixed: these examples share little, so what belongs cannot be told; it does not grow",
        ]


@pytest.mark.long
@examples(15)
@given(st.data())
def test_growing_depends_on_what_is_stored_alone(data):
    order = data.draw(st.permutations(sorted(TOPICS)))
    each, precision = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([0.5, 0.8, 0.9]))
    steps = sorted(data.draw(st.lists(st.integers(1, 5), max_size=3)))
    exclusive = data.draw(st.booleans())
    with made(exclusive=exclusive, size=8) as index, made(exclusive=exclusive, order=order, size=8) as other:
        whole = index.grow(group="kinds", rounds=5, each=each, precision=precision)
        found = []
        for rounds in [*steps, 5]:
            found += other.grow(group="kinds", rounds=rounds, each=each, precision=precision)
            assert found == [own for own in whole if own.round <= rounds]
        assert members(index) == members(other)
        if exclusive:
            owners = [item for name in TOPICS for item in index.set(name).accepted]
            assert len(owners) == len({*owners})


def test_errors():
    with made() as index:
        for precision in (1.0, 0, "much"):
            with pytest.raises(errors.InvalidParameter, match=r"precision must be a number from 0\.000001 to"):
                index.grow(group="kinds", precision=precision)
        for wrong in ({"rounds": 0}, {"each": 1.5}, {"rounds": None}):
            with pytest.raises(errors.InvalidParameter, match="must be a whole number from 1 on"):
                index.grow(group="kinds", **wrong)
        assert index.grow(group="kinds", rounds=10**30, each=10**30, precision=0.999999).end is runs.End.NOTHING
        with pytest.raises(errors.UnknownSet, match="no set is in a group 'none'"):
            index.grow(group="none")
        with pytest.raises(errors.UnknownSet, match="no set 'dogs'; there are cats, grain, music, sea"):
            index.grow(["dogs"])
        for wrong in ({}, {"names": ["cats"], "group": "kinds"}):
            with pytest.raises(errors.InvalidParameter, match="give sets or a group, one of the two"):
                index.grow(**wrong)
        with pytest.raises(errors.InvalidParameter, match="`names` is several sets, not one text"):
            index.grow("cats")
        index.keep_set("words", ["lion"], items="terms")
        with pytest.raises(errors.UsageError, match="there are sets of documents and of terms"):
            index.grow(["cats", "words"])


CLASSES = "set,item\n" + "".join(f"{topic},{topic}{n}\n" for topic in TOPICS for n in range(3))


@pytest.fixture
def classes(tmp_path):
    with make(tmp_path / "a.db") as index:
        index.add([(f"{topic}{n}", vague(topic, n)) for topic in TOPICS for n in range(16)])
    (tmp_path / "kinds.csv").write_text(CLASSES)
    return tmp_path


def test_the_command_tells_that_growth_has_stopped_and_what_to_do(classes, run):
    grow = "grow", "a.db", "--sets", "kinds.csv", "--items", "documents", "--each", "2"
    _, out, err = run(*grow, "--precision", ".999999")
    assert json.loads(out) == [] and err.startswith("nothing joined in round 1: no candidate is certain enough; judge")
    _, out, err = run(*grow, "--precision", ".7", "--rounds", "90")
    last = max(row["round"] for row in json.loads(out))
    assert f"nothing joined in round {last + 1}: no candidate is certain enough; judge the doubtful ones of" in err
    assert json.loads(run(*grow, "--precision", ".2", "--rounds", f"{last + 1}")[1]), "as the message says"


def test_the_command_leaves_out_what_nobody_knows_if_asked_to(classes, run, failed):
    bad = "cats,nowhere\n\ncats\nsea,nobody\n"  # the second line is none
    grow = "grow", "a.db", "--sets", "kinds.csv", "--items", "documents", "--rounds", "1", "--precision", ".7"
    failed(run(*grow, "--errors", "replace"), 2, "errors is strict or skip, not 'replace'")
    (classes / "kinds.csv").write_text(CLASSES + bad)
    failed(run(*grow), 1, "pass --errors skip")
    with setsearch.open(classes / "a.db") as index:
        assert not index.sets()
        index.keep_set("cats", [f"cats{n}" for n in range(3)], items="documents")
    code, _, err = run(*grow, "--errors", "skip")
    assert code == 0
    first = CLASSES.count("\n") + 1
    assert [err.count(f"skipped kinds.csv, line {first + line}: ") for line in range(4)] == [1, 0, 1, 1]
    with setsearch.open(classes / "a.db") as index:
        assert {name: index.set(name).group for name in index.sets()} == dict.fromkeys(TOPICS, "kinds")
    failed(run("grow", "a.db", "cats1", "--errors", "skip"), 2, "--errors is for --sets and --group")
    failed(run("grow", "a.db", "cats1", "--until", "07:30"), 2, "--until is for --sets and --group")


def test_what_joined_has_the_title_that_tells_more_than_its_name(tmp_path, run):
    path = tmp_path / "b.db"
    with setsearch.open(path, create=True) as index:  # which keeps texts
        of = {"cats": ("", "A cat"), "sea": ("Of the sea\n\n", None), "grain": ("", "grain")}  # how its text begins
        for topic, (begins, title) in of.items():
            index.add([(f"{topic}{n}", begins + vague(topic, n), title) for n in range(16)])
            index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group="kinds")
        joined = index.grow(group="kinds", rounds=2, each=2, precision=0.01)
        wanted = {"cats": "A cat", "sea": "Of the sea", "grain": None}
        assert {(own.set, own.title) for own in joined} == {*wanted.items()}
        grown = [*index.growth(group="kinds")]
        assert sorted(grown) == sorted(joined)
        assert {own.title for own in index.set("cats").grown()} == {wanted["cats"]}
        assert json.loads(run("set", "group", str(path), "kinds", "--grown")[1]) == [own._asdict() for own in grown]
        assert sorted(index.growth(group="kinds").take_back(1)) == sorted(joined)


def test_the_command(classes, run, failed):
    how = "--rounds", "4", "--each", "2", "--precision", ".7"
    code, out, err = run("grow", "a.db", "--sets", "kinds.csv", *how, "--items", "documents")
    assert code == 0 and "round 1 of " in err and "round 4 of " in err
    with made() as index:
        expected = untitled(index.grow(group="kinds", rounds=4, each=2, precision=0.7))
    assert json.loads(out) == expected
    assert "round 4 is reached; --rounds 8 goes on" in err
    code, out, err = run("grow", "a.db", "--group", "kinds", *how)
    assert (json.loads(out), err.count("\n")) == ([], 1), "nothing joined now"
    assert "round 4 is reached" in err
    failed(run("grow", "a.db", "--group", "kinds", "--items", "terms"), 2, "are of documents, not of terms")
    shown = json.loads(run("set", "show", "a.db", "cats", "--json")[1])
    own = {row["item"]: row["round"] for row in shown}
    assert own == {f"cats{n}": None for n in range(3)} | {
        row["item"]: row["round"] for row in expected if row["set"] == "cats"
    }
    (classes / "more.csv").write_text("set,item\ncats,cats9\n")
    failed(
        run("grow", "a.db", "--sets", "more.csv", "--items", "documents"),
        2,
        "more.csv, line 2: the set 'cats' is in the group 'kinds' already",
    )
    (classes / "both.csv").write_text("set,item\none,sea9\ntwo,sea9\n")
    failed(
        run("grow", "a.db", "--sets", "both.csv", "--items", "documents"), 1, "both.csv, line 3: 'sea9' is in 'one' and"
    )
    (classes / "unknown.csv").write_text("set,item\none,sea9\none,nowhere\n")
    failed(
        run("grow", "a.db", "--sets", "unknown.csv", "--items", "documents"), 1, "unknown.csv, line 3: ", "'nowhere'"
    )
    (classes / "wrong.csv").write_text("kind,word\none,sea9\n")
    wrong = "wrong.csv, line 2: a row has a set and an item, or a name and lists of items, not {'kind': 'one', "
    failed(run("grow", "a.db", "--sets", "wrong.csv", "--items", "documents"), 1, wrong)
    (classes / "nothing.csv").write_text("set\none\n")
    nothing = "nothing.csv, line 2: a row has a set and an item, or a name and lists of items, not {'set': 'one'}"
    failed(run("grow", "a.db", "--sets", "nothing.csv", "--items", "documents"), 1, nothing)
    failed(run("grow", "a.db", "--sets", "kinds.csv", "--until", "25"), 2, "a time of the day such as 07:30, not '25'")
    (classes / "empty.csv").write_text("set,item\n")
    failed(run("grow", "a.db", "--sets", "empty.csv", "--items", "documents"), 2, "no class to grow")
    failed(
        run("grow", "a.db", "--group", "kinds", "--precision", "1.0"),
        2,
        "precision must be a number from 0.000001 to 0.999999",
    )
    failed(run("grow", "a.db", "--group", "nothing"), 1, "no set is in a group 'nothing'")
    failed(run("grow", "a.db", "--group", ""), 1, "no set is in a group '' (there is kinds)")
    failed(run("grow", "a.db", "cats1", "--group", "kinds"), 2, "leave the options of a dialogue out")
    failed(run("grow", "a.db", "cats1", "--accept"), 2, "--accept is for --sets and --group")
    code, out, err = run("grow", "a.db", "--group", "kinds", "--rounds", "1", "--accept", "--precision", ".5")
    assert code == 0 and {row["round"] for row in json.loads(out)} == {1}
    assert sorted(json.loads(run("set", "list", "a.db", "--json")[1])[0]) == [
        "accepted",
        "group",
        "items",
        "rejected",
        "set",
    ]


def test_sets_that_were_imported_before_grow_as_a_group(classes, run, failed):
    kinds = "--sets", "kinds.csv", "--items", "documents", "--rounds", "2", "--each", "1", "--precision", ".7"
    assert run("set", "import", "a.db", "kinds.csv", "--items", "documents")[0] == 0
    assert run("set", "accept", "a.db", "cats", "cats3")[0] == 0
    with made() as index:
        own = index.set("cats")
        own.accept("cats3")
        own.save()
        expected = untitled(index.grow(group="kinds", rounds=2, each=1, precision=0.7))
    assert run("set", "export", "a.db", "--csv")[2] == "", "nothing has grown"
    code, out, err = run("grow", "a.db", *kinds)
    assert (code, json.loads(out)) == (0, expected), err
    unjudged = f"note: {len(expected)} of these joined by growing, and nobody has judged them; the file does not tell"
    assert run("set", "export", "a.db", "--csv")[2].startswith(unjudged)
    run("set", "reject", "a.db", expected[0]["set"], expected[0]["item"])
    assert run("set", "export", "a.db")[2].startswith(f"note: {len(expected) - 1} of these")
    assert run("set", "import", "a.db", "kinds.csv", "--items", "documents", "--add")[0] == 0
    (classes / "others.csv").write_text("set,item\nbig,cats9\nbig,sea9\n")
    assert run("set", "import", "a.db", "others.csv", "--items", "documents")[0] == 0
    (classes / "others.csv").write_text("set,item\nbig,cats9\nbig,sea8\n")
    others = "grow", "a.db", "--sets", "others.csv", "--items", "documents"
    lacks = "others.csv, line 3: there is a set 'big' already, without 'sea8'; `setsearch set import --add` adds it"
    failed(run(*others), 2, lacks)
    (classes / "others.csv").write_text("set,item,mark\nbig,cats9,perhaps\n")
    failed(run(*others), 2, "others.csv, line 2: the mark of an item is accepted or rejected, not 'perhaps'")
    with setsearch.open(classes / "a.db") as index:
        assert index.set("big").group is None, "nothing was saved"


def move_to(index, group):
    """Rename a group, set by set."""
    for name in index.sets():
        for step in ("", group):
            own = index.set(name)
            own.group = step
            own.save()


@pytest.mark.parametrize(("group", "told"), [("new", "in the group 'new'"), ("", "in no group")])
def test_a_run_whose_group_gets_another_name_ends(classes, run, monkeypatch, group, told):
    assert run("set", "import", "a.db", "kinds.csv", "--items", "documents")[0] == 0
    with setsearch.open(classes / "a.db") as index:
        move_to(index, "kinds")

        def rename(rounds):
            """Rename the group after the first round."""
            for rows in rounds:
                move_to(index, group)
                yield rows

        index.group("kinds", exclusive=True)
        found = index.grow(group="kinds", rounds=3, each=1, precision=0.5, progress=rename)
        assert {row.round for row in found} == {1}
        assert found.ended == f"the set 'cats' is {told} now, so round 2 was not stored"
        assert {row.round for name in index.sets() for row in index.set(name).grown()} == {1}
        move_to(index, "kinds")
        index.delete_set("cats")
        assert {row.round for row in index.grow(group="kinds", rounds=2, each=1, precision=0.5)} == {2}
        store = rounds.Rounds._store
        monkeypatch.setattr(rounds.Rounds, "_store", lambda *own: move_to(index, group) or store(*own))
        ended = run("grow", "a.db", "--group", "kinds", "--rounds", "3", "--precision", ".5")[2]
        assert ended.endswith("now, so round 3 was not stored; `setsearch set list` has the groups; grow those\n")


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_run_whose_set_is_gone_ends(is_deleted):
    with made() as index:

        def leave(rounds):
            """Delete or rename a set after the first round."""
            for rows in rounds:
                if rows[0].round == 1:
                    _ = index.delete_set("cats") if is_deleted else index.rename_set("cats", "felids")
                yield rows

        found = index.grow(group="kinds", rounds=3, each=1, precision=0.5, progress=leave)
        assert {row.round for row in found} == {1}
        assert (found.end, found.ended) == (
            runs.End.ELSEWHERE,
            "the set 'cats' is deleted or renamed now, so round 2 was not stored",
        )
        again = index.grow(group="kinds", rounds=2, each=1, precision=0.5)
        assert {row.round for row in again} == {2}
        assert ("felids" in {row.set for row in again}) is not is_deleted


def test_the_command_shows_what_joined_and_takes_rounds_back(classes, run, failed):
    grown = ["set", "group", "a.db", "kinds", "--grown"]
    how = ["--rounds", "3", "--each", "1", "--precision", ".5"]
    code, out, told = run("grow", "a.db", "--sets", "kinds.csv", "--items", "documents", *how)
    assert "`setsearch set group a.db kinds --grown` has what joined" in told, "as it can be typed"
    joined = json.loads(out)
    code, out, err = run(*grown)
    assert (code, json.loads(out), err) == (0, joined, "round 3 is reached\n")
    code, out, err = run("set", "group", "a.db", "kinds", "--take-back", "3")
    assert (code, json.loads(out)) == (0, [row for row in joined if row["round"] == 3])
    assert err.endswith(" taken back; `setsearch grow a.db --group kinds` goes on\n")
    nothing = "nothing joined from round 3 on that nobody has judged\n"
    assert run("set", "group", "a.db", "kinds", "--take-back", "3")[2] == nothing
    assert json.loads(run(*grown)[1]) == [row for row in joined if row["round"] < 3]
    assert run("set", "group", "a.db", "kinds", "--stop")[2] == "the group kinds does not grow now\n"
    failed(run("set", "group", "a.db", "kinds", "--take-back", "0"), 2, "--take-back")
    with setsearch.open(classes / "a.db") as index:
        (draft,) = index.growth(group="kinds")._grower.begin()
        failed(run("grow", "a.db", "--group", "kinds"), 1, "grows already (host and process ", "--stop` stops it")
        failed(run("set", "group", "a.db", "kinds", "--take-back", "1"), 1, "grows already")
        assert "grows now (host and process " in run(*grown)[2]
        assert run("set", "group", "a.db", "kinds", "--stop")[2].startswith("stopped; ")
        with pytest.raises(errors.TakenOver):
            draft.renew()
    failed(run("grow", "a.db", "cats1", "--rounds", "2"), 2, "--rounds is for --sets and --group")


def test_a_run_that_cannot_tell_its_end_holds_nobody_up(tmp_path):
    with made(tmp_path / "a.db"):
        pass
    with (
        closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as writer,
        setsearch.open(tmp_path / "a.db", timeout=0) as index,
    ):

        def follow(rounds):
            """Another one writes when the run is at its end."""
            yield from rounds
            writer.execute("begin immediate")

        assert len(index.grow(group="kinds", rounds=1, each=1, progress=follow)) > 0
        writer.execute("rollback")
        assert index.growth(group="kinds").runs is None
        assert index.grow(group="kinds", rounds=2, each=1)


def test_what_is_told_of_a_run_is_of_the_last_one(tmp_path):
    with made() as index:
        index.grow(group="kinds", rounds=1, each=1)
        index.growth(group="kinds").stop()
        assert index.growth(group="kinds").ended == "round 1 is reached", "none was at work"
        (draft,) = index.growth(group="kinds")._grower.begin()
        draft.abandon()  # as if it was killed
        assert index.growth(group="kinds").ended == ""


def test_what_is_judged_while_a_round_is_taken_back_is_no_longer_listed():
    with made() as index:
        index.grow(group="kinds", rounds=2, each=2)
        growth = index.growth(group="kinds")
        judged = growth[-1]
        own = index.set(judged.set)
        own.reject(judged.item)
        own.save()
        taken = growth.take_back(2)
        assert judged.item not in [own.item for own in taken]
        assert {own.round for own in growth} == {1} and len(growth) == len(index.growth(group="kinds"))


@pytest.mark.parametrize("note", ["", "a note"])
def test_what_a_person_put_off_outlasts_growing(note):
    with made() as index:
        for topic in TOPICS:
            later = {f"{topic}{n}": "later" for n in range(3, 16)}
            index.decisions(topic, "documents").write(later, dict.fromkeys(later, (None, note)))
        said = {topic: index.decisions(topic, "documents").read() for topic in TOPICS}
        joined = index.grow(group="kinds", rounds=3, each=2)
        assert len(joined) > 10 and index.growth(group="kinds") == joined
        own = index.decisions(joined[-1].set, "documents")
        while (undone := own.undo()) is not None:
            assert undone.said == "later"
        assert {row.item for row in joined if row.set == own.name} <= {*index.set(own.name).accepted}
        del said[own.name]
        index.growth(group="kinds").take_back(1)
        assert {topic: index.decisions(topic, "documents").read() for topic in said} == said
        assert index.check() == []


def test_what_waits_for_a_person_with_a_reason_does_not_join():
    """Nor what was put off instead of another answer: both would be forgotten."""
    with made() as index:
        likely = index.grow(group="kinds", rounds=1, each=3)
        index.growth(group="kinds").take_back(1)
        first, second, *others = likely
        for own, reason in ((first, "ask Ann"), (second, None)):
            decisions = index.decisions(own.set, "documents")
            if own is second:
                decisions.write({own.item: "no"})
            decisions.write({own.item: "later"}, {own.item: (reason, None)})
        said = {topic: index.decisions(topic, "documents").read() for topic in TOPICS}
        joined = {own.item for own in index.grow(group="kinds", rounds=1, each=3)}
        assert joined & {own.item for own in others} and not joined & {first.item, second.item}
        index.growth(group="kinds").take_back(1)
        assert {topic: index.decisions(topic, "documents").read() for topic in TOPICS} == said
        decisions = index.decisions(second.set, "documents")
        assert decisions.undo(second.item).said == "later" and decisions.undo(second.item).said == "no"


def test_what_nobody_has_judged_is_no_promise():
    with made() as index:
        joined = index.grow(group="kinds", rounds=2, each=3)
        assert len(joined) > 10
        said = "that 0.9 of them are right is an estimate, and no promise before somebody has judged"
        assert joined.untold.startswith(f"{said} the {len(joined)} items that joined: reject what is wrong, then")
        more = index.grow(group="kinds", rounds=3, each=1, precision=0.5)
        assert f"{len(joined) + len(more)} items" in more.untold
        later = index.grow(group="kinds", rounds=3, each=3, precision=0.5, accept=True)
        assert later and later.untold is None
        last = index.grow(group="kinds", rounds=6, each=1, precision=0.1)
        assert f"{len(later) + len(last)} items" in last.untold
    with made() as index:
        first = index.grow(group="kinds", rounds=1, each=1)
        assert 0 < len(first) < 10
        again = index.grow(group="kinds", rounds=1, each=1, accept=True)
        assert again and "the" in again.untold, "so few tell little"
        assert index.grow(["sea"], rounds=1, precision=0.999999).untold is None, "nothing joined"


def test_growing_tells_how_far_it_is_within_a_round(classes, run, monkeypatch):
    monkeypatch.setattr(progress, "STEP_OF_LINES", 0.0)
    code, _, told = run("grow", "a.db", "--sets", "kinds.csv", "--rounds", "3", "--each", "1", "--items", "documents")
    shares = [int(own) for own in re.findall(r"^growing: (\d+)%", told, re.MULTILINE)]
    assert code == 0 and shares and shares == sorted(shares) and shares[-1] <= 100, told
    steps, seen = [], []

    def follow(rounds):
        """What tqdm sees, and the share whenever a set was asked."""
        tell = rounds.tell
        monkeypatch.setattr(rounds, "tell", lambda: (tell(), steps.append(rounds.share)))
        seen.append(len(rounds))
        yield from rounds

    with made() as index:
        index.grow(group="kinds", rounds=2, each=1, progress=follow)
    assert seen == [2] and steps == sorted(steps)
    assert steps[:4] == [0.125, 0.25, 0.375, 0.5] and steps[-1] == 1.0


def test_no_round_begins_after_a_time(classes, run, monkeypatch):
    assert grow._next_time("00:00") > datetime.now() > grow._next_time("00:00") - timedelta(days=1)
    monkeypatch.setattr("setsearch.cli.commands.grow._next_time", lambda text: datetime.now())
    command = ["grow", "a.db", "--sets", "kinds.csv", "--items", "documents", "--until", "07:30"]
    code, out, err = run(*command)
    assert (code, {row["round"] for row in json.loads(out)}) == (0, {1})
    assert "it is 07:30; the same command goes on\n" in err and "nothing joined" not in err
    assert {row["round"] for row in json.loads(run(*command)[1])} == {2}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_process_that_is_stopped_goes_on(classes, run, how, code):
    command = ["grow", "a.db", "--sets", "kinds.csv", "--items", "documents", "--each", "1", "--rounds", "9"]
    with subprocess.Popen(
        [sys.executable, "-m", "setsearch", *command], cwd=classes, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert b"round 1" in process.stderr.readline()
        process.send_signal(how)
        _, err = process.communicate()
    if process.returncode != 0:  # it was quicker
        assert process.returncode == code
        assert how == signal.SIGKILL or err.splitlines()[-1].startswith(b"Error: stopped; the rounds")
    with setsearch.open(classes / "a.db") as index:
        assert index.check() == []
    assert run(*command)[0] == 0
    with setsearch.open(classes / "a.db") as index, made() as whole:
        whole.grow(group="kinds", rounds=9, each=1)
        assert members(index) == members(whole)


def test_only_what_people_chose_is_evaluated(tmp_path, run):
    made(tmp_path / "a.db").close()
    command = ["evaluate", "a.db", "--seeds", "2", "--draws", "2", "--json"]
    before = run(*command)
    grown = json.loads(run("grow", "a.db", "--group", "kinds", "--rounds", "2", "--each", "2")[1])
    code, out, err = run(*command)
    assert (code, out) == before[:2]
    assert f"left out, {len(grown)} members that joined by growing" in err and len(grown) > 4
