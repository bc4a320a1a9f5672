"""How tables could be indexed, or rows: which columns are text, fields, or nothing, by some of their rows.

A column of JSON arrays has tags, if these are no texts, and so has one of short texts that come again, perhaps several
in a cell, and a foreign key, which may also be told by its name, author_id for a table authors. Numbers of many values
that are no ids, and dates, are a field. Short texts are the text of a table that has no longer ones, names that of a
table that has none, and the key that of one with nothing but numbers and ids. Two columns of another table, all that it
has, its key, or its foreign keys, of which one refers to a table, are tags of that one, unless they are longer; or
links, both ways, if both refer to it. So is a column of ids of its own table, or of lists of such. Ids of a table whose
rows have different names count by these. A table whose rows are two ids, and perhaps numbers, is a relation, as are
orders, of a user and a product, and pairs in a file of names that come again. A comma separates tags where these are
fewer than the cells with several, as it is in names such as "Austen, Jane" too.

The rows of a file become a table without a key: the column `id` is one, or one whose name ends so, or of other codes.
"""

import json
import re
import shlex
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from setsearch.errors import SourceError
from setsearch.indexing.rows.cells import LISTS, OpenCells, Row, is_open, names_within
from setsearch.indexing.rows.table_rows import opened
from setsearch.options import TEXT_FIELD
from setsearch.sqlite.connections import OwnConnection
from setsearch.sqlite.limits import LimitedCursor, limited_rows
from setsearch.sqlite.sql import Table, main_table, quote
from setsearch.storage.feature_fields import RESERVED, as_days
from setsearch.storage.synced_source import Columns, field_and_column, id_name, joined
from setsearch.text.numbers_and_dates import PLAIN_NUMBER, bare_number, plain_cell

LOOKED_AT = 500  # rows at the beginning, and as many all over the table, whose rows may be in the order of a column
COMMA = ","
SEPARATORS = ("|", ";", COMMA)  # of several tags in a cell
WORDS = 4  # of a text, on average; fewer are a name
OFTEN = 2  # times that a name comes, on average, to be a tag
SHARED = 0.5  # or which part of the rows have one that another row has too: authors with one book each, and others
VALUES = 10  # of a number that is more than a kind
SHORT = "short"  # texts that do not come again
PEOPLE = ("user", "person", "reader", "customer", "member", "account")  # how columns begin that have who likes
LEAST_OF_VECTOR = 8  # numbers; a pair is a place, four are a box
CODE_DIGITS = 8  # of whole numbers that all have as many: ISBNs and times are no numbers to compare
MOST_COLUMNS = 500  # of a file that are looked at; a table of SQLite has 2,000 at most
FIELDS = ("--tags", "--links", "--numbers")
ROWS = "rows"  # the table that holds those of a file
# How the names of tables begin in which Django, Rails, SQLAlchemy and others keep what is theirs.
OF_FRAMEWORKS = (
    *("django_", "auth_", "account_email", "socialaccount_", "authtoken_", "celery_", "wagtailcore_"),
    *("alembic_version", "ar_internal_metadata", "active_storage_", "schema_migrations", "knex_", "_prisma"),
    "migrations",
)
THINGS = ("product", "item", "film", "movie", "book", "article", "sku", "track", "song", "artist", "game")  # they like
_is_title = re.compile(r"title|name|label|subject|headline|.*\.(?:title|headline)(?:\[\w*\])?", re.IGNORECASE).fullmatch
_ends_as_title = re.compile(r".*[\W_](?:title|name)", re.IGNORECASE).fullmatch
_names_id = re.compile(r"(?:.*[\W_])?[iI][dD]|.*[a-z]I[dD]", re.DOTALL).fullmatch
_padded = re.compile(r"0\d+").fullmatch
_reserved = re.compile(f"[{RESERVED}]")


Choice = list[tuple[str, str]]  # options of `index`, each with its value


class _Link(NamedTuple):
    column: str
    table: str
    key: str | None = None  # there; None: its primary key


def suggest(database: Path) -> list[str]:
    """A command for each table of a file that has texts, or is a relation, most text first. Raises SourceError."""
    try:
        with closing(opened(database)) as connection:
            host = _Host(connection.cursor(LimitedCursor))
            found = dict(sorted(host.commands().items(), key=lambda own: host.place(*own)))
    except sqlite3.Error as error:
        raise SourceError(f"the tables of {database} cannot be read: {error}") from error
    return [
        shlex.join(
            ["setsearch", "index", str(database), "--table", table, *chain.from_iterable(options), "--track"]
            + ["--collection", table.replace("/", "-")] * (len(found) > 1)
        )
        for table, options in found.items()
    ]


def columns_of(own: Table) -> Columns | None:
    """What `suggest` says of the columns of a table as documents, not of other tables; None for one of no documents."""
    host, table = _Host(own.cursor), own.name
    if table not in host.tables:
        return None
    options = host.options(table, alone=True) or host.options(table, alone=True, of_names=True)
    if options is None:
        return None
    found: dict[str, list[str]] = {}
    for name, value in options:
        found.setdefault(name.removeprefix("--"), []).append(value)
    text, tags, links_to, numbers = (tuple(found.get(name, ())) for name in ("text", "tags", "links", "numbers"))
    title, split = (found.get(name, [None])[0] for name in ("title", "split"))
    return Columns(found["id"][0], text, title, tags=tags, links=links_to, numbers=numbers, split=split)


def suggest_rows(db: str, source: str, rows: Iterable[Row]) -> tuple[str, list[str]] | None:
    """The command for a file of rows, and the columns that it leaves out; None without texts and no relation."""
    columns = _columns_of([values for _, values in islice(rows, 2 * LOOKED_AT)])
    if not columns:
        return None
    if 2 * sum(name in cells for name, cells in columns.items()) > len(columns):
        first = ", ".join(columns)
        raise SourceError(f"{source} has its first line, {first:.60}, among its rows; put one line of names above them")
    if pair := _pair(columns):
        return shlex.join(["setsearch", "index", db, source, "--items", pair[0], "--features", pair[1]]), []
    key, filled = _key(columns), [name for name, cells in columns.items() if any(cells)]
    columns = {
        name: cells for name, cells in columns.items() if name == key or not (_counts(cells) or _are_vectors(cells))
    }
    with closing(sqlite3.connect(":memory:", factory=OwnConnection)) as connection:
        cursor = connection.cursor(LimitedCursor)
        described = ", ".join(quote(name) + " primary key" * (name == key) for name in columns)
        cursor.execute(f"create table {ROWS} ({described})")
        marks = ", ".join("?" * len(columns))
        cursor.executemany(f"insert into {ROWS} values ({marks})", zip(*columns.values(), strict=True))
        found = _Host(cursor).commands().get(ROWS)
    if found is None:
        return None
    if ("--text", "rowid") in found and "rowid" not in columns:
        return None  # rows of a file have numbers, which are no text
    told = {field_and_column(name)[1] for option, name in found if option in FIELDS}
    columns.pop(key or "", None)
    kept = [name for name, cells in columns.items() if COMMA not in name and (name in told or _are_numbers(cells))]
    used = {*kept, *told, *(name for _, name in found)}
    if kept and not any(option == "--items" for option, _ in found):
        found.append(("--keep-columns", COMMA.join(kept)))
    shown = chain.from_iterable(own for own in found if own != ("--id", "rowid"))
    outer = {name[: own.start()] for name in columns for own in re.finditer(r"\.", name)}  # of an empty list of objects
    left_out = [name for name in filled if name not in {*used, *outer}]
    return shlex.join(["setsearch", "index", db, source, *shown]), left_out


def _pair(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """The items and the features of rows of two names that both come again; empty for others."""
    for cells in columns.values():
        are_names = all(isinstance(cell, str) and not cell.startswith(LISTS) for cell in cells)
        if len(columns) != 2 or not are_names or len(cells) < OFTEN * len({*cells}):
            return []
    return sorted(columns, key=lambda name: name.lower().startswith(PEOPLE))


def _named(column: str) -> str:
    """A column as the option of a field has it: with a name of its own if its name can be none."""
    name = _reserved.sub(" ", column)
    return column if name == column and joined(column) is None else f"{name.replace('.', ' ').strip()}={column}"


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of columns, as a table may have them: of those whose names differ in their case alone the first."""
    names = dict[str, str]()
    for name in (name for row in rows for name in names_within(row)):
        if name and "\0" not in name:
            names.setdefault(name.lower(), name)
    rows = [row if is_open(row) else OpenCells(row) for row in rows]
    return {name: _stored([plain_cell(row[name]) for row in rows]) for name in [*names.values()][:MOST_COLUMNS]}


def _counts(cells: Sequence[Any]) -> bool:
    """Whether a column numbers the rows, or has codes of as many digits as each other."""
    codes = [cell for cell in cells if cell is not None]
    are_codes = all(isinstance(cell, str) and cell.isdecimal() for cell in codes)
    return are_codes or cells == [*range(1, len(cells) + 1)]


def _are_vectors(cells: Sequence[Any]) -> bool:
    """Whether a column has lists of as many numbers each, more than tags are, and not all whole."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    lists = [json.loads(text) for text in texts] if texts and _are_json(texts) else []
    values = [value for own in lists for value in own]
    are_numbers = all(isinstance(value, (int, float)) for value in values)
    has_fractions = are_numbers and any(value != int(value) for value in values)
    return has_fractions and len({*map(len, lists)}) == 1 and len(lists[0]) >= LEAST_OF_VECTOR


def _are_numbers(cells: Sequence[Any]) -> bool:
    return any(cells) and all(cell is None or isinstance(cell, float) for cell in cells)


def _stored(cells: Sequence[Any]) -> list[Any]:
    """The cells of a column: numbers if all are, but no codes; else texts, with lists as JSON; null for none."""
    texts = [
        json.dumps(cell, default=str) if isinstance(cell, (list, dict)) else "" if cell is None else str(cell)
        for cell in cells
    ]
    there = [text for text in texts if text.strip()]
    lengths = {len(text) if text.isdecimal() else 0 for text in there}
    are_codes = (len(lengths) == 1 and min(lengths) >= CODE_DIGITS) or any(map(_padded, there))
    are_numbers = not are_codes and all(PLAIN_NUMBER.fullmatch(bare_number(text)) for text in there)
    return [None if not text.strip() else float(bare_number(text)) if are_numbers else text for text in texts]


def _key(columns: Mapping[str, list[Any]]) -> str | None:
    """The first column of ids, which are all there and differ: by its name, or texts without blanks, such as URLs.

    Two columns of ids among nothing but numbers are a relation, whose features may differ in the first rows. What is
    within another object, or in a list, is an id of that.
    """
    are_two = sum(_names_id(name) is not None for name in columns) == 2
    if are_two and all(_are_numbers(cells) or _counts(cells) for cells in columns.values()):
        return None
    depth = min(name.count(".") for name in columns)
    own = {name: cells for name, cells in columns.items() if name.count(".") == depth or _names_id(name.split(".")[0])}
    keys = {name: cells for name, cells in own.items() if None not in cells and len({*cells}) == len(cells)}
    patterns = re.compile("id", re.IGNORECASE).fullmatch, _names_id, re.compile(r"(?:.*\.)?(?:number|key)").fullmatch
    named = [name for own in patterns for name in keys if own(name)]
    whole = [name for name in keys if name.lower().endswith("id") and all(map(_is_whole, keys[name]))]  # geonameid
    codes = [name for name, cells in keys.items() if not _is_title(name) and all(map(_is_code, cells))]
    return next(iter([*named, *whole, *codes]), None)


def _is_whole(cell: Any) -> bool:
    return isinstance(cell, float) and cell.is_integer()


def _is_code(cell: Any) -> bool:
    return (
        isinstance(cell, str) and len(cell.split()) == 1 and as_days(cell) is None and not cell.startswith(("[", "{"))
    )


class _Host:
    """The tables of a database, but for virtual ones and what these have; each thing is looked for once."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        rows = cursor.execute(
            "select name from pragma_table_list where schema = 'main' and type = 'table' order by name"
        )
        self.tables = [name for (name,) in rows.fetchall() if not name.startswith(("setsearch_", "sqlite_"))]
        self._columns = cache(lambda table: Table(cursor, table).columns())
        self._primary = cache(lambda table: Table(cursor, table).primary_key())
        self._links, self._values = cache(self._find_links), cache(self._some_values)
        self._names_of = cache(self._find_names)

    def commands(self) -> dict[str, Choice]:
        """The options of each table that has some."""
        found = {table: options for table in self.tables if (options := self.options(table)) is not None}
        named = ((table, joined(value)) for table, options in found.items() for _, value in options)
        given = {(table, own.rows.table) for table, own in named if own}
        fields = {other for table, other in given if other != table and len(self._described(other)) == 2}
        found = {table: options for table, options in found.items() if table not in fields or self._primary(table)}
        for table in self.tables:
            if table not in found and table not in fields:
                options = self._relation(table) or self.options(table, of_names=True)
                found |= {table: options} if options is not None else {}
        return found

    def place(self, table: str, options: Choice) -> tuple[bool, int]:
        """What sorts tables: those with more words in their texts first, those of frameworks behind all others."""
        texts = [self._values(table, name) for option, name in options if option == "--text" and name != "rowid"]
        return table.lower().startswith(OF_FRAMEWORKS), -sum(len(str(cell).split()) for own in texts for cell in own)

    def options(self, table: str, of_names: bool = False, alone: bool = False) -> Choice | None:
        """The options of a table of documents; None if it has no key of one column, or bytes there, or no text.

        `of_names`: names, or else the key, are its text. `alone`: without what other tables have, and rows that have
        another key are known by their rowid.
        """
        key = self._key(table, alone)
        if key is None:
            return None
        values = {name: self._values(table, name) for name in self._columns(table) if name != key}
        separator = next(filter(None, map(_separator, values.values())), None)
        kinds = self._kinds(table, key, values, separator)
        titles = [name for name, kind in kinds.items() if kind in ("--text", SHORT) and _is_title(name)]
        title = titles[:1] or _only_title(kinds)
        if "--text" not in kinds.values():
            short = [name for name, kind in kinds.items() if kind == SHORT]
            names = [name for name, own in values.items() if kinds[name] == "--tags" and own and _are_names(own)]
            others = names or [key] * any(kinds.values())
            kinds |= dict.fromkeys(titles or short or (others if of_names else ()), "--text")
        if "--text" not in kinds.values():
            return None
        options = [("--id", key)]
        for name, kind in kinds.items():
            options += [("--title", name)] * (name in title)
            if kind not in (None, SHORT):
                step = None if alone or kind != "--tags" else self._step(table, name)
                named = _named(name) if kind in FIELDS else name
                options.append((str(kind), f"{table}.{key}={name},{step}" if step else named))
        options += [] if separator is None else [("--split", separator)]
        return [*options, *(() if alone else self._of_others(table))]

    def _key(self, table: str, alone: bool) -> str | None:
        """The column that names the rows of a table, or its rowid; None if neither does."""
        columns, primary = self._columns(table), self._primary(table)
        if len(primary) == 1 and not any(isinstance(value, bytes) for value in self._values(table, primary[0])):
            return primary[0]
        return "rowid" if (alone or not primary) and Table(self._cursor, table).has_rowid(columns) else None

    def _kinds(
        self, table: str, key: str, values: Mapping[str, list[Any]], separator: str | None
    ) -> dict[str, str | None]:
        """The option for each column but the key, by its values, and by what it refers to."""
        links = {own.column: own for own in self._links(table)}
        kinds = {name: "--tags" if name in links else _kind(name, own, separator) for name, own in values.items()}
        for name in [name for name, kind in kinds.items() if kind == "--tags"]:
            link = links.get(name)
            is_own = link is not None and link.table == table and link.key in (None, key)
            if is_own or (link is None and self._lists_ids(table, key, values[name], separator)):
                kinds[name] = "--links"
        return kinds

    def _step(self, table: str, column: str) -> str | None:
        """The step that leads from the ids of a column to names; None without, or if its field has a column's name."""
        link = next((own for own in self._links(table)[::-1] if own.column == column), None)
        stem = id_name(column)  # without "_id" it may be a field
        is_free = stem is None or stem[1] not in self._columns(table)
        return self._names_of(link, table) if link is not None and is_free else None

    def _lists_ids(self, table: str, key: str, cells: Sequence[Any], separator: str | None) -> bool:
        """Whether cells are lists of ids of the same table, most of them, and not the same few."""
        texts = [cell for cell in cells if isinstance(cell, str)]
        if len(texts) < len(cells) or not self._primary(table):
            return False
        are_json = _are_json(texts)
        parts = {
            str(part).strip() for cell in texts for part in (json.loads(cell) if are_json else cell.split(separator))
        }
        exists = f"select 1 from {main_table(table)} where {quote(key)} = ?"
        known = sum(self._cursor.execute(exists, (part,)).fetchone() is not None for part in parts)
        return len(parts) > VALUES and 2 * known > len(parts)

    def _find_links(self, table: str) -> list[_Link]:
        """The foreign keys of a table; of one that declares none, the columns that are named after another table.

        One without "_id" has ids of that table.
        """
        rows = self._cursor.execute(f"pragma main.foreign_key_list({quote(table)})").fetchall()
        if rows:
            return [_Link(row[3], row[2], row[4]) for row in rows]
        known = {form: name for name in self.tables for form in _singulars(name.lower())}
        found = []
        for name in self._columns(table):
            stem = id_name(name)
            other = known.get((stem[1] if stem else name).lower(), table)
            if other != table and (stem or self._has_ids(table, name, other)):
                found.append(_Link(name, other))
        return found

    def _has_ids(self, table: str, column: str, other: str) -> bool:
        """Whether some values of a column are ids of another table."""
        values, primary = {*self._values(table, column)}, self._primary(other)
        if not values or len(primary) != 1:
            return False
        exists = f"select 1 from {main_table(other)} where {quote(primary[0])} = ?"
        return all(self._cursor.execute(exists, (value,)).fetchone() for value in values)

    def _find_names(self, link: _Link, table: str) -> str | None:
        """The step that leads from the ids of a column to names, "tags.id=name".

        None unless rows have different ones.
        """
        columns, primary = self._columns(link.table), self._primary(link.table)
        key = link.key or (primary[0] if len(primary) == 1 else None)
        if key is None or link.table == table:
            return None
        values = {name: own for name in columns if name != key and (own := self._values(link.table, name))}
        texts = [name for name, own in values.items() if all(isinstance(value, str) for value in own)]
        titled = [name for name in texts if _is_title(name)]
        named = titled[:1] or [name for name in texts if _kind(name, values[name], None) != "--text"]
        if len(named) != 1:
            return None
        (name,) = named
        step = f"{link.table}.{key}={name}"
        are_different = len({*values[name]}) == len(values[name])
        return step if are_different and _are_names(values[name]) and joined(step) is not None else None

    def _relation(self, table: str) -> Choice | None:
        """The options of a table with two ids in each row; None for another one."""
        primary, values = self._primary(table), {name: self._values(table, name) for name in self._columns(table)}
        others = [name for name in values if name not in primary and name.lower().endswith("id")]
        ids = [name for name in others if len(values[name]) >= OFTEN * len({*values[name]})]
        ids = others if ids and not primary else ids  # rows in the order of the users have each film once at first
        named = [next((name for name in values if name.lower() in own), "") for own in (PEOPLE, THINGS)]
        for names in (primary, [own.column for own in self._links(table)], ids, named * all(named)):
            if len({*names}) == 2 and all(values[name] for name in names):
                features, items = sorted(names, key=lambda name: not name.lower().startswith(PEOPLE))
                return [("--items", items), ("--features", features)]
        return None

    def _of_others(self, table: str) -> Iterator[tuple[str, str]]:
        """The fields that other tables have of the rows of one, but for a second one of the same name."""
        columns = self._columns(table)
        taken = {TEXT_FIELD, *columns, *(stem[1] for stem in map(id_name, columns) if stem)}
        for other in self.tables:
            links = {own.column: own for own in self._links(other)}
            pairs = self._described(other), self._primary(other), [*links]
            names = next((own for own in pairs if len(own) == 2), []) if other != table else []
            keys = [name for name in names if name in links and links[name].table == table]
            for key in keys:
                (name,) = [name for name in names if name != key]
                step = self._names_of(links[name], other) if name in links and name not in keys else None
                option = f"{other}.{key}={name}" + (f",{step}" if step else "")
                own, is_text = joined(option), _kind(name, self._values(other, name), None) == "--text"
                if own and own.name not in taken and (name in links or not is_text):
                    taken.add(own.name)
                    yield "--links" if name in keys else "--tags", option

    def _described(self, table: str) -> list[str]:
        """The columns of a table, without a key of one column."""
        primary = self._primary(table)
        return [name for name in self._columns(table) if len(primary) > 1 or name not in primary]

    def _some_values(self, table: str, column: str) -> list[Any]:
        """Some values of a column that are there, in the order of the rows: the first ones, and others all over it."""
        own, source = quote(column), main_table(table)
        first = f"select {own} from {source} where {own} is not null limit {LOOKED_AT}"
        statement = first
        if Table(self._cursor, table).has_rowid(self._columns(table)):
            first = first.replace("select", "select rowid as place,", 1)
            ends = f"(select min(rowid) as low from {source}), (select max(rowid) as high from {source})"
            spread = f"cast(low + (high - low) * (value / {LOOKED_AT - 1}.0) as integer)"
            places = f"(select rowid from {source} where rowid >= {spread} order by rowid limit 1)"
            steps = json.dumps([*range(LOOKED_AT)])
            statement = (
                f"select {own} from (select * from ({first}) union select rowid, {own} from {source} "
                f"where {own} is not null and rowid in (select {places} from json_each('{steps}'), {ends})) "
                "order by place"
            )
        return [value for (value,) in limited_rows(self._cursor, f"reading {table}", statement)]


def _only_title(kinds: Mapping[str, str | None]) -> list[str]:
    """The text whose name ends as that of a title, such as Track Name; of a first and a last name neither is one."""
    found = [name for name, kind in kinds.items() if kind in ("--text", SHORT) and _ends_as_title(name)]
    return found if len(found) == 1 else []


def _singulars(name: str) -> set[str]:
    """What one row of a table may be called: that of categories a category."""
    return {name, name.removesuffix("s"), name.removesuffix("es"), name.removesuffix("ies") + "y"}


def _separator(values: Sequence[Any]) -> str | None:
    """What stands between the tags of a cell, which come again: most cells have several, or else most tags a cell."""
    texts = [value for value in values if isinstance(value, str)]
    for own in SEPARATORS:
        parts = [part.strip() for text in texts for part in text.split(own)]
        several = [text for text in texts if own in text]
        within = {part.strip() for text in several for part in text.split(own)}
        are_most = 2 * len(several) > len(values) or 2 * len(within.intersection(texts)) > len(within)
        are_fewer = own != COMMA or len({*parts}) < len({*texts})
        if are_most and _come_again(parts) and are_fewer:
            return own
    return None


def _come_again(values: Sequence[Any]) -> bool:
    return len(values) >= OFTEN * len({*values}) > OFTEN


def _are_names(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and not value.startswith("[") for value in values)


def _kind(name: str, values: Sequence[Any], separator: str | None) -> str | None:
    """The option for a column, by its values; None if it says nothing."""
    distinct, are_numbers = len({*values}), all(isinstance(value, (int, float)) for value in values)
    are_texts = all(isinstance(value, str) for value in values)
    if not values or not (are_numbers or are_texts) or (are_texts and _are_json(values, nested=True)):
        return None
    if are_numbers and id_name(name):
        return "--tags" if _come_again(values) else None
    if are_numbers or all(as_days(value) is not None for value in values):
        return "--numbers" if distinct > VALUES else None
    if _are_json(values):
        return _kind_of_lists(name, [str(part) for value in values for part in json.loads(value)])
    is_split = separator is not None and _separator(values) == separator
    if not is_split and sum(len(value.split()) for value in values) >= WORDS * len(values):
        return "--text"
    shared = sum(number for number in Counter(values).values() if number > 1)
    is_torn = separator == COMMA and 2 * sum(COMMA in value for value in values) > len(values)
    is_tag = is_split or (not is_torn and (len(values) >= OFTEN * distinct or shared > SHARED * len(values)))
    return SHORT if not is_tag else "--tags" if is_split or distinct > 1 else None


def _kind_of_lists(name: str, parts: Sequence[str]) -> str | None:
    """The same for what is in lists; ids and dates of objects, such as comments, say nothing."""
    if "." in name and (_names_id(name) or all(as_days(part) is not None for part in parts)):
        return None
    return "--text" if parts and sum(len(part.split()) for part in parts) >= WORDS * len(parts) else "--tags"


def _are_json(values: Sequence[str], nested: bool = False) -> bool:
    """Whether texts are lists of JSON; with `nested`, objects or lists that hold some."""
    with suppress(ValueError, RecursionError):
        found = [json.loads(value) for value in values if value.startswith(("[", "{"))]
        parts = [isinstance(part, (dict, list)) for own in found for part in ([own] if isinstance(own, dict) else own)]
        return len(found) == len(values) and any(parts) == nested
    return False
