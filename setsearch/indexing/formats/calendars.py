"""Calendars and address cards (iCalendar, vCard): each appointment, task, journal entry and person is a document."""

import quopri
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from setsearch.indexing.encodings import encoding_by_mark
from setsearch.indexing.formats.pages import LONGEST_ADDRESS, without_tags
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.text.headline import headline, shorten

BEGIN = rb"(?i)BEGIN:V(?:CALENDAR|CARD|EVENT|TODO|JOURNAL)[ \t]*[\r\n]"  # how such a file begins
WHOLE, NO_ENTRIES = "VCALENDAR", ("VALARM", "VTIMEZONE", "STANDARD", "DAYLIGHT")  # alarms say the same in all
TITLES = "SUMMARY", "FN", "N", "X-WR-CALNAME", "NAME"
BODIES = (
    "NICKNAME ORG TITLE ROLE LOCATION ADR LABEL DESCRIPTION X-ALT-DESC X-WR-CALDESC COMMENT NOTE RESOURCES CATEGORIES"
).split()
IN_PARTS = "N", "ORG", "ADR"  # by semicolons
SAID_BY = {"N": "FN", "NAME": "X-WR-CALNAME", "LABEL": "ADR", "X-ALT-DESC": "DESCRIPTION"}  # in the same words
NAMES, DAYS, PEOPLE = ("UID", "FN"), ("DTSTART", "DUE"), ("ORGANIZER", "ATTENDEE", "EMAIL")
_fold = re.compile(rb"\r?\n[ \t]")
_of_old = re.compile(rb"^VERSION:(?:1\.0|2\.1)\s", re.MULTILINE | re.IGNORECASE)  # which folds at blanks only
_quoted = re.compile(rb"^(?=[^:\n]*QUOTED-PRINTABLE)[^:\n]*:(?:[^\n]*=\r?\n)+", re.MULTILINE | re.IGNORECASE)
_soft_end = re.compile(rb"=\r?\n")
_NAME = r"(?:\w+\.)?(?:[A-Z][A-Z0-9-]*|[a-z][a-z0-9-]*|X-[\w-]+)"
_ends = re.compile(rf"\r?\n(?={_NAME}[;:])")  # of properties: some programs leave lines as they were typed
_property = re.compile(r"(?:\w+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":;])*)*):(.*)", re.DOTALL)
_charset = re.compile(r"CHARSET=([\w-]+)", re.IGNORECASE)
_escape, _semicolon, _comma = re.compile(r"\\(.)"), re.compile(r"(?<!\\);"), re.compile(r"(?<!\\),")
_day = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")


class Component(NamedTuple):
    """What stands between BEGIN and END: the values of its properties by their names. A file may end within it."""

    kind: str
    values: Mapping[str, Sequence[str]]
    is_whole: bool

    def all(self, *names: str) -> Iterator[str]:
        """The values of properties."""
        return (value for name in names for value in self.values.get(name, ()))


def calendar(data: bytes, decode: Decode) -> Parts:
    """The entries of a calendar or address book, named by UID, else by the name of a person; then what it is called."""
    number, is_cut = 0, False
    for component in _components(data, decode):
        is_cut = not component.is_whole
        if component.kind not in NO_ENTRIES:
            number += component.kind != WHOLE
            part = _part(component, str(number) if component.kind != WHOLE else None)
            yield from [part] if part.key or part.text else []
    yield Unread("file{s} of calendars or cards without an end", int(is_cut))


def _components(data: bytes, decode: Decode) -> Iterator[Component]:
    """What a file has, that within others first."""
    if encoding_by_mark(data) is not None:  # UTF-16, of which no letter is a byte
        data, decode = decode(data).encode(), bytes.decode
    whole = _quoted.sub(lambda own: _soft_end.sub(b"", own[0]), data)
    text = decode(_fold.sub(b" " if _of_old.search(data) else b"", whole))
    waiting = list[tuple[str, defaultdict[str, list[str]]]]()
    for found in filter(None, map(_property.match, _ends.split(text))):
        name, value = found[1].upper(), _value(found[2], found[3].strip())
        if name == "BEGIN":
            waiting.append((value.upper(), defaultdict(list)))
        elif name == "END" and waiting:
            yield Component(*waiting.pop(), is_whole=True)
        elif waiting:
            waiting[-1][1][name].append(value)
    yield from (Component(*own, is_whole=False) for own in reversed(waiting))


def _value(about: str, value: str) -> str:
    """A value, by what is said of it."""
    if "QUOTED-PRINTABLE" not in about.upper():
        return value
    raw, charset = quopri.decodestring(value.encode()), _charset.search(about)
    try:
        return raw.decode(charset[1] if charset else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return raw.decode("cp1252", "replace")


def _part(own: Component, key: str | None) -> Part:
    """A document; an entry without a name of its own has this key."""
    said = {name: [*filter(None, (_plain(name, value) for value in own.all(name)))] for name in (*TITLES, *BODIES)}
    text = "\n".join(value for name, values in said.items() if not said.get(SAID_BY.get(name, "")) for value in values)
    title = next((value for name in TITLES for value in said[name]), None)
    name = key and (next(filter(None, map(_unescaped, own.all(*NAMES))), key)[:LONGEST_ADDRESS])
    return Part(text, shorten(title) or headline(text), name, columns=_columns(own))


def _columns(own: Component) -> dict[str, Any]:
    """The day of an entry, the people in it by their addresses, and its categories."""
    day = next(("-".join(found.groups()) for value in own.all(*DAYS) if (found := _day.match(value))), None)
    people = (value.lower().removeprefix("mailto:") for value in own.all(*PEOPLE))
    tags = (_unescaped(tag).strip() for value in own.all("CATEGORIES") for tag in _comma.split(value))
    return {"date": day, "people": [*dict.fromkeys(people)], "tags": [*dict.fromkeys(filter(None, tags))]}


def _plain(name: str, value: str) -> str:
    parted = " ".join(filter(None, _semicolon.split(value))) if name in IN_PARTS else value
    return without_tags(_unescaped(parted)).strip()


def _unescaped(value: str) -> str:
    return _escape.sub(lambda escape: "\n" if escape[1] in "nN" else escape[1], value)
