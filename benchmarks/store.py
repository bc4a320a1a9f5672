"""What an index takes: room on disk, time and memory of a build, memory of processes that ask, first questions.

    python benchmarks/store.py FOLDER [--sentences] [--name store]

FOLDER and --sentences as for fresh.py, whose questions these are; the default model answers. Times are those of the
processor, of all threads, as machines are busy. Memory of processes is their share (PSS), and by how much it is more
than when they had only opened the index. Figures go to stdout, and with machine, versions and sizes to
benchmarks/results/NAME.json.
"""

import argparse
import csv
import json
import multiprocessing
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from corpora import words
from fresh import WRITES, Answers, Questions, Texts, apart, read_texts
from machine import RESULTS, machine
from one_file import peak

import setsearch

MOST_ROWS = 1_000_000  # of the relation
SETS = 300  # of documents, and of words, that a process asks for
PROCESSES = 8
BLOCK = 512  # bytes, of what a file takes
FIRST, AFTER = 60, range(2, 81)  # questions of a process; questions after a write


def build(path: Path, texts: Texts, contexts: str) -> Answers:
    """Index all texts, and derive what the file then keeps."""
    before, size = time.process_time(), sum(len(text.encode()) for _, text in texts)
    with setsearch.open(path, create=True, contexts=contexts) as index:
        index.add(texts)
        added = time.process_time()
        index.items("documents").expand([texts[0][0]])
        index.refresh("now")
    taken = time.process_time() - before
    beside = [file.stat().st_blocks * BLOCK for file in path.parent.glob(f"{path.name}-arrays-*")]
    return {
        "files of arrays / text": sum(beside) / size,
        "disk / text": path.stat().st_size / size,
        "documents/s, added": len(texts) / (added - before),
        "documents/s": len(texts) / taken,
        "peak memory, MB": peak(),
    }


def relation(folder: Path, texts: Texts) -> Answers:
    """Rows of a document and one of its words, by the command line."""
    rows = [row for name, text in texts for row in zip([name] * len(text), words(text), strict=False)][:MOST_ROWS]
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("document", "word"), *rows])
    command = ["index", str(folder / "rows.db"), str(folder / "rows.csv"), "--items", "document", "--features", "word"]
    subprocess.run([sys.executable, "-m", "setsearch", *command], check=True, capture_output=True)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"rows": len(rows), "rows/s": len(rows) / (usage.ru_utime + usage.ru_stime)}


def milliseconds(call: Callable[[], Any]) -> float:
    """What a call takes of the processor."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def share() -> float:
    """The memory of this process, its share of what others have too, in MB."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    (size,) = [line.split()[1] for line in lines if line.startswith("Pss:")]
    return int(size) / 1e3


def sets_of(index: setsearch.Index, texts: Texts, seed: int) -> dict[str, Iterator[list[str]]]:
    """Sets that are never the same twice, by what they are of."""
    return {items: iter(Questions(index, texts, items, seed)) for items in ("documents", "terms")}


def ask(path: Path, asked: dict[str, list[list[str]]], barrier: Any, queue: Any) -> None:
    """One process that asks, and has nothing else: the memory that it takes once all of them have asked."""
    index = setsearch.open(path)
    barrier.wait()
    before = share()
    barrier.wait()
    for items, sets in asked.items():
        for seeds in sets:
            index.items(items).expand(seeds)
    barrier.wait()
    queue.put((share() - before, share()))
    barrier.wait()
    index.close()


def memory(path: Path, texts: Texts, count: int) -> Answers:
    """The memory of some processes that ask at the same time."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(count), context.Queue()
    with setsearch.open(path) as index:
        drawn = [sets_of(index, texts, seed) for seed in range(count)]
        asked = [{items: [*islice(sets, SETS)] for items, sets in kinds.items()} for kinds in drawn]
    workers = [context.Process(target=ask, args=(path, own, barrier, queue)) for own in asked]
    for worker in workers:
        worker.start()
    found = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {"more than when opened, MB": sum(own for own, _ in found), "all, MB": sum(own for _, own in found)}


def first_questions(path: Path, texts: Texts, items: str) -> Answers:
    """The first question of a process, the first ones, warm ones; those after a write, which is the first of them."""
    with setsearch.open(path) as index:
        asked = sets_of(index, texts, 3)[items]
        sets = [*islice(asked, 5 * FIRST)]
    index = setsearch.open(path)
    times = [milliseconds(lambda: index.items(items).expand(seeds)) for seeds in sets]  # noqa: B023 - called at once
    index.add([("first", texts[0][1])])
    after = [milliseconds(lambda: index.items(items).expand(next(asked))) for _ in range(max(AFTER))]
    index.delete(["first"])
    index.close()
    return {
        "first": times[0],
        f"first {FIRST}, median": statistics.median(times[:FIRST]),
        "warm, median": statistics.median(times[-FIRST:]),
        "first after a write": after[0],
        f"{min(AFTER)} to {max(AFTER)} after a write, median": statistics.median(after[1:]),
    }


def writes(path: Path, texts: Texts) -> Answers:
    """One document and the first answer of documents after it; the processor's part of the write; words afresh."""
    rng, times, own = random.Random(1), [], []
    with setsearch.open(path) as index:
        documents, terms = index.items("documents"), index.items("terms")
        asked = sets_of(index, texts, 4)
        documents.expand(next(asked["documents"]))
        for number in range(WRITES):
            own.append(milliseconds(lambda: index.add([(f"new {number}", rng.choice(texts)[1])])))  # noqa: B023 - at once
            times.append(own[-1] + milliseconds(lambda: documents.expand(next(asked["documents"]))))
        index.refresh("now")
        index.add([("now", rng.choice(texts)[1])])
        afresh = milliseconds(lambda: terms.expand(next(asked["terms"]), fresh="now"))
    return {
        "write + first answer, median": statistics.median(times),
        "of it the write": statistics.median(own),
        "words after one document, fresh=now": afresh,
    }


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", action="store_true")
    parser.add_argument("--name", default="store")
    chosen = parser.parse_args()
    texts = read_texts(chosen.folder, chosen.sentences)
    found: Answers = {"machine": machine(), "data": chosen.folder.name + (", sentences" if chosen.sentences else "")}
    found |= {"documents": len(texts), "text, MB": sum(len(text.encode()) for _, text in texts) / 1e6}
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "on.db"
        for contexts in ("off", "on"):
            found[f"build, contexts={contexts}"] = apart(build, folder / f"{contexts}.db", texts, contexts)
        found["relation"] = apart(relation, folder, texts)
        for count in (1, PROCESSES):
            found[f"memory of {count}"] = memory(path, texts, count)
        for items in ("documents", "terms"):
            found[f"{items}, ms"] = apart(first_questions, path, texts, items)
        found["writes, ms"] = apart(writes, path, texts)
    (RESULTS / f"{chosen.name}.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
