"""Opens the relation that a write goes to, and prepares its items: analyzers, contexts, validation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import groupby
from numbers import Integral
from typing import NamedTuple

from setsearch.errors import InvalidItem, UsageError
from setsearch.indexing.references.identity import Group
from setsearch.indexing.references.items import Filing
from setsearch.indexing.writing.batch import Features, OfFields, PreparedItem
from setsearch.indexing.writing.item_fields import Value, checked_fields
from setsearch.indexing.writing.writer import Writer
from setsearch.options import Id
from setsearch.sqlite.database import Bound
from setsearch.storage.analyzers import CONTEXTS, Analyzers, TextSettings
from setsearch.storage.generations import forget
from setsearch.storage.ids import id_text, name_in, plain_name
from setsearch.storage.kept.columns import Values, encode_columns, read_columns
from setsearch.storage.kept.records import Record
from setsearch.storage.kept.vectors import ENCODER, VectorSource, refuse_others, set_source, vector_source
from setsearch.storage.relation import TEXT, Relation, create_relation, find_relation, load_relations
from setsearch.text.analyzer import CHUNK, Analyzer


class Kept(Enum):
    """Stands for what is stored of an item that comes again."""

    KEPT = "kept"


KEPT = Kept.KEPT


class Item(NamedTuple):
    """What is indexed: a unique id; a text, or features (repeated, or with counts); a title and columns for display.

    `fields`: what the item has in others than the first, {"tags": ["sqlite"], "year": 2004, "day": "2004-12-31"}.
    """

    id: Id
    features: str | Sequence[str] | Mapping[str, int]
    title: str | Kept | None = None
    columns: Values | Kept | None = None
    fields: Mapping[str, Value] | None = None


Writable = (
    Item
    | tuple[Id, Features]
    | tuple[Id, Features, str | None]
    | tuple[Id, Features, str | None, Values | None]
    | tuple[Id, Features, str | None, Values | None, Mapping[str, Value] | None]
    | Group
)
Several = Iterable[Writable] | Mapping[Id, Features]


class Intake(Bound):
    """Opens relations and writes items to them, `within` a transaction; `database` is its name in messages."""

    def __init__(self, settings: TextSettings, analyzers: Analyzers, database: str) -> None:
        self._settings = settings
        self._analyzers = analyzers
        self._database = database

    def open(self, names: tuple[str, str] | None, empty: bool = False, spec: str | None = None) -> Relation:
        """The relation to write to, created if it does not exist; `empty` deletes everything in it.

        `spec` is the analyzer of terms that come without their texts.
        """
        relation, (items, features) = self.find(names), names or TEXT
        is_grouped = plain_name(features) == TEXT[1] and plain_name(items) != TEXT[0]
        if is_grouped and self._settings.contexts == "on":
            raise UsageError(f"words of documents have contexts, not those of {items!r}; leave `contexts` out")
        needs_texts = self._settings.contexts not in ("auto", "off") or self._settings.encoder is not None
        if spec is not None and (self._settings.analyzer.language or needs_texts):
            raise UsageError(f"{spec!r} gives terms without texts; leave `language`, `contexts` and `encoder` out")
        if relation is None:
            return self._create(*(names or TEXT), spec)
        if relation.columns is not None:
            raise InvalidItem(f"{relation.items.name!r} are described by numbers; use add_numbers")
        if empty:
            relation.clear()
        if spec is not None:
            self._set_analyzer(relation, spec, empty)
            return relation
        if relation.analyzer is not None and not self._settings.analyzer.agrees(relation.analyzer):
            raise UsageError(
                f"{self._database} was analyzed by {relation.analyzer!r}, not by {self._settings.analyzer.spec!r}; "
                "leave that out, or index into a new database, or another `collection`"
            )
        self._set_contexts(relation, empty)
        self._set_encoder(relation, empty)
        return relation

    def find(self, names: tuple[str, str] | None) -> Relation | None:
        """The relation of our collection with these names, or its only one that has features; None if there is none."""
        relations = [own for own in load_relations(self.cursor) if names is not None or not own.has_vectors_alone]
        return find_relation(relations, names, self._settings.collection)

    def write(self, writer: Writer, items: Several) -> int:
        """Write items; returns how many."""
        pairs = None if hasattr(items, "columns") else getattr(items, "items", None)  # a frame is no mapping
        items = pairs() if callable(pairs) else items
        relation = writer.relation
        analyzer = None if relation.analyzer is None else self._analyzers.of(relation)
        filing = Filing(relation.items)

        def prepared() -> Iterator[PreparedItem]:
            """All items; references in runs, which are looked up together."""
            for are_references, run in groupby(items, lambda item: isinstance(item, Group)):
                if not are_references:
                    yield from (_prepare(relation, analyzer, *_completed(relation, own)) for own in run)
                    continue
                for item, record in filing.file(run):
                    yield _prepare(relation, analyzer, item, record)

        # Those of a frame (frames.py) know whether ids are whole numbers.
        whole, before = getattr(items, "whole", (False, False)), (relation.items.whole, relation.features.whole)
        relation.items.whole, relation.features.whole = whole
        relation.is_altered |= whole != before
        return writer.write(prepared(), analyzer)

    def _create(self, items: str, features: str, spec: str | None) -> Relation:
        settings = self._settings
        items, features = (name_in(settings.collection, name) for name in (items, features))
        if plain_name(features) != TEXT[1]:
            return create_relation(self.cursor, items, features, None)
        if spec is not None:
            return create_relation(self.cursor, items, features, spec, "off")
        is_read = plain_name(items) == TEXT[0] and settings.analyzer.function is None
        contexts = CONTEXTS[settings.contexts] if is_read else "off"
        if contexts == "off" and (settings.analyzer.language or settings.encoder):
            contexts = "forms"
        relation = create_relation(self.cursor, items, features, settings.analyzer.spec, contexts)
        self._set_encoder(relation)
        return relation

    def _set_encoder(self, relation: Relation, empty: bool = False) -> None:
        """Let texts, and words with contexts, have vectors by the encoder of the settings. Raises UsageError."""
        encoder = self._settings.encoder
        if encoder is None or relation.analyzer is None:
            return
        if relation.contexts == "off" and empty:
            _describe(relation, relation.analyzer, "forms")  # keeps texts
        if relation.contexts == "off":
            raise UsageError(
                f"an encoder needs the texts, which {self._database} does not store; "
                "give all documents again with `replace`"
            )
        for kind in (relation.items, relation.features):
            source, wanted = vector_source(kind), VectorSource(ENCODER, None, encoder.name)
            if source is None or (source.source, source.name) != (ENCODER, encoder.name):
                if not empty:
                    refuse_others(kind, wanted)
                set_source(kind, wanted)
                relation.is_altered = True

    def _set_analyzer(self, relation: Relation, spec: str, empty: bool) -> None:
        """Store the analyzer of terms that come without texts; raises UsageError if the relation has another one."""
        if not empty and (relation.analyzer, relation.contexts) != (spec, "off"):
            raise UsageError(
                f"{self._database} was analyzed by {relation.analyzer!r}, not by {spec!r}; "
                "give all documents again with `replace`"
            )
        _describe(relation, spec, "off")

    def _set_contexts(self, relation: Relation, empty: bool) -> None:
        """Apply the present setting. Contexts need all texts: without stored texts all items must come again."""
        contexts = CONTEXTS[self._settings.contexts]
        if contexts == "off" and (" " in (relation.analyzer or "") or self._settings.encoder):
            contexts = "forms"
        is_text = relation.analyzer is not None and plain_name(relation.items.name) == TEXT[0]
        is_met = contexts in ("auto-phrases", relation.contexts)
        if not is_text or is_met or (self._settings.contexts == "on" and relation.contexts == "on"):
            return
        if not empty and (contexts in ("off", "forms") or relation.contexts == "off"):
            stored = "stores no texts" if relation.contexts == "off" else "stores texts"
            raise UsageError(
                f"{self._database} {stored}: to change `contexts`, give all documents again with `replace`"
            )
        _describe(relation, relation.analyzer, contexts)
        forget(relation.cursor, relation.id)


def _describe(relation: Relation, analyzer: str | None, contexts: str) -> None:
    """Store the analyzer and the contexts of a relation."""
    relation.is_altered |= (relation.analyzer, relation.contexts) != (analyzer, contexts)
    relation.analyzer, relation.contexts = analyzer, contexts
    described = "update setsearch_relation set analyzer = ?, contexts = ? where id = ?"
    relation.cursor.execute(described, (analyzer, contexts, relation.id))


def _completed(relation: Relation, item: Writable) -> tuple[Writable, Record | None]:
    """An item with the title, or the columns and the record, that are stored of it, where it has `KEPT`."""
    if not isinstance(item, Item) or (item.title is not KEPT and item.columns is not KEPT):
        return item, None
    id = relation.items.find_one(str(id_text(item.id)))
    ids = [] if id is None else [id]
    if item.title is KEPT:
        titles = [title for _, title in relation.items.describe(ids).values()]
        item = item._replace(title=titles[0] if titles else None)
    if item.columns is not KEPT:
        return item, None
    columns = read_columns(relation, ids)
    records = [Record(own) for own in relation.items.records.read(ids).values()]
    return item._replace(columns=columns.get(id) if id is not None else None), records[0] if records else None


def _prepare(
    relation: Relation, analyzer: Analyzer | None, item: Writable, record: Record | None = None
) -> PreparedItem:
    """The item with its features; a short text stays as it is, to be tokenized with others. Raises InvalidItem."""
    if not isinstance(item, tuple) or not 2 <= len(item) <= 5:
        way_out = "an item is (id, features), (id, features, title) or Item(...), and a frame is for `add_frame`"
        raise InvalidItem(f"{way_out}; this is {' '.join(repr(item).split()):.80}")
    id, features, title, columns, fields = (*item, None, None, None)[:5]
    id = id_text(id)
    others: OfFields = {} if fields is None else checked_fields(id, fields, relation.first_field)
    kept = None if columns is None else encode_columns(id, columns)
    if isinstance(features, str):
        if analyzer is None:
            raise InvalidItem(
                f"item {id!r} has a text, but {relation.label} is not a text collection; "
                f"give a list of {relation.features.name}"
            )
        text = features if relation.contexts != "off" else None
        counted = analyzer.extras.counted(features, title, id) if isinstance(title, str) else features
        is_short = analyzer.function is None and len(counted) <= CHUNK
        return id, counted if is_short else analyzer(counted), title, text, kept, record, others
    if isinstance(features, Mapping):
        features = {f: n for f, n in features.items() if not (isinstance(n, (int, Integral)) and n == 0)}
    return id, features, title, None, kept, record, others
