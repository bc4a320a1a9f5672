"""x_ij of setsearch.models.values, from the columns of a posting."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import VALUE_LATTICE
from setsearch.models.values import PRESENCE, ValueRule
from setsearch.spark.layout import NORMS, Side


def value_of(rule: ValueRule, side: Side) -> Column:
    """The value of a posting of a reading by a rule; 0 where the entry does not exist."""
    if rule == PRESENCE:
        return F.lit(1.0)
    assert rule.slope is not None
    norm, middle = F.col(NORMS[rule.binarization]), side.medians[rule.binarization]
    scale = F.when(norm > 0, F.lit(1.0) / (F.lit((1 - rule.slope) * middle) + F.lit(rule.slope) * norm))
    weight = F.col("logs") * F.col("factor") * scale.otherwise(0.0)
    value = F.rint(F.least(weight, F.lit(1.0)) * VALUE_LATTICE) / VALUE_LATTICE
    if rule.binarization == "presence":
        return value
    return F.when(F.col("count") / F.col("total") > F.col("floor"), value).otherwise(0.0)


def frequency_of(rule: ValueRule) -> str:
    """The column that holds in how many items a feature exists."""
    return "df" if rule.binarization == "presence" else "soft_df"
