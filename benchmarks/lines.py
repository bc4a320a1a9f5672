"""Which mechanism holds how many lines of Python in setsearch/, and for whom: a table in Markdown.

python benchmarks/lines.py
"""

from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "setsearch"
HOLDERS = {  # the first one that has a file counts it
    "migrations of files of 0.1 on": ("sqlite/migrations.py", "who has such a file"),
    "saved sets, groups, inbox, growth": (
        "answers/saved/* cli/commands/sets.py cli/commands/inbox.py "
        "cli/commands/grow.py cli/dialogue.py cli/set_files.py",
        "who lives with sets",
    ),
    "references and reviews": (
        "indexing/references/* indexing/formats/references.py learning/review*.py learning/stopping.py "
        "learning/known_answers.py text/latex.py text/identifiers.py cli/commands/review.py web/review.py",
        "reviewers",
    ),
    "files, formats, rows": (
        "indexing/files.py indexing/folders.py indexing/formats/* indexing/rows/* indexing/encodings.py "
        "indexing/libraries.py indexing/frames.py indexing/sources.py cli/source_options.py",
        "who indexes folders and exports",
    ),
    "tables that are followed, suggestions": (
        "indexing/sync.py indexing/triggers.py indexing/suggest.py storage/synced_source.py sqlite/fts5.py",
        "applications on SQLite",
    ),
    "Spark": ("spark/* cli/commands/spark.py", "clusters"),
    "page and API": ("web/* cli/commands/serve.py pool.py", "who asks in a browser, or by HTTP"),
    "other doors": ("integrations/*", "Datasette, Whoosh, tantivy, SQL, sqlite-utils, assistants, scikit-learn, SKOS"),
    "vectors": (
        "*/vectors.py */*/vectors.py cli/commands/vectors.py text/encoder.py memory/contexts/latent_words.py "
        "search/latent_items.py search/meaning.py",
        "meaning beside words",
    ),
    "evaluation and learned weights": ("learning/* cli/commands/learning.py", "who compares models on own sets"),
    "contexts of words": (
        "memory/contexts/word_contexts.py memory/contexts/neighbors.py memory/contexts/derivation.py "
        "text/contexts.py text/token_stream.py "
        "text/shown_forms.py storage/generations.py scoring/smoothing.py answers/word_notes.py",
        "words as items",
    ),
    "fields, tags, numbers, kept columns": (
        "indexing/writing/item_fields.py storage/feature_fields.py storage/kept/records.py storage/kept/numbers.py "
        "storage/kept/conditions.py text/numbers_and_dates.py answers/numeric.py models/gaussian.py memory/where.py "
        "storage/kept/columns.py storage/kept/texts.py",
        "evidence beside the text",
    ),
    "reasons, snippets, pictures, finding": (
        "answers/reasons.py answers/contributions.py answers/passages.py answers/highlight.py answers/picture.py "
        "answers/overview.py answers/finding.py answers/tables.py text/function_words.py text/headline.py "
        "text/matching.py storage/name_search.py",
        "who wants to know why",
    ),
    "command line": ("cli/*", "everybody"),
    "connections, transactions, integrity": ("sqlite/* indexing/check.py", "everybody"),
    "what is stored and kept in memory": ("storage/* memory/* indexing/* upkeep.py", "everybody"),
    "from texts to terms": ("text/*", "everybody"),
    "questions": ("search/* answers/* scoring/* models/* core/* arrays.py lists.py options.py", "everybody"),
    "front door": ("*.py", "everybody"),
}


def main() -> None:
    """Print the table, the largest holders first."""
    left, rows = {*PACKAGE.rglob("*.py")}, []
    for name, (patterns, users) in HOLDERS.items():
        own = {path for pattern in patterns.split() for path in PACKAGE.glob(pattern)} & left
        own |= {path for pattern in patterns.split() if pattern.endswith("/*") for path in left & _below(pattern)}
        left -= own
        rows.append((sum(len(path.read_text().splitlines()) for path in own), name, users))
    assert not left, sorted(left)
    print("| lines | what | for whom |\n|---|---|---|")
    for count, name, users in sorted(rows, reverse=True):
        print(f"| {count:,} | {name} | {users} |")
    print(f"| {sum(count for count, *_ in rows):,} | all | |")


def _below(pattern: str) -> set[Path]:
    return {*(PACKAGE / pattern.removesuffix("/*")).rglob("*.py")}


if __name__ == "__main__":
    main()
