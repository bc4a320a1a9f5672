"""References from one form into another, and copies of one reference into the fullest."""

from collections.abc import Container, Sequence
from dataclasses import replace

from setsearch.indexing.references.bibtex import bibtex_value
from setsearch.indexing.references.reference import SEVERAL, Reference
from setsearch.indexing.references.tags import BIBTEX, PUBMED, REFER, RIS, TABLE, TAGS, WOS, plain_column, plain_tag
from setsearch.text.identifiers import plain_title

# A type of RIS, BibTeX, refer, Web of Science, whose letters mean their first row, and Zotero. Words in tables mean
# their last row.
TYPES = (
    ("JOUR", "article", "Journal Article", "J", "journalArticle", "article journal"),
    ("BOOK", "book", "Book", "B", "book", "book"),
    ("RPRT", "techreport", "Report", "J", "report", "report"),
    ("THES", "phdthesis", "Thesis", "B", "thesis", "thesis"),
    ("CPAPER", "inproceedings", "Conference Paper", "C", "conferencePaper", "conference proceeding"),
    ("CONF", "proceedings", "Conference Proceedings", "C", "", ""),
    ("CHAP", "incollection", "Book Section", "B", "bookSection", "chapter section"),
    ("GEN", "misc", "Generic", "J", "", ""),
)
ZOTERO = 4  # the column of its types
# What fields of some types of BibTeX are called.
_IN_BOOK = {"journal": "booktitle"}
_OTHER_NAMES = {
    **dict.fromkeys(("incollection", "inproceedings", "proceedings"), _IN_BOOK),
    "techreport": {"publisher": "institution"},
    "phdthesis": {"publisher": "school"},
}
_TYPE_COLUMNS = ("documenttype", "itemtype", "publicationtype", "type", "referencetype")
_COLUMN = {RIS: 0, BIBTEX: 1, REFER: 2, WOS: 3}
_TYPE_TAG = {RIS: "TY", REFER: "0", WOS: "PT"}
_BESIDE = ("address", "genre")  # roles that make no copy the fuller one
# What is between several values of a role in one field; else a semicolon.
_JOINTS = {BIBTEX: {"author": " and ", "keyword": ", "}, WOS: {"author": "\n", "address": "\n"}}
# Forms that say each author twice, the whole name and a short one.
_SHORT_NAMES = (PUBMED, WOS)
# Names for which a form has no tag of their own, as its readers find them: keys in PubMed, numbers of PubMed in refer.
_ELSEWHERE = {(PUBMED, "key"): ("OID", "{}"), (REFER, "pmid"): ("Z", "PMID: {}")}


def fullness(reference: Reference) -> tuple[bool, bool, int]:
    """Whether a record is of a form that can be written, has an abstract, and how many roles are filled."""
    return (
        reference.form != TABLE,
        bool(reference.first("abstract")),
        sum(bool(reference.values(role)) for role in TAGS[reference.form] if role not in _BESIDE),
    )


def merged(copies: Sequence[Reference]) -> Reference:
    """The fullest copy, the first one of equals, with the fields that it lacks from the others."""
    copies = list(dict.fromkeys(copies))  # many are equal
    best = copies[0] if len(copies) == 1 else max(copies, key=fullness)
    for other in copies:
        if other is not best:
            best = _completed(best, other)
    return best


def _completed(best: Reference, other: Reference) -> Reference:
    lacking = [role for role in TAGS[best.form] if not best.values(role) and role != "key"]
    if any(plain_tag(best.form)(tag) in TAGS[best.form]["abstract"].names for tag, _ in best.fields):
        lacking = [role for role in lacking if role != "abstract"]
    if best.pages[1]:
        lacking = [role for role in lacking if role != "last_page"]
    added = _fields(other, best.form, lacking)
    if other.form == best.form:  # tags that say nothing in other forms
        plain, roles = plain_tag(best.form), (tags.names for tags in TAGS[best.form].values())
        known = {plain(tag) for tag, _ in best.fields}.union(*roles)
        added += tuple(field for field in other.fields if plain(field[0]) not in known)
    return replace(best, fields=_with_abstract(best, other) + added)


def _with_abstract(best: Reference, other: Reference) -> tuple[tuple[str, str], ...]:
    """The fields of a record; that of an abstract which is cut, or says that there is none, has the other one."""
    plain, tags = plain_tag(best.form), TAGS[best.form]["abstract"].names
    own, others = (plain_title(" ".join(one.values("abstract"))) for one in (best, other))
    places = [place for place, (tag, _) in enumerate(best.fields) if plain(tag) in tags]
    if not places or len(others) <= len(own) or not others.startswith(own):
        return best.fields
    kept = [field for place, field in enumerate(best.fields) if place not in places[1:]]
    kept[places[0] : places[0] + 1] = _fields(other, best.form, ["abstract"])
    return tuple(kept)


def converted(reference: Reference, form: str) -> Reference:
    """A reference in a form. Fields whose role the form does not have stay behind."""
    if reference.form == form:
        return reference
    kind = _type(reference)[_COLUMN.get(form, 0)]
    head = (
        ((_TYPE_TAG[form], kind),)
        if form in _TYPE_TAG
        else (("PMID", reference.pmid),) * (form == PUBMED and bool(reference.pmid))
    )
    others = [role for role in TAGS[form] if form != PUBMED or role not in ("key", "pmid")]
    fields = head + _fields(reference, form, others)
    for (own, role), (tag, written) in _ELSEWHERE.items():
        found = _values(reference, role, form) if own == form else []
        fields += tuple((tag, written.format(name)) for name in found if role == "pmid" or name != reference.pmid)
    if form != BIBTEX:
        return Reference(form, fields)
    names = _OTHER_NAMES.get(kind, {})
    fields = tuple((names.get(tag, tag), value) for tag, value in fields)
    return Reference(form, fields, kind, _bibtex_key(reference))


def left_behind(reference: Reference, form: str) -> list[str]:
    """The tags of fields that `converted` leaves behind: they have no role, or one for which the form has no tag."""
    return [] if reference.form == form else tags_beside(reference, TAGS[form], form)


def tags_beside(reference: Reference, others: Container[str], form: str = "") -> list[str]:
    """The tags of fields that have no role, or none of these, and of a type that the form has not: @phdthesis."""
    own, plain = TAGS[reference.form], plain_tag(reference.form)
    present = {plain(tag) for tag, value in reference.fields if value.strip()}
    lost = () if _keeps_type(reference, form) else (_TYPE_TAG.get(reference.form, ""), *_TYPE_COLUMNS)
    taken = {_TYPE_TAG.get(reference.form, ""), *(_TYPE_COLUMNS if reference.form == TABLE else ())}.difference(lost)
    for role, tags in own.items():
        names = [name for name in tags.names if name in present]
        if (
            role in others
            or (form, role) in {(BIBTEX, "key"), *_ELSEWHERE}
            or (role == "last_page" and "first_page" in others)
        ):
            has_all = tags.all or (role == "author" and reference.form in _SHORT_NAMES)
            taken.update(names if has_all else names[:1])
    kind = [f"@{reference.kind}"] if reference.form == BIBTEX and lost else []
    return kind + [tag for tag, value in reference.fields if value.strip() and plain(tag) not in taken]


def _fields(reference: Reference, form: str, roles: Sequence[str]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for role in roles:
        values, tag = _values(reference, role, form), TAGS[form][role].names[0]
        if form == PUBMED and role == "doi":
            values = [f"{value} [doi]" for value in values]
        if (form == BIBTEX or (form == WOS and role in SEVERAL)) and values:
            values = [_JOINTS[form].get(role, "; ").join(values)]
        if form == BIBTEX:
            values = [*map(bibtex_value, values)]
        found += [(tag, value) for value in values]
    return tuple(found)


def _values(reference: Reference, role: str, form: str) -> list[str]:
    """The values of a role; many only where there can be many."""
    if role == "key":
        return [reference.own_key] if reference.own_key else []
    if role in ("doi", "pmid", "year"):
        return [value for value in (getattr(reference, role),) if value]
    if role in ("first_page", "last_page"):
        first, last = reference.pages
        if "last_page" not in TAGS[form]:
            first = f"{first}{'--' if form == BIBTEX else '-'}{last}" if last else first
        return [value for value in (first if role == "first_page" else last,) if value]
    values = reference.values(role)
    return values if role in SEVERAL or form != BIBTEX else values[:1]


def _type(reference: Reference) -> tuple[str, ...]:
    """The row of types of a reference; without one that we know, of articles if it has a journal, else the last one."""
    if reference.form == PUBMED:
        return TYPES[0]
    if reference.form == TABLE:
        own = _own_type(reference)
        found = (row for row in TYPES[::-1] if any(word in own for word in row[-1].split()))
        return next(found, TYPES[0 if reference.first("journal") else -1])
    column = _COLUMN[reference.form]
    return next((row for row in TYPES if row[column].casefold() == _own_type(reference)), TYPES[-1])


def _own_type(reference: Reference) -> str:
    """The type that a record names, in lower case; empty without one."""
    if reference.form == TABLE:
        return " ".join(value for tag, value in reference.fields if plain_column(tag) in _TYPE_COLUMNS).casefold()
    if reference.form == BIBTEX:
        return reference.kind.casefold()
    return dict(reference.fields).get(_TYPE_TAG.get(reference.form, ""), "").strip().casefold()


def _keeps_type(reference: Reference, form: str) -> bool:
    """Whether a form says the type of a record, so that who reads it there finds the same."""
    own, row = _own_type(reference), _type(reference)
    if reference.form == PUBMED or not own:
        return True
    words = row[-1].split() if reference.form == TABLE else [row[_COLUMN[reference.form]].casefold()]
    if not any(word in own if reference.form == TABLE else word == own for word in words):
        return False
    if form in _COLUMN:
        return next(other for other in TYPES if other[_COLUMN[form]] == row[_COLUMN[form]]) == row
    return row == TYPES[0 if form == PUBMED or reference.first("journal") else -1]  # as tables and PubMed are read


def _bibtex_key(reference: Reference) -> str:
    """A key: that of the record if it can be one, else author and year."""
    own = reference.own_key
    if own and not any(letter in own for letter in " ,{}\"#%'()=\\~"):
        return own
    name = "".join(filter(str.isalnum, reference.first("author").split(",")[0].split()[-1:] or ["reference"])).lower()
    return f"{name or 'reference'}{reference.year}"
