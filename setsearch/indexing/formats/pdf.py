"""PDF files: the text of their pages."""

import io
import logging
import re
from collections import Counter

from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.indexing.libraries import load_library
from setsearch.text.headline import headline, shorten

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what it would print, an error tells
_broken_word = re.compile(r"(\w+)[-\u2010]\n[ \t]*(?=[^\W\d_])(\w+)")
_word = re.compile(r"\w+(?:[-\u2010]\w+)*")
_compound = re.compile(r"[^\W\d_]+-[^\W\d_]+")
COMMON, SHORTEST = 200, 2  # words of a text for each of its compounds; letters of half a compound
# What programs leave in the place of a title.
_no_title = re.compile(
    r"(?i)\s*(?:untitled\b.*|no title|title|unknown|document ?\d*|presentation ?\d*|slide ?\d*|powerpoint presentation"
    r"|microsoft (?:word|powerpoint|excel|office)\b.*|.*\.(?:docx?|pptx?|xlsx?|dvi|tex|pdf|indd|qxd|odt|rtf|ps|eps|fm)"
    r"|[\W\d_]*)\s*"
)


def pdf(data: bytes, decode: Decode) -> Parts:
    """The text of the pages; words that are broken at the end of a line are joined."""
    pypdf = load_library("pypdf", "PDF files", "pdf")
    reader = pypdf.PdfReader(io.BytesIO(data))
    pages = [page.extract_text() for page in reader.pages]
    empty = sum(not page.strip() for page in pages)
    if empty:
        yield Unread("page{s} without text (picture{s}?)", empty)
    text = join_broken_words("\n".join(pages))
    title = reader.metadata.title if reader.metadata else None
    is_title = isinstance(title, str) and _no_title.fullmatch(title) is None
    yield Part(text, (shorten(str(title)) if is_title else None) or headline(text))


def join_broken_words(text: str) -> str:
    """A text in which words that a hyphen breaks at the end of a line, to go on in lower case, are whole.

    A compound keeps its hyphen if the text has it elsewhere, as well-known; or, in a text that has many compounds, if
    it has both halves elsewhere, and the whole nowhere.
    """
    counts: Counter[str] = Counter()

    def joined(match: re.Match[str]) -> str:
        """The word, whole."""
        first, rest = match.groups()
        if not rest[0].islower():
            return match[0]
        if not counts:
            counts.update(_word.findall(_broken_word.sub(" ", text.lower())))
            compounds = sum(number for word, number in counts.items() if _compound.fullmatch(word))
            counts[""] = counts.total() <= compounds * COMMON
        compound, plain = f"{first}-{rest}".lower(), f"{first}{rest}".lower()
        is_known = compound in counts or (
            counts[""] and min(len(first), len(rest)) >= SHORTEST and {first.lower(), rest} <= counts.keys()
        )
        return f"{first}-{rest}\n" if is_known and plain not in counts else f"{first}{rest}\n"

    return _broken_word.sub(joined, text)
