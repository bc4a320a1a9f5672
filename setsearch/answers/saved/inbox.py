"""The inbox of saved sets: what came or changed since somebody looked, and belongs.

Each set has the write up to which it was looked at: that of its saving at first. An item is in the inbox if a later
write gave or changed it, and the question of the set, its members as examples, keeps it (`cut`). Of words, those of
texts that came or changed. Where the history does not lead back so far, all items count as new. What growing left in
doubt (growing.py) is there until it is decided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.saved.groups import wanted_sets
from setsearch.answers.saved.growing import forget_doubtful, grown_members
from setsearch.answers.saved.rivals import Flags
from setsearch.answers.saved.set_index import (
    Parts,
    are_kept,
    looks,
    no_weights,
    open_sets,
    reasons,
)
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.sets import ItemSet, gone_note, loaded_set
from setsearch.answers.tables import html_table
from setsearch.arrays import Ints, distinct
from setsearch.errors import InvalidParameter, NothingToRank, QueryError, UnknownItem
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
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


class Asked(NamedTuple):
    """A set that was asked, and what was new for it."""

    own: ItemSet
    news: News


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
    def seen(self) -> dict[str, tuple[int, int]]:
        """Of each set that was asked, the number and the stamp of the write up to which the rows go."""
        return {name: (one.news.now.number, one.news.now.stamp) for name, one in self._asked.items()}

    def done(self, seen: Mapping[str, tuple[int, int]] | None = None) -> None:
        """Note that all rows were looked at: they come again if they change.

        `seen`: those of an inbox that was shown before, of sets that were asked in this one, too.
        """
        seen = self.seen if seen is None else {name: own for name, own in seen.items() if name in self._asked}
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            with stored.placing(seen):
                cursor.executemany(
                    "update setsearch_set set revision = ?, stamp = ? where name = ? and items = ?",
                    [(*own, name, self._asked[name].own.items) for name, own in seen.items()],
                )
            forget_doubtful(stored, self._asked)
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


class _Found(NamedTuple):
    """An item that belongs to a set; `is_new`: not only in doubt since growing."""

    item: str
    title: str | None
    score: float
    reason: str
    is_new: bool = True


_Row = tuple[str, Parts, float, int, bool]  # of the index: set, parts of a score, score, item, whether it is new


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
            others = tuple(other for other in kind.claims[own.item] if other != name)
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

    kind = _Kind(database, reading, doubtful)
    alone = reading.answer(reading.plan(1, {}), partial(kind.ask_together, wanted))
    kind.ask_alone(alone)
    return kind


class _Kind:
    """The sets of one kind of items: some are asked by the index of sets, the others one by one.

    `found`: by set, the best first; `claims`: which sets claim, or have, what was found.
    """

    def __init__(self, database: Database, reading: Reading, doubtful: Mapping[str, Sequence[str]]) -> None:
        self._database, self._reading, self._doubtful = database, reading, doubtful
        self._together: dict[str | None, list[Any]] = {}
        self._begin()

    def _begin(self) -> None:
        self.found: dict[str, list[_Found]] = {}
        self.claims: dict[str, list[str]] = {}
        self.notes: dict[str, list[str]] = {}
        self.asked: list[Asked] = []

    def ask_together(self, wanted: Sequence[str], fields_by: FieldsBy) -> dict[str, News]:
        """Ask the index of sets, in one transaction; returns what is new for those that must be asked one by one."""
        self._begin()
        self._open(fields_by)
        at_once, alone = dict[str, News](), dict[str, News]()
        left = [name for name in wanted if name in self._sets.marks]
        self.notes |= {name: [f"{name}: somebody has deleted or renamed it meanwhile"] for name in {*wanted} - {*left}}
        news_of = _NewsReader(self._reading.candidates(fields_by)).since(left)
        for name, news in zip(left, news_of, strict=True):
            if name in self._alone or news.names is None:
                alone[name] = news
                continue
            self.notes[name] = [*self._sets.note(self._database.path, name)]
            if name in self._sets.kept:
                self.asked.append(Asked(self._set(name), news))
                at_once[name] = news
        self._ask_at_once(at_once)
        return alone

    def ask_alone(self, alone: Mapping[str, News]) -> None:
        """Ask sets one by one, and all what they claim of what was found."""
        before = {*self.claims}
        for name, news in alone.items():
            self._ask_alone(name, news)
        others = [item for item in self.claims if item not in before]
        if others and len(self._alone) < len(self._sets.marks):
            self._reading.answer(self._reading.plan(1, {}), partial(self._claim_at_once, others))
        known = {one.own.name: one.news.names for one in self.asked if one.news.are_new is None}
        for name in self._alone:
            self._claim_alone(name, known.get(name, {}))
        self.claims = {item: sorted({*names}) for item, names in self.claims.items()}

    def _open(self, fields_by: FieldsBy) -> None:
        candidates = self._reading.candidates(fields_by)
        self._fields = candidates[-1]
        is_kept = are_kept(candidates)
        self._sets = open_sets(self._reading, fields_by) if is_kept else no_weights(self._reading, candidates)
        self._alone = self._sets.asked_alone()

    def _claim_at_once(self, items: Sequence[str], fields_by: FieldsBy) -> None:
        """Note which sets of the index claim items, or have them."""
        self._open(fields_by)
        for ids, look in looks(self._sets, self._fields, sorted(self._fields.find_all(items).values())):
            beside = self._sets.rivalry.couple(look.scores, *self._sets.marked(ids))
            self._note_claims(ids, beside.belong & beside.are_open | beside.members)

    def _note_claims(self, ids: Sequence[int], claim: Flags) -> None:
        names, described = self._sets.rivalry.names, self._fields.describe(ids)
        for place, column in np.argwhere(claim).tolist():
            if names[place] not in self._alone:
                self.claims.setdefault(described[ids[column]][0], []).append(names[place])

    def _set(self, name: str) -> ItemSet:
        groups = self._sets.groups
        placed = groups.of.get(name), groups.under.get(name)
        own = loaded_set(name, self._reading, self._database, self._sets.marks[name], placed)
        own._together = self._together.setdefault(own.group, [])
        return own

    def _ask_at_once(self, at_once: Mapping[str, News]) -> None:
        doubtful = {name: {*self._fields.find_all(self._doubtful.get(name, ())).values()} for name in at_once}
        items = set[int]().union(
            *doubtful.values(), *{id(news): news.names or () for news in at_once.values()}.values()
        )
        rows, names = list[_Row](), self._sets.rivalry.names
        for ids, look in looks(self._sets, self._fields, sorted(items)):
            beside = self._sets.rivalry.couple(look.scores, *self._sets.marked(ids))
            scores, belong = look.scores - self._sets.rivalry.taking(beside.best), beside.belong & beside.are_open
            is_new = self._new_for(at_once, ids) & belong
            is_shown = is_new.copy()
            for name in [name for name in at_once if doubtful[name]]:
                place = self._sets.places[name]
                is_shown[place] |= beside.are_open[place] & np.isin(ids, [*doubtful[name]])
            pairs = np.argwhere(is_shown).tolist()
            parts = look.parts([(names[place], column) for place, column in pairs])
            for place, column in pairs:
                own, score = parts[names[place], column], float(scores[place, column])
                rows.append((names[place], own, score, ids[column], bool(is_new[place, column])))
            found = is_shown.any(0)
            self._note_claims(ids, (is_shown | belong | beside.members) & found)
        self._tell(rows)

    def _new_for(self, at_once: Mapping[str, News], ids: Sequence[int]) -> Flags:
        """Whether items are new for the sets of the index, `(n_sets, n)`."""
        found = np.zeros((len(self._sets.places), len(ids)), bool)
        masks: dict[int, Flags] = {}
        for name, news in at_once.items():
            if id(news) not in masks:
                masks[id(news)] = np.array([item in (news.names or ()) for item in ids], bool)
            found[self._sets.places[name]] = masks[id(news)]
        return found

    def _tell(self, rows: Sequence[_Row]) -> None:
        """Note rows with their titles and reasons, and that a set cannot tell what belongs."""
        told = reasons(self._sets.marks, [(self._fields, *row[:3]) for row in rows])
        described = self._fields.describe(sorted({row[3] for row in rows}))
        for (name, _, score, item, is_new), reason in zip(rows, told, strict=True):
            self.found.setdefault(name, []).append(_Found(*described[item], score, reason, is_new))
        for name in {row[0] for row in rows}:
            self.found[name].sort(key=lambda own: (-own.score, not own.is_new, own.item))
            if untold := self._sets.known[name].untold:
                self.notes[name].append(f"{name}: {untold}")

    def _ask_alone(self, name: str, news: News) -> None:
        own = self._set(name)
        try:
            hits = _with_doubtful(own, _ask(own, news), self._doubtful.get(name, ()))
        except QueryError as error:
            self.notes[name] = [f"{name}: {error}"]
            return
        self.notes[name] = [f"{name}: {hits.untold}"] * bool(hits and hits.untold)
        self.notes[name] += [gone_note(self._database.path, name, own.gone)] * bool(own.gone)
        self.asked.append(Asked(own, news))
        for hit in hits:
            reason = next((reason.label for reason in hit.reasons if reason.weight > 0), "")
            self.found.setdefault(name, []).append(_Found(hit.item, hit.title, hit.score, reason))
            self.claims.setdefault(hit.item, []).append(name)

    def _claim_alone(self, name: str, among: Mapping[int, str] | None) -> None:
        """Note what one set claims, or has, of what was found; it is known for the items among which it was asked."""
        own = self._set(name)
        unknown = set[str]() if among is None else {*self.claims}.difference(among.values())
        if not self.claims or not own.accepted:
            return
        with suppress(QueryError):
            claimed = {hit.item for hit in _kept(own, sorted(unknown))} if unknown else set()
            for item in {*self.claims}.intersection(claimed.union(own.accepted)):
                self.claims[item].append(name)


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


def _ask(own: ItemSet, news: News) -> Hits:
    """What belongs to a set among the news."""
    among = None if news.names is None else [*news.names.values()]
    if among and news.are_new is not None:
        among = [hit.item for hit in own.expand(None, cut="keep") if news.are_new(hit.item)]
    if among is not None and not among:
        return Hits()
    return _kept(own, among, explain=True)


def _with_doubtful(own: ItemSet, hits: Hits, doubtful: Sequence[str]) -> Hits:
    """The hits, and those items that growing left in doubt, the best first."""
    left = [item for item in doubtful if item not in {hit.item for hit in hits}]
    if not left:
        return hits
    try:
        more = own.expand(len(left), among=left, explain=True)
    except NothingToRank:  # all have left the index
        return hits
    return hits.with_hits(sorted([*hits, *more], key=lambda hit: -hit.score))


def _kept(own: ItemSet, among: Sequence[str] | None, explain: bool = False) -> Hits:
    """The hits of a set among some items, or all, that belong."""
    try:
        hits = own.expand(None, cut="keep", among=among, explain=explain)
    except NothingToRank:  # all of these are its members
        return Hits()
    assert isinstance(hits, Hits)
    return hits
