"""When a review may stop: a promised recall with a stated probability.

The test of Callaghan and Mueller-Hansen (Statistical stopping criteria for automated screening in systematic reviews,
Systematic Reviews 9, 2020), with a biased urn. A person has read n of N records, r of them relevant. Take the records
read after the first i as drawn from those that were left then. If the recall were below the target t, at least

    K_i = floor(r / t + 1) - r_i

relevant records were left after the first i, r_i of which were relevant. The chance that so few of them were found,

    p_i = P(X <= r - r_i),    n - i of N - i records are drawn, K_i of which are relevant,

is small if the target is met. The least p_i, over up to 50 values of i, is the answer. X is hypergeometric if records
come in a random order. A ranking draws relevant ones first: X has Wallenius' distribution, in which a relevant record
is `odds` times as likely to be the next one as any other. With odds = 1 the promise needs no assumption about the
ranking; 2 is less than rankings reach (docs/screening.md).

How many are left is told by the same urn, from both sides: as many as a ranking with odds of 2 may leave, and as few as
one with odds of (N - i) / 5. Curves alone cannot tell it closer: of two reviews of one collection that had found 31 and
40 relevant records among the first 100, 4 and 6 among the last 25 of these, the one had 5 left, the other 48.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints

RECALL, CONFIDENCE = 0.95, 0.95  # of the promise, by default
ODDS = 2.0  # of a relevant record to be the next one: less than rankings reach
MOST_PLACES = 50  # values of i
MOST_TO_STOP = 200  # places for the answers that a stop needs: with 50 of 80 it said up to 22 too many
EVEN_AT = 5  # no replay of seven reviews found its last ones sooner than this allows; 10 was broken in one of them
WIDEST = 3  # ends that are further apart help nobody to decide
NODES: Floats = np.arange(-18, 16.5, 0.5)  # of the integral, in deviations: it errs by 1e-8, at odds of 1,000 by 1e-4
NOTHING = 1e-11  # a density that adds nothing to the integral


class Outlook(NamedTuple):
    """What a review may still find.

    `chance` that the recall is below the target; between `at_least` and `at_most` relevant records are among those not
    read, with the stated confidence; `answers_needed`: the review may not stop before as many, whatever they are, if
    no more than `at_most` are yes.
    """

    chance: float
    at_least: int
    at_most: int
    answers_needed: int

    @property
    def is_narrow(self) -> bool:
        """Whether the ends tell something: `at_most` is up to three times `at_least`, or three where that is 0."""
        return self.at_most <= WIDEST * max(self.at_least, 1)


def chance_of_missing(found: Sequence[int], n_records: int, recall: float = RECALL, odds: float = ODDS) -> float:
    """The least p_i: the chance that the recall is below the target, 1 before anything was read.

    `found` are the labels, 1 or 0, of the records read, in their order; `n_records` is N.
    """
    relevant, read = int(np.sum(found)), len(found)
    left = int(np.floor(relevant / recall + 1)) - relevant
    if not read and n_records:
        return 1.0
    if left > n_records - read:
        return 0.0
    labels: Ints = np.asarray(found, np.int64)
    before = _some(np.arange(read))
    since = labels[::-1].cumsum()[::-1][before]  # relevant ones from each place on
    urn = n_records - before, left + since, read - before
    return float(chance_of_few(since, *urn, odds).min())


def outlook(found: Sequence[int], n_records: int, recall: float = RECALL, confidence: float = CONFIDENCE) -> Outlook:
    """The chance, how many are left, half of what may go wrong at either end, and how many answers a stop needs."""
    missing = chance_of_missing(found, n_records, recall)
    labels: Ints = np.asarray(found, np.int64)
    at_most = most_left(labels, n_records, (1 - confidence) / 2)
    at_least = least_left(labels, at_most, n_records, (1 - confidence) / 2)
    stops = missing < 1 - confidence
    needed = 0 if stops else answers_needed(labels, n_records, recall, 1 - confidence, at_most)
    return Outlook(missing, at_least, at_most, needed)


def chance_of_few(found: Ints, records: Ints, relevant: Ints, drawn: Ints, odds: Floats | float) -> Floats:
    """P(X <= found): so many of the records are drawn, the relevant ones with these odds (Wallenius).

    Let each record come at a random time, exponential with rate `odds` if it is relevant, else with rate 1. X <= x if
    the y-th of the others, y = drawn - x, comes before the relevant one number x + 1. The share of the others that came
    by then is Beta(y, others - y + 1), that of the relevant ones Beta(x + 1, relevant - x).
    """
    hits, misses, others = found + 1, drawn - found, records - relevant
    urn = np.maximum([misses, others - misses + 1, hits, relevant - found], 1)
    narrow = hits > misses  # the integral is smooth over the narrower of both
    a, b, c, d = np.where(narrow, urn[[2, 3, 0, 1]], urn)
    later = _comes_later(a, b, c, d, np.where(narrow, 1 / odds, odds))
    chances: Floats = np.where((relevant <= found) | (misses <= 0), 1.0, np.where(narrow, 1 - later, later))
    return np.where((found < 0) | (others < misses), 0.0, chances)


def _comes_later(a: Floats, b: Floats, c: Floats, d: Floats, power: Floats) -> Floats:
    """P(1 - V > (1 - U)^power), U and V from Beta(a, b) and Beta(c, d): over the log-odds of U, by trapezoids."""
    from scipy.special import betainc, betaln, log_expit

    a, b, c, d, power = (value[:, None] for value in (a, b, c, d, power))
    deviation = np.sqrt(1 / a + 1 / b)
    at = np.log(a / b) + deviation * NODES
    density = np.exp(a * log_expit(at) + b * log_expit(-at) - betaln(a, b)) * deviation * (NODES[1] - NODES[0])
    inside = density > NOTHING
    c, d, power = (np.broadcast_to(value, at.shape)[inside] for value in (c, d, power))
    density[inside] *= betainc(d, c, np.exp(power * log_expit(-at[inside])))
    total: Floats = density.sum(1)
    return total


def most_left(labels: Ints, n_records: int, chance: float) -> int:
    """The largest number left with which finding so few, from any place on, has at least this chance.

    Places behind relevant records are enough: from there on the chance is least. A further no does not change them.
    """
    before = _some(np.append(0, np.flatnonzero(labels) + 1))
    since = labels.sum() - np.append(0, labels.cumsum())[before]

    def are_too_many(left: int) -> bool:
        urn = n_records - before, since + left, len(labels) - before
        return bool((chance_of_few(since, *urn, ODDS) < chance).any())

    return bisect_left(range(1, n_records - len(labels) + 1), True, key=are_too_many)


def least_left(labels: Ints, at_most: int, n_records: int, chance: float) -> int:
    """The smallest number left, up to `at_most`, with which finding so many, from any place on, has this chance.

    The odds are (N - i) / EVEN_AT: if as many relevant records are left as EVEN_AT, the next one is one with even odds.
    """
    before = _some(np.flatnonzero(labels))
    since = labels.sum() - np.append(0, labels.cumsum())[before]

    def are_enough(left: int) -> bool:
        urn = n_records - before, since + left, len(labels) - before
        return bool((1 - chance_of_few(since - 1, *urn, np.maximum(ODDS, urn[0] / EVEN_AT)) >= chance).all())

    return bisect_left(range(at_most), True, key=are_enough)


def answers_needed(labels: Ints, n_records: int, recall: float, chance: float, at_most: int) -> int:
    """The least number of answers, up to `at_most` of them yes, after which the rule may say that the review may stop.

    A yes may hasten the stop: once found / recall has grown by one, one more may be missing. So the soonest stop has
    some yes first, as few as let k more be missing, then no alone; k = 0, 1, 2, ...
    """
    read, relevant, rest = len(labels), int(labels.sum()), n_records - len(labels)
    yes = np.arange(min(rest, at_most) + 1)
    left = np.floor((relevant + yes) / recall + 1).astype(np.int64) - relevant - yes
    more = np.append(True, np.diff(np.maximum.accumulate(left)) > 0)
    yes, left = yes[more], left[more]
    most = _first_stop(np.array([yes + read, 0 * yes, left, yes]), read, n_records, chance, rest)
    soon = yes < most
    before = _some(np.append(0, np.flatnonzero(labels) + 1), MOST_TO_STOP)
    since = relevant - np.append(0, labels.cumsum())[before]
    pairs = np.broadcast_arrays(before[:, None], since[:, None] + yes[soon], left[soon], yes[soon])
    return _first_stop(np.array([pair.ravel() for pair in pairs]), read, n_records, chance, most)


def _first_stop(places: Ints, read: int, n_records: int, chance: float, most: int) -> int:
    """After how many answers one of the places (i, relevant ones from there on, left, yes) allows a stop; or `most`."""
    low, high, middle = 1, most, most - 1
    while low < high:
        before, since, left, yes = places
        urn = n_records - before, since + left, np.maximum(read + middle - before, since)
        small = (chance_of_few(since, *urn, ODDS) < chance) & (yes <= middle)
        if small.any():
            high, places = middle, places[:, small]
        else:
            low = middle + 1
        middle = (low + high) // 2
    return low


def _some(places: Ints, most: int = MOST_PLACES) -> Ints:
    """Up to so many of them, evenly."""
    return places[np.unique(np.linspace(0, len(places) - 1, most).astype(np.int64))] if len(places) else places
