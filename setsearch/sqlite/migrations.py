"""How files of earlier versions come to the tables of today (schema.py): append-only, without imports of our own."""

import re
import struct
import zlib
from hashlib import blake2b
from itertools import chain
from typing import Any

from sqlite_utils import Migrations
from sqlite_utils.db import Database

migrations = Migrations("setsearch")
migrations.migrations_table = "setsearch_migrations"
_LISTS = """
    create table setsearch_{name} (
        relation integer not null,
        list integer not null,    -- id of the {owner} whose list this is
        first integer not null,   -- smallest id in this block
        last integer not null,    -- largest id in this block
        length integer not null,  -- number of ids
        total integer not null,   -- sum of counts
        gaps blob not null,       -- differences of the ids, one width
        counts blob,              -- one width; null: all are 1
        primary key (relation, list, first)
    ) strict, without rowid;
"""


def _run(db: Database, script: str) -> None:
    """Execute statements, each with a semicolon at the end of a line, in the present transaction."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


@migrations()
def m001_relations(db: Database) -> None:
    """Vocabularies, relations, posting lists in both directions, derived values."""
    script = """
        create table setsearch_kind (
            id integer primary key, name text not null unique,
            size integer not null default 0, peak integer not null default 0
        ) strict;
        create table setsearch_name (
            kind integer not null, id integer not null, name text not null, title text,
            primary key (kind, id)
        ) strict, without rowid;
        create unique index setsearch_name_name on setsearch_name (kind, name);
        create index setsearch_name_title on setsearch_name (kind, title) where title is not null;
        create table setsearch_relation (
            id integer primary key,
            items integer not null references setsearch_kind (id),
            features integer not null references setsearch_kind (id),
            analyzer text,            -- null: not a text collection
            revision integer not null default 0, stamp integer not null default 0,
            unique (items, features)
        ) strict;
        create table setsearch_derived (
            relation integer not null, reading text not null, name text not null,
            stamp integer not null, value blob not null,
            primary key (relation, reading, name)
        ) strict;
    """
    for part in (script, _LISTS.format(name="posting", owner="feature"), _LISTS.format(name="forward", owner="item")):
        _run(db, part)
    # For people: the frequent features.
    db.execute("""
        create view setsearch_frequency as
        select k.name as kind, n.name as name, sum(p.length) as document_frequency, sum(p.total) as total
        from setsearch_posting p join setsearch_relation r on r.id = p.relation
        join setsearch_kind k on k.id = r.features
        join setsearch_name n on n.kind = r.features and n.id = p.list
        group by p.relation, p.list
    """)


@migrations()
def m002_contexts(db: Database) -> None:
    """Texts and relations derived from them; numbers; saved sets."""
    script = """
        alter table setsearch_relation add column parent integer references setsearch_relation (id);
        alter table setsearch_relation add column contexts text not null default 'off';
        alter table setsearch_relation add column contexts_stamp integer;
        create table setsearch_text (
            relation integer not null, item integer not null, text blob not null,  -- UTF-8, zlib
            primary key (relation, item)
        ) strict, without rowid;
        alter table setsearch_relation add column columns text;
        create table setsearch_numbers (
            relation integer not null, item integer not null, numbers blob not null,  -- float64, one for each column
            primary key (relation, item)
        ) strict, without rowid;
        create table setsearch_set (
            name text primary key, items text not null  -- what is ranked: documents, terms, ...
        ) strict, without rowid;
        create table setsearch_member (
            name text not null references setsearch_set (name) on delete cascade, item text not null,
            accepted integer not null,  -- 0: a negative example
            primary key (name, item)
        ) strict, without rowid;
        drop view setsearch_frequency;
        create view setsearch_frequency as
        select k.name as kind, n.name as name, sum(p.length) as document_frequency, sum(p.total) as total
        from setsearch_posting p join setsearch_relation r on r.id = p.relation and r.parent is null
        join setsearch_kind k on k.id = r.features
        join setsearch_name n on n.kind = r.features and n.id = p.list
        group by p.relation, p.list;
    """
    _run(db, script)


@migrations()
def m003_origins(db: Database) -> None:
    """Synced sources and noted changes; the checksum."""
    db.execute("""
        create table setsearch_origin (
            relation integer primary key references setsearch_relation (id),
            kind text not null,     -- table, fts5, whoosh
            place text not null,    -- the name of the table
            columns text not null,  -- JSON: which column is what
            tracked integer not null,  -- 1: triggers on the table write to setsearch_change
            state text              -- JSON: how far a Whoosh index was read
        ) strict
    """)
    db.execute("""
        create table setsearch_change (
            id integer primary key, relation integer not null, key any,
            again any  -- the key again: a flipped bit in one of them would hide a change
        ) strict
    """)
    db.execute("create index setsearch_change_key on setsearch_change (relation, key)")
    db.execute("create table setsearch_seal (id integer primary key, sum integer not null) strict")
    # Derived values have checksums from here on; earlier ones are derived again.
    db.execute("delete from setsearch_derived where reading <> ''")
    db.execute("update setsearch_relation set contexts_stamp = null where contexts <> 'off'")


@migrations()
def m004_checksums(db: Database) -> None:
    """A checksum for each half of a block, which binds it to its list and place; numbers likewise."""

    def checksum(data: bytes | None, *head: int) -> int:
        of_head = zlib.crc32(struct.pack("<7q", *head))
        return of_head if data is None else zlib.crc32(data, of_head)

    def bound(stored: bytes, relation: int, item: int) -> bytes:
        data, old = stored[:-4], stored[-4:]
        if len(stored) % 8 == 0:  # the first versions wrote no checksum
            data = stored
        elif zlib.crc32(data).to_bytes(4, "little") != old:
            return stored
        return data + zlib.crc32(data, zlib.crc32(f"{relation} {item}".encode())).to_bytes(4, "little")

    db.conn.create_function("setsearch_block_checksum", 8, checksum)
    db.conn.create_function("setsearch_bound", 3, bound)
    for number, table in enumerate(("posting", "forward"), 1):
        for part in ("gaps", "counts"):
            db.execute(f"alter table setsearch_{table} add column {part}_checksum integer not null default 0")
        head = f"{number}, relation, list, first, last, length, total"
        db.execute(
            f"update setsearch_{table} set gaps_checksum = setsearch_block_checksum(gaps, {head}), "
            f"counts_checksum = setsearch_block_checksum(counts, {head})"
        )
    db.execute("update setsearch_numbers set numbers = setsearch_bound(numbers, relation, item)")
    # Derived values are derived again, with checksums that include their names.
    db.execute("delete from setsearch_derived where reading <> ''")
    db.execute("update setsearch_relation set contexts_stamp = null where contexts <> 'off'")
    for function, arguments in (("setsearch_block_checksum", 8), ("setsearch_bound", 3)):
        db.conn.create_function(function, arguments, None)


@migrations()
def m005_generations(db: Database) -> None:
    """What each revision changed; derived arrays in generations; free ids. Older derived values go."""
    derived = "(select id from setsearch_relation where parent is not null)"
    kinds = (
        f"(select items from setsearch_relation where id in {derived} union "
        f"select features from setsearch_relation where id in {derived} "
        "except select items from setsearch_relation where parent is null "
        "except select features from setsearch_relation where parent is null)"
    )
    script = f"""
        create table setsearch_revision (
            relation integer not null, revision integer not null,
            stamp integer not null, time real not null,  -- when it was written, seconds since 1970
            items blob,  -- the ids of the items that it changed, int32; null: too many
            primary key (relation, revision)
        ) strict, without rowid;
        create table setsearch_generation (
            id integer primary key,  -- random
            relation integer not null, name text not null,  -- lists, contexts
            revision integer not null, stamp integer not null,  -- of the content that it was derived from
            published integer not null default 0,  -- 0: somebody is writing it
            owner text not null,  -- host and process that writes it
            until real not null  -- seconds since 1970: then others may take over what is not published
        ) strict;
        create table setsearch_array (
            generation integer not null, name text not null, slice integer not null, data blob not null,
            primary key (generation, name, slice)
        ) strict;
        create table setsearch_free (
            kind integer not null, id integer not null,  -- ids below the peak that have no name
            primary key (kind, id)
        ) strict, without rowid;
        delete from setsearch_posting where relation in {derived};
        delete from setsearch_forward where relation in {derived};
        create temp table setsearch_gone as select items as id from {kinds};
        delete from setsearch_name where kind in (select id from setsearch_gone);
        delete from setsearch_relation where parent is not null;
        delete from setsearch_kind where id in (select id from setsearch_gone);
        drop table temp.setsearch_gone;
        drop table setsearch_derived;
        alter table setsearch_relation drop column contexts_stamp;
        insert into setsearch_revision (relation, revision, stamp, time)
            select id, revision, stamp, cast(strftime('%s', 'now') as real) from setsearch_relation;
        insert into setsearch_free (kind, id)
            with recursive below (kind, id) as (
                select id, 0 from setsearch_kind where size < peak union all
                select below.kind, below.id + 1 from below join setsearch_kind k on k.id = below.kind
                where below.id + 1 < k.peak
            )
            select kind, id from below where not exists
                (select 1 from setsearch_name n where n.kind = below.kind and n.id = below.id);
    """
    _run(db, script)


@migrations()
def m006_columns(db: Database) -> None:
    """Columns of documents that are kept to be shown with them."""
    db.execute(
        "create table setsearch_columns ("
        "relation integer not null, item integer not null, "
        "columns blob not null, "  # a JSON object, and a checksum
        "primary key (relation, item)) strict, without rowid"
    )


@migrations()
def m007_vectors(db: Database) -> None:
    """Vectors of the names of a vocabulary, and where they come from."""
    db.execute("alter table setsearch_kind add column vectors text")  # JSON, as storage/vectors.py has it
    db.execute("""
        create table setsearch_vector (
            id integer primary key, kind integer not null, name text not null,
            vector blob not null,  -- int8, and a checksum
            digest integer,        -- of the text that was encoded
            unique (kind, name)
        ) strict
    """)


@migrations()
def m008_decisions(db: Database) -> None:
    """The order in which the members of a set were decided, null if they were known from the start."""
    db.execute("alter table setsearch_member add column number integer")  # and `accepted` is 2 for "later"


@migrations()
def m009_changes(db: Database) -> None:
    """Each changed row is noted once, by a constraint: looking it up before took longer than the note."""
    script = """
        delete from setsearch_change where id not in
            (select min(id) from setsearch_change group by relation, key);
        drop index setsearch_change_key;
        create unique index setsearch_change_key on setsearch_change (relation, key);
    """
    _run(db, script)
    looked_up = re.compile(
        r"select (\d+), (.+?), \2 (.*?) and not exists "
        r"\(select 1 from setsearch_change where relation = \1 and key is \+\2\);"
    )
    triggers = db.execute(
        "select name, sql from sqlite_master where type = 'trigger' and name like 'setsearch\\_%' escape '\\'"
    )
    for name, sql in triggers.fetchall():
        db.execute(f"drop trigger main.[{name}]")
        made = looked_up.sub(r"select \1, \2, \2 \3 on conflict do nothing;", sql)
        db.execute(made.replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))


@migrations()
def m010_records(db: Database) -> None:
    """Records as they came, and the other names of items; of decisions, when they were made (since 1970), and why."""
    script = """
        create table setsearch_record (
            kind integer not null, item integer not null,
            record blob not null,  -- JSON, zlib, and a checksum
            primary key (kind, item)
        ) strict, without rowid;
        create table setsearch_alias (
            kind integer not null, name text not null, item integer not null,
            primary key (kind, name, item)
        ) strict, without rowid;
        create index setsearch_alias_item on setsearch_alias (kind, item);
        alter table setsearch_member add column time real;
        alter table setsearch_member add column reason text;
        alter table setsearch_member add column note text;
    """
    _run(db, script)


@migrations()
def m011_whole(db: Database) -> None:
    """Whether the names of a vocabulary came as whole numbers, as which frames have them again."""
    db.execute("alter table setsearch_kind add column whole integer not null default 0")


@migrations()
def m012_blocks(db: Database) -> None:
    """Forward lists in blocks of many items; posting lists are derived, and frequencies of features stand alone."""
    script = """
        create table setsearch_forward (
            relation integer not null,
            first integer not null,  -- id of the first item
            data blob not null,      -- items, lengths of their lists, ids of features, counts, and a checksum
            primary key (relation, first)
        ) strict;
        create table setsearch_feature (
            relation integer not null, feature integer not null,
            length integer not null,  -- number of items
            total integer not null,   -- sum of counts
            primary key (relation, feature)
        ) strict, without rowid;
        insert into setsearch_feature (relation, feature, length, total)
            select relation, list, sum(length), sum(total) from setsearch_posting group by relation, list;
        drop view setsearch_frequency;
        create view setsearch_frequency as
        select k.name as kind, n.name as name, f.length as document_frequency, f.total as total
        from setsearch_feature f join setsearch_relation r on r.id = f.relation
        join setsearch_kind k on k.id = r.features
        join setsearch_name n on n.kind = r.features and n.id = f.feature;
        drop table setsearch_posting;
    """
    _rename(db, "setsearch_forward", "setsearch_list")
    _run(db, script)
    rows = db.execute(
        "select relation, list, first, last, length, total, gaps, counts, gaps_checksum, counts_checksum "
        "from setsearch_list order by relation, list, first"
    )
    insert = "insert into setsearch_forward (relation, first, data) values (?, ?, ?)"
    block, length = list[tuple[Any, ...]](), 0
    for row in chain(rows, [None]):
        if block and (row is None or row[0] != block[0][0] or (length >= 1 << 14 and row[1] != block[-1][1])):
            relation, first, data = block[0][0], block[0][1], _block(block)
            checksum = zlib.crc32(data, zlib.crc32(f"{relation} {first}".encode()))
            db.execute(insert, (relation, first, data + checksum.to_bytes(4, "little") if data else b""))
            block, length = [], 0
        if row is not None:
            block.append(row)
            length += max(row[4], 1)
    db.execute("drop table setsearch_list")


def _rename(db: Database, old: str, new: str) -> None:
    """Rename a table, whatever the views of a host look like: SQLite refuses to if one of them is broken."""
    (before,) = db.execute("pragma legacy_alter_table").fetchone()
    db.execute("pragma legacy_alter_table = on")
    db.execute(f"alter table {old} rename to {new}")
    db.execute(f"pragma legacy_alter_table = {before}")


def _block(rows: list[tuple[Any, ...]]) -> bytes:
    """Lists of m001 as a block of m012; empty if one of them is damaged: then the block is, too."""
    import numpy as np

    items, lengths, ids, counts = list[int](), list[int](), [], []
    for _, item, first, last, length, total, gaps, own, *checksums in rows:
        head = zlib.crc32(struct.pack("<7q", 2, rows[0][0], item, first, last, length, total))
        if [zlib.crc32(gaps, head), head if own is None else zlib.crc32(own, head)] != checksums:
            return b""
        sizes = {(length - 1, len(gaps))} | ({(length, len(own))} if own is not None else set())
        if length < 1 or any(size not in (count, 2 * count, 4 * count) for count, size in sizes):
            return b""
        if items[-1:] != [item]:
            items.append(item)
            lengths.append(0)
        lengths[-1] += length
        width = len(gaps) // max(length - 1, 1)
        ids.append(np.cumsum([first, *np.frombuffer(gaps, f"<u{width}" if width else "<u1").tolist()]))
        counts.append(np.ones(length, np.int64) if own is None else np.frombuffer(own, f"<u{len(own) // length}"))
    columns = [np.array(items), np.array(lengths), np.concatenate(ids), np.concatenate(counts).astype(np.int64)]
    out = [struct.pack("<4I", *map(len, columns))]
    for column, (bits, are_gaps) in zip(columns, ((8, 1), (8, 0), (16, 1), (8, 0)), strict=True):
        for start in range(0, len(column), 1 << 16):
            small = column[start : start + (1 << 16)]
            small = np.diff(small, prepend=0) if are_gaps else small.copy()
            places = np.flatnonzero((small < 0) | (small >= 1 << bits))
            apart = struct.pack("<BBBIiI", 10, bits, are_gaps, len(small), 0, len(places))
            slice_ = apart + places.astype("<u2").tobytes() + small[places].astype("<i4").tobytes()
            small[places] = 0
            slice_ += small.astype(f"<u{bits // 8}").tobytes()
            out += [len(slice_).to_bytes(4, "little"), slice_]
    return b"".join(out)


@migrations()
def m013_texts(db: Database) -> None:
    """Texts in blocks that are deflated together; digests of what was encoded are those of the texts."""
    script = """
        create table setsearch_text (
            relation integer not null,
            first integer not null,  -- id of the first document
            items blob not null,     -- documents, and lengths of their texts in bytes, and a checksum
            data blob not null,      -- texts, UTF-8, zlib, and a checksum
            primary key (relation, first)
        ) strict;
    """
    _rename(db, "setsearch_text", "setsearch_single")
    _run(db, script)
    encoded = "kind in (select items from setsearch_relation where id = ?) and digest is not null"
    digests = "update setsearch_vector set digest = ? where digest = ? and kind = ? and name = ?"
    name = (
        "select n.kind, n.name from setsearch_name n join setsearch_relation r on r.items = n.kind "
        "where r.id = ? and n.id = ?"
    )
    has_digests = {
        id: bool(db.execute(f"select exists (select 1 from setsearch_vector where {encoded})", [id]).fetchone()[0])
        for (id,) in db.execute("select id from setsearch_relation").fetchall()
    }
    block, of, size = dict[int, bytes](), 0, 0
    for row in chain(db.execute("select relation, item, text from setsearch_single order by relation, item"), [None]):
        text = None if row is None else _inflated(row[2])
        if block and (row is None or text is None or row[0] != of or size >= 1 << 15):
            _insert_texts(db, of, block)
            block, size = {}, 0
        if row is None:
            break
        of = row[0]
        if text is None:  # it stays damaged, alone
            db.execute("insert into setsearch_text (relation, first, items, data) values (?, ?, x'', x'')", row[:2])
            continue
        block[row[1]] = text
        size += len(text) + 1
        named = db.execute(name, row[:2]).fetchone() if has_digests.get(of) else None
        if named is not None:
            db.execute(digests, (zlib.crc32(text), zlib.crc32(row[2]), *named))
    db.execute("drop table setsearch_single")


def _inflated(stored: bytes) -> bytes | None:
    """A text of m002; None if it is damaged, or longer than a text may be."""
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(stored, 1 << 27)
    except zlib.error:
        return None
    return text if decompressor.eof and not decompressor.unused_data else None


def _insert_texts(db: Database, relation: int, texts: dict[int, bytes]) -> None:
    """A block of m013."""
    first, numbers = min(texts), struct.Struct(f"<{len(texts)}q")
    slices = [b"\x08" + numbers.pack(*own) for own in (texts, map(len, texts.values()))]
    head = struct.pack("<2I", len(texts), len(texts))
    items = head + b"".join(len(own).to_bytes(4, "little") + own for own in slices)
    items += zlib.crc32(items, zlib.crc32(f"{relation} {first}".encode())).to_bytes(4, "little")
    data = zlib.compress(b"".join(texts.values()))
    data += zlib.crc32(data, zlib.crc32(f"{relation} {first} {zlib.crc32(items)}".encode())).to_bytes(4, "little")
    insert = "insert into setsearch_text (relation, first, items, data) values (?, ?, ?, ?)"
    db.execute(insert, (relation, first, items, data))


@migrations()
def m014_mapped(db: Database) -> None:
    """Derived lists are in files beside the database; of contexts, one direction is stored."""
    lists = "select id from setsearch_generation where name = 'lists'"
    db.execute(f"delete from setsearch_array where generation in ({lists})")
    db.execute("delete from setsearch_generation where name = 'lists'")
    derived = "name glob '* items *' or name glob '* totals' or name glob '* largest' or name glob 'norms of *'"
    db.execute(f"delete from setsearch_array where {derived}")


@migrations()
def m015_inbox(db: Database) -> None:
    """Up to which write of its items somebody has looked at what belongs to a set; null: it is not known."""
    db.execute("alter table setsearch_set add column revision integer")
    db.execute("alter table setsearch_set add column stamp integer")


@migrations()
def m016_fields(db: Database) -> None:
    """The fields of features beside the first one, as JSON (storage/feature_fields.py); null: there are none."""
    db.execute("alter table setsearch_relation add column fields text")


@migrations()
def m017_groups(db: Database) -> None:
    """Groups of saved sets, parts of wholes; and of members that joined by themselves, why and when."""
    for column in ('"group" text', "exclusive integer", "under text"):  # 1: sets of the group exclude one another
        db.execute(f"alter table setsearch_set add column {column}")
    for column in ("round integer", "score real", "chance real", "over text"):  # null: a person said it
        db.execute(f"alter table setsearch_member add column {column}")


@migrations()
def m018_field_numbers(db: Database) -> None:
    """The numbers that items have in fields, from which ranges are made; fields of earlier versions keep theirs."""
    db.execute("""
        create table setsearch_field_number (
            relation integer not null, field text not null,
            level integer not null,  -- of 2^n items, one has at least n (indexing/item_fields.py)
            item integer not null, number real not null,
            primary key (relation, field, level, item)
        ) strict, without rowid
    """)


@migrations()
def m019_member_sum(db: Database) -> None:
    """Members of sets have a sum of hashes of their own, to which each write adds what it changes."""
    rows = db.execute("select * from setsearch_member")
    hashes = (blake2b(repr(row).encode(), digest_size=8).digest() for row in rows)
    total = sum(int.from_bytes(own) for own in hashes) % (1 << 62)
    db.execute("insert or replace into setsearch_seal (id, sum) values (2, ?)", (total,))


@migrations()
def m020_set_sum(db: Database) -> None:
    """Saved sets have such a sum, too."""
    hashes = (blake2b(repr(row).encode(), digest_size=8).digest() for row in db.execute("select * from setsearch_set"))
    total = sum(int.from_bytes(own) for own in hashes) % (1 << 62)
    db.execute("insert or replace into setsearch_seal (id, sum) values (3, ?)", (total,))
