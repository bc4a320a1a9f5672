"""An SQLite application gets "more like these": its own tables, triggers and filters stay as they are.

python examples/sqlite_application.py
"""

import json
import sqlite3
from pathlib import Path

import setsearch
from setsearch import Columns, Where

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"


def main() -> None:
    """Make the application's table, index it, change it, ask."""
    app = sqlite3.connect(":memory:")
    app.execute("create table entries (id text primary key, title text, text text, hidden int default 0)")
    rows = map(json.loads, CORPUS.read_text().splitlines())
    app.executemany("insert into entries (id, title, text) values (:id, :title, :text)", rows)

    index = setsearch.open(app)
    index.add_table("entries", Columns(text="text", title="title"), track=True)
    dances = ["waltz", "tango"]
    print("like waltz and tango:")
    for hit in index.items("documents").expand(dances, 5):
        print(f"  {hit.title}  {hit.score:.3f}")

    app.execute("update entries set hidden = 1 where title = 'minuet'")
    app.execute(
        "insert into entries (id, title, text) values ('x', 'zwiefacher', 'a Bavarian ballroom dance to a tune')"
    )
    print("the application wrote;", index.refresh())
    print("and what is not hidden:")
    for hit in index.items("documents").expand(dances, 5, among=Where("not hidden")):
        print(f"  {hit.title}  {hit.score:.3f}")

    setsearch.register(app)
    print("in SQL, dances with 'Spanish' in their text, by how well they go with the two:")
    statement = """
        select title, setsearch_score(id, 'waltz, tango') as score from entries
        where text like '%spanish%' order by score desc limit 3
    """
    for title, score in app.execute(statement):
        print(f"  {title}  {score:.3f}")
    index.drop()


if __name__ == "__main__":
    main()
