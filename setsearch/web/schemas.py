"""The queries and answers of the JSON API."""

from collections.abc import Callable, Iterable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

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

from setsearch.answers import results
from setsearch.answers.saved.growth.grown import Grown
from setsearch.errors import InvalidParameter
from setsearch.models.defaults import field_weights
from setsearch.options import EXAMPLES, GROWING, MODEL, RESULT, SAVED, Option, offered, require_known
from setsearch.search.request import K
from setsearch.web.page_state import LONGEST_NAME, LONGEST_TEXT, MOST_NAMES

Asked = TypeVar("Asked", bound=BaseModel)
MOST_HITS = 1000  # of an answer
MOST_FEATURES = 10_000  # of an item
MOST_IN_BODY = 100_000  # names
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
_OF_ID = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}, {"type": "integer"}]}
_number_as_text = BeforeValidator(lambda own: str(own) if type(own) is int else own)
Id = Annotated[Name, _number_as_text, WithJsonSchema(_OF_ID)]  # of an item
Ids = Annotated[list[Id], Field(max_length=MOST_NAMES)]
Names = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
_TOP, _FEW, _FEATURES = (K._replace(most=most) for most in (MOST_HITS, 100, MOST_FEATURES))
_OFFSET = K._replace(least=0, most=100_000, name="offset")


def _checked(own: Option) -> Any:
    return Annotated[Any, BeforeValidator(own.accept), WithJsonSchema(own.schema)]


Top: Any = _checked(_TOP)
Few: Any = _checked(_FEW)
Features: Any = _checked(_FEATURES)
Offset: Any = _checked(_OFFSET)


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


HitField: Any = Literal[(*results.Hit._fields, "revision", "contexts_revision")]


@with_options([*offered("an address", RESULT).values(), *SAVED.values()])
class ExpandQuery(ModelQuery):
    """Examples, and what to return."""

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
        """Refuse a text where a number or a flag is meant; null is not given. Raises InvalidParameter."""
        if not isinstance(given, dict):
            return given
        given = {name: value for name, value in given.items() if value is not None}
        for name, own in {**MODEL, **RESULT, "k": _TOP, "offset": _OFFSET}.items():
            if own.type in (int, float, bool):
                own.require(given.get(name))
        return given

    seeds: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] = []
    weights: Annotated[Weights, Field(max_length=MOST_IN_BODY)] = Field([], description="one for each seed")
    exclude: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] = []
    by: By = Field(None, description=MODEL["by"].help + ', or {"text": 1, "tags": 0.5}')
    among: Annotated[list[Id], Field(max_length=MOST_IN_BODY)] | None = Field(None, description="return only these")


@with_options([*offered("explain", RESULT).values(), *SAVED.values()])
class ExplainQuery(ModelQuery):
    """The item whose score to explain, and the examples."""

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


class SetQuery(Given):
    """Whether to tell which members joined by growing, and why, too."""

    grown: bool = False


class InboxQuery(Given):
    """The saved sets that are asked: by default all."""

    sets: Names = []


class GroupChange(Given):
    """What changes in a group: whether its sets exclude one another."""

    exclusive: bool


Round: Any = _checked(GROWING["rounds"]._replace(name="round"))


class FromRound(Given):
    """From which round on what joined is taken back."""

    round: Round | None = None


@with_options(GROWING.values())
class GrowBody(Given):
    """How the sets of a group grow by themselves."""

    model_config = ConfigDict(strict=True)


class InboxSeen(Given):
    """`seen` as the inbox gave it: of each set, which of its rows were looked at."""

    seen: dict[Name, str]


@cache
def schema(kind: Any) -> Any:
    """A type of answers as JSON has it: named tuples become objects, wherever they are in it."""
    parts, origin = tuple(map(schema, get_args(kind))), get_origin(kind)
    if origin is not None:
        return Union[parts] if origin is UnionType else origin[parts]  # noqa: UP007
    return create_model(kind.__name__, __doc__=_summary(kind), **_fields(kind)) if hasattr(kind, "_fields") else kind


def _fields(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: (schema(hint), kind._field_defaults.get(name, ...)) for name, hint in hints.items()}


def _summary(kind: type) -> str:
    return str(kind.__doc__).partition("\n\n")[0]


@cache
def with_notes(kind: type, **more: Any) -> type[BaseModel]:
    """Rows, what is to be told about them, and perhaps more."""
    rows: Any = list[schema(kind)]  # type: ignore[misc]
    name, told = f"{kind.__name__}s", "The rows; `notes` tell which sets have no answer."
    return create_model(name, __doc__=told, rows=(rows, ...), notes=(list[str], ...), **more)


_OF_HIT = _fields(results.Hit) | {
    "score": (float | None, None),
    "rest": (float | None, Field(None, description="with `explain`, what features leave of the score")),
    "revision": (int | None, Field(None, description="how many writes the answer knows")),
    "contexts_revision": (int | None, Field(None, description="how many its contexts know; null without contexts")),
}
Hit = create_model("Hit", __doc__=_summary(results.Hit) + " With `fields` only these, `rank` and `item`.", **_OF_HIT)
HITS: Any = list[Hit]  # type: ignore[valid-type]


class Problem(BaseModel):
    """An error, in one line."""

    error: str


class Health(BaseModel):
    """The index answers."""

    version: str
    revision: int


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


class SetName(BaseModel):
    """The name of a saved set, and the kind of its items."""

    name: str
    items: str


class DeletedSet(BaseModel):
    """A set that is gone; `parts` lay within it, and lie within none now."""

    name: str
    parts: list[str]


class Members(Given):
    """The members of a set to save: `items` as in `info`; accepted and rejected items.

    It replaces only the set of this `version`: none by default. `group` is the group it is in, `under` the set it lies
    within, "" for none; what is not given stays.
    """

    items: Name | None = None
    accepted: Ids = []
    rejected: Ids = []
    version: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] | None = None
    group: Annotated[str, StringConstraints(max_length=200)] | None = None
    under: Annotated[str, StringConstraints(max_length=200)] | None = None


class SetChange(Given):
    """What changes in a set: items to accept, to reject, to remove; a new name. The rest of it stays.

    With a `version`, it changes only the set of this version.
    """

    accept: Ids = []
    reject: Ids = []
    remove: Ids = []
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    version: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)] | None = None


class NamedMembers(Members):
    """A set to save, with its name.

    `exclusive` = "yes": the sets of its group exclude one another.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
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


Joined: Any = schema(list[Grown])


class GrownSet(SavedSet):
    """A saved set, and which accepted items joined by growing, and why."""

    grown: Joined
