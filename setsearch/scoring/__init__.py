"""Posting lists in memory, and the exact k best scores. Knows no models."""
