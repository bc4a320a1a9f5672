"""The JSON API. Reading is GET with query parameters, so that an answer has an address; sets are PUT and DELETE."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query

import setsearch
from setsearch.errors import UnknownSet
from setsearch.index import Index
from setsearch.search.completion import complete
from setsearch.search.highlight import item_text, top_features
from setsearch.web.access import Rules
from setsearch.web.pool import QuestionPool
from setsearch.web.schemas import (
    Asked,
    Class,
    ClassifyAsked,
    CompleteAsked,
    Completed,
    ExpandAsked,
    ExplainAsked,
    Explained,
    FeaturesAsked,
    Found,
    Info,
    Item,
    ItemAsked,
    Members,
    OfSet,
    Problem,
    Reading,
    SavedSet,
    SetName,
)

SetNamed = Annotated[str, Path(min_length=1, max_length=200)]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": why}
    for code, why in {
        401: "no token, where one is asked for",
        403: "nothing is changed here, or not by you",
        404: "no such item, set or reading",
        413: "too much at a time",
        422: "the question has no answer as it stands",
        503: "not now: no index, a writer, too many questions, or too slow",
    }.items()
}


def make_api(pool: QuestionPool, rules: Rules) -> APIRouter:
    """The routes below /api."""
    router = APIRouter(prefix="/api", responses=PROBLEMS, dependencies=[Depends(rules.require_token)])
    _add_reading(router, pool, rules)
    _add_asking(router, pool)
    _add_sets(router, pool, rules)
    return router


def _add_reading(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    @router.get("/info")
    async def info() -> Info:
        """What the index holds."""
        found = await pool.ask(Index.info)
        readings = [Reading.model_validate(reading) for reading in found["readings"]]
        return Info(
            version=setsearch.__version__,
            default=found["defaults"]["items"],
            revision=found["revision"],
            read_only=rules.read_only,
            readings=readings,
        )

    @router.get("/complete")
    async def complete_name(asked: Annotated[CompleteAsked, Query()]) -> list[Completed]:
        """Items whose id or title begins so, those with most in them first."""
        found = await pool.ask(lambda index: complete(index.reading(asked.items), asked.prefix, asked.k))
        return [Completed(**row._asdict()) for row in found]

    @router.get("/item")
    async def item(asked: Annotated[ItemAsked, Query()]) -> Item:
        """An item: its features, and its text where there is one."""
        return Item(**await pool.ask(lambda index: describe_item(index, asked)))


def _add_asking(router: APIRouter, pool: QuestionPool) -> None:
    @router.get("/expand")
    async def expand(asked: Annotated[ExpandAsked, Query()]) -> list[Found]:
        """Give a few examples, get the rest of the set."""
        found = await pool.ask(lambda index: index.reading(asked.items).expand(asked.seeds, **_options(asked)))
        return [Found(**_plain(hit)) for hit in found]

    @router.get("/explain")
    async def explain(asked: Annotated[ExplainAsked, Query()]) -> Explained:
        """The parts that sum to the score of an item."""
        options = _options(asked)
        found = await pool.ask(lambda index: index.reading(asked.items).explain(asked.seeds, asked.item, **options))
        return Explained(**_plain(found))

    @router.get("/features")
    async def features(asked: Annotated[FeaturesAsked, Query()]) -> list[OfSet]:
        """The features that define the set."""
        found = await pool.ask(lambda index: index.items(asked.items).features(asked.seeds, **_options(asked)))
        return [OfSet(**part._asdict()) for part in found]

    @router.get("/classify")
    async def classify(asked: Annotated[ClassifyAsked, Query()]) -> list[Class]:
        """Which of the saved sets an item or a text belongs to."""
        found = await pool.ask(lambda index: _classify(index, asked))
        return [Class(**{key: getattr(row, key) for key in Class.model_fields}) for row in found]


def _add_sets(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    writing = [Depends(rules.require_write)]

    @router.get("/sets")
    async def list_sets() -> list[SetName]:
        """The saved sets."""
        found = await pool.ask(Index.sets)
        return [SetName(name=name, items=items) for name, items in found.items()]

    @router.get("/sets/{name:path}")
    async def get_set(name: SetNamed) -> SavedSet:
        """A saved set."""
        return await pool.ask(lambda index: _saved(index, name))

    @router.put("/sets/{name:path}", dependencies=writing)
    async def put_set(name: SetNamed, members: Members) -> SavedSet:
        """Keep a set under a name, in the place of what was kept there."""

        def _put(index: Index) -> SavedSet:
            index.keep_set(name, members.accepted, members.rejected, members.items)
            return _saved(index, name)

        return await pool.ask(_put)

    @router.delete("/sets/{name:path}", dependencies=writing, status_code=204)
    async def delete_set(name: SetNamed) -> None:
        """Forget a saved set."""
        await pool.ask(lambda index: index.delete_set(name))


def describe_item(index: Index, asked: ItemAsked) -> dict[str, Any]:
    """An item with its features and its text. Raises UnknownItem, AmbiguousItem."""
    reading = index.reading(asked.items)
    item = reading.find(asked.item)
    features, count = top_features(reading, item, asked.k)
    return {"item": item, "features": features, "feature_count": count, "text": item_text(reading, item)}


def _saved(index: Index, name: str) -> SavedSet:
    if name not in index.sets():
        raise UnknownSet(f"no set {name!r}")
    kept = index.set(name)
    return SavedSet(name=name, items=kept.items, accepted=kept.accepted, rejected=kept.rejected)


def _classify(index: Index, asked: ClassifyAsked) -> Any:
    from setsearch.learning import classify

    reading = index.items(asked.items)
    known = {name: own for name, own in index.sets().items() if own == reading.name}
    for name in asked.sets:
        if name not in known:
            raise UnknownSet(f"no set {name!r} of {reading.name}")
    classes = {name: index.set(name).accepted for name in asked.sets or known}
    return classify(reading, asked.item, classes, text=asked.text, model=asked.model, prior=asked.prior)


def _options(asked: Asked) -> dict[str, Any]:
    """The options that were given."""
    return asked.model_dump(exclude={"items", "seeds", "item"}, exclude_defaults=True)


def _plain(row: Any) -> dict[str, Any]:
    return {**row._asdict(), "features": [part._asdict() for part in row.features]}
