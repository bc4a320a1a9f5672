"""Identifiers of publications in texts: DOIs, and titles by which copies are known."""

import re
import unicodedata
from urllib.parse import unquote

# the SICIs among them have an item in angles, and two letters with a number at their end: 39:1<123::AID-2>3.0.CO;2-H
_any_doi = re.compile(
    r"10\.\d{4,9}/[^\s\"<>,;]+(?:<[^\s\"<>;:]*:[^\s\"<>;]*>[^\s\"<>,;]+)?(?:(?<=\.[a-z]{2});\d(?:-[\w#])?(?![\w.]))?",
    re.IGNORECASE,
)
_word = re.compile(r"\w+")
_only_doi = re.compile(r"\s*(?:doi:?\s*|https?://(?:dx\.)?doi\.org/)?10\.\d{4,9}/\S+\s*", re.IGNORECASE)


def first_doi(text: str) -> str:
    """The first DOI in a text, without an address, and without what pages and addresses write for its angles."""
    found = _any_doi.search(unquote(text).replace("&lt;", "<").replace("&gt;", ">"))
    return found[0] if found else ""


def plain_doi(text: str) -> str:
    """The DOI in a text, in lower case; empty if there is none."""
    doi = first_doi(text).rstrip(".)]}'").lower()
    return doi + ")" * (doi.count("(") - doi.count(")"))


def is_doi(text: str) -> bool:
    """Whether a text is a DOI, or its address, and nothing more."""
    return _only_doi.fullmatch(text) is not None


def plain_title(text: str) -> str:
    """The letters and digits of a title, without accents and case."""
    plain = text.casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(_word.findall(plain))
