"""The form in which readers wrote a term: of the words that have its stem, the most frequent one."""

import sqlite3
from collections import Counter

from setsearch.relation import Relation
from setsearch.text import Analyzer, words
from setsearch.texts import read_texts


def name_forms(cursor: sqlite3.Cursor, relation: Relation, analyzer: Analyzer) -> None:
    """Make the most frequent form of each term its title; of equally frequent ones the first in the alphabet."""
    counts: Counter[str] = Counter()
    for _, text in read_texts(cursor, relation):
        counts.update(words(text))
    best: dict[str, str] = {}
    for form in sorted(counts, key=lambda form: (-counts[form], form)):
        best.setdefault(analyzer.stem(form), form)
    cursor.executemany(
        "update setsearch_name set title = ? where kind = ? and name = ? and title is not ?",
        [(form, relation.features.id, term, form) for term, form in best.items()],
    )
