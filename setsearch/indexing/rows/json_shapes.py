"""Where the rows of a JSON file are: programs and services wrap them, {"total": 2, "data": [...]}."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

DEEPEST = 3  # objects around the rows


def parse_json(text: str) -> Any:
    """A value of JSON; raises ValueError."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def rows_within(value: Any, depth: int = DEEPEST) -> Sequence[Any] | None:
    """The rows that a value is or wraps: the only array of objects in it, or objects by key, which is their id.

    None if it is a row itself, or if it has several arrays.
    """
    if isinstance(value, list):
        return value if value and isinstance(value[0], dict) else None
    if not isinstance(value, dict) or "text" in value or not depth:
        return None
    if len(value) > 1 and all(isinstance(own, dict) for own in value.values()):
        return [{"id": key} | own for key, own in value.items()]
    arrays = [own for own in value.values() if isinstance(own, list) and rows_within(own)]
    wrapped = [found for own in value.values() if isinstance(own, dict) and (found := rows_within(own, depth - 1))]
    found = arrays or wrapped
    return found[0] if len(found) == 1 else None


def first_within(text: str) -> Mapping[str, Any] | None:
    """The first of the rows in a text; None if there are none."""
    try:
        found = rows_within(parse_json(text))
    except ValueError:
        return None
    return found[0] if found and isinstance(found[0], dict) else None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises ValueError if a key comes twice, of which one would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return values


def _no_constant(name: str) -> Any:
    """Refuse what Python adds to JSON; raises ValueError."""
    raise ValueError(f"{name} is no value of JSON")
