"""What goes into the JSON API and what comes out of it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from setsearch.web.page_state import LONGEST_NAME, MOST_NAMES

MOST_HITS = 1000
MOST_FEATURES = 10_000  # of an item
LONGEST_TEXT = 20_000  # characters
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
Top = Annotated[int, Field(ge=1, le=MOST_HITS)]


class Asked(BaseModel):
    """What every question may say: what is ranked, by default as in `info`, and how."""

    model_config = ConfigDict(extra="forbid")

    items: Name | None = Field(None, description="terms, documents, or a column of a relation")
    model: Name | None = Field(None, description="lift, bernoulli (the paper's), x1, multinomial, poisson, ...")
    strength: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    binarize: Literal["presence", "twice-mean"] | None = None
    popularity: Annotated[float, Field(ge=0, le=1)] | None = None
    by: Literal["contexts", "documents", "both"] | None = Field(None, description="what describes terms")


class ExpandAsked(Asked):
    """Examples, and what is wanted."""

    seeds: Names = []
    like: Annotated[list[Text], Field(max_length=10)] = []
    having: Names = []
    exclude: Names = []
    k: Top = 10
    gamma: Annotated[float, Field(ge=0, le=1)] | None = None
    cut: Literal["mark", "keep"] | None = None
    keep_seeds: bool = False
    explain: bool = False


class ExplainAsked(Asked):
    """Whose score to explain."""

    item: Name
    seeds: Annotated[Names, Field(min_length=1)]


class FeaturesAsked(Asked):
    """Whose features."""

    seeds: Annotated[Names, Field(min_length=1)]
    k: Top = 10


class CompleteAsked(BaseModel):
    """The beginning of a name."""

    model_config = ConfigDict(extra="forbid")

    items: Name | None = None
    prefix: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] = ""
    k: Annotated[int, Field(ge=1, le=100)] = 10


class ItemAsked(BaseModel):
    """Which item."""

    model_config = ConfigDict(extra="forbid")

    items: Name | None = None
    item: Name
    k: Annotated[int, Field(ge=1, le=MOST_FEATURES, description="features at most")] = MOST_HITS


class ClassifyAsked(BaseModel):
    """An item or a text, one of the two, and the saved sets to choose from, all of its kind by default."""

    model_config = ConfigDict(extra="forbid")

    items: Name | None = None
    item: Name | None = None
    text: Text | None = None
    sets: Names = []
    model: Literal["bernoulli", "multinomial"] | None = None
    prior: Literal["sizes", "uniform"] = "sizes"


class Problem(BaseModel):
    """Why there is no answer, in one line."""

    error: str


class Part(BaseModel):
    """What a feature adds to a score, in nats."""

    feature: str
    weight: float
    title: str | None = None


class Found(BaseModel):
    """A member of the expanded set; `features` where an explanation was asked for, `belongs` where the cut was."""

    rank: int
    item: str
    score: float
    title: str | None = None
    belongs: bool | None = None
    features: list[Part] = []


class Explained(BaseModel):
    """The score is the sum of constant, base and the weights of the features."""

    item: str
    title: str | None
    score: float
    constant: float
    base: float
    features: list[Part]


class OfSet(BaseModel):
    """A feature of the whole set."""

    rank: int
    feature: str
    weight: float
    seeds: int
    document_frequency: int
    title: str | None = None


class Completed(BaseModel):
    """An item that begins as asked, and the sum of its counts."""

    item: str
    title: str | None
    total: int


class Item(BaseModel):
    """An item, its features with counts, those it has most of if there are many, and its text where there is one."""

    item: str
    features: dict[str, float]
    feature_count: int
    text: str | None


class Class(BaseModel):
    """How probable a set is for an item."""

    rank: int
    name: str
    probability: float
    members: int


class Reading(BaseModel):
    """What can be ranked, and by what it is described."""

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
    """A saved set and what it is of."""

    name: str
    items: str


class Members(BaseModel):
    """What to keep: `items` as in `info`; accepted are examples, rejected negative ones."""

    model_config = ConfigDict(extra="forbid")

    items: Name | None = None
    accepted: Names = []
    rejected: Names = []


class SavedSet(BaseModel):
    """A saved set."""

    name: str
    items: str
    accepted: list[str]
    rejected: list[str]
