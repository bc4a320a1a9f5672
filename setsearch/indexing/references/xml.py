"""References in XML, with tags of text forms: EndNote's with those of refer, PubMed's with its own, EBSCO's with RIS.

Entities that a file declares are refused: they may grow without end. What is no character of XML is a blank.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tags import PUBMED, REFER, RIS, TAGS

AT_ONCE = 1 << 16  # characters
# Where is what: tags and paths. The first path of a tag that is there counts, all values of it.
ENDNOTE = """
A contributors/authors/author; E contributors/secondary-authors/author; Y contributors/tertiary-authors/author;
? contributors/subsidiary-authors/author; H contributors/translated-authors/author; T titles/title;
Q titles/translated-title; ! titles/short-title;
J periodical/full-title|titles/secondary-title|alt-periodical/full-title; B titles/secondary-title;
S titles/tertiary-title; O titles/alt-title; V volume; N number; P pages; D dates/year; 8 dates/pub-dates/date;
C pub-location; I publisher; 7 edition; @ isbn; R electronic-resource-num; M accession-num; F label;
K keywords/keyword; X abstract; Z notes; < research-notes; G language; 9 work-type; + auth-address;
U urls/related-urls/url; > urls/pdf-urls/url; W remote-database-provider; ~ remote-database-name; 1 custom1;
2 custom2; 3 custom3; 4 custom4; # custom5; $ custom6; ] custom7; 6 num-vols; & section; ( orig-pub;
) reprint-edition; * reviewed-item; ^ caption; L call-num; [ access-date; = modified-date
"""
MEDLINE = """
PMID PMID; TI Article/ArticleTitle|ArticleTitle|Book/BookTitle; TT Article/VernacularTitle|VernacularTitle;
LA Article/Language|Language; JT Article/Journal/Title;
TA MedlineJournalInfo/MedlineTA|Article/Journal/ISOAbbreviation; BTI Book/BookTitle;
PB Book/Publisher/PublisherName; IS Article/Journal/ISSN; VI Article/Journal/JournalIssue/Volume;
IP Article/Journal/JournalIssue/Issue; PG Article/Pagination/MedlinePgn|Pagination/MedlinePgn;
PT Article/PublicationTypeList/PublicationType|PublicationType; OT KeywordList/Keyword;
RN ChemicalList/Chemical/NameOfSubstance; PL MedlineJournalInfo/Country; JID MedlineJournalInfo/NlmUniqueID;
SB CitationSubset; CI Article/Abstract/CopyrightInformation; COIS CoiStatement
"""
EBSCO = """
TI .//tig/atl|.//btl; T2 .//jtl; AU .//aug/au; AB .//ab; KW .//su|.//subj; VL .//vid; IS .//iid; SP .//ppf; PB .//pub;
SN .//issn; DO .//ui[@type='doi']; PM .//ui[@type='pmid']; LA .//language; M3 .//doctype; AD .//affil; UR plink
"""
_not_xml = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def read_xml(text: str) -> Iterator[Reference]:
    """The records of a text, in order. Raises ValueError after those before the place where it is broken."""
    refuse_entities(text)
    parser: XMLPullParser[Any] = XMLPullParser(("end",))
    text = without_controls(text).lstrip()
    try:
        for start in range(0, len(text), AT_ONCE):
            parser.feed(text[start : start + AT_ONCE])
            for event in parser.read_events():
                element: Element = tuple(event)[1]
                if element.tag in RECORDS:
                    yield RECORDS[element.tag](element)
                    element.clear()
        parser.close()
    except ParseError as error:
        raise ValueError(f"broken XML ({error})") from error


def refuse_entities(text: str) -> None:
    """Raise ValueError if a text declares entities."""
    if "<!ENTITY" in text:
        raise ValueError("it declares entities, which are not read; write it without them")


def without_controls(text: str) -> str:
    """A text with blanks for what is no character of XML."""
    return _not_xml.sub(" ", text)


def _endnote(record: Element) -> Reference:
    kind = record.find("ref-type")
    fields = [("0", kind.get("name", "Generic"))] if kind is not None else []
    fields += _fields(record, ENDNOTE)
    if any(tag == "J" for tag, _ in fields):
        journal = next(value for tag, value in fields if tag == "J")
        fields = [own for own in fields if own != ("B", journal)]
    is_named = any(tag in TAGS[REFER]["key"].names for tag, _ in fields)
    return Reference(REFER, tuple(fields), key="" if is_named else (record.findtext("rec-number") or "").strip())


def _ebsco(record: Element) -> Reference:
    header, date = record.find("header"), record.find(".//pubinfo/dt")
    fields = [("TY", "GEN" if record.find(".//jtl") is None else "JOUR"), *_fields(record, EBSCO)]
    fields += [] if header is None else [("AN", header.get("uiTerm", "")), ("DB", header.get("longDbName", ""))]
    fields += [] if date is None else [("PY", date.get("year", ""))]
    return Reference(RIS, tuple(field for field in fields if field[1]))


def _pubmed(record: Element) -> Reference:
    """A record of PubMed with the tags of its text form."""
    own = record.find("MedlineCitation")
    own = own if own is not None else record.find("BookDocument")
    own = own if own is not None else record
    fields = _fields(own, MEDLINE)
    for place, tag in (("Article/Abstract", "AB"), ("Abstract", "AB"), ("OtherAbstract", "OAB")):
        parts = [(part.get("Label"), said(part)) for whole in own.findall(place) for part in whole.iter("AbstractText")]
        abstract = "\n".join(f"{label}: {text}" if label else text for label, text in parts)
        fields += [(tag, abstract)] if abstract else []
    for author in own.iter("Author"):
        family, given, initials, group = (
            author.findtext(name) or "" for name in ("LastName", "ForeName", "Initials", "CollectiveName")
        )
        fields += [("FAU", ", ".join(filter(None, (family, given or initials))))] if family else []
        fields += [("AU", f"{family} {initials}".strip())] if family else []
        fields += [("CN", group)] if group else []
        fields += [("AUID", f"{name.get('Source')}: {said(name)}") for name in author.iter("Identifier")]
        fields += [("AD", said(place)) for place in author.iter("Affiliation")]
    date = next(own.iter("PubDate"), None)
    date = date if date is not None else next(own.iter("ArticleDate"), None)
    if date is not None:
        fields.append(("DP", " ".join(filter(None, map(said, date)))))
    for name, tag in (("MeshHeading", "MH"), ("Grant", "GR")):
        fields += [(tag, "/".join(map(said, element))) for element in own.iter(name)]
    fields += [("LID", f"{said(id)} [{id.get('EIdType')}]") for id in own.iter("ELocationID")]
    ids = record.findall("PubmedData/ArticleIdList/ArticleId") + record.findall("BookDocument/ArticleIdList/ArticleId")
    fields += [("AID", f"{said(id)} [{id.get('IdType')}]") for id in ids if id.get("IdType") in ("doi", "pii")]
    fields += [("PMC", said(id)) for id in ids if id.get("IdType") == "pmc"]
    return Reference(PUBMED, tuple(field for field in fields if field[1]))


def _fields(record: Element, table: str) -> list[tuple[str, str]]:
    """What a table of tags and paths finds in a record."""
    found = []
    for tag, _, paths in (own.strip().partition(" ") for own in table.split(";")):
        each = ([*map(said, record.findall(path))] for path in paths.split("|"))
        found += [(tag, value) for value in next(filter(any, each), []) if value]
    return found


RECORDS: Mapping[str, Callable[[Element], Reference]] = {
    "record": _endnote,
    "rec": _ebsco,
    **dict.fromkeys(("PubmedArticle", "PubmedBookArticle"), _pubmed),
}


def said(element: Element) -> str:
    """All text in an element, with its lines."""
    lines = "".join(element.itertext()).replace("\r", "\n").split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
