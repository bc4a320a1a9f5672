"""From seeds to hits, and why: readings, weights, cutoff, saved sets. Knows nothing of indexing."""
