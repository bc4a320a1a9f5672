"""What formats make of a file: documents, and what of it was not read."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from setsearch.indexing.formats.front_matter import Note
from setsearch.indexing.references.reference import Reference

_encoding = re.compile(rb"<\?xml[^>]{1,200}encoding\s*=\s*[\"']([\w-]+)")


class Skipped(Exception):
    """A text that cannot be decoded, and shall be skipped."""


Decode = Callable[[bytes], str]


class Part(NamedTuple):
    """A document of a file; one of several has a key. A reference has its record, a text what it is as a note."""

    text: str
    title: str | None = None
    key: str | None = None
    reference: Reference | None = None
    note: Note | None = None


class Unread(NamedTuple):
    """How much of a file gives no text, such as two pages that are pictures; `{s}` is the ending of several."""

    what: str
    number: int


Parts = Iterator[Part | Unread]


def declared(data: bytes, decode: Decode, encoding: re.Pattern[bytes] = _encoding) -> str:
    """The text of a file that says its encoding at its beginning; decoded as others if that is wrong."""
    found = encoding.search(data[:2000])
    try:
        return data.decode(found[1].decode()) if found else decode(data)
    except (LookupError, UnicodeDecodeError):
        return decode(data)
