"""The inbox of saved sets: what came or changed since somebody looked, and belongs.

Each set has the write up to which it was looked at: that of its saving at first. An item is in the inbox if a later
write gave or changed it, and the question of the set, its members as examples, keeps it (`cut`). Of words, those of
texts that came or changed. Where the history does not lead back so far, all items count as new. What growing left in
doubt (growing.py) is there until it is decided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.results import Hit
from setsearch.answers.saved.groups import wanted_sets
from setsearch.answers.saved.growing import Grown, forget_doubtful, grown_members
from setsearch.answers.sets import ItemSet, gone_note
from setsearch.answers.tables import html_table
from setsearch.arrays import Ints, distinct
from setsearch.errors import InvalidParameter, NothingToRank, QueryError, UnknownItem
from setsearch.memory.fields import Fields
from setsearch.sqlite.database import Database
from setsearch.storage.revisions import Revision, changed_items, past_revision

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


class Inbox(list[InboxRow]):
    """The rows, set by set, the best first; `notes`: which sets have no answer, and why.

    Rows come again until they are accepted or rejected, or all of them are `done`.
    """

    def __init__(self, rows: Iterable[InboxRow], notes: Sequence[str], asked: Sequence["Asked"], database: Database):
        super().__init__(rows)
        self.notes = list(notes)
        self._asked = {one.own.name: one for one in asked}
        self._database = database

    def decide(self, accept: Iterable[Any] = (), reject: Iterable[Any] = ()) -> list[InboxRow]:
        """Accept and reject rows, by row, number or item, into their sets at once; returns those that were decided.

        Raises InvalidParameter, UnknownItem; then nothing has changed.
        """
        said = [(self.find(one), True) for one in accept] + [(self.find(one), False) for one in reject]
        for row in {row for row, is_in in said if is_in}.intersection(row for row, is_in in said if not is_in):
            raise InvalidParameter(f"row {row.number}, {row.item!r}, is accepted and rejected; leave one of them out")
        for row, _ in said:
            self._asked[row.set].own.reading.find(row.item)
        for row, is_in in said:
            own = self._asked[row.set].own
            (own.accept if is_in else own.reject)(row.item)
        for name in dict.fromkeys(row.set for row, _ in said):
            self._asked[name].own.save()
        decided = [row for row, _ in said]
        self[:] = [row for row in self if row not in decided]
        return decided

    def accept(self, *rows: Any) -> list[InboxRow]:
        """Accept rows into their sets, as `decide`."""
        return self.decide(accept=rows)

    def reject(self, *rows: Any) -> list[InboxRow]:
        """Reject rows of their sets, as `decide`."""
        return self.decide(reject=rows)

    @property
    def versions(self) -> dict[str, str]:
        """The version of each set that was asked."""
        return {name: one.own.version for name, one in self._asked.items()}

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
            cursor.executemany(
                "update setsearch_set set revision = ?, stamp = ? where name = ? and items = ?",
                [(*own, name, self._asked[name].own.items) for name, own in seen.items()],
            )
            forget_doubtful(cursor, self._asked)
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
        """The rows as a table, as notebooks show them."""
        return html_table(InboxRow._fields, self, "; ".join(self.notes))


class News(NamedTuple):
    """What came or changed up to the write `now`: the names of items, None for all.

    Of words with contexts, which may be phrases, `are_new` tells it of a name.
    """

    now: Revision
    among: list[str] | None
    are_new: Callable[[str], bool] | None = None


class Asked(NamedTuple):
    """A set that was asked, and what was new for it."""

    own: ItemSet
    news: News


def read_inbox(
    database: Database, known: Mapping[str, str], load: Callable[[str], ItemSet], names: Iterable[str] | None
) -> Inbox:
    """The inbox of some of the `known` sets (each with its items), or of all; raises UnknownSet, InvalidParameter."""
    wanted, notes, asked = wanted_sets(known, names), list[str](), list[Asked]()
    found: list[tuple[str, Hit]] = []
    sets: dict[str, ItemSet] = {}
    together: dict[tuple[str, str | None], list[object]] = {}
    news: dict[tuple[object, ...], News] = {}
    doubtful: dict[str, list[Grown]] = {}
    for one in grown_members(database, wanted, doubtful=True):
        doubtful.setdefault(one.set, []).append(one)
    for name in known:
        try:
            sets[name] = own = load(name)
            own._together = together.setdefault((own.items, own.group), [])
            if name in wanted:
                since = _since(database, name)
                key = own.items, *since
                if key not in news:
                    news[key] = find_news(_reading(own), *since)
                hits = _with_doubtful(own, _ask(own, news[key]), doubtful.get(name, ()))
                found += [(name, hit) for hit in hits]
                notes += [f"{name}: {hits.untold}"] * bool(hits and hits.untold)
                notes += [gone_note(database.path, name, own.gone)] * bool(own.gone)
                asked.append(Asked(own, news[key]))
        except QueryError as error:
            notes += [f"{name}: {error}"] * (name in wanted)
    claims = _claims(sets, found, {one.own.name: one.news.among for one in asked if one.news.are_new is None})
    rows = [
        InboxRow(
            number,
            hit.item,
            hit.title,
            name,
            hit.score,
            next((reason.label for reason in hit.reasons if reason.weight > 0), ""),
            tuple(other for other in claims.get((sets[name].items, hit.item), ()) if other != name),
        )
        for number, (name, hit) in enumerate(found, 1)
    ]
    return Inbox(rows, notes, asked, database)


def _since(database: Database, name: str) -> tuple[int | None, int | None]:
    """The number and the stamp of the write up to which a set was looked at."""
    with database.read() as cursor:
        row = cursor.execute("select revision, stamp from setsearch_set where name = ?", (name,)).fetchone()
    return (None, None) if row is None else row


def _reading(own: ItemSet) -> Reading:
    """The reading of a set; raises NothingToRank for numbers, of which no line is known."""
    if isinstance(own.reading, NumericReading):
        raise NothingToRank(f"{own.items} are described by numbers, which do not tell what belongs; expand the set")
    return own.reading


def find_news(reading: Reading, number: int | None, stamp: int | None) -> News:
    """What came or changed after a write, up to the one that answers know; all, if that is not known."""
    with reading.fields() as fields:
        relation, behind = fields.relation, fields.contexts_revision
        now = relation.state
        if behind is not None and behind < now.number:  # later texts are news once contexts know them
            now = past_revision(fields.cursor, relation.id, behind) or now
        analyzer = fields.analyzer if behind is not None else None
    if number is None or stamp is None:
        return News(now, None)
    with reading.stored() as fields:
        changed = _changed(fields, now, Revision(now.relation, number, stamp))
        if changed is None:
            return News(now, None)
        names = [name for name, _ in fields.items.describe(fields.cursor, changed.tolist()).values()]
        stored = {name for name, _ in fields.items.stored(fields.cursor, changed.tolist()).values()}
    if behind is None:
        return News(now, names)

    def is_new(name: str) -> bool:
        """Whether all parts of a word or a phrase came or changed."""
        terms = analyzer.terms(name) if analyzer is not None and analyzer.is_available else name.split()
        return stored.issuperset(terms)

    return News(now, names, is_new)


def _changed(fields: Fields, now: Revision, then: Revision) -> Ints | None:
    """The items of a reading that changed, ascending; None if that is not known."""
    field = fields.first
    if then.number > now.number and past_revision(field.cursor, then.relation, then.number) == then:
        return np.zeros(0, np.int64)  # contexts are older than the last look
    changed = changed_items(field.cursor, fields.relation.state, then, now.number)
    if changed is None or not field.transposed:
        return changed
    described = changed[changed < field.features.next_id].tolist()
    return distinct(field.read_postings(described).ids.astype(np.int64))


def _ask(own: ItemSet, news: News) -> Hits:
    """What belongs to a set among the news."""
    among = news.among
    if among and news.are_new is not None:
        among = [hit.item for hit in own.expand(None, cut="keep") if news.are_new(hit.item)]
    if among is not None and not among:
        return Hits()
    return _kept(own, among, explain=True)


def _with_doubtful(own: ItemSet, hits: Hits, doubtful: Sequence[Grown]) -> Hits:
    """The hits, and those items that growing left in doubt, the best first."""
    left = [one.item for one in doubtful if one.item not in {hit.item for hit in hits}]
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


def _claims(
    sets: Mapping[str, ItemSet], found: Sequence[tuple[str, Hit]], asked: Mapping[str, list[str] | None]
) -> dict[tuple[str, str], list[str]]:
    """By their kind and name, which sets claim the items that were found, or have them.

    Of sets that were `asked` it is known for the items among which they were, None for all.
    """
    claims: dict[tuple[str, str], list[str]] = {}
    found_of: dict[str, dict[str, None]] = {}
    found_for: dict[str, set[str]] = {}
    for name, hit in found:
        found_of.setdefault(sets[name].items, {})[hit.item] = None
        found_for.setdefault(name, set()).add(hit.item)
    for name, own in sets.items():
        kind = own.items
        items = [*found_of.get(kind, ())]
        if not items or not own.accepted:
            continue
        claimed, among = found_for.get(name, set()), asked.get(name, ())
        unknown = set[str]() if among is None else {*items}.difference(among)
        try:
            claimed |= {hit.item for hit in _kept(own, sorted(unknown))} if unknown else set()
        except QueryError:
            continue
        for item in {*items}.intersection(claimed.union(own.accepted)):
            claims.setdefault((kind, item), []).append(name)
    return claims
