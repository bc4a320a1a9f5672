"""Too little memory, Ctrl-C, and many queries: a clear end, an intact database, nothing that grows."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from patience import patience

import setsearch

resource = pytest.importorskip("resource", reason="needs a system with limits of processes: POSIX")

import resources  # noqa: E402

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("resources") / "big.jsonl", random.Random(0)
    words = [f"w{number}" for number in range(60_000)]
    with path.open("w") as file:
        for n in range(30_000):
            text = " ".join(rng.choices(words, k=60))
            file.write(json.dumps({"id": f"d{n}", "text": text}) + "\n")
    return path


@pytest.fixture
def corpus(tmp_path, big):
    (tmp_path / "big.jsonl").symlink_to(big)
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("kept", "lion tiger")])
    shutil.copy(tmp_path / "x.db", tmp_path / "before.db")
    return tmp_path


def command(folder, *arguments, megabytes=None):
    def limit():
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "setsearch", *arguments],
        cwd=folder,
        env=environment,
        preexec_fn=limit,  # noqa: PLW1509 - no threads here
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_as_before(folder):
    with setsearch.open(folder / "x.db") as index:
        assert index.items("documents").item_count() == 1
        assert index.check() == []


@pytest.mark.parametrize("megabytes", [160, pytest.param(200, marks=pytest.mark.long)])
def test_too_little_memory_is_said_and_nothing_is_lost(corpus, megabytes):
    process = command(corpus, "index", "x.db", "big.jsonl", megabytes=megabytes)
    _, err = process.communicate(timeout=patience(120))
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert "memory" in err.splitlines()[-1], err
    is_as_before(corpus)


@pytest.mark.long
def test_a_question_with_too_little_memory(corpus):
    command(corpus, "index", "big.db", "big.jsonl").communicate(timeout=patience(120))
    told = set()
    for megabytes in (130, 1000):
        process = command(corpus, "expand", "big.db", "d1", "d2", "--items", "documents", megabytes=megabytes)
        _, err = process.communicate(timeout=patience(60))
        assert "Traceback" not in err
        told.add(process.returncode)
        assert process.returncode == 0 or "memory" in err, err
    assert 0 in told


@pytest.mark.long
def test_ctrl_c_at_any_moment(corpus):
    lines = (corpus / "big.jsonl").read_text().splitlines(keepends=True)[:1500]
    (corpus / "some.jsonl").write_text("".join(lines))
    start = time.monotonic()
    command(corpus, "index", "whole.db", "some.jsonl").communicate(timeout=patience(120))
    takes = time.monotonic() - start
    rng, stopped, deadline = random.Random(1), 0, start + patience(240)
    while stopped < 3 and time.monotonic() < deadline:
        for old in corpus.glob("x.db*"):
            old.unlink()
        shutil.copy(corpus / "before.db", corpus / "x.db")
        process = command(corpus, "index", "x.db", "some.jsonl")
        time.sleep(rng.uniform(0, takes))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=patience(60))
        if process.returncode in (0, -signal.SIGINT) or "Python error: init_" in err:  # done, or before our first line
            continue
        assert process.returncode == 130, err
        assert "Traceback" not in err
        told = err.splitlines()[-1]
        if told == "Error: stopped; what was complete before is kept":
            with setsearch.open(corpus / "x.db") as index:
                assert index.items("documents").item_count() == 1 + len(lines)
                assert index.check() == []
            continue
        assert told == "Error: stopped; nothing was changed"
        is_as_before(corpus)
        stopped += 1
    assert stopped == 3


@pytest.mark.parametrize("times", [500, pytest.param(1500, marks=pytest.mark.long)])
def test_queries_leave_nothing_behind(tmp_path, times):
    found = resources.torture(tmp_path, times)
    assert found["file descriptors more"] <= 0  # fewer where something from before was let go meanwhile
    assert found["megabytes more"] < 8
