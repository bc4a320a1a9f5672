"""`Index`, the front door: indexing and search of one database."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import setsearch
from setsearch.answers.numeric import NumericReading
from setsearch.answers.overview import describe_index, find_revision
from setsearch.answers.reading import Reading
from setsearch.answers.saved.decisions import Decisions
from setsearch.answers.saved.item_sets import (
    ItemSet,
    Question,
    check_name,
    delete_set,
    load_set,
    mark_items,
    new_set,
    rename_set,
    usable_name,
)
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.tables import html_table
from setsearch.errors import InvalidParameter, NoIndex, ReadOnlyDatabase, SetsearchError, UnknownSet, UsageError
from setsearch.memory.catalog import defaults_of, list_readings
from setsearch.memory.process import memory_of
from setsearch.memory.readings import FieldsBy, Readings
from setsearch.options import ROUNDS, Fresh, Id, Ids, Progress, parse_fresh, progress_of, require_several
from setsearch.search.request import id_list
from setsearch.sqlite.database import Database
from setsearch.sqlite.limits import limited
from setsearch.sqlite.schema import drop_tables
from setsearch.sqlite.sql import Table
from setsearch.storage.analyzers import Analyzers, TextSettings
from setsearch.storage.ids import collection_of, id_text, name_in
from setsearch.storage.relation import TEXT, Relation, delete_relation, find_again, find_relation, load_relations
from setsearch.storage.revisions import Changed
from setsearch.storage.synced_source import SyncedSource, describe_table, drop_source, load_source, refuse_synced

if TYPE_CHECKING:  # a process that only asks imports nothing of indexing
    from setsearch.answers.saved.claims import Claims
    from setsearch.answers.saved.groups import Group, Groups
    from setsearch.answers.saved.growth.runs import Growth
    from setsearch.answers.saved.inbox import Inbox
    from setsearch.indexing.sync import Changes, SourceChanges
    from setsearch.indexing.writing.intake import Intake, Several
    from setsearch.storage.kept.numbers import NumericItem
    from setsearch.storage.synced_source import Columns
    from setsearch.upkeep import Parts

Names = Iterable[str]


class Index:
    """Relations of items and features in one SQLite database. Made by `setsearch.open`.

    Every call that writes is one transaction. Threads may share it for reading.
    """

    def __init__(self, database: Database, settings: TextSettings, opened: dict[str, Any]) -> None:
        self._opened = opened  # the arguments of `setsearch.open`
        self._database = database
        self._settings = settings
        self._analyzers = Analyzers(settings.analyzer)
        memory = memory_of(database, settings)
        self._encoders = memory.encoders
        self._readings = Readings(database, self._analyzers, memory)
        self._collection = settings.collection
        self.unread_share = 0.0  # of the characters of the last texts written: those in no word, white space aside
        self.paired_share = 0.0  # of their terms: pairs of characters, of texts without blanks
        self.moved: dict[str, str] = {}  # items of saved sets that the last `replace` found under these other names
        self.not_given = 0  # items that stayed as they were when the last write changed others
        self.lost = 0  # entries that items of a relation had before the last write, and have no more
        self.altered, self.some_altered = 0, list[str]()  # documents with other terms than before the last write

    def __repr__(self) -> str:
        return f"<setsearch.Index of {self._database}>"

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        try:
            readings = self.readings()
        except SetsearchError as error:  # no index yet
            return html_table((), (), str(error))
        rows = [(own["items"], own["item_count"], own["features"], own["feature_count"]) for own in readings]
        return html_table(("items", "number", "described by", "number"), rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is what opens it. Raises UsageError for a lent connection."""
        return partial(setsearch.open, **self._opened | self._database.elsewhere()), ()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close our own connections; a lent one stays open."""
        self._database.close()

    def add(self, items: "Several", relation: tuple[str, str] | None = None) -> int:
        """Add items; returns how many.

        An item is `(id, features)` or `(id, features, title)`, and a mapping has ids and features; these are a text, a
        list of features (repetitions count), or a mapping of features to counts. `relation` names items and features,
        for example ("film", "user"); by default it is the only relation of the index, or a text collection,
        ("documents", "terms").

        Raises DuplicateItem if an id exists or occurs twice, InvalidItem; then nothing is written.
        """
        return self._write(items, relation, replace=False)

    def update(self, items: "Several", relation: tuple[str, str] | None = None) -> int:
        """Add items, and replace features and title of those that exist; returns how many. Otherwise as `add`."""
        return self._write(items, relation, replace=True)

    def replace(
        self,
        items: "Several",
        relation: tuple[str, str] | None = None,
        *,
        keep: Callable[[str], bool] = lambda id: False,
    ) -> int:
        """Replace everything in the relation by these items; those that stay as they were count as unchanged.

        If more than half changed, all count as new, and contexts are derived anew. Others for which `keep` holds stay,
        unless the collection gets other settings, or holds references. Otherwise as `add`.
        """
        return self._write(items, relation, replace=False, keep=keep)

    def add_frame(
        self,
        frame: Any,
        *,
        update: bool = False,
        progress: Progress | None = None,
        titles: Mapping[Any, str] | None = None,
        **columns: Any,
    ) -> int:
        """Add rows; returns how many items they make.

        `frame` is one of pandas, polars or Arrow; a stream or dataset of Arrow, or what offers one, such as a relation
        of DuckDB; several of these, such as batches or chunks; or mappings, such as a dataset of Hugging Face or a
        cursor. Streams are read a piece at a time.

            index.add_frame(frame, id="id", text="text")
            index.add_frame(ratings, items="film", features="user")

        `columns` are those of `setsearch.Columns`; an index of pandas that has a name is one. Texts without a column of
        ids are named by the index of pandas, and numbered if it is a plain range, or has a label twice. With `update`,
        items that exist are replaced. A missing text is empty; a missing id raises SourceError, and nothing is written.
        `titles`: of the items of a relation, by item. `progress`, such as tqdm, gets and yields rows.
        """
        from setsearch.indexing.frames import FrameItems

        items = FrameItems(frame, columns, progress_of(progress), titles)
        if items.roles.of_numbers:
            return self.add_numbers(items, items.roles.numbers, items.roles.relation[0])
        return self._write(items, items.roles.relation, replace=update)

    def delete(self, ids: Ids, relation: tuple[str, str] | None = None) -> int:
        """Delete items by id; returns how many. Raises UnknownItem; then nothing is deleted.

        A relation named from its other side, as ("user", "film") of ("film", "user"), loses features, from all items.
        """
        ids = [ids] if isinstance(ids, str) else ids
        require_several(ids, "ids", "ids")
        names = list(dict.fromkeys(map(id_text, ids)))
        for name in names:
            if not isinstance(name, str):
                raise InvalidParameter(f"items are deleted by id, a text or a whole number, not by {name!r}")
        from setsearch.indexing.writing.writer import Writer

        with self._database.write() as cursor:
            relations, other_side = load_relations(cursor), None
            target = find_relation(relations, relation, self._collection)
            if target is None and relation is not None:
                other_side = find_relation(relations, relation[::-1], self._collection)
            if other_side is not None:
                refuse_synced(other_side)
                return Writer(other_side).delete_features(names)
            if target is None:
                what = " x ".join(relation) if relation else "relation"
                known = sorted({collection_of(own.items.name) for own in relations} - {"", self._collection})
                way_out = (
                    f"it has the `collection` {' or '.join(known)}" if known else "`setsearch info` shows what it has"
                )
                raise NoIndex(f"{self._database} holds no {what} to delete from; {way_out}")
            if target.columns is not None:
                from setsearch.storage.kept.numbers import delete_numbers

                return delete_numbers(target, names)
            refuse_synced(target)
            return Writer(target).delete(names)

    def add_table(
        self,
        table: str,
        columns: "Columns",
        *,
        track: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> "Changes":
        """Index a table of this database and follow it from now on: `refresh` applies its changes.

            index.add_table("articles", setsearch.Columns(id="id", text=("title", "body")), track=True)

        With `track`, triggers note changed rows, and `refresh` reads these alone; otherwise it reads all. An FTS5 table
        gives the terms of its own index, and has no triggers. `replace` deletes other items. `progress` gets the items
        and yields them.

        Raises SourceError, InvalidParameter, UsageError if there are other items; then nothing is written.
        """
        from setsearch.indexing.sync import add_source, find_table

        with self._database.write() as cursor:
            source = find_table(Table(cursor, table), columns, track)
            return add_source(self._intake().within(cursor), source, progress_of(progress), replace)

    def follow(self, source: SyncedSource, read: "Callable[[Any], SourceChanges]") -> "Changes":
        """Sync the documents with another engine's index in one transaction; for integrations (indexing/sync.py)."""
        from setsearch.indexing.sync import follow

        self._database.accept_removal()
        with self._database.write() as cursor:
            return follow(self._intake().within(cursor), source, read)

    def source_state(self) -> Any:
        """The state of the last `follow`, or None; for integrations."""
        with self._readings.relation(name_in(self._collection, TEXT[0])) as relation:
            source = load_source(relation)
            return None if source is None else source.state

    def table_source(self, table: str, kinds: Sequence[str]) -> dict[str, Any] | None:
        """How a table is indexed: its `items`, their `key`, whether that is the `primary` key; None if it is not."""
        with self._database.read() as cursor:
            return describe_table(Table(cursor, table), kinds)

    def stamp(self) -> int:
        """A number that identifies the present content of the documents: a new one after each change."""
        with self._readings.relation(name_in(self._collection, TEXT[0])) as relation:
            return relation.stamp

    def add_numbers(self, items: "Iterable[NumericItem]", columns: Sequence[str], name: str = "items") -> int:
        """Add items that numbers describe, `(id, numbers)` or `(id, numbers, title)`; returns how many.

        `numbers` match `columns`, their names; existing items are replaced. `zip(ids, matrix)` adds the rows of a
        matrix. `numbers(name)` ranks them by the model gaussian.

        Raises InvalidItem, DuplicateItem; then nothing is written.
        """
        from setsearch.storage.kept.numbers import open_numbers, write_numbers

        require_several(items, "items", "items")
        require_several(columns, "columns", "columns")
        with self._database.write() as cursor:
            return write_numbers(open_numbers(cursor, self._collection, name, columns), items)

    def add_vectors(self, ids: Ids, vectors: Iterable[Any], items: str | None = None, *, replace: bool = False) -> int:
        """Add vectors of items, by which questions find what is like the seeds in meaning; returns how many.

        `vectors` are the rows of a matrix, or rows of numbers, or of float32 as bytes, all of one length; only their
        directions count. `items` names what they describe, by default the documents of a text collection, or the items
        of the first relation. Vectors of the same items are replaced; with `replace` all others go, also those that an
        encoder made. Where there is nothing of this name, the vectors make the items, such as pictures, which only they
        describe.

        Raises UnknownItem, DuplicateItem, InvalidItem, UsageError; then nothing is written.
        """
        from setsearch.upkeep import add_vectors

        require_several(ids, "ids", "ids")
        require_several(vectors, "vectors", "vectors")
        return add_vectors(self._parts, self._whole_name(items), (ids, vectors), replace)

    def add_latent(self, items: str | None = None, *, replace: bool = False) -> int:
        """Add vectors made from the collection itself (search/latent_items.py); returns how many items have one.

        `refresh` makes them anew. `items` as in `items()`; with `replace` vectors from elsewhere go. Raises UsageError.
        """
        from setsearch.upkeep import add_latent

        return add_latent(self._database, self.items(items), replace)

    def weigh_fields(self, by: Any, items: str | None = None) -> None:
        """Let fields count so in all questions of these items that give no `by`; None: all alike again.

            index.weigh_fields({"text": 1, "tags": 0.5})

        `by` as in `Reading.expand`, `items` as in `items()`. Raises InvalidParameter, UnknownReading.
        """
        reading = self.items(items or TEXT[0])
        weights = {} if by is None else dict(reading.defaults.coefficients(by))
        with self._database.write() as cursor:
            relation = find_again(cursor, reading.name)
            relation.weights = {} if {*weights.values()} == {1.0} else weights
            relation.save(Changed())

    def items(self, name: str | None = None) -> Reading:
        """The reading that ranks `name`: "documents", "terms", or a column of a relation.

        By default the terms of a text collection, else the items of the relation. Raises UnknownReading, and
        UsageError for items that numbers describe (`numbers`).
        """
        reading = self.reading(name)
        if not isinstance(reading, Reading):
            raise UsageError(
                f"{reading.name} are described by numbers, which can only be expanded, in Python by "
                f"numbers({reading.name!r})"
            )
        return reading

    def numbers(self, name: str) -> NumericReading:
        """The reading of items that numbers describe. Raises UnknownReading, and UsageError for other items."""
        reading = self.reading(name)
        if not isinstance(reading, NumericReading):
            raise UsageError(f"{reading.name} are not described by numbers; use items({reading.name!r})")
        return reading

    def reading(self, name: str | None = None) -> Reading | NumericReading:
        """The reading that ranks `name`, whatever describes it: `items` or `numbers`. Raises UnknownReading."""
        name, relation = self._readings.find(name, self._collection)
        if relation.columns is not None:
            return NumericReading(name, partial(self._relation, name))
        has_contexts = name == relation.features.name and relation.may_have_contexts
        opened = partial(self._open, name)
        return Reading(name, defaults_of(relation, name), opened, has_contexts, relation.features.titles_shown)

    def set(self, name: str, items: str | None = None) -> ItemSet:
        """The saved set of this name, or a new one of `items` (by default as in `items()`)."""
        return load_set(name, self._whole_name(items), self._database, self.reading)

    def question(
        self, seeds: Ids = (), *, set: str | None = None, items: str | None = None, exclude: Ids = ()
    ) -> Question:
        """Examples of `items`, to `expand` or `explain`; with `set` those of a saved set among them.

            index.question(["koto"], set="strings").expand(5)

        A set is asked beside its rivals (answers/saved/rivals.py). Raises UnknownSet, InvalidParameter.
        """
        from setsearch.answers.saved.groups import wanted_sets

        own = None if set is None else self.set(wanted_sets(self.sets(), [set])[0], items)
        reading = self.reading(items) if own is None else own.reading
        return Question.of(reading, id_list(seeds, "seeds"), id_list(exclude, "exclude"), own)

    def keep_set(
        self,
        name: str,
        accepted: Ids,
        rejected: Ids = (),
        items: str | None = None,
        version: str | None = None,
        *,
        group: str | None = None,
        under: str | None = None,
    ) -> ItemSet:
        """Save a set; replaces one of the same name, with `version` only if it is of this one ("": none, or equal).

        `group` and `under` stay if they are not given; "" takes it out. `items` are by default those of the set as it
        is, of its whole, or of its group. Raises UnknownItem, InvalidParameter, ChangedSet.
        """
        name = usable_name(name)
        if items is None:
            with self._database.read() as cursor:
                items = StoredSets(cursor).items_of(name, group, under)
        kept = new_set(name, self._database, self.reading(items))
        if group is not None or under is not None:
            before = self.set(name, items)
            kept.group = before.group if group is None else group
            kept.under = before.under if under is None else under
        mark_items(kept, accepted, rejected)
        kept.save(replace=True, version=version)
        return kept

    def export(self) -> Iterator[dict[str, Any]]:
        """The documents as rows with id, title, text, kept columns and fields; read them all before you write.

        `exported_columns` has the roles of these columns. One more has the vectors that you gave, as they are stored.
        Raises UnknownReading, UsageError if texts are not stored, CorruptIndex.
        """
        from setsearch.indexing.rows.stored_rows import stored_rows

        with self._relation(self.items(TEXT[0]).name) as relation:
            yield from stored_rows(relation)

    def exported_columns(self) -> "Columns":
        """The roles of the columns of `export`."""
        from setsearch.indexing.rows.stored_rows import stored_columns

        with self._relation(self.items(TEXT[0]).name) as relation:
            return stored_columns(relation)

    def export_sets(self, names: Names | None = None) -> list[dict[str, Any]]:
        """Saved sets, by default all, one row each: name, items, accepted, rejected. Raises UnknownSet.

        Where some set has one, also `group`, `under`, and `exclusive`: "yes" if its group is.
        """
        from setsearch.answers.saved.exchange import set_rows
        from setsearch.answers.saved.groups import wanted_sets

        with self._database.read() as cursor:
            exclusive = StoredSets(cursor).groups().exclusive
        return set_rows(map(self.set, wanted_sets(self.sets(), names)), exclusive)

    def import_sets(
        self,
        rows: Any,
        items: str | None = None,
        *,
        replace: bool = False,
        add: bool = False,
        errors: str = "strict",
        warn: Callable[[str], None] = lambda message: None,
    ) -> list[ItemSet]:
        """Save sets that rows have: all of them in one transaction, or none.

            index.import_sets([{"name": "cats", "accepted": ["lion", "tiger"], "rejected": ["wheat"]}])
            index.import_sets([{"set": "cats", "item": "lion", "mark": "accepted"}, ...])

        `items`: what they are of, where rows do not tell. A row is a mapping, or a pair: its place, for messages, and a
        mapping; `rows` can be a frame, too. With errors = "skip" rows that cannot be are left out, and `warn` is told.
        Sets that exist already are refused, unless they are equal or of the `version` that a row has; `replace`
        replaces them, `add` adds to them. Raises SourceError, ChangedSet, InvalidParameter.
        """
        from setsearch.answers.saved.exchange import ADD, REPLACE, Keeper
        from setsearch.indexing.frames import collected
        from setsearch.indexing.rows.arrow import frame_rows

        if replace and add:
            raise InvalidParameter("sets that exist are replaced or added to; choose one of `replace` and `add`")
        existing = REPLACE if replace else ADD if add else ""

        require_several(rows, "rows", "mappings")
        rows = frame_rows(collected(rows)) if hasattr(rows, "columns") else rows
        placed = (row if isinstance(row, tuple) else (f"row {number}", row) for number, row in enumerate(rows, 1))
        return Keeper(self._database, self.reading, errors, warn).keep(placed, items, existing)

    def sets(self) -> dict[str, str]:
        """The names of the saved sets, each with its items."""
        with self._database.read() as cursor:
            sets = StoredSets(cursor).all()
        return {name: items for name, items in sets.items() if self._collection in ("", collection_of(items))}

    def group(self, name: str, exclusive: bool | None = None) -> "Group":
        """A group of saved sets; with `exclusive`, let these exclude one another, or no longer.

            index.keep_set("animals", ["lion", "cow"], group="kinds")
            index.group("kinds", exclusive=True)

        In an exclusive group an item belongs where it fits best (answers/saved/rivals.py). A set leaves its group
        when its `group` is None and it is saved. Raises UnknownSet, InvalidParameter.
        """
        with self._database.read() if exclusive is None else self._database.write() as cursor:
            stored = StoredSets(cursor)
            if exclusive is not None:
                stored.set_exclusive(name, exclusive)
            return stored.group(name)

    def grow(
        self,
        names: Names | None = None,
        *,
        group: str | None = None,
        rounds: int = ROUNDS,
        each: int = 5,
        precision: float = 0.9,
        accept: bool = False,
        progress: Progress | None = None,
    ) -> "Growth":
        """Grow saved sets side by side, by at most `each` items a round, up to the round `rounds`; returns what joined.

            index.grow(group="kinds", rounds=10, each=5, precision=0.9)

        An item joins the set that it fits best, if so many of a round's items are right, as it is estimated, that the
        share `precision` is kept (answers/saved/growth/). What is doubtful comes to the inbox. Each round is one
        transaction: after an interruption the next call goes on. `progress` gets and yields what each round adds.
        `accept`: what joined before, and was not rejected, is right; the estimate learns from both. Until somebody has
        judged what joined, the share is no promise: then the list has `untold`, which says it. Its `notes` tell which
        sets cannot grow, and why.

        One run of a group is at work at a time, and `growth` follows it. Raises UnknownSet, InvalidParameter,
        ChangedSet if one is.
        """
        from setsearch.answers.saved.growth.growing import grow
        from setsearch.answers.saved.growth.runs import Plan

        grower = self.growth(names, group=group)._grower
        with suppress(ReadOnlyDatabase):
            self.refresh()
        return grow(grower, Plan(rounds, each, precision, accept), progress_of(progress))

    def growth(self, names: Names | None = None, *, group: str | None = None) -> "Growth":
        """What joined saved sets by `grow`, round by round, while a run is at work, too.

            index.growth(group="kinds").take_back(3)  # what joined from round 3 on
            index.growth(group="kinds").stop()

        Raises UnknownSet, InvalidParameter.
        """
        from setsearch.answers.saved.growth.growing import chosen_sets
        from setsearch.answers.saved.growth.runs import Grower

        chosen, items = chosen_sets(self._database, self.sets(), names, group)
        return Grower(self._database, self.items(items), chosen, group).growth()

    def inbox(self, names: Names | None = None) -> "Inbox":
        """What came or changed since saved sets were looked at, and belongs to them; first, synced tables are applied.

            for row in index.inbox(["dances"]):
                print(row.number, row.item, row.set, row.score, row.reason, row.others)

        `accept` and `reject` of the answer decide rows, and `done` says that all were looked at. Raises UnknownSet,
        SourceError.
        """
        from setsearch.answers.saved.inbox import read_inbox

        with suppress(ReadOnlyDatabase):
            self.refresh()
        return read_inbox(self._database, self.sets(), self.reading, names)

    def sets_of(
        self, item: Id | None = None, k: int | None = 10, *, text: str | None = None, items: str | None = None
    ) -> "Claims":
        """The k saved sets that an item, or a text, fits best, and whether it belongs to each; None for all sets.

        Scores are those of `expand` of the set; the order is by how far above its line they are
        (answers/saved/claims.py). A text need not be in the index. `items`: what the sets are of, where there are
        several kinds; by default documents for a text.

        Raises UnknownItem, AmbiguousItem, UnknownSet, InvalidParameter.
        """
        from setsearch.answers.saved.claims import sets_of

        if items is None and text is None:
            kinds = sorted({*self.sets().values()})
            if not kinds:
                raise UnknownSet("no set is saved; `setsearch set save` saves one")
            if len(kinds) > 1:
                raise UsageError(f"there are sets of {' and of '.join(kinds)}; choose one with `items`")
            items = kinds[0]
        return sets_of(self._database, self.items(items or TEXT[0]), item, text, k)

    def decisions(self, name: str, items: str) -> Decisions:
        """What was decided about items, one after another, in the saved set of this name (learning/review.py).

        Raises InvalidParameter.
        """
        check_name(name)
        return Decisions(self._database, name, name_in(self._collection, items))

    def groups(self) -> "Groups":
        """The group `of` each saved set that is in one, the `exclusive` groups, and the sets `under` another one."""
        with self._database.read() as cursor:
            return StoredSets(cursor).groups()

    def delete_set(self, name: str) -> list[str]:
        """Delete a saved set; returns the sets that lay within it, and lie within none now. Raises UnknownSet."""
        return delete_set(self._database, name)

    def rename_set(self, name: str, new: str) -> ItemSet:
        """Give a saved set another name; the rest stays. Raises UnknownSet, InvalidParameter, ChangedSet if taken."""
        return self.set(rename_set(self._database, name, new))

    def refresh(self, fresh: str | float | None = None, progress: Progress | None = None) -> "Changes":
        """Apply the changes of synced tables; with `fresh`, also derive contexts of words, arrays and vectors.

        Without `fresh` it costs what was written; `behind` of the answer says that it is time for a job to call it with
        `fresh`. Contexts that lack no more than `fresh` allows stay: "now", seconds, a share such as "5%". `progress`,
        such as tqdm, gets and yields rows, then hundredths of what is derived, then texts to encode. Raises SourceError
        for a table that is another now, LockedDatabase.
        """
        from setsearch.upkeep import refresh

        return refresh(self._parts, self._intake(), parse_fresh(fresh), progress_of(progress))

    def derive(self, fresh: str | float = "now", progress: Progress | None = None) -> None:
        """Derive as `refresh` does with `fresh`, and apply nothing: `add_table` has just read its table."""
        from setsearch.upkeep import derive

        derive(self._parts, parse_fresh(fresh), progress_of(progress))

    def drop(self) -> None:
        """Remove everything of ours from the database, saved sets too; the host's tables stay as they are.

        With a collection, only what belongs to this one.
        """
        with self._database.write() as cursor:
            relations = load_relations(cursor, self._collection)
            for relation in relations:
                drop_source(relation)
                if self._collection:
                    StoredSets(cursor).delete_of((relation.items.name, relation.features.name))
                    delete_relation(relation)
            if not self._collection:
                drop_tables(cursor)
        self._readings.files.delete(relations)

    def readings(self) -> list[dict[str, Any]]:
        """What can be ranked: items, features, and the number of both; `shown_count` leaves numbers out of words."""
        with self._database.read() as cursor:
            return list_readings(load_relations(cursor, self._collection))

    def info(self) -> dict[str, Any]:
        """What the index holds: readings with counts of items, features and postings, revision, defaults, core."""
        with self._database.read() as cursor, limited(cursor, "reading the index"):
            return describe_index(load_relations(cursor), self._readings, str(self._database), self._collection)

    def revision(self) -> int:
        """The number of writes so far; `info` has it too, but takes longer."""
        with self._database.read() as cursor:
            return find_revision(load_relations(cursor), str(self._database), self._collection)

    def check(self) -> list[str]:
        """The problems of the index, one line each; empty for a sound one.

        Recomputes every statistic from the lists, compares what was derived of them, and verifies checksums and
        SQLite's own indexes.
        """
        from setsearch.indexing.check import find_problems

        with self._database.read() as cursor:
            return find_problems(cursor, None if self._database.read_only else self._database.file)

    def repair(self) -> list[str]:
        """Repair the index in one transaction; returns one line for each repair. `check` tells what is left."""
        from setsearch.indexing.check import repair

        with self._database.write() as cursor:
            return list(repair(self._intake().within(cursor), self._database.file))

    def _open(self, name: str, contexts: bool, fresh: Fresh = None) -> AbstractContextManager[FieldsBy]:
        """As `Readings.open`; what a reading calls, so that it is pickled with what opens the index."""
        return self._readings.open(name, contexts, fresh)

    def _relation(self, name: str) -> AbstractContextManager[Relation]:
        """As `Readings.relation`, for a reading of numbers."""
        return self._readings.relation(name)

    @property
    def _parts(self) -> "Parts":
        from setsearch.upkeep import Parts

        return Parts(self._database, self._readings, self._encoders, self.items, self._collection)

    def _whole_name(self, items: str | None) -> str | None:
        return None if items is None else name_in(self._collection, items)

    def _intake(self) -> "Intake":
        from setsearch.indexing.writing.intake import Intake

        return Intake(self._settings, self._analyzers, str(self._database))

    def _write(
        self,
        items: "Several",
        names: tuple[str, str] | None,
        replace: bool,
        keep: Callable[[str], bool] | None = None,
    ) -> int:
        from setsearch.answers.saved.moved import follow_moved
        from setsearch.indexing.check import open_to_replace
        from setsearch.indexing.writing.writer import Writer

        require_several(items, "items", "items")
        empty = keep is not None
        with self._database.write() as cursor:
            intake = self._intake().within(cursor)
            relation = open_to_replace(intake, names) if empty else intake.open(names)
            if empty:
                drop_source(relation)
            refuse_synced(relation)
            writer = Writer(relation, replace or empty, whole=empty)
            written = intake.write(writer, items)
            others = {} if keep is None else {id: name for id, name in writer.others().items() if not keep(name)}
            self.moved = follow_moved(relation, others, writer.changed_items().tolist()) if others else {}
            if others:
                writer.delete([*others.values()])
            if empty and 2 * len(writer.changed_items()) > relation.items.size:
                relation.start_anew()
            self.not_given = relation.items.size - len(writer.seen) if writer.known else 0
            self.unread_share, self.paired_share = writer.unread_share, writer.paired_share
            self.lost = 0 if empty else writer.lost
            self.altered, self.some_altered = 0 if empty else writer.altered, writer.some_altered
            return written
