"""References in RDF of Zotero, with the tags of RIS.

A child of the root that has an `itemType` is a record; what it is part of, a journal, stands in it, or anywhere in the
file by name, as do its notes; a note by itself is a record that has an abstract only.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, fromstring

from setsearch.indexing.references.convert import TYPES, ZOTERO
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tags import RIS
from setsearch.indexing.references.xml import refuse_entities, said, without_controls

_RDF, _DC = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}", "{http://purl.org/dc/elements/1.1/}"
_BIB, _FOAF = "{http://purl.org/net/biblio#}", "{http://xmlns.com/foaf/0.1/}"
_TERMS, _PRISM = "{http://purl.org/dc/terms/}", "{http://prismstandard.org/namespaces/1.2/basic/}"
_Z = "{http://www.zotero.org/namespaces/export#}"
_NO_RECORDS = ("attachment", "annotation")
_PEOPLE = {f"{_BIB}authors": "AU", f"{_BIB}editors": "A2", f"{_Z}inventors": "AU"}
_TAGS = {
    **{f"{_DC}title": "TI", f"{_TERMS}abstract": "AB", f"{_DC}date": "PY", f"{_DC}subject": "KW"},
    **{f"{_Z}language": "LA", f"{_DC}publisher": "PB", f"{_DC}description": "N1", f"{_BIB}pages": "SP"},
    **{f"{_Z}shortTitle": "ST", f"{_Z}libraryCatalog": "DP", f"{_RDF}value": "AB"},  # of a note
}
_OF_OTHERS = {  # of what a record is part of, and of its notes
    f"{_TERMS}isPartOf": {f"{_DC}title": "T2", f"{_TERMS}alternative": "J2"},
    f"{_TERMS}isReferencedBy": {f"{_RDF}value": "N1"},
}
_OF_BOTH = {f"{_PRISM}volume": "VL", f"{_PRISM}number": "IS"}
_NUMBERS = {"DOI": "DO", "ISSN": "SN", "ISBN": "SN"}  # what begins an identifier


def read_rdf(text: str) -> Iterator[Reference]:
    """The records of a text. Raises ValueError if it is broken."""
    refuse_entities(text)
    try:
        root = fromstring(without_controls(text).lstrip().encode())
    except ParseError as error:
        raise ValueError(f"broken XML ({error})") from error
    named = {element.get(f"{_RDF}about"): element for element in root}
    for element in root:
        kind = element.findtext(f"{_Z}itemType")
        if kind is not None and kind not in _NO_RECORDS:
            of_ris = next((row[0] for row in TYPES if kind and row[ZOTERO] == kind), TYPES[-1][0])
            yield Reference(RIS, (("TY", of_ris), *_fields(element, named)))


def _fields(record: Element, named: dict[str | None, Element]) -> Iterator[tuple[str, str]]:
    yield from _of(record, _TAGS)
    for part in (own for own in record if own.tag in _OF_OTHERS):
        other = named.get(part.get(f"{_RDF}resource"), next(iter(part), None))
        if other is not None:
            yield from _of(other, _OF_OTHERS[part.tag])


def _of(element: Element, tags: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The fields that an element and what it holds say, in their order."""
    for own in element:
        tag, value = (tags | _OF_BOTH).get(own.tag), said(own)
        if own.tag in _PEOPLE:
            for person in own.iter(f"{_FOAF}Person"):
                names = (person.findtext(f"{_FOAF}{name}") for name in ("surname", "givenName"))
                yield _PEOPLE[own.tag], ", ".join(filter(None, names))
        elif own.tag == f"{_DC}identifier":
            kind, _, number = value.partition(" ")
            if kind in _NUMBERS:
                yield _NUMBERS[kind], number
            elif own.find(f"{_TERMS}URI") is not None:
                yield "UR", value
        elif tag and value and own.find(f"{_TERMS}LCC") is None:  # a call number is no subject
            yield tag, value
