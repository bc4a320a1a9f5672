"""What an answer says of words without contexts, or with some of them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from setsearch.answers.results import BY_DOCUMENTS, CONTEXTS_HELP
from setsearch.memory.fields import Fields

RARE, NEWER = "too rare for contexts", "newer than the contexts"
NEWER_OR_RARE = "newer than the contexts, or each of its forms is too rare for them"


def word_notes(fields: Fields | None, stored: Callable[[], Fields | None], seeds: Sequence[str]) -> Iterator[str]:
    """What is so of seeds whose contexts are missing, or are those of some of their uses."""
    if fields is None:
        return
    known = {seed: fields.knows(seed) for seed in seeds}
    for phrase in map(" ".join, pairwise(seeds)) if fields.relation.has_phrases else ():
        if fields.knows(phrase):
            yield f"{phrase!r} is a phrase, too; in quotes it is one example"
    rare = [seed for seed in seeds if not known[seed]]
    documents = stored() if rare else None
    reasons: dict[str, list[str]] = {}
    for seed in rare if documents is not None else ():
        reasons.setdefault(_why_unknown(fields, documents, seed), []).append(seed)
    for reason, names in reasons.items():
        yield without_contexts_note(names, reason, len(rare) == len(seeds))
    assert fields.uses is not None
    for seed in seeds:
        sample = fields.uses.sample(fields.resolve(seed)) if known[seed] else None
        if sample is not None:
            yield f"{seed}: contexts from a sample of {sample[0]:,} of its {sample[1]:,} uses"


def without_contexts_note(names: Sequence[str], reason: str, are_all: bool) -> str:
    """What it means for an answer that some of its seeds, or all, have no contexts."""
    only = "its documents count" if len(names) == 1 else "their documents count"
    return f"{', '.join(names)}: {reason}, so {'the answer is by documents' if are_all else f'only {only}'}"


def by_documents_note(fields: Fields) -> str:
    """Why words do not tell what belongs, and what to do."""
    return BY_DOCUMENTS + CONTEXTS_HELP * fields.relation.may_be_given_contexts


def _why_unknown(fields: Fields, documents: Fields | None, seed: str) -> str:
    """Why contexts do not know a word that the documents have."""
    assert documents is not None and fields.uses is not None
    used, least = int(documents.first.totals[documents.resolve(seed)]), fields.uses.least
    phrase = _phrase_with(fields, seed) if used >= least and documents.has_phrases else None
    if phrase is not None:
        return f"nearly always part of a phrase, such as {phrase!r}"
    if used < least or fields.contexts_revision == documents.relation.revision:
        return RARE
    has_forms = documents.analyzer is not None and documents.analyzer.has_stems
    return NEWER_OR_RARE if has_forms else NEWER


def _phrase_with(fields: Fields, seed: str) -> str | None:
    """The most frequent phrase that has a word; None without any."""
    word = seed.lower()
    phrases = fields.items.stored(fields.items.containing(word))
    ids = [id for id, (name, _) in phrases.items() if word in name.split()]
    totals = fields.first.totals
    return phrases[max(ids, key=lambda id: (totals[id], -id))][0] if ids else None
