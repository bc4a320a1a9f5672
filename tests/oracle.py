"""Bayesian Sets from the definition, equation (10), in plain Python: slow, and sharing no code with setsearch."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lgamma

Data = Mapping[str, Mapping[str, int]]


def presence(data: Data) -> dict[str, set[str]]:
    """Item -> the features it has."""
    return {item: {feature for feature, count in counts.items() if count} for item, counts in data.items()}


def twice_mean(data: Data) -> dict[str, set[str]]:
    """Item -> the features whose share in it is more than twice the mean share, in exact arithmetic."""
    shares = {
        item: {feature: Fraction(count, sum(counts.values())) for feature, count in counts.items() if count}
        for item, counts in data.items()
    }
    sums: dict[str, Fraction] = {}
    for own in shares.values():
        for feature, share in own.items():
            sums[feature] = sums.get(feature, Fraction(0)) + share
    return {
        item: {feature for feature, share in own.items() if share > 2 * sums[feature] / len(data)}
        for item, own in shares.items()
    }


def transpose(data: Data) -> dict[str, dict[str, int]]:
    """Feature -> items, with counts."""
    turned: dict[str, dict[str, int]] = {}
    for item, counts in data.items():
        for feature, count in counts.items():
            if count:
                turned.setdefault(feature, {})[item] = count
    return turned


def log_scores(having: Mapping[str, set[str]], seeds: Iterable[str], strength: float = 2.0) -> dict[str, float]:
    """log p(x, D) / (p(x) p(D)) of every item by log-gamma functions, a product over all features."""
    n, seeds = len(having), set(seeds)
    df: dict[str, int] = {}
    for own in having.values():
        for feature in own:
            df[feature] = df.get(feature, 0) + 1
    scores = dict.fromkeys(having, 0.0)
    for feature, frequency in df.items():
        if frequency == n:
            continue  # alpha = k, beta = 0: the ratio tends to 1 for every item, all of which have the feature
        alpha, beta = strength * frequency / n, strength * (n - frequency) / n
        s = sum(feature in having[seed] for seed in seeds)
        a, b = alpha + s, beta + len(seeds) - s
        for item, own in having.items():
            x = feature in own
            scores[item] += (
                lgamma(a + b) - lgamma(a + b + 1) + lgamma(a + x) - lgamma(a) + lgamma(b + 1 - x) - lgamma(b)
            )
            scores[item] -= lgamma(alpha + beta) - lgamma(alpha + beta + 1) + lgamma(alpha + x) - lgamma(alpha)
            scores[item] -= lgamma(beta + 1 - x) - lgamma(beta)
    return scores


def ranking(scores: Mapping[str, float], without: Iterable[str] = ()) -> list[tuple[str, float]]:
    """Best first; equal scores (to 1e-7) in the order of ids."""
    left_out = set(without)
    return sorted(
        ((i, s) for i, s in scores.items() if i not in left_out), key=lambda pair: (-round(pair[1], 7), pair[0])
    )
