"""Arrays that wait in files without a name."""

import ctypes
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from laws import examples
from processes import in_fresh_process

import setsearch
from setsearch.arrays import Entries
from setsearch.memory.contexts import word_contexts
from setsearch.memory.layout import lists_to_arrays
from setsearch.sqlite import spill
from setsearch.sqlite.spill import Spill, let_go

pytestmark = pytest.mark.skipif(spill._DONTNEED is None, reason="this system cannot let memory of files go")
LARGE = np.arange(1 << 20)
TEXTS = [(f"d{n}", f"the red w{n % 7} and the blue w{n % 5}, a w{n % 3} or w{n % 11} and a cat") for n in range(3000)]


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@examples(50)
@given(st.lists(arrays.arrays(st.sampled_from(["<i8", "<i4", "<u2", "u1", "<f4"]), st.integers(0, 40)), max_size=5))
@example([np.zeros(1), np.zeros(0)])
def test_arrays_are_what_was_put(given_arrays):
    with tempfile.TemporaryDirectory() as folder:
        found = Spill(Path(folder)).put(LARGE, *given_arrays)
        let_go()
        assert not [*Path(folder).iterdir()]
        for own, put in zip(found, [LARGE, *given_arrays], strict=True):
            assert own.dtype == put.dtype and own.tobytes() == put.tobytes()
            assert not own.flags.writeable


def test_few_bytes_and_those_without_a_folder_stay(tmp_path):
    few = np.arange(9)
    assert Spill(tmp_path).put(few)[0] is few
    assert Spill(None).put(LARGE)[0] is LARGE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_what_was_read_is_let_go(tmp_path):
    (own,) = Spill(tmp_path).put(np.zeros(1 << 22))
    assert own.sum() == 0
    before = resident()
    let_go()
    assert before - resident() > own.nbytes / 2
    assert own.sum() == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems let locked memory go, or have no mlock")
def test_locked_memory_stays(tmp_path):
    (own,) = Spill(tmp_path).put(np.arange(1 << 13))
    if ctypes.CDLL(None).mlock(ctypes.c_void_p(own.ctypes.data), ctypes.c_size_t(1)):
        pytest.skip("this process may lock no memory")
    let_go()
    assert own[-1] == len(own) - 1


def forked_while_memory_is_let_go():
    """How a child ends that lets memory go, forked while a thread of its parent did."""
    inside = threading.Event()

    class Slow:
        def __iter__(self):
            inside.set()
            time.sleep(0.1)
            return iter(())

    spill._maps = Slow()
    thread = threading.Thread(target=let_go)
    thread.start()
    inside.wait()
    spill._maps, child = (), os.fork()
    if not child:
        signal.alarm(5)
        let_go()
        os._exit(0)
    thread.join()
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_whoever_lets_memory_go():
    assert in_fresh_process(forked_while_memory_is_let_go) == 0


def test_what_a_full_disk_does_not_take_stays_in_memory(tmp_path, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill, "append", full)
    assert Spill(tmp_path).put(LARGE)[0] is LARGE
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("free", "stays"), [(99, False), (98, True)])
def test_some_room_is_left(tmp_path, monkeypatch, free, stays):
    monkeypatch.setattr(spill.shutil, "disk_usage", lambda _: SimpleNamespace(free=LARGE.nbytes + free))
    assert (Spill(tmp_path).leaving(99).put(LARGE)[0] is LARGE) == stays


def test_a_process_that_is_killed_leaves_nothing(tmp_path):
    code = (
        "import os, signal, sys, numpy as np; from pathlib import Path; from setsearch.sqlite.spill import Spill\n"
        "own = Spill(Path(sys.argv[1])).put(np.arange(1 << 20))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert found.returncode == -signal.SIGKILL
    assert not [*tmp_path.iterdir()]


def derived(path, monkeypatch, can_spill):
    """The lists and answers of texts, derived with or without files, and whether any array was in one."""
    kept, put = [], Spill.put

    def watch(self, *given):
        found = put(self, *given) if can_spill else [*given]
        kept.extend(own is not was for own, was in zip(found, given, strict=True))
        return found

    monkeypatch.setattr(Spill, "put", watch)
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(TEXTS)
        hits = index.items("terms").expand(["w1", "w2"], 20, by="contexts", explain=True)
        with index._database.read() as cursor:
            opened = index._readings.version(cursor, "terms")
            fields = index._readings._word_contexts(opened).fields
            lists = [(name, own.tobytes()) for field in fields.values() for name, own in flat(field.content)]
    monkeypatch.undo()
    return hits, lists, any(kept)


def flat(content):
    for prefix, own in (("items", content.by_item), ("features", content.by_feature)):
        yield from ((name, getattr(array, "array", array)) for name, array in lists_to_arrays(prefix, own, False))


def test_deriving_leaves_room_for_what_it_stores(tmp_path, monkeypatch):
    monkeypatch.setattr(spill.shutil, "disk_usage", lambda _: SimpleNamespace(free=8 << 20))
    *_, spilled = derived(tmp_path / "a.db", monkeypatch, True)
    assert not spilled


def test_contexts_are_the_same_with_files_and_without(tmp_path, monkeypatch):
    *with_files, spilled = derived(tmp_path / "a.db", monkeypatch, True)
    *without, other = derived(tmp_path / "b.db", monkeypatch, False)
    assert (spilled, other) == (True, False)
    assert with_files == without
    gc.collect()
    assert not [*tmp_path.glob("tmp*")]


def test_entries_are_let_go_before_each_direction_of_lists_is_put(monkeypatch):
    steps, turn = [], word_contexts.transposed
    monkeypatch.setattr(word_contexts, "let_go", lambda: steps.append("let go"))
    monkeypatch.setattr(word_contexts, "transposed", lambda cells: steps.append("turn") or turn(cells))
    cells = Entries(*np.array([[0, 0, 1], [0, 1, 1], [2, 1, 1]]))
    both = word_contexts._both_ways(cells, (2, 2), lambda *given: steps.append("put") or [*given])
    assert steps == ["turn", "let go", "put", "let go", "put"]
    assert [own.lengths.tolist() for own in both] == [[1, 2], [2, 1]]


@pytest.mark.parametrize("place", ["memory", "unwanted"])
def test_no_file_is_made_where_nobody_wants_any(tmp_path, monkeypatch, place):
    if place == "unwanted":
        monkeypatch.setenv("SETSEARCH_ARRAYS", "off")
    folders, made = [], word_contexts.TokenizedTexts.__new__
    monkeypatch.setattr(
        word_contexts.TokenizedTexts,
        "__new__",
        lambda cls, *given: folders.append(given[-1]._folder) or made(cls, *given),
    )
    path = sqlite3.connect(":memory:") if place == "memory" else tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(TEXTS[:100])
        index.items("terms").expand(["w1"])
    assert folders and set(folders) == {None}
