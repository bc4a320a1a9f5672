"""Threads write in the order in which they came."""

import os
import threading
import time

import pytest
from patience import patience

import setsearch
from setsearch.errors import LockedDatabase
from setsearch.sqlite.turns import Turns, turns_of


def test_whoever_came_first_is_next():
    turns, order, threads = Turns(), [], []

    def write(number):
        with turns.take("a.db", patience(10)):
            order.append(number)

    with turns.take("a.db", 0):
        for number in range(5):
            threads.append(threading.Thread(target=write, args=[number]))
            threads[-1].start()
            while len(turns._waiting) < number + 2:
                time.sleep(0.001)
        with (
            pytest.raises(LockedDatabase, match=r"a.db is locked by another writer \(waited 0 s\)"),
            turns.take("a.db", 0),
        ):
            pass
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]
    with turns.take("a.db", 0):
        pass


def test_an_error_ends_a_turn():
    turns = Turns()
    with pytest.raises(ValueError), turns.take("a.db", 0):
        raise ValueError
    with turns.take("a.db", 0):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_waits_for_no_thread_of_its_parent():
    turns = Turns()
    with turns.take("a.db", 0):
        child = os.fork()
        if not child:
            try:
                with turns.take("a.db", 0):
                    os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


def test_indexes_of_one_file_share_them(tmp_path):
    assert turns_of("x") is not turns_of("y")
    with setsearch.open(tmp_path / "a.db", create=True) as one, setsearch.open(tmp_path / "a.db", create=True) as two:
        assert one._database._turns is two._database._turns


@pytest.mark.long
def test_all_of_many_busy_threads_write(tmp_path):
    """SQLite alone gives some of them one of 500 writes; how soon each comes back is the machine's affair."""
    path, written, started, until = tmp_path / "a.db", [0] * 6, threading.Barrier(6), time.monotonic() + 3
    with setsearch.open(path, create=True, contexts="off", timeout=patience(5)) as index:
        index.add((f"d{n}", "lion tiger cat wheat") for n in range(300))

        def write(number):
            started.wait()
            while time.monotonic() < until:
                index.update([(f"d{number}", f"lion {written[number]}")])
                written[number] += 1

        threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert min(written) > 0 and max(written) <= 2 * min(written), written
        assert all(
            index.items("documents").features_of(f"d{n}") == {"lion": 1, str(written[n] - 1): 1} for n in range(6)
        )
