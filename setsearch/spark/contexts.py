"""Contexts of words by operations on DataFrames: the words, phrases and fields of text/contexts.py.

Workers turn batches of documents into streams of numbered tokens (text/token_stream.py), of which each gives its own
counts; Spark adds these up. What depends on the whole collection is decided on the driver: the numbers of words, which
pairs are phrases, which words are items.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow
from pyarrow import Array, RecordBatch
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import Ints, offsets, positions, run_lengths, run_starts
from setsearch.spark.builder import Numbered, numbered, staged
from setsearch.spark.layout import by_batch, local
from setsearch.text.analyzer import Analyzer
from setsearch.text.contexts import (
    FIELDS,
    LEAST_ITEMS,
    PATTERN_SHIFT,
    ContextPairs,
    Items,
    choose_items,
    describe_context,
    document_field,
    words_of_titles,
)
from setsearch.text.token_stream import (
    ARTICLES,
    CONJUNCTIONS,
    FIRST_WORD,
    MARKS,
    MOST_WORDS,
    PHRASE_COUNT,
    RARE,
    Tokens,
    TokenStream,
    choose_phrases,
    count_pairs,
    merge_pairs,
    parts_of_phrases,
    separate,
    tokenize,
    word_order,
)

TOKENS = "document string, title string, tokens array<string>"
ITEMS = "terms in context"
LENGTH = ""  # stands for the number of all tokens among the counts of words

Columns = dict[str, Any]


@dataclass(frozen=True)
class Words:
    """The numbered tokens of a collection: names, how often each occurs, and how many tokens there are."""

    names: list[str]
    counts: Ints
    n_tokens: int


def context_relations(
    texts: DataFrame, analyzer: Analyzer, phrases: bool, documents: DataFrame, stage: str
) -> Iterator[Numbered]:
    """The fields of words, given texts (name, text) and documents (id, name, title)."""
    titled = texts.join(documents.select("name", "title"), "name", "left")
    tokens = staged(titled.mapInArrow(by_batch(partial(_tokenize, analyzer.spec)), TOKENS), f"{stage}/tokens")
    words = _count_words(tokens)
    for step in range(2 if phrases else 0):
        merged = _merge_phrases(tokens, words, f"{stage}/merged-{step}")
        if merged is not None:
            tokens, words = merged, _count_words(merged)
    chosen = choose_items(words.names, words.counts, words.n_tokens, analyzer)
    items = local(tokens.sparkSession, enumerate(chosen.names), id="int64", name="string")
    items = staged(items.withColumn("title", F.lit(None).cast("string")), f"{stage}/words")
    schema = "field string, key bigint, item bigint, count bigint"
    counted = tokens.mapInArrow(_on_streams(partial(_count_contexts, chosen), words.names), schema)
    summed = staged(counted.groupBy("field", "key", "item").agg(F.sum("count").alias("count")), f"{stage}/contexts")
    for field, patterns in FIELDS.items():
        own, place = summed.filter(F.col("field") == field), f"{stage}/keys-{field}"
        keys = own.groupBy("key").count().filter(F.col("count") >= LEAST_ITEMS.get(patterns[0], 2)).select("key")
        features = numbered(tokens.sparkSession, keys, "key", place)
        named = features.mapInArrow(by_batch(partial(_describe, field, words.names)), "id bigint, name string")
        described = named.withColumn("title", F.lit(None).cast("string"))
        cells = own.join(features, "key").select("item", F.col("id").alias("feature"), "count")
        yield Numbered((ITEMS, f"contexts {field}"), items, described, cells)
    schema = "document string, item bigint, count bigint"
    found = tokens.mapInArrow(_on_streams(partial(_count_documents, chosen.of), words.names), schema)
    known = documents.select(F.col("id").alias("feature"), F.col("name").alias("document"))
    yield Numbered((ITEMS, "documents"), items, documents, found.join(known, "document").drop("document"))


def _count_words(tokens: DataFrame) -> Words:
    counted = tokens.mapInArrow(_on_streams(_count_names), "name string, count bigint")
    summed = counted.groupBy("name").agg(F.sum("count").alias("count")).cache()
    length: Any = summed.filter(F.col("name") == LENGTH).first()
    kept = (F.col("count") > 1) | F.col("name").isin(*CONJUNCTIONS, *ARTICLES)
    rows = summed.filter(kept & ~F.col("name").isin(*MARKS)).orderBy(F.desc("count"), "name").limit(MOST_WORDS)
    found = rows.toArrow()
    summed.unpersist()
    names = [*MARKS, *found["name"].to_pylist()]
    counts = np.concatenate([np.zeros(len(MARKS), np.int64), found["count"].to_numpy()])
    order = word_order(names, counts)
    return Words([names[number] for number in order], counts[order], 2 + (0 if length is None else length["count"]))


def _merge_phrases(tokens: DataFrame, words: Words, place: str) -> DataFrame | None:
    """The tokens with phrases merged; None if there are none."""
    parts = parts_of_phrases(words.counts, words.n_tokens)
    pairs = tokens.mapInArrow(_on_streams(partial(_count_pairs, parts), words.names), "pair bigint, count bigint")
    summed = pairs.groupBy("pair").agg(F.sum("count").alias("count")).filter(F.col("count") >= PHRASE_COUNT)
    found = summed.orderBy("pair").toArrow()
    chosen = choose_phrases((found["pair"].to_numpy(), found["count"].to_numpy()), words.counts, words.n_tokens)
    if not len(chosen):
        return None
    return staged(tokens.mapInArrow(_on_streams(partial(_merge, chosen), words.names), TOKENS), place)


def _tokenize(spec: str, batch: RecordBatch) -> Columns:
    """Texts (name, text, title) as tokens."""
    words, (names, texts, titles) = Analyzer.from_spec(spec).words, map(batch.column, ("name", "text", "title"))
    tokens = tokenize(enumerate(text or "" for text in texts.to_pylist()), words)
    titles = [*words_of_titles(words, zip(names.to_pylist(), titles.to_pylist(), strict=True))]
    return {"document": names, "title": titles, "tokens": _lists(tokens.tokens, tokens.lengths, tokens.names)}


def _on_streams(
    function: Callable[[RecordBatch, TokenStream], Columns], names: list[str] | None = None
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """A function for the workers: what another one makes of batches of tokens, numbered by these names."""

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        numbers = None if names is None else dict(zip(names, range(len(names)), strict=True))
        yield from by_batch(lambda batch: function(batch, _stream(batch, names, numbers)))(batches)

    return run


def _stream(batch: RecordBatch, names: list[str] | None, numbers: dict[str, int] | None) -> TokenStream:
    """The stream of some documents; words without a number are RARE, unless there are no numbers yet."""
    tokens = batch.column("tokens")
    coded = tokens.flatten().dictionary_encode()
    own = coded.dictionary.to_pylist()
    if names is None or numbers is None:
        names = [*MARKS, *(name for name in own if name not in MARKS)]
        numbers = dict(zip(names, range(len(names)), strict=True))
    number_of = np.array([numbers.get(name, RARE) for name in own], np.int32)
    lengths = np.asarray(tokens.value_lengths(), np.int64)
    codes = np.asarray(coded.indices, np.int64)
    return separate(Tokens(np.arange(len(lengths)), lengths, number_of[codes], names))


def _count_names(batch: RecordBatch, stream: TokenStream) -> Columns:
    counts = stream.counts[FIRST_WORD:]
    names = [name for name, count in zip(stream.names[FIRST_WORD:], counts.tolist(), strict=True) if count]
    return {"name": [LENGTH, *names], "count": [len(stream.tokens) - 2, *counts[counts > 0].tolist()]}


def _count_pairs(parts: npt.NDArray[np.bool_], batch: RecordBatch, stream: TokenStream) -> Columns:
    pairs, counts = count_pairs(stream, parts)
    return {"pair": pairs, "count": counts}


def _merge(phrases: Ints, batch: RecordBatch, stream: TokenStream) -> Columns:
    """The tokens of documents, without the BREAKs around them."""
    merged = merge_pairs(stream, phrases)
    ends = np.append(merged.starts[1:], len(merged.tokens))[: len(merged.starts)] - 2
    lengths = np.maximum(ends - merged.starts, 0)  # there is one BREAK behind an empty document
    tokens = merged.tokens[positions(merged.starts, lengths)]
    kept = {name: batch.column(name) for name in ("document", "title")}
    return kept | {"tokens": _lists(tokens, lengths, merged.names)}


def _count_contexts(items: Items, batch: RecordBatch, stream: TokenStream) -> Columns:
    pairs = ContextPairs(stream, items, batch.column("document").to_pylist(), batch.column("title").to_pylist())
    fields, parts = list[str](), list[tuple[Ints, Ints, Ints]]()
    for field, patterns in FIELDS.items():
        for number, pattern in enumerate(patterns):
            keys, found = pairs.of(pattern)
            order = np.lexsort((found, keys))
            keys, words = keys[order], found[order].astype(np.int64)
            first = run_starts(keys, words)
            parts.append((number << PATTERN_SHIFT | keys[first], words[first], run_lengths(first, len(keys))))
            fields += [field] * len(first)
    keys, words, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return {"field": fields, "key": keys, "item": words, "count": counts}


def _count_documents(item_of: Ints, batch: RecordBatch, stream: TokenStream) -> Columns:
    found = document_field(stream, item_of)
    documents = batch.column("document").take(pyarrow.array(found.lists))
    return {"document": documents, "item": found.ids.astype(np.int64), "count": found.counts.astype(np.int64)}


def _describe(field: str, names: list[str], batch: RecordBatch) -> Columns:
    """The ids of contexts (id, key), and these in words."""
    keys = batch.column("key").to_pylist()
    return {"id": batch.column("id"), "name": [describe_context(field, key, names.__getitem__) for key in keys]}


def _lists(tokens: Any, lengths: Ints, names: list[str]) -> Array:
    """Texts as lists of tokens."""
    values = pyarrow.DictionaryArray.from_arrays(pyarrow.array(tokens), pyarrow.array(names, pyarrow.string()))
    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets(lengths).astype(np.int32)), values.dictionary_decode())
