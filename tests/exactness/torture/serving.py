"""A server that is killed while others write: every answer is that of one revision, and the file stays sound.

Some servers have little memory (ulimit -v), and the clock of the file jumps into the past and the future.
"""

import json
import os
import random
import re
import resource
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import concurrency

import setsearch

MEGABYTES = (None, None, 900, 500)  # of a server; with too little it must say so
YEARS = 365 * 24 * 3600


def start(path: Path, megabytes: int | None) -> tuple[subprocess.Popen[str], str | None]:
    """A server and its address; None if it ended at once."""

    def limit() -> None:
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-m", "setsearch", "serve", str(path), "--port", "0"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=limit)  # noqa: PLW1509
    assert process.stderr is not None
    while line := process.stderr.readline():  # it may say that it is getting ready
        found = re.search(r"http://\S+/", line)
        if found:
            return process, found.group()
    return process, None


def ask(address: str) -> object:
    """The answer as `concurrency.answers` has it; None for a refusal that says why, or for a server that is gone."""
    query = "api/expand?items=documents&k=99&" + "&".join(f"seeds={seed}" for seed in concurrency.SEEDS)
    try:
        with urllib.request.urlopen(address + query, timeout=30) as answer:
            return tuple((hit["item"], hit["score"]) for hit in json.load(answer))
    except urllib.error.HTTPError as error:
        assert error.code == 503 or "error" in json.loads(error.read()), error
        return None
    except OSError:
        return None


def torture(folder: Path, times: int, seed: int = 0) -> dict[str, int]:
    """`times` servers, each killed at a random moment beside a process that writes."""
    rng, path, expected = random.Random(seed), folder / "served.db", concurrency.oracle()
    with setsearch.open(path, create=True) as index:
        index.add(concurrency.documents(0))
    concurrency.make_host(path)
    counts = {"servers": 0, "answers": 0, "wrong answers": 0, "refused or ended for want of memory": 0}
    for _ in range(times):
        process, address = start(path, rng.choice(MEGABYTES))
        counts["servers"] += 1
        end = time.monotonic() + rng.uniform(0.5, 2.5)
        pid, out = concurrency.in_process(lambda end=end: concurrency.write_until(path, end))
        tries = 0
        while (time.monotonic() < end or tries == 0) and address is not None:
            tries += 1
            moment = time.time() + rng.uniform(-5, 5) * YEARS
            os.utime(path, (moment, moment))
            answer = ask(address)
            counts["refused or ended for want of memory"] += answer is None
            counts["answers"] += answer is not None
            counts["wrong answers"] += answer is not None and answer not in expected
        counts["refused or ended for want of memory"] += address is None
        process.kill()
        said = process.communicate()[1]
        assert "Traceback" not in said or "MemoryError" in said, said
        os.waitpid(pid, 0)
        os.close(out)
        with setsearch.open(path) as index:
            assert index.check() == []
            assert concurrency.answers(index) in expected
    assert counts["wrong answers"] == 0
    return counts
