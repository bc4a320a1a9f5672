"""SQL helpers: quoted names, and what tables look like."""

import sqlite3
from typing import NamedTuple


def quote(name: str) -> str:
    """A table or column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def main_table(name: str) -> str:
    """A table of the main database, not of an attached or the temporary one, as an SQL identifier."""
    return "main." + quote(name)


def as_stored(column: str) -> str:
    """A column, given as SQL, as it is stored: a host's connection may convert columns by their types, but no terms."""
    return f"+{column}"


class Table(NamedTuple):
    """A table or a view, such as the host has, as one transaction sees it."""

    cursor: sqlite3.Cursor
    name: str

    def columns(self) -> list[str]:
        """The visible columns; empty if there is no such table."""
        rows = self.cursor.execute(f"pragma main.table_xinfo({quote(self.name)})").fetchall()
        return [row[1] for row in rows if row[6] != 1]  # without the hidden columns of virtual tables

    def primary_key(self) -> list[str]:
        """The columns of the primary key, in their order there; empty without one."""
        info = self.cursor.execute(f"pragma main.table_info({quote(self.name)})").fetchall()
        return [name for _, name, *_, place in sorted(info, key=lambda row: row[5]) if place]

    def has_rowid(self, columns: list[str]) -> bool:
        """Whether `rowid` names the row number: not in views, and not if one of the `columns` has this name."""
        if "rowid" in map(str.lower, columns):
            return False
        try:
            self.cursor.execute(f"select rowid from {main_table(self.name)} limit 0")
        except sqlite3.Error:
            return False
        return self.declared()[0] == "table"

    def is_key(self, name: str) -> bool:
        """Whether a column is the primary key; `rowid` is that of a table without one."""
        primary = self.primary_key()
        return primary == [name] or (name == "rowid" and not primary)

    def is_stored(self) -> bool:
        """Whether it holds its rows, so that there is an end to them: no view, no virtual table."""
        type, _, sql = self.declared()
        return type == "table" and not sql.lower().startswith("create virtual")

    def order_of_rows(self, by_rowid: bool) -> str:
        """The clause that gives the rows the same order whatever condition selects them, if it is stored."""
        order = "rowid" if by_rowid else ", ".join(map(quote, self.primary_key()))
        return f"order by {order}" if order and self.is_stored() else ""

    def declared(self) -> tuple[str, str, str]:
        """Its type, table or view, its name in the case in which it was declared, and how; empty if it is not there."""
        statement = (
            "select type, name, sql from sqlite_master where name = ? collate nocase and type in ('table', 'view')"
        )
        type, name, sql = self.cursor.execute(statement, (self.name,)).fetchone() or ("", "", "")
        return type, name, sql or ""

    def missing(self, database: str = "the database") -> str:
        """That it is not there, for people, with the names of those that are."""
        statement = "select name from pragma_table_list where schema = 'main' and type != 'shadow' order by name"
        rows = self.cursor.execute(statement)
        tables = ", ".join(name for (name,) in rows if not name.startswith(("sqlite_", "setsearch_")))
        elsewhere = "select schema from pragma_table_list where name = ? collate nocase"
        (schema,) = self.cursor.execute(elsewhere, (self.name,)).fetchone() or ("",)
        hint = f"; {schema!r} has one, and an index follows tables of its own file" if schema else ""
        return f"there is no table {self.name!r} in {database}; it has {tables or 'none'}{hint}"
