"""XML: records of exports and feeds by what they call themselves, or all of a file."""

import re
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from html import escape, unescape
from itertools import pairwise
from typing import Any, NamedTuple

from setsearch.indexing.formats.attributes import is_sentence, of_attributes
from setsearch.indexing.formats.pages import LONGEST_ADDRESS, PHRASES, Page, read_page, without_cdata, without_tags
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread, attached, declared
from setsearch.text.headline import headline, shorten


class Kind(NamedTuple):
    """How XML of a kind is read: how a record begins, the elements that are no text, and those within a line.

    A record is named by its attribute, else by the first of these elements that it has, else by its number.
    `has_codes`: whether translators leave codes of programs in texts; in other XML the same elements have words.
    `tags`: the elements that are its tags, as text or as an attribute.
    """

    record: str | None
    hidden: str = ""
    inline: str = ""
    names: tuple[str, ...] = ()
    has_codes: bool = False
    tags: str = ""


_HEADERS = "header responsedate request resumptiontoken leader controlfield recordinfo"
_NOTICES = "publicationstmt encodingdesc revisiondesc respstmt"
_OF_NOTES = (  # what Evernote says of a note, its pictures and its tasks
    "created updated subject-date latitude longitude altitude source source-application content-class resource "
    "en-crypt reminder-order reminder-time reminder-done-time "
    "taskstatus innote taskflag sortweight notelevelid taskgroupnotelevelid statusupdated"
)
_OF_FLAT = (  # what OpenDocument in one file has beside its text
    "binary-data settings scripts font-face-decls styles automatic-styles creation-date generator editing-cycles "
    "editing-duration tracked-changes"
)
_OF_SRU = "version numberofrecords recordschema recordpacking recordposition nextrecordposition"
_IDENTIFIED = (r"controlfield\s[^<>]{0,200}([\"'])001\1", "recordIdentifier", "identifier")
_OF_JATS = "journal-id issn article-id"
_OF_ARTICLE = (r"article-id\s[^<>]{0,200}pub-id-type=([\"'])(?:doi|pmcid|pmc)\1", "article-id")
_CONTEXT = r"(?:<context\b[^<>]*>\s*<name>[^<>]*</name>\s*)?"  # of Qt, which its first message takes along
# XML by its first element.
KINDS: Mapping[str, Kind] = {
    "en-export": Kind("<note>", _OF_NOTES, PHRASES, ("title",), tags="tag"),
    "mediawiki": Kind(
        "<page>", "siteinfo ns id parentid timestamp contributor model format sha1 origin", names=("title",)
    ),
    "collection": Kind(r"<(?:\w+:)?record\b", _HEADERS, names=_IDENTIFIED),
    "modsCollection": Kind(r"<(?:\w+:)?mods\b", _HEADERS, names=_IDENTIFIED),
    "OAI-PMH": Kind(r"<record>\s*<header\b", _HEADERS, names=_IDENTIFIED[-1:]),
    "searchRetrieveResponse": Kind(r"<(?:\w+:)?recordData\b", f"{_HEADERS} {_OF_SRU}", names=_IDENTIFIED),
    "pmc-articleset": Kind(r"<article[\s>]", _OF_JATS, names=_OF_ARTICLE),
    "article": Kind(None, _OF_JATS),
    "tmx": Kind(r"<tu\b", "header", has_codes=True),
    "martif": Kind(r"<termEntry\b", "martifheader", has_codes=True),
    "tbx": Kind(r"<conceptEntry\b", "tbxheader", has_codes=True),
    "xliff": Kind(r"<(?:trans-)?unit\b", "header", has_codes=True),
    "TS": Kind(rf"{_CONTEXT}<message\b", names=("source",)),
    "rss": Kind(
        r"<item\b", "guid link pubdate lastbuilddate generator ttl", PHRASES, ("guid", "link"), tags="category"
    ),
    "RDF": Kind(r"<item\b", "link date", PHRASES),  # RSS 1.0, if it has items
    "feed": Kind(r"<entry\b", "id link updated published generator", PHRASES, ("id",), tags="category"),
    "teiCorpus": Kind(r"<TEI\b", _NOTICES, "g"),
    "TEI": Kind(None, _NOTICES, "g"),
    "alto": Kind(None, "description styles", "string sp hyp"),
    "PcGts": Kind(None, "metadata"),
    "office:document": Kind(None, _OF_FLAT),
    "FictionBook": Kind(None, "binary document-info"),
}
BIOC = Kind("<document>", "id source date key infon offset annotation relation", names=("id",))  # a <collection>, too
FEEDS = ("rss", "RDF", "feed")
ANY_XML = Kind(r"<oai_dc:dc\b", names=_IDENTIFIED[-1:])  # its records, if it has several
AT_END = 1000  # characters, where an export ends its first element
# Attributes that are text, beside those with a sentence: some of an element, some of any.
_OF_ELEMENTS = {"outline": ("_note", "category"), "category": ("label", "term")}
_OF_ANY = "text title subject summary description caption comment body".split()
MOSTLY = 10  # times as much text as elsewhere, where attributes have it
_xml_titles = (  # an empty one is none
    re.compile(r"<((?:\w+:)?(?:article-|book-)?title)(?:\s[^<>]{0,200})?(?<!/)>(?!\s*</)((?s:.{1,500}?))</\1\s*>"),
    re.compile(r"<(?:\w+:)?datafield\s[^<>]{0,200}\b245\b[^<>]{0,200}>\s*<[^<>]{0,200}>([^<]+)<"),
)
_passage = re.compile(r"<passage>\s*<(?:infon|offset|text)\b")
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
_tag = re.compile(r"</?[\w:-]+(?:\s[^<>]{0,200})?>")
_OF_TAG = re.compile(r"\s(?:label|term)\s*=\s*([\"'])(.*?)\1", re.DOTALL)
_between_tags, _within_tag = re.compile(r">\s*[^\s<]"), re.compile(r"<[^<>]*\Z")  # where a file that is cut off ends


def xml(data: bytes, decode: Decode) -> Parts:
    """The text of any XML, without its tags; the title is that of its first element `title`.

    Exports are their records, and what is before the first one. The texts of a feed (RSS, Atom) are pages, whose tags
    are escaped; its entries have names.
    """
    source = _declarations.sub("", declared(data, decode))
    root = _root.match(source)
    kind = KINDS[root[1]] if root else ANY_XML
    kind = BIOC if root and root[1] == "collection" and _passage.search(source) else kind
    is_feed = root is not None and root[1] in FEEDS and re.search(kind.record or "", source) is not None
    whole = without_cdata(source, escape if is_feed else str)
    records = [*re.finditer(kind.record, whole)] if kind.record else []
    records = records if root or len(records) > 1 else []
    for number, (own, following) in enumerate(pairwise((None, *records, None))):
        source = whole[own.start() if own else 0 : following.start() if following else None]
        part, said = _part_of_xml(source, kind, bool(records), is_feed)
        key = (_name_of_record(own, source, kind) or str(number)) if own else None
        is_cut = _within_tag.search(source) is not None and _between_tags.search(source) is None
        others = len(part.text) - said
        if not records and (is_cut or MOSTLY * others <= said):
            yield from _rows(source, part, others > 0 and not is_cut)
        elif own or part.text:
            columns = {"tags": _tags_of_record(source, kind.tags)} if own and kind.tags else {}
            yield part._replace(key=key, columns=columns or None)
            if root and root[1] == "en-export":
                yield from _files_of_note(source, key, columns)
    if records and root and re.search(rf"</(?:\w+:)?{root[1]}\s*>", whole[-AT_END:]) is None:
        yield Unread("XML file{s} to the end: the download may have broken off", 1)


def _rows(source: str, whole: Part, is_text: bool) -> Parts:
    """The rows of XML in attributes up to where it is broken; if that is in the first one, the `whole` as one text."""
    found = 0
    try:
        for row in of_attributes(source, without_tags, is_text):
            yield row
            found += 1
    except ValueError:
        if found or not whole.text:
            raise
        yield whole
        yield Unread("file{s} of XML in attributes, broken in the first row: one text", 1)


def _tags_of_record(source: str, name: str) -> list[str]:
    """The tags of a record, each once."""
    elements = re.finditer(rf"<{name}(?:\s([^<>]*))?>([^<]*)", source)
    found = (_OF_TAG.search(f" {own[1] or ''}") or own for own in elements)
    return list(dict.fromkeys(tag for own in found if (tag := unescape(own[2]).strip())))


def _files_of_note(source: str, key: str | None, columns: Mapping[str, Any]) -> Parts:
    """The files that are attached to a note of Evernote."""
    for behind in source.split("<resource>")[1:]:
        own = behind.partition("</resource>")[0]
        found = (re.search(rf"<{name}(?:\s[^<>]*)?>\s*([^<]*)<", own) for name in ("file-name", "mime", "data"))
        name, kind, data = (unescape(told[1]).strip() if told else "" for told in found)
        with suppress(ValueError):  # of base64
            if file := attached(name, kind, b64decode(data), columns):
                yield file._replace(key=key)
                continue
        yield Unread("attachment{s}", 1)


def _part_of_xml(source: str, kind: Kind, has_records: bool, is_feed: bool) -> tuple[Part, int]:
    """A record, or all of a file that has none: then its first element says nothing, as any may be a <collection>.

    With it, how many characters of its text are attributes.
    """
    page = XmlPage()
    source = _codes.sub("", _placeholders.sub(" ", source)) if has_records and kind.has_codes else source
    page.inline = page.inline.union(kind.inline.split())
    if has_records or not kind.record:
        page.hidden = frozenset(kind.hidden.split())
    text = read_page(source, page).text()
    text = read_page(text).text() if is_feed else text
    titles = (*_xml_titles, _unit_title) if has_records else _xml_titles
    found = next(filter(None, (title.search(source) for title in titles)), None)
    title = without_tags(unescape(_tag.sub("", found[found.re.groups]))) if found else None
    return Part(text, shorten(title) or headline(text)), page.said


def _name_of_record(begin: re.Match[str], source: str, kind: Kind) -> str | None:
    """What a record calls itself; None if it has no name."""
    tag = source[len(begin[0]) :].partition(">")[0]
    elements = (re.search(rf"<(?:\w+:)?{own}(?:\s[^<>]{{0,200}})?>\s*([^\s<][^<]*)<", source) for own in kind.names)
    named = _id.search(tag) or next(filter(None, elements), None)
    name = " ".join(unescape(named[named.re.groups]).split()) if named else ""
    return name[:LONGEST_ADDRESS] or None


class XmlPage(Page):
    """Gathers the text of any XML: all of it, unless some is hidden."""

    hidden = frozenset()
    inline = frozenset(
        "bold emphasis ex hi it italic sc span strong sub subscript sup superscript supplied unclear underline".split()
    )
    title_tag = ""
    said = 0  # characters of attributes that may be rows: neither hidden, nor a sentence on all of the file
    _is_within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A line begins, unless it breaks a word; an outline, and what a scanner read, has attributes as text."""
        own, found = _local(tag), dict(attrs)
        if found.get("break") == "no":
            return
        super().handle_starttag(own, attrs)
        for said in dict.fromkeys(value for name, value in attrs if value and _is_text(own, name, value)):
            self.handle_data(f"\n{said}\n")
            is_of_row = self._is_within or not is_sentence("", said)
            if is_of_row and self._inside is None and own not in _OF_ELEMENTS:  # an outline is one text
                self.said += len(" ".join(said.split())) + 1
        self._is_within = True
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


def _is_text(tag: str, name: str, value: str) -> bool:
    """Whether an attribute of an element is text that a reader sees."""
    is_named = (_local(name) in _OF_ANY and not name.startswith("xmlns:")) or name in _OF_ELEMENTS.get(tag, ())
    return is_named or is_sentence(name, value)


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]
