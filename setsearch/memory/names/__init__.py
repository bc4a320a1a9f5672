"""Names in memory: known.py keeps those of stored vocabularies, derived.py has those of what is derived."""
