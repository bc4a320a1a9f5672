"""Which sets tell what belongs (search/cutoff.py), in one job."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.search.cutoff import can_tell, few_above, middle_seed
from setsearch.search.weights import SeedWeights
from setsearch.spark.field import RemoteField
from setsearch.spark.ranking import Asked, Ranking


def which_tell(
    fields: Sequence[Fields], weights: Sequence[SeedWeights], rejected: Sequence[list[int]], defaults: Defaults
) -> list[bool]:
    """Whether the seeds of each set tell what belongs; the sets have the same items."""
    bounds = [middle_seed(*own, exactly=True) for own in zip(fields, weights, strict=True)]
    are_told = [can_tell(own, defaults) for own in weights]
    if not np.isfinite(bounds).any():
        return are_told
    asked = [Asked(own, [*ids, *own.examples.seeds]) for own, ids in zip(weights, rejected, strict=True)]
    above = Ranking(cast(RemoteField, fields[0].first)).count_above(asked, bounds)
    n_items = fields[0].items.size
    return [
        few_above(count, n_items - len(own.excluded), defaults) if np.isfinite(bound) else is_told
        for count, own, bound, is_told in zip(above, asked, bounds, are_told, strict=True)
    ]
