"""`Index`: what a database holds, how it is written, and its readings."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Any

from setsearch.database import Database
from setsearch.errors import InvalidItem, InvalidParameter, NoIndex, UsageError
from setsearch.expansion import Reading
from setsearch.hits import Item
from setsearch.names import storable
from setsearch.relation import Relation, create_relation, load_derived, load_relations
from setsearch.sets import ItemSet, delete_set, load_set, new_set, set_names
from setsearch.text import Analyzer
from setsearch.views import TEXT, Views, default_reading, has_forms, profile_of, readings_of

if TYPE_CHECKING:
    from setsearch.numbers import Numbered

CONTEXTS = ("auto", "on", "off", "phrases")

Features = str | Sequence[str] | Mapping[str, int]
Writable = Item | tuple[str, Features] | tuple[str, Features, str | None]


@dataclass(frozen=True)
class TextSettings:
    """How a text collection is made: its analyzer, and whether contexts of words are read: off, auto, on, phrases."""

    analyzer: Analyzer = field(default_factory=Analyzer)
    contexts: str = "auto"

    def __post_init__(self) -> None:
        if self.contexts not in CONTEXTS:
            raise InvalidParameter(f"contexts is one of {', '.join(CONTEXTS)}, not {self.contexts!r}")


class Index:
    """Relations of items and features in one SQLite database. Made by `setsearch.open`.

    Every call that writes is one transaction. Reading is safe from several threads.
    """

    def __init__(self, database: Database, settings: TextSettings) -> None:
        self._database = database
        self._settings = settings
        self._analyzers: dict[str, Analyzer] = {settings.analyzer.spec: settings.analyzer}
        self._views = Views(database, self._analyzer_of)

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
        from setsearch.writer import Writer

        with self._database.write() as cursor:
            found = _find_relation(load_relations(cursor), relation)
            if found is None:
                raise NoIndex(f"{self._database} holds no such relation to delete from")
            if found.columns is not None:
                from setsearch.numbers import delete_numbers

                return delete_numbers(cursor, found, names)
            return Writer(cursor, found).delete(names)

    def add_numbers(self, items: "Iterable[Numbered]", columns: Sequence[str], name: str = "items") -> int:
        """Add items that numbers describe, `(id, numbers)` or `(id, numbers, title)`; returns how many.

        `numbers` are as many as `columns`, which name them; those of items that exist are replaced. `zip(ids, matrix)`
        adds the rows of a matrix. `name` is what `items(name)` ranks, by the model gaussian.

        Raises InvalidItem, DuplicateItem; then nothing was written.
        """
        from setsearch.numbers import columns_of, write_numbers

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
            from setsearch.numbers import NumericReading

            return NumericReading(name, partial(self._views.relation, name))
        by_context = name == relation.features.name and relation.contexts not in ("off", "forms")
        opened = partial(self._views.open, name)
        return Reading(name, profile_of(relation, name), opened, by_context, has_forms(relation))

    def set(self, name: str, items: str | None = None) -> ItemSet:
        """The set that was saved under a name, or a new one of `items` (default as in `items()`)."""
        return load_set(name, items, self._database, self.items)

    def new_set(self, name: str, items: str | None = None) -> ItemSet:
        """An empty set, whether or not one was saved under the name."""
        return new_set(name, self._database, self.items(items))

    def sets(self) -> dict[str, str]:
        """The names of the saved sets, each with what it ranks."""
        return set_names(self._database)

    def delete_set(self, name: str) -> None:
        """Forget a saved set; raises UnknownSet."""
        delete_set(self._database, name)

    def refresh(self) -> None:
        """Derive now what questions would otherwise derive when they need it: contexts, statistics of models."""
        with self._database.read() as cursor:
            relations = [relation for relation in load_relations(cursor) if relation.columns is None]
            names = list(readings_of(relations))
        for name in names:
            self._views.refresh(name)
            reading = self.items(name)
            with reading.fields() as fields:
                for field in fields.all:
                    field.snapshot.measure(fields.cursor, reading.profile.make({}).rule)

    def info(self) -> dict[str, Any]:
        """What the index holds: readings with the counts of items, features and postings, revision, defaults."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
            postings = {relation.id: relation.postings.entry_count(cursor) for relation in relations}
        readings = [
            {
                "items": kind.name,
                "features": other.name,
                "item_count": kind.size,
                "feature_count": other.size,
                "posting_count": postings[relation.id],
                "revision": relation.revision,
                "text": relation.analyzer is not None,
                "defaults": profile_of(relation, kind.name).describe(),
            }
            for relation in relations
            for kind, other in ((relation.items, relation.features), (relation.features, relation.items))
            if kind.name in readings_of([relation])
        ]
        default = default_reading(relations, str(self._database))
        return {
            "readings": readings,
            "revision": sum(relation.revision for relation in relations),
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
        """What is wrong with the stored lists and statistics, one line each; nothing in a sound index."""
        from setsearch.audit import audit

        with self._database.read() as cursor:
            given = load_relations(cursor)
            fresh = [relation for relation in given if relation.contexts_stamp == relation.stamp]
            derived = [made for relation in fresh for made in load_derived(cursor, relation).values()]
            return [line for relation in given + derived for line in audit(cursor, relation)]

    def _write(
        self, items: Iterable[Writable], names: tuple[str, str] | None, replace: bool, empty: bool = False
    ) -> int:
        from setsearch.writer import Writer

        with self._database.write() as cursor:
            relations = load_relations(cursor)
            relation = _find_relation(relations, names)
            if relation is None:
                relation = self._create(cursor, *(names or TEXT))
            else:
                if relation.columns is not None:
                    raise InvalidItem(f"{relation.items.name!r} are described by numbers; use add_numbers")
                self._check_analyzer(relation)
                if empty:
                    relation.clear(cursor)
                self._choose_contexts(cursor, relation, empty)
            return Writer(cursor, relation, replace).write(map(partial(self._analyzed, relation), items))

    def _create(self, cursor: sqlite3.Cursor, items: str, features: str) -> Relation:
        if features != TEXT[1]:
            return create_relation(cursor, items, features, None)
        settings = self._settings
        contexts = settings.contexts if items == TEXT[0] and settings.analyzer.function is None else "off"
        if contexts == "off" and settings.analyzer.language:
            contexts = "forms"
        return create_relation(cursor, items, features, settings.analyzer.spec, contexts)

    def _choose_contexts(self, cursor: sqlite3.Cursor, relation: Relation, empty: bool) -> None:
        """Take over what is asked for now; that needs the texts, so without them only where all are given again."""
        asked = self._settings.contexts
        if relation.analyzer is None or relation.items.name != TEXT[0] or asked in ("auto", relation.contexts):
            return
        if asked == "off" and " " in relation.analyzer:
            asked = "forms"
        if not empty and (asked in ("off", "forms") or relation.contexts == "off"):
            kept = "keeps no texts" if relation.contexts == "off" else "keeps texts"
            raise UsageError(f"{self._database} {kept}: to change --contexts, give all documents again with --replace")
        from setsearch.wordspace import clear

        clear(cursor, relation)
        relation.contexts = asked
        cursor.execute(
            "update setsearch_relation set contexts = ?, contexts_stamp = null where id = ?", (asked, relation.id)
        )

    def _check_analyzer(self, relation: Relation) -> None:
        """Refuse to add to a collection that was analysed in another way than is asked for now."""
        asked = self._settings.analyzer.spec
        if relation.analyzer is not None and asked not in (Analyzer().spec, relation.analyzer):
            raise UsageError(
                f"{self._database} was analysed as {relation.analyzer!r}, not as {asked!r}; leave that out, "
                "or index into another database"
            )

    def _analyzer_of(self, relation: Relation) -> Analyzer:
        spec = relation.analyzer or ""
        if spec not in self._analyzers:
            self._analyzers[spec] = Analyzer.of(spec)
        return self._analyzers[spec]

    def _analyzed(self, relation: Relation, given: Writable) -> Item:
        """The item with its text as features."""
        if not isinstance(given, tuple) or not 2 <= len(given) <= 3:
            raise InvalidItem(f"an item is (id, features) or (id, features, title), not {given!r:.80}")
        id, features, *title = given
        if isinstance(features, str):
            if relation.analyzer is None:
                raise InvalidItem(
                    f"item {id!r} has a text, but {relation.items.name} x {relation.features.name} is not a text "
                    f"collection; give a list of {relation.features.name}"
                )
            text = features if relation.contexts != "off" else None
            return Item(id, self._analyzer_of(relation)(features), title[0] if title else None, text)
        if isinstance(features, Mapping):
            return Item(id, {f: n for f, n in features.items() if not (isinstance(n, Integral) and n == 0)}, *title)
        return Item(id, features, *title)


def _find_relation(relations: Sequence[Relation], names: tuple[str, str] | None) -> Relation | None:
    """The relation of these names, or the only one; None if there is none yet."""
    if names is None:
        if len(relations) > 1:
            have = ", ".join(f"{r.items.name} x {r.features.name}" for r in relations)
            raise InvalidItem(f"the index holds several relations, {have}; name one")
        return relations[0] if relations else None
    if not (isinstance(names, tuple) and len(names) == 2 and all(map(storable, names))):
        raise InvalidParameter(f"a relation is two names such as ('film', 'user'), not {names!r}")
    return next((r for r in relations if (r.items.name, r.features.name) == names), None)
