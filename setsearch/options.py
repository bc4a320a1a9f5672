"""The options of a question, each declared once: every door makes its own form of them, or says in LEFT_OUT why not."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from inspect import Parameter, signature
from math import inf
from typing import Annotated, Any, Generic, NamedTuple, TypedDict, TypeVar

from setsearch.errors import InvalidParameter, UnknownOption, did_you_mean

T = TypeVar("T")
Progress = Callable[[Iterable[Any]], Iterable[Any]]  # such as tqdm
Id = str | int | Any  # a text, a whole number, or an object with a primary key `pk`
Ids = Iterable[Id]
NOW = "now"
TEXT_FIELD = "text"  # the first field of a text collection
Fresh = str | float | None  # as `parse_fresh` has it
FLAGS = {"": False} | {text: text in ("1", "true", "yes", "on") for text in "0 1 false true no yes off on".split()}
MEANT = {  # what people ask for under other names
    "weights": "seeds are weighed by a mapping such as {'lion': 2}, fields by `by`",
    "fields": "fields are chosen and weighed by `by`",
    "keep": "`filter` compares kept columns, and `cut` keeps what belongs",
    "items": "`items(NAME)` of the index, or `question(seeds, items=NAME)`, chooses what is ranked",
    "where": "`filter` compares kept columns, and in Python `among=setsearch.Where(SQL)` those of a table",
    **dict.fromkeys(("limit", "n", "top_k", "topn"), "`k` is the number of hits"),
    "set": "`question(seeds, set=NAME)` of the index asks a saved set",
}
KINDS = {
    "list": "is a list of texts",
    "string": "is a text",
    "float": "must be a number",
    "int": "must be a whole number",
    "model_attributes": "is a JSON object",
    "dict": "is a JSON object",
}


def _plain(number: float) -> str:
    """A number for people, without an exponent where six digits tell it."""
    return f"{number:f}" if "e-" in f"{number:g}" and float(f"{number:f}") == number else f"{number:g}"


class Option(NamedTuple):
    """What is known of an option: `type` is float, int, bool, str, or list for several texts.

    `metavar` and `flag`, one or more, are for the command line, where `usual` ones are in `--help`, all others in
    `--help-all`.
    """

    type: Any
    metavar: str
    summary: str
    least: float = -inf
    most: float = inf
    choices: tuple[str, ...] = ()
    pattern: str = ""
    usual: bool = False
    flag: str = ""
    name: str = ""  # of the field that declares it

    @property
    def help(self) -> str:
        """The summary, with the choices."""
        return self.summary + (f": {', '.join(self.choices)}" if self.choices else "")

    @property
    def bounds(self) -> str:
        """Between which numbers it lies, for people; nothing without bounds."""
        least, most = map(_plain, (self.least, self.most))
        return "" if self.least == -inf else f"{least} {'on' if self.most == inf else f'to {most}'}"

    @property
    def schema(self) -> dict[str, Any]:
        """Of one value, as JSON Schema."""
        kind = {float: "number", int: "integer", bool: "boolean"}.get(self.type, "string")
        told = {"minimum": self.least, "maximum": self.most, "pattern": self.pattern, "enum": [*self.choices]}
        return {"type": kind} | {key: value for key, value in told.items() if value not in (-inf, inf, "", [])}

    def check(self, value: Any) -> None:
        """Raise InvalidParameter for a value outside the bounds. Texts are for those who use them to check."""
        if self.choices and value not in self.choices:
            raise InvalidParameter(f"{self.name} must be one of {', '.join(self.choices)}, not {value!r:.40}")
        if self.type is bool and (isinstance(value, str) or str(value) not in ("True", "False", "1", "0")):
            raise InvalidParameter(f"{self.name} must be true or false, not {value!r:.40}")
        if self.type in (int, float):
            kind, number = ("number", float) if self.type is float else ("whole number", operator.index)
            try:
                is_inside = not isinstance(value, (bool, str, bytes)) and self.least <= number(value) <= self.most
            except (TypeError, ValueError, OverflowError):
                is_inside = False
            if not is_inside:
                raise InvalidParameter(f"{self.name} must be a {kind} from {self.bounds}, not {value!r:.40}")

    def read(self, texts: list[str]) -> Any:
        """The value that an address gives; what is no number and no flag stays a text, which `check` refuses."""
        if self.type is list:
            return texts
        try:
            return FLAGS.get(texts[-1].lower(), texts[-1]) if self.type is bool else self.type(texts[-1])
        except ValueError:
            return texts[-1]

    def require(self, value: Any) -> Any:
        """A value of JSON, checked: a text is no number; None stays. Raises InvalidParameter."""
        if value is not None:
            self.check(value)
        return value

    def accept(self, value: Any) -> Any:
        """The value of a text or of JSON, checked; None stays. Raises InvalidParameter."""
        return self.require(self.read([value]) if isinstance(value, str) else value)


_number, _text, _texts, _flag = (partial(Option, kind) for kind in (float, str, list, bool))
Number = float | None
Text = str | None


class ModelOptions(TypedDict, total=False):
    """How to score; an option that is missing or None has the default of the items (`Index.info`)."""

    model: Annotated[Text, _text("NAME", "lift, bernoulli (the paper's), multinomial, poisson", usual=True)]
    strength: Annotated[Number, _number("K", "Strength of the prior; 2 in the paper", 1e-100, 1e100)]
    binarize: Annotated[Text, _text("RULE", "What counts as having a feature", choices=("presence", "twice-mean"))]
    popularity: Annotated[Number, _number("P", "How far items with many features may lead (lift, bernoulli)", 0, 1)]
    rarity: Annotated[Number, _number("R", "How much more rare features count with more seeds (lift)", 0, 4)]
    budget: Annotated[
        Number,
        _number("B", "Read B times the cube root of the postings, strongest first; 0: all (lift)", 0, 1e9),
    ]
    feedback: Annotated[Number, _number("SHARE", "How much a second pass may read; 0: one pass (lift)", 0, 1e6)]
    neighbors: Annotated[Number, _number("W", "How much its nearest words count for a word (lift)", 0, 1e6)]
    vectors: Annotated[Number, _number("W", "The weight of vectors; 0: none (lift)", 0, 1e6)]
    purpose: Annotated[
        Text,
        _text("WHAT", "What ratings tell (likes: popular first)", choices=("kind", "likes"), usual=True, flag="--for"),
    ]
    by: Annotated[
        Any,  # a text, or weights by name
        _text(
            "WHAT",
            "What describes terms (contexts, documents, both), or which fields count: text,tags=0.5",
            usual=True,
            flag="--by --fields",
        ),
    ]
    fresh: Annotated[
        str | float | None,
        _text(
            "LIMIT",
            "How far contexts of words may be behind: now, seconds, or a share of the documents such as 5%",
            pattern=r"^(now|[0-9]{1,9}(\.[0-9]{1,9})?%?)$",
        ),
    ]


class Examples(TypedDict, total=False):
    """Examples that are no items."""

    like: Annotated[Iterable[str], _texts("FILE|TEXT", "A text as an example of documents", usual=True)]
    having: Annotated[Iterable[str], _texts("FEATURE", "A feature of one more example")]


class ExpandOptions(ModelOptions, Examples, total=False):
    """What to return, and how to score: see `Reading.expand`."""

    exclude: Annotated[Ids, _texts("SEED", "A negative example, which is left out", usual=True)]
    among: Annotated[Any, _texts("ID", "Return only these items")]  # ids, or a Where
    filter: Annotated[Iterable[str], _texts("TEST", "A condition on kept columns: 'year >= 2001'", usual=True)]
    at_most: Annotated[int | None, Option(int, "N", "At most so many hits with the same value of the column `per`", 1)]
    per: Annotated[Text, _text("COLUMN", "A kept column, such as author")]
    gamma: Annotated[Number, _number("G", "Subtract so much of what negative examples weigh, without learning", 0, 1)]
    keep_seeds: Annotated[bool, _flag("", "Rank the seeds too")]
    groups: Annotated[
        int | None,
        Option(int, "N", "Divide the examples into so many groups, each answered by itself; 1: one list", 1, 50),
    ]
    explain: Annotated[bool, _flag("", "Show the features behind each score", usual=True)]
    snippets: Annotated[bool, _flag("", "Show the passage of each that speaks for the set", usual=True)]
    fold: Annotated[bool, _flag("", "Put documents with nearly the same words into the duplicates of one")]
    cut: Annotated[Text, _text("HOW", "Mark what belongs to the set, or keep only that", choices=("mark", "keep"))]
    about: Annotated[
        int | None, Option(int, "N", "About how many the set has besides the seeds: the line lies there", 1)
    ]


def _declared(kind: Any) -> dict[str, Option]:
    given = {name: hint.__metadata__[0] for name, hint in kind.__annotations__.items()}
    return {
        name: own._replace(name=name, flag=own.flag or f"--{name}".replace("_", "-")) for name, own in given.items()
    }


class Saved(TypedDict, total=False):
    """Examples that a door finds before it asks a reading (`Index.question`)."""

    set: Annotated[Text, _text("NAME", "The members of a saved set are examples, too, beside its rivals", usual=True)]


ROUNDS = 10  # of growing


class Growing(TypedDict, total=False):
    """How saved sets grow by themselves (`Index.grow`)."""

    rounds: Annotated[int, Option(int, "N", f"Up to this round; by default {ROUNDS}", 1, usual=True)]
    each: Annotated[int, Option(int, "N", "How many items may join a set in a round; by default 5", 1, usual=True)]
    precision: Annotated[
        float, _number("SHARE", "How much of what joins must be right; by default .9", 1e-6, 0.999999, usual=True)
    ]
    accept: Annotated[bool, _flag("", "First accept what joined before, but for what was rejected", usual=True)]


GROWING = _declared(Growing)
SAVED = _declared(Saved)
MODEL, EXAMPLES, ALL = _declared(ModelOptions), _declared(Examples), _declared(ExpandOptions)
RESULT = {name: own for name, own in ALL.items() if name not in MODEL}

_SHOWN = dict.fromkeys(("explain", "snippets", "fold", "cut"), "each list has what it shows")
_CONSTANTS = ("strength", "binarize", "popularity", "rarity", "budget", "feedback", "neighbors", "vectors", "gamma")
LEFT_OUT: dict[str, dict[str, str]] = {
    "the command line": {
        "among": "--among FILE, --where and --match say it",
        "cut": "--cut keeps, and without it hits are marked",
        "fold": "--unfold lists near-duplicates",
    },
    "the dialogue": {
        **dict.fromkeys(EXAMPLES, "what is typed is an item"),
        **dict.fromkeys(("exclude", "among", "keep_seeds"), "numbers accept and reject"),
        **_SHOWN,
    },
    "an address": {"among": "thousands of names are sent by POST"},
    "the page": {
        **dict.fromkeys((*EXAMPLES, "exclude", "among", "keep_seeds"), "examples have parameters of their own"),
        **_SHOWN,
    },
    "assistants": {
        **dict.fromkeys(_CONSTANTS, "the defaults are better than a guess"),
        **dict.fromkeys(("explain", "snippets", "fold", "keep_seeds"), "answers are short, with snippets"),
        **dict.fromkeys(("cut", "about"), "only_what_belongs says it"),
    },
    "SQL": dict.fromkeys(("explain", "snippets", "fold"), "setsearch_explain tells more of an item"),
    "Datasette": {"exclude": "not=ID says it", "among": "_where=SQL says it", "about": "rows are not marked", **_SHOWN},
    "Whoosh": {
        **dict.fromkeys(("explain", "snippets", "fold"), "Whoosh makes the hits"),
        **dict.fromkeys(("at_most", "per"), "Whoosh ranks and collapses"),
        "groups": "Whoosh ranks by the scores of one question",
        "about": "Whoosh's hits are not marked",
    },
    "Spark": {
        **dict.fromkeys((*EXAMPLES, "snippets", "fold"), "its index has no texts"),
        **dict.fromkeys(("filter", "at_most", "per"), "its index has no kept columns"),
        "about": "its index draws the line itself",
        "groups": "its index asks one question",
        **dict.fromkeys(("vectors", "purpose", "fresh"), "its index has no vectors, ratings or writes"),
    },
    "rank": {"among": "its candidates say it"},
    "query": {
        "groups": "it is one question",
        **dict.fromkeys(("explain", "snippets", "fold", "cut", "about", "at_most", "per"), "it has no hits"),
        **dict.fromkeys(("among", "filter", "keep_seeds"), "the other engine chooses what it ranks"),
    },
    "explain": {
        **dict.fromkeys(("explain", "snippets", "fold", "cut", "about", "keep_seeds"), "it has no hits"),
        **dict.fromkeys(("among", "filter", "at_most", "per"), "they do not change a score"),
    },
    "explain of Spark": dict.fromkeys(("exclude", "gamma"), "it explains what examples add"),
    "scores": {
        **dict.fromkeys(("explain", "snippets", "fold", "cut", "about"), "they are no hits"),
        "groups": "they are those of one question",
        **dict.fromkeys(("at_most", "per"), "it depends on the rank of all items, which `expand` and `rank` know"),
    },
    "numbers": {
        **dict.fromkeys((*EXAMPLES, "filter", "at_most", "per"), "they have no texts and no kept columns"),
        **dict.fromkeys((*_CONSTANTS[1:], "purpose", "by"), "their model has only the strength"),
        "about": "they have no line",
        "groups": "they have no features",
    },
}


def offered(door: str, options: Mapping[str, Option] = ALL) -> dict[str, Option]:
    """Those of some options that a door of LEFT_OUT has."""
    return {name: own for name, own in options.items() if name not in LEFT_OUT[door]}


def check(given: Mapping[str, Any], options: Mapping[str, Option] = ALL) -> None:
    """Raise InvalidParameter for a value outside its bounds, UnknownOption for a name that is none of the options."""
    require_known(given, options)
    for name, value in given.items():
        if value is not None:
            options[name].check(value)


def taken(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take some options out of others; returns those that are given."""
    return {name: own for name in names if (own := options.pop(name, None)) not in (None, ())}


@dataclass(frozen=True)
class Counted(Generic[T]):
    """Items, and what counts them, if somebody wants to know how many there are."""

    items: Iterable[T]
    count: Callable[[], int]

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


def require_several(given: Any, parameter: str, what: str) -> None:
    """Raise InvalidParameter for what is not several `what`, as one text is not."""
    if isinstance(given, str):
        raise InvalidParameter(f"`{parameter}` is several {what}, not one text; write [{given!r:.60}]")
    if not isinstance(given, Iterable):
        raise InvalidParameter(f"`{parameter}` is several {what}, not {given!r:.60}")


def progress_of(given: Progress | None) -> Progress:
    """What yields the steps of a long work, as they are without `given`. Raises InvalidParameter."""
    if given is not None and not callable(given):
        raise InvalidParameter(f"`progress` gets steps and yields them, such as tqdm, and is not {given!r:.60}")
    return iter if given is None else given


def parse_fresh(value: object) -> Fresh:
    """How far contexts may be behind their texts; raises InvalidParameter.

    None: whatever their age. "now": not at all. 30: what was written in the last 30 seconds may be missing. "5%": up to
    5 % of the documents may have changed since.
    """
    text = value.strip().lower() if isinstance(value, str) else value
    if text is None or text == NOW or (isinstance(text, str) and re.fullmatch(r"\d+(\.\d+)?\s*%", text)):
        return str(text) if text else None
    if isinstance(text, (str, int, float)) and not isinstance(text, bool):
        with suppress(ValueError, OverflowError):
            seconds = float(text)
            if 0 <= seconds < float("inf"):
                return seconds
    raise InvalidParameter(f"fresh is 'now', a number of seconds, or a share such as '5%', not {value!r:.40}")


def require_known(given: Iterable[str], known: Iterable[str], door: str | None = None) -> None:
    """Raise UnknownOption for a name that is none of the known ones, with the nearest of them, or all.

    InvalidParameter for what the `door` leaves out.
    """
    known = [*known]
    for name in given:
        if name not in known:
            if door is not None:
                refuse(door, {name: True})
            choice = f"choose from {', '.join(known)}" if known else "leave it out"
            meant = MEANT.get(name) or did_you_mean(get_close_matches(name, known, 1)) or choice
            raise UnknownOption(f"unknown option {name!r}; {meant}")


def refuse(door: str, given: Mapping[str, Any]) -> None:
    """Raise InvalidParameter for an option that a door would drop, unless its value asks for nothing."""
    for name, why in LEFT_OUT[door].items():
        if name in given and _asks(given[name]):
            raise InvalidParameter(f"{name!r} is not for {door}: {why}")


def in_words(problem: Mapping[str, Any]) -> str:
    """One of the errors of pydantic, which reads the questions of some doors, in our words."""
    name = ".".join(str(part) for part in problem["loc"] if part not in ("str", "int"))
    kind, context = problem["type"], problem.get("ctx", {})
    wanted = KINDS.get(kind.removesuffix("_type").removesuffix("_parsing"))
    if not name:
        name, wanted = "the body", "is a JSON array of objects" if kind == "list_type" else KINDS["model_attributes"]
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        wanted = f"must be one of {context['expected'].replace(' or ', ', ').replace(chr(39), '')}"
    if kind == "missing" or wanted is None:
        return f"{name} is missing" if kind == "missing" else f"{name}: {problem['msg']}"
    return f"{name} {wanted}, not {problem['input']!r:.40}"


def has_examples(seeds: Sized, options: Mapping[str, Any]) -> bool:
    """Whether a question has seeds, or other examples among its options."""
    return len(seeds) > 0 or any(_asks(options.get(name)) for name in EXAMPLES)


def _asks(value: Any) -> bool:
    try:
        return bool(value)
    except ValueError:  # an array is neither true nor false
        return True


def with_parameters(
    function: Callable[..., Any], options: Iterable[Option], annotate: Callable[[Option], Any]
) -> Callable[..., Any]:
    """Give a function, whose `**options` they are, each option as a parameter in its signature, which libraries read.

    `annotate` gives the annotation of an option; a flag is False by default, all others None.
    """
    own = signature(function)
    parameters = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    for option in options:
        default = False if option.type is bool else None
        parameters.append(Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotate(option)))
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function
