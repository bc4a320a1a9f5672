"""Chats as programs export them: WhatsApp as a text; Telegram, Messenger, Instagram, Discord and Slack as JSON.

A day of a chat is a document, named by the day as the file has it: one message says too little to be like others.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from itertools import groupby
from typing import Any, NamedTuple

from setsearch.indexing.encodings import LOOKED_AT
from setsearch.indexing.formats.broken_words import without_underscores
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.indexing.rows.json_shapes import parse_json
from setsearch.text.headline import headline

_OF_SLACK = rb'(?:\{"messages": )?\[\s*\{(?=.*"type"\s*:\s*"message")(?=.*"ts"\s*:\s*"\d+\.\d+")'
# How JSON with chats begins.
EXPORT = (
    rb'(?s)\{\s*(?:"about"\s*:\s*"Here is the data you requested'
    rb'|(?=.*"messages"\s*:\s*\[\s*\{)(?=.*"(?:from_id|actor_id|sender_name|guild)"\s*:))|' + _OF_SLACK
)
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_TIME = r"\d{1,2}[:.]\d\d"
_HALF = r"(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
# A day and a time before a message. Lines of logs have ISO days in brackets, or seconds without brackets.
_in_brackets = rf"\[(?!\d{{4}}-\d\d-\d\d )({_DAY}),? {_TIME}(?:[:.]\d\d)?{_HALF}\] "
_line = re.compile(rf"^[\u200e\u200f]?(?:{_in_brackets}|({_DAY}),? {_TIME}{_HALF} - )", re.MULTILINE)
_said = re.compile(r"([^:\n]{1,80}): (.*)", re.DOTALL)  # a name and a message
# In one line, what nobody typed: <Media omitted>, IMG-1.jpg (file attached).
_untyped = re.compile(r"\u200e.*|<[^<>\n]*>|\S+ \([^()\n]*\)")
_TIMES, _WORDS = ("date", "timestamp", "timestamp_ms", "ts"), ("text", "content")
_NAMES = ("from", "sender_name", "author", "user")
# What is in a message beside what was typed: polls, and what programs and links show; and where it has its words.
_SHOWN = ("poll", "embeds", "attachments", "share", "files")
_SHOWN_WORDS = (
    "pretext title question description text share_text answers fields name value footer author author_name preview "
    "elements blocks"
).split()
PEOPLE = "users.json"  # of Slack, beside the folders of its channels
# What else an export of Slack has there.
BESIDE_CHANNELS = {PEOPLE, "channels.json", "groups.json", "dms.json", "mpims.json", "integration_logs.json"}
BESIDE_CHANNELS |= {"canvases.json", "lists.json", "file_conversations.json", "huddle_transcripts.json"}
is_day = re.compile(r"\d{4}-\d\d-\d\d\.json").fullmatch  # the name of a file of a channel
_SEEN = LOOKED_AT - len('{"messages": ')  # bytes that show a format, also behind this
_person = re.compile(rb"\b[UW][A-Z0-9]{6,}\b")  # the id of one in Slack
_link = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")  # of Slack: <@U012AB3CD>, <https://pier.org|the pier>
_OF_CHANNEL = ("channel_", "group_")  # how kinds of messages begin that nobody typed
_ISO_DAY = len("2024-03-12")


class _Message(NamedTuple):
    """Who said what; both are empty for what nobody typed."""

    day: str
    name: str = ""
    words: str = ""


def is_chat(begin: str) -> bool:
    """Whether a text begins as a chat of WhatsApp: with a day and a time, behind which most lines have a name.

    Of a diary or a log, in which few have one, the other lines would be lost.
    """
    named = [_said.match(begin, own.end()) is not None for own in _line.finditer(begin)]
    return _line.match(begin) is not None and 2 * sum(named) >= len(named)


def whatsapp(data: bytes, decode: Decode) -> Parts:
    """The days of a chat of WhatsApp."""
    text = decode(data).lstrip("\ufeff").replace("\r\n", "\n")
    lines = [*_line.finditer(text)]
    ends = [*(own.start() for own in lines[1:]), len(text)]
    pairs = zip(lines, ends, strict=True)
    yield from _days("", [_typed(line[1] or line[2], text[line.end() : end].strip()) for line, end in pairs])


def _typed(day: str, line: str) -> _Message:
    """What a line says, behind its time."""
    said = _said.match(line)
    is_typed = said is not None and _untyped.fullmatch(said[2]) is None
    if said is None or not is_typed:
        return _Message(day)
    return _Message(day, said[1].strip("\u200e\u202f~ "), said[2].replace("\u200e", ""))


def exported(data: bytes, decode: Decode) -> Parts:
    """The days of the chats that an export in JSON has."""
    whole = json.loads(decode(data))
    whole = {"messages": whole} if isinstance(whole, list) else whole
    for chat in map(_dict, _list(_dict(whole.get("chats")).get("list")) or [whole]):
        name = _dict(chat.get("channel")).get("name") or chat.get("title") or chat.get("name") or ""
        mend = _mended if "participants" in chat else str
        found = [*map(_dict, _list(chat.get("messages")))]
        people = {str(own.get("user")): who for own in found if (who := _name_of(_dict(own.get("user_profile"))))}
        people |= {id: str(name) for id, name in _dict(chat.get("people")).items()}
        messages = [_message(_plain(own, people) if "ts" in own else own, mend) for own in found]
        yield from _days(mend(str(name)), sorted(messages, key=lambda own: own.day))


def _dict(own: Any) -> Mapping[str, Any]:
    return own if isinstance(own, dict) else {}


def _list(own: Any) -> Sequence[Any]:
    return own if isinstance(own, list) else ()


def people_of(text: str) -> dict[str, str]:
    """The names of the people of Slack by their ids. Raises ValueError."""
    people = parse_json(text)
    if not isinstance(people, list):
        raise ValueError("it is no list")
    return {str(own.get("id")): name for own in map(_dict, people) if (name := _name_of(own))}


def _name_of(person: Mapping[str, Any]) -> str:
    return str(person.get("real_name") or _dict(person.get("profile")).get("real_name") or person.get("name") or "")


def is_of_slack(data: bytes) -> bool:
    """Whether a file begins as messages of Slack do."""
    return re.match(_OF_SLACK, data[:_SEEN], re.DOTALL) is not None


def with_people(data: bytes, people: Mapping[str, str]) -> bytes:
    """Messages of Slack with the names of those who are in them; other files as they are."""
    if not is_of_slack(data):
        return data
    named = {id: people[id] for id in {*map(bytes.decode, _person.findall(data))} if id in people}
    return b'{"messages": %b, "people": %b}' % (data, json.dumps(named).encode())


def _plain(own: Mapping[str, Any], people: Mapping[str, str]) -> Mapping[str, Any]:
    """A message of Slack, with names for ids, and without its marks."""

    def shown(link: re.Match[str]) -> str:
        """A name, the words of a link, or its address."""
        return people.get(link[2]) or link[3] or link[2]

    def plain(value: Any) -> Any:
        """A value with all its texts as they are shown."""
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, list):
            return [*map(plain, value)]
        return unescape(_link.sub(shown, value)) if isinstance(value, str) else value

    own = plain(own)
    time, user = own["ts"], str(own.get("user") or own.get("username") or _name_of(_dict(own.get("bot_profile"))))
    with suppress(ValueError, OverflowError, TypeError):  # else it is no time
        time = int(float(time) * 1000)  # of seconds
    if str(own.get("subtype", "")).startswith(_OF_CHANNEL):
        return {"ts": time, "user": user}
    return {**own, "ts": time, "user": people.get(user, user), "files": [*map(_file, _list(own.get("files")))]}


def _file(own: Any) -> Mapping[str, Any]:
    """What a file of Slack shows: some of its text, and a title that somebody gave it."""
    file = _dict(own)
    return {"title": file.get("title") if file.get("title") != file.get("name") else "", "preview": file.get("preview")}


def _message(own: Mapping[str, Any], mend: Callable[[str], str]) -> _Message:
    time, name, words = (next((own[key] for key in keys if own.get(key)), "") for keys in (_TIMES, _NAMES, _WORDS))
    if isinstance(time, int):  # milliseconds
        with suppress(ValueError, OverflowError, OSError):  # else it is a number, which no calendar has
            time = datetime.fromtimestamp(time / 1000, UTC).isoformat()
    name = _dict(name).get("nickname") or _dict(name).get("name") or name
    pieces = words if isinstance(words, list) else [words]  # links and bold words are pieces of their own
    typed = "".join(str(_dict(piece).get("text", piece)) for piece in pieces)
    shown = _shown(own, _SHOWN if typed else (*_SHOWN, "blocks"))  # which else say the same once more
    said = "\n".join(dict.fromkeys(filter(None, (typed, *shown))))
    return _Message(str(time)[:_ISO_DAY], mend(str(name)), mend(said))


def _shown(value: Any, names: Sequence[str] = _SHOWN_WORDS) -> Iterator[str]:
    """The texts that JSON has below some names, within one another."""
    if isinstance(value, dict):
        value = [value[name] for name in names if name in value]
    for part in _list(value):
        yield from _shown(part)
    if isinstance(value, str):
        yield value


def _mended(text: str) -> str:
    """A text of Messenger, which writes each byte of UTF-8 as a character."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _days(chat: str, messages: Sequence[_Message]) -> Iterator[Part | Unread]:
    """The days of a chat as documents, whose lines have names; and how many messages have no words."""
    yield Unread("message{s} of chats without words", sum(not own.words.strip() for own in messages))
    for day, own in groupby(messages, key=lambda own: own.day):
        text = without_underscores("\n".join(f"{one.name}: {one.words}" for one in own if one.words.strip()))
        if text:
            yield Part(text, headline(text), f"{chat} {day}".strip())
