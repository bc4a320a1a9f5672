"""Bayesian Sets from the definition, equation (10), in plain Python: slow, and sharing no code with setsearch."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor, isqrt, lgamma, log, log2, sqrt
from statistics import median, pstdev

import pytest

from setsearch import Hit

RARITY = 0.25  # of texts
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
        a, b = alpha + s, beta + (len(seeds) - s)
        for item, own in having.items():
            x = feature in own
            scores[item] += (
                lgamma(a + b) - lgamma(a + b + 1) + lgamma(a + x) - lgamma(a) + lgamma(b + (1 - x)) - lgamma(b)
            )
            scores[item] -= lgamma(alpha + beta) - lgamma(alpha + beta + 1) + lgamma(alpha + x) - lgamma(alpha)
            scores[item] -= lgamma(beta + (1 - x)) - lgamma(beta)
    return scores


def soft_values(
    data: Data, slope: float, binarization: str, fields: Mapping[str, float] | None = None
) -> dict[str, dict[str, float]]:
    """x_ij of the model lift: w_ij = (1 + ln tf) ln(n / df)^(1/4) where tf / L > 2 cf / CF, over a balanced norm.

    Features of other `fields`, which begin with the name and a colon, always count, and L and CF are without them. The
    values of a field count sqrt(coefficient) as much, over the largest one; that of the others is "".
    """
    fields = fields or {"": 1.0}
    of = {f: "" for own in data.values() for f in own}
    if len(fields) > 1:
        of = {f: name if (name := f.partition(":")[0]) in fields else "" for f in of}
    turned, n = transpose(data), len(data)
    total = sum(count for counts in data.values() for f, count in counts.items() if not of[f])
    weights: dict[str, dict[str, float]] = {}
    for item, counts in data.items():
        length = sum(count for f, count in counts.items() if not of[f])
        weights[item] = {
            feature: (1 + log(count)) * log(n / len(turned[feature])) ** 0.25
            for feature, count in counts.items()
            if count
            and len(turned[feature]) < n
            and fields[of[feature]]
            and (
                binarization == "presence"
                or of[feature]
                or Fraction(count, length) > Fraction(2 * sum(turned[feature].values()), total)
            )
        }
    norms = {item: sqrt(sum(w * w for w in own.values())) for item, own in weights.items()}
    largest = max(fields.values())
    middle = median([norm for norm in norms.values() if norm] or [1.0])
    return {
        item: {
            f: min(1.0, w * sqrt(fields[of[f]] / largest) / ((1 - slope) * middle + slope * norms[item]))
            for f, w in own.items()
        }
        for item, own in weights.items()
    }


def lift_weights(
    values: Mapping[str, Mapping[str, float]],
    seeds: Iterable[str] | Mapping[str, float],
    strength: float,
    df: Mapping[str, int] | None = None,
    rarity: float = 0.0,
    given: float | None = None,
) -> dict[str, float]:
    """v_j of every feature that a seed has; seeds may have weights, and document frequencies may be others.

    `given` is the number of seeds for the exponent of rarity, if others joined them.
    """
    n, shares = len(values), seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
    count, weights = sum(shares.values()), {}
    for feature in {feature for seed in shares for feature in values[seed]}:
        p = (sum(feature in own for own in values.values()) if df is None else df[feature]) / n
        s = sum(share * values[seed].get(feature, 0.0) for seed, share in shares.items())
        c = sum(share for seed, share in shares.items() if feature in values[seed])
        lift = log(((strength * p + c) / (strength + count)) / p)
        rare = log(1 / p) ** (rarity * log(max(given or count, 1.0)))
        weights[feature] = (s / count) * (c / count) ** (1 / count) * lift * rare
    return weights


def lift_scores(
    data: Data,
    seeds: Iterable[str],
    strength: float = 2.0,
    slope: float = 0.8,
    binarization: str = "soft-twice-mean",
    rarity: float = 0.0,
) -> dict[str, float]:
    """Scores of the model lift."""
    values = soft_values(data, slope, binarization)
    weights = lift_weights(values, seeds, strength, rarity=rarity)
    return {item: sum(weights.get(f, 0.0) * x for f, x in own.items()) for item, own in values.items()}


def budget_scores(data: Data, seeds: Iterable[str], budget: float, slope: float = 0.8) -> dict[str, float]:
    """Scores of the model lift if only the strongest features count, which cost at most budget C^(1/3) together."""
    values, seeds = soft_values(data, slope, "soft-twice-mean"), list(dict.fromkeys(seeds))
    costs = {feature: len(items) + 64 for feature, items in transpose(data).items()}
    cost = sum(costs[f] for f in {f for seed in seeds for f in values[seed]})
    most = int(budget * cost ** (1 / 3) + 0.5)
    kept = set(costs)
    if most < cost:
        stored = {feature: len(items) for feature, items in transpose(data).items()}
        kept = strongest(lift_weights(values, seeds, 2.0, stored, RARITY), costs, most)
    weights = lift_weights(values, seeds, 2.0, None, RARITY)
    return {item: sum(weights.get(f, 0.0) * x for f, x in own.items() if f in kept) for item, own in values.items()}


def strongest(estimates: Mapping[str, float], costs: Mapping[str, int], most: int) -> set[str]:
    """The features of largest positive weight that cost at most `most` together; equal ones count together or not."""
    kept, spent = set[str](), 0
    fitting = {f: round(w, 9) for f, w in estimates.items() if w > 0 and costs[f] <= most}
    for strength in sorted(set(fitting.values()), reverse=True):
        equal = [f for f, w in fitting.items() if w == strength]
        spent += sum(costs[f] for f in equal)
        if spent > most:
            break
        kept.update(equal)
    return kept


def nearly_same(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two documents have seven tenths of all their features in common, and at least five."""
    both, either = {*one} & {*other}, {*one} | {*other}
    return min(len({*one}), len({*other})) >= 5 and 10 * len(both) >= 7 * len(either)


def joining_weights(joining: Sequence[str], scores: Mapping[str, float], most: float) -> dict[str, float]:
    """The weight of each item that joins, best first: 64ths of the most, as the score is to the best, one at least."""
    return {item: most * max(round(64 * scores[item] / scores[joining[0]]), 1) / 64 for item in joining}


def feedback_scores(
    data: Data,
    seeds: Iterable[str],
    feedback: float,
    least: int,
    slope: float = 0.2,
    binarization: str = "soft-twice-mean",
    excluded: Iterable[str] = (),
    own: int = 20,
    *,
    vectors: Mapping[str, Sequence[float]] | None = None,
    share: float = 0.0,
    gamma: float = 0.0,
    taken: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Scores of the model lift after a second pass: 10 - N items, n // 25 at most, join the seeds.

    The first weighs half a seed, 9/32 where there are three, the others in 64ths of this as they score. None joins
    that is nearly the same as a seed or a better item: by seven tenths of their features, five at least.
    What others have `taken` from scores counts for what joins: then 15 - N items, at half weight however many seeds
    there are. None at all if the last of as many of the best items scores more than .85 of the first.
    With vectors, both passes add the field of their meaning. Both subtract gamma times the scores by `excluded` items.
    """

    def added(scores: dict[str, float], shares: Mapping[str, float]) -> dict[str, float]:
        if gamma:
            negative = lift_scores(data, excluded, 2.0, slope, binarization, RARITY)
            scores = {item: score - gamma * negative[item] for item, score in scores.items()}
        return scores if vectors is None else meaning_scores(scores, vectors, shares, share)

    values, seeds = soft_values(data, slope, binarization), list(dict.fromkeys(seeds))
    one_pass = added(lift_scores(data, seeds, 2.0, slope, binarization, RARITY), dict.fromkeys(seeds, 1.0))
    count = min((10 if taken is None else 15) - len(seeds), len(data) // 25)
    left = {item: score - (taken or {}).get(item, 0.0) for item, score in one_pass.items()}
    ranked, best = list(ranking(left, {*seeds, *excluded})), list[str]()
    if 2 <= count <= len(ranked) and ranked[count - 1][1] > 0.85 * ranked[0][1]:
        return one_pass
    for item in (item for item, score in ranked if score > 0):
        if len(best) < count and not any(nearly_same(values[item], values[other]) for other in [*seeds, *best]):
            best.append(item)
    if count < 2 or len(seeds) > 5 or not best:
        return one_pass
    stored = {feature: len(items) for feature, items in transpose(data).items()}
    most = max(int(feedback * sum(stored[f] for f in {f for seed in seeds for f in values[seed]})), least)
    most_of_one = 9 / 32 if len(seeds) >= 3 and taken is None else 0.5
    joined = dict.fromkeys(seeds, 1.0) | joining_weights(best, left, most_of_one)
    estimates = lift_weights(values, joined, 2.0, stored, RARITY, len(seeds))
    of_seeds = lift_weights(values, seeds, 2.0, None, RARITY)
    least_own = sorted(of_seeds.values(), reverse=True)[: own or None][-1]
    always = {f for f, w in of_seeds.items() if w >= least_own - 1e-9}
    kept = strongest({f: w for f, w in estimates.items() if f not in always}, stored, most)
    weights = lift_weights(values, joined, 2.0, None, RARITY, len(seeds))
    scores = {
        item: sum(weights[f] * x for f, x in own.items() if f in kept or f in always) for item, own in values.items()
    }
    return added(scores, joined)


def coarse(number: int, bits: int) -> int:
    """A number with its first bits alone."""
    shift = max(number.bit_length() - bits, 0)
    return number >> shift << shift


def similarities(fields: Mapping[str, Data], coefficients: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The similarity of each two words: the cosine of tf-idf in all fields, if it is above 0."""
    words = {word for data in fields.values() for word in data}
    products: dict[tuple[str, str], float] = {}
    for name, data in fields.items():
        lengths = {word: sum(own.values()) for word, own in data.items()}
        total = coarse(sum(lengths.values()), 6)
        for counts in transpose(data).values():
            share = Fraction(2 * sum(counts.values()), total)
            kept = {a: 1 + log(tf) for a, tf in counts.items() if tf and Fraction(tf, lengths[a]) > share}
            idf = log(coarse(len(words), 6) / coarse(len(counts), 3)) if len(counts) <= 2000 else 0.0
            for a, x in kept.items():
                for b, y in kept.items():
                    products[a, b] = products.get((a, b), 0.0) + coefficients[name] * idf**2 * x * y
    found: dict[str, dict[str, float]] = {word: {} for word in words}
    for (a, b), product in products.items():
        if a != b and product > 0:
            found[a][b] = product / sqrt(products[a, a] * products[b, b])
    return found


def smoothed_scores(
    scores: Mapping[str, float],
    nearest: Mapping[str, Mapping[str, float]],
    seeds: Iterable[str],
    total: float,
    weight: float = 1.0,
) -> dict[str, float]:
    """Scores smoothed over the ten nearest words of each, given with their similarities."""
    sums = {word: sum(own.values()) for word, own in nearest.items()}
    middle = median([own for own in sums.values() if own] or [1.0])
    factors = {word: min(1.5, max(2 / 3, sqrt(middle / own))) if own else 1.0 for word, own in sums.items()}
    own = {word: score * factors[word] for word, score in scores.items()}
    best = max([score for word, score in own.items() if word not in set(seeds)] + [0.0])
    counted = own | dict.fromkeys(seeds, best)
    return {
        word: score
        + weight * (0.5 + 2 / total) * sum(s * counted[other] for other, s in nearest[word].items()) / (sums[word] or 1)
        for word, score in own.items()
    }


def meaning_scores(
    scores: Mapping[str, float],
    vectors: Mapping[str, Sequence[float]],
    seeds: Mapping[str, float],
    share: float,
    texts: Iterable[Sequence[float]] = (),
    shrinkage: float | None = None,
    left_out: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Scores plus share sd(scores) z(cosine with the seeds' centroid) of centred vectors.

    With a shrinkage the centroid is multiplied by the inverse of the covariance, of which it is a part. With scores of
    seeds that are left out of the set these alone get what is theirs, by the centroid of the others.
    """

    def unit(vector: Sequence[float]) -> list[float]:
        length = sqrt(sum(x * x for x in vector))
        return [x / length for x in vector]

    def stored(vector: Sequence[float]) -> list[float]:
        largest = max(map(abs, vector))
        return unit([round(127 * x / largest) for x in vector])

    rows = {item: stored(vector) for item, vector in vectors.items()}
    mean = [sum(column) / len(rows) for column in zip(*rows.values(), strict=True)]
    centred = {item: unit([x - m for x, m in zip(row, mean, strict=True)]) for item, row in rows.items()}
    parts = [(centred[seed], weight) for seed, weight in seeds.items() if seed in centred]
    parts += [(unit([x - m for x, m in zip(stored(text), mean, strict=True)]), 1.0) for text in texts]
    centroid = [sum(row[k] * weight for row, weight in parts) for k in range(len(mean))]
    if shrinkage is not None:
        centroid = solve(shrunk_covariance([*vectors.values()], shrinkage), centroid)
    step = 2.0 ** -floor(log2((2**15 - 1) / sum(map(abs, centroid))))
    centroid = [round(c / step) * step for c in centroid]
    cosines = {item: sum(x * c for x, c in zip(row, centroid, strict=True)) for item, row in centred.items()}
    factor = share * pstdev(scores.values()) / pstdev(cosines.values())
    middle = sum(cosines.values()) / len(cosines)
    if left_out is not None:
        length = sqrt(sum(c * c for c in centroid))
        others = {
            s: unit([c - seeds[s] * x for c, x in zip(centroid, row, strict=True)])
            for s, row in centred.items()
            if s in left_out
        }
        cosines = {s: length * sum(x * c for x, c in zip(centred[s], own, strict=True)) for s, own in others.items()}
    return {item: score + factor * (cosines.get(item, middle) - middle) for item, score in (left_out or scores).items()}


def shrunk_covariance(vectors: Sequence[Sequence[float]], shrinkage: float) -> list[list[float]]:
    """The covariance of vectors as bytes, with a multiple of the mean variance added to each variance."""
    rows = [[round(127 * x / max(map(abs, row))) for x in row] for row in vectors]
    size, n = len(rows[0]), len(rows)
    means = [sum(row[k] for row in rows) / n for k in range(size)]
    found = [[sum(row[a] * row[b] for row in rows) / n - means[a] * means[b] for b in range(size)] for a in range(size)]
    variance = sum(found[k][k] for k in range(size)) / size
    for k in range(size):
        found[k][k] += shrinkage * variance
    return found


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x with matrix x = right, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k, pivot in enumerate(rows):
        for row in rows[:k] + rows[k + 1 :]:
            factor = row[k] / pivot[k]
            row[:] = [x - factor * y for x, y in zip(row, pivot, strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def x1_scores(data: Data, seeds: Iterable[str], strength: float = 50.0) -> dict[str, float]:
    """The paper's weights on twice-the-mean features, each divided by the square root of the item's number of them."""
    having, n, seeds = twice_mean(data), len(data), set(seeds)
    scores = {}
    for item, own in having.items():
        scores[item] = 0.0
        for feature in {f for features in having.values() for f in features}:
            df = sum(feature in features for features in having.values())
            if df == n:
                continue
            alpha, beta, count = strength * df / n, strength * (n - df) / n, len(seeds)
            c = sum(feature in having[seed] for seed in seeds)
            scores[item] += log(strength) - log(strength + count) + log(beta + count - c) - log(beta)
            if feature in own:
                q = log(alpha + c) - log(alpha) - log(beta + count - c) + log(beta)
                scores[item] += q / sqrt(len(own))
    return scores


def multinomial_scores(data: Data, seeds: Iterable[str], concentration: float) -> dict[str, float]:
    """log p(x | D) - log p(x) under a Dirichlet-multinomial, a product over all features."""
    cf = {f: sum(counts.values()) for f, counts in transpose(data).items()}
    total = sum(cf.values())
    seeds = set(seeds)

    def log_p(item: str, own: Iterable[str]) -> float:
        alpha = {f: concentration * c / total + sum(data[s].get(f, 0) for s in own) for f, c in cf.items()}
        length = sum(data[item].values())
        score = lgamma(sum(alpha.values())) - lgamma(sum(alpha.values()) + length)
        return score + sum(lgamma(a + data[item].get(f, 0)) - lgamma(a) for f, a in alpha.items())

    return {item: log_p(item, seeds) - log_p(item, ()) for item in data}


def poisson_scores(data: Data, seeds: Iterable[str], strength: float) -> dict[str, float]:
    """log p(x | D) - log p(x) where every feature has a rate of its own: negative binomials, one for each feature."""
    cf = {f: sum(counts.values()) for f, counts in transpose(data).items()}
    seeds = set(seeds)

    def log_p(x: int, shape: float, rate: float) -> float:
        return lgamma(shape + x) - lgamma(shape) - lgamma(x + 1) + shape * log(rate / (rate + 1)) - x * log(rate + 1)

    scores = dict.fromkeys(data, 0.0)
    for feature, count in cf.items():
        shape, s = strength * count / len(data), sum(data[seed].get(feature, 0) for seed in seeds)
        for item, counts in data.items():
            x = counts.get(feature, 0)
            scores[item] += log_p(x, shape + s, strength + len(seeds)) - log_p(x, shape, strength)
    return scores


def floor_of(descending: Sequence[float], n_items: int) -> float:
    """The score that others have by chance, of the best ones but seeds, best first."""
    return descending[max(min(3 * isqrt(n_items), 300, n_items // 2, len(descending)), 1) - 1]


def line_of(descending: Sequence[float], n_items: int, n_seeds: int, middle: float | None = None) -> float:
    """What items that belong score more than; `middle`: of the seeds that are left out, None if none is."""
    floor, best, more = floor_of(descending, n_items), sum(descending[:5]) / 5, 0.02 * (n_seeds - 1)
    if middle is None:
        return floor + min(0.25 + more, 0.5) * (best - floor)
    return floor + min(more, 0.1) * (best - floor) + 0.55 * (middle - floor)


def ranking(scores: Mapping[str, float], without: Iterable[str] = ()) -> list[tuple[str, float]]:
    """Best first; equal scores (to 1e-7) in the order of ids."""
    left_out = set(without)
    return sorted(
        ((i, s) for i, s in scores.items() if i not in left_out), key=lambda pair: (-round(pair[1], 7), pair[0])
    )


def same_scores(
    hits: Sequence[Hit], scores: Mapping[str, float], seeds: Iterable[str], tolerance: float = 1e-7
) -> None:
    """Every item but the seeds has the score of the definition; best first, equal ones in the order of ids."""
    expected = {item: score for item, score in scores.items() if item not in set(seeds)}
    assert {hit.item: hit.score for hit in hits} == pytest.approx(expected, abs=tolerance)
    assert [(-hit.score, hit.item) for hit in hits] == sorted((-hit.score, hit.item) for hit in hits)


def corrected_scores(
    data: Data,
    scores: Mapping[str, float],
    accepted: Mapping[str, float],
    rejected: Iterable[str],
    slope: float = 0.8,
    large: int = 1000,
    twice: bool = False,
) -> dict[str, float]:
    """Margins of all items: scores of the model lift, corrected by a support vector machine, by coordinate descent.

    For at most 200 items that nobody marked. Accepted examples have weights. `twice`: a question with a second pass.
    """
    values, rejected = soft_values(data, slope, "presence"), list(rejected)
    others = [item for item in data if item not in accepted and item not in rejected]
    trust = min(1.0, len(data) / large) ** 3
    best = sorted((scores[item] for item in others), reverse=True)[:5]
    decay = len(rejected) ** (-2 / 3)
    share = (1.0 if twice else 3 * trust * decay) / (sum(best) / 5) if len(others) > 5 and sum(best) > 0 else 0.0
    cost = 0.1 * min(1.0, 0.3 * sum(accepted.values()) ** 0.5 * decay) if twice else 0.1
    unmarked = 20 * trust + 0.3 * len(rejected)
    negative = len(rejected) + (unmarked if others else 0.0)
    costs = {item: 2 * negative * weight / sum(accepted.values()) for item, weight in accepted.items()}
    costs |= dict.fromkeys(rejected, 1.0) | dict.fromkeys(others, unmarked / max(len(others), 1))
    signs = {item: 1 if item in accepted else -1 for item in costs}
    weights, bias, dual = dict.fromkeys(transpose(data), 0.0), 0.0, dict.fromkeys(costs, 0.0)
    for _ in range(100_000):
        moved = 0.0
        for item, sign in signs.items():
            margin = share * scores[item] + bias + sum(weights[f] * x for f, x in values[item].items())
            softness = 1 / (2 * cost * costs[item])
            curvature = 1 + sum(x * x for x in values[item].values()) + softness
            step = max(-dual[item], (1 - sign * margin - softness * dual[item]) / curvature)
            dual[item] += step
            bias += sign * step
            for f, x in values[item].items():
                weights[f] += sign * step * x
            moved = max(moved, abs(step) * curvature)
        if moved < 1e-10:
            break
    return {item: share * scores[item] + bias + sum(weights[f] * x for f, x in values[item].items()) for item in data}
