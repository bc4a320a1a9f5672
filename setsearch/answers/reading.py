"""From seeds to the rest of the set: seeds -> model -> posting lists -> ranked hits, and why."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, Unpack, cast

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.base_reading import BaseReading
from setsearch.answers.contributions import set_features, weighted_query
from setsearch.answers.finding import Named, Names, find_all, find_each, item_entries
from setsearch.answers.passages import find_headlines
from setsearch.answers.ranking import PLACES, Judge, best_hits, explain_item, wanted_of
from setsearch.answers.results import Asked, Explanation, SetFeature, Statistics, WeightedQuery
from setsearch.answers.word_notes import word_notes
from setsearch.arrays import Floats, only
from setsearch.core.question import Asking, now, one_after_another
from setsearch.errors import InvalidParameter, LostArrays, NoSeeds, QueryError, SetsearchError
from setsearch.memory.field import Kept
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.models import MODELS
from setsearch.models.defaults import Defaults
from setsearch.options import MODEL, ExpandOptions, Fresh, Id, Ids, ModelOptions, check, refuse
from setsearch.search.cutoff import SeedFit, fits, n_leading
from setsearch.search.examples import Examples, cannot_tell, choose_fields, find_examples, find_rejected, keys_of
from setsearch.search.groups import FEWEST, Divided, find_groups, make_groups
from setsearch.search.passes import ALL, Wanted, Weighing
from setsearch.search.plan import Plan
from setsearch.search.rejected import with_correction
from setsearch.search.request import SeedNames, Seeds, id_list, parse_seeds, positive_integer, text_list
from setsearch.search.rounds import in_rounds
from setsearch.search.weights import SeedWeights
from setsearch.storage.ids import id_text, plain_name

T = TypeVar("T")
PLAIN = frozenset((str, int, float, bool, type(None)))  # types of options that nobody changes


class _Posed(NamedTuple):
    """A question in a transaction: how it is weighed, in which fields; in these all examples and the rejected items."""

    weighing: Weighing
    examples: Examples
    rejected: list[int]
    plan: Plan

    @property
    def marked(self) -> list[int]:
        """The items that somebody named."""
        return [*self.rejected, *self.examples.seeds]

    @property
    def left_out(self) -> list[int]:
        """The items that are not returned."""
        return [*self.rejected] if self.plan.keeps_seeds else self.marked


class Reading(BaseReading, Named):
    """Items of one kind, described by features: what `index.items(name)` returns. Threads may share it."""

    in_one_list = MappingProxyType({"groups": 1})

    def __init__(
        self,
        name: str,
        defaults: Defaults,
        opened: Callable[[bool, Fresh], AbstractContextManager[FieldsBy]],
        has_contexts: bool = False,
        has_forms: bool = False,
    ) -> None:
        self.name = name
        self.kind = plain_name(name)
        self.defaults = defaults
        self._opened = opened  # as Readings.open
        self._has_contexts = has_contexts
        self._has_forms = has_forms  # surface forms of stems
        self._plans = Kept[Hashable, Plan]()

    def __repr__(self) -> str:
        return f"<setsearch.Reading of {self.name}>"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_plans": Kept()}

    def plan(self, k: int | None, options: ExpandOptions) -> Plan:
        """The plan of questions with these options; those of plain values are kept. Raises InvalidParameter."""
        types = type(k), *map(type, options.values())  # True equals 1
        make = partial(Plan, partial(keys_of, self.kind, self._has_contexts), self.defaults, k, options)
        if not PLAIN.issuperset(types):
            return make()
        factory = MODELS.get(options.get("model") or self.defaults.model)  # a name may be registered again
        return self._plans.get_or_make((k, *options.items(), types, factory), make)

    def expand(
        self,
        seeds: SeedNames,
        k: int | None = 10,
        **options: Unpack[ExpandOptions],
    ) -> Hits:
        """The k items that belong most with the seeds, best first; ties in the order of ids.

        Seeds are names, or names with weights: `{"red": 1, "blue": 0.5}`. The list has the `revision` of the documents.

        With the model "bernoulli" a score is the natural logarithm of p(x | D) / p(x), equation (12) of the paper,
        constant included. Every item is ranked, also those that share nothing with the seeds. Seeds are left out
        unless `keep_seeds`. `explain` fills the `features` of the hits.

        `exclude` leaves out more items, as negative examples. With "lift" they teach what separates them from the seeds
        (search/rejected.py): the hits are `learned`, and scores are margins, with 0 half-way. For words, what
        rejected ones have counts less, and a part of their weights is subtracted. With `gamma` the score subtracts
        gamma times their weights instead; 0, the default of models whose score is a probability, only leaves them out.
        `among` filters before the best k are taken: ids (unknown ones are ignored), or a `Where`, an SQL condition.
        `at_most=2, per="author"`: no more than the two best of each value of a kept column (search/near_duplicates.py).
        `like` adds texts as examples, `having` adds one example with these features. `cut` = "mark" fills the `belongs`
        of the hits, unless the seeds do not tell it (search/cutoff.py); "keep" drops hits that do not belong; then
        k = None returns all that do. With `about` the score of that item is the line. setsearch/options.py has all
        options.

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        plan, names = self.plan(k, options), parse_seeds(seeds)
        return self.answer(plan, lambda fields_by: now(self._expand(fields_by, names, plan)))

    def answer(self, plan: Plan, ask: Callable[[FieldsBy], T]) -> T:
        """What `ask` makes of the fields; again, if derived arrays turn out to be damaged or gone."""
        try:
            with self._open(plan) as fields_by:
                return ask(fields_by)
        except LostArrays:
            pass  # it is told only if it happens again
        with self._open(plan) as fields_by:
            return ask(fields_by)

    def expand_each(
        self, seed_sets: Iterable[SeedNames], k: int | None = 10, **options: Unpack[ExpandOptions]
    ) -> list[Hits | SetsearchError]:
        """As `expand_many`; a set that has no answer has an error in its place."""
        plan, sets = self.plan(k, options), list(seed_sets)
        return self.answer(plan, lambda fields_by: [*in_rounds(self._parsed(fields_by, seeds, plan) for seeds in sets)])

    def rank(
        self,
        candidates: Ids,
        seeds: SeedNames,
        *,
        missing: str = "error",
        **options: Unpack[ExpandOptions],
    ) -> Hits:
        """Candidates, such as the hits of a search engine, reranked by the seeds, as `expand` does with groups=1.

        A candidate that the index does not hold is an error, or is left out with `missing` = "skip". Raises as `expand`
        does.
        """
        refuse("rank", options)
        names = list(dict.fromkeys(id_list(candidates, "candidates")))
        if missing not in ("error", "skip"):
            raise InvalidParameter(f"missing is 'error' or 'skip', not {missing!r}")
        if missing == "error":
            names = list(dict.fromkeys(self.find_all(names)))
        options = {"keep_seeds": True, "groups": 1, **options, "among": names}
        asked = self.plan(1, options).request.model
        if self.words_without_contexts(names, **asked):
            options["by"] = "documents"  # contexts would not rank these
        return self.expand(seeds, len(names), **options) if names else Hits()

    @contextmanager
    def scores(self, seeds: SeedNames, **options: Unpack[ExpandOptions]) -> Iterator[tuple[Fields, Floats]]:
        """The fields and the scores of all items, `(n_ids,)`, within one transaction; for integrations.

        Items that `expand` would leave out have -inf. Raises as `expand` does.
        """
        refuse("scores", options)
        plan, names = self.plan(1, options), parse_seeds(seeds)
        with self._open(plan) as fields_by:
            posed = self._pose(fields_by, names, plan)
            fields, weights = posed.weighing.fields, now(self._weigh(posed, ALL))
            scores = weights.scores() + weights.constant
            scores[posed.left_out] = -np.inf
            among = fields.allowed(plan.request.among, plan.request.filter)
            yield fields, scores if among is None else only(scores, among)

    def explain(self, seeds: SeedNames, item: Id, **options: Unpack[ExpandOptions]) -> Explanation:
        """The parts that sum to the score that `expand` gives one item, its features by weight; seeds have one, too.

        If the examples fall into groups, the score is that of the `group` in whose list the item comes first. Raises as
        `expand` does.
        """
        refuse("explain", options)
        plan, names = self.plan(1, options), parse_seeds(seeds)

        def ask(fields_by: FieldsBy) -> Explanation:
            posed = self._pose(fields_by, names, plan, item)
            divided = now(self._divide(posed, ALL))
            return explain_item(posed.weighing.fields, divided, posed.marked, posed.weighing.fields.resolve(item))

        return self.answer(plan, ask)

    def fits(self, seeds: SeedNames, **options: Unpack[ModelOptions]) -> list[SeedFit]:
        """How well each seed fits the others: its score if it is left out, the lowest first (lift, in one pass).

        Empty for one seed, and for other models. Raises as `expand` does.
        """
        plan, names = self._model_plan(options), parse_seeds(seeds)

        def ask(fields_by: FieldsBy) -> list[SeedFit]:
            fields = choose_fields(fields_by, plan.keys, [*names])
            examples = find_examples(fields, names)
            examples.ids = sorted(examples.ids)
            return fits(fields, Weighing(fields, plan.chosen).one_pass(examples))

        return self.answer(plan, ask)

    def features(
        self,
        seeds: SeedNames,
        k: int = 10,
        *,
        like: Iterable[str] = (),
        having: Iterable[str] = (),
        **options: Unpack[ModelOptions],
    ) -> list[SetFeature]:
        """The k features of largest weight (table 4 of the paper). Raises as `expand` does."""
        k, plan, names = positive_integer(k), self._model_plan(options), parse_seeds(seeds)
        like, having = text_list(like, "like"), id_list(having, "having")

        def ask(fields_by: FieldsBy) -> list[SetFeature]:
            fields = choose_fields(fields_by, plan.keys, [*names])
            weighing = Weighing(fields, plan.chosen)
            examples = weighing.once_each(find_examples(fields, names, like, having))
            return set_features(weighing.one_pass(examples), k)

        return self.answer(plan, ask)

    def query(
        self,
        seeds: SeedNames,
        most: int | None = None,
        engine: Statistics | None = None,
        **options: Unpack[ExpandOptions],
    ) -> WeightedQuery:
        """The set as a weighted query, for other engines: a constant, and the `most` features of largest weight.

        `engine`: its statistics. The base is left out (examples/other_engines.py). UsageError for words by contexts.
        """
        refuse("query", options)
        plan, names = self.plan(1 if most is None else most, options), parse_seeds(seeds)

        def ask(fields_by: FieldsBy) -> WeightedQuery:
            return weighted_query(now(self._weigh(self._pose(fields_by, names, plan), ALL)), most, engine)

        return self.answer(plan, ask)

    def item_count(self) -> int:
        """n, the number of items."""
        with self.stored() as fields:
            return fields.items.own_size()

    def feature_count(self) -> int:
        """The number of features in the index."""
        with self.stored() as fields:
            return fields.first.features.size

    def document_frequency(self, feature: str) -> int:
        """The number of items with a feature; 0 for an unknown one."""
        return len(self.postings(feature))

    def postings(self, feature: str) -> dict[str, int]:
        """The items with a feature and their counts, in the order of ids."""
        with self.stored() as fields:
            id = fields.first.features.find_one(feature)
            entries = fields.first.read_postings([] if id is None else [id])
            return fields.named_counts(fields.items, entries.ids, entries.counts)

    def features_of(self, item: Id) -> dict[str, int]:
        """The features of an item and their counts, in the order of names; raises UnknownItem."""
        with item_entries(self, item) as (fields, field, entries):
            return fields.named_counts(field.features, entries.ids, entries.counts)

    def find(self, name: Id, hint: bool = True) -> str:
        """The name of an item as the index has it; raises UnknownItem (with similar names), AmbiguousItem."""
        return self.find_all([name], hint)[0]

    def find_all(self, names: Ids, hint: bool = True) -> list[str]:
        """Names as the index has them, of ids, titles (also without a parenthesis at their end), words or phrases."""
        return find_all(self, names, hint)

    def find_each(self, names: Ids) -> dict[str, str | QueryError]:
        """Names as `find_all` has them, or the error of those that it would not find, by the names that are given."""
        return find_each(self, names)

    def vocabularies(self) -> Iterator[Names]:
        """The names of the items with their totals, each kind within one transaction; phrases are of contexts only."""
        with self.stored() as fields:
            yield fields.items, fields.first.totals
            has_phrases = fields.has_phrases
        if has_phrases:
            with self.fields(by="both") as fields:  # the last field has documents
                yield fields.items, fields.all[-1].totals

    def headlines(self, names: Ids) -> dict[str, str]:
        """The headlines of those documents whose text is known."""
        known: list[str] = [*map(id_text, names)]
        if not known or self.kind != "documents":
            return {}
        with self.stored() as fields:
            return find_headlines(fields, known)

    def titles(self, names: Ids) -> dict[str, str | None]:
        """The titles of those names that exist."""
        with self.stored() as fields:
            return dict(fields.describe([fields.resolve(name) for name in names if fields.knows(name)]).values())

    def words_without_contexts(self, names: list[str], **options: Unpack[ModelOptions]) -> list[str]:
        """The names that contexts do not know, so that a query by default uses documents; else empty."""
        plan = self._model_plan(options)
        if not self._has_contexts or plan.keys[0] != "both":
            return []
        with self._open(plan) as fields_by:
            fields = fields_by("both")
            return [] if fields is None else [name for name in names if not fields.knows(name)]

    def word_notes(self, seeds: Iterable[str], **options: Unpack[ModelOptions]) -> list[str]:
        """What is so of seeds that are words, one line each: no contexts and why, or contexts from a sample of uses."""
        plan = self._model_plan(options)
        if not self._has_contexts or plan.keys[0] != "both":
            return []
        with self._open(plan) as fields_by:
            return [*word_notes(fields_by("both"), lambda: fields_by("documents"), [*seeds])]

    @contextmanager
    def fields(self, names: Iterable[str] = (), **options: Unpack[ModelOptions]) -> Iterator[Fields]:
        """The fields that a query for some names with these options uses, within one transaction."""
        plan = self._model_plan(options)
        with self._open(plan) as fields_by:
            yield choose_fields(fields_by, plan.keys, [*names])

    @contextmanager
    def stored(self) -> Iterator[Fields]:
        """The stored relation as the only field, within one transaction."""
        with self._opened(False, None) as fields_by:
            fields = fields_by("documents")
            assert fields is not None
            yield fields

    def _model_plan(self, options: ModelOptions) -> Plan:
        """The plan for options of the model, which alone are allowed."""
        check(options, MODEL)
        return self.plan(1, cast(ExpandOptions, options))

    def _open(self, plan: Plan) -> AbstractContextManager[FieldsBy]:
        uses_contexts = self._has_contexts and plan.keys != ["documents"]
        return self._opened(self._has_forms or uses_contexts, plan.fresh)

    def _pose(self, fields_by: FieldsBy, seeds: Seeds, plan: Plan, item: Id | None = None) -> _Posed:
        """A question, to fields that can answer about an item, too."""
        request = plan.request
        fields = choose_fields(fields_by, plan.keys, seeds, request.exclude, item)
        examples = find_examples(fields, seeds, request.like, request.having)
        rejected = find_rejected(fields, examples, request.exclude)
        return _Posed(Weighing(fields, plan.chosen), examples, rejected, plan)

    def _weigh(self, posed: _Posed, wanted: Wanted) -> Asking[SeedWeights]:
        """What scores items."""
        (weighing, examples, rejected, plan), rejection = posed, None
        if rejected:
            rejection = self.defaults.rejection_of(weighing.model, plan.gamma)
        weights = weighing.with_priors((yield from weighing.two_passes(examples, rejected, rejection, wanted, True)))
        if rejected and rejection is None:
            weights = with_correction(weighing.fields, weights, rejected, plan.chosen.feedback > 0)
        if not examples.ids and not any(own.df.any() for own in weights.positive) and not weights.has_priors:
            raise NoSeeds(
                "the example has no feature more often than the collection; try `binarize=presence`, or others"
            )
        return weights

    def _weigh_part(self, posed: _Posed, wanted: Wanted, part: Examples) -> Asking[SeedWeights]:
        """The same of some of the examples alone."""
        return self._weigh(posed._replace(examples=part), wanted)

    def candidates(self, fields_by: FieldsBy) -> list[Fields]:
        """The fields that may answer, the preferred ones first; the stored relation is the last."""
        return [own for own in map(fields_by, self.plan(1, {}).keys) if own is not None]

    def weigh(
        self,
        fields_by: FieldsBy,
        names: Seeds,
        plan: Plan,
        taken: Floats | None = None,
        sums: bool = False,
    ) -> Asking[tuple[Fields, SeedWeights, list[int], bool]]:
        """What answers in one list: fields, weights, the items left out, and whether nothing tells what belongs.

        `taken`: as Wanted has it. `sums`: whether the scores of all items are of interest; else the line is.
        """
        posed = self._pose(fields_by, names, plan)
        fields, wanted = posed.weighing.fields, wanted_of(posed.weighing, posed.examples, plan)
        is_added_to = taken is not None and fields.nearest is not None  # after the core has answered
        k = 0 if sums or is_added_to or not wanted.k else max(wanted.k, n_leading(fields))
        weights = yield from self._weigh(posed, wanted._replace(k=k, taken=taken))
        return fields, weights, posed.left_out, cannot_tell(fields, plan.keys)

    def _parsed(self, fields_by: FieldsBy, seeds: SeedNames, plan: Plan) -> Asking[Hits]:
        """As `_expand`; wrong seeds are an error of this question alone."""
        return (yield from self._expand(fields_by, parse_seeds(seeds), plan))

    def _expand(self, fields_by: FieldsBy, names: Seeds, plan: Plan) -> Asking[Hits]:
        posed = self._pose(fields_by, names, plan)
        fields = posed.weighing.fields
        divided = yield from self._divide(posed, wanted_of(posed.weighing, posed.examples, plan))
        hits = best_hits(fields, divided, posed.left_out, plan, Judge(cannot_tell(fields, plan.keys)))
        hits.asked = Asked(self, names, plan.again, plan.cut is not None)
        return hits

    def _divide(self, posed: _Posed, wanted: Wanted) -> Asking[Divided]:
        """What scores items for each group of the examples, all of them if there are no groups."""
        weighing, examples, _, plan = posed
        count, ask = plan.groups, partial(self._weigh_part, posed, Wanted(few=wanted.few))
        if count is not None and count > 1:
            groups = make_groups(weighing.fields, weighing.once_each(examples), weighing.model, count)
            return Divided((yield from one_after_another(map(ask, groups))))
        weights = yield from self._weigh(posed, wanted)
        if count is None and self.defaults.divided and weights.examples.count >= FEWEST:
            hears = plan.cut != "keep" and (wanted is ALL or plan.k >= PLACES[0])
            deeper = wanted.k and wanted.k + examples.count  # the other examples may be among its best items
            beside = wanted._replace(k=deeper, few=(0.0, 0.0))
            ask_beside = partial(self._weigh_part, posed, beside) if hears else None
            return (yield from find_groups(weighing.fields, weights, posed.marked, ask, ask_beside))
        return Divided([weights])
