"""Saved sets that grow by themselves: chances, rounds, runs."""
