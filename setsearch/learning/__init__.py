"""What sets teach: which method finds them best, informative features."""

from setsearch.learning.evaluation import evaluate_sets
from setsearch.learning.features import most_informative
from setsearch.learning.review import Review

__all__ = ["Review", "evaluate_sets", "most_informative"]
