"""Collections of one database: a named one has its readings under its own name, such as comments/terms.

Names without a slash belong to the collection without a name.
"""

from setsearch.errors import InvalidParameter
from setsearch.storage.ids import is_storable

SLASH = "/"


def check_collection(name: object) -> None:
    """Raise InvalidParameter for what cannot name a collection; the empty name is that of the one without."""
    if name != "" and not (isinstance(name, str) and is_storable(name) and name.isprintable() and SLASH not in name):
        raise InvalidParameter(f"a collection is a name such as 'comments', without a slash, not {name!r}")


def name_in(collection: str, name: str) -> str:
    """The whole name of what is called `name` in a collection; whole names stay as they are."""
    return name if not collection or name.startswith(collection + SLASH) else f"{collection}{SLASH}{name}"


def collection_of(name: str) -> str:
    """The collection of a whole name."""
    return name.partition(SLASH)[0] if SLASH in name else ""


def plain_name(name: str) -> str:
    """A name without its collection: documents, terms, or a column."""
    return name.partition(SLASH)[2] if SLASH in name else name
