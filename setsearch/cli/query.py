"""Commands that ask: which items belong, and why."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import setsearch
from setsearch.cli.options import DB, Examples, Items, Seeds, Top, more_examples, options, scoring, wanting
from setsearch.cli.output import (
    Draw,
    Show,
    plotter,
    print_csv,
    print_json,
    print_lines,
    print_tsv,
    printer,
    say,
    with_titles_that_say_more,
)
from setsearch.errors import SourceError, UnknownItem, UnknownSet, UsageError
from setsearch.search.results import says_more

if TYPE_CHECKING:
    from setsearch.models.defaults import ModelOptions
    from setsearch.search.reading import Reading
    from setsearch.search.results import Hit


HOW = ("weight", "mi", "probability")
Batch = Annotated[
    str | None, typer.Option(metavar="FILE", help="Many sets: a JSON array of seeds a line, - for standard input.")
]


@options(more=more_examples, wanted=wanting, model=scoring, draw=plotter, show=printer)
def expand(
    db: DB,
    seeds: Examples = None,
    *,
    items: Items = None,
    batch: Batch = None,
    more: dict[str, Any],
    wanted: dict[str, Any],
    model: "ModelOptions",
    draw: Draw,
    show: Show,
) -> None:
    """Give a few examples, get the rest of the set.

    With --batch, each line of output is a JSON object with the seeds and the hits of a line of input.
    """
    if batch is not None:
        if seeds or any(more.values()):
            raise UsageError("--batch FILE brings its own examples; leave the others out")
        require_lines(show)
        _expand_batch(db, items, batch, wanted, model)
        return
    if not (seeds or any(more.values())):
        raise UsageError("no examples: give SEED..., --set NAME, --like, --having, or --batch FILE")
    from setsearch.scoring.kernels import use_kernel

    use_kernel("numpy")  # for one query the others take longer to load than they save
    with setsearch.open(db) as index:
        name = more.pop("set")
        if name is not None:
            if name not in index.sets():
                raise UnknownSet(f"no set {name!r}; `setsearch set list {db}` shows what is there")
            saved = index.set(name, items)
            items, seeds = saved.items, [*saved.accepted, *(seeds or ())]
            wanted["exclude"] = [*wanted["exclude"], *saved.rejected]
        reading = index.items(items)
        more["like"] = [_text(given) for given in more["like"]]
        try:
            hits = reading.expand(seeds or (), **more, **wanted, **model)
        except UnknownItem as error:
            if name is None:
                raise
            raise UnknownItem(f"{error} (perhaps in the set: `setsearch set remove {db} {name} ITEM`)") from error
        _say_if_rare(reading, [*(seeds or ()), *wanted["exclude"]], model)
    draw(hit_rows(hits, wanted["explain"]), show)


@options(model=scoring, show=printer)
def explain_command(
    db: DB,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Whose score to explain.", show_default=False)],
    seeds: Seeds,
    *,
    items: Items = None,
    model: "ModelOptions",
    show: Show,
) -> None:
    """The parts that sum to an item's score: the constant, the base, and the features shared with the seeds."""
    with setsearch.open(db) as index:
        found = index.items(items).explain(seeds, item, **model)
    if show in (print_json, print_lines):
        whole: dict[str, Any] = {"item": found.item} | ({"title": found.title} if found.title else {})
        whole |= {"score": found.score, "constant": found.constant}
        features = _contributions(found.features)
        print_lines([whole | {"base": found.base, "features": features}])
        return
    parts: list[dict[str, Any]] = [
        {"part": "constant", "weight": found.constant},
        {"part": "base", "weight": found.base},
    ]
    parts += [{"part": _label(part.feature, part.title), "weight": part.weight} for part in found.features]
    show([*parts, {"part": f"score of {_label(found.item, found.title)}", "weight": found.score}])


@options(model=scoring, draw=plotter, show=printer)
def features(
    db: DB,
    seeds: Seeds,
    *,
    items: Items = None,
    k: Top = 10,
    model: "ModelOptions",
    draw: Draw,
    show: Show,
) -> None:
    """The features that define a set.

    --by weight: those of highest weight (default); --by mi: the most informative, in bits of mutual information;
    --by probability: the most probable in the texts of the set.
    """
    how = model["by"] if model.get("by") in HOW else "weight"
    if model.get("by") in HOW:
        model["by"] = None
    given = [f"--{name}" for name, value in model.items() if value is not None]
    if how != "weight" and given:
        raise UsageError(f"--by {how} counts, and asks no model; leave {' and '.join(given)} out")
    with setsearch.open(db) as index:
        reading = index.items(items)
        if how == "weight":
            found = reading.features(seeds, k, **model)
        else:
            from setsearch.learning.information import language_model, most_informative

            found = (most_informative if how == "mi" else language_model)(reading, seeds, k)
    rows = [part._asdict() for part in found]
    draw(with_titles_that_say_more(rows), show)


def hit_rows(hits: "list[Hit]", explain: bool) -> list[dict[str, Any]]:
    """Hits as rows to print; columns that say nothing are left out."""
    rows = []
    titled = any(says_more(hit.title, hit.item) for hit in hits)
    for hit in hits:
        row: dict[str, Any] = {"rank": hit.rank, "item": hit.item, "score": hit.score}
        if hit.belongs is not None:
            row["belongs"] = hit.belongs
        if titled:
            row["title"] = hit.title
        if explain:
            row["features"] = _contributions(hit.features)
        rows.append(row)
    return rows


def _expand_batch(db: Path, items: str | None, batch: str, wanted: dict[str, Any], model: "ModelOptions") -> None:
    from setsearch.cli.set_files import read_seed_sets

    sets = read_seed_sets(batch)
    with setsearch.open(db) as index:
        found = index.items(items).expand_many(sets, **wanted, **model)
    print_answers(sets, found, wanted["explain"])


def require_lines(show: Show) -> None:
    """Refuse to write the answers of many sets as one table."""
    if show in (print_csv, print_tsv):
        raise UsageError("--batch writes a line of JSON for each set; leave --csv and --tsv out")


def print_answers(sets: Sequence[Sequence[str]], found: "Sequence[list[Hit]]", explain: bool) -> None:
    """A line of JSON for each set: its seeds and its hits."""
    rows = [hit_rows(hits, explain) for hits in found]
    print_lines([{"seeds": own, "hits": hits} for own, hits in zip(sets, rows, strict=True)])


def _say_if_rare(reading: "Reading", names: list[str], model: "ModelOptions") -> None:
    """Tell when the question was asked of documents because a word is too rare to have contexts."""
    rare = reading.without_context(names, **model)
    if rare:
        say(f"note: {', '.join(rare)}: too rare for contexts, so the answer is by documents (--by documents)")


def _text(given: str) -> str:
    """The text itself, or that of the file of this name."""
    path = Path(given)
    try:
        if not path.is_file() and path.suffix in (".txt", ".md") and " " not in given:
            raise SourceError(f"{given} is not there; give a file, or the text itself")
        return path.read_text(encoding="utf-8") if path.is_file() else given
    except UnicodeDecodeError as error:
        raise SourceError(f"{given} is not UTF-8: byte {error.start}; convert it") from error
    except OSError:  # too long for a path, for one
        return given


def _contributions(parts: Iterable[Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in part._asdict().items() if value is not None} for part in parts]


def _label(name: str, title: str | None) -> str:
    return f"{name} ({title})" if says_more(title, name) else name
