"""The forms of words in which stems are shown: the most frequent one, of equally frequent ones the first by name."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

import numpy as np

from setsearch.arrays import Ints, bincount, distinct, places_among, run_lengths, run_starts
from setsearch.text.token_stream import FIRST_WORD, Tokens

Stem = Callable[[str], str]


def numbers_of(names: Iterable[str]) -> Ints:
    """A number for each text, equal where texts are, whatever others there are."""
    digests = [blake2b(name.encode(), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), np.int64)


def stem_numbers(names: Sequence[str], stem: Stem, known: Ints) -> Ints:
    """A number for each word, equal where stems are; `known` are those of the first words."""
    return np.append(known, numbers_of(map(stem, names[len(known) :])))


def changed_forms(before: Tokens | None, written: Tokens, after: Tokens, stems: Ints, stem: Stem) -> dict[str, str]:
    """The shown forms of stems, by stem: of those in the texts that were written, and of those that have another one.

    `before` are the tokens that all forms are of now, None if there are none; names have the same numbers in all three.
    """
    labels, forms = _shown(after, stems)
    known_labels, known = (np.zeros(0, np.int64), forms[:0]) if before is None else _shown(before, stems)
    places, is_known = places_among(known_labels, labels)
    is_new = ~is_known
    is_new[is_known] = known[places[is_known]] != forms[is_known]
    is_new |= np.isin(labels, stems[distinct(written.tokens)])
    names = [after.names[number] for number in forms[is_new].tolist()]
    return {stem(name): name for name in names}


def _shown(texts: Tokens, stems: Ints) -> tuple[Ints, Ints]:
    """The numbers of the stems in some texts, ascending, and the number of the name of the shown form of each."""
    counts = bincount(texts.tokens, minlength=len(stems))
    words = np.flatnonzero(counts)
    words = words[words >= FIRST_WORD]
    words = words[np.lexsort((-counts[words], stems[words]))]
    first = run_starts(stems[words])
    forms, labels = words[first], stems[words[first]]
    equal = run_starts(stems[words], counts[words])  # the first of each stem is where the stem begins, too
    lengths = run_lengths(equal, len(words))[np.searchsorted(equal, first)]
    for place in np.flatnonzero(lengths > 1).tolist():
        tied = words[first[place] : first[place] + lengths[place]].tolist()
        forms[place] = min(tied, key=texts.names.__getitem__)
    return labels, forms
