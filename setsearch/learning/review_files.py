"""Decisions of a review go out, each reference as it came (known_answers.py reads answers).

A record gets one note as ASReview writes it (N1 of RIS, GN of PubMed), and keywords that Zotero and Rayyan show.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from setsearch.answers.saved.decisions import Decision
from setsearch.indexing.references.bibtex import bibtex_value, write_bibtex
from setsearch.indexing.references.convert import converted, left_behind, tags_beside
from setsearch.indexing.references.reference import OURS, Reference, bibtex_plain, without_braces
from setsearch.indexing.references.tagged import write_tagged
from setsearch.indexing.references.tags import BIBTEX, PUBMED, REFER, RIS, TABLE, WOS, plain_column
from setsearch.learning.review import Record, Review
from setsearch.learning.spreadsheets import csv_text

SAID = {"yes": "ASReview_relevant", "no": "ASReview_irrelevant", "later": "ASReview_not_seen"}
WORDS = {"yes": "included", "no": "excluded", "later": "later"}
UNREAD = "unread"
FORMS = {"ris": RIS, "bib": BIBTEX, "nbib": PUBMED, "ciw": WOS, "enw": REFER}
KINDS = ("csv", *FORMS)
COLUMNS = (
    *("item", "title", "authors", "year", "journal", "doi", "decision", "number", "when", "reason", "note"),
    *("keywords", "abstract"),  # so that the file can be indexed again
)
ABSTRACTS = "other_title", "abstract", "other_abstract"  # roles
CSV_ROLES = {"title", "author", "year", "journal", "doi", "keyword", "key", *ABSTRACTS}
REASON = "reason: "  # of our keywords
_NOTE = {RIS: "N1", PUBMED: "GN", REFER: "Z"}  # Web of Science has none
_KEYWORD = {RIS: "KW", PUBMED: "OT", WOS: "DE", REFER: "K"}
_REMARK = {RIS: "RN", PUBMED: "GN", REFER: "Z"}
BIBTEX_FIELDS = ("decision", "decisionreason", "decisionnote")
_our_keyword = re.compile(rf"[,;]?\s*{OURS}[^,;]*")
# Notes of Rayyan and Covidence; what they write of reasons, and Rayyan of notes, beside who wrote them.
_of_others = re.compile(r"\s*exclusion reason|.*RAYYAN-INCLUSION", re.IGNORECASE | re.DOTALL)
_reasons = re.compile(r"exclusion[- ]reasons?:\s*([^|;\n}]*[^|;\s}])", re.IGNORECASE)
_notes = re.compile(r"USER-NOTES:\s*\{(.*\])\s*\}")


class Dropped:
    """What a kind of file has no place for: how many records lose something, and how many of these each field."""

    def __init__(self) -> None:
        self.records = 0
        self.tags = Counter[str]()

    def add(self, reference: Reference, kind: str) -> None:
        """Count a record."""
        tags = set(_dropped(reference, kind))
        self.records += bool(tags)
        self.tags.update(sorted(tags))


class Row(NamedTuple):
    """An item of a review, what was decided, and what is known of it."""

    item: str
    record: Record
    decision: Decision | None

    @property
    def said(self) -> str:
        """The decision as a word."""
        return self.decision.said if self.decision else UNREAD


def write_review(
    review: Review,
    kind: str,
    progress: Callable[[Iterator[Row]], Iterator[Row]] = iter,
    dropped: Dropped | None = None,
) -> str:
    """All records of a review with what was decided, in the order of decisions, those not read last.

    `progress` gets the records, and yields them. `dropped` counts what this kind has no place for.
    """
    rows = progress(_counted(_rows(review), kind, dropped or Dropped()))
    if kind == "csv":
        return csv_text(map(_cells, rows), COLUMNS)
    form = FORMS[kind]
    references = (_with_decision(converted(_reference(row), form), row) for row in rows)
    return write_bibtex(references) if form == BIBTEX else write_tagged(references, form)


def dropped_fields(review: Review) -> dict[str, Dropped]:
    """What each kind of file has no place for."""
    found = {kind: Dropped() for kind in KINDS}
    for reference in review.references().values():
        for kind, dropped in found.items():
            dropped.add(reference, kind)
    return found


def _dropped(reference: Reference, kind: str) -> list[str]:
    if kind != "csv":
        return left_behind(reference, FORMS[kind])
    return [tag for tag in tags_beside(reference, CSV_ROLES, TABLE) if reference.form != TABLE or tag not in COLUMNS]


def _counted(rows: Iterator[Row], kind: str, dropped: Dropped) -> Iterator[Row]:
    for row in rows:
        if row.record.reference is not None:
            dropped.add(row.record.reference, kind)
        yield row


def _rows(review: Review) -> Iterator[Row]:
    decisions = {decision.item: decision for decision in review.decisions()}
    with review.reading.stored() as fields:
        titles = dict(fields.describe(fields.item_ids().tolist()).values())
    references = review.references()
    for item in [*decisions, *sorted(set(titles) - set(decisions))]:
        if item in references:
            reference = references[item]
            record = Record(reference.first("title") or titles.get(item) or item, "", reference)
        else:
            record = review.record(item, titles[item]) if item in titles else Record(item, "")
        yield Row(item, record, decisions.get(item))


def _cells(row: Row) -> dict[str, Any]:
    """A row of CSV."""
    reference, decision = row.record.reference, row.decision or Decision(row.item, UNREAD)
    cells: dict[str, Any] = {"item": row.item, "title": row.record.title, "decision": row.said}
    cells["abstract"] = row.record.text
    if reference is not None:
        cells |= {"authors": "; ".join(reference.values("author")), "year": reference.year}
        cells |= {"journal": reference.first("journal"), "doi": reference.doi}
        cells["abstract"] = "\n".join(text for role in ABSTRACTS for text in reference.values(role))
        cells["keywords"] = "; ".join(reference.keywords)
    cells |= {"number": decision.number, "reason": decision.reason, "note": decision.note}
    when = None if decision.time is None else datetime.fromtimestamp(decision.time, UTC)
    return cells | {"when": when and when.isoformat(timespec="seconds").replace("+00:00", "Z")}


def _reference(row: Row) -> Reference:
    """The reference of an item as it came; of another item, one that has its title and its text."""
    if row.record.reference is not None:
        return row.record.reference
    text = " ".join(row.record.text.split())
    fields = (("TY", "GEN"), ("ID", row.item), ("TI", row.record.title), ("AB", text))
    return Reference(RIS, tuple(field for field in fields if field[1]))


def _with_decision(reference: Reference, row: Row) -> Reference:
    """A reference with what was decided, in place of what an earlier export says."""
    form, decision = reference.form, row.decision
    keywords = [f"{OURS}{WORDS[row.said]}"] if row.said in WORDS else []
    keywords += [f"{OURS}{REASON}{_one_keyword(form, decision.reason)}"] if decision and decision.reason else []
    note = decision.note if decision else None
    if form == BIBTEX:
        return _bibtex_with(reference, keywords, decision)
    if note and form not in _REMARK:
        keywords.append(f"{OURS}note: {_one_keyword(form, note)}")
    if row.said == UNREAD and any(_is_ours(form, *field) for field in reference.fields):
        return reference  # what somebody else decided stays
    remark = (_REMARK[form], note) if note and form in _REMARK else None
    fields = [field for field in reference.fields if field != remark and not _is_ours(form, *field)]
    fields += [(_NOTE[form], SAID.get(row.said, SAID["later"]))] if form in _NOTE else []
    fields += [(_KEYWORD[form], keyword) for keyword in keywords]
    return replace(reference, fields=(*fields, remark) if remark else tuple(fields))


def _one_keyword(form: str, text: str) -> str:
    """A text without what stands between keywords."""
    return re.sub(r"\s*[,;]" if form == BIBTEX else r"\s*;", " /", " ".join(text.split()))


def _is_ours(form: str, tag: str, value: str) -> bool:
    """Whether a field is one that an export has added."""
    is_note = tag == _NOTE.get(form) and value.strip() in SAID.values()
    return is_note or (tag == _KEYWORD[form] and value.startswith(OURS))


def texts_beside(reference: Reference) -> tuple[str, str]:
    """The reason and the note that an export, or a table of answers, has beside a decision; empty if there is none."""
    form, found = reference.form, {"reason": "", "note": ""}
    if form == TABLE:
        columns = {plain_column(tag).removeprefix("asreview"): value for tag, value in reference.fields}
        found |= {name: columns.get(name, "") for name in found}
    elif form == BIBTEX:
        fields = {tag.lower(): bibtex_plain(value) for tag, value in reference.fields}
        found |= {name: fields.get(f"decision{name}", "") for name in found}
    else:
        ours = [value for tag, value in reference.fields if tag == _KEYWORD[form] and value.startswith(OURS)]
        for keyword in ours:
            name, _, text = keyword.removeprefix(OURS).partition(": ")
            found |= {name: text} if name in found else {}
        tags = [(tag, value.strip() in SAID.values()) for tag, value in reference.fields]
        place = tags.index((_NOTE[form], True)) if (_NOTE.get(form, ""), True) in tags else len(tags)
        notes = [value for tag, value in reference.fields[place + 1 :] if tag == _REMARK.get(form)]
        found["note"] = found["note"] or next(iter(notes), "")
    elsewhere = "\n".join(value for _, value in reference.fields if _of_others.match(value))
    noted = "; ".join(re.sub(r"[\"\[\]]", "", own.replace('"=>[', ": ")) for own in _notes.findall(elsewhere))
    return found["reason"].strip() or ", ".join(_reasons.findall(elsewhere)), found["note"].strip() or noted


def _bibtex_with(reference: Reference, keywords: list[str], decision: Decision | None) -> Reference:
    fields = [field for field in reference.fields if field[0].lower() not in BIBTEX_FIELDS]
    place = next((number for number, (name, _) in enumerate(fields) if name.lower() == "keywords"), None)
    inner = "" if place is None else _our_keyword.sub("", without_braces(fields[place][1])).strip()
    if keywords and place is None:
        fields.append(("keywords", bibtex_value(", ".join(keywords))))
    elif place is not None:
        fields[place] = ("keywords", "{" + ", ".join(filter(None, [inner, *keywords])) + "}")
    texts = (WORDS[decision.said], decision.reason, decision.note) if decision else (None,) * 3
    fields += [(name, bibtex_value(text)) for name, text in zip(BIBTEX_FIELDS, texts, strict=True) if text]
    return replace(reference, fields=tuple(fields))
