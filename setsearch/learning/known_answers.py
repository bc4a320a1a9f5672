"""Answers that were known before a review: rows, or references with notes, as reviewers' programs export them.

ASReview has notes (ASReview_relevant) or a column of 0 and 1, Rayyan the decisions of each reviewer in a note,
Covidence reasons for exclusion, setsearch all that an export of its own writes.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from setsearch.answers.reading import Reading
from setsearch.answers.saved.decisions import ANSWERS, LATER
from setsearch.errors import AmbiguousItem, SourceError, UnknownItem
from setsearch.indexing.references.reference import OURS, Reference, bibtex_plain
from setsearch.indexing.references.tags import BIBTEX, TABLE, plain_column
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.learning.review_files import BIBTEX_FIELDS, SAID, UNREAD, WORDS, texts_beside
from setsearch.learning.spreadsheets import unmarked
from setsearch.storage.synced_source import Columns
from setsearch.text.identifiers import plain_title

OPEN = ("", "not_seen", "not seen", "undecided", "unlabeled", "-1", "-1.0", "nan", "none", UNREAD)
# Columns that hold decisions, and those that may hold other things too.
DECISIONS = ("decision", "included", "labelincluded", "asreviewlabel", "finalincluded", "includedfinal")
PERHAPS = ("label", "finaldecision", "screeningdecision", "consensus", "vote", "status")
COMMAND_LINE = "on the command line"
_rayyan = re.compile(r"RAYYAN-INCLUSION:\s*\{([^}]*)\}")
_said_in_rayyan = re.compile(r"(?:=>|:)\s*\"(\w+)\"")
_reason = re.compile(r"\s*exclusion reasons?:\s*\w", re.IGNORECASE)


class Known(NamedTuple):
    """Accepted and rejected items; and a line for each answer that does not count, with its place.

    `later` counts the records that were put off, `places` says where the answer of an item is, `texts` the reason and
    the note beside it.
    """

    accepted: list[str]
    rejected: list[str]
    problems: list[str]
    later: int
    places: dict[str, str]
    texts: dict[str, tuple[str, str]]


class _Unclear(ValueError):
    """An answer that is none."""


def read_known(source: str, reading: Reading, given: Mapping[str, str] | None = None) -> Known:
    """The answers of a file or of standard input. Items have any of their names; `given` answers count more.

    Raises SourceError if there is none.
    """
    problems: list[str] = []
    answers = {item: (said, COMMAND_LINE) for item, said in (given or {}).items()}
    found, contradicted, later = set[str](), set[str](), 0
    texts = dict[str, tuple[str, str]]()
    rows = RowReader("skip", lambda message: problems.append(message.removeprefix("skipped ")))
    for position, written in SourceReader(Columns(), rows).references(source, "item", "decision"):
        reference = _unmarked(written)
        try:
            said = _answer(reference)
            item = _item_of(reference, reading) if said in ("yes", "no") else None
        except (_Unclear, UnknownItem, AmbiguousItem) as error:
            problems.append(f"{position}: {error}")
            continue
        later += said == LATER
        if said is None or item is None:
            continue
        found.add(item)
        before, place = answers.setdefault(item, (said, f"in {position}"))
        if before == said and any(told := texts_beside(reference)):
            texts.setdefault(item, (told[0] if said == "no" else "", told[1]))
        if before != said:
            what = "which counts" if place == COMMAND_LINE else "so neither counts"
            problems.append(f"{position}: {item!r} is {said} here, and {before} {place}, {what}")
            contradicted.update([item] if place != COMMAND_LINE else [])
    problems.sort(key=_line)  # some rows are read ahead of others
    if not found:
        hint = "rows have the columns item and decision, references notes (N1) or keywords"
        if problems and problems[0].startswith(f"{source} "):  # of the whole file
            raise SourceError(problems[0])
        put_off = f" but {later:,} later" if later else ""
        raise SourceError(f"{source} has no answers{put_off}; {'; '.join(problems[:1]) or hint}")
    kept = [(item, said) for item, (said, place) in answers.items() if place != COMMAND_LINE]
    yes, no = ([item for item, said in kept if said == word and item not in contradicted] for word in ("yes", "no"))
    places = {item: place.removeprefix("in ") for item, (_, place) in answers.items()}
    return Known(yes, no, problems, later, places, texts)


def _unmarked(reference: Reference) -> Reference:
    """A record without the apostrophes that an export to spreadsheets has."""
    if reference.form != TABLE:
        return reference
    return replace(reference, fields=tuple((tag, unmarked(value)) for tag, value in reference.fields))


def _line(problem: str) -> int:
    """The number of the line or record that a problem is in, 0 without one."""
    numbers = re.findall("[0-9]+", problem.partition(":")[0])
    return int(numbers[-1]) if numbers else 0


def _answer(reference: Reference) -> str | None:
    """What a record says of itself: the last of its notes, else its column. Raises _Unclear."""
    said = {note: word for word, note in SAID.items() if word != LATER}  # records that nobody saw have that note too
    said |= {f"{OURS}{text}": word for word, text in WORDS.items()}
    found = []
    for tag, value in reference.fields:
        text = bibtex_plain(value) if reference.form == BIBTEX else value
        found += [said[part] for part in map(str.strip, re.split("[\\n,;]", text)) if part in said]
        found += [own for noted in _rayyan.finditer(text) if (own := _of_reviewers(noted[1])) is not None]
        if tag == BIBTEX_FIELDS[0] and text in ANSWERS:
            found.append(ANSWERS[text])
        elif _reason.match(text):
            found.append("no")
    if found or reference.form != TABLE:
        return _decided(reversed(found))
    return _answer_in_columns(reference)


def _decided(words: Iterable[str]) -> str | None:
    """The first yes or no; without one later, if that was said."""
    words = [*words]
    return next((word for word in words if word != LATER), LATER if words else None)


def _of_reviewers(noted: str) -> str | None:
    """What all reviewers of Rayyan said who decided. Raises _Unclear if they disagree."""
    words = {ANSWERS[said] for word in _said_in_rayyan.findall(noted) if (said := word.casefold()) in ANSWERS}
    if len(words - {LATER}) > 1:
        raise _Unclear(f"the reviewers disagree: {noted.strip():.80}")
    return _decided(words)


def _answer_in_columns(reference: Reference) -> str | None:
    """What the first column with a decision says. Raises _Unclear."""
    found = []
    cells = {plain_column(name): value.strip() for name, value in reference.fields}
    for name in DECISIONS:
        said = cells.get(name, "").casefold()
        if said in ANSWERS and ANSWERS[said] != LATER:
            return ANSWERS[said]
        found += [LATER] * (said in ANSWERS)
        if said not in (*ANSWERS, *OPEN):
            raise _Unclear(f"the decision is yes or no (or empty), not {cells[name]!r:.60}")
    found += [ANSWERS[said] for name in PERHAPS if (said := cells.get(name, "").casefold()) in ANSWERS]
    return _decided(found)


def _item_of(reference: Reference, reading: Reading) -> str:
    """The item that a reference is, by the surest of its names, its title last. Raises UnknownItem, AmbiguousItem."""
    title = reference.first("title")
    item = (
        next((own for tag, own in reference.fields if plain_column(tag) == "item"), "")
        if reference.form == TABLE
        else ""
    )
    names = ((item, True), (reference.doi, True), (reference.pmid, True), (reference.own_key, False))
    for name, is_sure in names:
        found = _found(reading, name) if name else None
        if found is not None and (is_sure or _has_title(reading, found, title)):
            return found
    called = title or next(filter(None, (name for name, _ in names)), "")
    if not called:
        raise _Unclear("an answer without a name: give an id, a DOI, a PMID or a title")
    try:
        return reading.find(called, hint=False)
    except UnknownItem:
        shown = next(filter(None, (name for name, _ in names[:3])), called)
        raise UnknownItem(f"the index has no {shown!r:.100}") from None


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
    shown, whole = plain_title(own), plain_title(title)
    return shown == whole or (own.endswith("…") and whole.startswith(shown))
