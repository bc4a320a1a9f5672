"""The tables of today, to which files of earlier versions come by the migrations (migrations.py)."""

import re
import sqlite3
from contextlib import closing
from functools import cache
from itertools import groupby
from operator import itemgetter

MIGRATIONS = tuple(  # by which a file tells which tables it has
    """
    m001_relations m002_contexts m003_origins m004_checksums m005_generations m006_columns m007_vectors m008_decisions
    m009_changes m010_records m011_whole m012_blocks m013_texts m014_mapped m015_inbox m016_fields m017_groups
    m018_field_numbers m019_member_sum m020_set_sum
    """.split()
)
LOG = "setsearch_migrations"  # the table of those that were applied, as sqlite-utils has it

_TABLES = """
create table setsearch_kind (  -- vocabularies: documents, terms, films
    id integer primary key,
    name text not null unique,
    size integer not null default 0,
    peak integer not null default 0,  -- the next id
    vectors text,                     -- where its vectors come from, JSON (storage/kept/vectors.py)
    whole integer not null default 0  -- 1: names are whole numbers
) strict;

create table setsearch_name (  -- names and titles of a vocabulary, under small ids that are used again
    kind integer not null,
    id integer not null,
    name text not null,
    title text,
    primary key (kind, id)
) strict, without rowid;
create unique index setsearch_name_name on setsearch_name (kind, name);
create index setsearch_name_title on setsearch_name (kind, title) where title is not null;

create table setsearch_free (  -- ids below the peak that have no name
    kind integer not null,
    id integer not null,
    primary key (kind, id)
) strict, without rowid;

create table setsearch_relation (  -- two vocabularies, items and features
    id integer primary key,
    items integer not null references setsearch_kind (id),
    features integer not null references setsearch_kind (id),
    analyzer text,  -- null: not a text collection
    revision integer not null default 0,
    stamp integer not null default 0,  -- of the content, random
    parent integer references setsearch_relation (id),
    contexts text not null default 'off',
    columns text,  -- of numbers
    fields text,   -- beside the first one, JSON (storage/feature_fields.py)
    unique (items, features)
) strict;

create table setsearch_forward (  -- item -> features with counts, in blocks of neighboring items
    relation integer not null,
    first integer not null,  -- id of the first item
    data blob not null,      -- items, lengths of their lists, ids of features, counts, and a checksum
    primary key (relation, first)
) strict;

create table setsearch_feature (  -- document frequencies
    relation integer not null,
    feature integer not null,
    length integer not null,  -- number of items
    total integer not null,   -- sum of counts
    primary key (relation, feature)
) strict, without rowid;
create view setsearch_frequency as  -- the same for people
    select k.name as kind, n.name as name, f.length as document_frequency, f.total as total
    from setsearch_feature f join setsearch_relation r on r.id = f.relation
    join setsearch_kind k on k.id = r.features
    join setsearch_name n on n.kind = r.features and n.id = f.feature;

create table setsearch_field_number (  -- numbers that items have in fields, from which ranges are made
    relation integer not null,
    field text not null,
    level integer not null,  -- of 2^n items, one has at least n (indexing/writing/item_fields.py)
    item integer not null,
    number real not null,
    primary key (relation, field, level, item)
) strict, without rowid;

create table setsearch_revision (  -- which items each revision of a relation changed
    relation integer not null,
    revision integer not null,
    stamp integer not null,
    time real not null,  -- when it was written, seconds since 1970
    items blob,          -- their ids, int32; null: too many
    primary key (relation, revision)
) strict, without rowid;

create table setsearch_generation (  -- what was derived from one revision, and may be deleted at any time
    id integer primary key,  -- random
    relation integer not null,
    name text not null,  -- contexts
    revision integer not null,
    stamp integer not null,               -- of the content that it was derived from
    published integer not null default 0,  -- 0: somebody is writing it
    owner text not null,                   -- host and process that writes it
    until real not null  -- seconds since 1970: then others may take over what is not published
) strict;
create table setsearch_array (  -- the arrays of a generation
    generation integer not null,
    name text not null,
    slice integer not null,
    data blob not null,
    primary key (generation, name, slice)
) strict;

create table setsearch_text (  -- texts of documents, the input of contexts, in blocks of neighboring documents
    relation integer not null,
    first integer not null,  -- id of the first document
    items blob not null,     -- documents, and lengths of their texts in bytes, and a checksum
    data blob not null,      -- texts, UTF-8, zlib, and a checksum
    primary key (relation, first)
) strict;

create table setsearch_columns (  -- columns of documents that are shown with them
    relation integer not null,
    item integer not null,
    columns blob not null,  -- a JSON object, and a checksum
    primary key (relation, item)
) strict, without rowid;

create table setsearch_record (  -- what items were made of, as it came (references)
    kind integer not null,
    item integer not null,
    record blob not null,  -- JSON, zlib, and a checksum
    primary key (kind, item)
) strict, without rowid;
create table setsearch_alias (  -- other names of these items
    kind integer not null,
    name text not null,
    item integer not null,
    primary key (kind, name, item)
) strict, without rowid;
create index setsearch_alias_item on setsearch_alias (kind, item);

create table setsearch_vector (  -- vectors of names, of the user or of an encoder
    id integer primary key,
    kind integer not null,
    name text not null,
    vector blob not null,  -- int8, and a checksum
    digest integer,        -- of the text that was encoded
    unique (kind, name)
) strict;

create table setsearch_numbers (  -- items that numbers describe
    relation integer not null,
    item integer not null,
    numbers blob not null,  -- float64, one for each column, and a checksum
    primary key (relation, item)
) strict, without rowid;

create table setsearch_origin (  -- the synced source of a relation
    relation integer primary key references setsearch_relation (id),
    kind text not null,        -- table, fts5, whoosh
    place text not null,       -- the name of the table
    columns text not null,     -- JSON: which column is what
    tracked integer not null,  -- 1: triggers on the table write to setsearch_change
    state text                 -- JSON: how far a Whoosh index was read
) strict;
create table setsearch_change (  -- keys of rows that changed in a tracked table since the last sync
    id integer primary key,
    relation integer not null,
    key any,
    again any  -- the key again: a flipped bit in one of them would hide a change
) strict;
create unique index setsearch_change_key on setsearch_change (relation, key);

create table setsearch_set (  -- saved sets
    name text primary key,
    items text not null,  -- what is ranked: documents, terms, ...
    revision integer,     -- with the stamp: the write of its items up to which somebody has looked at the inbox
    stamp integer,
    "group" text,
    exclusive integer,  -- 1: sets of the group exclude one another
    under text          -- the set that it lies within
) strict, without rowid;
create table setsearch_member (  -- their items
    name text not null references setsearch_set (name) on delete cascade,
    item text not null,
    accepted integer not null,  -- 0: a negative example, 2: later
    number integer,  -- the order of decisions; null: known from the start
    time real,
    reason text,
    note text,
    round integer,  -- this and the next: why it joined by itself; null: a person said it
    score real,
    chance real,
    over text,  -- of what a person said: what it replaced, as JSON
    primary key (name, item)
) strict, without rowid;

create table setsearch_seal (  -- 1: a checksum over the small tables, 2: a sum over members, 3: over sets
    id integer primary key,
    sum integer not null
) strict;

create table "setsearch_migrations" (
    "id" integer primary key,
    "migration_set" text,
    "name" text,
    "applied_at" text
);
create unique index "idx_setsearch_migrations_migration_set_name" on "setsearch_migrations" ("migration_set", "name");
"""

_STATEMENTS = [*filter(str.strip, _TABLES.split(";\n"))]
_COLUMNS = """
    select l.name, l.type, l.strict, c.name, c.type, c."notnull", c.pk, c.hidden
    from pragma_table_list l join pragma_table_xinfo(l.name) c
    where l.schema = 'main' and l.name glob 'setsearch_*' order by l.name, c.cid
"""

Column = tuple[str | int, ...]  # table, its type, strict, column, its type, not null, place in the key, hidden


def create_tables(cursor: sqlite3.Cursor) -> None:
    """Make all tables in a file that has none."""
    for statement in _STATEMENTS:
        cursor.execute(statement)
    log_migrations(cursor)


def log_migrations(cursor: sqlite3.Cursor) -> None:
    """Note that the tables are those of today, as sqlite-utils does."""
    insert = f"insert or ignore into {LOG} (migration_set, name, applied_at) values ('setsearch', ?, datetime())"
    cursor.executemany(insert, [(name,) for name in MIGRATIONS])


def complete_tables(cursor: sqlite3.Cursor) -> None:
    """Make the tables, indexes and the view that are not there, and the columns that tables lack at their end."""
    there = {name for (name,) in cursor.execute("select name from main.sqlite_master")}
    for statement in _STATEMENTS:
        ((kind, name),) = re.findall(r'create (?:unique )?(table|index|view) "?(\w+)', statement)
        if name not in there:
            cursor.execute(statement)
        elif kind == "table":
            known = {row[1] for row in cursor.execute(f"pragma main.table_info({name})")}
            lines = re.findall(r'^ {4}((?!primary|unique)"?(\w+)"? .*?),? *(?:--.*)?$', statement, re.MULTILINE)
            for definition, column in lines:
                if column not in known:
                    cursor.execute(f"alter table {name} add column {definition}")


def drop_tables(cursor: sqlite3.Cursor) -> None:
    """Drop all tables and views, in the reverse order."""
    objects = "select type, name from sqlite_master where type in ('table', 'view') order by rowid desc"
    with closing(_made()) as made:
        for type, name in made.execute(objects).fetchall():
            cursor.execute(f"drop {type} if exists {name}")


def columns(cursor: sqlite3.Cursor) -> list[Column]:
    """The columns of all tables and views named setsearch_..."""
    return cursor.execute(_COLUMNS).fetchall()


@cache
def declared() -> dict[str, list[Column]]:
    """The columns that each table should have; sqlite-utils declares the log, and nothing reads the view."""
    with closing(_made()) as made:
        ours = [column for column in columns(made.cursor()) if column[1] == "table" and column[0] != LOG]
    return {str(name): [*own] for name, own in groupby(ours, key=itemgetter(0))}


def _made() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    create_tables(connection.cursor())
    return connection
