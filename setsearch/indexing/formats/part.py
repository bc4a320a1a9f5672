"""What formats make of a file: documents, and what of it was not read."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from setsearch.indexing.formats.front_matter import Note
from setsearch.indexing.references.reference import Reference

LONGEST_NAME = 100  # characters of an attached file
NO_FILES = ("vcard", "x-vcard", "directory", "css", "javascript", "ms-tnef")
_SIGNATURE = re.compile(r"(x-)?(pgp|pkcs7)-").match
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


def attached(name: str, kind: str, data: bytes, columns: Mapping[str, Any]) -> Attached | None:
    """A file by its name and its kind, such as text/plain; None for a picture, a signature and what has no name."""
    whole, _, subtype = kind.partition("/")
    is_file = whole in ("text", "application") and subtype not in NO_FILES and _SIGNATURE(subtype) is None
    plain = "".join(letter if letter.isprintable() else " " for letter in name.replace("\\", "/"))
    path = PurePath(plain).name
    own = path[:LONGEST_NAME] + PurePath(path[LONGEST_NAME:]).suffix
    return Attached(own, data, columns) if path and is_file else None


class Unread(NamedTuple):
    """How much of a file gives no text, such as two pages that are pictures; `{s}` is the ending of several."""

    what: str
    number: int


Parts = Iterator[Part | Unread | Attached]


def declared(data: bytes, decode: Decode, encoding: re.Pattern[bytes] = _encoding) -> str:
    """The text of a file that says its encoding at its beginning; decoded as others if that is wrong."""
    found = encoding.search(data[:2000])
    try:
        return data.decode(found[1].decode()).removeprefix("\ufeff") if found else decode(data)
    except (LookupError, UnicodeDecodeError):
        return decode(data)
