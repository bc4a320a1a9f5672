"""The queries and answers of the JSON API."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    create_model,
    model_validator,
)

from setsearch.errors import InvalidParameter
from setsearch.models.defaults import field_weights
from setsearch.options import EXAMPLES, MODEL, RESULT, Option, offered, require_known
from setsearch.web.page_state import LONGEST_NAME, MOST_NAMES

Asked = TypeVar("Asked", bound=BaseModel)
MOST_HITS = 1000
MOST_FEATURES = 10_000  # of an item
MOST_IN_BODY = 100_000  # names
LONGEST_TEXT = 20_000  # characters
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


def _whole_number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_OF_ID = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}, {"type": "integer"}]}
Id = Annotated[Name, BeforeValidator(_whole_number_as_text), WithJsonSchema(_OF_ID)]  # of an item
Ids = Annotated[list[Id], Field(max_length=MOST_NAMES)]
Names = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]


_TOP, _FEW, _FEATURES = (Option(int, "", "", 1, most, name="k") for most in (MOST_HITS, 100, MOST_FEATURES))
_OFFSET = Option(int, "", "", 0, 100_000, name="offset")
Top = Annotated[int, BeforeValidator(_TOP.accept), WithJsonSchema(_TOP.schema)]
Few = Annotated[int, BeforeValidator(_FEW.accept), WithJsonSchema(_FEW.schema)]
Features = Annotated[int, BeforeValidator(_FEATURES.accept), WithJsonSchema(_FEATURES.schema)]
Offset = Annotated[int, BeforeValidator(_OFFSET.accept), WithJsonSchema(_OFFSET.schema)]


def _numbers(value: Any) -> Any:
    if not isinstance(value, list):
        raise InvalidParameter(f"weights are a list of numbers, one for each seed, not {value!r:.60}")
    return value


def _weights_of_fields(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else field_weights(value)


_OF_FIELDS = {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "number"}}]}
By = Annotated[Any, BeforeValidator(_weights_of_fields), WithJsonSchema(_OF_FIELDS)]
Weights = Annotated[list[float], BeforeValidator(_numbers)]


class Given(BaseModel):
    """What is asked: unknown parameters are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def require_known(cls, given: Any) -> Any:
        """Refuse a parameter that is none. Raises UnknownOption, or InvalidParameter for one that an address lacks."""
        if isinstance(given, dict):
            require_known(given, cls.model_fields, "an address")
        return given


def _checked(own: Option) -> Any:
    return Annotated[Any, BeforeValidator(own.accept), WithJsonSchema(own.schema)]


def _typed(own: Option) -> Any:
    """An option of a question as a field."""
    if own.type is list:
        return Names, Field([], description=own.help)
    if own.type is bool:
        return _checked(own), Field(False, description=own.help)
    kind: Any = Name if own.type is str and not (own.choices or own.pattern) else _checked(own)
    return kind | None, Field(None, description=own.help)


def with_options(options: Iterable[Option]) -> Callable[[type[Asked]], type[Asked]]:
    """Give a query options of a question as fields, beside those that it has."""

    def add(query: type[Asked]) -> type[Asked]:
        fields: dict[str, Any] = {own.name: _typed(own) for own in options if own.name not in query.model_fields}
        return create_model(query.__name__, __base__=query, __doc__=query.__doc__, **fields)

    return add


@with_options(MODEL.values())
class ModelQuery(Given):
    """What is ranked (by default as in `info`), and by which model."""

    items: Name | None = Field(None, description="terms, documents, or a column of a relation")


OF_SET = "a saved set, whose items are examples beside the seeds"
HitField = Literal[
    "rank",
    "item",
    "score",
    "title",
    "belongs",
    "features",
    "snippet",
    "columns",
    "duplicates",
    "group",
    "revision",
    "contexts_revision",
]


@with_options(offered("an address", RESULT).values())
class ExpandQuery(ModelQuery):
    """Examples, and what to return."""

    set: Name | None = Field(None, description=OF_SET)
    seeds: Ids = []
    weights: Annotated[Weights, Field(max_length=MOST_NAMES)] = Field([], description="one for each seed, from 0 up")
    like: Annotated[list[Text], Field(max_length=10)] = []
    exclude: Ids = []
    fields: list[HitField] = Field([], description="what to return beside rank and item; by default all")
    k: Top = 10
    offset: Offset = Field(0, description="how many hits to leave out before the first")


class ExpandBody(ExpandQuery):
    """As ExpandQuery, with room for thousands of names; in JSON a text is no number."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def require_types(cls, given: Any) -> Any:
        """Refuse a text where a number or a flag is meant. Raises InvalidParameter."""
        for name, own in {**MODEL, **RESULT, "k": _TOP, "offset": _OFFSET}.items():
            if isinstance(given, dict) and own.type in (int, float, bool):
                own.require(given.get(name))
        return given

    seeds: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] = []
    weights: Annotated[Weights, Field(max_length=MOST_IN_BODY)] = Field([], description="one for each seed")
    exclude: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] = []
    by: By = Field(None, description=MODEL["by"].help + ', or {"text": 1, "tags": 0.5}')
    among: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] | None = Field(None, description="return only these")


@with_options(offered("explain", RESULT).values())
class ExplainQuery(ModelQuery):
    """The item whose score to explain, and the examples."""

    set: Name | None = Field(None, description=OF_SET)
    item: Id
    seeds: Ids = []
    like: Annotated[list[Text], Field(max_length=10)] = []
    exclude: Ids = []


class FitsQuery(ModelQuery):
    """The set whose seeds to compare."""

    seeds: Annotated[Ids, Field(min_length=1)]


@with_options(EXAMPLES.values())
class FeaturesQuery(FitsQuery):
    """The set whose features to return."""

    like: Annotated[list[Text], Field(max_length=10)] = []
    k: Top = 10


class CompleteQuery(Given):
    """The beginning of a name."""

    items: Name | None = None
    prefix: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] = ""
    k: Few = 10


class FindQuery(Given):
    """A name, or what somebody remembers of it."""

    items: Name | None = None
    text: Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
    k: Few = 10


class ItemQuery(Given):
    """An item to describe."""

    items: Name | None = None
    item: Id
    k: Features = Field(MOST_HITS, description="features at most")


class SetsOfQuery(Given):
    """An item or a text, and what the sets are of."""

    item: Id | None = None
    text: Text | None = None
    items: Name | None = None
    k: Top = 10


class SetsQuery(Given):
    """Whether to tell members and versions, too."""

    members: bool = False


class InboxQuery(Given):
    """The saved sets that are asked: by default all."""

    sets: Names = []


class Problem(BaseModel):
    """An error, in one line."""

    error: str


class Part(BaseModel):
    """What a feature adds to a score, in nats."""

    feature: str
    weight: float
    title: str | None = None


class Snippet(BaseModel):
    """A passage of a document, and the places of the words that speak for the set: (start, end)."""

    text: str
    marks: list[tuple[int, int]]


class Reason(BaseModel):
    """What a part of a score tells a person, and the features whose weights it sums, the heaviest first."""

    label: str
    weight: float
    sentence: str = ""
    features: list[str] = []


class Hit(BaseModel):
    """A ranked item.

    With `explain` its `features` and `reasons`, with `snippets` its `snippet`, with `cut` whether it `belongs`. With
    `fields` it has only these, `rank` and `item`.
    """

    rank: int
    item: str
    score: float | None = None
    title: str | None = None
    belongs: bool | None = None
    features: list[Part] = []
    reasons: list[Reason] = []
    rest: float | None = Field(None, description="with `explain`, what features leave of the score")
    snippet: Snippet | None = None
    columns: dict[str, Any] | None = None
    duplicates: list[str] = []
    group: list[str] = Field([], description="the examples that it is like, if these fall into groups")
    revision: int | None = Field(None, description="how many writes the answer knows")
    contexts_revision: int | None = Field(None, description="how many its contexts know; null without contexts")


class Explanation(BaseModel):
    """A score: the sum of constant, base and the weights of the features."""

    item: str
    title: str | None
    score: float
    constant: float
    base: float
    features: list[Part]
    reasons: list[Reason] = []
    group: list[str] = []


class SetFeature(BaseModel):
    """A feature that defines the set."""

    rank: int
    feature: str
    weight: float
    seeds: int
    document_frequency: int
    title: str | None = None


class Fit(BaseModel):
    """A seed, and its score, in nats, if the other seeds are the set."""

    item: str
    score: float
    title: str | None = None


class Health(BaseModel):
    """The index answers."""

    version: str
    revision: int


class Found(BaseModel):
    """An item whose name matches, and the sum of its counts."""

    item: str
    title: str | None
    total: int


class Item(BaseModel):
    """An item: its most frequent features with counts, and its text if it has one."""

    item: str
    features: dict[str, float]
    feature_count: int
    text: str | None


class Reading(BaseModel):
    """Items that can be ranked, and the features that describe them."""

    items: str
    features: str
    item_count: int
    feature_count: int


class Info(BaseModel):
    """What the index holds."""

    version: str
    default: str
    revision: int
    read_only: bool
    readings: list[Reading]


class Claim(BaseModel):
    """A saved set and an item: its score in nats, and the line of the set. `said` of a member: accepted, rejected.

    `better`: the set of an exclusive group that has or fits it better.
    """

    rank: int
    set: str
    score: float
    line: float | None
    belongs: bool | None
    reason: str
    said: str | None
    better: str | None = None


class Claims(BaseModel):
    """Saved sets, the one that fits best first; `notes` tell which have no answer."""

    rows: list[Claim]
    notes: list[str]


class InboxRow(BaseModel):
    """An item that came or changed and belongs to a set; `others` claim it too, or have it."""

    number: int
    item: str
    title: str | None
    set: str
    score: float
    reason: str
    others: list[str]


class Inbox(BaseModel):
    """What is new for saved sets; `notes` tell which have no answer."""

    rows: list[InboxRow]
    notes: list[str]


class SetName(BaseModel):
    """The name of a saved set, and the kind of its items."""

    name: str
    items: str


class Members(Given):
    """The members of a set to save: `items` as in `info`; accepted and rejected items.

    It replaces only the set of this `version`: none by default.
    """

    items: Name | None = None
    accepted: Ids = []
    rejected: Ids = []
    version: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] | None = None


class NamedMembers(Members):
    """A set to save: its name and members, and the group it is in, or the set it lies within; "" for none.

    `exclusive` = "yes": the sets of its group exclude one another.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    group: Annotated[str, StringConstraints(max_length=200)] | None = None
    under: Annotated[str, StringConstraints(max_length=200)] | None = None
    exclusive: Literal["", "yes"] | None = None


class SavedSet(BaseModel):
    """A saved set; `version` changes with its members."""

    name: str
    items: str
    accepted: list[str]
    rejected: list[str]
    version: str
    group: str | None = None
    under: str | None = None
