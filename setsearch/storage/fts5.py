"""SQLite's own full-text tables (FTS5): which there are, how they make words of text, and the words that they hold."""

import re
import sqlite3
from collections.abc import Iterator, Sequence

from setsearch.errors import InvalidParameter, SourceError
from setsearch.storage.sql import quoted, table_named

_DECLARED = re.compile(r"create\s+virtual\s+table\b.*?\busing\s+fts5\s*\((.*)\)", re.I | re.S)
_OPTION = r"""(?:^|,)\s*{}\s*=\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|[^,\s]+)"""


def declaration(cursor: sqlite3.Cursor, table: str) -> str | None:
    """What stands between the parentheses of an FTS5 table's declaration; None for a table of another kind."""
    row = cursor.execute(
        "select sql from sqlite_master where type = 'table' and name = ? collate nocase", (table,)
    ).fetchone()
    found = _DECLARED.match(row[0]) if row and row[0] else None
    return found.group(1) if found else None


def option(declared: str, name: str) -> str | None:
    """The value of an option of an FTS5 table."""
    found = re.search(_OPTION.format(name), declared, re.I)
    if found is None:
        return None
    value = found.group(1)
    if value[0] in "'\"":
        return value[1:-1].replace(value[0] * 2, value[0])
    return value.strip("[]")


def tokenizer_of(declared: str) -> str:
    """The tokenizer that an FTS5 table declares."""
    return option(declared, "tokenize") or "unicode61"


def find_fts5(cursor: sqlite3.Cursor, table: str) -> tuple[str, str]:
    """The FTS5 table that searches a table (perhaps itself), and the column that is its rowid there."""
    if declaration(cursor, table) is not None:
        return table, "rowid"
    names = [name for (name,) in cursor.execute("select name from sqlite_master where type = 'table' order by name")]
    for name in names:
        declared = declaration(cursor, name)
        if declared is not None and (option(declared, "content") or "").lower() == table.lower():
            return name, option(declared, "content_rowid") or "rowid"
    raise InvalidParameter(f"no FTS5 table has the content {table!r}, so there is none to match a full text in")


def read_terms(
    cursor: sqlite3.Cursor, table: str, columns: Sequence[str], title: str | None
) -> Iterator[tuple[str, dict[str, int], str | None]]:
    """(rowid, counted terms, title) of each row, as the table has them in its own index; texts are not needed.

    Raises SourceError for a column that is not there.
    """
    have = [row[1] for row in cursor.execute(f"pragma main.table_info({quoted(table)})")]
    for name in (*columns, *filter(None, [title])):
        if name not in have:
            raise SourceError(f"the full-text table {table} has no column {name!r}; it has {', '.join(have)}")
    if columns and (option(declaration(cursor, table) or "", "detail") or "").lower() == "none":
        raise SourceError(f"the full-text table {table} (detail = none) does not know its columns; leave --text out")
    own, shown = cursor.connection.cursor(), cursor.connection.cursor()
    own.row_factory = shown.row_factory = None
    own.execute("drop table if exists temp.setsearch_terms")
    own.execute(f"create virtual table temp.setsearch_terms using fts5vocab(main, {quoted(table)}, instance)")
    try:
        within = f"where col in ({','.join('?' * len(columns))})" if columns else ""
        rows = own.execute(
            f"select doc, term, count(*) from temp.setsearch_terms {within} group by doc, term order by doc", columns
        )
        row, counts = None, dict[str, int]()
        for doc, term, count in rows:
            if doc != row and row is not None:
                yield str(row), counts, _title(shown, table, title, row)
                counts = {}
            row = doc
            counts[term] = count
        if row is not None:
            yield str(row), counts, _title(shown, table, title, row)
    finally:
        own.close()
        shown.execute("drop table if exists temp.setsearch_terms")


def _title(cursor: sqlite3.Cursor, table: str, column: str | None, rowid: int) -> str | None:
    if column is None:
        return None
    row = cursor.execute(f"select {quoted(column)} from {table_named(table)} where rowid = ?", (rowid,)).fetchone()
    return None if row is None or row[0] is None else str(row[0])
