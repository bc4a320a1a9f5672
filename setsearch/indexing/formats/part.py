"""What formats make of a file: documents, and what of it was not read."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from setsearch.indexing.formats.front_matter import Note
from setsearch.indexing.references.reference import Reference

_encoding = re.compile(rb"<\?xml[^>]{1,200}encoding\s*=\s*[\"']([\w-]+)")


class Skipped(Exception):
    """A text that cannot be decoded, and shall be skipped."""


Decode = Callable[[bytes], str]


class Part(NamedTuple):
    """A document of a file; one of several has a key. A reference has its record, a note or mail columns."""

    text: str
    title: str | None = None
    key: str | None = None
    reference: Reference | None = None
    columns: Note | Mapping[str, Any] | None = None


class Attached(NamedTuple):
    """A file within a document, which is read by itself, with the columns of that document."""

    name: str
    data: bytes
    columns: Mapping[str, Any]
    key: str | None = None  # of the document
    depth: int = 1  # how many files it is in, one in another


class Unread(NamedTuple):
    """How much of a file gives no text, such as two pages that are pictures; `{s}` is the ending of several."""

    what: str
    number: int


Parts = Iterator[Part | Unread | Attached]


def declared(data: bytes, decode: Decode, encoding: re.Pattern[bytes] = _encoding) -> str:
    """The text of a file that says its encoding at its beginning; decoded as others if that is wrong."""
    found = encoding.search(data[:2000])
    try:
        return data.decode(found[1].decode()) if found else decode(data)
    except (LookupError, UnicodeDecodeError):
        return decode(data)
