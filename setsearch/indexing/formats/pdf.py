"""PDF files: the text of their pages."""

import io
import logging
import re

from setsearch.indexing.formats.broken_words import join_broken_words
from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.indexing.libraries import load_library
from setsearch.text.headline import headline, shorten

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what it would print, an error tells
# What programs leave in the place of a title.
_no_title = re.compile(
    r"(?i)\s*(?:untitled\b.*|no title|title|unknown|document ?\d*|presentation ?\d*|slide ?\d*|powerpoint presentation"
    r"|microsoft (?:word|powerpoint|excel|office)\b.*|.*\.(?:docx?|pptx?|xlsx?|dvi|tex|pdf|indd|qxd|odt|rtf|ps|eps|fm)"
    r"|[\W\d_]*)\s*"
)


def pdf(data: bytes, decode: Decode) -> Parts:
    """The text of the pages; words that are broken at the end of a line are joined."""
    pypdf = load_library("pypdf", "PDF files", "pdf")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
    except pypdf.errors.FileNotDecryptedError as error:
        raise ValueError("it opens with a password; save it without one") from error
    except pypdf.errors.PyPdfError as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"it is broken ({problem:.200}); fetch it again, or print it to a new PDF") from error
    empty = sum(not page.strip() for page in pages)
    if empty:
        yield Unread("page{s} without text (picture{s}?)", empty)
    text = join_broken_words("\n".join(pages))
    title = reader.metadata.title if reader.metadata else None
    is_title = isinstance(title, str) and _no_title.fullmatch(title) is None
    yield Part(text, (shorten(str(title)) if is_title else None) or headline(text))
