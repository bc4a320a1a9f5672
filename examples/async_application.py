"""An asynchronous application: it writes by aiosqlite, and asks setsearch in threads, so that its loop never waits.

python examples/async_application.py
"""

import asyncio
import json
import tempfile
from pathlib import Path

import aiosqlite

import setsearch

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"


async def like(index: setsearch.Index, examples: list[int]) -> list[int]:
    """The rows that belong most with the examples, after what was written has been indexed."""
    await asyncio.to_thread(index.refresh)
    hits = await asyncio.to_thread(index.items("documents").expand, examples, 5)
    return [int(hit.item) for hit in hits]


async def main(path: Path) -> None:
    """Make the application's table, follow it, write and ask at the same time."""
    async with aiosqlite.connect(path) as app:
        await app.execute("create table entries (id integer primary key, title text, text text)")
        rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
        chosen = [row for number, row in enumerate(rows) if number % 8 == 0 or row["id"] in ("violin", "cello")]
        await app.executemany("insert into entries (title, text) values (:title, :text)", chosen)
        await app.commit()

        index = setsearch.open(path)  # one for the process; threads may share it
        roles = setsearch.Columns(id="id", text=("title", "text"), title="title")
        await asyncio.to_thread(index.add_table, "entries", roles, track=True)
        found = await app.execute_fetchall("select id from entries where title in ('violin', 'cello')")
        examples = [id for (id,) in found]
        questions = [asyncio.create_task(like(index, examples)) for _ in range(3)]
        await app.execute(
            "insert into entries (title, text) values ('zither', 'a stringed instrument that is plucked')"
        )
        await app.commit()
        await asyncio.gather(*questions)
        ids = await like(index, examples)
        titles = dict(await app.execute_fetchall("select id, title from entries"))
        print("like violin and cello:", ", ".join(titles[id] for id in ids))
        index.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "app.db"))
