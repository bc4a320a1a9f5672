"""Collections to measure on, and what is made of their texts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
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
class Collection:
    """Documents as arrays of word numbers: document i is `words[starts[i] : starts[i + 1]]`."""

    words: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]


def read_documents(source: str) -> list[Document]:
    """(id, text, title) of a source as `setsearch index` reads it, but for texts without words; ids d0, d1, ..."""
    given = SourceReader(Columns(), RowReader()).read([source])
    kept: list[Any] = [(text, title) for _, text, title, *_ in given if isinstance(text, str) and words(text)]
    return [(f"d{number}", text, title) for number, (text, title) in enumerate(kept)]


def numbered(texts: list[tuple[str, str]]) -> Collection:
    """The words of texts by number."""
    numbers = TermIds()
    documents = [[numbers[word] for word in words(text)] for _, text in texts]
    lengths = [len(document) for document in documents]
    return Collection(np.concatenate(documents), np.concatenate([[0], np.cumsum(lengths)]))


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
