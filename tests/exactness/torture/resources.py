"""Many queries: neither memory nor file descriptors may grow."""

import gc
import random
import resource
from contextlib import suppress
from pathlib import Path

import setsearch


def used() -> tuple[int, int]:
    """Bytes of memory that are in use now, and open file descriptors."""
    gc.collect()  # what earlier tests left in circles holds files, too, and would be let go between two counts
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize(), len(list(Path("/proc/self/fd").iterdir()))


def torture(folder: Path, times: int) -> dict[str, float]:
    """Ask `times` questions of all kinds, some of them wrong, with a write now and then."""
    rng = random.Random(0)
    with setsearch.open(folder / "many.db", create=True, contexts="off") as index:
        index.add((f"d{n}", [f"w{rng.randint(0, 300)}" for _ in range(20)]) for n in range(500))

        def ask(number: int) -> None:
            kind, seeds = number % 6, [f"d{rng.randint(0, 499)}" for _ in range(3)]
            documents = index.items("documents")
            if kind == 0:
                documents.expand(seeds, explain=True)
            elif kind == 1:
                documents.expand(seeds, model="bernoulli", strength=1 + number % 50)
            elif kind == 2:
                index.items("terms").expand([f"w{rng.randint(0, 300)}"])
            elif kind == 3:
                documents.expand([], like=[f"w{rng.randint(0, 300)} w1"], binarize="presence")
            elif kind == 4:
                with suppress(setsearch.errors.UnknownItem):
                    documents.expand([f"nobody{number}"])
            elif number % 300 == 5:
                index.update([(seeds[0], [f"w{number % 300}", "w1"])])
            else:
                documents.explain(seeds, "d1")

        for number in range(min(times // 3, 3000)):
            ask(number)
        memory, files = used()
        for number in range(times):
            ask(number)
        after, files_after = used()
    return {
        "queries": times,
        "megabytes more": round((after - memory) / 2**20, 1),
        "file descriptors more": files_after - files,
    }
