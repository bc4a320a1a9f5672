"""Load on `setsearch serve`: many clients for a while on loopback; latencies, errors, memory, and the loop's pulse.

    python benchmarks/web_load.py [--clients 50] [--seconds 60] [--workers 1 2]

Each client asks one question after the other on one connection: most expand by the API, some load the page, open a
document, complete a name. A client of its own asks for a small file all the time: how long it waits shows whether the
event loop is ever held up.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import setsearch

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "web.json"
WARM = 5.0  # seconds that are not counted


def main() -> None:
    """Run, print, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    by_workers: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "wordnet.db"
        names = build(database)
        for workers in given.workers:
            command = [sys.executable, "-m", "setsearch", "serve", str(database), "--port", "0"]
            server = subprocess.Popen([*command, "--workers", str(workers)], stderr=subprocess.PIPE, text=True)
            assert server.stderr is not None
            found = re.search(r":(\d+)/", server.stderr.readline())
            assert found
            try:
                figures = asyncio.run(run(int(found.group(1)), names, given.clients, given.seconds, server.pid))
            finally:
                server.send_signal(signal.SIGINT)
                server.wait()
            by_workers[str(workers)] = figures
            print(json.dumps({"workers": workers} | figures, indent=1))
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, clients on the same machine"
    )
    results = {
        "version": setsearch.__version__,
        "machine": machine,
        "data": "sample_corpus, 17,610 documents",
        "workers": by_workers,
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def memory_of(pid: int) -> float:
    """The memory of a process and of those that it has started, MB."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = sum(int(Path(f"/proc/{own}/statm").read_text().split()[1]) for own in (pid, *children))
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def build(database: Path) -> dict[str, list[str]]:
    """Index the sample corpus; some names of each kind."""
    subprocess.run(
        [sys.executable, "-m", "setsearch", "index", str(database), str(ROOT / "sample_corpus" / "wordnet.jsonl")],
        check=True,
    )
    with setsearch.open(database) as index:
        index.refresh("now")
        with index.items("terms").fields(by="both") as fields:
            terms = fields.items.names()
        with index.items("documents").stored() as fields:
            documents = fields.items.names()
    rng = random.Random(0)
    return {"terms": rng.sample(terms, 500), "documents": rng.sample(documents, 500)}


def question(rng: random.Random, names: dict[str, list[str]]) -> str:
    """An address."""
    items = rng.choice(["terms", "documents"])
    seeds = rng.sample(names[items], rng.choice([1, 2, 3, 3, 5]))
    kind = rng.random()
    if kind < 0.6:
        return "/api/expand?" + urlencode({"items": items, "seeds": seeds, "cut": "mark"}, doseq=True)
    if kind < 0.75:
        return "/?" + urlencode({"items": items, "seed": seeds}, doseq=True)
    if kind < 0.85:
        query = {
            "items": "documents",
            "seed": rng.sample(names["documents"], 2),
            "open": rng.choice(names["documents"]),
        }
        return "/item?" + urlencode(query, doseq=True)
    return "/api/complete?" + urlencode({"items": items, "prefix": rng.choice(names[items])[:3]})


async def run(port: int, names: dict[str, list[str]], clients: int, seconds: float, pid: int) -> dict[str, object]:
    """All clients for some seconds."""
    latencies: dict[str, list[float]] = {}
    errors: list[str] = []
    end = time.monotonic() + WARM + seconds
    begin = time.monotonic() + WARM

    async def client(number: int) -> None:
        rng = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            path = "/static/icon.svg" if number == clients else question(rng, names)
            start = time.perf_counter()
            status = await ask(reader, writer, path)
            if time.monotonic() > begin:
                kind = path.partition("?")[0]
                latencies.setdefault(kind, []).append(time.perf_counter() - start)
                if status != 200:
                    errors.append(f"{status} {path}")
            if number == clients:
                await asyncio.sleep(0.02)
        writer.close()

    async def memory() -> list[float]:
        used = []
        while time.monotonic() < end - 0.5:
            await asyncio.sleep(seconds / 12)
            used.append(memory_of(pid))
        return used

    used, *_ = await asyncio.gather(memory(), *(client(number) for number in range(clients + 1)))
    pulse = sorted(latencies.pop("/static/icon.svg"))
    every = sorted(took for own in latencies.values() for took in own)
    return {
        "clients": clients,
        "seconds": seconds,
        "answers": len(every),
        "answers a second": round(len(every) / seconds),
        "errors": len(errors),
        "latency, ms": described(every),
        "by kind, ms": {kind: described(sorted(own)) for kind, own in latencies.items()},
        "a small file meanwhile, ms": described(pulse),
        "memory, MB": used,
    }


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> int:
    """The status of an answer, read to its end."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
    return int(head.split()[1])


def described(ordered: list[float]) -> dict[str, float]:
    """Quantiles in milliseconds."""
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1.0))
    }


if __name__ == "__main__":
    main()
