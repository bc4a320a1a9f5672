"""The inbox of saved sets: what came or changed since somebody looked, and belongs.

Each set has the write up to which it was looked at: that of its saving at first. An item is in the inbox if a later
write gave or changed it, and the question of the set, its members as examples, keeps it (`cut`). Of words, those of
texts that came or changed. Where the history does not lead back so far, all items count as new. What growing left in
doubt (growth/) is there until it is decided.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.contributions import contributions
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.saved.groups import wanted_sets
from setsearch.answers.saved.growth.grown import forget_doubtful, grown_members
from setsearch.answers.saved.item_sets import ItemSet, loaded_set
from setsearch.answers.saved.rivals import Flags
from setsearch.answers.saved.set_index import Known, Parts, looks, open_sets, reasons
from setsearch.answers.saved.standing import Several
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.saved.together import Together
from setsearch.answers.tables import html_table
from setsearch.arrays import Floats, Ints, distinct
from setsearch.errors import AnsweredMeanwhile, ChangedSet, InvalidParameter, NothingToRank, QueryError, UnknownItem
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.options import require_several
from setsearch.search.weights import SeedWeights
from setsearch.sqlite.database import Database
from setsearch.storage.revisions import Revision

EQUALS = "="  # before the id of an item that looks like the number of a row


class InboxRow(NamedTuple):
    """An item that came or changed and belongs to a set: `score` in nats, `reason`: what tells most.

    `others` are the other sets that claim it too, or have it.
    """

    number: int
    item: str
    title: str | None
    set: str
    score: float
    reason: str
    others: tuple[str, ...] = ()


class News(NamedTuple):
    """What came or changed up to the write `now`: stored items by id with their names, None for all.

    Of words with contexts, which may be phrases, `are_new` tells it of a name.
    """

    now: Revision
    names: dict[int, str] | None
    are_new: Callable[[str], bool] | None = None


class Seen(NamedTuple):
    """How far the rows of a set go: up to which write, and the items that growing had left in doubt."""

    number: int
    stamp: int
    doubtful: Sequence[str] = ()


class Asked(NamedTuple):
    """A set that was asked, and how far its rows go."""

    own: ItemSet
    seen: Seen


class Inbox(list[InboxRow]):
    """The rows, set by set, the best first; `notes`: which sets have no answer, and why.

    Rows come again until they are accepted or rejected, or all of them are `done`.
    """

    def __init__(self, rows: Iterable[InboxRow], notes: Sequence[str], asked: Sequence[Asked], database: Database):
        super().__init__(rows)
        self.notes = list(notes)
        self._asked = {one.own.name: one for one in asked}
        self._database = database

    def decide(self, accept: Iterable[Any] = (), reject: Iterable[Any] = ()) -> list[InboxRow]:
        """Accept and reject rows, by row, number or item, into their sets at once; returns those that were decided.

        Raises InvalidParameter, UnknownItem, ChangedSet; then nothing has changed.
        """
        require_several(accept, "accept", "rows")
        require_several(reject, "reject", "rows")
        said = [(self.find(one), True) for one in accept] + [(self.find(one), False) for one in reject]
        for row in {row for row, is_in in said if is_in}.intersection(row for row, is_in in said if not is_in):
            raise InvalidParameter(f"row {row.number}, {row.item!r}, is accepted and rejected; leave one of them out")
        drafts = {name: self._draft(name) for name in dict.fromkeys(row.set for row, _ in said)}
        for row, is_in in said:
            (drafts[row.set].accept if is_in else drafts[row.set].reject)(row.item)
        with self._database.write() as cursor:
            for draft in drafts.values():
                draft.store(StoredSets(cursor), replace=False, version=None)
        for name, draft in drafts.items():
            draft.settle()
            self._asked[name] = self._asked[name]._replace(own=draft)
        decided = [row for row, _ in said]
        self[:] = [row for row in self if row not in decided]
        return decided

    def _draft(self, name: str) -> ItemSet:
        """A set to change: if it cannot be saved, the set that was asked is as it was."""
        own = self._asked[name].own
        marks = tuple(own.accepted), tuple(own.rejected)
        return loaded_set(name, own.reading, self._database, marks, (own.group, own.under))

    def accept(self, *rows: Any) -> list[InboxRow]:
        """Accept rows into their sets, as `decide`."""
        return self.decide(accept=rows)

    def reject(self, *rows: Any) -> list[InboxRow]:
        """Reject rows of their sets, as `decide`."""
        return self.decide(reject=rows)

    def with_headlines(self, most: int | None = None) -> "Inbox":
        """The same; missing titles of the first rows, or of all, are headlines of their texts."""
        kinds = {name: one.own.reading for name, one in self._asked.items()}
        untitled: dict[str, tuple[Reading | NumericReading, list[str]]] = {}
        for row in self[:most]:
            if row.title is None:
                untitled.setdefault(kinds[row.set].name, (kinds[row.set], []))[1].append(row.item)
        found = {kind: reading.headlines(items) for kind, (reading, items) in untitled.items()}
        for place, row in enumerate(self[:most]):
            if row.title is None:
                self[place] = row._replace(title=found[kinds[row.set].name].get(row.item))
        return self

    @property
    def seen(self) -> dict[str, Seen]:
        """How far the rows of each set that was asked go."""
        return {name: one.seen for name, one in self._asked.items()}

    def done(self, seen: Mapping[str, Seen | tuple[int, int]] | None = None) -> None:
        """Note that all rows were looked at: they come again if they change; those that came meanwhile stay.

        `seen`: those of an inbox that was shown before, of sets that were asked in this one, too.
        """
        given = self.seen if seen is None else seen
        looked = {name: Seen(*own) for name, own in given.items() if name in self._asked}
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            with stored.placing(looked):
                is_known = "(revision, stamp) in (select revision, stamp from setsearch_revision)"
                cursor.executemany(  # not where somebody has looked at more meanwhile
                    "update setsearch_set set revision = ?1, stamp = ?2 where name = ?3 and items = ?4 "
                    f"and not (coalesce(revision, 0) > ?1 and {is_known})",
                    [(own.number, own.stamp, name, self._asked[name].own.items) for name, own in looked.items()],
                )
            forget_doubtful(stored, looked, {name: own.doubtful for name, own in looked.items()})
        self.clear()

    def find(self, row: Any) -> InboxRow:
        """The row of a number or an item; `=7` is always the item.

        Raises InvalidParameter, UnknownItem, AmbiguousItem.
        """
        if isinstance(row, InboxRow):
            return row
        text = str(row)
        by_item = self.rows_of(text)
        by_number = [own for own in self if str(own.number) == text]
        if by_number and by_item and by_item != by_number and not isinstance(row, int):
            raise InvalidParameter(f"{text!r} is the number of a row and the item of another; ={text} is the item")
        found = by_number or by_item
        if not found:
            raise UnknownItem(f"no row {text!r:.60} in the inbox, which has {len(self)}; give a number or an item")
        if len(found) > 1:
            rows = ", ".join(f"{own.number} ({own.set})" for own in found)
            raise InvalidParameter(f"{text!r:.60} is in several rows: {rows}; give the number of one")
        return found[0]

    def rows_of(self, item: str) -> list[InboxRow]:
        """The rows of an item, by any name of it; `=` may stand before. Raises AmbiguousItem."""
        for name in (item, item.removeprefix(EQUALS)):
            if found := [row for row in self if row.item == name]:
                return found
        found = []
        for kind, reading in {self._asked[row.set].own.items: self._asked[row.set].own.reading for row in self}.items():
            with suppress(UnknownItem):
                name = reading.find(item.removeprefix(EQUALS), hint=False)
                found += [row for row in self if row.item == name and self._asked[row.set].own.items == kind]
        return found

    def _repr_html_(self) -> str:
        return html_table(InboxRow._fields, self, "; ".join(self.notes))


def decide_one(load: Callable[[], ItemSet], item: str, said: str | None, before: str | None = None) -> bool:
    """Say "yes" or "no" to an item of the set that `load` gives as it is now, or take back what was said (None).

    Whether this changes anything: a key may be pressed twice. Other changes to the set stay. Raises AnsweredMeanwhile
    if something else is said of the item by now than `before`.
    """
    while True:
        own = load()
        now = "yes" if item in own.accepted else "no" if item in own.rejected else None
        if now == said:
            return False
        if now is not None and now != before:
            told = f"somebody has said {now} to {item} for {own.name} meanwhile"
            raise AnsweredMeanwhile(f"{told}, and your {said or 'undo'} was not saved", now)
        version = own.version
        {"yes": own.accept, "no": own.reject, None: own.forget}[said](item)
        with suppress(ChangedSet):  # in this moment
            own.save(version=version)
            return True


class _Found(NamedTuple):
    """An item that belongs to a set; `is_new`: not only in doubt since growing."""

    item: str
    title: str | None
    score: float
    reason: str
    is_new: bool


class _Said(NamedTuple):
    """What some sets say of some items beside their rivals, `(n_sets, n)` each: of those that are open, of members.

    `parts` are those of the scores of pairs of a set and the place of an item.
    """

    fields: Fields
    sets: Sequence[str]
    ids: Ints
    scores: Floats
    belong: Flags
    are_open: Flags
    members: Flags
    parts: Callable[[Sequence[tuple[str, int]]], Mapping[tuple[str, int], Parts]]


def read_inbox(
    database: Database,
    known: Mapping[str, str],
    reading: Callable[[str], Reading | NumericReading],
    names: Iterable[str] | None,
) -> Inbox:
    """The inbox of some of the `known` sets (each with its items), or of all; raises UnknownSet, InvalidParameter."""
    wanted = {*wanted_sets(known, names)}
    of_kinds: dict[str, list[str]] = {}
    for name in [name for name in known if name in wanted]:
        of_kinds.setdefault(known[name], []).append(name)
    kinds, notes = dict[str, _Kind](), dict[str, list[str]]()
    for items, sets in of_kinds.items():
        try:
            kinds[items] = _read_kind(database, reading(items), sets)
            notes |= kinds[items].notes
        except QueryError as error:
            notes |= {name: [f"{name}: {error}"] for name in sets}
    rows = list[InboxRow]()
    for name, kind in ((name, kinds[known[name]]) for name in known if known[name] in kinds):
        for own in kind.found.get(name, ()):
            others = tuple(sorted(kind.claims[own.item] - {name}))
            rows.append(InboxRow(len(rows) + 1, own.item, own.title, name, own.score, own.reason, others))
    asked = [one for kind in kinds.values() for one in kind.asked]
    return Inbox(rows, [note for name in known for note in notes.get(name, ())], asked, database)


def _read_kind(database: Database, reading: Reading | NumericReading, wanted: Sequence[str]) -> "_Kind":
    """What is new for sets of one kind of items. Raises NothingToRank for numbers, of which no line is known."""
    if isinstance(reading, NumericReading):
        raise NothingToRank(f"{reading.name} are described by numbers, which do not tell what belongs; expand the set")
    doubtful: dict[str, list[str]] = {}
    for one in grown_members(database, wanted, doubtful=True):
        doubtful.setdefault(one.set, []).append(one.item)
    return reading.answer(reading.plan(1, {}), partial(_Kind, database, reading, wanted, doubtful))


class _Kind:
    """What is new for sets of one kind of items, in one transaction.

    Sets of the index of sets are asked at once about some items. Others are asked one by one about all of them, beside
    their rivals, and so are those for which all items are new.

    `found`: by set, the best first; `asked`: the sets that have an answer; `claims`: which sets claim, or have, what
    was found.
    """

    def __init__(
        self,
        database: Database,
        reading: Reading,
        wanted: Sequence[str],
        doubtful: Mapping[str, Sequence[str]],
        fields_by: FieldsBy,
    ) -> None:
        candidates, self._doubtful = reading.candidates(fields_by), doubtful
        self._sets = sets = open_sets(reading, fields_by)
        left = [name for name in wanted if name in sets.marks]
        self._news = dict(zip(left, _NewsReader(candidates).since(left), strict=True))
        self.found = {name: list[_Found]() for name in left}
        self._claimed = list[tuple[Fields, Sequence[str], Ints, Ints]]()  # places of sets, and what these claim
        whole = {*sets.others, *(name for name in left if self._news[name].names is None)}
        for said in self._one_by_one(Several(reading, fields_by, sets.marks, sets.groups), whole):
            self._look(said, whole)
        for said in self._at_once(candidates[-1], whole):
            self._look(said, sets.kept.keys() - whole)
        self.claims = self._told_claims()
        self.notes = {name: [f"{name}: somebody has deleted or renamed it meanwhile"] for name in {*wanted} - {*left}}
        self.asked = list[Asked]()
        for name, rows in self.found.items():
            rows.sort(key=lambda own: (-own.score, not own.is_new, own.item))
            known, placed = sets.known[name], (sets.groups.of.get(name), sets.groups.under.get(name))
            self.notes[name] = [*sets.note(database.path, name)]
            self.notes[name] += [f"{name}: {known.untold}"] if rows and known.untold else []
            if known.problem is None:
                own = loaded_set(name, reading, database, sets.marks[name], placed)
                now = self._news[name].now
                self.asked.append(Asked(own, Seen(now.number, now.stamp, doubtful.get(name, ()))))

    def _one_by_one(self, several: Several, names: Set[str]) -> Iterator[_Said]:
        """What some sets say of all items."""
        asked_with = several.groups.asked_with(names)
        together = Together(several._replace(marks={name: several.marks[name] for name in asked_with}))
        for name in sorted(names):
            if name in together.problems:
                self._sets.known[name] = Known(problem=str(together.problems[name]))
                continue
            row = together.row(name)
            fields, weights, excluded = row.standing[:3]
            if name not in self._sets.kept:
                self._sets.known[name] = Known(gone=row.standing.gone, untold=row.standing.untold)
            scores, are_open = row.scores - row.taking(), np.isfinite(row.scores) & ~row.taken
            are_open[excluded] = False
            flags = (row.belong & are_open)[None], are_open[None], row.members[None]
            parts = partial(_parts_of_one, fields, weights)
            yield _Said(fields, [name], np.arange(len(scores)), scores[None], *flags, parts)

    def _at_once(self, fields: Fields, whole: Set[str]) -> Iterator[_Said]:
        """What the index of sets says of items that are new, in doubt, or found by others."""
        sets = self._sets
        names = self._news.keys() & sets.kept.keys() - whole
        doubtful = fields.find_all([item for name in names for item in self._doubtful.get(name, ())])
        found = fields.find_all([own.item for rows in self.found.values() for own in rows]) if sets.kept else {}
        items = {*doubtful.values(), *found.values()}.union(
            *{id(news): news.names or () for name, news in self._news.items() if name in names}.values()
        )
        for ids, look in looks(sets, fields, sorted(items)):
            own = sets.rivalry.couple(look.scores, *sets.marked(ids))
            scores, belong = look.scores - sets.rivalry.taking(own.best), own.belong & own.are_open
            flags = belong, own.are_open, own.members
            yield _Said(fields, sets.rivalry.names, np.array(ids), scores, *flags, look.parts)

    def _look(self, said: _Said, names: Container[str]) -> None:
        """Note what is shown of some sets, and what all claim."""
        places, columns = np.nonzero(said.belong | said.members)
        self._claimed.append((said.fields, said.sets, places, said.ids[columns]))
        rows = list[tuple[str, int, bool]]()
        for place in [place for place, name in enumerate(said.sets) if name in names and name in self._news]:
            name, fresh = said.sets[place], set[int]()
            if said.belong[place].any():
                fresh.update(self._fresh(said, self._news[name], np.flatnonzero(said.belong[place]).tolist()))
            doubtful = [*said.fields.find_all(self._doubtful.get(name, ())).values()]
            in_doubt = np.flatnonzero(said.are_open[place] & np.isin(said.ids, doubtful)) if doubtful else ()
            rows += [(name, column, column in fresh) for column in sorted(fresh.union(map(int, in_doubt)))]
        self._tell(said, rows)

    def _fresh(self, said: _Said, news: News, columns: Sequence[int]) -> Iterable[int]:
        """Those of some items that are new."""
        if news.names is None:
            return columns
        ids = said.ids[columns].tolist()
        if news.are_new is None:
            return [column for column, id in zip(columns, ids, strict=True) if id in news.names]
        described = said.fields.describe(ids)
        return [column for column, id in zip(columns, ids, strict=True) if news.are_new(described[id][0])]

    def _tell(self, said: _Said, rows: Sequence[tuple[str, int, bool]]) -> None:
        """Note rows, each of a set, the place of an item, and whether it is new, with titles and reasons."""
        parts, places = said.parts([row[:2] for row in rows]), {name: place for place, name in enumerate(said.sets)}
        scores = [float(said.scores[places[name], column]) for name, column, _ in rows]
        told = reasons(
            self._sets.marks,
            [(said.fields, row[0], parts[row[:2]], score) for row, score in zip(rows, scores, strict=True)],
        )
        ids = [int(said.ids[column]) for _, column, _ in rows]
        described = said.fields.describe(sorted({*ids}))
        for (name, _, is_new), id, score, reason in zip(rows, ids, scores, told, strict=True):
            self.found[name].append(_Found(*described[id], score, reason, is_new))

    def _told_claims(self) -> dict[str, set[str]]:
        """The sets that claim, or have, what was found."""
        claims: dict[str, set[str]] = {own.item: set() for rows in self.found.values() for own in rows}
        for fields, sets, places, ids in self._claimed:
            names = {id: name for name, id in fields.find_all([*claims]).items()}
            are_found = np.isin(ids, [*names])
            for place, id in zip(places[are_found].tolist(), ids[are_found].tolist(), strict=True):
                claims[names[id]].add(sets[place])
        return claims


def _parts_of_one(
    fields: Fields, weights: SeedWeights, pairs: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], Parts]:
    """The parts of the scores of items in one set."""
    found = contributions(fields, weights, [id for _, id in pairs])
    return {pair: found[pair[1]] for pair in pairs}


class _NewsReader:
    """What is new for sets, in one transaction; `candidates` are the fields that may answer."""

    def __init__(self, candidates: Sequence[Fields]) -> None:
        asked, self._stored = candidates[0], candidates[-1]
        self._now, behind = asked.relation.state, asked.contexts_revision
        self._has_contexts, self._analyzer = behind is not None, asked.analyzer
        if behind is not None and behind < self._now.number:  # later texts are news once contexts know them
            self._now = asked.relation.history.past(behind) or self._now
        self._after = cache(self._found)

    def since(self, names: Iterable[str]) -> list[News]:
        """What is new for some sets."""
        rows = self._stored.first.cursor.execute("select name, revision, stamp from setsearch_set").fetchall()
        looked = {name: (revision, stamp) for name, revision, stamp in rows}
        return [self._after(*looked[name]) for name in names]

    def _found(self, number: int | None, stamp: int | None) -> News:
        """What came or changed after a write, up to the one that answers know; all, if that is not known."""
        now, stored = self._now, self._stored
        if number is None or stamp is None:
            return News(now, None)
        changed = _changed(stored, now, Revision(now.relation, number, stamp))
        if changed is None:
            return News(now, None)
        names = {id: name for id, (name, _) in stored.items.describe(changed.tolist()).items()}
        if not self._has_contexts:
            return News(now, names)
        terms_of = self._analyzer.terms if self._analyzer and self._analyzer.is_available else str.split
        own = {name for name, _ in stored.items.stored(changed.tolist()).values()}
        return News(now, names, lambda name: own.issuperset(terms_of(name)))  # all parts of a phrase


def _changed(fields: Fields, now: Revision, then: Revision) -> Ints | None:
    """The items of a reading that changed, ascending; None if that is not known."""
    field = fields.first
    if then.number > now.number and fields.relation.history.past(then.number) == then:
        return np.zeros(0, np.int64)  # contexts are older than the last look
    changes = fields.relation.history.changes(then, now.number)
    if changes is None or not field.transposed:
        return None if changes is None else changes.given
    changed = changes.given
    described = changed[changed < field.features.next_id].tolist()
    return distinct(field.read_postings(described).ids.astype(np.int64))
