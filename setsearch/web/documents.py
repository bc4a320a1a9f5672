"""Routes that write documents. Only a server with a token has them open: whoever may ask could write otherwise."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field, StringConstraints

from setsearch.pool import QuestionPool
from setsearch.web.access import Rules
from setsearch.web.page_state import LONGEST_NAME
from setsearch.web.schemas import Given

MOST_DOCUMENTS = 500  # of one request
Id = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
InPath = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME)]


class Text(Given):
    """What is stored of a document."""

    text: str
    title: str | None = None


class Document(Text):
    """A document and its id."""

    id: Id


class Written(BaseModel):
    """How many documents were written or deleted, and the revision that knows it."""

    count: int
    revision: int


def add_documents(router: APIRouter, pool: QuestionPool, rules: Rules) -> None:
    """Add the routes."""
    writing = [Depends(rules.require_documents)]

    @router.post("/documents", dependencies=writing)
    async def put_documents(documents: Annotated[list[Document], Field(max_length=MOST_DOCUMENTS)]) -> Written:
        """Add documents, and replace those that exist; all of them, or none."""
        rows = [(own.id, own.text, own.title) for own in documents]
        return await pool.ask(lambda index: Written(count=index.update(rows), revision=index.revision()))

    @router.put("/documents/{id:path}", dependencies=writing)
    async def put_document(id: InPath, document: Text) -> Written:
        """Add a document, or replace the one with this id."""
        rows = [(id, document.text, document.title)]
        return await pool.ask(lambda index: Written(count=index.update(rows), revision=index.revision()))

    @router.delete("/documents/{id:path}", dependencies=writing)
    async def delete_document(id: InPath) -> Written:
        """Delete a document."""
        return await pool.ask(lambda index: Written(count=index.delete([id]), revision=index.revision()))
