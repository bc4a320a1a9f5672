"""Titles of the items of a relation, from another file."""

from setsearch.errors import SourceError
from setsearch.indexing.rows.cell_rules import read_titles
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns


def titles_by_item(rows: RowReader, path: str, columns: Columns) -> dict[str, str]:
    """Titles by item, from rows or from references, which have several names. Raises SourceError."""
    reader = SourceReader(Columns(), rows)
    if reader.texts(path, path) is None:
        return read_titles(rows, path, columns)
    references = [reference for _, reference in reader.references(path)]
    if not references:
        raise SourceError(f"{path} has no titles; give rows with the columns of items and titles, or references")
    named = ((name, own.first("title")) for own in references for name in (own.own_key, own.pmid, own.doi))
    return {name: title for name, title in named if name and title}
