"""The page of a group: whether its sets exclude one another, how they grow, and what joined them in which round."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from setsearch.answers.reading import Reading
from setsearch.answers.results import display_name
from setsearch.errors import InvalidParameter
from setsearch.index import Index
from setsearch.options import GROWING, ROUNDS, require_known
from setsearch.pool import QuestionPool
from setsearch.web.access import REFUSED, Pages, status_of
from setsearch.web.page_state import Address, read_form, redirect
from setsearch.web.typed_names import find_spelled, saved_set, without_commands

MOST_ROWS = 200  # of a page


async def start_growing(pool: QuestionPool, group: str, given: Mapping[str, Any]) -> None:
    """Begin a run beside the questions; it goes on when nobody looks. Raises ChangedSet if one is at work."""

    def grow(index: Index, begun: Any) -> None:
        def follow(rounds: Any) -> Any:
            begun()
            yield from rounds

        index.grow(group=group, progress=follow, **given)

    await pool.start(grow)


def add_groups(pages: Pages) -> None:
    @pages.get("/group")
    async def group_page(request: Request) -> Response:
        require_known(request.query_params, ("name", *GROWING))
        return await _show(request, request.query_params)

    @pages.post("/group")
    async def change(request: Request) -> Response:
        form = await read_form(request)
        name = form.get("name", "")
        given = {key: form[key] for key in GROWING if key in form}
        try:
            if form.get("said") == "grow":
                how = {key: GROWING[key].accept(value) for key, value in given.items()}
                await start_growing(pages.pool, name, how)
            else:
                await pages.pool.ask(lambda index: _change(index, name, form))
        except REFUSED as error:
            if isinstance(error, LookupError):  # there is no such page
                raise
            return await _show(request, form, without_commands(str(error)), status_of(error))
        given.pop("accept", None)
        return redirect(request, "group?" + urlencode({"name": name, **given}))

    async def _show(request: Request, asked: QueryParams, problem: str | None = None, status: int = 200) -> Response:
        return await pages.show(
            request, "group.html", lambda index: {"found": _found(index, asked), "problem": problem}, status
        )


def _change(index: Index, name: str, form: QueryParams) -> None:
    """Do what a form says, but for growing. Raises UnknownSet, ChangedSet, InvalidParameter."""
    said = form.get("said", "")
    if said in ("exclusive", "shared"):
        index.group(name, exclusive=said == "exclusive")
    elif said == "stop":
        index.growth(group=name).stop()
    elif said == "back":
        index.growth(group=name).take_back(GROWING["rounds"].read([form.get("round", "")]))
    elif said == "no":
        own = saved_set(index, form.get("set", ""))
        own.reject(find_spelled(own.reading, form.get("item", "")))
        own.save()
    else:
        raise InvalidParameter(f"a group is changed by exclusive, shared, grow, stop, back or no, not by {said!r:.20}")


def _found(index: Index, asked: QueryParams) -> dict[str, Any]:
    """What the page shows. Raises UnknownSet."""
    group = index.group(asked.get("name", ""))
    kind = index.sets()[group.sets[0]]
    reading = index.reading(kind)
    growth = index.growth(group=group.name) if isinstance(reading, Reading) else None  # sets of numbers do not grow
    rows = [] if growth is None else growth[-MOST_ROWS:]
    how = {"rounds": ROUNDS + (growth.last if growth else 0), "each": 5, "precision": 0.9}
    return {
        "group": group,
        "left_out": len(growth or ()) - len(rows),
        "growth": growth,
        "rounds": [
            (number, [(own, display_name(own.item, own.title)) for own in joined])
            for number, joined in groupby(rows, lambda own: own.round)
        ],
        "address": Address(kind),
        "how": how | {key: asked[key] for key in how if asked.get(key)},
        "notes": [without_commands(note) for note in growth.notes] if growth is not None else [],
    }
