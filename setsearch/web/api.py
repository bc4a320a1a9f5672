"""The JSON API. Reading is GET with query parameters, so that an answer has an address; sets are PUT and DELETE."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Path, Query

import setsearch
from setsearch.answers.finding import find_names
from setsearch.answers.highlight import item_text, top_features
from setsearch.answers.sets import ItemSet
from setsearch.errors import ChangedSet, SourceError, UsageError
from setsearch.index import Index
from setsearch.pool import QuestionPool
from setsearch.web.access import Rules
from setsearch.web.documents import add_documents
from setsearch.web.schemas import (
    Claims,
    CompleteQuery,
    ExpandBody,
    ExpandQuery,
    ExplainQuery,
    Explanation,
    FeaturesQuery,
    FindQuery,
    Fit,
    FitsQuery,
    Found,
    Health,
    Hit,
    Inbox,
    InboxQuery,
    Info,
    Item,
    ItemQuery,
    Members,
    ModelQuery,
    NamedMembers,
    Problem,
    Reading,
    SavedSet,
    SetFeature,
    SetName,
    SetsOfQuery,
    SetsQuery,
)
from setsearch.web.typed_names import saved_set

T = TypeVar("T")
ANY_VERSION = "*"
SetNamed = Annotated[str, Path(min_length=1, max_length=200)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": why}
    for code, why in {
        400: "not HTTP, or an address and headers of more than 64 KB",
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
    """The routes below /api."""
    router = APIRouter(prefix="/api", responses=PROBLEMS, dependencies=[Depends(rules.require_token)])
    _add_content(router, pool, rules)
    _add_queries(router, pool)
    add_documents(router, pool, rules)
    _add_sets(router, pool, rules)
    return router


def _add_content(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    @router.get("/health")
    async def health() -> Health:
        """Whether the index answers, and its revision."""
        return Health(version=setsearch.__version__, revision=await pool.ask(Index.revision))

    @router.get("/info")
    async def get_info() -> Info:
        """What the index holds."""
        info = await pool.ask(Index.info)
        readings = [Reading.model_validate(reading) for reading in info["readings"]]
        return Info(
            version=setsearch.__version__,
            default=info["defaults"]["items"],
            revision=info["revision"],
            read_only=rules.read_only,
            readings=readings,
        )

    @router.get("/complete")
    async def complete_name(query: Annotated[CompleteQuery, Query()]) -> list[Found]:
        """Items for a name of which the beginning is known; as `find`."""
        rows = await pool.ask(lambda index: find_names(index.reading(query.items), query.prefix, query.k))
        return [Found(**row._asdict()) for row in rows]

    @router.get("/find")
    async def find(query: Annotated[FindQuery, Query()]) -> list[Found]:
        """Items whose id or title matches a text: whole, at its beginning, inside, by its words, or similar."""
        rows = await pool.ask(lambda index: find_names(index.reading(query.items), query.text, query.k))
        return [Found(**row._asdict()) for row in rows]

    @router.get("/item")
    async def item(query: Annotated[ItemQuery, Query()]) -> Item:
        """An item: its features, and its text if it has one."""
        return Item(**await pool.ask(lambda index: describe_item(index, query)))


def _add_queries(router: APIRouter, pool: QuestionPool) -> None:
    @router.get("/expand", response_model_exclude_unset=True)
    async def expand(query: Annotated[ExpandQuery, Query()]) -> list[Hit]:
        """Give a few examples, get the rest of the set."""
        return await pool.ask(lambda index: _expand(index, query))

    @router.post("/expand", response_model_exclude_unset=True)
    async def expand_many_names(query: ExpandBody) -> list[Hit]:
        """The same for thousands of names, and among given items."""
        return await pool.ask(lambda index: _expand(index, query))

    @router.get("/explain")
    async def explain(query: Annotated[ExplainQuery, Query()]) -> Explanation:
        """The parts that sum to the score of an item."""

        def _explained(index: Index) -> Any:
            options = _options(query)
            own, seeds, options["exclude"] = _examples(index, options.pop("set", None), query)
            if own is not None:
                return own.explain(query.item, seeds, **options)
            return index.reading(query.items).explain(seeds, query.item, **options)

        return Explanation(**_as_dict(await pool.ask(_explained)))

    @router.get("/features")
    async def features(query: Annotated[FeaturesQuery, Query()]) -> list[SetFeature]:
        """The features that define the set."""
        rows = await pool.ask(lambda index: index.items(query.items).features(query.seeds, **_options(query)))
        return [SetFeature(**row._asdict()) for row in rows]

    @router.get("/fits")
    async def fits(query: Annotated[FitsQuery, Query()]) -> list[Fit]:
        """How well each seed fits the others, the odd one first."""
        rows = await pool.ask(lambda index: index.items(query.items).fits(query.seeds, **_options(query)))
        return [Fit(**row._asdict()) for row in rows]


def _add_sets(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    writing = [Depends(rules.require_write)]

    @router.get("/sets")
    async def list_sets(query: Annotated[SetsQuery, Query()]) -> list[SavedSet | SetName]:
        """The saved sets; all of each with `members`."""
        if query.members:
            return await pool.ask(lambda index: [_whole(index.set(name)) for name in index.sets()])
        return [SetName(name=name, items=items) for name, items in (await pool.ask(Index.sets)).items()]

    @router.post("/sets", dependencies=writing)
    async def save_sets(sets: list[NamedMembers]) -> list[SetName]:
        """Save sets, all or none. One of the same name is replaced only if its `version` is given."""
        rows = [own.model_dump() for own in sets]
        saved = await pool.ask(lambda index: _kept(lambda: index.import_sets(rows)))
        return [SetName(name=own.name, items=own.items) for own in saved]

    @router.get("/sets-of")
    @router.get("/classify", deprecated=True)
    async def sets_of(query: Annotated[SetsOfQuery, Query()]) -> Claims:
        """The saved sets that an item or a text fits best."""
        rows = await pool.ask(lambda index: index.sets_of(**query.model_dump()))
        return Claims.model_validate({"rows": [row._asdict() for row in rows], "notes": rows.notes})

    @router.get("/inbox")
    async def inbox(query: Annotated[InboxQuery, Query()]) -> Inbox:
        """What came or changed since saved sets were looked at, and belongs to them."""
        rows = await pool.ask(lambda index: index.inbox(query.sets or None))
        return Inbox.model_validate({"rows": [row._asdict() for row in rows], "notes": rows.notes})

    @router.get("/sets/{name:path}")
    async def get_set(name: SetNamed) -> SavedSet:
        """A saved set."""
        return await pool.ask(lambda index: _whole(saved_set(index, name)))

    @router.put("/sets/{name:path}", dependencies=writing)
    async def put_set(name: SetNamed, members: Members) -> SavedSet:
        """Save a set; one of the same name is replaced only if its `version` is given, or "*" for any."""

        def _put(index: Index) -> SavedSet:
            version = None if members.version == ANY_VERSION else members.version or ""
            index.keep_set(name, members.accepted, members.rejected, members.items, version)
            return _whole(saved_set(index, name))

        return await pool.ask(lambda index: _kept(lambda: _put(index)))

    @router.delete("/sets/{name:path}", dependencies=writing, status_code=204)
    async def delete_set(name: SetNamed) -> None:
        """Delete a saved set."""
        await pool.ask(lambda index: index.delete_set(name))


def describe_item(index: Index, query: ItemQuery) -> dict[str, Any]:
    """An item with its features and its text. Raises UnknownItem, AmbiguousItem."""
    reading = index.reading(query.items)
    item = reading.find(query.item)
    features, count = top_features(reading, item, query.k)
    return {"item": item, "features": features, "feature_count": count, "text": item_text(reading, item)}


def _examples(
    index: Index, name: str | None, query: ExpandQuery | ExplainQuery
) -> tuple[ItemSet | None, list[str], list[str]]:
    """The saved set that is asked, if there is one, and its examples with those of a query. Raises UnknownSet."""
    if name is None:
        return None, [*query.seeds], [*query.exclude]
    own = saved_set(index, name)
    accepted, rejected = own.present()
    return own, [*accepted, *query.seeds], [*query.exclude, *rejected]


def _expand(index: Index, query: ExpandQuery) -> list[Hit]:
    options = _options(query)
    own, given, options["exclude"] = _examples(index, options.pop("set", None), query)
    weights = options.pop("weights", ())
    if weights and len(weights) != len(given):
        raise UsageError(f"there are {len(weights)} weights for {len(given)} seeds; give one for each")
    if weights and len({*given}) < len(given):
        raise UsageError("a seed is given twice; with weights give each once")
    seeds: Any = dict(zip(given, weights, strict=True)) if weights else given
    offset, k, chosen = options.pop("offset", 0), options.pop("k", query.k), options.pop("fields", ())
    hits = (index.reading(query.items).expand if own is None else own.ask)(seeds, k + offset, **options)
    known: dict[str, Any] = {"revision": hits.revision, "contexts_revision": hits.contexts_revision}
    rows = (
        _as_dict(hit) | ({"rest": hit.rest} if options.get("explain") else {}) | known for hit in hits.shared()[offset:]
    )
    wanted = {"rank", "item", *(chosen or Hit.model_fields)}
    return [Hit(**{name: value for name, value in row.items() if name in wanted}) for row in rows]


def _whole(own: ItemSet) -> SavedSet:
    return SavedSet(**{name: getattr(own, name) for name in SavedSet.model_fields})


def _kept(save: Callable[[], T]) -> T:
    """What was saved; an error names the way out that there is here."""
    try:
        return save()
    except ChangedSet as error:
        raise ChangedSet(str(error).replace("`replace`", "the `version` that GET gives")) from error
    except SourceError as error:
        raise SourceError(str(error).replace(", or pass `errors=skip`", "")) from error


def _options(query: ModelQuery) -> dict[str, Any]:
    """The options of a query that differ from the defaults."""
    return query.model_dump(exclude={"items", "seeds", "item"}, exclude_defaults=True)


def _as_dict(row: Any) -> dict[str, Any]:
    snippet = getattr(row, "snippet", None)
    parts = {name: [part._asdict() for part in getattr(row, name)] for name in ("features", "reasons")}
    values: dict[str, Any] = row._asdict()
    return values | parts | ({} if snippet is None else {"snippet": snippet._asdict()})
