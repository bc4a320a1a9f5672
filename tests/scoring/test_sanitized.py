"""The core, compiled with AddressSanitizer and UndefinedBehaviorSanitizer: its tests, and damaged files, before it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
NEEDS_CORE = "the core was not built"  # what the tests of the core say where they are skipped
# The library takes the place of the usual one in this process; then a module runs as `python -m` runs it.
BEGIN = """
import runpy, sys
from pathlib import Path
from setsearch.core import binding
binding.LIBRARY = Path(sys.argv[1])
assert binding.library() is not None
sys.argv[:2] = []
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def sanitizer():
    """The library of gcc that a process must load first; None where there is none."""
    try:
        found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip() if Path(found.stdout.strip()).is_absolute() else None


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sanitizer() is None, reason="gcc or its libasan.so is not installed"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a module, or code, on a core that ends the process at the first access that is wrong."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    library = tmp_path_factory.mktemp("sanitized") / hook.library_name()
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g"
    with pytest.MonkeyPatch.context() as context:
        context.setenv("CC", f"gcc {flags}")
        context.setenv("SETSEARCH_CORE", "1")
        hook.compile_core(ROOT, library)
    variables = {
        "LD_PRELOAD": sanitizer(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",  # each object apart, as its neighbors must not be written
        "PYTHONPATH": str(TESTS / "exactness" / "torture"),
    }

    def call(*arguments, code=BEGIN):
        """The process that ended."""
        command = [sys.executable, "-c", code, str(library), *map(str, arguments)]
        return subprocess.run(
            command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )

    return call


def test_an_access_that_is_wrong_ends_the_process(run):
    code = """
import sys
from pathlib import Path
import numpy as np
from setsearch.core import binding
binding.LIBRARY = Path(sys.argv[1])
lists = np.zeros(3000, np.int32), None, np.zeros(1, np.int64), np.full(1, 3001), np.ones(1)
made = binding.part_structures([lists])
made[1][0].size = 3001  # more than there is
binding.part_structures = lambda parts: made
binding.add(np.zeros(9), [lists])
"""
    done = run(code=code)
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert "core.c" in done.stderr


def test_the_tests_of_the_core(run):
    files = [path for path in TESTS.rglob("test_*.py") if NEEDS_CORE in path.read_text() and path != Path(__file__)]
    assert len(files) >= 2
    done = run("pytest", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_damaged_lists(run, tmp_path):
    done = run("damaged_lists", tmp_path, 60, 5000)
    assert done.returncode == 0, done.stderr[-3000:]
    *problems, told = done.stdout.splitlines()
    assert problems == []
    counts = json.loads(told)
    for what in ("answered", "answered otherwise", "refused", "calls answered", "calls refused"):
        assert counts[what] > 20, counts
    for entry in ("add", "questions", "fold", "alone", "values", "ranks", "nearest", "alike"):
        assert counts[f"setsearch_{entry}"] > 4000, counts
