"""Web pages, texts of tables with their tags, and bookmarks of browsers."""

import re
from collections import Counter
from collections.abc import Callable
from html import escape, unescape
from html.entities import html5
from html.parser import HTMLParser
from typing import Any

from setsearch.indexing.formats.broken_words import without_underscores
from setsearch.indexing.formats.part import Decode, Part, Parts, declared
from setsearch.text.headline import headline, shorten

PHRASES = (  # of HTML, within a line, and a word
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup "
    "tt u var wbr"
)
LONGEST_ADDRESS = 200  # characters that name a bookmark, some of which are programs, or a record
_OF_NOTE_NUMBER = ("a", "sup")  # one in the other, behind a word
MOST_BROKEN = 20  # tags of a page that never end, before the rest is read without its structure
_meta = re.compile(rb"""<(?:meta[^>]{1,200}charset|\?xml[^>]{1,200}encoding)\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_tag = re.compile(r"<[^<>]*>")
# What a text with markup of HTML has: the end of an element that web pages have, or one that is often left open.
_has_tags = re.compile(
    r"</(?:\w{1,20}:)?(?:a|abbr|b|blockquote|body|code|div|em|figure|font|h[1-6]|head|html|i|li|ol|p|pre|s|section|small|span"
    r"|strong|sub|sup|table|t[dhr]|u|ul)\s*>|<(?:br|hr|img|li|p)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
).search
_piece_of_bookmarks = re.compile(r"(?=<dt\b|</?dl\b)", re.IGNORECASE)
_link = re.compile(r"<dt>\s*<a\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_attribute = re.compile(r"(href|tags)\s*=\s*([\"'])(.*?)\2", re.IGNORECASE | re.DOTALL)
_end_tag = re.compile(r"</([a-z][^\s<>/]*)\s*>", re.IGNORECASE)
_left_open = frozenset(
    "area body br col dd dt head hr html img input li link meta option p source tbody td tfoot th thead tr wbr".split()
)
# With attributes, where a text is cut.
_cut_off = frozenset(
    "a article b blockquote button code div em font h1 h2 h3 i ol path pre script span style svg table ul".split()
)
_entity = re.compile(r"&(?:([a-z]\w{1,30};)|#\d{1,7};|#x[\da-f]{1,6};)", re.IGNORECASE)


def html(data: bytes, decode: Decode) -> Parts:
    """The text of a page, without scripts and styles, below its title; bookmarks of a browser are their links."""
    source = declared(data, decode, _meta)
    if source.lstrip().startswith("<!DOCTYPE NETSCAPE-Bookmark") and (links := [*_links(source)]):
        yield from links
        return
    page = read_page(source)
    text, title = page.text(), " ".join(page.title().split())
    is_said = title.casefold() in " ".join(text.split()).casefold()
    whole = text if is_said else "\n".join(filter(None, (title, text)))
    yield Part(whole, shorten(title) or headline(text))


def _links(source: str) -> Parts:
    """Bookmarks, each named by its address, with what it is told to be, its folders and its tags."""
    folders, heading = list[str](), ""
    for piece in _piece_of_bookmarks.split(source):
        text, link = read_page(piece).text(), _link.match(piece)
        told = {name.lower(): unescape(value) for name, _, value in _attribute.findall(link[0])} if link else {}
        if address := told.get("href"):
            tags = [own.strip() for own in told.get("tags", "").split(",") if own.strip()]
            columns = {"url": address, "folder": folders[1:], "tags": tags}
            whole = "\n".join((text or address, *folders[1:], *tags))
            yield Part(whole, headline(whole), address[:LONGEST_ADDRESS], columns=columns)
        elif piece[:4].lower() == "</dl":
            folders = folders[:-1]
        elif piece[:3].lower() == "<dl":
            folders.append(heading)
        else:
            heading = text


def without_tags(text: str) -> str:
    """A text of a table, as pages show it if it has tags of HTML; entities are characters."""
    if "<" in text and _has_tags(text):
        whole = without_cdata(text)
        page = MixedPage(whole)
        read_page(whole, page)
        if page.opened:
            return "\n".join(filter(None, (page.title().strip(), page.text())))
    return _entity.sub(_character, text) if "&" in text else text


def as_shown(text: str) -> str:
    """A text of a table without tags, entities, and marks of _emphasis_."""
    return without_tags(without_underscores(text))


def with_entities(text: str) -> str:
    """A text that `as_shown` gives back as it is."""
    return text if as_shown(text) == text else escape(text, quote=False).replace("_", "&#95;")


def _character(entity: re.Match[str]) -> str:
    return unescape(entity[0]) if entity[1] is None or entity[1] in html5 else entity[0]


def without_cdata(text: str, change: Callable[[str], str] = str) -> str:
    """A text without the marks of CDATA, whose content is changed."""
    first, *others = text.split("<![CDATA[")
    parts = (own.partition("]]>") for own in others)
    return "".join((first, *(change(inside) + behind for inside, _, behind in parts)))


def read_page(text: str, page: "Page | None" = None) -> "Page":
    """A page, in linear time: what is left at a tag that never ends is not tried again and again."""
    page = page or Page()
    for _ in range(MOST_BROKEN):
        page.feed(text)
        left, page.rawdata = page.rawdata, ""
        if not left.startswith("<"):
            page.handle_data(unescape(left))
            return page
        page.handle_data("<")
        text = left[1:]  # as browsers do not: the words after it are read
    page.handle_data(unescape(_tag.sub("\n", text)))
    return page


class Page(HTMLParser):
    """Gathers the text of a page."""

    hidden = frozenset(("script", "style", "template", "noscript", "svg"))
    title_tag = "title"
    pictures = frozenset(("img", "area", "input"))
    inline = frozenset(PHRASES.split())

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._titles: list[str] = []
        self._inside: str | None = None  # the hidden tag, or the title, that is open
        self._depth = 0
        self._opened = ""  # the tag just before

    def text(self) -> str:
        """The text, a line a block."""
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        return "\n".join(filter(None, lines))

    def title(self) -> str:
        """The title of the page."""
        return "".join(self._titles)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A hidden tag opens, or a line ends; a picture is what is said in its place. The number of a note is apart."""
        if tag in _OF_NOTE_NUMBER and self._opened in _OF_NOTE_NUMBER and tag != self._opened:
            self.handle_data(" ")
        self._opened = tag
        if self._inside is None and (tag in self.hidden or tag == self.title_tag):
            self._inside, self._depth = tag, 1
        elif tag == self._inside:
            self._depth += 1
        elif tag not in self.inline:
            self._pieces.append("\n")
        if tag in self.pictures and (said := dict(attrs).get("alt")):
            self.handle_data(f"{said}\n")

    def handle_endtag(self, tag: str) -> None:
        """A hidden tag closes, or a line ends."""
        self._opened = ""
        if tag == self._inside:
            self._depth -= 1
            self._inside = self._inside if self._depth else None
        elif tag not in self.inline:
            self._pieces.append("\n")

    def handle_data(self, data: str) -> None:
        """Text."""
        self._opened = ""
        if self._inside == "title":
            self._titles.append(data)
        elif self._inside is None:
            self._pieces.append(data)

    def parse_html_declaration(self, i: int) -> int:
        """Where a declaration ends; browsers take one that there is not for a comment."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            return self.parse_bogus_comment(i)


class MixedPage(Page):
    """Gathers a text with tags and what looks like some, such as `List<A>`, `<me@x.org>` and `<?php`: that is text.

    A tag is one of an element that ends after it, or is often left open; its attributes have values.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: set[str] = set()
        self._ends = Counter(name.lower() for name in _end_tag.findall(text))  # that are to come

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag, or text."""
        if not self._is_tag(tag, attrs):
            self.handle_data(self.get_starttag_text() or "")
            return
        self.opened.add(tag)
        if self._ends[tag] > 0 or tag not in self.hidden:  # else it hid all the rest
            super().handle_starttag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content, or text."""
        self.handle_starttag(tag, attrs)
        if self._is_tag(tag, attrs):
            super().handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """The end of an element that began, or text."""
        self._ends[tag] -= 1
        if tag in self.opened:
            super().handle_endtag(tag)
        else:
            self.handle_data(f"</{tag}>")

    def handle_pi(self, data: str) -> None:
        """Code of PHP is text, a declaration of XML not."""
        if not (data.lower().startswith("xml") and data.endswith(("?", "/"))):
            self.handle_data(f"<?{data}>")

    def set_cdata_mode(self, elem: str, **how: Any) -> None:
        """All to the end of an element is its own, if that is to come."""
        if self._ends[elem] > 0 and elem in self.opened:
            super().set_cdata_mode(elem, **how)

    def parse_endtag(self, i: int) -> int:
        """Where an end tag ends, or text that begins as one, such as `</3`."""
        if self.cdata_elem is None and not _end_tag.match(self.rawdata, i):
            return self.parse_bogus_comment(i)
        return super().parse_endtag(i)

    def parse_bogus_comment(self, i: int, report: bool = True) -> int:
        """Where what browsers hide as if it were a comment ends; it is text."""
        end = super().parse_bogus_comment(i, False)
        if end > 0:
            self.handle_data(self.rawdata[i:end])
        return end

    def _is_tag(self, tag: str, attrs: list[tuple[str, str | None]]) -> bool:
        has_values = any(value is not None for _, value in attrs)
        if attrs and not has_values:
            return False
        return self._ends[tag] > 0 or tag in _left_open or (has_values and tag in _cut_off)
