"""Which of some sets does an item belong to? Naive Bayes with averaged parameters.

For a class c of N_c members, with prior means from the whole index (m_j = df_j / n, or cf_j / CF for counts):

    bernoulli      theta_jc = (k m_j + N_jc) / (k + N_c)        p(x | c) = prod_j theta^x_j (1 - theta)^(1 - x_j)
    multinomial    theta_jc = (A m_j + S_jc) / (A + S_c)        p(x | c) proportional to prod_j theta^x_j

the posterior means under the conjugate priors, which is what averaging over the parameters gives for one new item;
N_jc members with feature j, S_jc their counts. p(c | x) by log-sum-exp. A member is left out of its own class.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter, NoSeeds
from setsearch.learning.evaluation import counts_of
from setsearch.search.fields import Fields
from setsearch.search.reading import Reading

MODELS = ("bernoulli", "multinomial")
PRIORS = ("sizes", "uniform")
CONCENTRATION = 1000.0  # A: the prior of a class of counts, in words
STRENGTH = 2.0


class ClassProbability(NamedTuple):
    """p(class | item), and the log of the joint probability it comes from."""

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
    """The classes of an item, or of a `text`, the most probable first; probabilities sum to 1.

    `model`: by default multinomial for documents, whose counts tell, and bernoulli for others. `prior`: "sizes", p(c) =
    (N_c + 1) / (sum + number of classes), or "uniform". Members that the index does not know are passed over; an empty
    class is what the index is on average. Raises InvalidParameter, NoSeeds where there is no class, UnknownItem.
    """
    model = model or ("multinomial" if reading.name == "documents" else "bernoulli")
    if model not in MODELS:
        raise InvalidParameter(f"classify by {' or '.join(MODELS)}, not {model!r}")
    if prior not in PRIORS:
        raise InvalidParameter(f"the prior is {' or '.join(PRIORS)}, not {prior!r}")
    if (item is None) == (text is None):
        raise InvalidParameter("give an item or a text, one of the two")
    if not classes:
        raise NoSeeds("there is no class; save sets with `setsearch set save`, or give some")
    with reading.plain() as fields:
        counts = counts_of(fields)
        x, own = _described(fields, counts, item, text)
        members = {name: [id for id in fields.known(items) if id != own] for name, items in classes.items()}
        log_likelihood = _bernoulli if model == "bernoulli" else _multinomial
        n_items = fields.items.size
    sizes = np.array([len(ids) for ids in members.values()])
    weights = sizes + 1 if prior == "sizes" else np.ones(len(sizes))
    log_prior = np.log(weights / weights.sum())
    joint = log_prior + np.array([log_likelihood(counts, x, ids, n_items) for ids in members.values()])
    probabilities = np.exp(joint - logsumexp(joint))
    rows = zip(members, probabilities.tolist(), joint.tolist(), sizes.tolist(), strict=True)
    ordered = sorted(rows, key=lambda row: (-row[2], row[0]))
    return [ClassProbability(rank, *row) for rank, row in enumerate(ordered, 1)]


def _described(
    fields: Fields, counts: sparse.csr_array, item: str | None, text: str | None
) -> tuple[Floats, int | None]:
    """The counts of all features of what is to be classified, and its id."""
    if item is not None:
        id = fields.resolve(item)
        return counts[[id]].toarray().ravel(), id
    found = fields.counts_of(text or "")
    x = np.zeros(counts.shape[1])
    for name, id in fields.first.features.find(fields.cursor, list(found)).items():
        x[id] = found[name]
    return x, None


def _bernoulli(counts: sparse.csr_array, x: Floats, members: list[int], n_items: int) -> float:
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    varied = (df > 0) & (df < n_items)  # what all items have, or none, says nothing
    having = np.bincount(counts[members].indices, minlength=len(df)) if members else np.zeros(len(df))
    theta = ((STRENGTH * df / n_items + having) / (STRENGTH + len(members)))[varied]
    present = x[varied] > 0
    return float(np.log(theta[present]).sum() + np.log1p(-theta[~present]).sum())


def _multinomial(counts: sparse.csr_array, x: Floats, members: list[int], n_items: int) -> float:
    cf = np.asarray(counts.sum(axis=0)).ravel()
    own = np.asarray(counts[members].sum(axis=0)).ravel() if members else np.zeros(len(cf))
    there = x > 0
    theta = (CONCENTRATION * cf / cf.sum() + own)[there] / (CONCENTRATION + own.sum())
    return float(x[there] @ np.log(theta))
