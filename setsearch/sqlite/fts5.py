"""SQLite's full-text tables (FTS5): their declarations and the terms of their own index."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from setsearch.errors import InvalidParameter, SourceError
from setsearch.sqlite.limits import another_cursor, limited_rows
from setsearch.sqlite.sql import Table, main_table, quote

_DECLARATION = re.compile(r"create\s+virtual\s+table\b.*?\busing\s+fts5\s*\((.*)\)", re.I | re.S)
_OPTION = r"""(?:^|,)\s*{}\s*=\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|[^,\s]+)"""


def find_declaration(table: Table) -> str | None:
    """The arguments of an FTS5 table's declaration; None for a table of another kind."""
    match = _DECLARATION.match(table.declared()[2])
    return match.group(1) if match else None


def find_option(declaration: str, name: str) -> str | None:
    """The value of an option in a declaration."""
    match = re.search(_OPTION.format(name), declaration, re.I)
    if match is None:
        return None
    value = match.group(1)
    if value[0] in "'\"":
        return value[1:-1].replace(value[0] * 2, value[0])
    return value.strip("[]")


def find_tokenizer(declaration: str) -> str:
    """The tokenizer of a declaration."""
    return find_option(declaration, "tokenize") or "unicode61"


def find_fts5(table: Table) -> tuple[str, str]:
    """The FTS5 table that indexes a table (perhaps itself), and the table's column that is its rowid."""
    if find_declaration(table) is not None:
        return table.name, "rowid"
    rows = table.cursor.execute("select name from sqlite_master where type = 'table' order by name")
    for (name,) in rows.fetchall():
        declaration = find_declaration(table._replace(name=name))
        if declaration is not None and (find_option(declaration, "content") or "").lower() == table.name.lower():
            return name, find_option(declaration, "content_rowid") or "rowid"
    raise InvalidParameter(f"no FTS5 table has the content {table.name!r}, which `match` searches; create one")


def read_terms(
    table: Table, columns: Sequence[str], title: str | None
) -> Iterator[tuple[str, dict[str, int], str | None]]:
    """(rowid, counted terms, title) of each row, from the table's own index; texts are not read.

    Raises SourceError for a missing column.
    """
    cursor, own = table.cursor, quote(table.name)
    existing = [row[1] for row in cursor.execute(f"pragma main.table_info({own})")]
    for name in (*columns, *filter(None, [title])):
        if name not in existing:
            raise SourceError(f"the full-text table {table.name} has no column {name!r}; it has {', '.join(existing)}")
    if columns and (find_option(find_declaration(table) or "", "detail") or "").lower() == "none":
        raise SourceError(f"the full-text table {table.name} (detail = none) stores no columns; name no text column")
    titles = table._replace(cursor=another_cursor(cursor))
    titles.cursor.execute("drop table if exists temp.setsearch_terms")
    titles.cursor.execute(f"create virtual table temp.setsearch_terms using fts5vocab(main, {own}, instance)")
    try:
        condition = f"where col in ({','.join('?' * len(columns))})" if columns else ""
        statement = f"select doc, term, count(*) from temp.setsearch_terms {condition} group by doc, term order by doc"
        rows = limited_rows(cursor, f"reading {table.name}", statement, columns)
        for rowid, found in groupby(rows, itemgetter(0)):
            yield str(rowid), {term: count for _, term, count in found}, _title(titles, title, rowid)
    finally:
        rows.close()
        titles.cursor.execute("drop table if exists temp.setsearch_terms")


def _title(table: Table, column: str | None, rowid: int) -> str | None:
    if column is None:
        return None
    statement = f"select {quote(column)} from {main_table(table.name)} where rowid = ?"
    rows = table.cursor.execute(statement, (rowid,)).fetchall()
    return None if not rows or rows[0][0] is None else str(rows[0][0])
