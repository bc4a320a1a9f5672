"""Expands sets on an index of Parquet, with the hits, scores, order and ties of the SQLite index.

The driver weighs the seeds as one process does; workers rank (ranking.py). Many sets take as many jobs as one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress, repeat
from operator import not_
from typing import Unpack, cast

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.answers.answer import Hits
from setsearch.answers.base_reading import BaseReading
from setsearch.answers.contributions import explanation
from setsearch.answers.hits import Group, Row, make_hits
from setsearch.answers.results import Explanation
from setsearch.answers.word_notes import RARE, without_contexts_note
from setsearch.errors import InvalidParameter, NothingToRank, SetsearchError
from setsearch.memory.readings import FieldsBy
from setsearch.memory.where import Where
from setsearch.models import Bernoulli, Lift, Model
from setsearch.models.defaults import defaults_for
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import PRESENCE
from setsearch.options import ExpandOptions, ModelOptions, refuse
from setsearch.search.cutoff import can_tell, few_above, middle_seed, n_leading, threshold
from setsearch.search.examples import (
    Examples,
    cannot_tell,
    choose_fields,
    find_examples,
    find_rejected,
    keys_of,
    once_each,
)
from setsearch.search.passes import DEEPEST, are_flat, different, how_many_join, second_pass
from setsearch.search.request import (
    NO_LIMIT,
    ExpandRequest,
    SeedNames,
    nothing_left,
    parse_request,
    parse_seeds,
)
from setsearch.search.weights import SeedWeights, seed_weights
from setsearch.spark.field import FieldsSource, RemoteVocabulary, load_entries
from setsearch.spark.layout import Layout, Side, load_layout
from setsearch.spark.ranking import Asked, Pairs, Question, Ranking, correct

FIRST, DEEPER = 1000, 10  # items that are ranked if all that belong are wanted; times as many, if these all do


class SparkIndex:
    """An index at a place that Spark can read. Raises NoIndex, NewerSchema, CorruptIndex."""

    def __init__(self, spark: SparkSession, place: str) -> None:
        self.spark = spark
        self.layout = load_layout(spark, place)

    def items(self, name: str | None = None) -> "SparkReading":
        """The reading that ranks `name`; by default the terms of texts, else the items. Raises InvalidParameter."""
        chosen = name or (self.layout.features if self.layout.analyzer else self.layout.items)
        return SparkReading(self.spark, self.layout, self.layout.side(chosen))


class SparkReading(BaseReading):
    """Items of one kind on an index of Parquet."""

    def __init__(self, spark: SparkSession, layout: Layout, side: Side) -> None:
        self.name, self._count = side.items, side.count
        self._source = FieldsSource(spark, layout, side)
        self._keys = partial(keys_of, self.name, self._source.has_contexts)
        self.defaults = defaults_for(self.name, layout.features, layout.analyzer is not None)

    def expand(self, seeds: SeedNames, k: int | None = 10, **options: Unpack[ExpandOptions]) -> Hits:
        """The same as `Reading.expand` of the SQLite index, without texts as examples.

        The models are lift, and bernoulli with presence by documents. Raises UnknownItem, AmbiguousItem, NoSeeds,
        NothingToRank, InvalidParameter.
        """
        (answer,) = self._expand([seeds], parse_request(k, options))
        if isinstance(answer, SetsearchError):
            raise answer
        return answer

    def expand_each(
        self, seed_sets: Iterable[SeedNames], k: int | None = 10, **options: Unpack[ExpandOptions]
    ) -> list[Hits | SetsearchError]:
        """As `expand_many`; a set that has no answer has an error in its place."""
        return self._expand(list(seed_sets), parse_request(k, options))

    def explain(self, seeds: SeedNames, item: str, **options: Unpack[ExpandOptions]) -> Explanation:
        """The parts that sum to the score of one item, its features by weight. Raises as `expand` does."""
        for door in ("explain", "Spark", "explain of Spark"):
            refuse(door, options)
        request, names = parse_request(1, options), parse_seeds(seeds)
        model, fields_by = self._model(request), self._source.open()
        self._look_up(fields_by, [[*names, item]], request)
        fields = choose_fields(fields_by, self._keys(request.model), names, item=item)
        question = Question(0, fields, find_examples(fields, names), [])
        ((model, _),) = self._by_model([question], request, model)
        self._weigh([question], request, model)
        weights, id = question.weights, fields.resolve(item)
        first, total = question.remote[0], weights.examples.total
        own = self._source.bases.get(first.layout, first.side, model, total)
        rows = [] if own.items is None else own.items.filter(F.col("item") == id).collect()
        _load_features([question], [[id]])
        return explanation(fields, weights, id, float(sum(row.base for row in rows)))

    def item_count(self) -> int:
        """n, the number of items."""
        return self._count

    def words_without_contexts(self, names: Iterable[str], **options: Unpack[ModelOptions]) -> list[str]:
        """The names that contexts do not know, so that a query by default uses documents; else empty."""
        if self._keys(options)[0] != "both":
            return []
        fields = self._source.open()("both")
        return [] if fields is None else [name for name in names if not fields.knows(name)]

    def word_notes(self, seeds: Iterable[str], **options: Unpack[ModelOptions]) -> list[str]:
        """What is so of seeds that are words and have no contexts."""
        rare = self.words_without_contexts(seeds, **options)
        return [without_contexts_note(rare, RARE, len(rare) == len([*seeds]))] if rare else []

    def release(self) -> None:
        """Free what the workers cache for the next query."""
        self._source.bases.release()

    def _model(self, request: ExpandRequest) -> Model:
        options = request.model
        refuse("Spark", {**request.options, **options})
        if isinstance(request.among, Where):
            raise InvalidParameter("on Spark `among` is a list of ids, not a condition")
        model = self.defaults.make(options)
        if not (isinstance(model, Bernoulli) and model.rule == PRESENCE) and not isinstance(model, Lift):
            raise InvalidParameter("the models on Spark are lift, and bernoulli with presence; use one file for others")
        if has_tiny_weights(model):
            raise InvalidParameter(f"on Spark the strength is at most {model.usual_strength}, not {model.strength:g}")
        if isinstance(model, Bernoulli) and self._keys(options)[0] != "documents":
            raise InvalidParameter("on Spark bernoulli is by documents; leave `by` out, or use the model lift")
        return model

    def _look_up(self, fields_by: FieldsBy, sets: Sequence[Iterable[str]], request: ExpandRequest) -> None:
        """Look up all names at once: words with contexts are known already."""
        preferred, stored = fields_by(self._keys(request.model)[0]), fields_by("documents")
        assert stored is not None
        among = request.among if isinstance(request.among, list) else []
        names = {name for own in sets for name in own}.union(request.exclude, among)
        if preferred is not None and preferred.contexts_revision is not None:
            names = {name for name in names if not preferred.knows(name)}
        cast(RemoteVocabulary, stored.items).look_up(form for name in names for form in (name, *stored.forms(name)))

    def _expand(self, seed_sets: Sequence[SeedNames], request: ExpandRequest) -> list[Hits | SetsearchError]:
        model, sets = self._model(request), [parse_seeds(seeds) for seeds in seed_sets]
        fields_by = self._source.open()
        if sets:
            self._look_up(fields_by, sets, request)
        answers: dict[int, Hits | SetsearchError] = {}
        questions: list[Question] = []
        for number, names in enumerate(sets):
            try:
                fields = choose_fields(fields_by, self._keys(request.model), names, request.exclude)
                examples = find_examples(fields, names)
                questions.append(Question(number, fields, examples, find_rejected(fields, examples, request.exclude)))
            except SetsearchError as error:
                answers[number] = error
        for by_contexts in (True, False):
            alike = [own for own in questions if (own.fields.contexts_revision is not None) == by_contexts]
            for weighed_by, part in self._by_model(alike, request, model):
                hits = self._answer(part, request, weighed_by)
                answers |= {own.number: answer for own, answer in zip(part, hits, strict=True)}
        return [answers[number] for number in range(len(sets))]

    def _by_model(
        self, questions: list[Question], request: ExpandRequest, model: Model
    ) -> list[tuple[Model, list[Question]]]:
        """Sets that have the same fields, by their model: all features count where too few do (Weighing.one_pass)."""
        if questions and isinstance(model, Lift):
            load_entries(questions[0].remote, {id for own in questions for id in own.examples.ids}, model.rule)
            for own in questions:
                own.examples = once_each(own.fields, own.examples, model.rule)
        other = self.defaults.choose(request.model).by_presence
        if other is None:
            return [(model, questions)] if questions else []
        reach = [seed_weights(own.fields, own.examples, model).reach_others() for own in questions]
        parts = (model, [*compress(questions, reach)]), (other, [*compress(questions, map(not_, reach))])
        return [(weighed_by, part) for weighed_by, part in parts if part]

    def _weigh(self, questions: Sequence[Question], request: ExpandRequest, model: Model) -> None:
        """Give sets that have the same fields their weights."""
        load_entries(questions[0].remote, {id for own in questions for id in own.marked}, model.rule)
        rejection, negatives = self.defaults.rejection_of(model, request.options.get("gamma")), {}
        for own in questions:
            own.weights = seed_weights(own.fields, own.examples, model)
            if own.rejected and rejection is not None and rejection.gamma:
                negatives[own.number] = seed_weights(own.fields, Examples(sorted(own.rejected)), model), *rejection

        def subtracted(own: Question) -> SeedWeights:
            """The weights of a set less those of rejected items."""
            return own.weights.minus(*negatives[own.number]) if own.number in negatives else own.weights

        feedback = self.defaults.choose(request.model).feedback
        self._second_passes(questions, [subtracted(own) for own in questions], feedback)
        for own in questions:
            own.weights = subtracted(own)
        rejecting = [own for own in questions if own.rejected]
        if rejecting and rejection is None:
            correct(rejecting, feedback > 0)

    def _second_passes(self, questions: Sequence[Question], ranked_by: Sequence[SeedWeights], feedback: float) -> None:
        """Weigh sets again, with the best items by the weights `ranked_by` among their examples."""
        size, rule = questions[0].fields.items.size, questions[0].weights.model.rule
        counts = [how_many_join(own.weights.model, own.examples, size, feedback) for own in questions]
        if not any(counts):
            return
        asked = [Asked(weights, own.marked) for own, weights in zip(questions, ranked_by, strict=True)]
        ranking, depth = Ranking(questions[0].remote[0]), max(counts)
        found = ranking.best(asked, depth)
        for place, (own, best) in enumerate(zip(questions, found, strict=True)):
            if are_flat([score - own.weights.constant for _, score in best], counts[place]):
                counts[place] = 0
        while True:
            positive = [
                {id: score - own.weights.constant for id, score in best if score > own.weights.constant}
                for own, best in zip(questions, found, strict=True)
            ]
            load_entries(questions[0].remote, {id for ids in positive for id in ids}, rule)
            joined = [
                different(own.fields, own.weights, best, count)
                for own, best, count in zip(questions, positive, counts, strict=True)
            ]
            are_enough = (
                len(own) == count or len(ids) < depth for own, ids, count in zip(joined, positive, counts, strict=True)
            )
            if all(are_enough) or depth >= DEEPEST * max(counts):
                break
            depth = min(depth * DEEPER, DEEPEST * max(counts))
            found = ranking.best(asked, depth)
        for own, joining, first in zip(questions, joined, ranked_by, strict=True):
            second = second_pass(own.fields, own.weights, joining, feedback)
            own.weights = replace(second, make_first=repeat(first).__next__)

    def _answer(
        self, questions: Sequence[Question], request: ExpandRequest, model: Model
    ) -> list[Hits | SetsearchError]:
        """The hits of sets that have the same fields."""
        self._weigh(questions, request, model)
        fields, cut = questions[0].fields, request.options.get("cut")
        among = fields.allowed(request.among, request.filter)
        asked = [own.asked(bool(request.options.get("keep_seeds"))) for own in questions]
        ranking, depth = Ranking(questions[0].remote[0], among), FIRST if request.k == NO_LIMIT else request.k
        found = ranking.best(asked, max(depth, n_leading(fields)) if cut else depth)
        ends: list[float | None] = [None] * len(questions)
        if cut == "keep" or (cut and not cannot_tell(fields, self._keys(request.model))):
            ends = [*self._ends(questions, found, request)]
            if cut == "mark":
                told = self._which_tell(questions)
                ends = [end if is_told else None for end, is_told in zip(ends, told, strict=True)]
        while request.k == NO_LIMIT and any(
            len(own) == depth and end is not None and own[-1][1] > end for own, end in zip(found, ends, strict=True)
        ):
            depth *= DEEPER
            found = ranking.best(asked, depth)
        ranked = []
        for own, end in zip(found, ends, strict=True):
            rows = [Row(id, score, None if end is None else score > end, 0) for id, score in own]
            ranked.append([row for row in rows if row[2] or cut != "keep"][: request.k])
        nothing = NothingToRank(nothing_left(fields.items, among))
        hits = _hits(questions, ranked, request)
        return [own if best else nothing for own, best in zip(hits, found, strict=True)]

    def _ends(self, questions: Sequence[Question], found: list[Pairs], request: ExpandRequest) -> list[float]:
        """Above which score items belong to each set: neither a filter nor the seeds change it."""
        if request.among is not None or request.options.get("keep_seeds"):
            place = n_leading(questions[0].fields)
            leaders = Ranking(questions[0].remote[0]).best([own.asked() for own in questions], place)
            found = [own or kept for own, kept in zip(leaders, found, strict=True)]
        return [
            threshold(own.fields, own.weights, np.array([score for _, score in best])) if best else np.inf
            for own, best in zip(questions, found, strict=True)
        ]

    def _which_tell(self, questions: Sequence[Question]) -> list[bool]:
        """Whether the seeds of each set tell what belongs (search/cutoff.py), in one job."""
        telling = [Asked(own.weights.telling, own.marked) for own in questions]
        pairs = zip(questions, telling, strict=True)
        bounds = [middle_seed(own.fields, asked.weights, exactly=True) for own, asked in pairs]
        are_told = [can_tell(own.weights, self.defaults) for own in questions]
        if not np.isfinite(bounds).any():
            return are_told
        above = Ranking(questions[0].remote[0]).count_above(telling, bounds)
        n_items = questions[0].fields.items.size
        return [
            few_above(count, n_items - len(own.marked), self.defaults) if np.isfinite(bound) else is_told
            for count, own, bound, is_told in zip(above, questions, bounds, are_told, strict=True)
        ]


def _hits(questions: Sequence[Question], ranked: Sequence[list[Row]], request: ExpandRequest) -> list[Hits]:
    fields, ids = questions[0].fields, [[id for id, *_ in rows] for rows in ranked]
    fields.describe(sorted({id for own in ids for id in own}))  # all at once
    if request.options.get("explain"):
        _load_features(questions, ids)
    return [make_hits(fields, [Group(own.weights)], rows, request) for own, rows in zip(questions, ranked, strict=True)]


def _load_features(questions: Sequence[Question], items: Sequence[list[int]]) -> None:
    """Read what tells what features add to the scores of the items of each set."""
    weights = [own for question in questions for own in question.weights.all]
    for rule in {own.rule for own in weights}:
        load_entries(questions[0].remote, {id for own in items for id in own}, rule)
    for field in questions[0].remote:
        active = [own.seeds.features for own in weights if own.field is field]
        had = [field.known_features(sorted(own)) for own in items]
        shared = np.intersect1d(np.concatenate(active), np.concatenate(had))
        field.describe_features(shared.tolist())
