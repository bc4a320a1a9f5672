"""Files of references: each record is a document, and is kept as it came."""

from collections.abc import Callable, Iterable
from functools import partial

from setsearch.indexing.formats.part import Decode, Part, Parts, declared
from setsearch.indexing.references.bibtex import read_bibtex
from setsearch.indexing.references.rdf import read_rdf
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tables import read_wos_table
from setsearch.indexing.references.tagged import read_cochrane, read_tagged
from setsearch.indexing.references.tags import PUBMED, REFER, RIS, WOS
from setsearch.indexing.references.xml import read_xml
from setsearch.text.headline import headline, shorten

AS_SIGN = 80  # characters of a text that tell that there is one: it is made again when it is written


def records(data: bytes, decode: Decode, read: Callable[[str], Iterable[Reference]]) -> Parts:
    """References of a form, as a function reads them from a text."""
    for reference in read(declared(data, decode)):
        text = reference.text()
        title = shorten(reference.first("title")) or headline(text)
        reference.forget()
        yield Part(text[:AS_SIGN], title, reference.own_key or None, reference)


ris, pubmed, wos, refer = (partial(records, read=partial(read_tagged, name=form)) for form in (RIS, PUBMED, WOS, REFER))
bibtex, wos_table, xml, rdf, cochrane = (
    partial(records, read=read) for read in (read_bibtex, read_wos_table, read_xml, read_rdf, read_cochrane)
)
