"""Texts as people type them: notes, Org, LaTeX, Texinfo, notebooks, programs and their messages, sentences."""

import json
import re
from collections.abc import Iterator
from itertools import compress, pairwise
from unicodedata import normalize

from setsearch.indexing.formats.broken_words import join_broken_words, without_underscores
from setsearch.indexing.formats.front_matter import read_note, unescaped
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread, declared
from setsearch.indexing.formats.roff import ACCENTS
from setsearch.text.headline import headline, shorten
from setsearch.text.latex import latex_document

# What a terminal does not show: colors, links, and letters that others are printed over.
_for_terminals = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[^\n]\x08")
COLUMNS = 10  # of CoNLL-U
_SAID = ("source", "input", "text", "label", "url")  # by a cell, or a card
AT_END = 40  # characters in which a note of Joplin says its type
# What Joplin writes below a note; of it, an author, an address and what a picture shows are words. Of a tag of a note,
# which has no text, there is nothing else.
_joplin = re.compile(r"(?:\A|\n\n)(id: [0-9a-f]{32}\n(?:[a-z_]+:.*\n)*type_: \d+)\s*\Z")
_joplin_words = re.compile(r"^(?:author|source_url|ocr_text): (.+)", re.MULTILINE)
_document = re.compile(r"^# newdoc\b.*\n", re.MULTILINE)
_document_id = re.compile(r"# newdoc\s+id\s*=\s*(.+)")
_numbered = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?\t")  # a word, or a contraction
_sentence = re.compile(r"^# text = (.+)$", re.MULTILINE)
_charset = re.compile(rb'"Content-Type: [^"]{1,200}charset=([\w-]+)')
_string = re.compile(r'(?:#~)?[ \t]*(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)[ \t]*)?"(.*)"[ \t]*$')
_comment = re.compile(r"(?!#~?[,:|])(?:#[.~]?[ \t])?[ \t]*(\S.*)")  # of a translator or program, or what is no string
_json_title = re.compile(r'"(?:title|subject|headline)"\s*:\s*"((?:[^"\\]|\\.)+)"')
_org_title = re.compile(r"^#\+title:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_org_hidden = re.compile(
    r"^[ \t]*(?:#\+(?!title|caption)\w+.*|#(?: .*)?|:\w[\w-]*:.*|(?:DEADLINE|SCHEDULED|CLOSED):.*)$\n?",
    re.MULTILINE | re.IGNORECASE,
)
_org_key = re.compile(r"^[ \t]*#\+(?:title|caption):[ \t]*", re.MULTILINE | re.IGNORECASE)
_org_heading = re.compile(
    r"^\*+[ \t]+(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#[A-Z]\][ \t]+)?(.*?)(?:[ \t]+:[\w:@]+:)?[ \t]*$",
    re.MULTILINE,
)
_org_tags = re.compile(r"^(?:\*+[ \t].*[ \t]:([\w@#%:]+):|#\+filetags:(.+))[ \t]*$", re.MULTILINE | re.IGNORECASE)
_org_link = re.compile(r"\[\[(?:[^\[\]]*\]\[)?([^\[\]]*)\]\]")
# Of Texinfo: what is not shown, or for others; what glyphs and accents show, by their names in roff; other commands.
_texi_hidden = re.compile(
    r"^[ \t]*@(ignore|tex|html|docbook|xml|r?macro)\b(?:(?!\n@\1\b).)*?(?:^@end \1\b[^\n]*|\Z)"
    r"|^(?:\\input |[ \t]*@(?:c|comment|node|setfilename|include|set|clear|\w*index|document\w+|end"
    r"|headings|vskip|footnotestyle|setchapternewpage)(?![\w{]))[^\n]*|@(?:anchor|image|value)\{[^{}]*\}",
    re.MULTILINE | re.DOTALL,
)
_texi_signs = {"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å"}
_texi_signs |= {"AA": "Å", "TeX": "TeX", "LaTeX": "LaTeX", "dots": "...", "atchar": "@"}
_texi_accents = {'"': ":", "=": "a-", "u": "ab", "H": 'a"', "ringaccent": "ao", "ogonek": "ho", "dotaccent": "a."}
_texi_sign = re.compile(rf"@({'|'.join(_texi_signs)})\{{\}}")
_texi_accent = re.compile(
    r"@(?:([\"'~^`,=])|(v|u|H|ringaccent|ogonek|dotaccent)(?=\{))(?:\{(?:@dotless\{)?(\w)\}{1,2}|(\w))"
)
_texi_command = re.compile(r"@(?:([@{}])|footnote\{|[ *:.!?/-]|\w+[ \t]*\{?)|[{}]")
_texi_title = re.compile(r"^@(?:settitle|title|top)[ \t]+(.+)", re.MULTILINE)
# The notices of Project Gutenberg are as long as a story, and the same in all books.
_notices = re.compile(r"^\*{3} ?(START|END) OF TH(?:E|IS) PROJECT GUTENBERG EBOOK.*$", re.MULTILINE)
_PUBLISHER = "project gutenberg"
_of_book = re.compile(r"^(?:Title|Author): *(.+)", re.MULTILINE)


def _without_notices(text: str) -> Part | None:
    """A book of Project Gutenberg; None for a text that quotes a line of it, which would lose what is around it."""
    marks = [*_notices.finditer(text)]
    if not marks or marks[0][1] != "START":
        return None
    end = marks[-1] if marks[-1][1] == "END" else None
    before, behind = text[: marks[0].start()].lower().strip(), text[end.end() :].lower() if end else ""
    told = [line.strip() for line in _of_book.findall(text, 0, marks[0].start())]
    is_head = not before or (bool(told) and _PUBLISHER in before.partition("\n")[0])
    if not is_head or (behind.strip() and _PUBLISHER not in behind):
        return None
    book = text[marks[0].end() : end.start() if end else None]
    return Part("\n".join((*told, book)), shorten(told[0]) if told else headline(book))


def plain_text(data: bytes, decode: Decode) -> Parts:
    """A text; its title is that of its front matter, its first heading, or its first line.

    Of front matter (YAML or TOML, as before the text of notes and pages) the values are text, the keys are not, nor are
    days, numbers and switches, which all notes of a year would share. A note of Joplin begins with its title, a book of
    Project Gutenberg with its title and author. Words that a line breaks are joined, and have no marks of emphasis.
    """
    part = _part_of(join_broken_words(decode(data)))
    yield part._replace(text=without_underscores(part.text), title=without_underscores(part.title or "") or None)


def _part_of(text: str) -> Part:
    book = _without_notices(text) if "PROJECT GUTENBERG EBOOK" in text else None
    if book is not None:
        return book
    below = _joplin.search(text.replace("\r\n", "\n")) if "\ntype_: " in text[-AT_END:] else None
    if below is not None:
        own, words = below.string[: below.start()], map(unescaped, _joplin_words.findall(below[1]))
        return Part("\n".join((own, *words)), shorten(own.partition("\n")[0]) or headline(own))
    note = read_note(_for_terminals.sub("", text) if "\x1b" in text or "\b" in text else text)
    return Part(note.words + note.body, note.title or headline(note.body), columns=note)


def source_code(data: bytes, decode: Decode) -> Parts:
    """The text of a program; the name of its file tells more than its first line."""
    yield Part(decode(data))


def json_text(data: bytes, decode: Decode) -> Parts:
    """JSON that holds no rows as it is written, without escapes: of "a\\nlion" nlion would be a word."""
    source = decode(data)
    title = _json_title.search(source)
    yield Part(unescaped(source), shorten(unescaped(title[1])) if title else None)


def notebook(data: bytes, decode: Decode) -> Parts:
    """The sources of the cells of a notebook; its title is the first heading. Of a canvas of Obsidian, its cards."""
    content = json.loads(decode(data))
    cells = content.get("cells") or [cell for sheet in content.get("worksheets", ()) for cell in sheet.get("cells", ())]
    cells += content.get("nodes", []) + content.get("edges", [])
    yield Unread("output{s} of notebooks", sum(len(cell.get("outputs") or ()) for cell in cells))
    sources = ["".join(next((cell[name] for name in _SAID if cell.get(name)), "")) for cell in cells]
    are_prose = [cell.get("cell_type") != "code" for cell in cells]
    sources = [without_underscores(own) if is_prose else own for is_prose, own in zip(are_prose, sources, strict=True)]
    prose = "\n\n".join(compress(sources, are_prose))
    yield Part("\n\n".join(filter(None, sources)), headline(prose) or headline("\n".join(sources)))


def org(data: bytes, decode: Decode) -> Parts:
    """An outline of Org: headings without stars, no properties, links as they read; tags are a column."""
    source = decode(data).replace("\r\n", "\n")
    named = _org_title.search(source)
    heading = _org_heading.search(source)
    text = _org_link.sub(r"\1", _org_heading.sub(r"\1", _org_key.sub("", _org_hidden.sub("", source))))
    title = named[1] if named else heading[1] if heading else None
    tags = dict.fromkeys(":".join(map("".join, _org_tags.findall(source))).replace(":", " ").split())
    title = shorten(without_underscores(title or "")) or headline(text)
    yield Part(without_underscores(text), title, columns={"tags": [*tags]})


def treebank(data: bytes, decode: Decode) -> Parts:
    """The sentences of a file of CoNLL-U as they are read, without lemmas and grammar; each `newdoc` is a document."""
    source = decode(data).replace("\r\n", "\n")
    starts = [found.start() for found in _document.finditer(source)]
    documents = [source[start:end] for start, end in pairwise((0, *starts[1:], None))]
    ids = [told[1].strip() for document in documents if (told := _document_id.search(document))]
    keys = ids if len({*ids}) == len(documents) else [str(number) for number in range(1, len(documents) + 1)]
    for key, document in zip(keys, documents, strict=True):
        sentences = (sentence for block in document.split("\n\n") if (sentence := _sentence_of(block)))
        text = "\n".join(sentences)
        yield Part(text, headline(text), key if starts else None)


def catalog(data: bytes, decode: Decode) -> Parts:
    """The messages of a catalog of gettext, each named by what is translated; without flags, places and its header."""
    for texts, said in _messages(declared(data, decode, _charset).replace("\r\n", "\n")):
        name, text = shorten(texts.get("msgid")), "\n".join(filter(None, (*texts.values(), *said)))
        if text and texts.get("msgid") != "":
            yield Part(text, name or headline(text), name)


def _messages(source: str) -> Iterator[tuple[dict[str, str], list[str]]]:
    """The texts of each message by their keywords, and what is said of it."""
    texts, said, keyword = dict[str, str](), list[str](), ""
    for line in source.split("\n"):
        string, comment = _string.match(line), _comment.match(line)
        if "msgstr" in keyword and (string[1] in ("msgctxt", "msgid") if string else comment):
            yield texts, said
            texts, said, keyword = {}, [], ""
        if string:
            keyword = string[1] or keyword
            texts[keyword] = texts.get(keyword, "") + unescaped(string[2])
        elif comment:
            said.append(comment[1])
    yield texts, said


def _sentence_of(block: str) -> str:
    """A sentence as it says itself, or its forms: a contraction stands for its parts, empty nodes are unsaid."""
    told = _sentence.search(block)
    if told is not None:
        return told[1]
    said, until = "", 0
    for columns in (line.split("\t") for line in block.splitlines() if _numbered.match(line)):
        first, _, last = columns[0].partition("-")
        if len(columns) < COLUMNS or int(first) <= until:
            continue
        until = int(last or first)
        said += columns[1] + " " * ("SpaceAfter=No" not in columns[-1])
    return said.strip()


def texinfo(data: bytes, decode: Decode) -> Parts:
    """A manual of Texinfo, without its commands, comments and entries of indexes."""
    source = _texi_hidden.sub("", decode(data).replace("\r\n", "\n"))
    named, text = _texi_title.search(source), _texi_plain(source)
    yield Part(text, shorten(_texi_plain(named[1])) if named else headline(text))


def _texi_plain(source: str) -> str:
    def accented(found: re.Match[str]) -> str:
        """A letter with its accent."""
        name = found[1] or found[2]
        return normalize("NFC", (found[3] or found[4]) + ACCENTS[_texi_accents.get(name, name)])

    source = _texi_accent.sub(accented, _texi_sign.sub(lambda found: _texi_signs[found[1]], source))
    return _texi_command.sub(lambda found: found[1] or " " * found[0].startswith(("@footnote", "@*")), source)


def latex(data: bytes, decode: Decode) -> Parts:
    """The text of a LaTeX document, without its commands; with them where the library is missing."""
    source = decode(data)
    try:
        text, title = latex_document(source)
    except ImportError:
        text, title = source, None
        yield Unread("LaTeX file{s} with commands, without pylatexenc (pip install 'setsearch[references]')", 1)
    yield Part(text, shorten(title) or headline(text))
