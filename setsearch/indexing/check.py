"""Checks an index, and repairs it.

A check recomputes every statistic from the lists, and compares what is derived, names and checksums. A repair takes
what is damaged from the synced table, from what was derived of the same content, or from the texts.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np

from setsearch.arrays import Entries, Ints, distinct, pack, repeat
from setsearch.errors import CorruptIndex, LostArrays, SetsearchError, UsageError, number_of
from setsearch.indexing.sync import check_source, read_again
from setsearch.indexing.writing.intake import Intake
from setsearch.indexing.writing.item_fields import levels_differ, numbers_of
from setsearch.lists import transposed
from setsearch.sqlite.database import WRONG_VALUES, is_of_stored_values
from setsearch.sqlite.integrity import (
    CHECKED,
    Seal,
    sqlite_problems,
)
from setsearch.sqlite.mapped import Mapped, beside, delete_arrays, map_arrays
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.feature_fields import FeatureField
from setsearch.storage.forward_lists import counted
from setsearch.storage.generations import CONTEXTS, LISTS, delete_generations, find_generation
from setsearch.storage.kept.numbers import check_numbers
from setsearch.storage.kept.texts import read_texts
from setsearch.storage.kept.vectors import delete_damaged, read_vectors
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation, load_relations, most_ids

# Tables whose rows nothing else misses, and what they belong to.
OWNED = dict.fromkeys(("text", "columns", "numbers", "field_number"), "relation")
OWNED |= dict.fromkeys(("record", "alias", "vector"), "kind")
UNREADABLE = (CorruptIndex, sqlite3.DatabaseError, TypeError, ValueError, OverflowError)


def find_problems(cursor: sqlite3.Cursor, file: Path | None) -> list[str]:
    """One line for each problem; empty for a sound index. `file`: the database, if there may be files beside it.

    Such a file that is damaged is deleted: the next question makes it anew. A mistake of ours is raised only if nothing
    is damaged, which may be its cause.
    """
    problems = [*_lines(_check_tables(cursor))]
    try:
        for line in _lines(_check_relations(cursor, file)):
            problems.append(line)
    except WRONG_VALUES as error:
        if not problems:
            raise
        problems.append(f"stored data cannot be read ({error})")
    return problems


def repair(intake: Intake, file: Path | None) -> Iterator[str]:
    """Repair an index, and yield one line for each repair; the caller commits.

    Derived values are deleted, to be derived again: contexts only if all texts can be read. Names, numbers and texts
    are stored once and cannot be repaired.
    """
    cursor, kept = intake.cursor, list[int]()
    seal = Seal(cursor)
    is_changed = seal.differs() or bool(seal.changed())
    yield from _count_names(cursor)
    for relation in load_relations(cursor):
        if relation.columns is not None:
            continue
        contexts = find_generation(relation)
        is_whole = contexts is not None and not any(_check_contexts(relation))
        if contexts is not None and is_whole and not _has_texts(relation):
            kept.append(contexts.id)
            yield f"{relation.label}: contexts stay as they are, because damaged texts cannot give them again"
        elif relation.contexts != "off":
            yield f"{relation.label}: contexts will be derived again"
        for vocabulary in (relation.items, relation.features):
            count = delete_damaged(vocabulary)
            if count:
                yield f"{vocabulary.name}: deleted {number_of(count, 'damaged vector')}"
        if read_again(intake, relation):
            yield f"{relation.label}: read again from its table"
        else:
            yield from (f"{relation.label}: {line}" for line in _repair_lists(relation, file))
            relation.save()
        for name in (LISTS, CONTEXTS):
            if file is not None:
                delete_arrays(beside(file, f"{name}-{relation.id}"))
    delete_generations(cursor, kept)
    if is_changed:
        seal.write()
        seal.accept_sums()
        yield "kinds, relations, sources and sets changed from outside: accepted as they are now, look at them"


def open_to_replace(intake: Intake, names: tuple[str, str] | None) -> Relation:
    """The relation whose items will all be others: emptied only if its items cannot be compared with these.

    They cannot if it is damaged, or gets other settings; and references keep their names as long as they are there.
    """
    relation = intake.find(names)
    if relation is not None and not relation.items.records.are_there() and not any(_check_any(relation, None)):
        with suppress(UsageError):
            return intake.open(names)
    return intake.open(names, empty=True)


def _has_texts(relation: Relation) -> bool:
    try:
        return all(text is not None for _, text in read_texts(relation))
    except UNREADABLE:
        return False


def _lines(check: Iterable[str], label: str = "") -> Iterator[str]:
    """The lines of a check, behind a label; the error that ends it becomes a line too."""
    try:
        yield from (label + line for line in check)
    except (SetsearchError, sqlite3.DatabaseError) as error:
        yield f"{label}{error}"
    except WRONG_VALUES as error:
        if not is_of_stored_values(error):
            raise
        yield f"{label}stored data cannot be read ({error})"


def _unless_read(read: Callable[..., object], *given: object) -> Iterator[str]:
    """No line, or the error of what reads something."""
    read(*given)
    yield from ()


def _check_tables(cursor: sqlite3.Cursor) -> Iterator[str]:
    yield from sqlite_problems(cursor)
    if Seal(cursor).differs():
        yield f"setsearch_{', setsearch_'.join(CHECKED)} changed from outside"
    yield from (f"setsearch_{table} changed from outside" for table in Seal(cursor).changed())
    for table, owner in OWNED.items():
        of_none = f"select 1 from setsearch_{table} where {owner} not in (select id from setsearch_{owner}) limit 1"
        if cursor.execute(of_none).fetchone():
            yield f"rows of setsearch_{table} belong to nothing; index the collection again"


def _check_relations(cursor: sqlite3.Cursor, file: Path | None) -> Iterator[str]:
    for relation in load_relations(cursor):
        yield from _check_any(relation, file)


def _check_any(relation: Relation, file: Path | None) -> Iterator[str]:
    """The problems of a relation and of what was derived from its present content."""
    yield from _lines(check_source(relation))
    if relation.columns is not None:
        yield from _lines(check_numbers(relation))
        return
    label = f"{relation.label}: "
    for vocabulary in (relation.items, relation.features):
        yield from _lines(_check_vocabulary(vocabulary), label)
    yield from _lines(_check_lists(relation), label)
    yield from _lines(_check_texts(relation), label)
    yield from _lines(relation.items.records.check())
    for vocabulary in (relation.items, relation.features):
        yield from _lines(_unless_read(read_vectors, vocabulary))
    if relation.analyzer is not None:
        yield from _lines(_unless_read(load_analyzer, relation.analyzer))
    yield from _lines(_check_contexts(relation), label)
    if file is not None:
        yield from _lines(_check_files(relation, file), label)


def _check_contexts(relation: Relation) -> Iterator[str]:
    """One line if the contexts that were derived from a relation are damaged."""
    generation = find_generation(relation)
    try:
        if generation is not None:
            generation.check()
    except LostArrays as error:
        yield f"derived {CONTEXTS}: {error}"


def _check_files(relation: Relation, file: Path) -> Iterator[str]:
    for name in (LISTS, CONTEXTS):
        mapped = map_arrays(file, beside(file, f"{name}-{relation.id}"))
        if mapped is None:
            continue
        problem = None if mapped.are_intact() else "is damaged"
        if problem is None and name == LISTS and mapped.state == [*relation.state]:
            problem = _difference(relation, mapped)
        if problem is not None:
            delete_arrays(mapped.path)
            is_left = " and cannot be deleted" if mapped.path.exists() else "; it is made anew"
            yield f"{mapped.path.name} {problem}{is_left}"


def _difference(relation: Relation, mapped: Mapped) -> str | None:
    """What is wrong with the lists of a file; None if they are those of the tables, or these cannot be read."""
    stored = _read_all(relation)
    if stored is None:
        return None
    pairs = (_mapped_cells(mapped, "items"), stored), (_mapped_cells(mapped, "features"), transposed(stored))
    are_those = all(own is not None and all(map(np.array_equal, own, cells)) for own, cells in pairs)
    return None if are_those else "has other lists than the tables"


def _mapped_cells(mapped: Mapped, direction: str) -> Entries | None:
    """All entries of one direction in a file of arrays; None if there are none that can be used."""
    parts = [mapped.arrays.get(f"{direction} {name}") for name in ("lengths", "ids", "counts")]
    if any(part is None for part in parts) or not mapped.are_intact():
        return None
    lengths, ids, counts = cast(list[Ints], parts)
    end = mapped.used[f"{direction} ids"]
    if int(lengths.sum()) != end or lengths.min(initial=0) < 0:
        return None
    return Entries(repeat(np.arange(len(lengths)), lengths), ids[:end].astype(np.int64), counts[:end].astype(np.int64))


def _check_lists(relation: Relation) -> Iterator[str]:
    """One line for each problem with the lists of a relation."""
    cells = relation.forward.read_all()
    stored = relation.frequencies.read()
    if not np.array_equal(stored, counted(cells, relation.features.next_id)):
        yield f"the frequencies of {relation.features.name} differ from the lists"
    if len(distinct(cells.ids)) != relation.features.size:
        yield f"{relation.features.size:,} {relation.features.name} have names, but some have no list"
    for own in relation.fields:
        if not own.is_kept:
            continue
        if levels_differ(relation, own) or not np.array_equal(*_ranges(relation, own, cells)):
            yield f"the ranges of {own.name} are not those of its numbers"


def _check_texts(relation: Relation) -> Iterator[str]:
    """One line for texts without an item."""
    having = np.array([id for id, _ in read_texts(relation)], np.int64)
    known = np.fromiter(relation.items.ids(), np.int64)
    lost = np.count_nonzero(~np.isin(having, known if relation.contexts != "off" else known[:0]))
    if lost or (np.diff(having) <= 0).any():
        yield f"{lost:,} texts belong to none of the {relation.items.name}, or some are stored twice"


def _ranges(relation: Relation, own: FeatureField, cells: Entries) -> tuple[Ints, Ints]:
    """The cells of a field of numbers as they are, and as they follow from these, each as one number."""
    items, numbers = numbers_of(relation, own)
    parts = np.searchsorted(np.array(own.ends), numbers, "right")
    names = {part: own.of_part(part) for part in distinct(parts).tolist()}
    ids = relation.features.find([name for both in names.values() for name in both])
    expected = [
        pack(items[parts == part], np.array([ids.get(name, -1)])) for part, both in names.items() for name in both
    ]
    mine = np.isin(cells.ids, relation.features.between(own.prefix, own.after))
    return pack(*cells.select(mine)[:2]), np.sort(np.concatenate([np.zeros(0, np.int64), *expected]))


def _check_vocabulary(vocabulary: Vocabulary) -> Iterator[str]:
    ids = np.fromiter(vocabulary.ids(), np.int64)
    if len(ids) != vocabulary.size:
        yield f"the count says {vocabulary.size:,} {vocabulary.name}, but there are {len(ids):,}"
    if len(ids) and (ids.min() < 0 or ids.max() >= vocabulary.next_id):
        yield f"an id of {vocabulary.name} lies outside 0 to {vocabulary.next_id - 1}"
    rows = vocabulary.cursor.execute("select id from setsearch_free where kind = ?", (vocabulary.id,))
    if {id for (id,) in rows} != set(range(vocabulary.next_id)) - set(ids.tolist()):
        yield f"the free ids of {vocabulary.name} are not those without a name"


def _count_names(cursor: sqlite3.Cursor) -> Iterator[str]:
    for id, name, size, next_id in cursor.execute("select id, name, size, peak from setsearch_kind").fetchall():
        ids = {id for (id,) in cursor.execute("select id from setsearch_name where kind = ?", (id,))}
        count, least_next_id = len(ids), max(ids, default=-1) + 1
        if not 0 <= min(ids, default=0) <= least_next_id <= most_ids(cursor):
            yield f"{name}: an id is damaged; index the collection again"
            continue
        if ids:
            cursor.execute("update setsearch_kind set size = ?, peak = ? where id = ?", (count, least_next_id, id))
            if count != size or least_next_id > next_id:
                yield f"{name}: counted again, {count}"
        cursor.execute("delete from setsearch_free where kind = ?", (id,))
        free = set(range(least_next_id)) - ids
        cursor.executemany("insert into setsearch_free (kind, id) values (?, ?)", [(id, own) for own in free])


def _repair_lists(relation: Relation, file: Path | None) -> Iterator[str]:
    """Take unreadable lists from what was derived from them, and count frequencies again."""
    cells = _read_all(relation)
    if cells is None:
        mapped = None if file is None else map_arrays(file, beside(file, f"{LISTS}-{relation.id}"))
        is_of_now = mapped is not None and mapped.state == [*relation.state]
        cells = _mapped_cells(mapped, "items") if mapped is not None and is_of_now else None
        if cells is None:
            yield "the lists are damaged; index the collection again"
            return
        relation.forward.clear()
        relation.forward.write(distinct(cells.lists), cells)
        yield "the lists were made again from those that were derived"
    frequencies = counted(cells, relation.features.next_id)
    try:
        are_right = np.array_equal(relation.frequencies.read(), frequencies)
    except UNREADABLE:
        are_right = False
    if not are_right:
        relation.frequencies.clear()
        relation.frequencies.add(distinct(cells.ids), frequencies[:, distinct(cells.ids)])
        yield f"the frequencies of {relation.features.name} were counted again"


def _read_all(relation: Relation) -> Entries | None:
    try:
        return relation.forward.read_all()
    except UNREADABLE:
        return None
