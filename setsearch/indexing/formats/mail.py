"""Mail: messages and mailboxes. All text that a reader sees is text; attached files are read by themselves.

People are known by their addresses, in small letters, which stay the same where names do not, or by a name alone.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email import message_from_bytes, policy
from email.header import decode_header
from email.message import EmailMessage, Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any

from setsearch.indexing.formats.broken_words import without_underscores
from setsearch.indexing.formats.pages import read_page
from setsearch.indexing.formats.part import NO_FILES, Attached, Decode, Part, Parts, Skipped, Unread, attached
from setsearch.text.headline import shorten

MOST_NESTED = 20  # messages in messages
LONGEST_HEADER = 100_000  # characters of people, who are more than two thousand
MOST_HELD = 1500 << 20  # bytes of a mailbox and of files attached; the process that reads it (apart.py) may have more
PEOPLE = "people"  # all of a message
COLUMNS = ("from", "to", PEOPLE, "date")  # of each message
_from_line = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_dated = re.compile(rb"From .*\d{1,2}:\d{2}")
_sender = re.compile(rb"From \S+\s*$")
_header_line = re.compile(rb"[!-9;-~]+:|>?From ")
_INVITATIONS = "calendar", "ics"
_NO_TEXTS = (*NO_FILES, *_INVITATIONS, "rtf", "richtext")
_BROKEN = (ValueError, LookupError, AttributeError, TypeError)  # the library's own, on bad input
_TOO_DEEP = (*_BROKEN, RecursionError)  # and on comments in comments
MUCH_MORE = 1.5  # times as many words
_word, _tag = re.compile(r"[^\W\d_]{3,}"), re.compile(r"<[^<>]*>")
_quotes = re.compile(r">*")
_quoted_from = re.compile(rb"^>(>*From )", re.MULTILINE)


def mail(data: bytes, decode: Decode) -> Parts:
    """A message: its subject and its texts; then the files that are attached."""
    try:
        yield from _parts(data, decode)
    except _BROKEN as error:
        raise ValueError(f"its headers are broken ({error})") from error


def _parts(data: bytes, decode: Decode) -> list[Part | Unread | Attached]:
    message = message_from_bytes(data, policy=policy.default)
    texts, others = list[str](), list[Message]()
    subject, columns = _header(message, "subject", decode), _columns(message, decode)
    _gather(message, decode, texts, others, 0)
    whole = Part("\n".join(filter(None, (shorten(subject), *texts))), shorten(subject), columns=columns)
    files = [_attached(part, columns) for part in {_key(part): part for part in others}.values()]
    unread = [Unread("part{s} of mail", files.count(None))] if None in files else []
    return [whole, *filter(None, files), *unread]


def _columns(message: Message, decode: Decode) -> dict[str, Any]:
    """Who wrote a message, to whom, and on which day."""
    sender, *others = (_people(_header(message, name, decode)) for name in ("from", "to", "cc", "bcc"))
    receivers = list(dict.fromkeys(person for own in others for person in own))
    day = None
    with suppress(*_TOO_DEEP, OverflowError):
        day = parsedate_to_datetime(_header(message, "date", decode)).date().isoformat()
    people = list(dict.fromkeys([*sender, *receivers]))
    return dict(zip(COLUMNS, (sender[0] if sender else None, receivers, people, day), strict=True))


def _people(header: str) -> list[str]:
    pairs = list[tuple[str, str]]()
    with suppress(*_TOO_DEEP):
        pairs = getaddresses([header[:LONGEST_HEADER]])
    people = [address.lower() if "@" in address else name or address for name, address in pairs]
    plain = ["".join(letter if letter.isprintable() else " " for letter in own) for own in people]
    return [own for own in (text.strip("[](){}' ") for text in plain) if own]


def _attached(part: Message, columns: dict[str, Any]) -> Attached | None:
    """An invitation, or a part with the name of a file; None for a picture, a signature and what has no name."""
    name, data = None, part.get_payload(decode=True)
    with suppress(*_TOO_DEEP):
        name = part.get_filename()
    name = name or ("invite.ics" if part.get_content_subtype() in _INVITATIONS else None)
    return attached(name, part.get_content_type(), data, columns) if name and isinstance(data, bytes) else None


def _key(part: Message) -> object:
    """What is the same of the copies of an invitation: a part that programs know, and a file for others."""
    data = part.get_payload(decode=True)
    is_invitation = part.get_content_subtype() in _INVITATIONS
    return b"".join(data.split()) if is_invitation and isinstance(data, bytes) else id(part)


def emlx(data: bytes, decode: Decode) -> Parts:
    """A message as Apple's Mail keeps it: between its length and a list of properties."""
    length, _, message = data.partition(b"\n")
    yield from mail(message[: int(length)] if length.strip().isdigit() else data, decode)


def mailbox(data: bytes, decode: Decode) -> Parts:
    """The messages of an mbox file; of a large one without some attached files, which may be too much together."""
    room = MOST_HELD - len(data)
    for number, message in enumerate(_messages(data), 1):
        try:
            for part in _parts(_quoted_from.sub(rb"\1", message), decode):
                size = len(part.data) if isinstance(part, Attached) else 0
                if size > max(room, 0):
                    yield Unread("file{s} attached in a large mailbox", 1)
                    continue
                room -= size
                yield part if isinstance(part, Unread) else part._replace(key=str(number))
        except Skipped:  # the others are read
            pass
        except _TOO_DEEP:
            yield Unread("broken message{s}", 1)


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of an mbox file. A line of a body that begins with "From " is no beginning."""
    begins = [found for found in _from_line.finditer(data) if _is_beginning(data, found)]
    ends = [found.start() for found in begins[1:]] + [len(data)]
    for found, end in zip(begins, ends, strict=True):
        yield data[found.end() : end]


def _is_beginning(data: bytes, line: re.Match[bytes]) -> bool:
    """Whether a line is the first of a message: that of the file; one with a time; or a sender, and headers follow."""
    if line.start() == 0 or _dated.match(line[0]) is not None:
        return True
    return _sender.match(line[0]) is not None and _header_line.match(data, line.end()) is not None


def _gather(message: Message, decode: Decode, texts: list[str], others: list[Message], depth: int) -> None:
    """All texts of a message, in order, and the parts that are no text of it."""
    kind, parts = message.get_content_type(), _parts_of(message)
    if kind == "message/rfc822" and depth < MOST_NESTED:
        for inner in parts:
            texts.append(_header(inner, "subject", decode))
            _gather(inner, decode, texts, others, depth + 1)
    elif kind == "multipart/alternative" and parts:
        _gather_one(parts, decode, texts, others, depth)
    elif parts:
        for part in parts:
            _gather(part, decode, texts, others, depth + 1)
    elif _is_text(message):
        texts.append(_content(message, decode))
    elif message.get_payload():
        others.append(message)


def _is_text(message: Message) -> bool:
    """Whether a part is text that a reader sees: not attached, no appointment, card or RTF.

    What says that it has parts, and has none that can be told, is one.
    """
    is_text = message.get_content_maintype() in ("text", "multipart")
    is_inline = is_text and message.get_content_disposition() != "attachment"
    return is_inline and message.get_content_subtype() not in _NO_TEXTS


def _gather_one(parts: list[Message], decode: Decode, texts: list[str], others: list[Message], depth: int) -> None:
    """Of several ways to say the same, the first that has a text: plain text, HTML, anything else.

    One that says much more goes before: newsletters have but an address as plain text. What is attached to any counts.
    """
    order = {"text/plain": 0, "text/html": 1, "multipart/related": 1}
    best, of_best, passed = list[str](), list[Message](), list[Message]()
    for part in sorted(parts, key=lambda part: order.get(part.get_content_type(), 2)):
        own, left, least = list[str](), [*_leaves(part)], MUCH_MORE * _said(best)
        is_page = part.is_multipart() or part.get_content_type() in order  # in other kinds tags and styles are words
        if not best or (is_page and _said(_source(leaf, decode) for leaf in left if _is_text(leaf)) > least):
            left.clear()
            _gather(part, decode, own, left, depth + 1)
        if any(text.strip() for text in own) and (not best or _said(own) > least):
            best, of_best, left = own, left, of_best
        passed += left
    texts += best
    others += [*of_best, *(part for part in passed if not best or _attached(part, {}) is not None)]


def _leaves(message: Message) -> Iterator[Message]:
    return (part for part in message.walk() if not part.is_multipart())


def _said(texts: Iterable[str]) -> int:
    """How many words texts have, each once, without tags."""
    return len({word for text in texts for word in _word.findall(_tag.sub(" ", text))})


def _parts_of(message: Message) -> list[Message]:
    payload = message.get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def _header(message: Message, name: str, decode: Decode) -> str:
    """A header; an empty text if it is broken. Bytes that no header may have are decoded as a text is."""
    try:
        raw = next((str(value) for key, value in message.raw_items() if key.lower() == name), "")
        if any("\udc80" <= character <= "\udcff" for character in raw):
            raw = decode(raw.encode("ascii", "surrogateescape"))
        return " ".join((_decoded(raw) if "=?" in raw else raw).split())
    except _BROKEN:
        return ""


def _decoded(header: str) -> str:
    """A header with encoded words. The library's own parser takes time by the square of their number."""
    parts = []
    for part, encoding in decode_header(header):
        parts.append(part if isinstance(part, str) else part.decode(encoding or "raw-unicode-escape", "replace"))
    return "".join(parts)


def _content(part: Message, decode: Decode) -> str:
    text = _source(part, decode)
    if str(part.get_param("format", "")).lower() == "flowed" and part.get_content_subtype() == "plain":
        text = _unflowed(text, str(part.get_param("delsp", "")).lower() == "yes")
    return read_page(text).text() if part.get_content_subtype() == "html" else without_underscores(text)


def _source(part: Message, decode: Decode) -> str:
    """A text as it came, with its tags."""
    try:
        text = str(part.get_content()) if isinstance(part, EmailMessage) else ""
        if "\ufffd" in text or not text:  # another encoding than it says, or none
            raise ValueError("bytes that are not of the declared encoding")
    except (LookupError, ValueError, KeyError):
        payload = part.get_payload(decode=True)
        text = decode(payload) if isinstance(payload, bytes) else ""
    return text


def _unflowed(text: str, drops_blanks: bool) -> str:
    """The paragraphs of a text whose lines flow (RFC 3676): a line that ends with a blank goes on in the next one."""
    lines: list[str] = []
    flows, depth = False, 0
    for line in text.splitlines():
        before, depth = depth, len(_quotes.match(line)[0])  # type: ignore[index]
        own = line[depth:].removeprefix(" ")
        if flows and before == depth:
            lines[-1] += own
        else:
            lines.append(">" * depth + " " * bool(depth) + own)
        flows = own.endswith(" ") and own != "-- "
        if flows and drops_blanks:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)
