"""What joined saved sets by growing, and what is in doubt, as it is stored."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from setsearch.answers.highlight import titles_of
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.saved.growth.chances import by_odds, odds_of
from setsearch.answers.saved.stored import StoredSets
from setsearch.sqlite.database import Database

PUT_OFF = 2  # a mark of what is no member


class Grown(NamedTuple):
    """An item that joined a set in a `round`: its score in nats, the chance that it is right, what tells most.

    `over` is the best other set, if the item fits one; `title` tells more than its name, if something does. What is
    stored is the chance without what people said.
    """

    set: str
    item: str
    title: str | None
    round: int
    score: float
    chance: float
    reason: str
    over: str | None


def grown_members(database: Database, names: Sequence[str], doubtful: bool = False) -> list[Grown]:
    """What joined sets by itself, or is doubtful, in the order in which it came."""
    with database.read() as cursor:
        return grown_rows(cursor, names, doubtful)


def grown_rows(cursor: sqlite3.Cursor, names: Sequence[str], doubtful: bool = False) -> list[Grown]:
    """The same in a transaction that has begun."""
    rows = cursor.execute(
        "select name, item, null, round, score, chance, coalesce(reason, ''), over from setsearch_member "
        "where round is not null and accepted = ? order by round, name, chance desc, item",
        (PUT_OFF if doubtful else 1,),
    ).fetchall()
    odds = odds_of(StoredSets(cursor), names)
    return [with_odds(Grown(*row), odds) for row in rows if row[0] in odds]


def with_odds(own: Grown, odds: Mapping[str, float]) -> Grown:
    """What is stored of an item, with the chance by what people said."""
    return own._replace(chance=by_odds(own.chance, odds[own.set]))


def titled(reading: Reading | NumericReading, rows: Sequence[Grown]) -> list[Grown]:
    """The same with titles."""
    titles = titles_of(reading, [own.item for own in rows])
    return [own._replace(title=titles.get(own.item)) for own in rows]


def waiting_items(stored: StoredSets) -> dict[str, list[str]]:
    """The items of each set that somebody has put off with a reason, or instead of another answer, which would go."""
    put_off = f"accepted = {PUT_OFF} and round is null and coalesce(reason, over) is not null"
    waiting: dict[str, list[str]] = {}
    for name, item in stored.cursor.execute(f"select name, item from setsearch_member where {put_off} order by 1, 2"):
        waiting.setdefault(name, []).append(item)
    return waiting


def forget_doubtful(
    stored: StoredSets, names: Iterable[str], some: Mapping[str, Collection[str]] | None = None
) -> None:
    """Forget what growing left in doubt, all or `some` items of each set; not what a person had put off, or noted."""
    doubtful = f"where name = ? and accepted = {PUT_OFF} and round is not null"
    grown = ", ".join(f"{column} = null" for column in ("round", "score", "chance", "reason", "over"))
    for name in names:
        items = [item for (item,) in stored.cursor.execute(f"select item from setsearch_member {doubtful}", (name,))]
        own = [(name, item) for item in items if some is None or item in some[name]]
        with stored.changing(name, [item for _, item in own]):
            nothing = "number is null and note is null"
            stored.cursor.executemany(f"delete from setsearch_member {doubtful} and item = ? and {nothing}", own)
            stored.cursor.executemany(f"update setsearch_member set {grown} {doubtful} and item = ?", own)
