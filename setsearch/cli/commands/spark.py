"""Commands on Spark: `setsearch spark ...`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setsearch.cli import options
from setsearch.cli.commands.query import batch_answers, hit_rows, print_batch, require_lines
from setsearch.cli.help import ADVANCED, PanelCommand, argument, option
from setsearch.cli.messages import say
from setsearch.cli.notes import tell_notes
from setsearch.cli.output import Show, format_options
from setsearch.cli.source_options import column_options
from setsearch.errors import Interrupted, UsageError, number_of
from setsearch.options import MODEL, RESULT, ModelOptions, offered
from setsearch.storage.ids import in_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from setsearch.storage.synced_source import Columns

app = typer.Typer(
    help="The same on Spark, with a Parquet index, for collections beyond one machine.", rich_markup_mode=None
)

Place = Annotated[str, argument("INDEX", "A folder, or hdfs://, s3a://, ...")]
Master = Annotated[str | None, option("URL", "spark://..., local[2]; default: Spark's own.", ADVANCED)]


@app.command("build", cls=PanelCommand)
@options.with_options(columns=column_options)
def build_command(
    place: Place,
    source: Annotated[str, argument("SOURCE", "Parquet, .jsonl, or a table.")],
    *,
    columns: "Columns",
    language: options.Language = None,
    stop_words: options.StopWords = False,
    contexts: options.Contexts = None,
    phrases: options.Phrases = None,
    master: Master = None,
) -> None:
    """Build an index of documents or of a relation; replaces one at the same place.

    Example: setsearch spark build index docs.parquet --id id --text text
    """
    from setsearch.text.analyzer import Analyzer

    choice = options.contexts_choice(contexts, phrases)
    analyzer = Analyzer(language, stop_words)
    columns.relation  # noqa: B018  # raises for contradicting columns before Spark starts
    with _building(place), on_spark(master) as spark:
        from setsearch.spark import build, cells_of, read_source

        layout = build(spark, cells_of(read_source(spark, source), columns, analyzer, choice), place)
    _tell_built(layout)


@app.command("expand", cls=PanelCommand)
@options.with_options(
    answer=options.answer_options,
    wanted=options.question_options(offered("Spark", offered("the command line", RESULT))),
    model=options.question_options(offered("Spark", MODEL)),
    show=format_options,
)
def expand(
    place: Place,
    seeds: options.OptionalSeeds = None,
    *,
    items: options.Items = None,
    batch: Annotated[str | None, option("FILE", "Many sets at once, as `expand`.")] = None,
    master: Master = None,
    answer: dict[str, Any],
    wanted: dict[str, Any],
    model: ModelOptions,
    show: Show,
) -> None:
    """Give a few examples, get the rest of the set: the items and scores of `setsearch expand`.

    Example: setsearch spark expand index doc-1 doc-2 --items documents
    """
    if bool(seeds) == (batch is not None):
        raise UsageError("give SEED..., or --batch FILE")
    if batch is not None:
        require_lines(show)
    from setsearch.cli.set_files import read_seed_sets

    sets = [] if batch is None else [*read_seed_sets(batch)]
    options = wanted | answer | {**model}
    with on_spark(master) as spark:
        from setsearch.spark import SparkIndex

        reading = SparkIndex(spark, place).items(items)
        if batch is None:
            hits = reading.expand(seeds or [], **options).shared()
            tell_notes(reading, seeds or [], hits, model)
            rows = hit_rows(hits, options["explain"])
        else:
            answers = [*batch_answers(reading, sets, options, None)]
    if batch is None:
        show(rows)
    else:
        print_batch(batch, answers, options["explain"])


@app.command("from-sqlite", cls=PanelCommand)
def from_sqlite(db: options.DB, place: Place, *, items: options.Items = None, master: Master = None) -> None:
    """Convert a database to a Parquet index: names, counts, titles and contexts of words.

    Example: setsearch spark from-sqlite notes.db index
    """
    with _building(place), on_spark(master) as spark:
        from setsearch.spark import from_sqlite

        layout = from_sqlite(spark, db, place, items)
    _tell_built(layout)


@app.command("to-sqlite", cls=PanelCommand)
def to_sqlite(
    place: Place,
    db: Annotated[Path, argument("DB", "A file that does not exist yet.")],
    *,
    where: Annotated[str | None, option("SQL", "Items for which this holds: id, name, title, length, total.")] = None,
    sample: Annotated[float | None, option("SHARE", "About this share of the items.")] = None,
    master: Master = None,
) -> None:
    """Convert a Parquet index, or a part of it, to a database.

    Example: setsearch spark to-sqlite index part.db --sample .1
    """
    with on_spark(master) as spark:
        from setsearch.spark import to_sqlite

        count = to_sqlite(spark, place, db, where=where, sample=sample)
    say(f"{db} has {number_of(count, 'item')}")


@contextmanager
def on_spark(master: str | None) -> "Iterator[SparkSession]":
    """A Spark session; raises UsageError if Spark is not installed."""
    try:
        from setsearch.spark.session import session
    except ImportError as error:
        raise UsageError(f"{error}; Spark also needs Java 17") from error
    with session(master) as spark:
        yield spark


@contextmanager
def _building(place: str) -> "Iterator[None]":
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(f"stopped; {place} may hold no index now: build it again") from error


def _tell_built(layout: Any) -> None:
    sides = [*layout.sides, *(own for own, _ in layout.contexts[:1])]
    counts = ", ".join(in_number(side.count, side.items) for side in sides)
    say(f"built {layout.place}: {counts}")
