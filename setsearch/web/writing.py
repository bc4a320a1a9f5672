"""Routes that write documents. Only a server with a token has them open: whoever may ask could write otherwise."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

from setsearch import Index, Item
from setsearch.errors import InvalidParameter
from setsearch.indexing.writing.intake import KEPT
from setsearch.indexing.writing.item_fields import Value
from setsearch.pool import QuestionPool
from setsearch.storage.ids import plain_name
from setsearch.storage.relation import TEXT
from setsearch.web.access import Rules
from setsearch.web.page_state import LONGEST_NAME
from setsearch.web.schemas import Given, Name

MOST_DOCUMENTS = 500  # of one request
Collected = Annotated[Name | None, Query(description="documents of a collection, as notes/documents")]
InPath = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME)]


class Text(Given):
    """What is stored of a document. A title or field that is not given stays; null or an empty list takes it away."""

    text: str
    title: str | None = None
    fields: dict[str, float | str | list[str] | dict[str, int] | None] = Field(
        {}, description='numbers, dates, names beside the text: {"year": 2004, "day": "2004-12-31", "tags": ["sqlite"]}'
    )
    links: dict[str, list[Name]] = Field({}, description='fields with ids of other documents: {"cites": ["a", "b"]}')

    def item(self, id: str) -> Item:
        """The document; with its links it has its own id, as those have that link to it."""
        links: dict[str, Value] = {name: [*ids, id] for name, ids in self.links.items()}
        title = self.title if "title" in self.model_fields_set else KEPT
        return Item(id, self.text, title, KEPT, {**self.fields, **links})


class Document(Text):
    """A document and its id."""

    id: Name


class Written(BaseModel):
    """How many documents were written or deleted, and the revision that knows it."""

    count: int
    revision: int


def add_documents(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    writing = [Depends(rules.require_documents)]

    @router.post("/documents", dependencies=writing)
    async def put_documents(
        documents: Annotated[list[Document], Field(max_length=MOST_DOCUMENTS)], items: Collected = None
    ) -> Written:
        """Add documents, and replace those that exist; all of them, or none."""
        rows = [own.item(own.id) for own in documents]
        return await pool.ask(lambda index: _update(index, rows, items))

    @router.put("/documents/{id:path}", dependencies=writing)
    async def put_document(id: InPath, document: Text, items: Collected = None) -> Written:
        """Add a document, or replace the one with this id."""
        rows = [document.item(id)]
        return await pool.ask(lambda index: _update(index, rows, items))

    @router.delete("/documents/{id:path}", dependencies=writing)
    async def delete_document(id: InPath, items: Collected = None) -> Written:
        """Delete a document."""
        return await pool.ask(
            lambda index: Written(count=index.delete([id], _relation(index, items)), revision=index.revision())
        )


def _update(index: Index, rows: list[Item], items: str | None) -> Written:
    return Written(count=index.update(rows, _relation(index, items)), revision=index.revision())


def _relation(index: Index, items: str | None) -> tuple[str, str] | None:
    """The relation whose documents are written, None for the texts that have no collection of a name.

    Raises UnknownReading, InvalidParameter.
    """
    known = {own["items"]: own["features"] for own in index.readings() if own["text"]}
    names = [name for name in known if plain_name(name) == TEXT[0]]
    if items is None and (TEXT[0] in names or not names):
        return None
    if items is None or items not in names:
        raise InvalidParameter(f"`items` names the documents that are written: {' or '.join(names)}, not {items!r}")
    return items, known[items]
