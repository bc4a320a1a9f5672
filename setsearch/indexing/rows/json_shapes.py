"""Where the rows of a JSON file are: one after another in an array, or wrapped, {"total": 2, "data": [...]}."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DEEPEST = 4  # objects around the rows
CHUNK, LONGEST_VALUE = 1 << 16, 1 << 26  # characters read at once, and of a value of an array
_broken = re.compile(r"[\udc80-\udcff]")  # bytes that were no text
_words = re.compile(r"[^\W\d_]{2}\W*\s\W*[^\W\d_]{2}")  # two or more
_blank = re.compile(r"[ \t\r\n]*")

Read = Callable[[int], str]  # gives the next characters, about so many; -1: all


def parse_json(text: str) -> Any:
    """A value of JSON; raises ValueError."""
    try:
        return _strict.decode(text)
    except RecursionError as error:
        raise ValueError(str(error)) from error


class Value(NamedTuple):
    """A value of an array, the text that it comes from, and why it does not count."""

    value: Any
    text: str
    problem: str = ""


def values_within(read: Read, tell: Callable[[str], None] = lambda names: None) -> Iterator[Value]:
    """The values of an array, read one after another, or of what wraps one; raises ValueError with the line.

    What wraps an array is read, and broken, as a whole; `tell` gets the names of the texts beside the array.
    """
    text = _Ahead(read)
    if text.next() == "[":
        yield from _values_of_array(text)
    elif text.next():
        whole = text.rest()
        value = parse_json(whole)
        has_broken = not whole.isascii() and _broken.search(whole)
        rows = rows_within(value)
        if rows and (names := [*_texts_beside(value)]):
            tell(", ".join(names))
        for own in rows or [value]:
            yield Value(own, json.dumps(own, ensure_ascii=False) if has_broken else "")


def _values_of_array(text: "_Ahead") -> Iterator[Value]:
    text.expect("[")
    mark = text.expect("]") if text.next() == "]" else ","
    while mark == ",":
        yield text.value()
        mark = text.expect(",", "]")
    if text.next():
        raise text.error("Extra data")


class _Ahead:
    """A text of which some is in memory: what was not taken yet."""

    def __init__(self, read: Read) -> None:
        self._read_some, self._text, self._place = read, "", 0
        self._lines = 1  # up to `_text`

    def next(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            self._place = _blank.match(self._text, self._place).end()  # type: ignore[union-attr]
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._read():
                return ""

    def expect(self, *marks: str) -> str:
        """Take one of some marks; raises ValueError."""
        mark = self.next()
        if mark not in marks or not mark:
            raise self.error(f"Expecting {' or '.join(map(repr, marks))}")
        self._place += 1
        return mark

    def rest(self) -> str:
        """Take all that comes."""
        text = self._text[self._place :] + self._read_some(-1)
        self._text, self._place = "", 0
        return text

    def value(self) -> Value:
        """Take a value; raises ValueError."""
        self.next()
        while True:
            try:
                value, end, problem = self._decode()
                if end < len(self._text) or not self._read():
                    break
            except RecursionError as error:
                raise self.error("nested too deeply") from error
            except json.JSONDecodeError as error:
                if len(self._text) - self._place > LONGEST_VALUE:
                    raise self.error(f"a value of more than {LONGEST_VALUE:,} characters") from error
                if not self._read():
                    raise self.error(error.msg, error.pos) from error
        text = self._text[self._place : end]
        self._place = end
        return Value(value, text, problem)

    def _decode(self) -> tuple[Any, int, str]:
        """The value that comes, where it ends, and why it does not count; raises JSONDecodeError."""
        try:
            return *_strict.raw_decode(self._text, self._place), ""
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            return *_lax.raw_decode(self._text, self._place), f"broken JSON ({error})"

    def error(self, message: str, place: int | None = None) -> ValueError:
        """What is wrong, and in which line."""
        line = self._lines + self._text.count("\n", 0, self._place if place is None else place)
        return ValueError(f"{message}: line {line}")

    def _read(self) -> bool:
        """Read on, as much again as is there; False at the end."""
        self._lines += self._text.count("\n", 0, self._place)
        rest = self._text[self._place :]
        more = self._read_some(max(CHUNK, len(rest)))
        self._text, self._place = rest + more, 0
        return bool(more)


def rows_within(value: Any, depth: int = DEEPEST) -> Sequence[Any] | None:
    """The rows that a value is or wraps: the only array of objects in it, or objects by key, which is their id.

    None if it is a row itself, or if it has several arrays.
    """
    if isinstance(value, list):
        return value if value and isinstance(value[0], dict) else None
    if not isinstance(value, dict):
        return None
    if (found := _of_frame(value)) is not None or "text" in value or not depth:
        return found
    if _are_by_key(value):
        return [{"id": key} | own for key, own in value.items()]
    arrays = [own for own in value.values() if isinstance(own, list) and rows_within(own)]
    wrapped = [found for own in value.values() if isinstance(own, dict) and (found := rows_within(own, depth - 1))]
    found = arrays or wrapped
    return found[0] if len(found) == 1 else None


def _are_by_key(value: Mapping[str, Any]) -> bool:
    return len(value) > 1 and all(isinstance(own, dict) for own in value.values())


def _texts_beside(value: Any, depth: int = DEEPEST) -> Iterator[str]:
    """The names of what wraps rows and says something: a title, or several words."""
    if isinstance(value, dict) and depth and not _are_by_key(value) and _of_frame(value) is None:
        for name, own in value.items():
            yield from (f"{name}.{inner}" for inner in _texts_beside(own, depth - 1))
            if isinstance(own, str) and (_words.search(own) or (own and name == "title")):
                yield name


def _of_frame(value: dict[str, Any]) -> Sequence[Any] | None:
    """The rows of a frame as pandas writes it: cells by column and number, or names of columns beside their rows."""
    names, cells = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(cells, list) and {*value} <= {"columns", "data", "index"}:
        is_table = all(isinstance(row, list) and len(row) == len(names) for row in cells)
        return [dict(zip(map(str, names), row, strict=True)) for row in cells] if cells and is_table else None
    columns = list(value.values())
    numbers = [*columns[0]] if columns and isinstance(columns[0], dict) else []
    if not numbers or numbers != [str(number) for number in range(len(numbers))]:
        return None
    if any(not isinstance(own, dict) or [*own] != numbers for own in columns):
        return None
    return [{name: own[number] for name, own in value.items()} for number in numbers]


def first_within(text: str, or_whole: bool = False) -> Mapping[str, Any] | None:
    """The first of the rows in a text; None if there are none, and it is not to be one as a whole."""
    try:
        value = parse_json(text)
    except ValueError:
        return None
    found = rows_within(value)
    first = found[0] if found else value if or_whole else None
    return first if isinstance(first, dict) else None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises ValueError if a key comes twice, of which one would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no value of JSON")


_strict = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant)
_lax = json.JSONDecoder()
