"""How an index lives through writes: the first answer after one, questions between writes, new questions, memory.

    python benchmarks/fresh.py FOLDER [--sentences] [--seconds 60]

FOLDER holds what `setsearch index` reads: .txt, .md and .jsonl files (also .gz), in it and in the folders below. With
--sentences each sentence is a document. The default model answers, of documents and of terms; questions are sets of
one to three documents, or of words that occur in one document. tantivy commits (with fsync) and reloads its reader;
Xapian commits and reopens. Each figure is from a process of its own; "numpy" is an installation without the core.
Times are those of the processor, all threads together, so that a busy machine counts little; "live" is by the clock.
"""

import argparse
import json
import multiprocessing
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from corpora import words
from machine import RESULTS, machine

import setsearch
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.scoring.best import KERNELS, use_kernel
from setsearch.storage.synced_source import Columns

WRITES = 9  # of each kind, of which the median counts
SETS = 1000
QUESTIONS_PER_SECOND, ASKING = 5, 3

Texts = list[tuple[str, str]]
Answers = dict[str, Any]


def read_texts(folder: Path, sentences: bool) -> Texts:
    """The documents of a folder, or their sentences, under ids of our own."""
    sources = sorted(str(path) for path in folder.rglob("*") if re.search(r"\.(txt|md|jsonl)(\.gz)?$", path.name))
    texts = []
    for source in sources:
        try:
            rows = [
                text for _, text, *_ in SourceReader(Columns(), RowReader()).read([source]) if isinstance(text, str)
            ]
        except setsearch.errors.SetsearchError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        texts += [part for row in rows for part in (re.split(r"(?<=[.!?;])\s+", row) if sentences else [row])]
    return [(f"d{number}", text) for number, text in enumerate(text for text in texts if words(text))]


def build(path: Path, texts: Texts) -> Answers:
    start = time.process_time()
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(texts)
        added = time.process_time()
        index.refresh("now")
        derived = time.process_time()
        with index._database.read() as cursor:
            (stored,) = cursor.execute("select sum(length(data)) from setsearch_array").fetchone()
    size = sum(len(text.encode()) for _, text in texts)
    return {
        "documents": len(texts),
        "text, MB": size / 1e6,
        "added in, s": added - start,
        "derived in, s": derived - added,
        "database / text": path.stat().st_size / size,
        "derived and stored / text": stored / size,
    }


def milliseconds(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    call()
    return 1000 * (clock() - start)


class Questions:
    """Sets of documents, or of words of one document that have contexts; never the same twice."""

    def __init__(self, index: setsearch.Index, texts: Texts, items: str, seed: int) -> None:
        self.rng, self.texts, self.items = random.Random(seed), texts, items
        with index.items("terms").fields() as fields:
            self.known = set(fields.items.names())

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            count = self.rng.randint(1, 3)
            if self.items == "documents":
                yield [name for name, _ in self.rng.sample(self.texts, count)]
                continue
            having = sorted({word for word in words(self.rng.choice(self.texts)[1]) if word in self.known})
            if len(having) >= count:
                yield self.rng.sample(having, count)


def after_writes(path: Path, texts: Texts, kernel: str) -> Answers:
    """Milliseconds of one write and the first answer after it, and of an answer without a write; medians."""
    use_kernel(kernel)
    rng, found = random.Random(1), {}
    with setsearch.open(path) as index:
        documents, terms = index.items("documents"), index.items("terms")
        asked = iter(Questions(index, texts, "documents", 1))
        for model in ("lift", "bernoulli"):
            documents.expand(next(asked), model=model)
            for kind in ("add", "update", "delete"):
                times = []
                for number in range(WRITES):
                    name, text = f"{kernel} {kind} {model} {number}", rng.choice(texts)[1]
                    if kind != "add":
                        index.add([(name, text)])
                        documents.expand(next(asked), model=model)
                    write = partial(index.delete, [name])
                    if kind != "delete":
                        write = partial(index.update, [(name, rng.choice(texts)[1])])
                    seeds = next(asked)
                    times.append(milliseconds(write) + milliseconds(partial(documents.expand, seeds, model=model)))
                found[f"documents, {model}, {kind}"] = statistics.median(times)
        asked = iter(Questions(index, texts, "terms", 1))
        for _ in range(200):
            terms.expand(next(asked))
        warm, first = [], []
        for number in range(3 * WRITES):
            seeds = next(asked)
            terms.expand(seeds)
            warm.append(milliseconds(partial(terms.expand, seeds)))
            index.add([(f"{kernel} terms {number}", rng.choice(texts)[1])])
            first.append(milliseconds(partial(terms.expand, seeds)))
        found["terms, warm"], found["terms, after a write"] = statistics.median(warm), statistics.median(first)
        index.refresh("now")
        index.add([(f"{kernel} now", rng.choice(texts)[1])])
        found["terms, fresh=now"] = milliseconds(lambda: terms.expand(next(asked), fresh="now"))
    return found


def new_sets(path: Path, texts: Texts, kernel: str, items: str) -> Answers:
    """The first question of a process; sets that were not asked before, and the same again; memory."""
    use_kernel(kernel)
    import setsearch.memory.readings
    import setsearch.scoring.best

    with setsearch.open(path) as index:
        asked = iter(Questions(index, texts, items, 2))
        sets = [next(asked) for _ in range(SETS)]
    before, index = _memory(), setsearch.open(path)
    reading = index.items(items)
    found = {"first question": milliseconds(partial(reading.expand, sets[0]))}
    start = time.perf_counter()
    while time.perf_counter() - start < 1:
        reading.expand(next(asked))
    for name in ("new", "again"):
        times = sorted(milliseconds(partial(reading.expand, seeds)) for seeds in sets)
        found |= {f"{name}, mean": statistics.mean(times), f"{name}, p99": times[int(0.99 * SETS)]}
    found["new / again"] = found["new, mean"] / found["again, mean"]
    found["memory, MB"] = _memory() - before
    for _ in range(SETS):
        reading.expand(next(asked))
    found["memory after 1,000 more, MB"] = _memory() - before
    found["decoded arrays, MB"] = _decoded(index)  # at the end: it makes those that no question needed
    index.close()
    return found


def _memory() -> float:
    """Private memory of this process, in MB."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) / 1e3


def _decoded(index: setsearch.Index) -> float:
    """The arrays that answer, also those that are mapped: entries, and those with values, in MB."""
    memory, size = index._readings._memory, 0
    fields = [own for held in memory.versions.values() for version in held for own in version._fields.values()]
    fields += [own for contexts in memory.contexts.values() for own in contexts.fields.values()]
    for field in fields:
        for lists in (field.content.by_item, field.content.by_feature):
            size += lists.size * (4 + lists.arrays[0].counts.itemsize) + 24 * len(lists)
        for valued in field._valued.values():
            size += sum(8 * own.used + 16 * len(own.part[2]) for own in (valued.by_feature, valued.by_item))
    return size / 1e6


def live(path: Path, texts: Texts, asking: int, seconds: float) -> Answers:
    """One write and five questions a second, of documents and terms in turn; besides, processes that only ask."""
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    end = time.time() + 6 + seconds
    workers = [context.Process(target=_asker, args=(path, texts, number, end, queue)) for number in range(asking)]
    for worker in workers:
        worker.start()
    found = _live(path, texts, end, 0)
    answers = [found, *(queue.get() for _ in workers)]
    for worker in workers:
        worker.join()
    times = sorted(time for own in answers for time in own["times"])
    return {
        "answers": len(times),
        "failed": sum(own["failed"] for own in answers),
        "writes": found["writes"],
        "writes failed": found["writes failed"],
        "p50": times[len(times) // 2],
        "p99": times[int(0.99 * len(times))],
        "longest": times[-1],
        "cores, writer": found["cores"],
        "cores, each asking process": statistics.mean([own["cores"] for own in answers[1:]]) if asking else 0.0,
        "largest WAL, MB": found["wal"] / 1e6,
    }


def _asker(path: Path, texts: Texts, number: int, end: float, queue: Any) -> None:
    queue.put(_live(path, texts, end, number + 1))


def _live(path: Path, texts: Texts, end: float, number: int) -> Answers:
    """Ask until the end, and write once a second if this is process 0."""
    rng, index = random.Random(number), setsearch.open(path)
    asked = {items: iter(Questions(index, texts, items, 10 + number)) for items in ("documents", "terms")}
    for items, sets in asked.items():
        for _ in range(10):
            index.items(items).expand(next(sets))
    time.sleep(rng.random() / QUESTIONS_PER_SECOND)
    used = _cpu()
    found: Answers = {"times": [], "failed": 0, "writes": 0, "writes failed": 0, "wal": 0}
    step, begun = 0, time.time()
    while time.time() < end:
        if number == 0 and step % QUESTIONS_PER_SECOND == 0:
            try:
                index.update([(f"live {rng.randrange(20)}", rng.choice(texts)[1])])
                found["writes"] += 1
            except setsearch.errors.SetsearchError:
                found["writes failed"] += 1
        items = ("documents", "terms")[step % 2]
        seeds = next(asked[items])
        try:
            found["times"].append(milliseconds(partial(index.items(items).expand, seeds), time.perf_counter))
        except setsearch.errors.QueryError:
            pass  # words that have left
        except setsearch.errors.SetsearchError:
            found["failed"] += 1
        found["wal"] = max(found["wal"], Path(f"{path}-wal").stat().st_size if Path(f"{path}-wal").exists() else 0)
        step += 1
        time.sleep(max(0.0, begun + step / QUESTIONS_PER_SECOND - time.time()))
    return found | {"cores": (_cpu() - used) / (time.time() - begun)}


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def writes_and_answers(write: Callable[[str, str], None], ask: Callable[[], None]) -> Answers:
    """Milliseconds of one write of each kind and an answer after it; medians."""
    found = {}
    for kind in ("add", "update", "delete"):
        names = [f"x{number}" for number in range(WRITES)]
        times = [milliseconds(partial(write, kind, name)) + milliseconds(ask) for name in names]
        found[kind] = statistics.median(times)
    return found


def tantivy(texts: Texts, folder: Path) -> Answers:
    """One document added and committed with fsync, the reader reloaded, ten documents more like another one."""
    import tantivy as engine

    fields = engine.SchemaBuilder().add_text_field("id", tokenizer_name="raw", stored=True)
    schema = fields.add_text_field("text").build()
    (folder / "tantivy").mkdir()
    index = engine.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer()
    for name, text in texts:
        writer.add_document(engine.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    writer, rng = index.writer(), random.Random(1)

    def ask() -> None:
        index.reload()
        searcher = index.searcher()
        name = rng.choice(texts)[0]
        (hit,) = searcher.search(engine.Query.term_query(schema, "id", name), 1).hits
        like = engine.Query.more_like_this_query(hit[1], min_doc_frequency=1, min_term_frequency=1)
        searcher.search(like, 11, count=False)

    def write(kind: str, name: str) -> None:
        if kind != "add":
            writer.delete_documents("id", name)
        if kind != "delete":
            writer.add_document(engine.Document(id=name, text=rng.choice(texts)[1]))
        writer.commit()

    return writes_and_answers(write, ask)


def xapian(texts: Texts, folder: Path) -> Answers:
    """One document added and committed, the reader reopened, ten documents by the 25 best terms of another one."""
    import xapian as engine

    path = str(folder / "xapian")
    database = engine.WritableDatabase(path, engine.DB_CREATE)

    def document(name: str, text: str) -> Any:
        made = engine.Document()
        made.add_boolean_term(f"Q{name}")
        for word in words(text):
            made.add_term(word[:200])
        return made

    for name, text in texts:
        database.add_document(document(name, text))
    database.commit()
    reader, rng = engine.Database(path), random.Random(1)

    def ask() -> None:
        reader.reopen()
        enquire, relevant = engine.Enquire(reader), engine.RSet()
        relevant.add_document(rng.randint(1, len(texts)))
        enquire.set_query(engine.Query.MatchAll)
        expansion = enquire.get_eset(25, relevant)
        enquire.set_query(engine.Query(engine.Query.OP_OR, [item.term for item in expansion]))
        list(enquire.get_mset(0, 11))

    def write(kind: str, name: str) -> None:
        if kind == "delete":
            database.delete_document(f"Q{name}")
        else:
            database.replace_document(f"Q{name}", document(name, rng.choice(texts)[1]))
        database.commit()

    return writes_and_answers(write, ask)


def apart(function: Callable[..., Answers], *arguments: Any) -> Answers:
    """What a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--name", default="fresh")
    chosen = parser.parse_args()
    texts = read_texts(chosen.folder, chosen.sentences)
    found: Answers = {"machine": machine(), "data": chosen.folder.name + (", sentences" if chosen.sentences else "")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "sets.db"
        found["build"] = apart(build, path, texts)
        for peer in (tantivy, xapian):
            try:
                found[peer.__name__] = apart(peer, texts, folder)
            except ImportError as error:
                print(f"left out: {error}", file=sys.stderr)
        for kernel in KERNELS:
            for items in ("documents", "terms"):
                found[f"{items}, {kernel}"] = apart(new_sets, path, texts, kernel, items)
        for kernel in KERNELS:
            found[f"after writes, {kernel}"] = apart(after_writes, path, texts, kernel)
        for asking in (0, ASKING):
            found[f"live, {asking} more asking"] = live(path, texts, asking, chosen.seconds)
    (RESULTS / f"{chosen.name}.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
