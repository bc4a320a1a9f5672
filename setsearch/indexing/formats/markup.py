"""Texts with markup: web pages, LaTeX, subtitles, notebooks."""

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from html import escape, unescape
from html.entities import html5
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, NamedTuple

from setsearch.indexing.formats.attributes import of_attributes
from setsearch.indexing.formats.broken_words import join_broken_words
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread, attached, declared
from setsearch.text.headline import headline, shorten
from setsearch.text.latex import latex_document


class Kind(NamedTuple):
    """How XML of a kind is read: how a record begins, the elements that are no text, and those within a line.

    A record is named by its attribute, else by the first of these elements that it has, else by its number.
    `has_codes`: whether translators leave codes of programs in texts; in other XML the same elements have words.
    """

    record: str | None
    hidden: str = ""
    inline: str = ""
    names: tuple[str, ...] = ()
    has_codes: bool = False


_HEADERS = "header responsedate request resumptiontoken leader controlfield recordinfo"
_NOTICES = "publicationstmt encodingdesc revisiondesc respstmt"
_PHRASES = (  # of HTML, within a line, and a word
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup "
    "tt u var wbr"
)
_OF_NOTES = (  # what Evernote says of a note, its pictures and its tasks
    "created updated subject-date latitude longitude altitude source source-application content-class resource "
    "en-crypt reminder-order reminder-time reminder-done-time "
    "taskstatus innote taskflag sortweight notelevelid taskgroupnotelevelid statusupdated"
)
_OF_SRU = "version numberofrecords recordschema recordpacking recordposition nextrecordposition"
_IDENTIFIED = (r"controlfield\s[^<>]{0,200}([\"'])001\1", "recordIdentifier", "identifier")
_CONTEXT = r"(?:<context\b[^<>]*>\s*<name>[^<>]*</name>\s*)?"  # of Qt, which its first message takes along
# XML by its first element.
KINDS: Mapping[str, Kind] = {
    "en-export": Kind("<note>", _OF_NOTES, _PHRASES, ("title",)),
    "mediawiki": Kind(
        "<page>", "siteinfo ns id parentid timestamp contributor model format sha1 origin", names=("title",)
    ),
    "collection": Kind(r"<(?:\w+:)?record\b", _HEADERS, names=_IDENTIFIED),
    "modsCollection": Kind(r"<(?:\w+:)?mods\b", _HEADERS, names=_IDENTIFIED),
    "OAI-PMH": Kind(r"<record>\s*<header\b", _HEADERS, names=_IDENTIFIED[-1:]),
    "searchRetrieveResponse": Kind(r"<(?:\w+:)?recordData\b", f"{_HEADERS} {_OF_SRU}", names=_IDENTIFIED),
    "tmx": Kind(r"<tu\b", "header", has_codes=True),
    "martif": Kind(r"<termEntry\b", "martifheader", has_codes=True),
    "tbx": Kind(r"<conceptEntry\b", "tbxheader", has_codes=True),
    "xliff": Kind(r"<(?:trans-)?unit\b", "header", has_codes=True),
    "TS": Kind(rf"{_CONTEXT}<message\b", names=("source",)),
    "rss": Kind(r"<item\b", "guid link pubdate lastbuilddate generator ttl", _PHRASES, ("guid", "link")),
    "RDF": Kind(r"<item\b", "link date", _PHRASES),  # RSS 1.0, if it has items
    "feed": Kind(r"<entry\b", "id updated published generator", _PHRASES, ("id",)),
    "teiCorpus": Kind(r"<TEI\b", _NOTICES, "g"),
    "TEI": Kind(None, _NOTICES, "g"),
    "alto": Kind(None, "description styles", "string sp hyp"),
    "PcGts": Kind(None, "metadata"),
    "FictionBook": Kind(None, "binary document-info"),
}
FEEDS = ("rss", "RDF", "feed")
ANY_XML = Kind(r"<oai_dc:dc\b", names=_IDENTIFIED[-1:])  # its records, if it has several
LONGEST_ADDRESS = 200  # characters that name a bookmark, some of which are programs, or a record
AT_END = 1000  # characters, where an export ends its first element
_OF_NOTE_NUMBER = ("a", "sup")  # one in the other, behind a word
MOST_LINES = 4  # of captions that scroll
MOST_BROKEN = 20  # tags of a page that never end, before the rest is read without its structure
# Elements of XML whose attributes are their text.
_OF_ATTRIBUTES = {
    "outline": ("text", "title", "description", "_note", "category"),
    "category": ("label", "term", "text"),
}
_SAID = ("source", "input", "text", "label", "url")  # by a cell, or a card
_meta = re.compile(rb"""<(?:meta[^>]{1,200}charset|\?xml[^>]{1,200}encoding)\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_xml_titles = (
    re.compile(r"<(?:\w+:)?(?:article-|book-)?title(?:\s[^<>]{0,200})?>([^<]+)<"),
    re.compile(r"<(?:\w+:)?datafield\s[^<>]{0,200}\b245\b[^<>]{0,200}>\s*<[^<>]{0,200}>([^<]+)<"),
)
_unit_title = re.compile(r"<(?:seg|term|source)(?:\s[^<>]{0,200})?>([^<]+)<")
# The name of a record, which is the same where others come before it, as in the next export.
_id = re.compile(r"\s(?:\w+:)?(?:tuid|id|about)\s*=\s*([\"'])(.*?)\1", re.IGNORECASE | re.DOTALL)
# What translators leave as it is, unless some text within it is theirs; what stands for something parts words.
_attributes = r"(?:\s[^<>]{0,200})?"
_placeholders = re.compile(rf"<(ph|x){_attributes}(?:/>|>[^<]*</\1\s*>)")
_codes = re.compile(
    rf"</?(?:g|pc|[be]x|[se]c|mrk(?![^<>]*=.seg\b)){_attributes}/?>|<(bpt|ept|it|ut){_attributes}(?:/>|>[^<]*</\1\s*>)"
)
_comment = r"<!--(?s:(?!-->).)*-->"  # which may have tags
_root = re.compile(rf"\s*(?:(?:{_comment}|<[?!](?!--)[^<>]*>)\s*)*<(?:\w+:)?({'|'.join(KINDS)})[\s>]")
# Of elements, in the file itself.
_declarations = re.compile(rf"\A\s*(?:(?:{_comment}|<\?[^<>]*>)\s*)*<!DOCTYPE[^<>\[]*\[[^\]]*\]\s*>")
_tag = re.compile(r"<[^<>]*>")
_between_tags = re.compile(r">\s*[^\s<]")
_time = re.compile(r"^\s*(?:\d+:)?\d+:\d+[.,]\d+(?:\s*-->.*|,\d+:\d\d:\d\d\.\d+\s*)$")
_blank_below_time = re.compile(r"^([\d:.,]+[ \t]*-->.*\n)[ \t]+\n(?!.*\n.*-->)", re.MULTILINE)  # its cue goes on
_said = re.compile(  # a line of SubStation Alpha, MicroDVD, LRC
    r"^(?:Dialogue:[ \t]*(?:[^,\n]*,){9}|\{\d+\}\{\d+\}|(?:\[\d+:\d\d(?:[.:]\d+)?\])+)(.*)$", re.MULTILINE
)
_breaks = re.compile(r"\\[Nn]|\|")  # of a line within a cue
_styles = re.compile(r"\{[^{}]*\}|\\h")
_cue_markup = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
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
_cue_block = re.compile(r"(?:NOTE|STYLE|REGION)\b")


def html(data: bytes, decode: Decode) -> Parts:
    """The text of a page, without scripts and styles; bookmarks of a browser are their links."""
    source = declared(data, decode, _meta)
    if source.lstrip().startswith("<!DOCTYPE NETSCAPE-Bookmark") and (links := [*_links(source)]):
        yield from links
        return
    page = read_page(source)
    text = page.text()
    yield Part(text, shorten(page.title()) or headline(text))


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
        whole = _without_cdata(text)
        page = MixedPage(whole)
        read_page(whole, page)
        if page.opened:
            return "\n".join(filter(None, (page.title().strip(), page.text())))
    return _entity.sub(_character, text) if "&" in text else text


def with_entities(text: str) -> str:
    """A text that `without_tags` gives back as it is."""
    return text if without_tags(text) == text else escape(text, quote=False)


def _character(entity: re.Match[str]) -> str:
    return unescape(entity[0]) if entity[1] is None or entity[1] in html5 else entity[0]


def xml(data: bytes, decode: Decode) -> Parts:
    """The text of any XML, without its tags; the title is that of its first element `title`.

    Exports are their records, and what is before the first one. The texts of a feed (RSS, Atom) are pages, whose tags
    are escaped; its entries have names.
    """
    source = _declarations.sub("", declared(data, decode))
    root = _root.match(source)
    kind = KINDS[root[1]] if root else ANY_XML
    is_feed = root is not None and root[1] in FEEDS and re.search(kind.record or "", source) is not None
    whole = _without_cdata(source, escape if is_feed else str)
    records = [*re.finditer(kind.record, whole)] if kind.record else []
    records = records if root or len(records) > 1 else []
    for number, (own, following) in enumerate(pairwise((None, *records, None))):
        source = whole[own.start() if own else 0 : following.start() if following else None]
        part = _part_of_xml(source, kind, bool(records), is_feed)
        key = (_name_of_record(own, source, kind) or str(number)) if own else None
        is_cut = part.text.startswith("<") and _between_tags.search(source) is None  # within its last tag
        if not records and (is_cut or not part.text):
            yield from of_attributes(source, without_tags)
        elif own or part.text:
            yield part._replace(key=key)
        if root and root[1] == "en-export":
            yield from _files_of_note(source, key)
    if records and root and re.search(rf"</(?:\w+:)?{root[1]}\s*>", whole[-AT_END:]) is None:
        yield Unread("XML file{s} to the end: the download may have broken off", 1)


def _files_of_note(source: str, key: str | None) -> Parts:
    """The files that are attached to a note of Evernote."""
    for behind in source.split("<resource>")[1:]:
        own = behind.partition("</resource>")[0]
        found = (re.search(rf"<{name}(?:\s[^<>]*)?>\s*([^<]*)<", own) for name in ("file-name", "mime", "data"))
        name, kind, data = (unescape(told[1]).strip() if told else "" for told in found)
        with suppress(ValueError):  # of base64
            if file := attached(name, kind, b64decode(data), {}):
                yield file._replace(key=key)
                continue
        yield Unread("attachment{s}", 1)


def _part_of_xml(source: str, kind: Kind, has_records: bool, is_feed: bool) -> Part:
    """A record, or all of a file that has none: then its first element says nothing, as any may be a <collection>."""
    page = XmlPage()
    source = _codes.sub("", _placeholders.sub(" ", source)) if has_records and kind.has_codes else source
    page.inline = page.inline.union(kind.inline.split())
    if has_records or not kind.record:
        page.hidden = frozenset(kind.hidden.split())
    text = read_page(source, page).text()
    text = read_page(text).text() if is_feed else text
    titles = (*_xml_titles, _unit_title) if has_records else _xml_titles
    found = next(filter(None, (title.search(source) for title in titles)), None)
    return Part(text, (shorten(without_tags(unescape(found[1]))) if found else None) or headline(text))


def _name_of_record(begin: re.Match[str], source: str, kind: Kind) -> str | None:
    """What a record calls itself; None if it has no name."""
    tag = source[len(begin[0]) :].partition(">")[0]
    elements = (re.search(rf"<(?:\w+:)?{own}(?:\s[^<>]{{0,200}})?>\s*([^\s<][^<]*)<", source) for own in kind.names)
    named = _id.search(tag) or next(filter(None, elements), None)
    name = " ".join(unescape(named[named.re.groups]).split()) if named else ""
    return name[:LONGEST_ADDRESS] or None


def _without_cdata(text: str, change: Callable[[str], str] = str) -> str:
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
    inline = frozenset(_PHRASES.split())

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


class XmlPage(Page):
    """Gathers the text of any XML: all of it, unless some is hidden."""

    hidden = frozenset()
    inline = frozenset(
        "bold emphasis ex hi it italic sc strong sub subscript sup superscript supplied unclear underline".split()
    )
    title_tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A line begins, unless it breaks a word; an outline, and what a scanner read, has attributes as text."""
        own, found = _local(tag), dict(attrs)
        if found.get("break") == "no":
            return
        super().handle_starttag(own, attrs)
        if said := dict.fromkeys(filter(None, map(found.get, _OF_ATTRIBUTES.get(own, ())))):
            self.handle_data("\n".join(said))
        if own == "string" and own in self.inline and found.get("subs_type") != "HypPart2":
            self.handle_data(f"{found.get('subs_content') or found.get('content') or ''} ")

    def handle_endtag(self, tag: str) -> None:
        """A hidden tag closes, or a line ends."""
        super().handle_endtag(_local(tag))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content breaks a line once."""
        self.handle_starttag(tag, attrs)
        if dict(attrs).get("break") != "no":
            self.handle_endtag(tag)


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def subtitles(data: bytes, decode: Decode) -> Parts:
    """What is said in a film: without numbers, times and marks of style. Words that a line of a cue breaks are joined.

    At the end of a cue a hyphen stands where somebody is interrupted.
    """
    source = _blank_below_time.sub(r"\1", "\n".join(decode(data).lstrip("\ufeff").splitlines()))
    cues = [_cue_markup.sub("", _styles.sub(" ", _breaks.sub("\n", cue))) for cue in _said.findall(source)]
    blocks = [] if cues else re.split(r"\n[ \t]*\n", source)
    for block in blocks:
        lines = block.splitlines()
        times = [number for number, line in enumerate(lines) if _time.match(line)]
        if times:
            lines = [line for line in lines[times[0] + 1 :] if not _time.match(line)]
        elif block.startswith("WEBVTT") or _cue_block.match(block) or block.strip().isdigit():
            continue
        cues.append(unescape(_cue_markup.sub("", "\n".join(lines))))
    lines = [[*filter(None, map(str.strip, cue.splitlines()))] for cue in cues]
    said = map("\n".join, _without_scrolled([*filter(None, lines)]))
    text = join_broken_words("\n\n".join(filter(None, said))).replace("\n\n", "\n")
    yield Part(text, headline(text))


def _without_scrolled(cues: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The lines of cues, of captions that scroll without those that still stand there, as YouTube writes them again.

    Below these more is said, in half of such cues; what is said again and again, as in a song, stands alone.
    """
    again = [
        next((size for size in range(min(len(own), MOST_LINES), 0, -1) if before[-size:] == own[:size]), 0)
        for before, own in pairwise([(), *cues])
    ]
    scrolls = 4 * sum(0 < size < len(own) for own, size in zip(cues, again, strict=True)) > len(cues)
    return [own[size:] for own, size in zip(cues, again, strict=True)] if scrolls else cues


def notebook(data: bytes, decode: Decode) -> Parts:
    """The sources of the cells of a notebook; its title is the first heading. Of a canvas of Obsidian, its cards."""
    content = json.loads(decode(data))
    cells = content.get("cells") or [cell for sheet in content.get("worksheets", ()) for cell in sheet.get("cells", ())]
    cells += content.get("nodes", []) + content.get("edges", [])
    yield Unread("output{s} of notebooks", sum(len(cell.get("outputs") or ()) for cell in cells))
    sources = ["".join(next((cell[name] for name in _SAID if cell.get(name)), "")) for cell in cells]
    prose = "\n\n".join(source for cell, source in zip(cells, sources, strict=True) if cell.get("cell_type") != "code")
    yield Part("\n\n".join(filter(None, sources)), headline(prose) or headline("\n".join(sources)))


def latex(data: bytes, decode: Decode) -> Parts:
    """The text of a LaTeX document, without its commands; with them where the library is missing."""
    source = decode(data)
    try:
        text, title = latex_document(source)
    except ImportError:
        text, title = source, None
        yield Unread("LaTeX file{s} with commands, without pylatexenc (pip install 'setsearch[references]')", 1)
    yield Part(text, shorten(title) or headline(text))
