"""Many writes that nobody merges: the history, the file and the memory of a reader that stays are bounded."""

import random
import sqlite3
from pathlib import Path

from resources import used

import setsearch
from setsearch.storage.revisions import MOST_REVISIONS

DOCUMENTS = 200
TOGETHER = 100  # writes of one transaction of the host's


def words(rng):
    return [f"w{rng.randint(0, 60)}" for _ in range(rng.randint(3, 12))]


def answers(index):
    hits = index.items("documents").expand(["d1", "d2"], 99, explain=False)
    return [(hit.item, hit.score) for hit in hits]


def torture(folder: Path, times: int) -> dict[str, float]:
    """Update one of 200 documents, `times` times; a reader that stays asks now and then."""
    rng, path = random.Random(0), folder / "written.db"
    held = {f"d{n}": words(rng) for n in range(DOCUMENTS)}
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(held.items())
        index.refresh("now")
    host = sqlite3.connect(path, isolation_level=None)
    writer, reader = setsearch.open(host), setsearch.open(path)
    sizes = []
    for start in range(0, times, TOGETHER):
        host.execute("begin immediate")
        for _ in range(TOGETHER):
            name = f"d{rng.randrange(DOCUMENTS)}"
            held[name] = words(rng)
            writer.update([(name, held[name])])
        host.execute("commit")
        if start % (times // 20) < TOGETHER:
            with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as fresh:
                fresh.add(held.items())
                assert answers(reader) == answers(fresh)
            sizes.append((path.stat().st_size, used()[0]))
    (history,) = host.execute("select count(*) from setsearch_revision").fetchone()
    assert history == min(times + 1, MOST_REVISIONS)
    with setsearch.open(path) as new:
        assert answers(new) == answers(reader)
        assert new.check() == []
    for index in (writer, reader):
        index.close()
    host.close()
    half = sizes[len(sizes) // 2]
    return {
        "writes": times,
        "revisions kept": history,
        "file, megabytes": round(sizes[-1][0] / 2**20, 1),
        "file, megabytes more in the second half": round((sizes[-1][0] - half[0]) / 2**20, 1),
        "megabytes of memory more in the second half": round((sizes[-1][1] - half[1]) / 2**20, 1),
    }
