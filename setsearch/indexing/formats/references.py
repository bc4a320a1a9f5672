"""Files of references: each record is a document, and is kept as it came."""

from collections.abc import Iterable
from functools import partial

from setsearch.indexing.formats.part import Decode, Part, Parts, declared
from setsearch.indexing.references.bibtex import read_bibtex
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tables import read_wos_table
from setsearch.indexing.references.tagged import read_tagged
from setsearch.indexing.references.tags import PUBMED, REFER, RIS, WOS
from setsearch.indexing.references.xml import read_xml
from setsearch.text.headline import headline, shorten

AS_SIGN = 80  # characters of a text that tell that there is one: it is made again when it is written


def tagged(data: bytes, decode: Decode, form: str) -> Parts:
    """References of a form with tags."""
    yield from _parts(read_tagged(decode(data), form))


def bibtex(data: bytes, decode: Decode) -> Parts:
    """References of BibTeX."""
    yield from _parts(read_bibtex(decode(data)))


def wos_table(data: bytes, decode: Decode) -> Parts:
    """References of Web of Science in columns."""
    yield from _parts(read_wos_table(decode(data)))


def xml(data: bytes, decode: Decode) -> Parts:
    """References of EndNote and PubMed in XML."""
    yield from _parts(read_xml(declared(data, decode)))


ris, pubmed, wos, refer = (partial(tagged, form=form) for form in (RIS, PUBMED, WOS, REFER))


def _parts(references: Iterable[Reference]) -> Parts:
    for reference in references:
        text = reference.text()
        title = shorten(reference.first("title")) or headline(text)
        reference.forget()
        yield Part(text[:AS_SIGN], title, reference.own_key or None, reference)
