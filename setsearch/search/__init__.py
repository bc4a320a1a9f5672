"""From seeds to the scores of all items: examples, weights, passes, where a set ends. Knows nothing of indexing."""
