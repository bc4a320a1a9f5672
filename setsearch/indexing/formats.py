"""Formats of files: a function each, from bytes to documents, around the library that reads it.

Each yields `Part`s; one of several of a file has a key. The functions raise what their libraries raise.
"""

import io
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from itertools import takewhile
from typing import Any, NamedTuple

from setsearch.errors import SourceError
from setsearch.text.headline import headline, shorten

LOOKED_AT = 8192  # characters or bytes of a text
for _library in ("bibtexparser", "pypdf"):  # what they would print, an error tells
    logging.getLogger(_library).addHandler(logging.NullHandler())
_ris_begins = re.compile(r"^TY  ?- ?", re.MULTILINE)
_meta = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_key = re.compile(r"^[ \t]*[\w-]+[ \t]*[:=][ \t]*", re.MULTILINE)  # of front matter
_title = re.compile(r"^title[ \t]*[:=](.*)", re.MULTILINE | re.IGNORECASE)
_double_quoted = re.compile(r'"((?:\\.|[^"\\])*)"\s*(?:#.*)?$')
_single_quoted = re.compile(r"'((?:''|[^'])*)'\s*(?:#.*)?$")
_escaped = re.compile(r"\\(x[0-9a-fA-F]{2}|u(?!d[89a-f])[0-9a-fA-F]{4}|.)")
_mark_of_lines = re.compile(r"(?:[|>][-+0-9]*)?\s*(?:#.*)?")
_TRIPLE = ('"""', "'''")
_mail_begins = re.compile(rb"^From .*\n", re.MULTILINE)
_LETTERS = {
    **{f"\\(:{letter}": umlaut for letter, umlaut in zip("aouAOU", "äöüÄÖÜ", strict=True)},
    **{"\\(ss": "ß", "\\*(Aq": "'", "\\(aq": "'", "\\(cq": "’", "\\(oq": "‘", "\\(dq": '"', "\\(em": "—", "\\(bu": "•"},
    "\\ ": " ",
}
_NO_TEXT = "ad br de ds el fi hy ie if in mso ne nf nh nr na so sp ta ti PP P LP RE RS IP Pp Bl El".split()
_escape = re.compile(r"\\(?:f(?:\[\w*\]|\(..|.)|s[+-]?\d|[&/,|^%c])")
_request = re.compile(r"^[.'][A-Za-z]{1,3}\b\s*")

Decode = Callable[[bytes], str]


class Part(NamedTuple):
    """A document of a file."""

    text: str
    title: str | None = None
    key: str | None = None


def plain_text(data: bytes, decode: Decode) -> Iterator[Part]:
    """A text; its title is that of its front matter, its first heading, or its first line.

    Of front matter (YAML or TOML, as before the text of notes and pages) the values are text, the keys are not.
    """
    front, body = _front_matter(decode(data))
    title = _title_of(front)
    yield Part(_key.sub("", front) + body, title or headline(body))


def _title_of(front: str) -> str | None:
    """The title that front matter gives: a plain or quoted value, or the lines that are indented below a mark."""
    told = _title.search(front)
    if told is None:
        return None
    value = told[1].strip()
    if value.startswith(_TRIPLE):
        value = value[3:].partition(value[:3])[0]
    elif quoted := _double_quoted.match(value):
        value = _escaped.sub(_unescape, quoted[1])
    elif quoted := _single_quoted.match(value):
        value = quoted[1].replace("''", "'")
    elif _mark_of_lines.fullmatch(value):
        lines = takewhile(lambda line: not line.strip() or line[0] in " \t", front[told.end() :].splitlines()[1:])
        value = " ".join(lines)
    else:
        value = re.split(r"(?:^|\s)#", value)[0]
    return shorten(value)


def _unescape(escape: re.Match[str]) -> str:
    """The character that an escape of a double-quoted value stands for; ends of lines are spaces."""
    own = escape[1]
    return chr(int(own[1:], 16)) if len(own) > 1 else " " if own in "nrt" else own


def _front_matter(text: str) -> tuple[str, str]:
    """What is between a first line of --- or +++ and the next one, if it begins with a key; and what follows."""
    if not text.startswith(("---", "+++")):
        return "", text
    first, *lines = text[:LOOKED_AT].splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if line.rstrip() == first.rstrip()), 0)
    front = "".join(lines[:end])
    if first.rstrip() not in ("---", "+++") or not _key.match(front.lstrip()):
        return "", text
    return front, text[len(first) + len(front) + len(lines[end]) :]


def manual(data: bytes, decode: Decode) -> Iterator[Part]:
    """A manual page, without the requests of roff; its title is the line below NAME."""
    lines, title, is_name, is_begun = list[str](), None, False, False
    source = decode(data)
    for escaped, letter in _LETTERS.items():
        source = source.replace(escaped, letter)
    for line in source.splitlines():
        if line.startswith(('.\\"', "'\\\"")):
            continue
        text = _escape.sub("", line.replace("\\-", "-"))
        request = _request.match(text)
        if request is not None:
            is_begun = is_begun or request[0].strip() in (".SH", ".Sh")
            text = "" if request[0].strip()[1:] in _NO_TEXT else text[request.end() :].replace('"', "")
        if not is_begun:  # definitions
            continue
        if is_name and text.strip() and (request is None or not request[0].startswith((".SH", ".Sh"))):
            title, is_name = title or text, False
        is_name = is_name or (request is not None and request[0].startswith((".SH", ".Sh")) and title is None)
        lines.append(text)
    yield Part("\n".join(lines), shorten(title))


def source_code(data: bytes, decode: Decode) -> Iterator[Part]:
    """The text of a program; the name of its file tells more than its first line."""
    yield Part(decode(data))


def html(data: bytes, decode: Decode) -> Iterator[Part]:
    """The text of a page, without scripts and styles."""
    declared = _meta.search(data[:2000])
    try:
        text = data.decode(declared[1].decode()) if declared else decode(data)
    except (LookupError, UnicodeDecodeError):
        text = decode(data)
    page = _Page()
    page.feed(text)
    page.close()
    yield Part(page.text(), shorten(page.title))


def mail(data: bytes, decode: Decode) -> Iterator[Part]:
    """A message: its subject and its body."""
    yield _message(data, decode)


def mailbox(data: bytes, decode: Decode) -> Iterator[Part]:
    """The messages of an mbox file."""
    for number, message in enumerate(_mail_begins.split(data)[1:], 1):
        yield _message(message, decode)._replace(key=str(number))


def pdf(data: bytes, decode: Decode) -> Iterator[Part]:
    """The text of the pages."""
    pypdf = load_library("pypdf", "PDF files")
    reader = pypdf.PdfReader(io.BytesIO(data))
    text = "\n".join(page.extract_text() for page in reader.pages)
    title = reader.metadata.title if reader.metadata else None
    yield Part(text, shorten(title) or headline(text))


def ris(data: bytes, decode: Decode) -> Iterator[Part]:
    """References as RIS."""
    text = decode(data)
    entries = load_library("rispy", "RIS files").loads(text)
    for entry in entries:
        yield _reference(entry, ("title", "primary_title", "short_title"), ("doi", "accession_number", "id"))
    begun = len(_ris_begins.findall(text))
    if begun != len(entries):
        raise ValueError(f"{begun} references begin (TY  -), and {len(entries)} end (ER  -)")


def bibtex(data: bytes, decode: Decode) -> Iterator[Part]:
    """References as BibTeX."""
    parser = load_library("bibtexparser", "BibTeX files")
    library = parser.parse_string(decode(data))
    repeated = [block.ignore_error_block for block in library.failed_blocks]  # None for a broken one
    for entry in library.entries + [block for block in repeated if isinstance(block, parser.model.Entry)]:
        fields = {field.key.lower(): str(field.value).replace("{", "").replace("}", "") for field in entry.fields}
        yield _reference(fields | {"key": entry.key}, ("title",), ("key",))
    broken = [block.start_line + 1 for block in library.failed_blocks if block.ignore_error_block is None]
    if broken:
        raise ValueError(f"the entry that begins in line {broken[0]} is broken")


def pubmed(data: bytes, decode: Decode) -> Iterator[Part]:
    """References as PubMed exports them."""
    for entry in load_library("nbib", "PubMed files").read(decode(data)):
        yield _reference(entry, ("title",), ("pubmed_id", "doi"))


def is_manual(data: bytes) -> bool:
    """Whether a text is the source of a manual page."""
    return re.search(rb"^\.(TH|Dd|so) ", data[:LOOKED_AT], re.MULTILINE) is not None


CODE = (
    "py pyi js ts c h cc cpp hpp java go rs rb php pl sh sql css r jl lua hs ml scala kt swift cs ini cfg toml yaml yml"
)
FORMATS: Mapping[str, Callable[[bytes, Decode], Iterator[Part]]] = {
    **dict.fromkeys((f".{ending}" for ending in CODE.split()), source_code),
    **dict.fromkeys((".html", ".htm", ".xhtml"), html),
    **dict.fromkeys((".txt", ".md", ".rst"), plain_text),
    ".eml": mail,
    ".mbox": mailbox,
    ".pdf": pdf,
    ".ris": ris,
    ".bib": bibtex,
    ".nbib": pubmed,
}


def load_library(name: str, what: str) -> Any:
    """A library that reads some files; raises SourceError."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise SourceError(f"{what} need {name}: pip install {name}") from None


def _message(data: bytes, decode: Decode) -> Part:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    subject = shorten(_header(message, "subject"))
    body = message.get_body(("plain", "html"))
    text = "" if body is None else _body(body, decode)
    return Part("\n".join(filter(None, (subject, text))), subject)


def _header(message: EmailMessage, name: str) -> str:
    """A header; an empty text if it is broken."""
    try:
        return str(message.get(name) or "")
    except (ValueError, LookupError, IndexError, AttributeError, TypeError):  # the library's own, on bad input
        return ""


def _body(body: Any, decode: Decode) -> str:
    try:
        text = str(body.get_content())
    except (LookupError, ValueError):  # an unknown encoding
        text = decode(body.get_payload(decode=True) or b"")
    if body.get_content_subtype() == "html":
        return "".join(part.text for part in html(text.encode("utf-8", "replace"), lambda data: data.decode()))
    return text


def _reference(entry: Mapping[str, Any], titles: tuple[str, ...], keys: tuple[str, ...]) -> Part:
    title = next((str(entry[name]) for name in titles if entry.get(name)), None)
    key = next((str(entry[name]) for name in keys if entry.get(name)), None)
    words = entry.get("keywords") or ()
    texts = (title, entry.get("abstract"), words if isinstance(words, str) else " ; ".join(map(str, words)))
    return Part("\n".join(str(text) for text in texts if text), shorten(title), key)


class _Page(HTMLParser):
    """Gathers the text of a page."""

    hidden = frozenset(("script", "style", "template", "noscript", "svg"))
    inline = frozenset("a abbr b bdi bdo cite code em i kbd mark q s samp small span strong sub sup u var wbr".split())

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self._pieces: list[str] = []
        self._open: list[str] = []

    def text(self) -> str:
        """The text, a line a block."""
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        return "\n".join(filter(None, lines))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A hidden tag opens, or a line ends."""
        if tag in self.hidden or tag == "title":
            self._open.append(tag)
        elif tag not in self.inline:
            self._pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """A hidden tag closes, or a line ends."""
        if tag in self._open:
            del self._open[self._open.index(tag) :]
        elif tag not in self.inline:
            self._pieces.append("\n")

    def handle_data(self, data: str) -> None:
        """Text."""
        if self._open == ["title"]:  # not that of a drawing
            self.title += data
        elif not self._open:
            self._pieces.append(data)
