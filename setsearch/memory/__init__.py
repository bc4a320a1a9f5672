"""What a process keeps of an index: lists, names, contexts, vectors, as of a revision. Knows no seed."""
