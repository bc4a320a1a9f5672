"""Items that wait to be written: their features as numbers, so that their texts can be freed."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat

import numpy as np

from setsearch.arrays import LARGEST_COUNT, Ints
from setsearch.errors import InvalidItem
from setsearch.indexing.writing.item_fields import Names
from setsearch.storage.kept.records import Record
from setsearch.storage.kept.texts import encode_text
from setsearch.text.extras import TermIds
from setsearch.text.tokenizer import TOKENIZED_TOGETHER, Tokenizer

Features = str | Sequence[str] | Mapping[str, int]
OfFields = Mapping[str, float | Names]  # what an item has in fields beside the first one
# id, features or a text, title, the text to store, the columns to keep, the record, what other fields have
PreparedItem = tuple[str, Features, str | None, str | None, bytes | None, Record | None, OfFields]

FULL_BATCH = 2_000_000  # items and features
CHARACTERS = 2  # of a text that wait to be cut into words, for each feature: of some scripts it has as many features


class Batch:
    """Some items as columns, and the term numbers of their features, one item behind the other.

    Texts wait for `number`, which another thread may call. Other features get their numbers at once, since whoever
    gives them may change them.
    """

    def __init__(self, term_ids: TermIds, tokenizer: Tokenizer | None) -> None:
        self.names: list[str] = []
        self.titles: list[str | None] = []
        self.texts: list[bytes | None] = []
        self.columns: list[bytes | None] = []
        self.records: list[Record | None] = []
        self.fields: list[OfFields] = []
        self.n_terms = 0  # numbers that were given to features of this batch and those before
        self._term_ids, self._tokenizer = term_ids, tokenizer
        self._waiting = list[list[str]]()  # texts
        self._others = 0  # features of other fields
        self._lengths = array("q")
        self._numbers = array("i")
        self._counts: array[int] | None = None  # of the features, once an item comes with counts

    @property
    def lengths(self) -> Ints:
        """How many features each item has, `(n_items,)`, repetitions included."""
        return np.array(self._lengths, np.int64)

    @property
    def numbers(self) -> Ints:
        """The term numbers of all items."""
        return np.array(self._numbers, np.int64)

    @property
    def counts(self) -> Ints | None:
        """The counts of all features; None if all are 1."""
        return None if self._counts is None else np.array(self._counts, np.int64)

    def fill(self, items: Iterable[PreparedItem], before: Callable[[], None]) -> bool:
        """Add items until the batch is full; returns whether all were added. Raises InvalidItem.

        `before` waits for the numbers of the batch before this one, so that all features get theirs in order.
        """
        texts, characters, waiting = list[str](), 0, 0
        for name, features, title, text, columns, record, fields in items:
            self.names.append(name)
            self.titles.append(title)
            self.texts.append(None if text is None else encode_text(text))
            self.columns.append(columns)
            self.records.append(record)
            self.fields.append(fields)
            if fields:
                self._others += sum(len(own) if isinstance(own, Mapping) else 1 for own in fields.values())
            if isinstance(features, str):
                texts.append(features)
                characters += len(features) + 1
                if characters < TOKENIZED_TOGETHER:
                    continue
            self._waiting.append(texts)
            waiting += characters
            texts, characters = [], 0
            if not isinstance(features, str):
                before()
                self.number()
                waiting = 0
                self._add_features(name, features)
            if len(self.names) + len(self._numbers) + self._others + waiting // CHARACTERS >= FULL_BATCH:
                return False
        self._waiting.append(texts)
        return True

    def number(self) -> None:
        """Give numbers to the features of the texts that wait."""
        for texts in self._waiting:
            self._add_texts(texts)
        self._waiting = []
        self.n_terms = len(self._term_ids.names)

    def _add_texts(self, texts: Sequence[str]) -> None:
        if texts:
            assert self._tokenizer is not None, "texts are for text collections"
            numbers, lengths = self._tokenizer.tokenize(texts)
            self._numbers.frombytes(numbers.tobytes())
            self._lengths.frombytes(lengths.tobytes())
            self._add_counts(repeat(1, len(numbers)))

    def _add_features(self, name: str, features: Sequence[str] | Mapping[str, int]) -> None:
        if isinstance(features, (bytes, bytearray)):
            raise InvalidItem(f"item {name!r} has bytes as features; decode them")
        if isinstance(features, Mapping):
            check_counts(name, features)
            if self._counts is None:
                self._counts = array("i", [1]) * len(self._numbers)
        before = len(self._numbers)
        try:
            self._numbers.extend(map(self._term_ids.__getitem__, features))
        except TypeError as error:
            raise InvalidItem(f"the features of item {name!r} are not a list or mapping of texts: {error}") from error
        length = len(self._numbers) - before
        self._lengths.append(length)
        self._add_counts(features.values() if isinstance(features, Mapping) else repeat(1, length))

    def _add_counts(self, counts: Iterable[int]) -> None:
        if self._counts is not None:
            self._counts.extend(counts)


def check_counts(name: str, counts: Mapping[str, int]) -> None:
    """Raise InvalidItem for counts of an item that cannot be stored."""
    for feature, count in counts.items():
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count <= LARGEST_COUNT:
            raise InvalidItem(
                f"item {name!r} has feature {feature!r} {count!r} times; counts are integers from 0 to {LARGEST_COUNT}"
            )
