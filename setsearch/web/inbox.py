"""The page of what is new for saved sets: each row is decided at once, by a key or a button, and can be taken back."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from setsearch.answers.results import display_name
from setsearch.answers.saved.inbox import Inbox, Seen, decide_one
from setsearch.errors import ChangedSet, InvalidParameter, QueryError, UsageError
from setsearch.index import Index
from setsearch.options import require_known
from setsearch.web.access import Pages
from setsearch.web.page_state import Address, read_form, redirect
from setsearch.web.typed_names import find_spelled, saved_set, without_commands

MOST_ROWS = 200  # of a page
UNDO = "undo"
TOO = ", as before"  # behind what is said
NO_SETS = "No set is saved yet: give examples at the start, and save them under a name below the list of what fits."
MOST = 2**63  # numbers, as SQLite's integers hold them
SEEN_OF = "seen of "  # before the name of a set, in a form
LONGEST_PAST = 4000  # characters of an address that tell how to undo


@dataclass(frozen=True)
class Asked:
    """The address of the page: which sets, by default all, and what this reader said: (yes or no, set, item).

    What was so already is said `TOO`: by this reader, whose key was pressed twice, or by somebody else.
    """

    sets: tuple[str, ...] = ()
    said: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def read(cls, query: QueryParams) -> "Asked":
        said = (tuple(one.split("\n", 2)) for one in query.getlist("said"))
        return cls(tuple(query.getlist("set")), tuple((one[0], one[1], one[2]) for one in said if len(one) == 3))

    def after(self, *decision: *tuple[str, str, str]) -> "Asked":
        """The state after a decision; the oldest ones are left out where the address gets long."""
        longer = replace(self, said=(*self.said, decision))
        while len(longer.said) > 1 and len(str(longer)) > LONGEST_PAST:
            longer = replace(longer, said=longer.said[1:])
        return longer

    def __str__(self) -> str:
        pairs = [("set", name) for name in self.sets] + [("said", "\n".join(one)) for one in self.said]
        return "inbox" + ("?" + urlencode(pairs) if pairs else "")


def seen_as_texts(inbox: Inbox) -> dict[str, str]:
    """How far the rows of each set go, as JSON in a text: scripts would round a stamp of 63 bits."""
    return {name: json.dumps(own) for name, own in inbox.seen.items()}


def read_seen(text: str) -> Seen:
    """What `seen_as_texts` told of a set. Raises InvalidParameter."""
    with suppress(ValueError, TypeError, RecursionError):
        number, stamp, doubtful = json.loads(text)
        are_stored = all(type(own) is int and 0 <= own < MOST for own in (number, stamp))
        if are_stored and type(doubtful) is list and all(type(item) is str for item in doubtful):
            return Seen(number, stamp, doubtful)
    raise InvalidParameter(f"seen is what the inbox gave for a set, not {text!r:.60}")


def add_inbox(pages: Pages) -> None:
    @pages.get("/inbox")
    async def inbox_page(request: Request) -> Response:
        require_known(request.query_params, ("set", "said"))
        asked = Asked.read(request.query_params)
        return await pages.show(request, "inbox.html", lambda index: {"found": _found(index, asked)})

    @pages.post("/inbox")
    async def decide(request: Request) -> Response:
        form = await read_form(request)
        asked = Asked.read(QueryParams(form.get("back", "").partition("?")[2]))
        try:
            return redirect(request, str(await pages.pool.ask(lambda index: _decide(index, asked, form))))
        except ChangedSet as error:  # the rows as they are now, beside what is wrong
            problem, status = str(error), 409
        except (QueryError, UsageError) as error:
            problem, status = without_commands(str(error)), 422
        return await pages.show(request, "inbox.html", lambda index: {"found": _found(index, asked, problem)}, status)


def _with_known(index: Index, asked: Asked) -> Asked:
    """The same of the sets that are still there. Raises UnknownSet if none of those that it names is."""
    known = index.sets()
    if asked.sets and not {*asked.sets} & known.keys():
        saved_set(index, asked.sets[0])
    return replace(asked, sets=tuple(name for name in asked.sets if name in known))


def _found(index: Index, asked: Asked, problem: str | None = None) -> dict[str, Any]:
    """What the page shows. Raises UnknownSet."""
    kinds = index.sets()
    if not kinds and not asked.sets:
        nothing: dict[str, Any] = {"inbox": (), "rows": (), "seen": {}}
        return {**nothing, "asked": asked, "notes": [NO_SETS], "last": None, "problem": problem}
    named, asked = asked.sets, _with_known(index, asked)
    gone = [f"{name}: it was deleted meanwhile, or has another name" for name in named if name not in asked.sets]
    inbox = index.inbox(asked.sets or None).with_headlines(MOST_ROWS)
    return {
        "asked": asked,
        "inbox": inbox,
        "notes": gone + [without_commands(note) for note in inbox.notes],
        "rows": [
            {
                "row": row,
                "label": display_name(row.item, row.title),
                "address": Address(kinds[row.set]),
            }
            for row in inbox[:MOST_ROWS]
        ],
        "seen": {SEEN_OF + name: text for name, text in seen_as_texts(inbox).items()},
        "last": _last(index, asked),
        "problem": problem,
    }


def _last(index: Index, asked: Asked) -> dict[str, str] | None:
    """The decision that can be taken back, if its set is still there."""
    if not asked.said or asked.said[-1][1] not in index.sets():
        return None
    said, name, item = asked.said[-1]
    return {"said": said.removesuffix(TOO), "set": name, "item": item, "too": TOO if said.endswith(TOO) else ""}


def _decide(index: Index, asked: Asked, form: QueryParams) -> Asked:
    """Save what a form says; returns where to go then. Raises ChangedSet if somebody said otherwise meanwhile."""
    said = form.get("said", "")
    if said == "done":
        seen = {key.removeprefix(SEEN_OF): read_seen(text) for key, text in form.items() if key.startswith(SEEN_OF)}
        index.inbox(_with_known(index, asked).sets or None).done(seen)
        return asked
    if said == UNDO and asked.said:
        before, name, item = asked.said[-1]
        decide_one(partial(saved_set, index, name), item, None, before.removesuffix(TOO))
        return replace(asked, said=asked.said[:-1])
    own = saved_set(index, form.get("set", ""))
    if said not in ("yes", "no"):
        raise InvalidParameter(f"a row is decided by yes or no, not by {said!r:.20}")
    item = find_spelled(own.reading, form.get("item", ""))
    too = "" if decide_one(partial(saved_set, index, own.name), item, said) else TOO
    return asked.after(said + too, own.name, item)
