"""x_ij of setsearch.models.values, from the columns of a posting."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from setsearch.models.values import LATTICE, PRESENCE, Rule
from setsearch.spark.layout import NORMS, Side


def value_of(rule: Rule, side: Side) -> Column:
    """The value of a posting of a reading by a rule; 0 where the entry does not exist."""
    if rule == PRESENCE:
        return F.lit(1.0)
    assert rule.balance is not None
    norm, middle = F.col(NORMS[rule.existence]), side.medians[rule.existence]
    scale = F.when(norm > 0, F.lit(1.0) / (F.lit((1 - rule.balance) * middle) + F.lit(rule.balance) * norm))
    weight = F.col("logs") * F.col("factor") * scale.otherwise(0.0)
    value = F.rint(F.least(weight, F.lit(1.0)) * LATTICE) / LATTICE
    if rule.existence == "presence":
        return value
    return F.when(F.col("count") / F.col("total") > F.col("floor"), value).otherwise(0.0)


def frequency_of(rule: Rule) -> str:
    """The column that holds in how many items a feature exists."""
    return "df" if rule.existence == "presence" else "soft_df"
