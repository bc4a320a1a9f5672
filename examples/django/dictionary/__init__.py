"""A dictionary: one model, whose rows are searched by examples."""
