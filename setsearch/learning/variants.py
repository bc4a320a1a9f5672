"""The documents of a collection, indexed in other ways, so that known sets tell which way finds them best."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import setsearch
from setsearch.answers.passages import text_of
from setsearch.answers.reading import Reading
from setsearch.arrays import Floats, Ints
from setsearch.errors import UsageError
from setsearch.learning.choices import weights_of
from setsearch.learning.evaluation import Score
from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import NO_TITLES, without_titles

NGRAMS = 4
LATENT = "vectors --latent"


@contextmanager
def open_variants(reading: Reading) -> Iterator[dict[str, Score]]:
    """Scores by the default model in indexes that are made for this, by the options that make them.

    Raises UsageError for anything but documents whose texts can be read.
    """
    with reading.stored() as fields:
        documents = _documents(fields, reading)
        ids = dict(zip((id for id, _, _ in documents.values()), documents, strict=True))
        size, analyzer = fields.items.next_id, fields.analyzer
    assert analyzer is not None
    has_titles = any(title for _, _, title in documents.values())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        scores = {}
        for number, (name, how) in enumerate(_ways(analyzer, has_titles).items()):
            index = stack.enter_context(setsearch.open(folder / f"{number}.db", create=True, contexts="off", **how))
            index.add((name, text, title) for name, (_, text, title) in documents.items())
            if name == LATENT:
                index.add_latent("documents")
            other = index.items("documents")
            scores[name] = _score(stack.enter_context(other.fields()), other.defaults, ids, size)
        yield scores


def _documents(fields: Fields, reading: Reading) -> dict[str, tuple[int, str, str | None]]:
    """(id, text, title) of every document by its name."""
    if reading.kind != "documents" or fields.analyzer is None or fields.analyzer.function is not None:
        raise UsageError(f"--variants are ways to index documents by our own analyzers; {reading.name} are none")
    documents = {}
    for id, (name, title) in fields.describe(fields.item_ids().tolist()).items():
        text = text_of(fields, id)
        if text is None:
            raise UsageError(f"--variants need texts, and that of {name!r} is gone; index the files again")
        documents[name] = (id, text, title)
    return documents


def _ways(analyzer: Analyzer, has_titles: bool) -> Mapping[str, dict[str, Any]]:
    """Options of `open` by those of the command line: what the collection has, and one thing more, or other."""
    kind, extras = analyzer.named, analyzer.extras
    own = {"language": analyzer.language, "stop_words": analyzer.drops, "analyzer": kind}
    ways = {LATENT: own}
    if analyzer.language is not None:
        name = "index without --stop-words" if analyzer.drops else "index --stop-words"
        ways[name] = own | {"stop_words": not analyzer.drops}
    if not extras.pairs:
        ways["index --pairs"] = own | {"analyzer": f"{kind}+pairs"}
    if not extras.ngrams:
        ways[f"index --ngrams {NGRAMS}"] = own | {"analyzer": f"{kind}+{NGRAMS}-grams"}
    if has_titles:
        weight, name = (0, NO_TITLES) if extras.titled or extras.titles else (1, "titles")
        names = [*without_titles(kind.split("+")), name]
        ways[f"index --title-weight {weight}"] = own | {"analyzer": "+".join(names)}
    return ways


def _score(fields: Fields, defaults: Defaults, names: Mapping[int, str], size: int) -> Score:
    """Scores by the ids of the collection, `(size,)`, given the names of these."""
    ids = np.array(list(names))
    found = fields.items.find(list(names.values()))
    own = np.full(size, -1)
    own[ids] = [found[name] for name in names.values()]

    def score(seeds: Ints) -> Floats:
        """The scores of all items."""
        scores = np.full(size, -np.inf)
        scores[ids] = weights_of(fields, defaults, {"model": "lift"}, np.sort(own[seeds])).scores()[own[ids]]
        return scores

    return score
