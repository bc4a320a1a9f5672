"""A set as a query of another engine: what `Reading.query` gives, in the engine's words.

    python examples/other_engines.py    # shows two of the four

    query = index.items("documents").query(["doc-1", "doc-2"], 100)
    searcher.search(tantivy_query(query, schema, "body"), 10)
    cursor.execute(*postgres_query(query, "articles", "id", "words", 10))
    parser.parse(lucene_query(query, "body"))                 # Lucene, Solr, query_string of Elasticsearch
    client.search(query=elasticsearch_query(query, "body"))   # and OpenSearch

Each feature adds a constant amount to the documents that have it. With the model "bernoulli" that is the score without
its base, which is small; with others also without counts and lengths. The engine must have the same terms: index what
our analyzer makes of a text, or let our index read the engine's terms. Negative amounts are left out, since engines
have none.
"""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import setsearch
from setsearch.answers.results import WeightedQuery

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"
_special = re.compile(r'(["\\])')


def lucene_query(query: WeightedQuery, field: str) -> str:
    """A query in the syntax of Lucene on the terms of a field; its `maxClauseCount` limits the number of features.

    A range from a term to itself is that term as it is, without an analyzer, and adds its boost alone.
    """
    terms = ((_special.sub(r"\\\1", feature), amount) for feature, amount in _positive(query))
    return " ".join(f'{field}:["{term}" TO "{term}"]^{amount:.12f}' for term, amount in terms)


def elasticsearch_query(query: WeightedQuery, field: str) -> dict[str, Any]:
    """A query of Elasticsearch and OpenSearch on the terms of a field, as JSON."""
    should = [
        {"constant_score": {"filter": {"term": {field: {"value": feature}}}, "boost": amount}}
        for feature, amount in _positive(query)
    ]
    return {"bool": {"should": should}}


def tantivy_query(query: WeightedQuery, schema: Any, field: str) -> Any:
    """A query of tantivy on the terms of a field."""
    import tantivy

    terms = ((tantivy.Query.term_query(schema, field, name, "basic"), amount) for name, amount in _positive(query))
    return tantivy.Query.boolean_query(
        [(tantivy.Occur.Should, tantivy.Query.const_score_query(term, amount)) for term, amount in terms]
    )


def postgres_query(query: WeightedQuery, table: str, id: str, words: str, k: int) -> tuple[str, list[Any]]:
    """A statement of Postgres and its parameters: id and score of the k best rows by `words`, a column of tsvector.

    Names of table and columns are taken as they are. An index on `words` (gin) serves.
    """
    statement = f"""
        select t.{id}, sum(q.value::float8) as score
        from json_each_text(%s) q join {table} t on t.{words} @@ quote_literal(q.key)::tsquery
        group by t.{id} order by score desc, t.{id} limit %s
    """
    return statement, [json.dumps(dict(_positive(query))), k]


def _positive(query: WeightedQuery) -> list[tuple[str, float]]:
    return [(feature, amount) for feature, amount in query.weights if amount > 0]


def main() -> None:
    """Print the set of violin and cello as a query of Lucene and of Elasticsearch."""
    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    entries = map(json.loads, CORPUS.read_text().splitlines())
    index.add((entry["id"], entry["text"]) for entry in entries)
    query = index.items("documents").query(["violin", "cello"], 3)
    print("Lucene:", lucene_query(query, "body"))
    print("Elasticsearch:", json.dumps(elasticsearch_query(query, "body")))


if __name__ == "__main__":
    main()
