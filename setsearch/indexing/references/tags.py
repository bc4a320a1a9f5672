"""What the fields of references are called.

A *form* is a format of files: ris, pubmed, wos, refer, bibtex, or a table. A *role* is what a field says: title,
author, doi. The table of a form has the tags of each role as the exporters of this form write them, the best one first.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

RIS, PUBMED, WOS, REFER, BIBTEX, TABLE = FORMS = "ris", "pubmed", "wos", "refer", "bibtex", "table"
# The tags of each role. All values of a role with + count, else those of the first tag that has some.
_OF_FILES = """
                 ris                 pubmed       wos        refer   bibtex
title          | TI T1 CT BT ST    | TI BTI CTI | TI       | T     | title
other_title    | +TT               | +TT        | +FT      | +Q    | +subtitle titleaddon
abstract       | AB N2             | AB         | AB       | X     | abstract annote
other_abstract |                   | +OAB       |          |       |
keyword        | +KW               | +OT MH     | +DE ID   | +K    | +keywords keyword mesh author_keywords
author         | AU A1             | FAU AU     | AF AU    | A     | author
year           | PY Y1 DA          | DP DEP     | PY EY    | D     | year date
journal        | T2 JF JO JA J2 J1 | JT TA      | SO J9 JI | J B O | journal journaltitle booktitle
volume         | VL                | VI         | VL       | V     | volume
issue          | IS                | IP         | IS       | N     | number issue
first_page     | SP                | PG         | BP       | P     | pages
last_page      | EP                |            | EP       |       |
doi            | DO DI             | LID AID SO | DI       | R     | doi
pmid           | PM                | PMID       | PM       |       | pmid pubmed_id
key            | ID AN U1          | PMID OID   | UT       | F M L |
url            | UR L2 LK          |            |          | U     | url
issn           | SN                | IS         | SN       | @     | issn
language       | LA                | LA         | LA       | G     | language langid
publisher      | PB                | PB         | PU       | I     | publisher
address        | +AD               | +AD        | +C1      | ++    | affiliation
genre          | +M3               | +PT        | +DT      | +9    |
"""
_OF_TABLES = {
    "title": "title articletitle documenttitle itemtitle primarytitle originaltitle ti",
    "other_title": "+translatedtitle titletranslated",
    "abstract": "abstract abstractnote abstracttext originalabstract ab abstractinvertedindex",
    "keyword": "+keywords keyword authorkeywords indexkeywords keywordsplus meshterms mesh meshheadings manualtags"
    " automatictags emtreedrugindexterms emtreemedicalindexterms emtreedrugindextermsmajorfocus"
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
    "address": "authorswithaffiliations affiliations authoraddresses addresses",
    "genre": "documenttype publicationtype",
}
_not_of_name = re.compile(r"[\W_]+")


class Tags(NamedTuple):
    """The tags of a role in a form, and whether all their values count."""

    names: tuple[str, ...]
    all: bool


def _tags(form: str) -> dict[str, Tags]:
    rows = (map(str.strip, line.split("|")) for line in _OF_FILES.splitlines()[2:])
    own = _OF_TABLES if form == TABLE else {role: tags[FORMS.index(form)] for role, *tags in rows}
    return {
        role: Tags(tuple(tags.removeprefix("+").split()), tags.startswith("+")) for role, tags in own.items() if tags
    }


TAGS: Mapping[str, Mapping[str, Tags]] = {form: _tags(form) for form in FORMS}


def plain_column(name: str) -> str:
    """The name of a column of a table as its tags have it: letters and digits, in lower case."""
    return _not_of_name.sub("", name.lower())


def plain_tag(form: str) -> Callable[[str], str]:
    """What gives the tag of a field as the table of a form has it."""
    return {BIBTEX: str.lower, TABLE: plain_column}.get(form, str)
