"""What is given, as items of a relation: analyzers make features of texts, contexts are chosen, relations are made."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING

from setsearch.errors import InvalidItem, InvalidParameter, UsageError
from setsearch.indexing.batch import Features, Prepared
from setsearch.storage.names import storable
from setsearch.storage.relation import TEXT, Relation, create_relation, load_relations
from setsearch.text.analyzer import LONG, Analyzer

if TYPE_CHECKING:
    from setsearch.indexing.writer import Writer
from typing import NamedTuple


class Item(NamedTuple):
    """What is indexed: a unique id, its features (repeated, or with counts) or a text, a title to show."""

    id: str
    features: str | Sequence[str] | Mapping[str, int]
    title: str | None = None


CONTEXTS = ("auto", "on", "off", "phrases")
Writable = Item | tuple[str, Features] | tuple[str, Features, str | None]
Names = tuple[str, str]  # items and features


@dataclass(frozen=True)
class TextSettings:
    """How a text collection is made: its analyzer, and whether contexts of words are read: off, auto, on, phrases."""

    analyzer: Analyzer = field(default_factory=Analyzer)
    contexts: str = "auto"

    def __post_init__(self) -> None:
        if self.contexts not in CONTEXTS:
            raise InvalidParameter(f"contexts is one of {', '.join(CONTEXTS)}, not {self.contexts!r}")


class Intake:
    """How what is given becomes items of a relation; `place` names the database in messages."""

    def __init__(self, settings: TextSettings, place: str) -> None:
        self._settings = settings
        self._place = place
        self._analyzers: dict[str, Analyzer] = {settings.analyzer.spec: settings.analyzer}

    def open(
        self, cursor: sqlite3.Cursor, names: Names | None, empty: bool = False, spec: str | None = None
    ) -> Relation:
        """The relation to write to, made if it is not there yet; with `empty`, nothing is left in it.

        `spec` describes the analyzer of terms that come without their texts.
        """
        relation = find_relation(load_relations(cursor), names)
        if spec is not None and (self._settings.analyzer.language or self._settings.contexts in ("on", "phrases")):
            raise UsageError(f"terms come as {spec!r} made them, without their texts; leave --language, --contexts out")
        if relation is None:
            return self._create(cursor, *(names or TEXT), spec)
        if relation.columns is not None:
            raise InvalidItem(f"{relation.items.name!r} are described by numbers; use add_numbers")
        if empty:
            relation.clear(cursor)
        if spec is not None:
            self._analyse_by(cursor, relation, spec, empty)
            return relation
        self._check_analyzer(relation)
        self._choose_contexts(cursor, relation, empty)
        return relation

    def write(self, writer: "Writer", items: Iterable[Writable]) -> int:
        """Write items, texts as their terms; returns how many."""
        relation = writer.relation
        analyzer = None if relation.analyzer is None else self.analyzer_of(relation)
        return writer.write(map(partial(_prepared, relation, analyzer), items), analyzer)

    def analyzer_of(self, relation: Relation) -> Analyzer:
        """What makes the terms of a collection."""
        spec = relation.analyzer or ""
        if spec not in self._analyzers:
            self._analyzers[spec] = Analyzer.of(spec)
        return self._analyzers[spec]

    def _create(self, cursor: sqlite3.Cursor, items: str, features: str, spec: str | None) -> Relation:
        if features != TEXT[1]:
            return create_relation(cursor, items, features, None)
        if spec is not None:
            return create_relation(cursor, items, features, spec, "off")
        settings = self._settings
        contexts = settings.contexts if items == TEXT[0] and settings.analyzer.function is None else "off"
        if contexts == "off" and settings.analyzer.language:
            contexts = "forms"
        return create_relation(cursor, items, features, settings.analyzer.spec, contexts)

    def _analyse_by(self, cursor: sqlite3.Cursor, relation: Relation, spec: str, empty: bool) -> None:
        """Note the analyzer of terms that come without texts; raises UsageError where others have other terms."""
        if not empty and (relation.analyzer, relation.contexts) != (spec, "off"):
            raise UsageError(f"{self._place} was analysed as {relation.analyzer!r}, not as {spec!r}; use --replace")
        relation.analyzer, relation.contexts = spec, "off"
        cursor.execute(
            "update setsearch_relation set analyzer = ?, contexts = 'off', contexts_stamp = null where id = ?",
            (spec, relation.id),
        )

    def _choose_contexts(self, cursor: sqlite3.Cursor, relation: Relation, empty: bool) -> None:
        """Take over what is asked for now; that needs the texts, so without them only where all are given again."""
        asked = self._settings.contexts
        if relation.analyzer is None or relation.items.name != TEXT[0] or asked in ("auto", relation.contexts):
            return
        if asked == "off" and " " in relation.analyzer:
            asked = "forms"
        if not empty and (asked in ("off", "forms") or relation.contexts == "off"):
            kept = "keeps no texts" if relation.contexts == "off" else "keeps texts"
            raise UsageError(f"{self._place} {kept}: to change --contexts, give all documents again with --replace")
        from setsearch.indexing.contexts import clear

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
                f"{self._place} was analysed as {relation.analyzer!r}, not as {asked!r}; leave that out, "
                "or index into another database"
            )


def find_relation(relations: Sequence[Relation], names: tuple[str, str] | None) -> Relation | None:
    """The relation of these names, or the only one; None if there is none yet."""
    if names is None:
        if len(relations) > 1:
            have = ", ".join(f"{r.items.name} x {r.features.name}" for r in relations)
            raise InvalidItem(f"the index holds several relations, {have}; name one")
        return relations[0] if relations else None
    if not (isinstance(names, tuple) and len(names) == 2 and all(map(storable, names))):
        raise InvalidParameter(f"a relation is two names such as ('film', 'user'), not {names!r}")
    return next((r for r in relations if (r.items.name, r.features.name) == names), None)


def _prepared(relation: Relation, analyzer: Analyzer | None, given: Writable) -> Prepared:
    """The item with its text as features, or as it is where it will be looked through with others."""
    if not isinstance(given, tuple) or not 2 <= len(given) <= 3:
        raise InvalidItem(f"an item is (id, features) or (id, features, title), not {given!r:.80}")
    id, features, title = given if len(given) == 3 else (*given, None)
    if isinstance(features, str):
        if analyzer is None:
            raise InvalidItem(
                f"item {id!r} has a text, but {relation.items.name} x {relation.features.name} is not a text "
                f"collection; give a list of {relation.features.name}"
            )
        by_words = analyzer.function is None and len(features) <= LONG
        text = features if relation.contexts != "off" else None
        return id, features if by_words else analyzer(features), title, text
    if isinstance(features, Mapping):
        features = {f: n for f, n in features.items() if not (isinstance(n, Integral) and n == 0)}
    return id, features, title, None
