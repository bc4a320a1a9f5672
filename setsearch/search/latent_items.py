"""Latent vectors: what items are like by all features together, from the collection itself.

The values of a model, items x features, have a truncated singular value decomposition X = U S V'; the vector of an item
is its row of U S (latent semantic indexing: Deerwester and others, 1990). Words with contexts have other ones
(memory/contexts/latent_words.py). The decomposition begins with the same numbers each time, so that the same index
gives the same vectors on one machine.
"""

from typing import Any

import numpy as np

from setsearch.arrays import Ints, bincount, offsets
from setsearch.errors import UsageError
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.storage.kept.vectors import Bytes, quantized

SIZE, SIZE_OF_TEXTS = 64, 100  # dimensions
FEWEST = 10  # items and features


def latent_vectors(fields: Fields, defaults: Defaults) -> tuple[list[str], Bytes]:
    """The names of items with a vector, and the vectors as stored, `(n_names, size)`. Raises UsageError."""
    from scipy.sparse.linalg import svds

    if fields.contexts_revision is not None:
        raise UsageError(f"{fields.items.name} with contexts always have latent vectors; leave `latent` out")
    ids = fields.item_ids()
    x = _values(fields.first, ids, defaults)
    x = x[:, np.flatnonzero(bincount(x.indices, minlength=x.shape[1]))]
    if min(x.shape) < FEWEST:
        raise UsageError(
            f"{x.shape[0]} {fields.items.name} with {x.shape[1]} features are too few for latent vectors; "
            f"both must be {FEWEST} or more"
        )
    size = SIZE_OF_TEXTS if fields.analyzer is not None else SIZE
    start = np.random.default_rng(0).normal(size=min(x.shape))
    left, strengths, _ = svds(x, k=min(size, min(x.shape) - 1), v0=start)
    rows = left * strengths
    described = fields.describe(ids.tolist())
    has_any = np.flatnonzero((np.diff(x.indptr) > 0) & (np.abs(rows).max(axis=1) > 0))
    names = [described[id][0] for id in ids[has_any].tolist()]
    return names, quantized(names, rows[has_any])


def _values(field: Field, ids: Ints, defaults: Defaults) -> Any:
    """The values of the default model, `(n_items, n_features)`."""
    from scipy.sparse import csr_array

    lists = field.forward(ids.tolist(), defaults.make({}).rule)
    entries = lists.concatenated_values().astype(float), lists.concatenated_ids().astype(np.int64)
    return csr_array((*entries, offsets(lists.lengths)), shape=(len(ids), field.features.next_id))
