"""A review: a person says yes or no to one item after another, and each answer changes what comes next.

Its state is a saved set in the database. Nothing is lost when a page closes or a server is killed, and several people
may decide at once.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from setsearch.answers.answer import Hits
from setsearch.answers.highlight import item_text
from setsearch.answers.reading import Reading
from setsearch.answers.saved.decisions import Decision
from setsearch.answers.saved.item_sets import require_one_side, those_gone
from setsearch.errors import InvalidParameter, NoSeeds, NothingToRank
from setsearch.index import Index
from setsearch.indexing.references.items import stored_reference
from setsearch.indexing.references.reference import Reference
from setsearch.learning.stopping import CONFIDENCE, RECALL, Outlook, outlook
from setsearch.options import ExpandOptions, Id, Ids
from setsearch.search.request import id_list, positive_integer
from setsearch.storage.ids import plain_name

MOST_AUTHORS = 6  # that are shown


class Record(NamedTuple):
    """A document as a reader sees it: its whole title, its text without it, and the reference that it comes from."""

    title: str
    text: str
    reference: Reference | None = None

    @property
    def source(self) -> str:
        """Who wrote it, where, and when; empty without a reference."""
        if self.reference is None:
            return ""
        authors = self.reference.values("author")
        named = "; ".join(authors[:MOST_AUTHORS]) + " et al." * (len(authors) > MOST_AUTHORS)
        parts = (named, self.reference.first("journal"), self.reference.year)
        return " ".join(f"{part.rstrip('.')}." for part in parts if part)


class Progress(NamedTuple):
    """How far a review is.

    `records` of which `read` were decided and `found` accepted, both with those known from the start; `curve`: how many
    were found after each decision; `outlook`: what is left; `may_stop`: whether the promised recall is reached.
    """

    records: int
    read: int
    found: int
    curve: list[int]
    outlook: Outlook
    may_stop: bool


class Review:
    """A review of items, under a name; `recall` is promised with `confidence` when it may stop."""

    def __init__(
        self,
        index: Index,
        name: str,
        items: str | None = None,
        *,
        recall: float = RECALL,
        confidence: float = CONFIDENCE,
    ) -> None:
        saved = index.set(name, items if items is not None or name in index.sets() else _documents(index))
        reading = index.reading(saved.items)
        if not isinstance(reading, Reading):
            raise InvalidParameter(f"{saved.items} are described by numbers; a review needs features")
        for value, what in ((recall, "recall"), (confidence, "confidence")):
            if not 0 < value < 1:
                raise InvalidParameter(f"the {what} lies between 0 and 1, as 0.95; it is not {value!r}")
        self.name, self.reading = name, reading
        self.recall, self.confidence = recall, confidence
        self._decisions = index.decisions(name, reading.name)

    def decisions(self) -> list[Decision]:
        """What was decided, in order; what was known from the start comes first."""
        return self._decisions.read()

    def decide(
        self, item: Id, said: str, *, reason: str | None = None, note: str | None = None, replaces: str | None = None
    ) -> Decision | None:
        """Say "yes", "no" or "later" to an item, with a reason for an exclusion, and a note.

        A note stays until another is given. Another answer is replaced, and returned, if this object gave it, or if it
        is what it `replaces` ("yes", "no"). Raises UnknownItem, InvalidParameter, AnsweredMeanwhile for any other
        answer, and ChangedSet if somebody has deleted the set.
        """
        item = self.reading.find(item)
        before = self._decisions.write({item: said}, {item: (reason, note)}, replaces=replaces)
        return next((own for own in before if own.said not in ("later", said)), None)

    def know(
        self,
        accepted: Ids = (),
        rejected: Ids = (),
        texts: Mapping[str, tuple[str, str]] | None = None,
    ) -> list[Decision]:
        """Items whose answer was known before; equal answers stay. Returns the other answers, which are replaced.

        `texts`: the reason and the note of some; equal answers take those that they lack.

        Raises UnknownItem, InvalidParameter; then nothing is written.
        """
        yes, no = (self.reading.find_all(id_list(ids, "ids")) for ids in (accepted, rejected))
        require_one_side(yes, no)
        known = dict.fromkeys(yes, "yes") | dict.fromkeys(no, "no")
        before = {own.item: own for own in self.decisions() if own.said != "later" and own.item in known}
        new = {item: said for item, said in known.items() if item not in before or before[item].said != said}
        if new:
            self._decisions.write(new, texts or {}, known=True)
        lacking = {item: own for item, own in (texts or {}).items() if item in before and item not in new}
        if lacking:
            self._decisions.complete(lacking)
        return [before[item] for item in new if item in before]

    def undo(self, item: str | None = None) -> Decision | None:
        """Take the last decision back, or that about an item (`Decisions.undo`); None if there is none."""
        return self._decisions.undo(item)

    def restore(self) -> None:
        """Bring a review back that somebody else has deleted, with the answers that this object has seen."""
        self._decisions.restore()

    def queue(self, k: int = 1, *, item: str | None = None) -> Hits:
        """The k items to look at next, with explanations; those put off come last. Empty when all are decided.

        An `item` that is not decided is the only one. Items that have left the index do not count. Raises NoSeeds if
        nothing was accepted.
        """
        k, said = positive_integer(k), self._said()
        later, gone = set(said["later"]), set(those_gone(self.reading, [*said["yes"], *said["no"]]))
        yes, no = ([item for item in said[word] if item not in gone] for word in ("yes", "no"))
        if len(yes) + len(no) >= self.reading.item_count():
            return Hits()
        if not yes:
            raise NoSeeds(f"the review {self.name!r} has no accepted item to begin with; accept one")
        try:
            how: ExpandOptions = {"exclude": no, "explain": True, "feedback": 0.0, "groups": 1}
            if item is not None and item not in yes and item not in no:
                how["among"] = [item]
            hits = self.reading.expand(yes, k + len(later), **how)
        except NothingToRank:
            return Hits() if item is None else self.queue(k)  # it has left the index
        first = [hit for hit in hits if hit.item not in later]
        return hits.with_hits([*first, *(hit for hit in hits if hit.item in later)][:k])

    def record(self, item: str, title: str | None) -> Record:
        """The title and the text of an item; titles of the index may be cut. Raises UnknownItem."""
        reference = self.references([item]).get(item)
        if reference is not None:
            parts = ("\n".join(reference.values(role)) for role in ("other_title", "abstract", "other_abstract"))
            keywords = "; ".join(reference.keywords)
            text = "\n\n".join(filter(None, (*parts, keywords)))
            return Record(reference.first("title") or title or item, text, reference)
        text = item_text(self.reading, item) or ""
        first, _, rest = text.partition("\n")
        if title and first.startswith(title.removesuffix("…")):
            return Record(first, rest.strip())
        return Record(title or item, text.strip())

    def references(self, items: Sequence[str] | None = None) -> dict[str, Reference]:
        """The references that items come from, as they came; of all items by default. Raises CorruptIndex."""
        with self.reading.stored() as fields:
            vocabulary = fields.items
            ids = None if items is None else [*vocabulary.find(list(items)).values()]
            records = vocabulary.records.read(ids)
            names = vocabulary.describe(sorted(records))
        found = ((names[id][0], stored_reference(data)) for id, data in records.items() if id in names)
        return {name: reference for name, reference in found if reference is not None}

    def progress(self) -> Progress:
        """How far it is."""
        decided = [decision for decision in self.decisions() if decision.said != "later"]
        labels = [int(decision.said == "yes") for decision in decided if decision.number is not None]
        known = len(decided) - len(labels)
        records, found = self.reading.item_count(), sum(decision.said == "yes" for decision in decided)
        ahead = outlook(labels, max(records - known, len(labels)), self.recall, self.confidence)
        may_stop = ahead.chance < 1 - self.confidence
        curve = [*accumulate(labels, initial=found - sum(labels))][1:]
        return Progress(records, len(decided), found, curve, ahead, may_stop)

    def _said(self) -> dict[str, list[str]]:
        said: dict[str, list[str]] = {"yes": [], "no": [], "later": []}
        for decision in self.decisions():
            said[decision.said].append(decision.item)
        return said


def _documents(index: Index) -> str | None:
    """Documents, if there are some: a review seldom is of words."""
    names = [reading["items"] for reading in index.readings()]
    return next((name for name in names if plain_name(name) == "documents"), None)
