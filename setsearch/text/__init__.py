"""Text to terms, to a token stream, to co-occurrence contexts. Knows no SQL."""

from setsearch.text.analyzer import Analyzer

__all__ = ["Analyzer"]
