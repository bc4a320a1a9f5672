"""Items that wait to be written, their features as numbers, so that their texts can go."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from types import NoneType

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import InvalidItem
from setsearch.storage.names import storable
from setsearch.storage.texts import pack
from setsearch.text.analyzer import Vocabulary
from setsearch.text.tokenizer import Numbering

Features = str | Sequence[str] | Mapping[str, int]
Prepared = tuple[str, Features, str | None, str | None]  # id, features or a text, title, the text that is to be kept
BATCH = 2_000_000  # items and their features that are gathered before they are written
LARGEST_COUNT = 2**31 - 1
WAITING = 1 << 16  # characters of texts, and texts, that are looked through together: few enough for the cache


class Batch:
    """Some items: columns of them, and the numbers of their features in a vocabulary, one item behind the other.

    `numbering` makes terms of texts.
    """

    def __init__(self, vocabulary: Vocabulary, numbering: Numbering | None) -> None:
        self.names: list[str] = []
        self.titles: list[str | None] = []
        self.texts: list[bytes | None] = []
        self._vocabulary, self._numbering = vocabulary, numbering
        self._lengths = array("q")  # of those whose features have numbers
        self._numbers = array("i")
        self._counts: array[int] | None = None  # of the features, once an item came with counts

    @property
    def lengths(self) -> Ints:
        """How many features each item has, `(n_items,)`, repeated ones counted."""
        return np.array(self._lengths, np.int64)

    @property
    def numbers(self) -> Ints:
        """The features of all items."""
        return np.array(self._numbers, np.int64)

    @property
    def counts(self) -> Ints | None:
        """The counts of all features; None where all are 1."""
        return None if self._counts is None else np.array(self._counts, np.int64)

    def take(self, items: Iterable[Prepared]) -> bool:
        """Take items in until there are enough, or no more: whether the latter. Raises InvalidItem."""
        waiting, characters = [], 0
        for name, features, title, text in items:
            self.names.append(name)
            self.titles.append(title)
            self.texts.append(None if text is None else pack(text))
            if isinstance(features, str):
                waiting.append(features)
                characters += len(features) + 1
                if characters < WAITING:
                    continue
            self._put_texts(waiting)
            waiting, characters = [], 0
            if not isinstance(features, str):
                self._put_features(name, features)
            if len(self.names) + len(self._numbers) >= BATCH:
                return False
        self._put_texts(waiting)
        return True

    def check(self) -> None:
        """Raises InvalidItem for ids and titles that cannot be stored."""
        # Most are good, which is seen soonest by a look at all.
        if set(map(type, self.names)) != {str} or not storable("".join(self.names)) or not all(self.names):
            for name in self.names:
                if not storable(name):
                    raise InvalidItem(
                        f"an item has the id {name!r}; ids are text, not empty, without NUL and lone surrogates"
                    )
        if set(map(type, self.titles)) - {NoneType}:
            for name, title in zip(self.names, self.titles, strict=True):
                if title is not None and not (isinstance(title, str) and (title == "" or storable(title))):
                    raise InvalidItem(f"item {name!r} has the title {title!r}; titles are text")

    def _put_texts(self, texts: Sequence[str]) -> None:
        if texts:
            assert self._numbering is not None, "texts are for text collections"
            numbers, lengths = self._numbering.of_texts(texts)
            self._numbers.frombytes(numbers.tobytes())
            self._lengths.frombytes(lengths.tobytes())
            self._count(repeat(1, len(numbers)))

    def _put_features(self, name: str, features: Sequence[str] | Mapping[str, int]) -> None:
        if isinstance(features, (bytes, bytearray)):
            raise InvalidItem(f"item {name!r} has bytes for features; decode them")
        if isinstance(features, Mapping):
            _check_counts(name, features)
            if self._counts is None:
                self._counts = array("i", [1]) * len(self._numbers)
        before = len(self._numbers)
        try:
            self._numbers.extend(map(self._vocabulary.__getitem__, features))
        except TypeError as error:
            raise InvalidItem(f"the features of item {name!r} are not a list or mapping of texts: {error}") from error
        length = len(self._numbers) - before
        self._lengths.append(length)
        self._count(features.values() if isinstance(features, Mapping) else repeat(1, length))

    def _count(self, counts: Iterable[int]) -> None:
        if self._counts is not None:
            self._counts.extend(counts)


def _check_counts(name: str, counts: Mapping[str, int]) -> None:
    for feature, count in counts.items():
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count <= LARGEST_COUNT:
            raise InvalidItem(
                f"item {name!r} has feature {feature!r} {count!r} times; counts are integers from 0 to {LARGEST_COUNT}"
            )
