"""Ids as texts, what can be stored, and the names of collections, such as comments/terms.

Names without a slash belong to the collection without a name.
"""

import re
from collections import UserString
from collections.abc import MutableSequence, Sequence
from numbers import Integral
from typing import Any
from unicodedata import category

from setsearch.errors import InvalidItem, InvalidParameter

JOINERS, BLANK = "\u200c\u200d", "Zs"  # characters; a kind of them
# A joiner that joins nothing: with it, two names would look the same.
_unseen = re.compile(f"(?:^|[\0-\x7f{JOINERS}])[{JOINERS}]|[{JOINERS}](?:$|[\0-\x7f])")
LARGEST_EXACT = 2**53  # up to here a float is a whole number exactly
NO_ROWS = str, bytes, memoryview, UserString, MutableSequence  # sequences of characters, of bytes, or of many values


def id_text(id: Any) -> Any:
    """An id as a text: that of a whole number, of an object of Django or SQLAlchemy, or of a row of one value.

    Anything else stays as it is. A UUID is its 32 digits, as Django and SQLAlchemy write it into SQLite.
    """
    if type(id) is str:  # nearly always
        return id
    id = getattr(id, "pk", id)
    if isinstance(id, Integral) and not isinstance(id, bool):
        return str(int(id))
    if hasattr(id, "_sa_instance_state"):  # of SQLAlchemy: the primary key as a row; none before it was written
        id = id._sa_instance_state.identity or id
    if isinstance(id, Sequence) and not isinstance(id, NO_ROWS) and len(id) == 1:
        return id_text(id[0])
    if type(id).__name__ == "UUID":  # whose module takes a while to load
        return id.hex
    return number_text(id) if isinstance(id, float) and id.is_integer() else id


def number_text(number: float) -> str:
    """A number as an id: a whole one is the same however it is stored, 1 or 1.0."""
    is_whole = number.is_integer() and abs(number) <= LARGEST_EXACT
    return str(int(number) if is_whole else float(number))


def is_storable(name: object) -> bool:
    """Whether a value can be an id or a feature: text, not empty, without NUL or lone surrogates."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def are_storable(names: Sequence[Any]) -> bool:
    """Whether all of some names are plain texts that can be ids: one look at all of them tells fastest."""
    return not set(map(type, names)) - {str} and all(names) and is_storable("".join(names) or "none")


def is_printable(name: str) -> bool:
    """Whether each character of a name shows, is a blank of any width, or joins letters, as in Persian."""
    if name.isprintable():
        return True
    shows = all(own.isprintable() or own in JOINERS or category(own) == BLANK for own in name)
    return shows and _unseen.search(name) is None


def check_names(names: Sequence[Any], titles: Sequence[Any]) -> None:
    """Raise InvalidItem for ids and titles of items that cannot be stored."""
    if not are_storable(names):
        for name in names:
            if not is_storable(name):
                raise InvalidItem(
                    f"an item has the id {name!r}; ids are text, not empty, without NUL and lone surrogates"
                )
    if not are_storable([title for title in titles if title is not None]):
        for name, title in zip(names, titles, strict=True):
            if title is not None and not (isinstance(title, str) and (title == "" or is_storable(title))):
                raise InvalidItem(f"item {name!r} has the title {title!r}; titles are text")


SLASH = "/"


def check_collection(name: object) -> None:
    """Raise InvalidParameter for what cannot name a collection; the empty name is that of the one without."""
    if name != "" and not (isinstance(name, str) and is_storable(name) and is_printable(name) and SLASH not in name):
        raise InvalidParameter(f"a collection is a name such as 'comments', without a slash, not {name!r}")


def name_in(collection: str, name: str) -> str:
    """The whole name of what is called `name` in a collection; whole names stay as they are."""
    return name if not collection or name.startswith(collection + SLASH) else f"{collection}{SLASH}{name}"


def collection_of(name: str) -> str:
    """The collection of a whole name."""
    return name.partition(SLASH)[0] if SLASH in name else ""


def in_number(count: int, kind: str) -> str:
    """A number of things of a kind: 1 document, 2 documents; kinds that others named stay as they are."""
    one = kind.removesuffix("s") if plain_name(kind) in ("documents", "terms") and count == 1 else kind
    return f"{count:,} {one}"


def plain_name(name: str) -> str:
    """A name without its collection: documents, terms, or a column."""
    return name.partition(SLASH)[2] if SLASH in name else name
