"""Which of some sets does an item belong to? Naive Bayes with averaged parameters.

For a class c of N_c members, with prior means from the whole index (m_j = df_j / n, or cf_j / CF for counts):

    bernoulli      theta_jc = (k m_j + N_jc) / (k + N_c)        p(x | c) = prod_j theta^x_j (1 - theta)^(1 - x_j)
    multinomial    theta_jc = (A m_j + S_jc) / (A + S_c)        p(x | c) proportional to prod_j theta^x_j

These are the posterior means under the conjugate priors, which averaging over the parameters gives for one new item;
N_jc members have feature j, S_jc is the sum of their counts. A member is left out of its own class.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.arrays import Floats, Ints, places_among
from setsearch.errors import InvalidParameter, NoSeeds
from setsearch.memory.fields import Field, Fields
from setsearch.models.values import COUNTS

MODELS = ("bernoulli", "multinomial")
PRIORS = ("sizes", "uniform")
CONCENTRATION = 1000.0  # A: the prior of a class of counts, in occurrences
STRENGTH = 2.0


class ClassProbability(NamedTuple):
    """p(class | item), and the log of the joint probability that it comes from."""

    rank: int
    name: str
    probability: float
    log_joint: float
    members: int


def classify(
    reading: Reading,
    item: str | None,
    classes: Mapping[str, Sequence[str]],
    *,
    text: str | None = None,
    model: str | None = None,
    prior: str = "sizes",
) -> list[ClassProbability]:
    """The classes of an item or of a `text`, the most probable first; probabilities sum to 1.

    `model`: by default multinomial for documents, bernoulli for other items. `prior`: "sizes", p(c) = (N_c + 1) / (sum
    + number of classes), or "uniform". Unknown members are ignored, and so are classes of these only; an empty class is
    the average of the index. Reads the lists of the item and the members only. Raises InvalidParameter, UnknownItem,
    and NoSeeds without classes.
    """
    model = model or ("multinomial" if reading.kind == "documents" else "bernoulli")
    if model not in MODELS:
        raise InvalidParameter(f"classify by {' or '.join(MODELS)}, not {model!r}")
    if prior not in PRIORS:
        raise InvalidParameter(f"the prior is {' or '.join(PRIORS)}, not {prior!r}")
    if (item is None) == (text is None):
        raise InvalidParameter("give an item or a text, one of the two")
    if not classes:
        raise NoSeeds("there is no class; save sets with `setsearch set save`, or give some")
    with reading.stored() as fields:
        features, counts, own_id = _described(fields, item, text)
        known = {name: fields.resolve_known(own) for name, own in classes.items()}
        members = {name: [id for id in ids if id != own_id] for name, ids in known.items() if ids or not classes[name]}
        if not members:
            raise NoSeeds(f"no class has a member among the {fields.items.size} {reading.name}; give other classes")
        likelihood = _Bernoulli(fields.first) if model == "bernoulli" else _Multinomial(fields.first)
        log_likelihoods = [likelihood.log(features, counts, ids) for ids in members.values()]
    sizes = np.array([len(ids) for ids in members.values()])
    weights = sizes + 1 if prior == "sizes" else np.ones(len(sizes))
    joint = np.log(weights / weights.sum()) + np.array(log_likelihoods)
    probabilities = np.exp(joint - joint.max())
    probabilities /= probabilities.sum()
    rows = zip(members, probabilities.tolist(), joint.tolist(), sizes.tolist(), strict=True)
    ordered = sorted(rows, key=lambda row: (-row[2], row[0]))
    return [ClassProbability(rank, *row) for rank, row in enumerate(ordered, 1)]


def with_members(classes: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The classes that have members: a saved set may have rejected items only."""
    return {name: members for name, members in classes.items() if members}


def _described(fields: Fields, item: str | None, text: str | None) -> tuple[Ints, Floats, int | None]:
    """The features of what is to be classified, their counts, and its id."""
    if item is not None:
        id = fields.resolve(item)
        return *_feature_counts(fields.first, [id]), id
    terms = fields.count_terms(text or "")
    known = fields.first.find_features(terms)
    counts = np.array([terms[name] for name in known], float)
    return np.array(list(known.values()), np.int64), counts, None


def _feature_counts(field: Field, items: Iterable[int]) -> tuple[Ints, Floats]:
    """The features of some items, with repetitions, and their counts."""
    stored = field.forward(items, COUNTS)
    return stored.concatenated_ids().astype(np.int64), stored.concatenated_values()


class _Bernoulli:
    """Binary features. Features that no member has are alike if their df is: they are summed by df."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._n_items = field.items.size
        self._df = field.frequencies()[0]
        n_features_by_df = np.bincount(self._df, minlength=2)
        n_features_by_df[0] = 0  # a feature that all items have, or none, tells nothing
        n_features_by_df[self._n_items :] = 0
        self._dfs = np.flatnonzero(n_features_by_df)
        self._times = n_features_by_df[self._dfs]

    def log(self, features: Ints, counts: Floats, members: list[int]) -> float:
        """ln p(x | c)."""
        with_member, having = np.unique(_feature_counts(self._field, members)[0], return_counts=True)
        absent = np.log1p(-self._theta(self._dfs, 0, members))
        total = float(self._times @ absent)
        varied = self._df[with_member] < self._n_items
        with_member, having = with_member[varied], having[varied]
        df = self._df[with_member]
        total += float(np.log1p(-self._theta(df, having, members)).sum())
        total -= float(np.log1p(-self._theta(df, 0, members)).sum())
        present = features[(self._df[features] < self._n_items) & (self._df[features] > 0)]
        places, are_known = places_among(with_member, present)
        c = np.where(are_known, np.append(having, 0)[places], 0)
        theta = self._theta(self._df[present], c, members)
        return total + float((np.log(theta) - np.log1p(-theta)).sum())

    def _theta(self, df: Ints, having: Ints | int, members: list[int]) -> Floats:
        theta: Floats = (STRENGTH * df / self._n_items + having) / (STRENGTH + len(members))
        return theta


class _Multinomial:
    """Counts."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._cf = field.frequencies()[1]
        self._cf_of_all = int(self._cf.sum())

    def log(self, features: Ints, counts: Floats, members: list[int]) -> float:
        """ln p(x | c), up to a constant."""
        own_features, own_counts = _feature_counts(self._field, members)
        sums = np.bincount(own_features, own_counts, len(self._cf))[features] if members else 0.0
        theta = CONCENTRATION * self._cf[features] / self._cf_of_all + sums
        theta /= CONCENTRATION + float(own_counts.sum())
        return float(counts @ np.log(theta))
