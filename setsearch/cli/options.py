"""Arguments and options that several commands share. A group of options becomes one parameter of a command."""

import functools
import inspect
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import setsearch
from setsearch.cli.help import ADVANCED, MODEL_PANEL, argument, flag, option
from setsearch.cli.messages import with_flags
from setsearch.errors import UsageError
from setsearch.options import MODEL, Option, with_parameters

Command = Callable[..., None]
Texts = list[str] | None
USUAL_BOUND = 1000  # larger ones only keep numbers from overflowing

DB = Annotated[Path, argument("DB", "The database file.")]


def _from_lines(seeds: list[str] | None) -> list[str] | None:
    """Examples; those of standard input, one a line, in the place of -."""
    if not seeds or seeds.count("-") != 1:
        return seeds
    from setsearch.cli.set_files import read_ids

    place = seeds.index("-")
    return [*seeds[:place], *read_ids("-"), *seeds[place + 1 :]]


_SEEDS = argument("SEED...", "Examples of the set; - for those of standard input, one a line.", callback=_from_lines)
Seeds = Annotated[list[str], _SEEDS]
OptionalSeeds = Annotated[Texts, _SEEDS]
Items = Annotated[str | None, option("NAME", "The kind of items: terms, documents, or a column.")]
Top = Annotated[int, option("K", "How many.", None, "-k")]
Timeout = Annotated[float, option("SECONDS", "How long to wait for another writer.", ADVANCED, min=0)]

TimeLimit = Annotated[
    float,
    option("SECONDS", "How long SQLite may work on a table, a view or a condition.", ADVANCED, min=0.001, max=1e6),
]


def _typed(own: Option) -> Any:
    """An option of a question as typer takes it."""
    panel = None if own.usual else MODEL_PANEL if own.name in MODEL else ADVANCED
    if own.type is bool:
        return flag(own.flag, f"{own.help}.", panel)
    bounds = f" [{own.bounds}]" if own.most <= USUAL_BOUND else ""
    several = "; may repeat" if own.type is list else ""
    return option(own.metavar, f"{with_flags(own.help)}{several}.{bounds}", panel, *own.flag.split())


def _annotated(own: Option) -> Any:
    kind = own.type if own.type is bool else Texts if own.type is list else own.type | None
    return Annotated[kind, _typed(own)]


Fresh = Annotated[str | None, _typed(MODEL["fresh"])]


def question_options(options: Mapping[str, Option]) -> Callable[..., dict[str, Any]]:
    """Options of a question as a group: what was given, by name; None for the rest."""
    return with_parameters(lambda **given: given, options.values(), _annotated)


def answer_options(
    *,
    k: Annotated[int | None, option("K", "How many; by default 10, or all with --cut.", None, "-k")] = None,
    cut: Annotated[bool, flag("--cut", "Only items that belong to the set.")] = False,
    among: Annotated[
        str | None, option("FILE", "Return only these ids, one a line; - for standard input.", ADVANCED)
    ] = None,
) -> dict[str, Any]:
    """How much to return, and of what."""
    wanted: dict[str, Any] = {"k": k if k is not None or cut else 10, "cut": "keep" if cut else "mark", "among": among}
    if among is not None:
        from setsearch.cli.set_files import read_ids

        wanted["among"] = read_ids(among)
    return wanted


class Asking(NamedTuple):
    """Weights of examples, many sets at once, near-duplicates, conditions, and how long SQL may take."""

    seed_weights: Annotated[
        str | None, option("W,...", "Weights of the seeds, from 0 up, such as 1,0.5.", ADVANCED)
    ] = None
    batch: Annotated[
        str | None,
        option(
            "FILE",
            "Many sets: a JSON array of seeds a line, - for standard input; an object of seeds and hits a line.",
            ADVANCED,
        ),
    ] = None
    unfold: Annotated[bool, flag("--unfold", "List near-duplicates of documents too.", ADVANCED)] = False
    where: Annotated[
        Texts, option("SQL", "Return only rows of the indexed table for which this holds; may be repeated.", ADVANCED)
    ] = None
    match: Annotated[
        str | None, option("QUERY", "Return only rows that match this full-text query (FTS5).", ADVANCED)
    ] = None
    time_limit: TimeLimit = 10.0


def waiting_options(*, timeout: Timeout = 5.0, time_limit: TimeLimit = 10.0) -> dict[str, Any]:
    """How long to wait."""
    return {"timeout": timeout, "time_limit": time_limit}


Language = Annotated[str | None, option("NAME", "Stem words (Snowball): english, german, ...")]
StopWords = Annotated[bool, flag("--stop-words", "Drop the stop words of the language.", ADVANCED)]
_CONTEXTS = "Describe words by co-occurrence contexts. Default: for 50 k to 25 M words."
_PHRASES = "Contexts, with or without phrases such as New York as items."
Contexts = Annotated[bool | None, flag("--contexts/--no-contexts", _CONTEXTS, ADVANCED)]
Phrases = Annotated[bool | None, flag("--phrases/--no-phrases", _PHRASES, ADVANCED)]


def text_options(
    *,
    language: Language = None,
    analyzer: Annotated[
        str,
        option(
            "NAME", "How texts become words: unicode; icu (dictionaries for Chinese, Japanese, Thai, ...).", ADVANCED
        ),
    ] = "unicode",
    stop_words: StopWords = False,
    contexts: Contexts = None,
    pairs: Annotated[bool, flag("--pairs", "Pairs of neighboring words as features, too.", ADVANCED)] = False,
    ngrams: Annotated[
        int | None,
        option("N", "Runs of N characters of words as features, too: 4 suits any language.", ADVANCED, min=2, max=8),
    ] = None,
    title_weight: Annotated[
        int | None,
        option(
            "N",
            "Count words of titles N times beside the text; by default as a part of it, those of long ones twice.",
            ADVANCED,
            min=0,
            max=9,
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        option(
            "NAME", "Give documents and words vectors: a model of sentence-transformers, by name or folder.", ADVANCED
        ),
    ] = None,
    phrases: Phrases = None,
) -> dict[str, Any]:
    """How a text collection is made."""
    titles = "titles" if title_weight == 1 else f"{title_weight}-titles"
    extras = {"pairs": pairs, titles: title_weight is not None, f"{ngrams}-grams": ngrams}
    analyzer = "+".join([analyzer, *(name for name, is_wanted in extras.items() if is_wanted)])
    how = {"language": language, "analyzer": analyzer, "stop_words": stop_words}
    return how | {"contexts": contexts_choice(contexts, phrases), "encoder": encoder}


def contexts_choice(contexts: bool | None, phrases: bool | None) -> str:
    """Which contexts a collection gets, by two options of its command; raises UsageError."""
    if phrases and contexts is False:
        raise UsageError("--phrases need contexts; leave --no-contexts out")
    if phrases is not None and contexts is not False:
        return "phrases" if phrases else "words"
    return {None: "auto", True: "on", False: "off"}[contexts]


def _parameters(group: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Those of a function; the fields of a class are options."""
    own = inspect.signature(group).parameters.values()
    is_class = isinstance(group, type)
    return {each.name: each.replace(kind=each.KEYWORD_ONLY) if is_class else each for each in own}


def with_options(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command groups of options, functions or classes: each named parameter is what its group returns."""

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        members = {name: _parameters(group) for name, group in groups.items()}
        added = {own.name for group in members.values() for own in group.values() if own.kind is own.KEYWORD_ONLY}

        @functools.wraps(command)
        def run(**values: Any) -> None:
            grouped = {name: groups[name](**{key: values.pop(key) for key in members[name]}) for name in groups}
            command(**values, **grouped)

        every = (members.get(name, {name: own}) for name, own in signature.parameters.items())
        parameters = sorted(
            chain.from_iterable(own.values() for own in every), key=lambda own: (own.kind, own.name in added)
        )
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {own.name: own.annotation for own in parameters}
        return run

    return decorate


class Collection(NamedTuple):
    """A database file, and the name of a collection in it; all of them without a name."""

    path: Path
    name: str = ""

    def __str__(self) -> str:
        return str(self.path)

    def open(self, **options: Any) -> "setsearch.Index":
        """Open the index; `options` are those of `setsearch.open`."""
        return setsearch.open(self.path, collection=self.name, **options)


def _collection(
    db: DB, *, collection: Annotated[str, option("NAME", "One of several collections in DB.", ADVANCED)] = ""
) -> Collection:
    return Collection(db, collection)


def with_collection(command: Command) -> Command:
    """Give a command whose `db` is a Collection the argument DB and --collection; others stay as they are."""
    db = inspect.signature(command).parameters.get("db")
    return with_options(db=_collection)(command) if db is not None and db.annotation is Collection else command
