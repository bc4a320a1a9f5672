"""PDF files: the text of their pages."""

import io
import logging
import re

from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.indexing.libraries import load_library
from setsearch.text.headline import headline, shorten

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what it would print, an error tells
_broken_word = re.compile(r"(\w+)[-\u2010]\n[ \t]*(?=[^\W\d_])(\w+)")
_word = re.compile(r"\w+(?:[-\u2010]\w+)*")
# What programs leave in the place of a title.
_no_title = re.compile(
    r"(?i)\s*(?:untitled\b.*|no title|title|unknown|document ?\d*|presentation ?\d*|slide ?\d*|powerpoint presentation"
    r"|microsoft (?:word|powerpoint|excel|office)\b.*|.*\.(?:docx?|pptx?|xlsx?|dvi|tex|pdf|indd|qxd|odt|rtf|ps|eps|fm)"
    r"|[\W\d_]*)\s*"
)


def pdf(data: bytes, decode: Decode) -> Parts:
    """The text of the pages; words that are broken at the end of a line are joined."""
    pypdf = load_library("pypdf", "PDF files")
    reader = pypdf.PdfReader(io.BytesIO(data))
    pages = [page.extract_text() for page in reader.pages]
    empty = sum(not page.strip() for page in pages)
    if empty:
        yield Unread("page without text (a picture?)" if empty == 1 else "pages without text (pictures?)", empty)
    text = join_broken_words("\n".join(pages))
    title = reader.metadata.title if reader.metadata else None
    is_title = isinstance(title, str) and _no_title.fullmatch(title) is None
    yield Part(text, (shorten(str(title)) if is_title else None) or headline(text))


def join_broken_words(text: str) -> str:
    """A text in which words that a hyphen breaks at the end of a line, to go on in lower case, are whole.

    A compound that the text has elsewhere in one line, as well-known, keeps its hyphen.
    """
    whole: set[str] | None = None

    def joined(match: re.Match[str]) -> str:
        """The word, whole."""
        nonlocal whole
        first, rest = match.groups()
        if not rest[0].islower():
            return match[0]
        if whole is None:
            whole = set(_word.findall(text.lower()))
        compound, plain = f"{first}-{rest}".lower(), f"{first}{rest}".lower()
        return f"{first}-{rest}\n" if compound in whole and plain not in whole else f"{first}{rest}\n"

    return _broken_word.sub(joined, text)
