"""The values x_ij of setsearch.models.values, as expressions on the columns of postings."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import VALUE_LATTICE
from setsearch.models.values import PRESENCE, ValueRule
from setsearch.spark.layout import NORMS, Side


def value_of(rule: ValueRule, side: Side) -> Column:
    """The value of a posting by a rule; 0 if the rule drops the entry."""
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
    """The column with the document frequency of a feature by a rule."""
    return "df" if rule.binarization == "presence" else "soft_df"
