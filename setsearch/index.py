"""`Index`: what a database holds, how it is written, and its readings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from setsearch.errors import InvalidItem, InvalidParameter, NoIndex
from setsearch.indexing.intake import Intake, Names, TextSettings, Writable, find_relation
from setsearch.search.reading import Reading
from setsearch.search.readings import Views, default_reading, described, has_forms, profile_of, readings_of
from setsearch.search.sets import ItemSet, delete_set, load_set, new_set, set_names
from setsearch.storage.database import Database
from setsearch.storage.names import storable
from setsearch.storage.relation import TEXT, create_relation, load_derived, load_relations
from setsearch.storage.sql import quoted
from setsearch.storage.synced_source import Origin, describe_mirrors, forget, load_origin, refuse_mirror

if TYPE_CHECKING:
    from setsearch.indexing.sync import Changes, Delta
    from setsearch.storage.numbers import Numbered
    from setsearch.storage.synced_source import Columns


Progress = Callable[[Iterator[Any]], Iterator[Any]]


class Index:
    """Relations of items and features in one SQLite database. Made by `setsearch.open`.

    Every call that writes is one transaction. Reading is safe from several threads.
    """

    def __init__(self, database: Database, settings: TextSettings) -> None:
        self._database = database
        self._intake = Intake(settings, str(database))
        self._views = Views(database, self._intake.analyzer_of)

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files that we opened; a connection of the host's stays open."""
        self._database.close()

    def add(self, items: Iterable[Writable], relation: tuple[str, str] | None = None) -> int:
        """Add items; returns how many.

        An item is `(id, features)` or `(id, features, title)`; features are a text, a list of features (repeated ones
        count), or a mapping of features to counts. `relation` names items and features, ("film", "user") for
        example; by default the only relation of the index, or a text collection, ("documents", "terms").

        Raises DuplicateItem where an id is there already or comes twice, InvalidItem; then nothing was written.
        """
        return self._write(items, relation, replace=False)

    def update(self, items: Iterable[Writable], relation: tuple[str, str] | None = None) -> int:
        """Add items, and give those that exist the new features and title; returns how many. Otherwise as `add`."""
        return self._write(items, relation, replace=True)

    def replace(self, items: Iterable[Writable], relation: tuple[str, str] | None = None) -> int:
        """Put these items in the place of everything that the relation holds. Otherwise as `add`."""
        return self._write(items, relation, replace=False, empty=True)

    def delete(self, ids: Iterable[str], relation: tuple[str, str] | None = None) -> int:
        """Delete items by id; returns how many. Raises UnknownItem; then nothing was deleted."""
        names = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        for name in names:
            if not isinstance(name, str):
                raise InvalidParameter(f"items are deleted by id, a text, not by {name!r}")
        from setsearch.indexing.writer import Writer

        with self._database.write() as cursor:
            found = find_relation(load_relations(cursor), relation)
            if found is None:
                raise NoIndex(f"{self._database} holds no such relation to delete from")
            if found.columns is not None:
                from setsearch.storage.numbers import delete_numbers

                return delete_numbers(cursor, found, names)
            refuse_mirror(cursor, found)
            return Writer(cursor, found).delete(names)

    def add_table(
        self, table: str, columns: "Columns", *, track: bool = False, replace: bool = False, progress: Progress = iter
    ) -> "Changes":
        """Index a table of this database, and mirror it from now on: `refresh` takes over what has changed in it.

            index.add_table("articles", setsearch.Columns(id="id", text=("title", "body")), track=True)

        With `track`, triggers note changed rows, and `refresh` reads these alone; without, it reads all. An FTS5 table
        gives the terms of its own index, and has no triggers. With `replace` items that are there now are put away.
        `progress` is handed the items and yields them.

        Raises SourceError, InvalidParameter, UsageError where there are other items; then nothing was written.
        """
        from setsearch.indexing.sync import find_table, mirror

        with self._database.write() as cursor:
            return mirror(cursor, self._intake, find_table(cursor, table, columns, track), progress, replace)

    def follow(self, origin: Origin, read: "Callable[[Any], Delta]") -> "Changes":
        """Bring the documents up to another engine's index, in one transaction: for integrations (mirrors.follow)."""
        from setsearch.indexing.sync import follow

        with self._database.write() as cursor:
            return follow(cursor, self._intake, origin, read)

    def mirror_of(self, table: str, kinds: Sequence[str]) -> dict[str, Any] | None:
        """How a table is indexed: `items` that are its rows, `key` that names them, whether that is the `primary` key.

        None for a table that is not.
        """
        with self._database.read() as cursor:
            for relation in load_relations(cursor):
                origin = load_origin(cursor, relation)
                if origin is not None and origin.kind in kinds and origin.place.lower() == table.lower():
                    primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quoted(table)})") if row[5]]
                    by_rowid = origin.key == "rowid" and not primary
                    return {
                        "items": relation.items.name,
                        "key": origin.key,
                        "primary": by_rowid or primary == [origin.key],
                    }
        return None

    def stamp(self) -> int:
        """What names the present content of the documents: another number after each write."""
        with self._views.relation(TEXT[0]) as (_, relation):
            return relation.stamp

    def followed(self) -> Any:
        """How far the documents follow another engine's index: the `state` of the last `follow`, or None."""
        with self._views.relation(TEXT[0]) as (cursor, relation):
            origin = load_origin(cursor, relation)
            return None if origin is None else origin.state

    def add_numbers(self, items: "Iterable[Numbered]", columns: Sequence[str], name: str = "items") -> int:
        """Add items that numbers describe, `(id, numbers)` or `(id, numbers, title)`; returns how many.

        `numbers` are as many as `columns`, which name them; those of items that exist are replaced. `zip(ids, matrix)`
        adds the rows of a matrix. `name` is what `items(name)` ranks, by the model gaussian.

        Raises InvalidItem, DuplicateItem; then nothing was written.
        """
        from setsearch.storage.numbers import columns_of, write_numbers

        with self._database.write() as cursor:
            if isinstance(columns, str) or len(set(columns)) < len(columns) or not all(map(storable, [name, *columns])):
                raise InvalidParameter(f"columns are distinct names such as ['height', 'weight'], not {columns!r}")
            known = [relation for relation in load_relations(cursor) if relation.items.name == name]
            relation = known[0] if known else create_relation(cursor, name, f"numbers of {name}", None, columns=columns)
            if columns_of(relation) != list(columns):
                raise InvalidItem(f"{name!r} has the columns {columns_of(relation)}, not {list(columns)}")
            return write_numbers(cursor, relation, items)

    def items(self, name: str | None = None) -> Any:
        """The reading that ranks `name`: "documents", "terms", or a column of a relation; a `Reading`.

        By default the terms of a text collection, else the items of the relation. Items that numbers describe have a
        `NumericReading`. Raises UnknownReading.
        """
        name, relation = self._views.find(name)
        if relation.columns is not None:
            from setsearch.search.numeric import NumericReading

            return NumericReading(name, partial(self._views.relation, name))
        by_context = name == relation.features.name and relation.may_have_contexts
        opened = partial(self._views.open, name)
        return Reading(name, profile_of(relation, name), opened, by_context, has_forms(relation))

    def set(self, name: str, items: str | None = None) -> ItemSet:
        """The set that was saved under a name, or a new one of `items` (default as in `items()`)."""
        return load_set(name, items, self._database, self.items)

    def keep_set(
        self, name: str, accepted: Iterable[str], rejected: Iterable[str] = (), items: str | None = None
    ) -> ItemSet:
        """Save a set, in the place of one of the same name. Raises UnknownItem, InvalidParameter."""
        kept = new_set(name, self._database, self.items(items))
        kept.accept(*accepted)
        kept.reject(*rejected)
        kept.save(replace=True)
        return kept

    def sets(self) -> dict[str, str]:
        """The names of the saved sets, each with what it ranks."""
        return set_names(self._database)

    def delete_set(self, name: str) -> None:
        """Forget a saved set; raises UnknownSet."""
        delete_set(self._database, name)

    def refresh(self) -> "Changes":
        """Take over what has changed in mirrored tables, and derive now what questions would otherwise derive.

        Raises SourceError where a table is no longer as it was; then nothing was written.
        """
        from setsearch.indexing.sync import Changes, is_behind, refresh

        changes = Changes()
        with self._database.read() as cursor:
            behind = any(is_behind(cursor, relation) for relation in load_relations(cursor))
        if behind:
            with self._database.write() as cursor:
                for relation in load_relations(cursor):
                    changes += refresh(cursor, self._intake, relation)
        with self._database.read() as cursor:
            relations = [relation for relation in load_relations(cursor) if relation.columns is None]
            names = list(readings_of(relations))
        for name in names:
            self._views.refresh(name)
            reading = self.items(name)
            with reading.fields() as fields:
                for field in fields.all:
                    field.snapshot.measure(fields.cursor, reading.profile.make({}).rule)
        return changes

    def drop(self) -> None:
        """Take everything of ours out of the database, saved sets too; the host's tables stay as they are."""
        from setsearch.storage.schema import drop_tables

        with self._database.write() as cursor:
            for relation in load_relations(cursor):
                forget(cursor, relation)
            drop_tables(cursor)

    def readings(self) -> list[dict[str, Any]]:
        """What can be ranked: items, features, and how many there are of both."""
        with self._database.read() as cursor:
            return [reading for relation in load_relations(cursor) for reading in described(relation)]

    def info(self) -> dict[str, Any]:
        """What the index holds: readings with the counts of items, features and postings, revision, defaults."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
            postings = {relation.id: relation.postings.entry_count(cursor) for relation in relations}
            mirrors = describe_mirrors(cursor, relations)
        readings = [
            reading | {"posting_count": postings[relation.id], "revision": relation.revision}
            for relation in relations
            for reading in described(relation)
        ]
        default = default_reading(relations, str(self._database))
        return {
            "readings": readings,
            "revision": sum(relation.revision for relation in relations),
            "mirrors": mirrors,
            "contexts": self._context_info(),
            "defaults": {"items": default} | profile_of(readings_of(relations)[default], default).describe(),
        }

    def _context_info(self) -> dict[str, Any]:
        """How many words have contexts; empty where none have."""
        with self._database.read() as cursor:
            for relation in load_relations(cursor):
                derived = load_derived(cursor, relation)
                if derived:
                    words = next(iter(derived.values())).items
                    sizes = {r.features.name.split()[-1]: r.features.size for r in derived.values()}
                    fresh = relation.contexts_stamp == relation.stamp
                    return {"terms": words.size, "up_to_date": fresh, "phrases": relation.contexts == "phrases"} | sizes
        return {}

    def check(self) -> list[str]:
        """What is wrong with the index, one line each; nothing in a sound one.

        Every statistic is computed again from the lists, each direction of the lists is compared with the other, and
        checksums and SQLite's own indexes vouch for the rest.
        """
        from setsearch.indexing.check import audit

        with self._database.read() as cursor:
            return audit(cursor)

    def repair(self) -> list[str]:
        """Mend what can be mended, in one transaction; one line for each thing done. `check` tells what is left."""
        from setsearch.indexing.check import repair

        with self._database.write() as cursor:
            return list(repair(cursor, self._intake))

    def _write(self, items: Iterable[Writable], names: Names | None, replace: bool, empty: bool = False) -> int:
        from setsearch.indexing.writer import Writer

        with self._database.write() as cursor:
            relation = self._intake.open(cursor, names, empty)
            if empty:
                forget(cursor, relation)
            refuse_mirror(cursor, relation)
            return self._intake.write(Writer(cursor, relation, replace), items)
