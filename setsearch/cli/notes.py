"""What to say about an answer beside its hits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import setsearch
from setsearch.answers.results import NOTHING_SHARED, odd_note
from setsearch.cli.messages import say
from setsearch.errors import number_of
from setsearch.options import ModelOptions

if TYPE_CHECKING:
    from setsearch.answers.answer import Hits
    from setsearch.answers.saved.item_sets import AnyReading, ItemSet
    from setsearch.spark import SparkReading

Seeds = list[str] | dict[str, float]  # with their weights


def tell_gone(saved: "ItemSet", db: str) -> None:
    """Say which members of a set, whose present ones were read, the index has no longer."""
    from setsearch.answers.saved.item_sets import gone_note

    if saved.gone:
        say(f"note: {gone_note(db, saved.name, saved.gone)}")


def tell_ids(reading: "AnyReading", seeds: Seeds) -> None:
    """Say that the numbers that were taken for words are ids of documents, too, as those of rows are."""
    if isinstance(reading, setsearch.Reading) and reading.kind == "terms" and seeds and all(map(str.isdecimal, seeds)):
        with reading.stored() as fields:
            documents = fields.first.features
            if all(documents.find_one(seed) is not None for seed in seeds):
                say(f"note: these are words; for the {documents.name} of these ids: --items {documents.name}")


def tell_notes(reading: "AnyReading | SparkReading", seeds: Seeds, hits: "Hits", model: ModelOptions) -> None:
    """Say which seeds count otherwise than the rest, what the hits do not show, and that there are none."""
    for note in notes_on(reading, seeds, hits, model):
        say(f"note: {note}")


def notes_on(reading: "AnyReading | SparkReading", seeds: Seeds, hits: "Hits", model: ModelOptions) -> Iterator[str]:
    """What `tell_notes` says."""
    from setsearch.search.cutoff import ENOUGH, odd_one

    weights = seeds if isinstance(seeds, dict) else {}
    yield from reading.word_notes(seeds, **model)
    if isinstance(reading, setsearch.Reading):
        yield from _unapplied(reading)
    weighty = [seed for seed in seeds if weights.get(seed, 1.0) >= 1]
    odd = odd_one(reading.fits(weighty, **model)) if len(weighty) >= ENOUGH else None
    if odd is not None:
        yield odd_note(odd.item, odd.title)
    if hits.untold:
        yield hits.untold
    if hits.groups or hits.beside:
        yield f"{hits.tell_groups()}; --groups 1 makes one list"
    if hits.contexts_revision not in (None, hits.revision):
        yield f"contexts know write {hits.contexts_revision} of {hits.revision}; --fresh now derives them again"
    if hits.learned:
        yield "scores are margins, learned from what was accepted and rejected; --gamma 0 only leaves out"
    folded = sum(len(hit.duplicates) for hit in hits)
    if folded:
        yield f"{folded} near-duplicate{'s are' if folded > 1 else ' is'} folded; --unfold lists them"
    if not hits:
        yield NOTHING_SHARED


def _unapplied(reading: "setsearch.Reading") -> Iterator[str]:
    """Say that rows of the table that is followed changed since it was read."""
    from setsearch.storage.synced_source import count_changes, load_source

    with reading.stored() as fields:
        source = load_source(fields.relation)
        changes = count_changes(fields.relation) if source is not None and source.tracked else 0
    if source is not None and changes:
        what = f"{number_of(changes, 'change')} of {source.name}"
        yield f"{what} came after this; `setsearch update` applies {'them' if changes > 1 else 'it'}"
