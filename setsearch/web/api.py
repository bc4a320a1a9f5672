"""The JSON API. Reading is GET with query parameters, so that an answer has an address; sets are PUT and DELETE."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

import setsearch
import setsearch.web.schemas as schemas  # noqa: PLR0402 - the package imports this module
from setsearch.answers.highlight import item_text, top_features
from setsearch.answers.results import Explanation, Found, SetFeature
from setsearch.answers.saved.claims import Claim
from setsearch.answers.saved.groups import Group
from setsearch.answers.saved.growth.grown import Grown
from setsearch.answers.saved.growth.runs import TOLD_OF_GROWTH
from setsearch.answers.saved.inbox import InboxRow
from setsearch.answers.saved.item_sets import ItemSet, Question
from setsearch.answers.saved.item_sets import change_set as change
from setsearch.errors import ChangedSet, SourceError, UsageError
from setsearch.index import Index
from setsearch.options import taken
from setsearch.pool import QuestionPool
from setsearch.search.cutoff import SeedFit
from setsearch.web.access import Rules
from setsearch.web.groups import start_growing
from setsearch.web.inbox import read_seen, seen_as_texts
from setsearch.web.typed_names import saved_set
from setsearch.web.writing import add_documents

T = TypeVar("T")
ANY_VERSION = "*"
SetNamed = Annotated[str, Path(min_length=1, max_length=200)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Problem, "description": why}
    for code, why in {
        400: "not HTTP, an address and headers of more than 64 KB, or no name of this server",
        401: "the token is missing",
        403: "read-only, or a request from another origin",
        404: "no such item, set or reading",
        408: "the body of the request did not come in time",
        409: "somebody has changed the set meanwhile",
        413: "the request is too large",
        422: "the query is not valid",
        429: "too many wrong tokens",
        503: "unavailable: no index, a writer, too many queries, or too slow",
    }.items()
}


def make_api(pool: QuestionPool, rules: Rules) -> APIRouter:
    router = APIRouter(prefix="/api", responses=PROBLEMS, dependencies=[Depends(rules.require_token)])
    _add_content(router, pool, rules)
    _add_queries(router, pool)
    add_documents(router, pool, rules)
    _add_sets(router, pool, rules)
    _add_groups(router, pool, rules)
    _add_inbox(router, pool, rules)
    return router


def _add_content(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    @router.get("/health")
    async def health() -> schemas.Health:
        """Whether the index answers, and its revision."""
        return schemas.Health(version=setsearch.__version__, revision=await pool.ask(Index.revision))

    @router.get("/info")
    async def get_info() -> schemas.Info:
        """What the index holds."""
        info = await pool.ask(Index.info)
        more = {"version": setsearch.__version__, "default": info["defaults"]["items"], "read_only": rules.read_only}
        return schemas.Info.model_validate(info | more)

    @router.get("/complete", response_model=schemas.schema(list[Found]))
    async def complete_name(query: Annotated[schemas.CompleteQuery, Query()]) -> list[Found]:
        """Items for a name of which the beginning is known; as `find`."""
        return await pool.ask(lambda index: index.reading(query.items).find_names(query.prefix, query.k))

    @router.get("/find", response_model=schemas.schema(list[Found]))
    async def find(query: Annotated[schemas.FindQuery, Query()]) -> list[Found]:
        """Items whose id or title matches a text: whole, at its beginning, inside, by its words, or similar."""
        return await pool.ask(lambda index: index.reading(query.items).find_names(query.text, query.k))

    @router.get("/item")
    async def item(query: Annotated[schemas.ItemQuery, Query()]) -> schemas.Item:
        """An item: its features, and its text if it has one."""
        return schemas.Item(**await pool.ask(lambda index: describe_item(index, query)))


def _add_queries(router: APIRouter, pool: QuestionPool) -> None:
    @router.get("/expand", response_model=schemas.HITS, response_model_exclude_unset=True)
    async def expand(query: Annotated[schemas.ExpandQuery, Query()]) -> list[BaseModel]:
        """Give a few examples, get the rest of the set."""
        return await pool.ask(lambda index: _expand(index, query))

    @router.post("/expand", response_model=schemas.HITS, response_model_exclude_unset=True)
    async def expand_many_names(query: schemas.ExpandBody) -> list[BaseModel]:
        """The same for thousands of names, and among given items."""
        return await pool.ask(lambda index: _expand(index, query))

    @router.get("/explain", response_model=schemas.schema(Explanation))
    async def explain(query: Annotated[schemas.ExplainQuery, Query()]) -> Explanation:
        """The parts that sum to the score of an item."""

        def _explained(index: Index) -> Explanation:
            asked, options = _question(index, query)
            return asked.explain(query.item, **options)

        return await pool.ask(_explained)

    @router.get("/features", response_model=schemas.schema(list[SetFeature]))
    async def features(query: Annotated[schemas.FeaturesQuery, Query()]) -> list[SetFeature]:
        """The features that define the set."""
        return await pool.ask(lambda index: index.items(query.items).features(query.seeds, **_options(query)))

    @router.get("/fits", response_model=schemas.schema(list[SeedFit]))
    async def fits(query: Annotated[schemas.FitsQuery, Query()]) -> list[SeedFit]:
        """How well each seed fits the others, the odd one first."""
        return await pool.ask(lambda index: index.items(query.items).fits(query.seeds, **_options(query)))


def _add_sets(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    writing = [Depends(rules.require_write)]

    @router.get("/sets")
    async def list_sets(query: Annotated[schemas.SetsQuery, Query()]) -> list[schemas.SavedSet | schemas.SetName]:
        """The saved sets; all of each with `members`."""
        if query.members:
            return await pool.ask(lambda index: [_whole(index.set(name)) for name in index.sets()])
        return [schemas.SetName(name=name, items=items) for name, items in (await pool.ask(Index.sets)).items()]

    @router.post("/sets", dependencies=writing)
    async def save_sets(sets: list[schemas.NamedMembers]) -> list[schemas.SetName]:
        """Save sets, all or none. One of the same name is replaced only if its `version` is given."""
        rows = [own.model_dump() for own in sets]
        saved = await pool.ask(lambda index: _kept(lambda: index.import_sets(rows)))
        return [schemas.SetName(name=own.name, items=own.items) for own in saved]

    @router.get("/sets/{name:path}")
    async def get_set(
        name: SetNamed, query: Annotated[schemas.SetQuery, Query()]
    ) -> schemas.GrownSet | schemas.SavedSet:
        """A saved set; with `grown` also in which round items joined by growing, with which chance, and why."""
        return await pool.ask(lambda index: _whole(saved_set(index, name), query.grown))

    @router.put("/sets/{name:path}", dependencies=writing)
    async def put_set(name: SetNamed, members: schemas.Members) -> schemas.SavedSet:
        """Save a set; one of the same name is replaced only if its `version` is given, or "*" for any."""

        def _put(index: Index) -> schemas.SavedSet:
            version = None if members.version == ANY_VERSION else members.version or ""
            placed = {"group": members.group, "under": members.under}
            index.keep_set(name, members.accepted, members.rejected, members.items, version, **placed)
            return _whole(saved_set(index, name))

        return await pool.ask(lambda index: _kept(lambda: _put(index)))

    @router.patch("/sets/{name:path}", dependencies=writing)
    async def change_set(name: SetNamed, given: schemas.SetChange) -> schemas.SavedSet:
        """Accept items into a saved set, reject others, remove what was said of some, or give it another name."""
        if not (given.accept or given.reject or given.remove or given.name):
            raise UsageError("nothing is to change; give `accept`, `reject`, `remove` or `name`")
        changes = given.model_dump() | {"version": None if given.version == ANY_VERSION else given.version}

        def _changed(index: Index) -> schemas.SavedSet:
            own = saved_set(index, name)
            change(own, **changes)
            return _whole(index.set(own.name))

        return await pool.ask(_changed)

    @router.delete("/sets/{name:path}", dependencies=writing)
    async def delete_set(name: SetNamed) -> schemas.DeletedSet:
        """Delete a saved set."""
        return schemas.DeletedSet(name=name, parts=await pool.ask(lambda index: index.delete_set(name)))


def _add_groups(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    writing = [Depends(rules.require_write)]

    @router.get("/groups", response_model=schemas.schema(list[Group]))
    async def groups() -> list[Group]:
        """The groups of saved sets; sets come into one by PUT, with their `group`."""
        known = await pool.ask(Index.groups)
        return [Group(name, name in known.exclusive, known.within(name)) for name in sorted({*known.of.values()})]

    @router.patch("/groups/{name:path}", response_model=schemas.schema(Group), dependencies=writing)
    async def change_group(name: SetNamed, given: schemas.GroupChange) -> Group:
        """Let the sets of a group exclude one another, or no longer."""
        return await pool.ask(lambda index: index.group(name, given.exclusive))

    run: Any = {"runs": (str | None, Field(description="the process that is at work")), "untold": (str | None, ...)}
    run |= {"ended": (str, Field(description="why the last run has ended"))}
    grown = schemas.with_notes(Grown, **run)

    @router.get("/grow/{name:path}", response_model=grown)
    async def growth(name: SetNamed) -> dict[str, Any]:
        """What joined the sets of a group by growing, round by round, while a run is at work, too."""
        return await pool.ask(lambda index: _grown(index, name))

    @router.post("/grow/{name:path}", status_code=202, response_model=grown, dependencies=writing)
    async def grow(name: SetNamed, given: schemas.GrowBody) -> dict[str, Any]:
        """Begin to grow the sets of a group, which goes on where it was; GET follows. One run of a group at a time."""
        await start_growing(pool, name, given.model_dump(exclude_defaults=True))
        return await pool.ask(lambda index: _grown(index, name))

    @router.delete("/grow/{name:path}", response_model=grown, dependencies=writing)
    async def stop_growing(name: SetNamed, query: Annotated[schemas.FromRound, Query()]) -> dict[str, Any]:
        """Stop a run; with `round`, take back what joined in this round and after it, and nobody has judged."""

        def _stopped(index: Index) -> dict[str, Any]:
            growth = index.growth(group=name)
            growth.stop()
            if query.round is not None:
                growth.take_back(query.round)
            return _grown(index, name)

        return await pool.ask(_stopped)


def _grown(index: Index, name: str) -> dict[str, Any]:
    own = index.growth(group=name)
    return {"rows": [*own]} | {key: getattr(own, key) for key in TOLD_OF_GROWTH}


def _add_inbox(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    @router.get("/sets-of", response_model=schemas.with_notes(Claim))
    async def sets_of(query: Annotated[schemas.SetsOfQuery, Query()]) -> dict[str, Any]:
        """The saved sets that an item or a text fits best."""
        rows = await pool.ask(lambda index: index.sets_of(**query.model_dump()))
        return {"rows": [*rows], "notes": rows.notes}

    seen_of: Any = (dict[str, str], Field(description="how far the rows go, to be told when they are done"))

    @router.get("/inbox", response_model=schemas.with_notes(InboxRow, seen=seen_of))
    async def inbox(query: Annotated[schemas.InboxQuery, Query()]) -> dict[str, Any]:
        """What came or changed since saved sets were looked at, and belongs to them."""
        rows = await pool.ask(lambda index: index.inbox(query.sets or None).with_headlines())
        return {"rows": [*rows], "notes": rows.notes, "seen": seen_as_texts(rows)}

    @router.post("/inbox/done", dependencies=[Depends(rules.require_write)])
    async def inbox_done(given: schemas.InboxSeen) -> schemas.InboxSeen:
        """Note that all rows of an inbox were looked at: they come again if they change."""
        seen = {name: read_seen(text) for name, text in given.seen.items()}
        await pool.ask(lambda index: index.inbox([*seen]).done(seen))
        return given


def describe_item(index: Index, query: schemas.ItemQuery) -> dict[str, Any]:
    """An item with its features and its text. Raises UnknownItem, AmbiguousItem."""
    reading = index.reading(query.items)
    item = reading.find(query.item)
    features, count = top_features(reading, item, query.k)
    return {"item": item, "features": features, "feature_count": count, "text": item_text(reading, item)}


def _question(index: Index, query: schemas.ExpandQuery | schemas.ExplainQuery) -> tuple[Question, dict[str, Any]]:
    """What is asked, and the other options. Raises UnknownSet."""
    options = _options(query)
    return index.question(query.seeds, items=query.items, **taken(options, "set", "exclude")), options


def _expand(index: Index, query: schemas.ExpandQuery) -> list[BaseModel]:
    asked, options = _question(index, query)
    if weights := options.pop("weights", ()):
        asked = asked.weighted(weights, "weights")
    offset, k, chosen = options.pop("offset", 0), options.pop("k", query.k), options.pop("fields", ())
    hits = asked.expand(k + offset, **options)
    known: dict[str, Any] = {"revision": hits.revision, "contexts_revision": hits.contexts_revision}
    wanted, rows = {"rank", "item", *(chosen or schemas.Hit.model_fields)}, list[BaseModel]()
    for hit in hits.shared()[offset:]:
        row = hit._asdict() | ({"rest": hit.rest} if options.get("explain") else {}) | known
        kept = {name: value for name, value in row.items() if name in wanted}
        rows.append(schemas.Hit.model_validate(kept, from_attributes=True))
    return rows


def _whole(own: ItemSet, grown: bool = False) -> schemas.SavedSet:
    members = {name: getattr(own, name) for name in schemas.SavedSet.model_fields}
    joined = [row._asdict() for row in own.grown()] if grown else []
    return schemas.GrownSet(**members, grown=joined) if grown else schemas.SavedSet(**members)


def _kept(save: Callable[[], T]) -> T:
    """What was saved; an error names the way out that there is here."""
    try:
        return save()
    except ChangedSet as error:
        raise ChangedSet(str(error).replace("`replace`", "the `version` that GET gives")) from error
    except SourceError as error:
        raise SourceError(str(error).replace(", or pass `errors=skip`", "")) from error


def _options(query: schemas.ModelQuery) -> dict[str, Any]:
    """The options of a query that differ from the defaults."""
    return query.model_dump(exclude={"items", "seeds", "item"}, exclude_defaults=True)
