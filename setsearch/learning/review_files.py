"""Reviews from file to file: answers that are known, as CSV or RIS; decisions with their records, as CSV or RIS.

In RIS a note (N1) has the answer as ASReview writes it, so that files go to and fro.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setsearch.errors import AmbiguousItem, SourceError, UnknownItem
from setsearch.indexing.formats import load_library
from setsearch.indexing.rows import RowReader, file_ending, open_file, require_columns
from setsearch.learning.review import Record, Review
from setsearch.search.reading import Reading
from setsearch.text.spreadsheets import csv_text

SAID = {"yes": "ASReview_relevant", "no": "ASReview_irrelevant", "later": "ASReview_not_seen"}
ANSWERS = {"yes": "yes", "1": "yes", "included": "yes", "no": "no", "0": "no", "excluded": "no"}
UNREAD = "unread"
KINDS = ("csv", "ris")


def read_known(source: str, reading: Reading) -> tuple[list[str], list[str]]:
    """Accepted and rejected items, of CSV with the columns item and decision, or of RIS. Raises SourceError."""
    known: dict[str, list[str]] = {"yes": [], "no": []}
    pairs = _of_ris(source, reading) if file_ending(Path(source)) == ".ris" else _of_rows(source)
    for item, said in pairs:
        known[said].append(item)
    if not any(known.values()):
        raise SourceError(f"{source} has no answers; CSV has the columns item and decision, RIS has notes (N1)")
    return known["yes"], known["no"]


def write_review(review: Review, kind: str) -> str:
    """All records of a review with what was decided, in the order of decisions, those not read last."""
    rows = list(_rows(review, with_texts=kind == "ris"))
    if kind == "csv":
        return csv_text(rows, ["item", "title", "decision", "number"])
    notes = {word: [note] for word, note in SAID.items()} | {UNREAD: [SAID["later"]]}
    entries = [
        {"type_of_reference": "GEN", "id": row["item"], "title": row["title"]}
        | ({"abstract": " ".join(row["text"].split())} if row["text"] else {})
        | {"notes": notes[row["decision"]]}
        for row in rows
    ]
    return str(load_library("rispy", "RIS files").dumps(entries))


def _rows(review: Review, with_texts: bool) -> Iterator[dict[str, Any]]:
    decisions = {decision.item: decision for decision in review.decisions()}
    with review.reading.stored() as fields:
        names = fields.describe(fields.item_ids().tolist())
    titles = dict(names.values())
    for item in [*decisions, *sorted(set(titles) - set(decisions))]:
        decision, title = decisions.get(item), titles.get(item)
        row: dict[str, Any] = {"item": item, "title": title, "decision": decision.said if decision else UNREAD}
        if with_texts:
            row |= (review.record(item, title) if item in titles else Record(item, ""))._asdict()
        else:
            row["number"] = decision.number if decision else None
        yield row


def _of_rows(source: str) -> Iterator[tuple[str, str]]:
    for position, row in RowReader().read(source):
        require_columns(position, row, "item", "decision")
        said = str(row["decision"] or "").strip().casefold()
        if said in ANSWERS:
            yield str(row["item"]), ANSWERS[said]
        elif said not in ("", "later", UNREAD):
            raise SourceError(f"{position}: the decision is yes or no (or empty), not {row['decision']!r}")


def _of_ris(source: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Records by their id, if the index has one with this id and title, else by their title."""
    with open_file(Path(source)) as file:
        text = RowReader().decode(file.read(), source) or ""
    said = {note: word for word, note in SAID.items() if word != "later"}
    entries = load_library("rispy", "RIS files").loads(text)
    titles = reading.titles([str(entry["id"]) for entry in entries if entry.get("id")])
    for entry in entries:
        title = next((str(entry[name]) for name in ("title", "primary_title") if entry.get(name)), None)
        found = [said[note] for note in entry.get("notes", ()) if note in said]
        id = str(entry.get("id", ""))
        is_ours = id in titles and (title in (None, titles[id]) or (titles[id] is None and not _has(reading, title)))
        item = id if is_ours else title
        if found and item:
            yield item, found[-1]


def _has(reading: Reading, title: str) -> bool:
    """Whether an item has this title, or several have."""
    try:
        reading.find(title, hint=False)
    except UnknownItem:
        return False
    except AmbiguousItem:
        pass
    return True
