"""Files of references: each record is a document, and is kept as it came."""

from collections.abc import Iterable
from functools import partial

from setsearch.indexing.formats.part import Decode, Part, Parts
from setsearch.indexing.references.bibtex import read_bibtex
from setsearch.indexing.references.reference import PUBMED, REFER, RIS, WOS, Reference
from setsearch.indexing.references.tagged import read_tagged
from setsearch.text.headline import headline, shorten


def tagged(data: bytes, decode: Decode, form: str) -> Parts:
    """References of a form with tags."""
    yield from _parts(read_tagged(decode(data), form))


def bibtex(data: bytes, decode: Decode) -> Parts:
    """References of BibTeX."""
    yield from _parts(read_bibtex(decode(data)))


ris, pubmed, wos, refer = (partial(tagged, form=form) for form in (RIS, PUBMED, WOS, REFER))


def _parts(references: Iterable[Reference]) -> Parts:
    for reference in references:
        text = reference.text()
        yield Part(text, shorten(reference.first("title")) or headline(text), reference.own_key or None, reference)
