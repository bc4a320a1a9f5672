"""Commands that ask: which items belong to a set, and why."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import setsearch
from setsearch.answers.results import Snippet, is_informative, kept_name, weight_rows
from setsearch.cli import output
from setsearch.cli.help import argument, option
from setsearch.cli.messages import say
from setsearch.cli.notes import tell_gone, tell_ids, tell_notes
from setsearch.cli.options import (
    Asking,
    Collection,
    Items,
    OptionalSeeds,
    Seeds,
    Top,
    answer_options,
    question_options,
    with_options,
)
from setsearch.errors import SetsearchError, SourceError, UsageError
from setsearch.options import ALL, EXAMPLES, MODEL, RESULT, SAVED, ModelOptions, offered, taken

if TYPE_CHECKING:
    from setsearch.answers.results import Hit
    from setsearch.answers.saved.item_sets import AnyReading, Question
    from setsearch.spark import SparkReading

AT_ONCE = 1000  # sets of --batch
Answer = tuple[str, Any, "list[Hit] | SetsearchError"]  # the place of a set, its seeds, and what they got
# Names of what is said of a hit; kept columns that have them are shown under another one.
RESERVED = {
    *("rank", "item", "score", "belongs", "title", "features", "reasons", "rest", "snippet", "marks", "duplicates"),
    *("group", "revision", "contexts_revision"),
}
WEIGHTINGS = ("weight", "mi")


@with_options(
    answer=answer_options,
    asking=Asking,
    wanted=question_options({**offered("the command line", RESULT), **SAVED}),
    model=question_options(MODEL),
    show=output.picture_options,
)
def expand(
    db: Collection,
    seeds: OptionalSeeds = None,
    *,
    items: Items = None,
    answer: dict[str, Any],
    asking: Asking,
    wanted: dict[str, Any],
    model: ModelOptions,
    show: output.Show,
) -> None:
    """Give a few examples, get the rest of the set.

    Example: setsearch expand notes.db red blue green -k 5
    """
    wanted = {name: value for name, value in wanted.items() if value is not None} | answer | {"fold": not asking.unfold}
    if (asking.where, asking.match) != (None, None):
        if wanted["among"] is not None:
            raise UsageError("--among FILE lists the ids; leave --where and --match out")
        from setsearch.memory.where import Where

        conditions = asking.where or []
        several = map("({})".format, conditions) if len(conditions) > 1 else conditions
        wanted["among"] = Where(" and ".join(several) if conditions else None, match=asking.match)
    batch, saved = asking.batch, wanted.get("set")
    if batch is not None:
        if seeds or saved or asking.seed_weights or wanted.get("like") or wanted.get("having"):
            raise UsageError("--batch FILE brings its own examples; leave the others out")
        require_lines(show)
        from setsearch.cli.set_files import read_seed_sets

        with db.open(time_limit=asking.time_limit) as index:
            answers = batch_answers(index.reading(items), read_seed_sets(batch), {**wanted, **model})
            print_batch(batch, answers, wanted["explain"])
        return
    if not (seeds or saved or wanted.get("like") or wanted.get("having")):
        raise UsageError("no examples: give SEED..., --set NAME, --like, --having, or --batch FILE")
    from setsearch.answers.highlight import with_headlines

    with db.open(time_limit=asking.time_limit) as index:
        asked = _question(index, db, seeds, items, wanted)
        if asking.seed_weights is not None:
            asked = asked.weighted(_numbers(asking.seed_weights), "--seed-weights")
        wanted["like"] = [_read_text(text) for text in wanted.get("like", ())]
        hits = with_headlines(asked.reading, asked.expand(**wanted, **model).shared())
        if items is None:
            tell_ids(asked.reading, asked.seeds)
        tell_notes(asked.reading, asked.seeds, hits, model)
        if wanted["snippets"] and hits and not any(hit.snippet for hit in hits):
            say("note: no snippets, as these items have no texts; --explain shows what they share")
        points = hits.map() if show is output.print_map else []
    if show is output.print_map:
        output.print_map(points)
        return
    rows = hit_rows(hits, wanted["explain"])
    if show in (output.print_json, output.print_lines):
        rows = with_revisions(rows, hits)
    show(rows, ("rank", "item", "score"))


def _question(
    index: "setsearch.Index", db: Collection, seeds: list[str] | None, items: str | None, options: dict[str, Any]
) -> "Question":
    """What is asked, perhaps of a saved set; which of its members left the index is told."""
    asked = index.question(seeds or (), items=items, **taken(options, "set", "exclude"))
    if asked.own is not None:
        tell_gone(asked.own, str(db))
    return asked


@with_options(
    more=question_options({**offered("explain", RESULT), **SAVED}),
    model=question_options(MODEL),
    show=output.format_options,
)
def explain_command(
    db: Collection,
    item: Annotated[str, argument("ITEM", "The item whose score to explain.")],
    seeds: OptionalSeeds = None,
    *,
    items: Items = None,
    more: dict[str, Any],
    model: ModelOptions,
    show: output.Show,
) -> None:
    """The parts that sum to an item's score: the constant, the base, and the features shared with the seeds.

    Example: setsearch explain notes.db neon helium argon
    """
    more["like"] = [_read_text(text) for text in more["like"] or ()]
    with db.open() as index:
        asked = _question(index, db, seeds, items, more)
        explanation = asked.explain(item, **more, **model)
    if explanation.group:
        say(f"note: your examples fall into groups; this is the score by {', '.join(explanation.group)}")
    if show in (output.print_json, output.print_lines):
        row: dict[str, Any] = {"item": explanation.item} | ({"title": explanation.title} if explanation.title else {})
        row |= {"score": explanation.score, "constant": explanation.constant, "base": explanation.base}
        reasons = weight_rows(explanation.reasons)
        output.print_lines([row | {"features": _contribution_rows(explanation.features), "reasons": reasons}])
        return
    parts: list[dict[str, Any]] = [
        {"part": "constant", "weight": explanation.constant},
        {"part": "base", "weight": explanation.base},
    ]
    if show is output.print_table:
        parts += [{"part": own.label, "weight": own.weight} for own in explanation.reasons if own.features]
    else:
        parts += [{"part": _label(part.feature, part.title), "weight": part.weight} for part in explanation.features]
    show([*parts, {"part": f"score of {_label(explanation.item, explanation.title)}", "weight": explanation.score}])


@with_options(more=question_options(EXAMPLES), model=question_options(MODEL), show=output.bar_options)
def features(
    db: Collection,
    seeds: Seeds,
    *,
    items: Items = None,
    k: Top = 10,
    weigh: Annotated[str, option("HOW", "weight (of the model), or mi (mutual information, bits).")] = "weight",
    more: dict[str, Any],
    model: ModelOptions,
    show: output.Show,
) -> None:
    """The features that define a set.

    Example: setsearch features notes.db Mozart Beethoven --items documents
    """
    if weigh not in WEIGHTINGS:
        raise UsageError(f"--weigh is one of {', '.join(WEIGHTINGS)}, not {weigh!r}")
    more = {name: value for name, value in more.items() if value}
    given = [ALL[name].flag.split()[0] for name, value in {**more, **model}.items() if value is not None]
    if weigh != "weight" and given:
        raise UsageError(f"--weigh {weigh} counts and uses no model; leave {' and '.join(given)} out")
    with db.open() as index:
        reading = index.items(items)
        if weigh == "weight":
            more["like"] = [_read_text(text) for text in more.get("like", ())]
            found: Any = reading.features(seeds, k, **more, **model)
        else:
            from setsearch.learning import most_informative

            found = most_informative(reading, seeds, k)
    show(output.informative([part._asdict() for part in found], "title"))


@with_options(show=output.format_options)
def find(
    db: Collection,
    text: Annotated[str, argument("TEXT", "What is known of the name.")],
    *,
    items: Items = None,
    k: Top = 10,
    show: output.Show,
) -> None:
    """Find an item by its name or title: any part of it, in any case, with small errors.

    `total` counts what describes it: the words of a document, the uses of a word.

    Example: setsearch find films.db "toy story" --items film
    """
    with db.open() as index:
        found = index.reading(items).find_names(text, k)
    if not found:
        say(f"note: no name is like {text!r}")
    titled = any(one.title is not None for one in found)
    show([{key: value for key, value in one._asdict().items() if titled or key != "title"} for one in found])


def hit_rows(hits: "list[Hit]", explain: bool) -> list[dict[str, Any]]:
    """Hits as rows to print, without empty columns."""
    rows = []
    folded = any(hit.duplicates for hit in hits)
    columns = {name: kept_name(name, RESERVED) for hit in hits for name in hit.columns or ()}
    has_snippets = any(hit.snippet is not None for hit in hits)
    rests = [hit.rest for hit in hits] if explain else []  # base and constant
    has_reasons = any(hit.reasons for hit in hits)  # numbers have none
    for number, hit in enumerate(hits):
        row: dict[str, Any] = {"rank": hit.rank, "item": hit.item, "score": hit.score}
        if hit.belongs is not None:
            row["belongs"] = hit.belongs
        row["title"] = hit.title
        if hit.group:
            row["group"] = list(hit.group)
        if explain:
            row["features"] = _contribution_rows(hit.features)
            row |= {"reasons": weight_rows(hit.reasons)} if has_reasons else {}
            row |= {"rest": rests[number]} if any(rests) else {}
        if has_snippets:
            snippet = hit.snippet or Snippet("")
            row |= {"snippet": snippet.text, "marks": snippet.marks}
        if folded:
            row["duplicates"] = list(hit.duplicates)
        rows.append(row | {shown: (hit.columns or {}).get(name) for name, shown in columns.items()})
    return output.informative(rows, "title")


def with_revisions(rows: list[dict[str, Any]], hits: "list[Hit]") -> list[dict[str, Any]]:
    """Rows that tell which writes an answer knows."""
    if not isinstance(hits, setsearch.Hits) or not hits.revision:
        return rows
    known = {"revision": hits.revision}
    if hits.contexts_revision is not None:
        known["contexts_revision"] = hits.contexts_revision
    return [row | known for row in rows]


def require_lines(show: output.Show) -> None:
    """Refuse to print the answers of many sets as one table."""
    name = next(name for name, (own, _) in output.HOW.items() if own is show)
    if name not in ("json", "nl", "table"):
        raise UsageError(f"--batch writes a line of JSON for each set; leave --{name} out")


def print_batch(batch: str, answers: Iterable[Answer], explain: bool) -> None:
    """A line of JSON for each set: its seeds and its hits. A set that has no answer is told, and the others go on."""
    failed = 0
    for place, seeds, hits in answers:
        if isinstance(hits, SetsearchError):
            failed += 1
            say(f"{place}: {hits}")
        else:
            output.print_lines([{"seeds": seeds, "hits": with_revisions(hit_rows(hits, explain), hits)}])
    if failed:
        raise SourceError(f"{failed} of the sets in {batch} had no answer; the others are above")


def batch_answers(
    reading: "AnyReading | SparkReading",
    sets: "Iterable[tuple[str, list[str] | SourceError]]",
    options: dict[str, Any],
    at_once: int | None = AT_ONCE,
) -> Iterator[Answer]:
    """The answers to so many sets, then those to the next ones; all at once for None. Raises UsageError."""
    every = iter(sets)
    while some := [*islice(every, at_once)]:
        answers = iter(reading.expand_each([own for _, own in some if isinstance(own, list)], **options))
        for place, seeds in some:
            answer = seeds if isinstance(seeds, SourceError) else next(answers)
            if isinstance(answer, UsageError):
                raise answer
            yield place, seeds, answer if isinstance(answer, SetsearchError) else answer.shared()


def _numbers(weights: str) -> list[float]:
    """The weights of seeds. Raises UsageError."""
    try:
        return [float(number) for number in weights.split(",")]
    except ValueError as error:
        raise UsageError(f"--seed-weights are numbers such as 1,0.5, not {weights!r:.60}") from error


def _read_text(text: str) -> str:
    """The text itself, or what `index` reads in the file of this name."""
    if not text.strip():
        raise UsageError("--like is empty; give a text, or a file")
    path = Path(text)
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError:  # for example too long for a path
        is_file = is_folder = False
    if is_folder:
        raise SourceError(f"{text} is a folder; give a file, or the text itself")
    if is_file:
        from setsearch.indexing.files import FileReader
        from setsearch.indexing.rows.reader import RowReader

        reader = FileReader(RowReader())
        texts = [own.text for own in reader.documents(path, path.name, is_named=True)]
        return "\n".join([*texts, *(copy.reference.text() for copy in reader.tally.references)])
    if path.suffix in (".txt", ".md") and " " not in text:
        raise SourceError(f"{text} does not exist; give a file, or the text itself")
    return text


def _contribution_rows(parts: Iterable[Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in part._asdict().items() if value is not None} for part in parts]


def _label(name: str, title: str | None) -> str:
    return f"{name} ({title})" if is_informative(title, name) else name
