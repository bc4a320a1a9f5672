"""Latent vectors of words: those of a truncated decomposition, the same bytes in any order, made with the contexts."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from samples import KERNELS, with_kernels
from test_contexts import random_texts

import setsearch
from setsearch import errors
from setsearch.arrays import Entries
from setsearch.core import question
from setsearch.lists import Lists
from setsearch.memory.contexts import latent_words as latent
from setsearch.scoring.best import is_core

THREADS = "OPENBLAS_NUM_THREADS"
MAKE = """
import random, sys, zlib
import numpy as np
from setsearch.arrays import Entries
from setsearch.memory.contexts.latent_words import latent_array
from setsearch.lists import Lists
rng = np.random.default_rng(1)
cells = np.unique(rng.integers(0, 900 * 500, 30_000))
entries = Entries(cells // 500, cells % 500, rng.integers(1, 9, len(cells)))
print(zlib.crc32(latent_array(Lists.of(entries, 900, 500))))
"""


def counts_of(table):
    """A table of words x features as lists of the words of each feature."""
    features, words = np.nonzero(table.T)
    return Lists.of(Entries(features, words, table[words, features]), *reversed(table.shape))


def stored(table):
    """The vectors of a table, as stored."""
    return latent.latent_array(counts_of(table)).view(np.int8).reshape(-1, latent.SIZE)


def grouped(n_words=60, n_features=240, n_groups=6, seed=0):
    """Words of some groups, each of which has its own features: a table of so many dimensions."""
    chance = np.random.default_rng(seed)
    own = np.arange(n_features) % n_groups == np.arange(n_words)[:, None] % n_groups
    return np.where(own, chance.integers(20, 24, own.shape), 0)


def information(table):
    """x in nats, as the index rounds it."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    with np.errstate(divide="ignore"):
        return np.maximum(np.rint(np.log(table / expected) * latent.FINEST), 0) / latent.FINEST


def test_vectors_are_those_of_the_decomposition():
    table = np.random.default_rng(2).poisson(0.4, (48, 130))
    left, strengths, _ = np.linalg.svd(information(table), full_matrices=False)
    expected = (left * strengths) @ left.T  # products of the rows of U S^(1/2): all dimensions, as there are 48 words
    rows = stored(table).astype(float)
    lengths = np.sqrt(expected.diagonal())
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert rows @ rows.T == pytest.approx(expected / np.outer(lengths, lengths), abs=0.02)


def test_a_table_of_few_dimensions_is_reproduced():
    rows = stored(grouped()).astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    same = np.arange(60) % 6 == np.arange(60)[:, None] % 6
    assert rows @ rows.T == pytest.approx(same.astype(float), abs=0.02)


def test_roots_make_columns_orthogonal():
    rows = np.random.default_rng(0).normal(size=(300, latent.SIZE)) * np.geomspace(1, 30, latent.SIZE)
    found = latent._times_power(rows.copy(), -1 / 2)
    assert found.T @ found == pytest.approx(np.eye(latent.SIZE), abs=1e-4)


def test_rounding_leaves_what_sums_need():
    values = np.random.default_rng(0).normal(size=1000) * 1e9
    found = latent._rounded(values.copy(), 20)
    unit = 2.0 ** (np.frexp(np.abs(values).max())[1] - 20)
    assert np.array_equal(found, np.rint(values / unit) * unit)


def test_the_order_of_features_changes_no_byte():
    table = np.random.default_rng(3).poisson(0.4, (90, 400)) * 3
    expected = stored(table)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(400)
        assert np.array_equal(stored(table[:, order]), expected)


def test_places_of_a_table_take_four_bytes():
    entries = Entries(*map(np.ascontiguousarray, (*np.nonzero(grouped().T), grouped().T[np.nonzero(grouped().T)])))
    table = latent._information(Lists.of(entries, 240, 60))
    assert table.indices.dtype == table.indptr.dtype == np.int32


def test_lists_stay_as_they_are():
    table = np.random.default_rng(4).poisson(0.4, (30, 50))
    lists = counts_of(table)
    before = [own.copy() for own in lists.flat()]
    latent.latent_array(lists)
    assert all(map(np.array_equal, before, lists.flat()))


@pytest.mark.parametrize("shape", [(0, 0), (9, 40), (40, 9)])
def test_few_words_or_features_have_none(shape):
    assert not stored(np.ones(shape, np.int64)).any()


@pytest.mark.long
def test_neither_threads_nor_processes_change_a_byte():
    found = {
        subprocess.run(
            [sys.executable, "-c", MAKE], env=os.environ | {THREADS: n, "SETSEARCH_THREADS": n}, capture_output=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1 and found.pop()


def rows_of(index):
    with index.items("terms").fields(by="both") as fields:
        vectors, words = fields.vectors(), fields.items.words
    return {words[id]: row for id, row in zip(vectors.ids.tolist(), vectors.rows.tolist(), strict=True)}


def test_neither_the_order_of_documents_nor_writes_change_a_byte(tmp_path):
    texts = [*random_texts(2).items()]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts)
        expected, hits = rows_of(index), index.items("terms").expand(["lion"], 9)
    random.Random(0).shuffle(texts)
    with setsearch.open(tmp_path / "b.db", create=True, contexts="on") as index:
        index.add(texts[:-3])
        index.refresh("now")
        assert rows_of(index) != expected
        index.add(texts[-3:])
        index.refresh("now")
        assert rows_of(index) == expected
        assert index.items("terms").expand(["lion"], 9) == hits
    with setsearch.open(tmp_path / "b.db") as index:  # from the file of arrays
        assert index.items("terms").expand(["lion"], 9) == hits


def test_without_a_file_they_are_made_when_they_are_needed(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(random_texts(2).items())
        index.refresh("now")
        expected = rows_of(index)
    monkeypatch.setattr(latent, "_vectors", None)
    with setsearch.open(tmp_path / "a.db") as index:
        assert rows_of(index) == expected, "the file has them"
    monkeypatch.undo()
    monkeypatch.setenv("SETSEARCH_ARRAYS", "0")
    with setsearch.open(tmp_path / "b.db", create=True, contexts="on") as index:
        index.add(random_texts(2).items())
        index.refresh("now")
        assert rows_of(index) == expected


def test_kernels_find_the_same(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(random_texts(3).items())
        terms = index.items("terms")
        answers = with_kernels(lambda: terms.expand({"lion": 2, "pear": 0.5}, 99, cut="mark", explain=True))
    assert len(answers) == len(KERNELS) and all(own == answers[0] for own in answers)
    assert {"like in meaning"} < {part.feature for hit in answers[0] for part in hit.features}


def test_the_core_tells_what_belongs_with_neighbors_and_vectors(tmp_path, monkeypatch):
    """It is asked once, and for no sums of all words, but where words without contexts are among the examples."""
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([*random_texts(3).items(), ("rare", "okapi lion pear")])
        terms = index.items("terms")
        words = [*rows_of(index)][:3]
        expected = [(hit.item, hit.score, hit.belongs) for hit in terms.expand(words, cut="mark", explain=True)]
        asked, ask = [], question.ask_all
        monkeypatch.setattr(question, "ask_all", lambda questions: asked.extend(questions) or ask(questions))
        hits = terms.expand(words, cut="mark", fold=True)
        assert [(hit.item, hit.score, hit.belongs) for hit in hits] == expected
        terms.expand([*words, "okapi"], cut="mark")
    if is_core():
        assert [own.sums is None for own in asked[:2]] == [True, False]


def test_own_vectors_of_words_count_instead(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        terms = index.items("terms")
        words = [*rows_of(index)]
        chance = random.Random(1)
        index.add_vectors(words, [[chance.gauss(0, 1) for _ in range(8)] for _ in words], "terms")
        with terms.fields(by="both") as fields:
            assert fields.vectors().rows.shape == (len(words), 8)
        with pytest.raises(errors.UsageError, match="always have latent vectors"):
            index.add_latent("terms", replace=True)
