"""Threads: whose work is done, also where none starts, and at the end of the interpreter."""

import subprocess
import sys
import threading
from functools import partial
from queue import SimpleQueue

import pytest
from patience import patience
from processes import in_fresh_process

import setsearch
from setsearch.core.threads import beside, side_by_side, workers
from setsearch.indexing.writing import batch

AT_THE_END = """
import atexit, sys, threading
import setsearch
from setsearch.indexing.writing import batch

batch.FULL_BATCH = batch.TOKENIZED_TOGETHER = 40

def write(name):
    with setsearch.open(sys.argv[1], create=True) as index:
        index.add((f"{name} {number}", "the lion") for number in range(100))

def after_main():
    threading.main_thread().join()
    write("thread")

threading.Thread(target=after_main).start()
atexit.register(write, "exit")
"""


@pytest.mark.parametrize("told", ["0", "2"])
def test_a_write_ends_when_the_main_thread_has_ended(tmp_path, told):
    path, given = tmp_path / "a.db", [sys.executable, "-c", AT_THE_END]
    variables = {"SETSEARCH_THREADS": told, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([*given, path], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with setsearch.open(path) as index:
        assert index.readings()[0]["item_count"] == 200
        assert index.check() == []


def refused(monkeypatch, after=0):
    """Let no thread start after some."""
    start, left = threading.Thread.start, [after]

    def no_more(self):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", no_more)


@pytest.mark.parametrize("may_start", [0, 1])
def test_work_is_done_where_no_thread_starts(monkeypatch, may_start):
    monkeypatch.setenv("SETSEARCH_THREADS", "3")
    own, by = threading.get_ident(), set()
    refused(monkeypatch, may_start)

    def work(item):
        by.add(threading.get_ident() == own)
        return item + 1

    assert [*side_by_side(work, range(20))] == [*range(1, 21)]
    assert by == {may_start == 0}
    refused(monkeypatch)
    with beside(lambda _: pytest.fail("it ran")):
        pass


def test_a_write_without_threads_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "FULL_BATCH", 40)
    monkeypatch.setattr(batch, "TOKENIZED_TOGETHER", 20)
    found = []
    for is_refused in (False, True):
        if is_refused:
            refused(monkeypatch)
        with setsearch.open(tmp_path / f"{is_refused}.db", create=True, contexts="on") as index:
            index.add((f"d{number}", f"the lion {number % 7} of {number}") for number in range(100))
            found.append(index.items("terms").expand(["lion"], fresh="now"))
    assert found[0] == found[1]


@pytest.mark.parametrize(("told", "error"), [("1", ZeroDivisionError), ("3", SystemExit)])
def test_an_error_ends_all_threads_and_what_nobody_began_is_left_out(monkeypatch, told, error):
    monkeypatch.setenv("SETSEARCH_THREADS", told)
    before, begun, is_over = {*threading.enumerate()}, [], threading.Event()

    class Waiting(SimpleQueue):
        def put(self, item):
            if item is None:
                is_over.set()
            super().put(item)

    def work(number):
        begun.append(number)
        if number == 0:
            raise error
        is_over.wait()

    monkeypatch.setattr("setsearch.core.threads.SimpleQueue", Waiting)
    with pytest.raises(error), workers() as give:
        results = [give(partial(work, number)) for number in range(50)]
        results[0]()
    assert len(begun) <= 1 + int(told)
    assert {*threading.enumerate()} <= before


def interrupted():
    """Whether a wait for work ends by Ctrl-C, and how many threads are left."""
    import signal

    own = threading.get_ident()

    def work():
        signal.pthread_kill(own, signal.SIGINT)
        return threading.Event().wait(0.2)

    try:
        with workers() as give:
            give(work)()
            threading.Event().wait(5)
    except KeyboardInterrupt:
        return len([one for one in threading.enumerate() if one.daemon])
    return None


def test_ctrl_c_ends_a_wait_and_leaves_no_thread():
    assert in_fresh_process(interrupted) == 0


def test_so_many_threads_work_at_once_and_no_more(monkeypatch):
    monkeypatch.setenv("SETSEARCH_THREADS", "3")
    together = threading.Barrier(3)
    with workers() as give:
        results = [give(lambda: together.wait(20)) for _ in range(3)]
        assert {result() for result in results} == {0, 1, 2}
    by = set()
    with workers(1) as give:
        for result in [give(lambda: by.add(threading.get_ident())) for _ in range(9)]:
            result()
    assert len(by) == 1


OPEN_AT_THE_END = """
import threading
from setsearch.core.threads import workers

def work():
    with workers() as give:
        give(is_begun.set)()
        threading.Event().wait()

is_begun = threading.Event()
threading.Thread(target=work, daemon=True).start()
is_begun.wait()
"""


def test_the_interpreter_ends_though_a_daemon_has_workers():
    variables = {"SETSEARCH_THREADS": "2", "PYTHONPATH": ":".join(sys.path)}
    given = [sys.executable, "-c", OPEN_AT_THE_END]
    done = subprocess.run(given, env=variables, capture_output=True, text=True, check=False, timeout=patience(20))
    assert (done.returncode, done.stderr) == (0, "")


def threads_of_a_limited_process():
    """Whether this thread does all work itself, before and after a limit of address space."""
    import resource

    def are_own():
        return {*side_by_side(lambda _: threading.get_ident(), range(9))} == {threading.get_ident()}

    before = are_own()
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return before, are_own()


def test_no_thread_starts_where_address_space_is_limited():
    pytest.importorskip("resource", reason="needs a system with limits of processes: POSIX")
    assert in_fresh_process(threads_of_a_limited_process) == (False, True)


@pytest.mark.parametrize("number", [1, 2])
def test_ctrl_c_while_a_thread_starts_leaves_none(monkeypatch, number):
    monkeypatch.setenv("SETSEARCH_THREADS", "3")
    start, starts = threading.Thread.start, []

    def interrupted(self):
        start(self)
        starts.append(self)
        if len(starts) == number:
            raise KeyboardInterrupt

    def ask():
        with pytest.raises(KeyboardInterrupt):
            next(side_by_side(abs, range(9)))

    asking = threading.Thread(target=ask, daemon=True)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    start(asking)
    asking.join(patience(5))
    for thread in starts:
        thread.join(patience(5))
    assert len(starts) == number
    assert [thread for thread in (asking, *starts) if thread.is_alive()] == []


def test_ctrl_c_while_a_thread_starts_ends_what_is_beside(monkeypatch):
    start, ended = threading.Thread.start, []

    def interrupted(self):
        start(self)
        ended.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), beside(lambda is_over: is_over.wait()):
        pass
    ended[0].join(patience(5))
    assert not ended[0].is_alive()
