"""What the tables hold: names, posting lists, texts, vectors, revisions, generations of arrays. Knows no models."""
