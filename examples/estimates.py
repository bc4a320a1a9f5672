"""What three examples say about the next ten: an estimate plugged in, against the predictive distribution.

    python examples/estimates.py

A word that all seeds have need not be in every item of the set. The maximum likelihood estimate says so nevertheless;
the paper's prior, Beta(k m, k (1 - m)) with m the share of all items that have the word, does not. Bayesian Sets scores
by the posterior mean. The distribution of how many of ten more items have the word is the Beta-binomial; with one
estimate plugged in, it is a binomial, which is far too sure.
"""

import sqlite3
from collections import Counter

from scipy.stats import betabinom, binom

import setsearch

MORE = 10  # items that come next
STRENGTH = 2.0  # k of the prior
ANIMALS = {
    "lion": "cat savanna roars",
    "tiger": "cat jungle stripes",
    "leopard": "cat savanna spots",
    "wheat": "field grain",
    "barley": "field grain beer",
    "engine": "steam wheel",
}


def main() -> None:
    """Print, for each word of the seeds, four estimates and the chance that ten more items have it."""
    with setsearch.open(sqlite3.connect(":memory:"), create=True) as index:
        index.add(ANIMALS.items())
        documents = index.items("documents")
        seeds = ["lion", "tiger", "leopard"]
        having = Counter(word for seed in seeds for word in documents.features_of(seed))
        print(f"{'word':10}{'ML':>7}{'MAP':>7}{'mean':>7}   all of {MORE} more: plugged in, predictive")
        for word, c in sorted(having.items(), key=lambda pair: (-pair[1], pair[0])):
            m = documents.document_frequency(word) / documents.item_count()
            alpha, beta = STRENGTH * m + c, STRENGTH * (1 - m) + len(seeds) - c
            likely, mean = c / len(seeds), alpha / (alpha + beta)
            mode = min(max((alpha - 1) / (alpha + beta - 2), 0.0), 1.0)
            chances = binom.pmf(MORE, MORE, likely), betabinom.pmf(MORE, MORE, alpha, beta)
            print(f"{word:10}{likely:7.3f}{mode:7.3f}{mean:7.3f}   {chances[0]:12.4f}{chances[1]:12.4f}")


if __name__ == "__main__":
    main()
