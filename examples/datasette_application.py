"""Datasette on an indexed table: the menu of the table leads to "Expand a set of rows".

python examples/datasette_application.py [FOLDER]     makes entries.db there, and says how to serve it
"""

import json
import sqlite3
import sys
from pathlib import Path

import setsearch
from setsearch import Columns

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"


def main() -> None:
    """Make a database with one table of texts, and its index."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "entries.db"
    app = sqlite3.connect(path)
    app.execute("create table entries (id text primary key, title text, text text)")
    rows = map(json.loads, CORPUS.read_text().splitlines())
    app.executemany("insert into entries values (:id, :title, :text)", rows)
    app.commit()
    app.close()
    with setsearch.open(path) as index:
        index.add_table("entries", Columns(text="text", title="title"), track=True)
        index.refresh("now")
    print(f"now run: datasette {path}")
    print("and open: http://127.0.0.1:8001/-/setsearch/entries/entries?row=waltz&row=tango")


if __name__ == "__main__":
    main()
