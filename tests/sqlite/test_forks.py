"""Processes that fork after they used an index: no acknowledged write is ever missing."""

import itertools
import multiprocessing
import os
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress

import pytest
from patience import patience

import setsearch
from setsearch import errors

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of fork beside threads
]
FORK = multiprocessing.get_context("fork")
ORDERS = ["".join(own) for own in itertools.permutations("pab")]
SHARED = {}  # what workers inherit


def in_child(function):
    """Run a function in a forked process; returns its process id."""
    child = os.fork()
    if child:
        return child
    try:
        function()
    except BaseException:
        os._exit(1)
    os._exit(0)


def wait(children):
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def opened(path):
    index = setsearch.open(path, create=True, timeout=patience(60))
    index.add([("first", "lion tiger")])
    index.items("documents").expand(["first"], keep_seeds=True)  # a connection is open
    return index


def names(path):
    with setsearch.open(path) as index:
        assert index.check() == []
        return set(index.items("documents").titles([f"{who}{n}" for who in "pab" for n in range(100)]))


def has_open(path):
    """Whether this process has a descriptor of a file."""
    own = set()
    for descriptor in range(1024):
        with suppress(OSError):
            own.add((os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino))
    return (path.stat().st_dev, path.stat().st_ino) in own


def test_no_idle_connection_crosses_a_fork(tmp_path):
    """SQLite would believe that it holds the locks of the parent: writes would be lost, now and then."""
    index = opened(tmp_path / "x.db")
    assert has_open(tmp_path / "x.db")

    def child():
        assert not has_open(tmp_path / "x.db")
        index.add([("a0", "lion")])

    wait([in_child(child)])
    assert not has_open(tmp_path / "x.db")
    assert names(tmp_path / "x.db") == {"a0"}


@pytest.mark.parametrize(
    "closing",
    [own if own == "pba" else pytest.param(own, marks=pytest.mark.long) for own in ORDERS],
)
def test_parent_and_children_write_and_close_in_any_order(tmp_path, closing):
    """Each closes its index in its turn, and those that are left go on writing."""
    path = tmp_path / "x.db"
    index = opened(path)
    turns = {who: tmp_path / f"{who}-closed" for who in closing}

    def work(who):
        before = [turns[other] for other in closing[: closing.index(who)]]
        for n in range(8):
            index.add([(f"{who}{n}", "lion")])
            time.sleep(random.random() * 0.01)
        deadline = time.monotonic() + patience(60)
        while not all(turn.exists() for turn in before) and time.monotonic() < deadline:
            time.sleep(0.005)
        for n in range(8, 16):
            index.add([(f"{who}{n}", "lion")])
        index.close()
        turns[who].touch()

    children = [in_child(lambda who=who: work(who)) for who in "ab"]
    work("p")
    wait(children)
    assert names(path) == {f"{who}{n}" for who in "pab" for n in range(16)}


def write_one(name):
    SHARED["index"].add([(name, "lion")])
    return name


def test_a_pool_of_forked_processes_inherits_an_index(tmp_path):
    path = tmp_path / "x.db"
    SHARED["index"] = opened(path)
    with ProcessPoolExecutor(3, mp_context=FORK) as pool:
        written = set(pool.map(write_one, [f"a{n}" for n in range(30)]))
    assert names(path) == written == {f"a{n}" for n in range(30)}


@pytest.mark.long
def test_a_server_loads_the_application_and_forks_its_workers(tmp_path):
    """As gunicorn --preload does: workers end, others take their place, and the parent asks in between."""
    path = tmp_path / "x.db"
    index = opened(path)

    def serve(first):
        for n in range(first, first + 10):
            index.add([(f"a{n}", "lion")])
            index.items("documents").expand(["first"], 3)

    for generation in (0, 20, 40):
        children = [in_child(lambda n=n: serve(n)) for n in (generation, generation + 10)]
        assert index.items("documents").expand(["first"], 1, keep_seeds=True)
        wait(children)
    assert names(path) == {f"a{n}" for n in range(60)}


def test_what_is_in_use_at_the_fork_is_refused_in_the_child(tmp_path):
    path = tmp_path / "x.db"
    index = opened(path)

    def items():
        """The process forks in the middle of a write."""
        yield "p0", "lion"

        def child():
            for question in (lambda: index.add([("a0", "lion")]), lambda: setsearch.open(path).info(), index.info):
                with pytest.raises(errors.DatabaseError, match="forked"):
                    question()
            other = opened(tmp_path / "other.db")
            other.close()

        wait([in_child(child)])
        yield "p1", "lion"

    index.add(items())
    index.add([("p2", "lion")])
    assert names(path) == {"p0", "p1", "p2"}
    assert names(tmp_path / "other.db") == set()


def test_a_transaction_does_not_end_in_the_child(tmp_path):
    path = tmp_path / "x.db"
    index = opened(path)
    child = 1

    def items():
        nonlocal child
        yield "p0", "lion"
        child = os.fork()
        yield ("p1" if child else "a1"), "lion"

    try:
        index.add(items())
    except errors.DatabaseError as error:
        os._exit(0 if not child and "forked" in str(error) else 1)
    if not child:
        os._exit(1)
    wait([child])
    assert names(path) == {"p0", "p1"}


@pytest.mark.long
def test_threads_that_write_while_the_process_forks(tmp_path):
    path = tmp_path / "x.db"
    index = opened(path)
    over = threading.Event()
    written = []

    def write():
        for n in range(25):
            index.add([(f"p{n}", "lion")])
            written.append(f"p{n}")
            time.sleep(0.002)
        over.set()

    thread = threading.Thread(target=write)
    thread.start()
    children, answers = [], 0
    while not over.is_set():

        def child():
            try:
                index.info()
            except errors.DatabaseError as error:
                assert "forked" in str(error)  # the thread was writing at that moment

        children.append(in_child(child))
        answers += 1
        time.sleep(0.01)
    thread.join()
    wait(children)
    assert answers
    assert names(path) == set(written)
