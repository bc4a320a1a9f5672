"""Reasons as a person reads them: contexts of a word that tell the same are one fact, with a sentence."""

from collections.abc import Iterable
from typing import NamedTuple

from setsearch.text.token_stream import ARTICLES, CONJUNCTIONS
from setsearch.text.words import MARKS

LISTED, PLACE, ANY = "listed with ", "_", "·"
_EMPTY = {PLACE, ANY, *MARKS, *ARTICLES, *CONJUNCTIONS}  # parts of contexts that tell little by themselves


class Reason(NamedTuple):
    """A fact that speaks for a set; `sentence` is empty for what explains itself."""

    label: str
    weight: float
    sentence: str = ""


def merge_reasons(features: Iterable[tuple[str, float]]) -> list[Reason]:
    """Features of words with their weights, those of the same content words added; in the order of the first of each.

    "_ flowers", "_ flowers ." and "_ flowers and" are one fact, named by the one that weighs most.
    """
    groups: dict[tuple[bool, frozenset[str]], list[tuple[str, float]]] = {}
    for label, weight in features:
        groups.setdefault(_content(label), []).append((label, weight))
    reasons = []
    for own in groups.values():
        label = max(own, key=lambda part: abs(part[1]))[0]
        reasons.append(Reason(label, sum(weight for _, weight in own), sentence(label)))
    return reasons


def sentence(label: str) -> str:
    """What a context says of a word."""
    if label.startswith(LISTED):
        return f"The word stands in lists with “{label.removeprefix(LISTED)}”."
    parts = label.split(" ")
    if PLACE not in parts:
        return ""
    place = parts.index(PLACE)
    before, after = (" ".join(part.replace(ANY, "…") for part in own) for own in (parts[:place], parts[place + 1 :]))
    if before and after:
        return f"The word stands between “{before}” and “{after}”."
    return f"The word stands after “{before}”." if before else f"The word stands before “{after}”."


def _content(label: str) -> tuple[bool, frozenset[str]]:
    """What makes two contexts the same fact: their words, and whether these come first."""
    if label.startswith(LISTED):
        return False, frozenset([label])
    parts = label.split(" ")
    words = frozenset(part for part in parts if part not in _EMPTY)
    if PLACE not in parts or not words:
        return False, frozenset([label])
    return parts[0] in words, words
