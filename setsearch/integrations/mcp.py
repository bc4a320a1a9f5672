"""An MCP server, for assistants: `setsearch mcp DB` speaks the Model Context Protocol on stdin and stdout.

The tools read, and save sets. A mistake, such as an unknown example, is returned as an error that says what to do.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

import setsearch
from setsearch.answers.highlight import item_text, top_features, with_headlines
from setsearch.answers.results import kept_name, weight_rows
from setsearch.answers.saved.groups import wanted_sets
from setsearch.answers.saved.growth.runs import TOLD_OF_GROWTH, Growth
from setsearch.answers.saved.item_sets import Question
from setsearch.answers.saved.item_sets import change_set as change
from setsearch.errors import SetsearchError
from setsearch.options import GROWING, SAVED, Option, in_words, offered, require_known, taken, with_parameters
from setsearch.search.request import K

MOST_HITS = 1000  # in one answer
Id = str | int  # of an item
FEATURES = 30  # of an item that is read
INSTRUCTIONS = (
    "An index of a collection, queried by examples: give a few items of a set (words, or documents by id or title) "
    "and get the rest of the set, best first. Ask `describe` what can be expanded."
)


def _checked(own: Option) -> Any:
    """The values of an option as the library checks them."""
    return Annotated[Any, BeforeValidator(own.require), WithJsonSchema(own.schema)]


Top: Any = _checked(K._replace(most=MOST_HITS))
Belongs: Any = _checked(Option(bool, "", "", name="only_what_belongs"))
Replace: Any = _checked(Option(bool, "", "", name="replace"))
Exclusive: Any = _checked(Option(bool, "", "", name="exclusive"))


class _Server(MCPServer[Any]):
    """A server that refuses what it does not know, in the words of the library."""

    async def call_tool(self, name: str, arguments: dict[str, Any], *more: Any, **context: Any) -> Any:
        """What a tool answers; raises ToolError, which has the message of a SetsearchError."""
        try:
            for tool in await self.list_tools():
                if tool.name == name:
                    require_known(arguments, tool.input_schema["properties"], "assistants")
            return await super().call_tool(name, arguments, *more, **context)
        except (ToolError, SetsearchError) as error:
            cause = error if isinstance(error, SetsearchError) else error.__cause__
            if not isinstance(cause, (SetsearchError, ValidationError)):
                raise
            raise ToolError(in_words(cause.errors()[0]) if isinstance(cause, ValidationError) else str(cause)) from None


def make_server(place: str | Path) -> MCPServer[Any]:
    """Make a server for the index in a database. Raises MissingDatabase, NoIndex."""
    index = setsearch.open(place)
    index.info()
    server = _Server("setsearch", instructions=INSTRUCTIONS, version=setsearch.__version__, log_level="WARNING")
    _add_questions(server, index)
    _add_lookups(server, index)
    _add_sets(server, index)
    _add_groups(server, index)
    return server


def _add_questions(server: MCPServer[Any], index: setsearch.Index) -> None:
    def expand(
        seeds: list[Id] | None = None,
        items: str | None = None,
        k: Top = 10,
        only_what_belongs: Belongs = False,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """The items that belong with the seeds, or with a saved `set`, best first, with scores.

        `items` names what is ranked ("terms", "documents", "comments/terms", ...), `exclude` are negative examples.
        `only_what_belongs` leaves out what is below the threshold.
        """
        options |= {"cut": "keep" if only_what_belongs else None, "snippets": True}
        asked = _question(index, seeds, items, options)
        return _rows(with_headlines(asked.reading, asked.expand(k, **options).shared()))

    server.tool()(with_parameters(expand, {**offered("assistants"), **SAVED}.values(), _annotated))

    @server.tool()
    def search_by_example(text: str, items: str = "documents", k: Top = 10) -> list[dict[str, Any]]:
        """The documents most like a text that is not in the index."""
        return _rows(index.items(items).expand([], k, like=[text], snippets=True))

    def explain(item: Id, seeds: list[Id] | None = None, items: str | None = None, **options: Any) -> dict[str, Any]:
        """Why an item has its score: constant, base and features sum to it."""
        explanation = _question(index, seeds, items, options).explain(item, **options)
        parts = {name: weight_rows(getattr(explanation, name)) for name in ("features", "reasons")}
        return {**explanation._asdict(), **parts}

    explaining = {**offered("assistants", offered("explain")), **SAVED}
    server.tool()(with_parameters(explain, explaining.values(), _annotated))

    @server.tool()
    def features(seeds: list[Id], items: str | None = None, k: Top = 10) -> list[dict[str, Any]]:
        """The features that define a set, by descending weight."""
        return [part._asdict() for part in index.items(items).features(seeds, k)]


def _add_lookups(server: MCPServer[Any], index: setsearch.Index) -> None:
    @server.tool()
    def describe() -> dict[str, Any]:
        """What the index holds: names and numbers of the items that can be expanded, some of them, the saved sets."""
        return {"readings": index.info()["readings"], "sets": index.sets()}

    @server.tool()
    def find(text: str, items: str | None = None, k: Top = 10) -> list[dict[str, Any]]:
        """Items whose id or title matches a text: any part of it, in any case, with small errors."""
        return [found._asdict() for found in index.reading(items).find_names(text, k)]

    @server.tool()
    def read(item: Id, items: str | None = None) -> dict[str, Any]:
        """An item: its title, its text if it has one, and its most frequent features with counts."""
        reading = index.reading(items)
        name = reading.find(item)
        features, _ = top_features(reading, name, FEATURES)
        text = item_text(reading, name)
        return {"item": name, "title": reading.titles([name])[name], "text": text, "features": dict(features)}


def _add_sets(server: MCPServer[Any], index: setsearch.Index) -> None:
    @server.tool()
    def read_set(name: str) -> dict[str, Any]:
        """A saved set: its members, and of those that joined by growing in which round, with which chance, and why."""
        own = index.set(*wanted_sets(index.sets(), [name]))
        return {**_told(own), "grown": [joined._asdict() for joined in own.grown()]}

    @server.tool()
    def sets_of(
        item: Id | None = None, text: str | None = None, items: str | None = None, k: Top = 10
    ) -> dict[str, Any]:
        """The saved sets that an item, or a text that is not in the index, fits best, and whether it belongs."""
        return _noted(index.sets_of(item, text=text, items=items, k=k))

    @server.tool()
    def inbox(sets: list[str] | None = None) -> dict[str, Any]:
        """What came or changed since saved sets were looked at, and belongs to them; `change_set` decides."""
        return _noted(index.inbox(sets).with_headlines())

    @server.tool()
    def save_set(
        name: str,
        accepted: list[Id],
        rejected: list[Id] | None = None,
        items: str | None = None,
        replace: Replace = False,
        group: str | None = None,
        under: str | None = None,
    ) -> dict[str, Any]:
        """Keep a set under a name: its examples, and items that were rejected; `replace` another one of this name.

        `group`: that of sets like it, `under`: the set within which it lies.
        """
        version = None if replace else ""
        return _told(index.keep_set(name, accepted, rejected or (), items, version, group=group, under=under))

    @server.tool()
    def change_set(
        name: str, accept: list[Id] | None = None, reject: list[Id] | None = None, remove: list[Id] | None = None
    ) -> dict[str, Any]:
        """Accept items into a saved set, reject others, or remove what was said of some; the rest of it stays."""
        own = index.set(*wanted_sets(index.sets(), [name]))
        change(own, accept or (), reject or (), remove or ())
        return _told(own)

    @server.tool()
    def rename_set(name: str, new: str) -> dict[str, Any]:
        """Give a saved set another name; all that is known of it stays."""
        return {"name": index.rename_set(name, new).name}


def _add_groups(server: MCPServer[Any], index: setsearch.Index) -> None:
    @server.tool()
    def group(name: str, exclusive: Exclusive | None = None) -> dict[str, Any]:
        """The sets of a group; with `exclusive`, an item belongs to one of them, where it fits best, or no longer."""
        return index.group(name, exclusive)._asdict()

    @server.tool()
    def growth(group: str) -> dict[str, Any]:
        """How the sets of a group grew so far: what joined, why, over which set; whether a run is at work, or ended."""
        return _told_of_growth(index.growth(group=group))

    def grow(group: str, take_back: int | None = None, **options: Any) -> dict[str, Any]:
        """Let the sets of a group grow by one round: what joined, why, over which set; `change_set` rejects.

        `take_back`: instead take back what joined from this round on, and nobody has judged.
        """
        growth = index.growth(group=group)
        if take_back is not None:
            return {"rows": [own._asdict() for own in growth.take_back(take_back)]}
        given = {name: value for name, value in options.items() if value is not None}
        joined = index.grow(group=group, rounds=1 if given.get("accept") else growth.last + 1, **given)
        return _told_of_growth(joined)

    growing = [own for name, own in GROWING.items() if name != "rounds"]
    server.tool()(with_parameters(grow, growing, _annotated))


def _question(
    index: setsearch.Index, seeds: Iterable[Id] | None, items: str | None, options: dict[str, Any]
) -> Question:
    """What is asked; the options of examples are taken out of the others."""
    return index.question(seeds or (), items=items, **taken(options, "set", "exclude"))


def _told(own: setsearch.ItemSet) -> dict[str, Any]:
    """A set as an assistant reads it."""
    return {name: getattr(own, name) for name in ("name", "items", "accepted", "rejected", "group", "under")}


def _told_of_growth(own: Growth) -> dict[str, Any]:
    return {"rows": [joined._asdict() for joined in own]} | {key: getattr(own, key) for key in TOLD_OF_GROWTH}


def _noted(rows: Any) -> dict[str, Any]:
    return {"rows": [row._asdict() for row in rows], "notes": rows.notes}


def _annotated(own: Option) -> Any:
    """An option of a question as an assistant reads it."""
    if own.type is list:
        return Annotated[list[Id] | None, Field(description=own.help)]
    return Annotated[_checked(own) | None, Field(description=own.help)]


def _rows(hits: setsearch.Hits) -> list[dict[str, Any]]:
    known = {"revision": hits.revision, "contexts_revision": hits.contexts_revision}
    rows = []
    for hit in hits.shared():
        row = {"rank": hit.rank, "item": hit.item, "title": hit.title, "score": hit.score}
        row |= known | ({} if hit.snippet is None else {"snippet": hit.snippet.text})
        row |= {"group": [*hit.group]} if hit.group else {}
        rows.append(row | {kept_name(name, row): value for name, value in (hit.columns or {}).items()})
    return rows
