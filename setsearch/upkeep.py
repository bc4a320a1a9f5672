"""What keeps an index fresh: applies changes of synced tables, derives arrays and contexts, and makes vectors."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import islice
from sqlite3 import Cursor
from typing import Any, NamedTuple

from setsearch.answers.reading import Reading
from setsearch.errors import SourceError, UsageError
from setsearch.indexing.sync import Changes, needs_sync, sync
from setsearch.indexing.writing import vectors as indexing
from setsearch.indexing.writing.intake import Intake
from setsearch.memory.readings import Readings
from setsearch.options import Fresh, Ids, Progress
from setsearch.search.latent_items import latent_vectors
from setsearch.sqlite.database import Database
from setsearch.storage.ids import collection_of, name_in, plain_name
from setsearch.storage.kept.vectors import (
    LATENT,
    VectorSource,
    is_encoded,
    refuse_others,
    replace_vectors,
    set_source,
    vector_source,
)
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import VECTORS_OF, create_relation, find_again, load_relations, relations_by_reading
from setsearch.storage.revisions import Revision
from setsearch.text.encoder import Encoders

ITEMS = "items"  # the name of items that only vectors describe, if they are not given one

HUNDREDTHS = range(100)


class Parts(NamedTuple):
    """What an index is made of."""

    database: Database
    readings: Readings
    encoders: Encoders
    make_reading: Callable[[str], Reading]
    collection: str  # all of them without one


def refresh(parts: Parts, intake: Intake, fresh: Fresh, progress: Progress) -> Changes:
    """As `Index.refresh`."""
    changes, problem = _apply(parts, intake, progress)
    if fresh is None:
        changes += Changes(behind=any(map(parts.readings.is_behind, _derived_names(parts))))
    else:
        derive(parts, fresh, progress)
    if problem is not None:
        raise problem
    return changes


def derive(parts: Parts, fresh: Fresh, progress: Progress) -> None:
    """As `Index.derive`."""
    for name in _derived_names(parts):
        with closing(_Hundredths(progress)) as done:
            parts.readings.refresh(name, fresh, done.reach)
        _encode(parts, name, progress)
        _renew_latent(parts, name, fresh)


class _Hundredths:
    """Lets `progress` yield the hundredths of a work that tells how far it is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begun: Iterator[int] | None = None
        self._reached = 0

    def reach(self, share: float) -> None:
        """Yield those up to a share; what was begun anew yields none again."""
        if self._begun is None:
            self._begun = iter(self._progress(HUNDREDTHS))
        for _ in islice(self._begun, max(int(share * len(HUNDREDTHS)) - self._reached, 0)):
            self._reached += 1

    def close(self) -> None:
        """Yield the rest, if there was anything to do."""
        for _ in self._begun or ():
            pass


def _derived_names(parts: Parts) -> list[str]:
    """The items of relations of which something is derived."""
    with parts.database.read() as cursor:
        relations = load_relations(cursor, parts.collection)
    return [relation.items.name for relation in relations if relation.columns is None]


def _apply(parts: Parts, intake: Intake, progress: Progress) -> tuple[Changes, SourceError | None]:
    """Apply the changes of synced tables; with the first problem, which holds up no other table."""
    database = parts.database
    changes, problem = Changes(), None
    with database.read() as cursor:
        relations = load_relations(cursor, parts.collection)
        behind = [relation.items.name for relation in relations if needs_sync(relation)]
    for name in behind:
        try:
            with database.write() as cursor:
                changes += sync(intake.within(cursor), find_again(cursor, name), progress)
        except SourceError as error:  # what becomes of bad rows is chosen when a table is indexed
            told = str(error).replace("pass `errors=skip`", "index the table again with `errors=skip`")
            problem = problem or SourceError(told)
    return changes, problem


def _encode(parts: Parts, name: str, progress: Progress) -> None:
    """Give vectors to texts and words that have none, if the collection has an encoder."""
    with parts.database.read() as cursor:
        relation = find_again(cursor, name)
        words = parts.readings.words(relation) if is_encoded(relation.features) else None
    for kind in (relation.items, relation.features):
        source = vector_source(kind)
        if source is None or not is_encoded(kind):
            continue
        if kind is relation.items:
            indexing.encode_texts(parts.database, name, parts.encoders(source.name), progress)
        elif words is not None:
            indexing.encode_words(parts.database, name, parts.encoders(source.name), words.words, progress)


def add_vectors(parts: Parts, items: str | None, pairs: tuple[Ids, Iterable[Any]], replace: bool) -> int:
    """As `Index.add_vectors`."""
    database, readings = parts.database, parts.readings
    with database.write() as cursor:
        relations = load_relations(cursor, parts.collection)
        name = items or (relations[0].items.name if relations else name_in(parts.collection, ITEMS))
        relation = relations_by_reading(load_relations(cursor)).get(name)
        if relation is None:
            features = name_in(collection_of(name), VECTORS_OF + plain_name(name))
            relation = create_relation(cursor, name, features, None)
        if relation.has_vectors_alone:
            return indexing.add_items(relation, pairs, replace)
        if relation.columns is not None:
            raise UsageError(f"{name} are described by numbers, and have no vectors")
        words = readings.words(relation) if name == relation.features.name else None
        kind = relation.items if name == relation.items.name else relation.features
        return indexing.add_vectors(kind, pairs, words, replace)


def add_latent(database: Database, reading: Reading, replace: bool = False) -> int:
    """As `Index.add_latent`."""

    def find(cursor: Cursor) -> Vocabulary:
        """What the vectors are of; raises UsageError if it has others that may not go."""
        relation = find_again(cursor, reading.name)
        kind = relation.items if reading.name == relation.items.name else relation.features
        if not replace:
            refuse_others(kind, VectorSource(LATENT))
        return kind

    with database.read() as cursor:
        find(cursor)
    with reading.fields() as fields:
        names, rows = latent_vectors(fields, reading.defaults)
        state = fields.relation.revision, fields.relation.stamp
    with database.write() as cursor:
        replace_vectors(find(cursor), VectorSource(LATENT, state=state), (names, rows, [None] * len(names)))
    return len(names)


def _renew_latent(parts: Parts, name: str, fresh: Fresh) -> None:
    """Make latent vectors anew whose collection has changed by more than `fresh` allows.

    Those that an earlier version made of words with contexts go: contexts have some (memory/contexts/latent_words.py).
    """
    stale, have_others = list[str](), False
    with parts.database.read() as cursor:
        relation = find_again(cursor, name)
        for kind in (relation.items, relation.features):
            source = vector_source(kind)
            if source is not None and source.state is not None:
                made = Revision(relation.id, *source.state)
                stale += [] if relation.history.is_fresh(made, fresh, relation.items.size) else [kind.name]
                have_others = kind is relation.features and parts.readings.words(relation) is not None
    if have_others:
        with parts.database.write() as cursor:
            set_source(find_again(cursor, name).features, None)
    for own in stale:
        with suppress(UsageError):  # too few are left: the old vectors stay
            add_latent(parts.database, parts.make_reading(own))
