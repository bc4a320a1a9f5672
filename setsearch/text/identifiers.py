"""Identifiers of publications in texts: DOIs, and titles by which copies are known."""

import re
import unicodedata

any_doi = re.compile(r"10\.\d{4,9}/[^\s\"<>,;]+", re.IGNORECASE)
_word = re.compile(r"\w+")
_only_doi = re.compile(r"\s*(?:doi:?\s*|https?://(?:dx\.)?doi\.org/)?10\.\d{4,9}/\S+\s*", re.IGNORECASE)


def plain_doi(text: str) -> str:
    """The DOI in a text, in lower case; empty if there is none."""
    found = any_doi.search(text)
    if found is None:
        return ""
    doi = found[0].rstrip(".)]}'").lower()
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
