"""Collections to measure on: made from a seed, with Zipf vocabularies, as words have them; or read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import TermIds

Document = tuple[str, str, str | None]  # id, text, title

words = Analyzer()  # those of a text
ACCENTS = str.maketrans("aeiouAEIOU", "\u00e1\u00e9\u00ed\u00f3\u00fa\u00c1\u00c9\u00cd\u00d3\u00da")


@dataclass(frozen=True)
class Shape:
    """Size of a collection; `flatness` is Mandelbrot's shift: how many frequent words are missing at the top.

    With `topics`, each document has one, from whose own words three tenths of its words come.
    """

    documents: int
    terms: int
    entries: int
    flatness: float
    exponent: float = 1.0
    topics: int = 0


OF_TOPIC = 200  # words that a topic has of its own
TOPICAL = 0.3  # of the words of a document

# A has the size of the paper's encyclopedia (30,991 x 15,276, 2.4 M entries), without stop words; B is a million short
# documents, with them.
SHAPES = {
    "A": Shape(31_000, 15_000, 2_400_000, flatness=30),
    "A, stop words kept": Shape(31_000, 15_000, 2_400_000, flatness=2.7),
    "B": Shape(1_000_000, 200_000, 7_400_000, flatness=2.7),
}


@dataclass(frozen=True)
class Collection:
    """Documents as arrays of word numbers: document i is `words[starts[i] : starts[i + 1]]`, on topic `topics[i]`.

    Without `vocabulary`, the words themselves, they are "w0", "w1", and so on; without topics, all are on topic 0.
    """

    words: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    topics: npt.NDArray[np.int64]
    vocabulary: tuple[str, ...] = ()

    def texts(self) -> list[tuple[str, str]]:
        """(id, text) of every document."""
        names = np.array(self.vocabulary or [f"w{n}" for n in range(int(self.words.max()) + 1)], object)
        tokens, starts = names[self.words], self.starts.tolist()
        return [(f"d{i}", " ".join(tokens[a:b])) for i, (a, b) in enumerate(pairwise(starts))]


def generate(shape: Shape, seed: int = 0) -> Collection:
    """Documents of log-normal length whose words are drawn from the Zipf-Mandelbrot law.

    The lengths are scaled until the collection has about the number of distinct entries that the shape asks for.
    """
    rng = np.random.default_rng(seed)
    law = (np.arange(1, shape.terms + 1) + shape.flatness) ** -shape.exponent
    cumulative = np.cumsum(law / law.sum())
    relative = rng.lognormal(0, 0.6, shape.documents)
    mean = shape.entries / shape.documents
    for _ in range(4):
        lengths = np.maximum(1, np.rint(relative / relative.mean() * mean)).astype(np.int64)
        words = np.searchsorted(cumulative, rng.random(int(lengths.sum()))).clip(max=shape.terms - 1)
        document = np.repeat(np.arange(shape.documents), lengths)
        topics = np.arange(shape.documents) % max(shape.topics, 1)
        if shape.topics:
            own = rng.integers(0, shape.terms, (shape.topics, OF_TOPIC))
            chosen = np.flatnonzero(rng.random(len(words)) < TOPICAL)
            ranks = (OF_TOPIC ** rng.random(len(chosen))).astype(np.int64) - 1  # Zipf's law again
            words[chosen] = own[topics[document[chosen]], ranks]
        entries = len(np.unique(document * shape.terms + words))
        if abs(entries / shape.entries - 1) < 0.01:
            break
        mean *= shape.entries / entries
    return Collection(words, np.concatenate([[0], np.cumsum(lengths)]), topics)


def read_documents(source: str) -> list[tuple[str, str, str | None]]:
    """(id, text, title) of a source as `setsearch index` reads it, but for texts without words; ids d0, d1, ..."""
    given = SourceReader(Columns(), RowReader()).read([source])
    kept: list[Any] = [(text, title) for _, text, title, *_ in given if isinstance(text, str) and words(text)]
    return [(f"d{number}", text, title) for number, (text, title) in enumerate(kept)]


def read_texts(source: str) -> list[tuple[str, str]]:
    """The same without titles."""
    return [(id, text) for id, text, _ in read_documents(source)]


def read(source: str) -> Collection:
    """The documents of a folder or a file."""
    return numbered(read_texts(source))


def numbered(texts: list[tuple[str, str]]) -> Collection:
    """The words of texts by number."""
    numbers = TermIds()
    documents = [[numbers[word] for word in words(text)] for _, text in texts]
    lengths = [len(document) for document in documents]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Collection(np.concatenate(documents), starts, np.zeros(len(documents), np.int64), tuple(numbers))


def with_marks(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with letters beyond ASCII: of eleven words one has accents, one quotes, one a dash before it."""
    for id, text, title in documents:
        pieces = text.split(" ")
        for place in range(0, len(pieces) - 10, 11):
            pieces[place] = pieces[place].translate(ACCENTS)
            pieces[place + 4] = f"\u201c{pieces[place + 4]}\u201d"
            pieces[place + 8] = f"\u2014{pieces[place + 8]}"
        yield id, " ".join(pieces), title


def in_lines(documents: Iterable[Document]) -> Iterator[Document]:
    """Short texts: the words of the documents in lines of eight to twelve, a million at most."""
    lengths, pieces = cycle((8, 11, 9, 12, 10)), (word for _, text, _ in documents for word in text.split())
    lines = iter(lambda: " ".join(islice(pieces, next(lengths))), "")
    return ((str(number), line, None) for number, line in enumerate(islice(lines, 1_000_000)))
