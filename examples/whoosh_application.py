"""A Whoosh application whose users type sets: ~{waltz, tango}, or like:(violin cello), next to ordinary terms.

python examples/whoosh_application.py ["QUERY"]
"""

import json
import sys
import tempfile
from pathlib import Path

from whoosh import fields, qparser
from whoosh.analysis import StemmingAnalyzer
from whoosh.index import create_in

from setsearch.integrations.whoosh import WhooshSets

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"
QUERIES = ["like:(violin cello)", "like:(violin cello) wind", "~{waltz, tango}"]


def main() -> None:
    """Build the application's index, let setsearch follow it, answer queries."""
    with tempfile.TemporaryDirectory() as folder:
        text = fields.TEXT(analyzer=StemmingAnalyzer(), stored=True)
        whoosh_index = create_in(folder, fields.Schema(id=fields.ID(stored=True, unique=True), text=text))
        writer = whoosh_index.writer()
        entries = [json.loads(line) for line in CORPUS.read_text().splitlines()]
        for number, entry in enumerate(entries):
            if number % 4 == 0 or entry["id"] in ("violin", "cello", "waltz", "tango"):
                writer.add_document(id=entry["id"], text=entry["text"])
        writer.commit()

        sets = WhooshSets(whoosh_index, Path(folder) / "sets.db", id="id", fields="text")
        print(sets.update())
        parser = qparser.QueryParser("text", whoosh_index.schema)
        parser.add_plugin(sets.plugin())
        with whoosh_index.searcher() as searcher:
            for asked in sys.argv[1:] or QUERIES:
                results = searcher.search(parser.parse(asked), limit=5)
                print(f"{asked}:", ", ".join(hit["id"] for hit in results))
        sets.close()


if __name__ == "__main__":
    main()
