"""A Flask application that searches a Whoosh index, with sets in its queries and "more like this" beside its hits.

flask --app examples/flask_application.py run
http://127.0.0.1:5000/search?q=like:(violin cello) wind
http://127.0.0.1:5000/like/violin
"""

import json
import tempfile
from pathlib import Path

from flask import Flask, abort, request
from whoosh import fields, qparser
from whoosh.analysis import StemmingAnalyzer
from whoosh.index import create_in

from setsearch.integrations.whoosh import WhooshSets

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"
SCHEMA = fields.Schema(id=fields.ID(stored=True, unique=True), text=fields.TEXT(StemmingAnalyzer(), stored=True))


def create_app() -> Flask:
    """The application, with an index of the sample corpus in a new folder."""
    app, folder = Flask(__name__), tempfile.mkdtemp()
    index = create_in(folder, SCHEMA)
    writer = index.writer()
    for number, entry in enumerate(map(json.loads, CORPUS.read_text().splitlines())):
        if number % 4 == 0 or entry["id"] in ("violin", "cello"):
            writer.add_document(id=entry["id"], text=entry["text"])
    writer.commit()
    sets = WhooshSets(index, Path(folder) / "sets.db", id="id", fields="text")
    sets.update()
    parser = qparser.QueryParser("text", SCHEMA)
    parser.add_plugin(sets.plugin())

    @app.get("/search")
    def search():
        with index.searcher() as searcher:
            hits = searcher.search(parser.parse(request.args.get("q", "")), limit=10)
            return [{"id": hit["id"], "marked": hit.highlights("text")} for hit in hits]

    @app.get("/like/<name>")
    def like(name: str):
        with index.searcher() as searcher:
            docnum = searcher.document_number(id=name)
            if docnum is None:
                abort(404)
            return [hit["id"] for hit in sets.more_like(searcher, docnum, top=5)]

    @app.post("/entries/<name>")
    def write(name: str):
        writer = index.writer()
        writer.update_document(id=name, text=request.get_data(as_text=True))
        writer.commit()
        sets.update()
        return {"written": name}

    return app
