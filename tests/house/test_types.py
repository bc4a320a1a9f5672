"""What type checkers say of code that uses setsearch: right code passes `mypy --strict`, wrong code does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import setsearch

RIGHT = """
import asyncio
from uuid import UUID

import setsearch
from setsearch.learning import Review


def use(index: setsearch.Index, id: UUID) -> list[str]:
    index.add([(1, "lion"), ("b", ["x"], "title"), (id, {"x": 2}), setsearch.Item(2, "text", fields={"tags": ["x"]})])
    index.update((number, "text") for number in range(3))
    documents = index.items("documents")
    hits = documents.expand([1, id], 5, exclude=[2], among=[3], cut="keep")
    hits += documents.rank([1, 2], {3: 2.0}) + index.numbers("wines").expand([1])
    documents.explain([1], 2).features, documents.find(4), documents.titles([1]), documents.headlines([1])
    index.add_vectors([1, 2], [[1.0], [2.0]])
    cats = index.keep_set("cats", [1], [2])
    cats.accept(1)
    cats.forget(2)
    Review(index, "cats").decide(3, "yes")
    index.question([1], set="cats", exclude=[2]).expand(), index.sets_of(4)
    index.delete([1, id])
    return [hit.item for hit in hits]


async def ask(documents: setsearch.Reading, ids: list[int]) -> setsearch.Hits:
    return await asyncio.to_thread(documents.expand, ids)
"""
WRONG = ('documents.expand(["a"], cutt="keep")', 'documents.expand(["a"], k="5")', "documents.explain(1, 2)")


@pytest.mark.long
def test_type_checkers_know_what_is_right(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy")
    wrong = "\n".join(f"    {line}" for line in WRONG)
    (tmp_path / "own.py").write_text(f"{RIGHT}\n\ndef fail(documents: setsearch.Reading) -> None:\n{wrong}\n")
    command = [sys.executable, "-m", "mypy", "--strict", "own.py"]
    env = {**os.environ, "MYPYPATH": str(Path(setsearch.__file__).parents[1])}
    said = subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True, text=True).stdout
    found = [
        int(line.split(":")[1]) for line in said.splitlines() if line.startswith("own.py:") and ": error: " in line
    ]
    last = len((tmp_path / "own.py").read_text().splitlines())
    assert found == [last - 2, last - 1, last], said
