"""Arguments and options that several commands share. A group of options becomes one parameter of a command."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from setsearch.cli.help import ADVANCED, argument, flag, option
from setsearch.errors import UsageError

Command = Callable[..., None]
Texts = list[str] | None

DB = Annotated[Path, argument("DB", "The database file.")]
_SEEDS = argument("SEED...", "Examples of the set.")
Seeds = Annotated[list[str], _SEEDS]
OptionalSeeds = Annotated[Texts, _SEEDS]
Items = Annotated[str | None, option("NAME", "What to rank: terms, documents, or a column.")]
Top = Annotated[int, option("K", "How many.", None, "-k")]
Timeout = Annotated[float, option("SECONDS", "How long to wait for another writer.", ADVANCED, min=0)]

TimeLimit = Annotated[
    float,
    option("SECONDS", "How long SQLite may work on a table, a view or a condition.", ADVANCED, min=0.001, max=1e6),
]


def more_examples(
    *,
    like: Annotated[Texts, option("FILE|TEXT", "A text as an example of documents; may be repeated.")] = None,
    having: Annotated[Texts, option("FEATURE", "A feature of an example; several belong to the same example.")] = None,
    set: Annotated[str | None, option("NAME", "Use the examples of a saved set.")] = None,
    seed_weights: Annotated[
        str | None, option("W,...", "Weights of the seeds, from 0 up, such as 1,0.5.", ADVANCED)
    ] = None,
) -> dict[str, Any]:
    """Examples that are not items, and weights of those that are."""
    return {"like": like or [], "having": having or [], "set": set, "seed_weights": seed_weights}


def diversity_options(
    *,
    at_most: Annotated[
        int | None, option("N", "Return at most N documents with the same value of the column --per.", ADVANCED)
    ] = None,
    per: Annotated[str | None, option("COLUMN", "A kept column, such as author.", ADVANCED)] = None,
) -> dict[str, Any]:
    """How many hits may be of one kind."""
    return {"at_most": at_most, "per": per}


def expand_options(
    *,
    k: Annotated[int | None, option("K", "How many; by default 10, with --cut all.", None, "-k")] = None,
    exclude: Annotated[Texts, option("SEED", "A negative example, which is left out; may be repeated.")] = None,
    cut: Annotated[bool, flag("--cut", "Only items that belong to the set.")] = False,
    explain: Annotated[bool, flag("--explain", "Show the features behind each score.")] = False,
    snippets: Annotated[bool, flag("--snippets", "Show the passage of each document that speaks for the set.")] = False,
    unfold: Annotated[bool, flag("--unfold", "List near-duplicates of documents too.", ADVANCED)] = False,
    gamma: Annotated[
        float | None,
        option(
            "G",
            "Subtract G times the weights of negative examples, 0 to 1, instead of learning from them.",
            ADVANCED,
            min=0,
            max=1,
        ),
    ] = None,
    filter: Annotated[
        list[str] | None,
        option("CONDITION", "Return only documents with such a kept column, as 'year >= 2001'; may repeat.", ADVANCED),
    ] = None,
    keep_seeds: Annotated[bool, flag("--keep-seeds", "Rank the seeds too.", ADVANCED)] = False,
) -> dict[str, Any]:
    """What to return."""
    return {
        "k": k if k is not None or cut else 10,
        "exclude": exclude or (),
        "filter": filter or (),
        "gamma": gamma,
        "keep_seeds": keep_seeds,
        "explain": explain,
        "snippets": snippets,
        "fold": not unfold,
        "cut": "keep" if cut else "mark",
    }


def asking_options(
    *,
    batch: Annotated[
        str | None, option("FILE", "Expand many sets: a JSON array of seeds a line, - for standard input.", ADVANCED)
    ] = None,
    among: Annotated[
        str | None, option("FILE", "Return only these ids, one a line; - for standard input.", ADVANCED)
    ] = None,
    where: Annotated[
        str | None, option("SQL", "Return only rows of the indexed table for which this holds.", ADVANCED)
    ] = None,
    match: Annotated[
        str | None, option("QUERY", "Return only rows that match this full-text query (FTS5).", ADVANCED)
    ] = None,
    time_limit: TimeLimit = 10.0,
) -> "Asking":
    """Many sets at once; what may be returned; how long SQL of a condition may take."""
    if among is not None and (where, match) != (None, None):
        raise UsageError("--among FILE lists the ids; leave --where and --match out")
    if among is not None:
        from setsearch.cli.set_files import read_ids

        return Asking(batch, time_limit, read_ids(among))
    if (where, match) == (None, None):
        return Asking(batch, time_limit)
    from setsearch.memory.where import Where

    return Asking(batch, time_limit, Where(where, match=match))


class Asking(NamedTuple):
    """Many sets at once, how long SQL may take, and what may be returned."""

    batch: str | None
    time_limit: float
    among: Any = None


def waiting_options(*, timeout: Timeout = 5.0, time_limit: TimeLimit = 10.0) -> dict[str, Any]:
    """How long to wait."""
    return {"timeout": timeout, "time_limit": time_limit}


def text_options(
    *,
    language: Annotated[str | None, option("NAME", "Stem words (Snowball): english, german, ...")] = None,
    analyzer: Annotated[
        str,
        option(
            "NAME", "How texts become words: unicode; icu (dictionaries for Chinese, Japanese, Thai, ...).", ADVANCED
        ),
    ] = "unicode",
    stop_words: Annotated[bool, flag("--stop-words", "Drop the stop words of the language.", ADVANCED)] = False,
    contexts: Annotated[
        bool | None,
        flag(
            "--contexts/--no-contexts",
            "Describe words by co-occurrence contexts. Default: for 50 k to 25 M words.",
            ADVANCED,
        ),
    ] = None,
    pairs: Annotated[bool, flag("--pairs", "Pairs of neighboring words as features, too.", ADVANCED)] = False,
    ngrams: Annotated[
        int | None,
        option("N", "Runs of N characters of words as features, too: 4 suits any language.", ADVANCED, min=2, max=8),
    ] = None,
    title_weight: Annotated[int, option("N", "Count words of titles N times.", ADVANCED, min=0, max=9)] = 0,
    encoder: Annotated[
        str | None,
        option(
            "NAME", "Give documents and words vectors: a model of sentence-transformers, by name or folder.", ADVANCED
        ),
    ] = None,
    phrases: Annotated[
        bool | None,
        flag("--phrases/--no-phrases", "Contexts, with or without phrases such as New York as items.", ADVANCED),
    ] = None,
) -> dict[str, Any]:
    """How a text collection is made."""
    titles = "titles" if title_weight == 1 else f"{title_weight}-titles"
    extras = {"pairs": pairs, titles: title_weight, f"{ngrams}-grams": ngrams}
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


def together(*groups: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Groups of options as one."""
    members = [inspect.signature(group).parameters for group in groups]

    def ask(**values: Any) -> dict[str, Any]:
        """What all groups return."""
        answers = [group(**{name: values[name] for name in own}) for group, own in zip(groups, members, strict=True)]
        return {key: value for answer in answers for key, value in answer.items()}

    ask.__signature__ = inspect.Signature([own for group in members for own in group.values()])  # type: ignore[attr-defined]
    return ask


def with_options(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command groups of options: each named parameter is the return value of its group."""

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        members = {name: inspect.signature(group).parameters for name, group in groups.items()}

        @functools.wraps(command)
        def run(*args: Any, **values: Any) -> None:
            grouped = {name: groups[name](**{key: values.pop(key) for key in members[name]}) for name in groups}
            command(*args, **values, **grouped)

        shared = [parameter for name, parameter in signature.parameters.items() if name not in groups]
        added = [parameter for group in members.values() for parameter in group.values()]
        run.__signature__ = signature.replace(parameters=shared + added)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in shared + added}
        return run

    return decorate
