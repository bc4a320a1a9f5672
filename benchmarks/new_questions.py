"""What users ask: the default model, sets that were never asked before, real text, beside the fastest peers.

    python benchmarks/new_questions.py FILE [--as marks | --as lines] [--questions 300] [--peer NAME] [--results NAME]

FILE, or a folder, holds documents as `setsearch index` reads them. Seeds are documents at random, or words of one
document that have contexts; they are drawn anew in each run. All contenders answer each set once, in turns of ten.
The core and numpy (an installation without the core) have each an index of their own, so that nothing that one has read
helps the other. The first 100 sets are not counted. Figures go to stdout, and with machine, versions and parameters to
benchmarks/results/. `--as marks` puts accents, quotes and dashes into the texts, `--as lines` makes short ones of them.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpora import Document, in_lines, numbered, read_documents, with_marks, words
from machine import RESULTS, machine
from peers import PEERS

import setsearch
from setsearch.scoring.best import KERNELS, use_kernel

# What commands, the page and the API ask, and the paper's model, beside the plain question.
MORE: dict[str, dict[str, Any]] = {
    "cut and folding": {"cut": "mark", "fold": True},
    "reasons and snippets, too": {"cut": "mark", "fold": True, "explain": True, "snippets": True},
    "bernoulli": {"model": "bernoulli"},
}
RIVALS = ["full sparse mat-vec", "bm25s, numba", "tantivy"]
SEEDS = {"documents": (1, 3, 10), "terms": (1, 3)}
WARMING = 100
IN_A_ROW = 10  # questions that a contender answers before it is the next one's turn
STARTS = 9  # processes of each kind

Ask = Callable[[list[int]], Any]
FORMS = {"whole": lambda documents: documents, "marks": with_marks, "lines": in_lines}


class NewSets:
    """Sets that were not drawn before: numbers of documents, or of words of one document that have contexts."""

    def __init__(self, texts: list[tuple[str, str]], names: list[str], seed: int) -> None:
        self.rng, self.texts, self.names = random.Random(seed), texts, names
        self.numbers = {name: number for number, name in enumerate(names)}
        self.drawn: set[tuple[str | int, ...]] = set()

    def draw(self, items: str, n: int) -> Iterator[list[int]]:
        """Sets of n seeds, without end."""
        while True:
            known: Sequence[int] = range(len(self.texts))
            if items == "terms":
                known = sorted({self.numbers[word] for word in words(self.some_text()) if word in self.numbers})
            chosen = tuple(sorted(self.rng.sample(known, n))) if len(known) >= n else ()
            if chosen and (items, *chosen) not in self.drawn:
                self.drawn.add((items, *chosen))
                yield [*chosen]

    def some_text(self) -> str:
        """The text of a document at random."""
        return self.rng.choice(self.texts)[1]


def ours(index: setsearch.Index, kernel: str, items: str, names: list[str], options: dict[str, Any]) -> Ask:
    """The default question with some options, by the public API."""
    reading = index.items(items)

    def ask(seeds: list[int]) -> Any:
        use_kernel(kernel)
        return reading.expand([names[seed] for seed in seeds], **options)

    return ask


def build(path: Path, documents: list[Document], contexts: str) -> dict[str, float]:
    """Documents a second, with all that is derived, and megabytes on disk over those of the text."""
    start = time.perf_counter()
    with setsearch.open(path, create=True, contexts=contexts) as index:
        index.add(documents)
        index.refresh("now")
    took = time.perf_counter() - start
    size = sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))
    of_text = sum(len(text.encode()) for _, text, _ in documents)
    return {"documents_s": len(documents) / took, "disk_over_text": size / of_text}


def cold(path: Path, names: list[str]) -> dict[str, float]:
    """Median milliseconds of a process that asks for words by default, and of one that only imports numpy."""
    commands = {
        "expand": [sys.executable, "-m", "setsearch", "expand", str(path), *names],
        "import numpy": [sys.executable, "-c", "import numpy"],
    }
    # As installed: modules are compiled once, whatever the environment says of it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(1 + STARTS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(own[1:]) for name, own in times.items()}


def in_turns(contenders: dict[str, Ask], sets: list[list[int]]) -> dict[str, list[float]]:
    """Milliseconds of each contender for each set, which it answers once."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for begin in range(0, len(sets), IN_A_ROW):
        for name, ask in contenders.items():
            for seeds in sets[begin : begin + IN_A_ROW]:
                start = time.perf_counter()
                ask(seeds)
                times[name].append(1e3 * (time.perf_counter() - start))
    return times


def measure(documents: list[Document], questions: int, peers: list[str], folder: Path, seed: int) -> dict[str, Any]:
    """All figures of a collection."""
    texts = [(id, text) for id, text, _ in documents]
    collection = numbered(texts)
    result: dict[str, Any] = {"documents": len(texts), "seed": seed, "questions": questions, "ms": {}}
    result["build"] = {kind: build(folder / f"{kind}.db", documents, kind) for kind in ("on", "off")}
    indexes = {kernel: setsearch.open(folder / "on.db") for kernel in KERNELS}
    with indexes["numpy"].items("terms").fields() as fields:
        vocabulary = sorted(fields.items.names())
    sets = NewSets(texts, vocabulary, seed)
    result["cold_ms"] = cold(folder / "on.db", [vocabulary[n] for n in next(sets.draw("terms", 3))])
    rivals = {name: PEERS[name](collection, texts, folder) for name in peers}
    for items, numbers in SEEDS.items():
        names = vocabulary if items == "terms" else [name for name, _ in texts]
        contenders = {
            f"setsearch, {kernel}": ours(index, kernel, items, names, {}) for kernel, index in indexes.items()
        }
        if items == "documents":
            for title, options in MORE.items():
                contenders[f"setsearch, core, {title}"] = ours(indexes["core"], "core", items, names, options)
            contenders |= rivals
        for n in numbers:
            drawn = sets.draw(items, n)
            times = in_turns(contenders, [next(drawn) for _ in range(WARMING + questions)])
            result["ms"][f"{items}, N = {n}"] = {
                name: {"median": statistics.median(own), "mean": statistics.fmean(own), "p99": np.percentile(own, 99)}
                for name, own in ((name, all[WARMING:]) for name, all in times.items())
            }
    return result


def show(result: dict[str, Any]) -> None:
    """The figures as tables of Markdown."""
    columns = list(result["ms"])
    print(f"\n| median, mean (p99), ms | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in result["ms"][columns[0]]:
        cells = [result["ms"][column].get(name) for column in columns]
        shown = [
            "" if cell is None else f"{cell['median']:.3g}, {cell['mean']:.3g} ({cell['p99']:.3g})" for cell in cells
        ]
        print(f"| {name} | {' | '.join(shown)} |")
    for kind, own in result["build"].items():
        print(f"contexts {kind}: {own['documents_s']:,.0f} documents/s, {own['disk_over_text']:.2f} times the text")
    expand, numpy = result["cold_ms"]["expand"], result["cold_ms"]["import numpy"]
    print(f"a cold expand of three words: {expand:.0f} ms, {expand / numpy:.2f} times import numpy")


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--as", dest="form", choices=FORMS, default="whole", help="what is made of the texts")
    parser.add_argument("--peer", choices=PEERS, action="append", help=f"by default {', '.join(RIVALS)}")
    parser.add_argument("--results", help="name of the file with the results")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6)  # kept with the results
    with tempfile.TemporaryDirectory() as folder:
        documents = [*FORMS[arguments.form](read_documents(arguments.source))]
        result = measure(documents, arguments.questions, arguments.peer or RIVALS, Path(folder), seed)
    show(result)
    kept = {"machine": machine(), "source": Path(arguments.source).name, "form": arguments.form} | result
    name = arguments.results or ("new_questions" if arguments.form == "whole" else f"new_questions-{arguments.form}")
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
