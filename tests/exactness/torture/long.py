"""The long form: `make torture`. Prints the figures, and writes them to docs/reliability.json.

python tests/exactness/torture/long.py [--share 10]
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import concurrency
import crash
import damage
import power
import replayed
import resources
import serving
import transactions
import writes

import setsearch

HERE = Path(__file__).parent
RESULTS = HERE.parents[2] / "docs" / "reliability.json"


def fuzz(seconds: int) -> dict[str, object]:
    """The fuzzer's own figures; a crash of it ends with an error."""
    command = [sys.executable, str(HERE / "fuzz.py"), f"-max_total_time={seconds}", "-rss_limit_mb=4000"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    last = [line for line in done.stderr.splitlines() if line.startswith("Done ")][-1]
    return {"seconds": seconds, "inputs": int(last.split()[1]), "crashes": 0}


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1, help="of everything, one part in so many")
    share = parser.parse_args().share
    found: dict[str, object] = {
        "version": setsearch.__version__,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    parts = {
        "crashes": lambda folder: crash.torture(folder, 200 // share),
        "crashes with contexts": lambda folder: crash.torture(folder, 100 // share, contexts="on"),
        "ends beside sets and tables": lambda folder: replayed.torture(folder, 100 // share),
        "power cuts": lambda folder: power.torture(folder, 1000 // share, contexts="off"),
        "power cuts with contexts": lambda folder: power.torture(folder, 500 // share),
        "power cuts beside sets and tables": lambda folder: replayed.cut(folder, 500 // share),
        "killed servers": lambda folder: serving.torture(folder, 100 // share),
        "concurrency": lambda folder: concurrency.torture(folder, 600 / share),
        "hosts' transactions": lambda folder: transactions.torture(folder, 360 / share),
        "damage": lambda folder: damage.torture(folder, 2000 // share),
        "stale pages": damage.stale_pages,
        "writes": lambda folder: writes.torture(folder, 100_000 // share),
        "resources": lambda folder: resources.torture(folder, 100_000 // share),
        "fuzzing": lambda folder: fuzz(600 // share),
    }
    for name, part in parts.items():
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            figures = part(Path(folder))
        found[name] = figures | {"took, s": round(time.monotonic() - start)}
        print(name, json.dumps(found[name]), flush=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
