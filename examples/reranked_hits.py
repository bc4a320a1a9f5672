"""Hits of a full-text search, ranked by examples. FTS5 stands for any engine that returns ids.

python examples/reranked_hits.py
"""

import json
import sqlite3
from pathlib import Path

import setsearch

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"


def main() -> None:
    """Search for "instrument", then put the hits that go with violin and cello first."""
    entries = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    engine = sqlite3.connect(":memory:")
    engine.execute("create virtual table entry using fts5(id unindexed, text)")
    engine.executemany("insert into entry values (:id, :text)", entries)
    query = "select id from entry where entry match 'instrument' order by rank limit 50"
    hits = [id for (id,) in engine.execute(query)]
    print("the engine:", ", ".join(hits[:6]))

    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    index.add((entry["id"], entry["text"]) for entry in entries)
    ranked = index.items("documents").rank(hits, seeds=["violin", "cello"])
    print("by examples:", ", ".join(hit.item for hit in ranked[:6]))


if __name__ == "__main__":
    main()
