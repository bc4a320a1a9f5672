"""Reviews from file to file: answers that are known come in; decisions go out, each reference as it came.

Going out, a record gets one note as ASReview writes it (N1 of RIS, GN of PubMed), and keywords that Zotero and Rayyan
show. Coming in, both are read, and what Rayyan notes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from setsearch.errors import AmbiguousItem, SourceError, UnknownItem
from setsearch.indexing.files import FileReader, is_document
from setsearch.indexing.references.bibtex import bibtex_value, write_bibtex
from setsearch.indexing.references.convert import converted
from setsearch.indexing.references.reference import (
    BIBTEX,
    PUBMED,
    REFER,
    RIS,
    WOS,
    Reference,
    bibtex_plain,
    without_braces,
)
from setsearch.indexing.references.tagged import write_tagged
from setsearch.indexing.rows.cells import require_columns
from setsearch.indexing.rows.reader import STDIN, RowReader
from setsearch.learning.review import Record, Review
from setsearch.search.decisions import Decision
from setsearch.search.reading import Reading
from setsearch.text.headline import shorten
from setsearch.text.identifiers import plain_title
from setsearch.text.spreadsheets import csv_text

SAID = {"yes": "ASReview_relevant", "no": "ASReview_irrelevant", "later": "ASReview_not_seen"}
WORDS = {"yes": "included", "no": "excluded", "later": "later"}
ANSWERS = {
    **dict.fromkeys(("yes", "1", "1.0", "true", "included", "include", "relevant"), "yes"),
    **dict.fromkeys(("no", "0", "0.0", "false", "excluded", "exclude", "irrelevant"), "no"),
}
UNREAD = "unread"
FORMS = {"ris": RIS, "bib": BIBTEX, "nbib": PUBMED, "ciw": WOS, "enw": REFER}
KINDS = ("csv", *FORMS)
COLUMNS = ("item", "title", "authors", "year", "journal", "doi", "decision", "number", "when", "reason", "note")
ITEM_COLUMNS, DECISION_COLUMNS = (
    ("item", "id", "doi", "pmid", "key", "title"),
    ("decision", "included", "label_included"),
)
PREFIX, REASON = "setsearch: ", "reason: "  # of our keywords
_NOTE = {RIS: "N1", PUBMED: "GN", REFER: "Z"}  # Web of Science has none
_KEYWORD = {RIS: "KW", PUBMED: "OT", WOS: "DE", REFER: "K"}
_REMARK = {RIS: "RN", PUBMED: "GN", REFER: "Z"}
_BIBTEX_FIELDS = ("decision", "decisionreason", "decisionnote")
_our_keyword = re.compile(rf"[,;]?\s*{PREFIX}[^,;]*")
_rayyan = re.compile(r'RAYYAN-INCLUSION:\s*\{[^}]*=>\s*"(Included|Excluded)"')


class Row(NamedTuple):
    """An item of a review, what was decided, and what is known of it."""

    item: str
    record: Record
    decision: Decision | None

    @property
    def said(self) -> str:
        """The decision as a word."""
        return self.decision.said if self.decision else UNREAD


def read_known(source: str, reading: Reading) -> tuple[list[str], list[str]]:
    """Accepted and rejected items, from rows or from references. Items have any of their names. Raises SourceError."""
    known: dict[str, list[str]] = {"yes": [], "no": []}
    is_file = source != STDIN and Path(source).is_file()
    pairs = _of_references(source, reading) if is_file and is_document(Path(source)) else _of_rows(source)
    for item, said in pairs:
        known[said].append(item)
    if not any(known.values()):
        raise SourceError(
            f"{source} has no answers; rows have the columns item and decision, references notes (N1) or keywords"
        )
    return known["yes"], known["no"]


def write_review(review: Review, kind: str, progress: Callable[[Iterator[Row]], Iterator[Row]] = iter) -> str:
    """All records of a review with what was decided, in the order of decisions, those not read last.

    `progress` gets the records, and yields them.
    """
    rows = progress(_rows(review))
    if kind == "csv":
        return csv_text(map(_cells, rows), COLUMNS)
    form = FORMS[kind]
    references = (_with_decision(converted(_reference(row), form), row) for row in rows)
    return write_bibtex(references) if form == BIBTEX else write_tagged(references, form)


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
    if reference is not None:
        cells |= {"authors": "; ".join(reference.values("author")), "year": reference.year}
        cells |= {"journal": reference.first("journal"), "doi": reference.doi}
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
    keywords = [f"{PREFIX}{WORDS[row.said]}"] if row.said in WORDS else []
    keywords += [f"{PREFIX}{REASON}{decision.reason}"] if decision and decision.reason else []
    note = decision.note if decision else None
    if form == BIBTEX:
        return _bibtex_with(reference, keywords, decision)
    if note and form not in _REMARK:
        keywords.append(f"{PREFIX}note: {note}")
    if row.said == UNREAD and any(_is_ours(form, *field) for field in reference.fields):
        return reference  # what somebody else decided stays
    fields = [field for field in reference.fields if not _is_ours(form, *field)]
    fields += [(_NOTE[form], SAID.get(row.said, SAID["later"]))] if form in _NOTE else []
    fields += [(_KEYWORD[form], keyword) for keyword in keywords]
    fields += [(_REMARK[form], note)] if note and form in _REMARK else []
    return replace(reference, fields=tuple(fields))


def _is_ours(form: str, tag: str, value: str) -> bool:
    """Whether a field is one that an export has added."""
    is_note = tag == _NOTE.get(form) and value.strip() in SAID.values()
    return is_note or (tag == _KEYWORD[form] and value.startswith(PREFIX))


def _bibtex_with(reference: Reference, keywords: list[str], decision: Decision | None) -> Reference:
    fields = [field for field in reference.fields if field[0].lower() not in _BIBTEX_FIELDS]
    place = next((number for number, (name, _) in enumerate(fields) if name.lower() == "keywords"), None)
    inner = "" if place is None else _our_keyword.sub("", without_braces(fields[place][1])).strip()
    if keywords and place is None:
        fields.append(("keywords", bibtex_value(", ".join(keywords))))
    elif place is not None:
        fields[place] = ("keywords", "{" + ", ".join(filter(None, [inner, *keywords])) + "}")
    texts = (WORDS[decision.said], decision.reason, decision.note) if decision else (None,) * 3
    fields += [(name, bibtex_value(text)) for name, text in zip(_BIBTEX_FIELDS, texts, strict=True) if text]
    return replace(reference, fields=tuple(fields))


def _of_rows(source: str) -> Iterator[tuple[str, str]]:
    for position, row in RowReader().read(source):
        item, decision = (
            next((name for name in names if name in row), names[0]) for names in (ITEM_COLUMNS, DECISION_COLUMNS)
        )
        require_columns(position, row, item, decision)
        said = str("" if row[decision] is None else row[decision]).strip().casefold()
        if said in ANSWERS:
            yield str(row[item]), ANSWERS[said]
        elif said not in ("", "later", "maybe", "not_seen", UNREAD):
            raise SourceError(f"{position}: the decision is yes or no (or empty), not {row[decision]!r}")


def _of_references(source: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Records that have an answer, by what the index calls them."""
    reader = FileReader(RowReader())
    list(reader.documents(Path(source), source, is_named=True))
    for reference in (copy.reference for copy in reader.references):
        said = _answer(reference)
        name = _name_of(reference, reading) if said else None
        if said and name:
            yield name, said


def _answer(reference: Reference) -> str | None:
    """What a record says of itself: the last of its answers."""
    said = {note: word for word, note in SAID.items() if word != "later"}
    said |= {f"{PREFIX}{text}": word for word, text in WORDS.items() if word != "later"}
    found = []
    for tag, value in reference.fields:
        text = bibtex_plain(value) if reference.form == BIBTEX else value
        parts = [part.strip() for part in re.split("[\\n,;]", text)]
        found += [said[part] for part in parts if part in said]
        found += [ANSWERS[match[1].lower()] for match in _rayyan.finditer(text)]
        if tag == _BIBTEX_FIELDS[0] and text in ANSWERS:
            found.append(ANSWERS[text])
    return found[-1] if found else None


def _name_of(reference: Reference, reading: Reading) -> str | None:
    """The item that a reference is, by the surest of its names; its title where the index has none of them."""
    title = reference.first("title")
    for name, is_sure in ((reference.doi, True), (reference.pmid, True), (reference.own_key, False)):
        found = _found(reading, name) if name else None
        if found is not None and (is_sure or _has_title(reading, found, title)):
            return found
    return (title and _found(reading, title)) or title or reference.doi or reference.own_key or None


def _found(reading: Reading, name: str) -> str | None:
    try:
        return reading.find(name, hint=False)
    except (UnknownItem, AmbiguousItem):
        return None


def _has_title(reading: Reading, item: str, title: str) -> bool:
    """Whether an item has this title; one without a title has any that no other item has."""
    own = reading.titles([item]).get(item)
    if not title or own is None:
        return not title or _found(reading, title) in (None, item)
    return plain_title(own) in (plain_title(title), plain_title(shorten(title) or ""))
