"""Formats of files: a function each, from bytes to documents. The beginning of a file tells which, or its ending."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from setsearch.indexing.encodings import LOOKED_AT, encoding_by_mark, is_text
from setsearch.indexing.formats import (
    calendars,
    chats,
    mail,
    office,
    pages,
    pdf,
    references,
    roff,
    subtitles,
    text,
    xml,
)
from setsearch.indexing.formats.part import Decode, Parts

Form = Callable[[bytes, Decode], Parts]

CODE = (
    "py pyi js jsx mjs ts tsx vue c h cc cpp cxx hpp m java go rs rb php pl pm sh bash zsh ps1 bat sql css scss "
    "r jl lua hs ml scala kt swift dart cs fs vb ex exs erl clj el nim zig f90 pas proto cmake mk ini cfg toml yaml yml"
)
FORMATS: Mapping[str, Form] = {
    **dict.fromkeys((f".{ending}" for ending in CODE.split()), text.source_code),
    **dict.fromkeys((".html", ".htm", ".xhtml"), pages.html),
    **dict.fromkeys((".txt", ".text", ".md", ".rst"), text.plain_text),
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa", ".sbv", ".lrc"), subtitles.subtitles),
    **dict.fromkeys((".tex", ".latex"), text.latex),
    **dict.fromkeys((".xml", ".rss", ".atom", ".svg", ".rdf", ".opml", ".fb2", ".ttml", ".enex"), xml.xml),
    **dict.fromkeys((".tmx", ".tbx", ".xlf", ".xliff"), xml.xml),
    **dict.fromkeys((".json", ".jsonc", ".json5", ".jsonld", ".geojson", ".arb"), text.json_text),
    ".ms": roff.manual,
    ".org": text.org,
    ".conllu": text.treebank,
    **dict.fromkeys((".texi", ".texinfo", ".txi"), text.texinfo),
    **dict.fromkeys((".po", ".pot"), text.catalog),
    **dict.fromkeys((".ipynb", ".canvas"), text.notebook),
    ".eml": mail.mail,
    ".emlx": mail.emlx,
    ".mbox": mail.mailbox,
    ".pdf": pdf.pdf,
    ".ris": references.ris,
    ".bib": references.bibtex,
    ".nbib": references.pubmed,
    ".ciw": references.wos,
    ".enw": references.refer,
    **office.FORMATS,
}
# What a hostile file may make slow or large: these are read in a process apart.
RISKY = (
    *(pages.html, xml.xml, references.xml, references.rdf, text.notebook, text.latex),
    *(mail.mail, mail.emlx, mail.mailbox, pdf.pdf, chats.exported),
    *office.FORMATS.values(),
)
MAIL = (mail.mail, mail.emlx, mail.mailbox)
REFERENCES = (
    *(references.ris, references.pubmed, references.wos, references.refer, references.bibtex),
    *(references.wos_table, references.xml, references.rdf, references.cochrane),
)
SAY_LITTLE = (None, text.plain_text, text.json_text)  # formats by an ending; then the beginning may say more

_HEADERS = rb"(?:[!-9;-~]+:.*\n|[ \t].*\n)*"
_MAIL = b"".join(
    b"(?=%b(?:%b): )" % (_HEADERS, names)
    for names in (b"From", b"Date|Message-ID|Received|MIME-Version|Content-Type", b"Subject|To|MIME-Version")
)
# What is repeated reads a line, or a comment, in one way only: of two ways each, a beginning has 2^lines.
_XML = rb"(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*"
_OF_SERVICE = rb"(?:Provider|Database|Content) ?:.*\n|(?:\d+\. ?)?\r?\n"
_RECORDS = (
    rb"<!DOCTYPE\s+Pubmed|<Pubmed(?:Book)?Article(?:Set)?>|<xml>\s*<records>|<records>\s*<rec\s|<searchResponse[\s>]"
)
# Beginnings that no ending contradicts, and those that count where the ending says little.
_SURE: tuple[tuple[Form, bytes], ...] = (
    (pdf.pdf, rb"%PDF-\d"),
    (office.rtf, re.escape(office.RTF)),
    (calendars.calendar, calendars.BEGIN),
    (references.ris, rb"(?:" + _OF_SERVICE + rb"|[A-Z][A-Z0-9]  - .*\n)*TY[ \t]{1,3}- ?[A-Z]"),
    (references.pubmed, rb"PMID- \d"),
    (references.wos, rb"FN .*\r?\nVR |PT [A-Z]\r?\n(?:AU|TI|CA|BA|Z\d) "),
    (references.wos_table, rb"PT\t(?:[A-Z][A-Z0-9]\t){5}"),
    (references.xml, rb"(?s)" + _XML + rb"(?:<!DOCTYPE\s+\w+\s*\[.*?\]\s*>\s*)?(?:" + _RECORDS + rb")"),
    (references.rdf, rb"(?s)" + _XML + rb"<rdf:RDF\b[^>]*http://www\.zotero\.org/namespaces/export#"),
    # Of Qt, whose ending is that of TypeScript.
    (xml.xml, rb"(?s)" + _XML + rb"(?:<!DOCTYPE\s+TS\s*(?:\[\s*\]\s*)?>\s*)?<TS[\s>]"),
    (references.cochrane, rb"Record #1 of \d+\s*\n(?:ID|AU|TI): "),
    (references.refer, rb"%0 [A-Z]|(?:%[A-Z0-9@] \S.*\r?\n){3}"),
)
_LIKELY: tuple[tuple[Form, bytes], ...] = (
    (references.bibtex, rb"(?i)(?:%.*\n|\s)*@(?:(?:comment|preamble|string)\s*\{|\w+\s*\{[^\s,{}]*,)"),
    (pages.html, rb"(?is)" + _XML + rb"(?:<!doctype\s+html|<(?:html|sami)[\s>])"),
    (xml.xml, rb"(?s)" + _XML + rb"<!DOCTYPE\s+\w|<\?xml\s|" + _XML + rb"<[\w:.-]+(?=\s)[^<>]{0,2000}\sxmlns[:=]"),
    (subtitles.subtitles, rb"WEBVTT\b|\[Script Info\]|\{\d+\}\{\d+\}|\d+\s*\r?\n(?:\d+:)?\d\d:\d\d[.,]\d+ --> "),
    (text.notebook, rb"(?s)\{\s*\"(?:cells|nbformat|metadata)\"\s*:(?=.*\"cell_type\"\s*:)"),
    (chats.exported, chats.EXPORT),
    (text.texinfo, rb"\\input texinfo"),
    (text.latex, rb"(?:%.*\n|\s)*\\documentclass\b"),
    (mail.mailbox, rb"From \S.*\d{1,2}:\d{2}.*\r?\n[!-9;-~]+:|From \S+\r?\n[!-9;-~]+: "),
    (mail.mail, rb"(?i)(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID): .*\r?\n"),
    (mail.mail, rb"(?i)" + _MAIL),
    (mail.emlx, rb"(?i)\d+\s*\n" + _MAIL),
)
_element = re.compile(rb"(?s)" + _XML + rb"<([\w:.-]+)[\s>]")
_ris_below = re.compile(rb"^TY  - ?[A-Z]{2,}\s*$", re.MULTILINE)
# How such files begin.
_BINARY = {pdf.pdf: b"%PDF", **dict.fromkeys(office.FORMATS.values(), office.ZIP), office.rtf: office.RTF}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # what such a file holds of an encrypted document of now
DATABASE = b"SQLite format 3\0"
_UNREAD = {
    b"%!PS": "PostScript: save it as PDF",
    rb"\d{5}[acdnpx][\w ]{4}22\d{5}|=LDR  ": "MARC: save it as MARCXML (MarcEdit, yaz-marcdump)",
    rb"(?s).{60}(?:BOOKMOBI|TEXtREAd)": "Kindle: save it as EPUB (Calibre)",
    b"AT&TFORM": "DjVu: save it as PDF",
    b"// <!-- <mdb:mork": "lists of Thunderbird: its mail is in the files beside them",
    DATABASE: "databases: name one, and its `table` (`setsearch index DB --suggest`)",
    b"PGDMP": "dumps of PostgreSQL: `pg_restore -f FILE.sql`, or copy a table to CSV",
    rb"(?s).{2,8}DUCK..\0{6}": "databases of DuckDB: `copy TABLE to 'FILE.parquet'`, and index that",
    **dict.fromkeys((b"7z\xbc\xaf", b"Rar!", b"BZh", b"\xfd7zXZ", rb"\(\xb5/\xfd"), "packed: unpack it"),
    _OLD_OFFICE: "Word, PowerPoint and Outlook of before 2007: save it as .docx, .pptx or .eml",
}


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database, by how it begins."""
    with path.open("rb") as file:
        return file.read(len(DATABASE)) == DATABASE


def unread_kind(data: bytes, ending: str = "") -> str | None:
    """What a file is that is not read, and what to do; None for any other."""
    begin = data[:LOOKED_AT].lstrip()
    if begin.startswith(_OLD_OFFICE) and _ENCRYPTED in data:
        return "encrypted: save it without its password"
    is_table = ending == ".xls" and begin.startswith(_OLD_OFFICE)
    return None if is_table else next((what for mark, what in _UNREAD.items() if re.match(mark, begin)), None)


def form_by_content(data: bytes, by_ending: Form | None) -> Form | None:
    """The format that the beginning of a file shows; None if it says no more than the ending."""
    begin = data[:LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
    if (encoding := encoding_by_mark(data)) is not None:  # UTF-16, in which spreadsheets and EndNote export
        begin = data[:LOOKED_AT].decode(encoding, "ignore").encode().lstrip()
    sure = next((form for form, pattern in _SURE if re.match(pattern, begin)), None)
    end = data[-LOOKED_AT:].rstrip()
    if sure is None and by_ending in SAY_LITTLE and end.endswith(b"ER  -") and _ris_below.search(begin):
        return references.ris  # below what the service says of the search
    is_wrong = by_ending in _BINARY and sure is None and not begin.startswith((_BINARY[by_ending], _OLD_OFFICE))
    if is_wrong and b"%PDF-" not in begin and is_text(data):
        return form_by_content(data, None) or text.plain_text
    is_open = by_ending in SAY_LITTLE or by_ending in _BINARY
    if sure is None and is_open and begin.startswith(office.ZIP) and (ending := office.office_ending(data)):
        return office.FORMATS[ending]
    if sure is not None or by_ending not in SAY_LITTLE:
        return sure
    likely = next((form for form, pattern in _LIKELY if re.match(pattern, begin)), None)
    return likely or _form_by_all(data, begin, by_ending)


def _form_by_all(data: bytes, begin: bytes, by_ending: Form | None) -> Form | None:
    """The format of what no mark at its beginning shows."""
    if chats.is_chat(begin.decode(errors="ignore")):
        return chats.whatsapp
    element = _element.match(begin) if by_ending is None else None
    if element is not None and data[-LOOKED_AT:].rstrip().endswith(b"</%b>" % element[1]):
        return xml.xml
    return roff.manual if by_ending is None and roff.is_manual(data) else None


def form_of(data: bytes, ending: str) -> Form:
    """The format of a file: by its beginning, by its ending, or a text."""
    by_ending = FORMATS.get(ending)
    return form_by_content(data, by_ending) or by_ending or text.plain_text


def is_workbook(data: bytes, ending: str) -> bool:
    """Whether a file has sheets of rows, which are read as a text."""
    is_office = data.startswith((office.ZIP, _OLD_OFFICE))
    return is_office and (office.office_ending(data) or ending) in (".xlsx", ".xls", ".ods")


def are_rows(begin: bytes) -> bool:
    """Whether the beginning of what may be a table is that of no other format."""
    return not begin.startswith(office.ZIP) and form_by_content(begin, None) is None
