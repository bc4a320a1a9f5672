"""Ids as texts: whole numbers, and objects with a primary key, have one spelling."""

from numbers import Integral
from typing import Any

LARGEST_EXACT = 2**53  # up to here a float is a whole number exactly


def id_text(id: Any) -> Any:
    """An id as a text: that of a whole number, or of an object with a primary key `pk`; anything else as it is."""
    if type(id) is str:  # nearly always
        return id
    id = getattr(id, "pk", id)
    if isinstance(id, Integral) and not isinstance(id, bool):
        return str(int(id))
    return number_text(id) if isinstance(id, float) and id.is_integer() else id


def number_text(number: float) -> str:
    """A number as an id: a whole one is the same however it is stored, 1 or 1.0."""
    is_whole = number.is_integer() and abs(number) <= LARGEST_EXACT
    return str(int(number) if is_whole else float(number))
