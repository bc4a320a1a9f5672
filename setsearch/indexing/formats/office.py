"""Documents of office programs and electronic books, by the libraries that read them."""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from html import unescape

from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.indexing.libraries import load_library
from setsearch.text.headline import headline

OFFICE, OPEN_DOCUMENT = (".docx", ".pptx", ".xlsx", ".xls", ".epub"), (".odt", ".ods", ".odp")
ZIP, RTF = b"PK\x03\x04", b"{\\rtf"  # how archives and texts of RTF begin
_CIPHERS = "META-INF/encryption.xml"  # what is encrypted of a book
_encrypted_page = re.compile(rb"CipherReference\s[^>]{0,200}\.x?html?[\"']", re.IGNORECASE)
# What hides notes, boxes, headers and footers of RTF; of boxes, their form then shows.
_hidden = re.compile(r"(?<!\\)(?:\\\*)?\\(?:footnote|annotation|shp(?:inst|txt)?)\b")
_margin = re.compile(r"(?<!\\)\\(?:head|foot)er[lrf]?\b")
_form_of_box = re.compile(r"\{\\sp\b")
_picture = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[\[\d+\]\]\(#(?:foot|end)note-[^)]*\)")  # or the number of a note
# Parts of Word, Excel and PowerPoint that their text has not, and those of which a library may not know all: fields,
# boxes, charts. Where paragraphs of these end, and their runs; what stands between words, and what was moved elsewhere.
_beside = re.compile(
    r"word/(?:header|footer)\d*\.xml|(?:word|xl|ppt)/(?:(?:\w+/)?\w*[cC]omment\w*|diagrams/data\d*)\.xml"
)
_known_in_part = re.compile(
    r"word/(?:document|footnotes|endnotes)\.xml|ppt/(?:slides/slide|notesSlides/notesSlide)\d*\.xml"
    r"|(?:word|xl|ppt)/(?:charts/chart|drawings/drawing)\w*\.xml"
)
_end = re.compile(r"</(?:[wa]:p|p:text|comment|threadedComment|c:pt)>")
_run = re.compile(r"<(?:\w+:)?(?:t|text|v)(?:\s[^<>]*)?>([^<]*)")
_blank = re.compile(r"<(?:[wa]:(?:br|tab|cr)|text:(?:tab|s|line-break)|/w:rt|/m:r)(?:\s[^<>]*)?/?>")
_moved = re.compile(r"<w:moveFrom\s(?:(?!<w:moveFrom\s).)*?</w:moveFrom>", re.DOTALL)
# Of OpenDocument: documents within one, and where headers and footers are.
_object, _styles, _tag = re.compile(r"[^/]+/content\.xml"), re.compile(r"styles\.xml"), re.compile(r"<[^<>]*>")
_margin_of_page = re.compile(
    r"<style:(?:header|footer)(?:-left|-first)?(?:\s[^<>]*)?>((?:(?!</?style:).)*)</style:(?:header|footer)", re.DOTALL
)
_word = re.compile(r"\b\w*[^\W\d_]{2}\w*")
# Of Excel: who wrote a comment. One of a thread is there twice, once for older versions, with a notice, by tc={ID}.
_author = re.compile(r"<author>([^<]*)")
_comment = re.compile(r"<comment\s[^<>]*authorId=\"(\d+)\".*?</comment>", re.DOTALL)
_link = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_note_number = re.compile(r"(?<=\S)(?=\[[\d*]{1,4}\]\([^)\s#]*#)")  # of a book, behind a word
# Of Markdown, within words too; and what escapes a sign that is none.
_marks = re.compile(r"\\([^a-zA-Z0-9\s])|\*+|`+|~~|</?u>")
# What stands first of a book, its labels beside what tells of it, and those of slides.
_labels = {
    ".epub": r"^\*\*(?:(?:Language|Publisher|Date|Identifier):\*\* .*\n?|(?:Title|Authors|Description):)",
    ".pptx": r"^(?:<!-- Slide number: \d+ -->|### Notes:)$\n?",
}
_no_value = re.compile(rb"(?:</f>|<f(?:\s[^<>]*)?/>)\s*(?:(?:<v\s*/>|<v></v>)\s*)?</c>")
_end_of_comment = re.compile(r"</(?:comment|threadedComment)>")
# How the library writes what ends a line in a cell; where a cell has this itself, as a path may, nobody knows.
_cells, _ends_of_lines = re.compile(r"xl/(?:sharedStrings|worksheets/\w+)\.xml"), ("\\n", "\\r", "\\t")
_blank_cells = re.compile(r"(?:\bNa[NT]\b|\bUnnamed: \d+\b|\|[\s:|-]*\|)")


def office(data: bytes, decode: Decode, ending: str) -> Parts:
    """A document of Word, PowerPoint, Excel, or an EPUB."""
    markitdown = load_library("markitdown", f"{ending} files", "office")
    _require_whole(data)
    told = markitdown.StreamInfo(extension=ending)
    found = markitdown.MarkItDown(enable_plugins=False).convert_stream(io.BytesIO(data), stream_info=told)
    text = _link.sub(r"\1", _note_number.sub(" ", _picture.sub("", found.markdown)))
    text = re.sub(_labels[ending], "", text, flags=re.MULTILINE) if ending in _labels else text
    text = _marks.sub(r"\1", text) if ending != ".pptx" else text  # whose text is no Markdown
    if ending.startswith(".xls"):
        cells = _parts(data, decode, _cells)
        ends = [own for own in _ends_of_lines if not any(own in part for part in cells)]
        text = reduce(lambda whole, own: whole.replace(own, " "), ends, _blank_cells.sub(" ", text))
    beside = [*dict.fromkeys(_paragraphs(_parts(data, decode, _beside)))]  # a header once
    lost = _unknown_words("\n".join((text, *beside)), _paragraphs(_parts(data, decode, _known_in_part)))
    yield Part("\n".join(filter(None, [text, *beside, *lost])), found.title or headline(text))
    yield from without_values(data)


def without_values(data: bytes) -> Iterator[Unread]:
    """How many formulas of Excel have no value: programs that are no spreadsheets write them so."""
    if data.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sheets = (archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/sheet"))
            number = sum(len(_no_value.findall(sheet)) for sheet in sheets)
        yield Unread("formula{s} without a value (open and save them in a spreadsheet)", number)


def comments(data: bytes) -> int:
    """How many comments the cells of a workbook of Excel have."""
    found = _parts(data, partial(bytes.decode, errors="replace"), re.compile(r"xl/(?:\w+/)?\w*[cC]omment\w*\.xml"))
    return sum(len(_end_of_comment.findall(part)) for part in found)


def _parts(data: bytes, decode: Decode, names: re.Pattern[str]) -> list[str]:
    """Parts of a document by their names."""
    if not data.startswith(ZIP):
        return []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = {name: decode(archive.read(name)) for name in archive.namelist() if names.fullmatch(name)}
    has_threads = any(name.startswith("xl/threadedComments/") for name in found)
    return [*map(_without_copies, found.values())] if has_threads else [*found.values()]


def _paragraphs(parts: Iterable[str]) -> Iterable[str]:
    """The texts of paragraphs, of which runs may part a word."""
    paragraphs = _end.split(_blank.sub("<t> </t>", _moved.sub("", "</w:p>".join(parts))))
    return ("".join(map(unescape, _run.findall(own))) for own in paragraphs)


def _unknown_words(text: str, paragraphs: Iterable[str]) -> Iterable[str]:
    """The words of paragraphs that are not in a text; where words have no blanks between, what is within others is."""
    known = {*_word.findall(text)}
    for own in paragraphs:
        words = [word for word in _word.findall(own) if word not in known and (word.isascii() or word not in text)]
        known.update(words)
        yield " ".join(words)


def _without_copies(part: str) -> str:
    """Comments of Excel without those that threads have, too."""
    copies = {str(number) for number, name in enumerate(_author.findall(part)) if name.startswith("tc=")}
    return _comment.sub(lambda own: "" if own[1] in copies else own[0], part) if copies else part


def open_document(data: bytes, decode: Decode) -> Parts:
    """A text, table, presentation or drawing of OpenDocument, with headers and footers, each line once."""
    odfdo = load_library("odfdo", "OpenDocument files", "office")
    _require_whole(data)
    document = odfdo.Document(io.BytesIO(data))
    body = document.body
    paragraphs = body.get_elements("(descendant::text:p | descendant::text:h)[not(ancestor::text:tracked-changes)]")
    within = "descendant::text:note | descendant::office:annotation | descendant::text:p//draw:text-box"
    for own in body.get_elements(within):
        own.delete()  # it stands within a word, and its paragraphs are among the others
    text = "\n".join(str(own.inner_text) for own in paragraphs).strip()
    objects = (_tag.sub(" ", own) for own in _parts(data, decode, _object))  # charts and formulas
    margins = (own for part in _parts(data, decode, _styles) for own in _margin_of_page.findall(_blank.sub(" ", part)))
    lines = dict.fromkeys(_tag.sub("", own).strip() for margin in margins for own in margin.split("</text:p>"))
    title = document.meta.title or headline(text)
    yield Part("\n".join(filter(None, (text, *_unknown_words(text, objects), *lines))), title)


def rtf(data: bytes, decode: Decode) -> Parts:
    """A text of RTF, with its notes, comments, boxes, headers and footers; it names the encoding of its letters."""
    striprtf = load_library("striprtf.striprtf", ".rtf files", "office")
    source = _form_of_box.sub(r"{\\*\\sp", _hidden.sub(r"\\tab", data.decode("cp1252", "replace")))
    shown = _margin.sub(r"\\tab", source)
    text, *others = (striprtf.rtf_to_text(own, errors="replace").strip() for own in dict.fromkeys((source, shown)))
    yield Part(others[0] if others else text, headline(text))


def _require_whole(data: bytes) -> None:
    """Raise ValueError for an archive without its end, which libraries take for a text if it is short.

    Also for a book whose chapters are encrypted, which would be words without a sense; its fonts may be.
    """
    if data.startswith(ZIP) and not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("its archive has no end; the file may have been cut off")
    if data.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if _CIPHERS in archive.namelist() and _encrypted_page.search(archive.read(_CIPHERS)):
                raise ValueError("its chapters are encrypted; get a copy that is not")


FORMATS: dict[str, Callable[[bytes, Decode], Parts]] = {
    **{ending: partial(office, ending=ending) for ending in OFFICE},
    **dict.fromkeys(OPEN_DOCUMENT, open_document),
    ".rtf": rtf,
}
_MEMBERS = {"word/": ".docx", "ppt/": ".pptx", "xl/": ".xlsx", "META-INF/container.xml": ".epub"}


def office_ending(data: bytes) -> str | None:
    """The ending that suits an archive, by what is in it; None for another archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            kind = archive.read("mimetype").decode("ascii", "replace") if "mimetype" in names else ""
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return None
    if "opendocument" in kind:
        return ".ods" if "spreadsheet" in kind else ".odt"  # drawings and templates, too
    return next((ending for start, ending in _MEMBERS.items() if any(name.startswith(start) for name in names)), None)
