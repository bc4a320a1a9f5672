"""How well methods complete known sets: some members are the seeds, the other members should rank first.

For each set N seeds are drawn several times; all other items are ranked; ties count as their mean. Measures are means
over the draws of a set, then over sets; intervals are bootstrap intervals over sets.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.answers.tables import html_table
from setsearch.arrays import Floats, Ints
from setsearch.errors import InvalidParameter, NoSeeds, UnknownItem, UsageError, number_of
from setsearch.learning.choices import (
    MEASURES,
    Groups,
    Line,
    Task,
    interval,
    measure_groups,
    measure_line,
    measures,
    weights_of,
)
from setsearch.learning.field_weights import learn_weights
from setsearch.memory.fields import Fields
from setsearch.models.defaults import RATINGS
from setsearch.options import ModelOptions, Progress, progress_of
from setsearch.search.examples import Examples, once_each
from setsearch.search.passes import Weighing

STRENGTHS = (0.5, 2.0, 10.0, 50.0)  # that are tried
POPULARITIES = (0.0, 0.2, 0.5)  # likewise
FEEDBACKS = (0.0, 0.25, 1.0)  # likewise
WEIGHTS_OF_VECTORS = (0.0, 0.25, 0.5, 1.0, 2.0)  # likewise
SHOWN = 3  # unknown members
ENOUGH_SETS = 5  # to say that one method is better than another

Score = Callable[[Ints], Floats]  # from the ids of seeds to the scores of all items


@dataclass(frozen=True)
class Design:
    """The protocol: N seeds, how many draws for each set, the random seed, and whether weights of fields are learned.

    The last are those of field_weights.py.
    """

    n_seeds: int = 3
    draws: int = 10
    seed: int = 0
    learns_fields: bool = False


@dataclass(frozen=True)
class Method:
    """A way to score all items; `options` are those of `expand` for our own models, None for others."""

    name: str
    score: Score
    options: ModelOptions | None = None


class Result(NamedTuple):
    """One method: means over sets, and the 95 % interval of the mean average precision."""

    method: str
    options: ModelOptions | None
    map: float
    low: float
    high: float
    p10: float
    ndcg10: float
    r_precision: float
    by_set: dict[str, float]  # average precision


class Evaluation(NamedTuple):
    """All methods, the best first, and a recommendation.

    `line` is what belongs by the default. `copies`: the members that are nearly the same as others, which count once.
    """

    results: list[Result]
    sets: int
    tasks: int
    left_out: list[str]  # sets with too few known members
    recommendation: str
    line: Line
    groups: Groups | None
    copies: int
    unknown: tuple[str, ...] = ()  # members that are none of the items
    learned: str | None = None  # weights of fields, as the option `by`
    n_seeds: int = 3  # of each question

    def rows(self) -> list[dict[str, Any]]:
        """One row for each method, for a frame of pandas or polars."""
        return [
            {"method": result.method}
            | {key: round(getattr(result, key), 4) for key in ("map", "low", "high", *MEASURES[1:])}
            for result in self.results
        ]

    def notes(self) -> list[str]:
        """What all this tells a user: the recommendation, the line, groups; and what was left out."""
        counted = f"{number_of(self.sets, 'set')}, {number_of(self.tasks, 'question')}"
        lines = [f"{counted} of {self.n_seeds} seeds; {self.recommendation}"]
        lines.append(self.line.sentence())
        lines += [] if self.groups is None else [self.groups.sentence()]
        if self.copies:
            copies = "members that are nearly the same as another one of their set count once"
            lines.append(f"{copies}; left out: {self.copies}")
        if self.left_out:
            few = f"left out, fewer than {self.n_seeds + 1} members that the index knows"
            lines.append(f"{few}: {', '.join(self.left_out)}")
        if self.unknown:
            more = ", ..." * (len(self.unknown) > SHOWN)
            lines.append(f"left out, {len(self.unknown):,} unknown: {', '.join(self.unknown[:SHOWN])}{more}")
        return lines

    def __str__(self) -> str:
        """The notes, a line each."""
        return "\n".join(self.notes())

    def _repr_html_(self) -> str:
        """The methods as a table below the notes, as notebooks show them."""
        rows = self.rows()
        return html_table(tuple(rows[0]), (tuple(row.values()) for row in rows), "; ".join(self.notes()))


def evaluate_sets(
    reading: Reading,
    sets: Mapping[str, Sequence[str]],
    *,
    seeds: int = 3,
    draws: int = 10,
    by: str | None = None,
    fields: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """How well our models find the rest of known sets of items, given `seeds` of each, drawn several times.

    `by` chooses what describes terms; `fields` also learns weights of fields. Raises NoSeeds if no set has enough known
    members, AmbiguousItem, InvalidParameter, UsageError.
    """
    if min(seeds, draws) < 1:
        raise InvalidParameter(f"`seeds` and `draws` are 1 or more, not {seeds} and {draws}")
    if fields and not reading.defaults.fields:
        raise UsageError(f"`fields` learns weights of several fields; the {reading.name} have one")
    if by is not None and reading.kind != "terms":
        raise UsageError("`by` chooses what describes terms; `fields` learns the weights of fields")
    with reading.fields(by=by) as own:
        weighing, design = Weighing(own, reading.defaults.choose({})), Design(seeds, draws, learns_fields=fields)
        return evaluate(weighing, sets, design, progress=progress)


def evaluate(
    weighing: Weighing,
    sets: Mapping[str, Sequence[str]],
    design: Design = Design(),
    *,
    rivals: Mapping[str, Score] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate our models with several options, and `rivals`, on sets of items; `weighing` has no options.

    `progress` gets the questions of all methods, `(method, task)`, and yields them. Members are named as seeds
    are. Raises NoSeeds if no set has enough known members, AmbiguousItem.
    """
    unknown, fields, defaults = set[str](), weighing.fields, weighing.defaults
    every = {name: _known(fields, members, unknown) for name, members in sets.items()}
    rule = defaults.make({"model": "lift"}).rule  # a copy of an example is no find
    distinct = {name: [*once_each(fields, Examples(members), rule).ids] for name, members in every.items()}
    tasks, left_out = _draw(distinct, design)
    if not tasks:
        others = f"; {len(unknown):,} are unknown, such as {min(unknown)!r:.60}" if unknown else ""
        raise NoSeeds(
            f"no set has {design.n_seeds + 1} members among the {fields.items.size:,} {fields.items.name}{others}; "
            "give larger sets, or fewer `seeds`"
        )
    ids = fields.item_ids()
    methods = _models(weighing)
    methods += [Method(name, score) for name, score in (rivals or {}).items()]
    results = []
    questions = iter(progress_of(progress)([(method, task) for method in methods for task in tasks]))
    for method in methods:
        own = (task for _, task in islice(questions, len(tasks)))
        results.append(_result(method, _measured(method, own, ids)))
    deque(questions, 0)  # its end is told, too
    by: str | None = None
    if design.learns_fields and defaults.fields:
        by, measured = learn_weights(
            defaults.fields, lambda by: _measured(_model("", weighing, {"model": "lift", "by": by}), tasks, ids)
        )
        learned = _model(f"lift, learned, by {by}", weighing, {"model": "lift", "by": by})
        results.append(_result(learned, measured))
    results.sort(key=lambda result: -result.map)
    line, groups = measure_line(weighing, tasks), measure_groups(weighing, distinct, design.draws)
    n_sets, copies = len(sets) - len(left_out), sum(len(every[name]) - len(distinct[name]) for name in sets)
    recommendation, n_seeds = _recommend(results), design.n_seeds
    return Evaluation(
        *(results, n_sets, len(tasks), left_out, recommendation, line, groups, copies),
        *(tuple(sorted(unknown)), by, n_seeds),
    )


def _measured(method: Method, tasks: Iterable[Task], ids: Ints) -> dict[str, list[Floats]]:
    """The measures of each draw of each set."""
    measured: dict[str, list[Floats]] = {}
    for name, seeds, others in tasks:
        scores = method.score(seeds)
        rest = ids[~np.isin(ids, seeds)]
        order = rest[np.argsort(-scores[rest], kind="stable")]
        measured.setdefault(name, []).append(measures(np.isin(order, others), scores[order]))
    return measured


def _known(fields: Fields, members: Sequence[str], unknown: set[str]) -> list[int]:
    """The distinct ids of members, in the order of the items' names; adds the others to `unknown`."""
    ids = set()
    for name in members:
        try:
            ids.add(fields.resolve(name, hint=False))
        except UnknownItem:
            unknown.add(str(name))
    described = fields.describe(sorted(ids))
    return sorted(ids, key=lambda id: described[id][0])


def _draw(sets: Mapping[str, Sequence[int]], design: Design) -> tuple[list[Task], list[str]]:
    """The tasks, and the sets that are too small."""
    tasks, left_out = [], []
    for name in sorted(sets):
        members = sets[name]
        if len(members) <= design.n_seeds:
            left_out.append(name)
            continue
        generator = random.Random(f"{design.seed} {name}")
        for _ in range(design.draws):
            seeds = generator.sample(members, design.n_seeds)
            others = [member for member in members if member not in seeds]
            tasks.append((name, np.array(seeds), np.array(others)))
    return tasks, left_out


def _models(weighing: Weighing) -> list[Method]:
    """Our models with several options; words also by a part of their fields."""
    fields, defaults = weighing.fields, weighing.defaults
    methods = [_model("lift", weighing, {"model": "lift"})]
    if len(fields.all) > 1:
        contexts, documents = (
            weighing._replace(fields=fields._replace(all=own)) for own in (fields.all[:-1], fields.all[-1:])
        )
        methods += [
            _model("lift, by contexts", contexts, {"model": "lift", "by": "contexts"}),
            _model("lift, by documents", documents, {"model": "lift", "by": "documents"}),
            _model("bernoulli, by documents", documents, {"model": "bernoulli", "by": "documents"}),
        ]
    methods += [_model(f"lift, by {own}", weighing, {"model": "lift", "by": own}) for own in defaults.fields]
    default = defaults.make({"model": "lift"})
    more: list[ModelOptions] = [
        {"model": "lift", "feedback": share} for share in FEEDBACKS if share != weighing.feedback
    ]
    if weighing.is_smoothed:
        more.append({"model": "lift", "neighbors": 0.0})
    if fields.vectors is not None:
        own = getattr(defaults.choose({}).vectors, fields.vectors().source)
        more += [{"model": "lift", "vectors": weight} for weight in WEIGHTS_OF_VECTORS if weight != own]
    if defaults.kind == RATINGS:
        more.append({"model": "lift", "purpose": "likes"})
    methods += [_model(_label(options), weighing, options) for options in more]
    for options in _choices():
        can_be = options["model"] == "lift" or len(fields.all) == 1
        if can_be and defaults.make(options) != default:
            methods.append(_model(_label(options), weighing, options))
    return methods


def _choices() -> list[ModelOptions]:
    """The options that are compared."""
    choices: list[ModelOptions] = [{"model": "bernoulli"}]
    for binarize in ("presence", "twice-mean"):
        choices += [{"model": "lift", "binarize": binarize, "popularity": p} for p in POPULARITIES]
        for k in STRENGTHS:
            if (binarize, k) != ("presence", 2.0):
                choices.append({"model": "bernoulli", "binarize": binarize, "strength": k})
    choices.append({"model": "bernoulli", "binarize": "twice-mean", "strength": 50.0, "popularity": 0.0})
    choices += [{"model": "multinomial", "strength": k} for k in (100.0, 1000.0)]
    choices.append({"model": "poisson"})
    return choices


def _label(options: ModelOptions) -> str:
    more = [f"{key} {value:g}" if isinstance(value, float) else str(value) for key, value in options.items()]
    return ", ".join(more)


def _model(name: str, weighing: Weighing, options: ModelOptions) -> Method:
    own = weighing._replace(chosen=weighing.defaults.choose(options))
    return Method(name, lambda seeds: weights_of(own, seeds).scores(), options)


def _result(method: Method, measured: Mapping[str, Sequence[Floats]]) -> Result:
    by_set = np.array([np.mean(draws, axis=0) for draws in measured.values()])
    low, high = interval(by_set[:, 0])
    precisions = dict(zip(measured, by_set[:, 0].tolist(), strict=True))
    mean_ap, p10, ndcg10, r_precision = by_set.mean(axis=0).tolist()
    return Result(method.name, method.options, mean_ap, low, high, p10, ndcg10, r_precision, precisions)


def _recommend(results: Sequence[Result]) -> str:
    """Which of our models to use, and whether these sets can tell."""
    ours = [result for result in results if result.options is not None]
    best = ours[0]
    default = next(result for result in ours if result.method == "lift")
    if best is default:
        return f"keep the default, lift: no other model of ours is better (MAP {best.map:.3f})"
    names = list(best.by_set)
    low, high = interval(np.array([best.by_set[name] - default.by_set[name] for name in names]))
    gain = f"MAP {best.map:.3f} against {default.map:.3f} of the default, lift; difference {low:+.3f} to {high:+.3f}"
    if low <= 0 or len(names) < ENOUGH_SETS:
        return f"these sets cannot tell {best.method} from the default: {gain}"
    return f"take {best.method}: {gain}"
