"""What the fields of references are called.

A *form* is a format of files: ris, pubmed, wos, refer, bibtex, or a table. A *role* is what a field says: title,
author, doi. The table of a form has the tags of each role as the exporters of this form write them, the best one first.
"""

import re
from collections.abc import Callable, Mapping

RIS, PUBMED, WOS, REFER, BIBTEX, TABLE = FORMS = "ris", "pubmed", "wos", "refer", "bibtex", "table"
# The tags of each role. All values of a role with + count, else those of the first tag that has some.
TAGS: Mapping[str, Mapping[str, str]] = {
    RIS: {
        "title": "TI T1 CT BT ST",
        "other_title": "+TT",
        "abstract": "AB N2",
        "keyword": "+KW",
        "author": "AU A1",
        "year": "PY Y1 DA",
        "journal": "T2 JF JO JA J2 J1",
        "volume": "VL",
        "issue": "IS",
        "first_page": "SP",
        "last_page": "EP",
        "doi": "DO DI",
        "pmid": "PM",
        "key": "ID AN U1",
        "url": "UR L2 LK",
        "issn": "SN",
        "language": "LA",
        "publisher": "PB",
    },
    PUBMED: {
        "title": "TI BTI CTI",
        "other_title": "+TT",
        "abstract": "AB",
        "other_abstract": "+OAB",
        "keyword": "+OT MH",
        "author": "FAU AU",
        "year": "DP DEP",
        "journal": "JT TA",
        "volume": "VI",
        "issue": "IP",
        "first_page": "PG",
        "doi": "LID AID SO",
        "pmid": "PMID",
        "key": "PMID OID",
        "issn": "IS",
        "language": "LA",
        "publisher": "PB",
    },
    WOS: {
        "title": "TI",
        "other_title": "+FT",
        "abstract": "AB",
        "keyword": "+DE ID",
        "author": "AF AU",
        "year": "PY EY",
        "journal": "SO J9 JI",
        "volume": "VL",
        "issue": "IS",
        "first_page": "BP",
        "last_page": "EP",
        "doi": "DI",
        "pmid": "PM",
        "key": "UT",
        "issn": "SN",
        "language": "LA",
        "publisher": "PU",
    },
    REFER: {
        "title": "T",
        "other_title": "+Q O",
        "abstract": "X",
        "keyword": "+K",
        "author": "A",
        "year": "D",
        "journal": "J B",
        "volume": "V",
        "issue": "N",
        "first_page": "P",
        "doi": "R",
        "key": "F L M",
        "url": "U",
        "issn": "@",
        "language": "G",
        "publisher": "I",
    },
    BIBTEX: {
        "title": "title",
        "other_title": "+subtitle titleaddon",
        "abstract": "abstract annote",
        "keyword": "+keywords keyword mesh author_keywords",
        "author": "author",
        "year": "year date",
        "journal": "journal journaltitle booktitle",
        "volume": "volume",
        "issue": "number issue",
        "first_page": "pages",
        "doi": "doi",
        "pmid": "pmid pubmed_id",
        "url": "url",
        "issn": "issn",
        "language": "language langid",
        "publisher": "publisher",
    },
    TABLE: {
        "title": "title articletitle documenttitle itemtitle primarytitle originaltitle ti",
        "other_title": "+translatedtitle titletranslated",
        "abstract": "abstract abstractnote abstracttext originalabstract ab abstractinvertedindex",
        "keyword": "+keywords keyword authorkeywords indexkeywords keywordsplus meshterms mesh meshheadings manualtags"
        " emtreedrugindexterms emtreemedicalindexterms emtreedrugindextermsmajorfocus"
        " emtreemedicalindextermsmajorfocus keywordlistkeyword",
        "author": "authors author authornames authorsfull au creators authorships authorstring firstauthor",
        "year": "year publicationyear pubyear publishedyear yearofpublication py issued publicationdate date published",
        "journal": "sourcetitle publicationtitle journalbook journal journalname containertitle journaltitle"
        " secondarytitle journalinfojournaltitle source publicationname publication",
        "volume": "volume vol vl",
        "issue": "issue number issuenumber",
        "first_page": "pagestart startpage firstpage pages page",
        "last_page": "pageend endpage lastpage",
        "doi": "doi digitalobjectidentifier articledoi itemdoi externalidsdoi idsdoi",
        "pmid": "pmid pubmedid medlinepmid externalidspubmed idspmid",
        "key": "key eid uniquewosid utuniquewosid pui accessionnumber covidence publicationid paperid id item",
        "url": "url urls link links doilink",
        "issn": "issn issnisbn",
        "language": "language languageoforiginaldocument articlelanguage",
        "publisher": "publisher",
    },
}
ROLES = {  # the tags of each role, and whether all their values count
    form: {role: (tags.startswith("+"), tuple(tags.removeprefix("+").split())) for role, tags in own.items()}
    for form, own in TAGS.items()
}
_not_of_name = re.compile(r"[\W_]+")


def plain_column(name: str) -> str:
    """The name of a column of a table as its tags have it: letters and digits, in lower case."""
    return _not_of_name.sub("", name.lower())


def plain_tag(form: str) -> Callable[[str], str]:
    """What gives the tag of a field as the table of a form has it."""
    return {BIBTEX: str.lower, TABLE: plain_column}.get(form, str)
