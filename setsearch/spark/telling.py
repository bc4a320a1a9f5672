"""Which sets tell what belongs (search/cutoff.py), in one job."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.search.cutoff import few_above, middle_seed
from setsearch.search.weights import SeedWeights
from setsearch.spark.ranking import Asked, Ranking
from setsearch.spark.snapshot import RemoteSnapshot


def which_tell(fields: Sequence[Fields], weights: Sequence[SeedWeights], defaults: Defaults) -> list[bool]:
    """Whether the seeds of each set tell what belongs; the sets have the same items."""
    bounds = [middle_seed(*own, defaults) for own in zip(fields, weights, strict=True)]
    if not np.isfinite(bounds).any():
        return [bound > 0 for bound in bounds]
    asked = [Asked(own, own.examples.seeds) for own in weights]
    above = Ranking(cast(RemoteSnapshot, fields[0].first.snapshot)).count_above(asked, bounds)
    n_items = fields[0].items.size
    return [few_above(count, n_items - len(own.excluded)) for count, own in zip(above, asked, strict=True)]
