"""Many sets that are asked together: in few calls of the core, in threads, with errors in their places."""

import threading

import pytest
from samples import KERNELS
from test_groups import kind
from test_groups import texts as kinds
from test_passes import collection, texts

import setsearch
from setsearch.core import question
from setsearch.errors import CorruptIndex, InvalidParameter, LostArrays, NoSeeds, UnknownItem
from setsearch.search import rounds


@pytest.fixture
def reading(tmp_path):
    """The documents of a collection whose lists have values."""
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(collection(7, 300, 60)))
        index.refresh("now")
        documents = index.items("documents")
        documents.expand(["i1"])
        yield documents


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
@pytest.mark.parametrize("threads", [0, 2])
def test_the_core_is_asked_for_many_at_once(reading, monkeypatch, threads):
    asked, at_once = [], question.ask_all

    def counted(questions):
        """Count questions, and the thread that asks."""
        asked.append((len(questions), threading.current_thread() is threading.main_thread()))
        return at_once(questions)

    sets = [[f"i{n}", f"i{n + 1}"] for n in range(250)]
    each = [reading.expand(own, 5) for own in sets]
    monkeypatch.setattr(question, "ask_all", counted)
    monkeypatch.setenv("SETSEARCH_THREADS", str(threads))
    monkeypatch.setattr(rounds, "AT_ONCE", 100)
    assert reading.expand_many(iter(sets), 5) == each
    large = [(count, is_main) for count, is_main in asked if count > 1]
    assert sum(count for count, _ in large) == 250
    assert large[0][0] == rounds.AT_FIRST // max(threads, 1), "threads do not wait for more"
    assert len(large) == (8 if threads else 4), "32, 64, 100 and the rest"
    assert max(count for count, _ in large) == 100 // max(threads, 1)
    assert {is_main for _, is_main in large} == {not threads}


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_sums_of_all_items_are_few_at_once(reading, monkeypatch):
    asked, at_once = [], question.ask_all
    monkeypatch.setattr(question, "ask_all", lambda questions: asked.append(len(questions)) or at_once(questions))
    monkeypatch.setattr(rounds, "MOST_BYTES", 3 * 8 * 300)
    monkeypatch.setenv("SETSEARCH_THREADS", "0")
    sets = [[f"i{n}"] for n in range(12)]
    assert reading.expand_many(sets, keep_seeds=True) == [reading.expand(own, keep_seeds=True) for own in sets]
    assert 3 in asked
    assert max(asked) == 3


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_groups_of_many_sets_are_asked_at_once(tmp_path, monkeypatch):
    asked, at_once = [], question.ask_all
    for name in ("AT_FIRST", "AT_ONCE"):
        monkeypatch.setattr(rounds, name, 20)
    monkeypatch.setenv("SETSEARCH_THREADS", "0")
    sets = [kind(one, one + 1 + n, each=2) for one in range(8) for n in range(6)]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((item, " ".join(words)) for item, words in kinds().items())
        reading = index.items("documents")
        each = [reading.expand(own) for own in sets]
        monkeypatch.setattr(question, "ask_all", lambda questions: asked.append(len(questions)) or at_once(questions))
        assert reading.expand_many(sets) == each
    divided = sum(len(hits.groups) == 2 for hits in each)
    assert divided > 20
    assert sum(asked) >= len(sets) + 6 * divided, "two groups, and two halves of each"
    assert len(asked) < 30
    assert max(asked) == 20, "those that ask again count"


def test_errors_stand_in_their_places(reading):
    sets = [["i1"], ["nobody"], [], "i1", ["i2"]]
    first, *errors, last = reading.expand_each(sets, 5)
    assert (first, last) == (reading.expand(["i1"], 5), reading.expand(["i2"], 5))
    assert [*map(type, errors)] == [UnknownItem, NoSeeds, InvalidParameter]
    with pytest.raises(UnknownItem, match=r"^set 2: no 'nobody' among"):
        reading.expand_many(sets, 5)
    assert reading.expand_each([], 5) == []


def test_what_is_lost_is_asked_again_and_what_is_damaged_raised(reading, monkeypatch):
    sets, answers = [["i1"], ["i2"]], question.ask_all
    each, failures = [reading.expand(own) for own in sets], [LostArrays("some")]

    def fail(questions):
        """Raise what is left to raise."""
        if failures:
            raise failures.pop()
        return answers(questions)

    monkeypatch.setattr(question, "ask_all", fail)
    if "core" in KERNELS:
        assert reading.expand_many(sets) == each
        assert not failures
    monkeypatch.setattr("setsearch.answers.reading.best_hits", lambda *_: (_ for _ in ()).throw(CorruptIndex("bad")))
    with pytest.raises(CorruptIndex, match=r"^bad"):
        reading.expand_each(sets)


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_readings_that_are_asked_in_turn_keep_their_memory(tmp_path, monkeypatch):
    """Neither has room for the other: there are more documents than words, and more fields of words."""
    made, init = [], question._Scratch.__init__

    def counted(self, *shape):
        """Count what is made."""
        made.append(shape)
        init(self, *shape)

    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add((f"d{n}", f"w{n % 9} and w{n % 7} or w{n % 5}") for n in range(300))
        readings = [(index.items("documents"), ["d1", "d2"]), (index.items("terms"), ["w1", "w2"])]
        for reading, seeds in readings * 2:
            reading.expand(seeds)
        monkeypatch.setattr(question._Scratch, "__init__", counted)
        for reading, seeds in readings * 3:
            reading.expand(seeds)
    assert not made


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_no_thread_starts_for_few_sets(reading, monkeypatch):
    def refuse(*_):
        """What starts a thread."""
        raise AssertionError

    each = [reading.expand(own) for own in (["i1"], ["i2", "i3"])]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert reading.expand_many([["i1"], ["i2", "i3"]]) == each
