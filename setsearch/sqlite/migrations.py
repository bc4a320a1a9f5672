"""How files of earlier versions come to the tables of today (schema.py): in one step, whatever version wrote them.

What a file lacks is made as schema.py declares it. What had another shape is known by its tables and columns, not by
the names of the migrations, so that a step of this finds nothing to do where it was done.
"""

import re
import sqlite3
import struct
import zlib
from itertools import chain
from typing import Any

from setsearch.sqlite.integrity import CHECKED, SUMMED, Seal, add_checksum
from setsearch.sqlite.schema import complete_tables


def convert(db: sqlite3.Connection) -> bool:
    """Bring our tables to those of today, which stay as they are; returns whether they were intact.

    Only then their checksum is that of what they hold now: damage stays visible to `check`.
    """
    names = db.execute("select name from main.sqlite_master where type = 'table' and name glob 'setsearch_*'")
    before = {name: _columns(db, name) for (name,) in names.fetchall()}
    seal = Seal(db.cursor())
    sums = seal.sums() if "setsearch_seal" in before else {}
    is_intact = not sums or not seal.differs([*CHECKED, *(table for table, id in SUMMED.items() if id not in sums)])
    has_lists, has_single = "list" in before.get("setsearch_forward", ()), "item" in before.get("setsearch_text", ())
    if has_lists:
        _rename(db, "setsearch_forward", "setsearch_list")
        db.execute("drop view if exists setsearch_frequency")  # of the table of posting lists
    if has_single:
        _rename(db, "setsearch_text", "setsearch_single")
    if "setsearch_change" in before:
        _note_once(db)
    complete_tables(db.cursor())
    if "setsearch_derived" in before:
        _drop_derived_relations(db)
    if before and "setsearch_revision" not in before:
        _begin_revisions(db)
    if has_lists:
        has_checksums = "gaps_checksum" in before["setsearch_forward"]
        if not has_checksums:
            _seal_numbers(db)
        _convert_lists(db, has_checksums)
    if has_single:
        _convert_texts(db)
    if "revision" not in before.get("setsearch_set", ["revision"]):
        _drop_derived_arrays(db)
    seal.accept_sums(again=False)
    if is_intact:
        seal.write()
    return is_intact


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"pragma main.table_info({table})")]


def _run(db: sqlite3.Connection, script: str) -> None:
    """Execute statements, each with a semicolon at the end of a line, in the present transaction."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


def _rename(db: sqlite3.Connection, old: str, new: str) -> None:
    """Rename a table, whatever the views of a host look like: SQLite refuses to if one of them is broken."""
    (before,) = db.execute("pragma legacy_alter_table").fetchone()
    db.execute("pragma legacy_alter_table = on")
    db.execute(f"alter table {old} rename to {new}")
    db.execute(f"pragma legacy_alter_table = {before}")


def _note_once(db: sqlite3.Connection) -> None:
    """Let a constraint see to it that each changed row is noted once: until 0.21 triggers looked it up before."""
    indexes = db.execute("pragma main.index_list(setsearch_change)").fetchall()
    if ("setsearch_change_key", 0) not in [(name, is_unique) for _, name, is_unique, *_ in indexes]:
        return
    script = """
        delete from setsearch_change where id not in
            (select min(id) from setsearch_change group by relation, key);
        drop index setsearch_change_key;
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


def _drop_derived_relations(db: sqlite3.Connection) -> None:
    """Delete the relations that were derived from others, until 0.4, and the other derived values of then."""
    derived = "(select id from setsearch_relation where parent is not null)"
    kinds = (
        f"(select items from setsearch_relation where id in {derived} union "
        f"select features from setsearch_relation where id in {derived} "
        "except select items from setsearch_relation where parent is null "
        "except select features from setsearch_relation where parent is null)"
    )
    script = f"""
        delete from setsearch_posting where relation in {derived};
        delete from setsearch_list where relation in {derived};
        create temp table setsearch_gone as select items as id from {kinds};
        delete from setsearch_name where kind in (select id from setsearch_gone);
        delete from setsearch_relation where parent is not null;
        delete from setsearch_kind where id in (select id from setsearch_gone);
        drop table temp.setsearch_gone;
        drop table setsearch_derived;
    """
    _run(db, script)
    if "contexts_stamp" in _columns(db, "setsearch_relation"):
        db.execute("alter table setsearch_relation drop column contexts_stamp")


def _begin_revisions(db: sqlite3.Connection) -> None:
    """Note the present revisions, and the ids below the peak that are free."""
    script = """
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


def _seal_numbers(db: sqlite3.Connection) -> None:
    """Give numbers a checksum that binds them to their place; damaged ones stay damaged."""
    for relation, item, stored in db.execute("select relation, item, numbers from setsearch_numbers").fetchall():
        data = stored if len(stored) % 8 == 0 else stored[:-4]  # the first versions wrote no checksum
        if len(data) < len(stored) and stored[-4:] != zlib.crc32(data).to_bytes(4, "little"):
            continue
        sealed = add_checksum(data, f"{relation} {item}")
        db.execute("update setsearch_numbers set numbers = ? where relation = ? and item = ?", (sealed, relation, item))


def _convert_lists(db: sqlite3.Connection, has_checksums: bool) -> None:
    """Put lists of single items, until 0.24, into blocks of many; posting lists give the frequencies of features."""
    db.execute(
        "insert into setsearch_feature (relation, feature, length, total) "
        "select relation, list, sum(length), sum(total) from setsearch_posting group by relation, list"
    )
    checksums = "gaps_checksum, counts_checksum" if has_checksums else "null, null"
    rows = db.execute(
        f"select relation, list, first, last, length, total, gaps, counts, {checksums} "
        "from setsearch_list order by relation, list, first"
    )
    insert = "insert into setsearch_forward (relation, first, data) values (?, ?, ?)"
    block, length = list[tuple[Any, ...]](), 0
    for row in chain(rows, [None]):
        if block and (row is None or row[0] != block[0][0] or (length >= 1 << 14 and row[1] != block[-1][1])):
            relation, first, data = block[0][0], block[0][1], _block(block)
            db.execute(insert, (relation, first, add_checksum(data, f"{relation} {first}") if data else b""))
            block, length = [], 0
        if row is not None:
            block.append(row)
            length += max(row[4], 1)
    db.execute("drop table setsearch_list")
    db.execute("drop table setsearch_posting")


def _block(rows: list[tuple[Any, ...]]) -> bytes:
    """Lists of single items as a block; empty if one of them is damaged: then the block is, too."""
    import numpy as np

    items, lengths, ids, counts = list[int](), list[int](), [], []
    for _, item, first, last, length, total, gaps, own, *checksums in rows:
        head = zlib.crc32(struct.pack("<7q", 2, rows[0][0], item, first, last, length, total))
        present = [zlib.crc32(gaps, head), head if own is None else zlib.crc32(own, head)]
        if checksums not in (present, [None, None]):
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


def _convert_texts(db: sqlite3.Connection) -> None:
    """Put texts of a row each, until 0.24, into blocks that are deflated together.

    Digests of what was encoded become those of the texts.
    """
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
    """A text of one row; None if it is damaged, or longer than a text may be."""
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(stored, 1 << 27)
    except zlib.error:
        return None
    return text if decompressor.eof and not decompressor.unused_data else None


def _insert_texts(db: sqlite3.Connection, relation: int, texts: dict[int, bytes]) -> None:
    """Store texts as a block."""
    first, numbers = min(texts), struct.Struct(f"<{len(texts)}q")
    slices = [b"\x08" + numbers.pack(*own) for own in (texts, map(len, texts.values()))]
    head = struct.pack("<2I", len(texts), len(texts))
    items = add_checksum(head + b"".join(len(own).to_bytes(4, "little") + own for own in slices), f"{relation} {first}")
    data = add_checksum(zlib.compress(b"".join(texts.values())), f"{relation} {first} {zlib.crc32(items)}")
    insert = "insert into setsearch_text (relation, first, items, data) values (?, ?, ?, ?)"
    db.execute(insert, (relation, first, items, data))


def _drop_derived_arrays(db: sqlite3.Connection) -> None:
    """Delete derived lists, which are in files since 0.26, and what is stored of contexts in one direction alone."""
    lists = "select id from setsearch_generation where name = 'lists'"
    db.execute(f"delete from setsearch_array where generation in ({lists})")
    db.execute("delete from setsearch_generation where name = 'lists'")
    derived = "name glob '* items *' or name glob '* totals' or name glob '* largest' or name glob 'norms of *'"
    db.execute(f"delete from setsearch_array where {derived}")
