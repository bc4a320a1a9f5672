"""Saved sets that grow by themselves, side by side, with brakes: rounds (rounds.py) of a run (runs.py).

The share that must be right is a promise only if people judged all that joined before, JUDGED items at least. All
depends on what is stored alone, so a run that was interrupted goes on as if nothing had happened.
"""

from collections.abc import Iterable, Mapping

from setsearch.answers.saved.groups import wanted_sets
from setsearch.answers.saved.growth.rounds import Rounds
from setsearch.answers.saved.growth.runs import Grower, Growth, Plan
from setsearch.answers.saved.stored import StoredSets
from setsearch.errors import InvalidParameter, SetsearchError, UsageError
from setsearch.options import GROWING, Progress
from setsearch.sqlite.database import Database

JUDGED = 10  # items, by which a promise can be made, if they are all that joined


def grow(grower: Grower, plan: Plan, progress: Progress) -> Growth:
    """As `Index.grow`."""
    for name, value in plan._asdict().items():
        GROWING[name].check(value)
    drafts, found = grower.begin(), Growth((), grower)
    try:
        if plan.accept:
            grower.accept()
        judged, unjudged = grower.judged()
        growing = Rounds(grower, plan, drafts)
        found += (own for joined in progress(growing) for own in joined)
        found.notes, found.ended, found.end = growing.notes, growing.ended, growing.end
        if found and (unjudged or judged < JUDGED):
            found.untold = _no_promise(plan, grower.judged()[1])
    except SetsearchError as error:
        found.ended = str(error)
        raise
    finally:
        grower.end(drafts, found)
    return found


def _no_promise(plan: Plan, unjudged: int) -> str:
    items = f"the {unjudged:,} items that joined" if unjudged > 1 else "the item that joined"
    return (
        f"that {plan.precision:g} of them are right is an estimate, and no promise before somebody has judged {items}: "
        "reject what is wrong, then go on with `accept`"
    )


def chosen_sets(
    database: Database, known: Mapping[str, str], names: Iterable[str] | None, group: str | None
) -> tuple[list[str], str]:
    """Which of the `known` sets, each with its items, are to grow, and their items; raises UnknownSet, UsageError."""
    if (names is None) == (group is None):
        raise InvalidParameter("give sets or a group, one of the two")
    if group is not None:
        with database.read() as cursor:
            names = StoredSets(cursor).group(group).sets
    chosen = sorted({*wanted_sets(known, names)})
    if not chosen:
        raise InvalidParameter("no set to grow; give at least one")
    kinds = sorted({known[name] for name in chosen})
    if len(kinds) > 1:
        raise UsageError(f"there are sets of {' and of '.join(kinds)}; grow those of one kind")
    return chosen, kinds[0]
