"""Random sequences of writes, against a plain dict: postings, frequencies and scores equal those of the content."""

import tempfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import (
    RARITY,
    lift_scores,
    lift_weights,
    log_scores,
    presence,
    same_scores,
    soft_values,
    transpose,
    twice_mean,
)
from samples import delete_arrays

import setsearch
from setsearch import errors
from setsearch import lists as flat
from setsearch.indexing.writing import batch
from setsearch.scoring import postings as valued_lists
from setsearch.storage import forward_lists, generations, names

item_ids = st.sampled_from([f"i{n}" for n in range(12)])
contents = st.dictionaries(
    st.sampled_from([f"f{n}" for n in range(10)]), st.sampled_from([0, 1, 1, 2, 300, 70_000]), max_size=8
)
batches = st.dictionaries(item_ids, contents, max_size=6)
RATINGS = {"slope": 1.0, "binarization": "presence", "rarity": 0.0}
TEXTS = {"slope": 0.8, "binarization": "soft-twice-mean", "rarity": RARITY}
RELATIONS = {("film", "user"): RATINGS, ("documents", "terms"): TEXTS}  # what lift does there by default


def default_scores(rows, seeds, slope, binarization, rarity):
    """Those of the model lift, by all features if no other item has one of positive weight."""
    values = soft_values(rows, slope, binarization)
    positive = {f for f, weight in lift_weights(values, seeds, 2.0, rarity=rarity).items() if weight > 0}
    reaches_others = any(positive & own.keys() for item, own in values.items() if item not in seeds)
    return lift_scores(rows, seeds, 2.0, slope, binarization if reaches_others else "presence", rarity)


class Writes(RuleBasedStateMachine):
    """Add, update, delete, replace and reopen, with blocks and batches so small that all paths are walked.

    Of ratings and of documents, whose default model asks otherwise.
    """

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.small = pytest.MonkeyPatch()
        self.small.setattr(forward_lists, "FULL_BLOCK", 3)
        self.small.setattr(batch, "FULL_BATCH", 7)
        self.small.setattr(names, "NAMES_OF_INSERT", 2)
        self.small.setattr(generations, "SLICE", 4)
        self.small.setattr(flat, "ROOM", 0)
        self.small.setattr(flat, "LEAST_ROOM", 4)
        self.small.setattr(flat, "MOST_CHANGES", 9)
        self.small.setattr(valued_lists, "AHEAD", 3)
        self.small.setattr(valued_lists, "AHEAD_IN_CORE", 3)
        self.small.setattr(valued_lists, "NOTHING_AHEAD", 2)
        self.content = {}

    @initialize(first=batches, names=st.sampled_from([*RELATIONS]))
    def build(self, first, names):
        self.index = setsearch.open(Path(self.folder.name) / "machine.db", create=True)
        self.index.add(first.items(), names)
        self.names = names
        self.content = dict(first)

    @rule(batch=batches)
    def update(self, batch):
        assert self.index.update(batch.items()) == len(batch)
        self.content |= batch

    @rule(batch=batches)
    def add(self, batch):
        if batch.keys() & self.content.keys():
            with pytest.raises(errors.DuplicateItem):
                self.index.add(batch.items())
        else:
            self.index.add(batch.items())
            self.content |= batch

    @rule(ids=st.lists(item_ids, max_size=4))
    def delete(self, ids):
        if set(ids) <= self.content.keys():
            assert self.index.delete(ids) == len(set(ids))
            self.content = {item: c for item, c in self.content.items() if item not in ids}
        else:
            with pytest.raises(errors.UnknownItem):
                self.index.delete(ids)

    @rule(batch=batches)
    def replace(self, batch):
        self.index.replace(batch.items())
        self.content = dict(batch)

    @rule(batch=batches)
    def fail_halfway(self, batch):
        def items():
            yield from batch.items()
            yield "late", {"f1": -1}

        with pytest.raises(errors.InvalidItem):
            self.index.update(items())

    @rule()
    def refresh(self):
        self.index.refresh("now")

    @rule()
    def merge(self):
        """Store the lists again, though little has changed."""
        with self.index._database.write() as cursor:
            generations.delete_generations(cursor)
        delete_arrays(self.index._database.path)
        self.index.refresh("now")

    @rule()
    def reopen(self):
        self.index.close()
        self.index = setsearch.open(Path(self.folder.name) / "machine.db")

    @invariant()
    def lists_are_those_of_the_content(self):
        if not hasattr(self, "index"):
            return
        films, users = map(self.index.items, self.names)
        stored = {item: {f: c for f, c in counts.items() if c} for item, counts in self.content.items()}
        turned = transpose(stored)
        assert (films.item_count(), users.item_count()) == (len(stored), len(turned))
        for item, counts in stored.items():
            assert films.features_of(item) == users.postings(item) == counts
        for feature, counts in turned.items():
            assert films.postings(feature) == users.features_of(feature) == counts
            assert films.document_frequency(feature) == len(counts)
        assert self.index.check() == []

    @precondition(lambda self: len(self.content) > 1)
    @rule(data=st.data(), strength=st.sampled_from([0.5, 2.0]), rule_name=st.sampled_from(["presence", "twice-mean"]))
    def scores_are_those_of_the_content(self, data, strength, rule_name):
        having = {"presence": presence, "twice-mean": twice_mean}[rule_name]
        for reading, rows, seeds in self.questions(data):
            scores = log_scores(having(rows), seeds, strength)
            hits = reading.expand(seeds, 99, keep_seeds=True, model="bernoulli", strength=strength, binarize=rule_name)
            assert {hit.item: hit.score for hit in hits} == pytest.approx(scores, abs=1e-7)

    @precondition(lambda self: len(self.content) > 1)
    @rule(data=st.data())
    def scores_of_the_default_model_are_those_of_the_content(self, data):
        for reading, rows, seeds in self.questions(data):
            hits = reading.expand(seeds, 99, keep_seeds=True)
            same_scores(hits, default_scores(rows, seeds, **RELATIONS[self.names]), (), 1e-5)

    def questions(self, data):
        """Both readings, their rows, and some seeds among these."""
        for name, rows in zip(self.names, (self.content, transpose(self.content)), strict=True):
            if rows:
                seeds = st.lists(st.sampled_from(sorted(rows)), min_size=1, max_size=3)
                yield self.index.items(name), rows, data.draw(seeds)

    def teardown(self):
        if hasattr(self, "index"):
            self.index.close()
        self.small.undo()
        self.folder.cleanup()


class TestWrites(Writes.TestCase):
    settings = settings(max_examples=10, stateful_step_count=12)


@pytest.mark.long
class TestManyWrites(Writes.TestCase):
    settings = settings(max_examples=200, stateful_step_count=20)


def test_repeated_features_are_counted(build):
    index = build({})
    index.add([("a", ["x", "y", "x"]), ("b", ["y"])])
    assert index.items("film").features_of("a") == dict(Counter("xyx"))
