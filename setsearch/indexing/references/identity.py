"""Which references are the same: by DOI, then by the number in PubMed, then by title and year.

A reference is an item by its DOI, else its number in PubMed, else its own key; what one copy lacks, others give.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from setsearch.indexing.references.reference import DOI, PMID, Reference
from setsearch.text.identifiers import plain_title

SURE = (DOI, PMID)
ALIKE = 0.5  # of the words of the shorter abstract, those that copies share
_no_author = re.compile(r"\W*(?:no author.*|anon(?:ymous)?|n/?a)\W*", re.IGNORECASE)
_OF_JOURNALS = {"the", "of", "and", "jou", "j", "for", "in"}


class Copy(NamedTuple):
    """A reference where it was found: the id of the file, and its number in it."""

    reference: Reference
    file: str
    number: int

    @property
    def place(self) -> str:
        """The file and the key in it."""
        return f"{self.file}#{self.reference.own_key}" if self.reference.own_key else f"{self.file}#{self.number}"

    @property
    def position(self) -> str:
        """The file and the line, or the number in it, for people."""
        own = self.reference.line
        return f"{self.file}, line {own}" if own else f"{self.file}, record {self.number}"


@dataclass
class Filed:
    """What became of the references of a call.

    `merged`: the files of those that came several times, by name; `older`: those with names of an earlier version;
    `bare`: those without an abstract.
    """

    merged: dict[str, list[str]] = field(default_factory=dict)
    older: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)


FieldsOf = Callable[[str, Mapping[str, Any]], Mapping[str, float | list[str]]]  # by the name of an item, and columns


class Group(NamedTuple):
    """All copies of one reference in a call; its columns to keep, and its fields; where to tell what became of it."""

    copies: list[Copy]
    keep: tuple[str, ...] = ()
    fields: FieldsOf | None = None
    filed: Filed = Filed()  # of nobody


def name_others(one: Reference, other: Reference) -> bool:
    """Whether references have other DOIs, or other numbers in PubMed."""
    return any(own and others and own != others for own, others in ((one.doi, other.doi), (one.pmid, other.pmid)))


def contradict(one: Reference, other: Reference) -> bool:
    """Whether references of one title and year are two: other DOIs, numbers in PubMed, authors, journals, or abstracts.

    "Editorial" of one year is the title of many.
    """
    authors = {_surname(one), _surname(other)} - {""}
    if name_others(one, other) or len(authors) > 1:
        return True
    journals = [{word[:3] for word in plain_title(own.first("journal")).split()} - _OF_JOURNALS for own in (one, other)]
    texts = [set(plain_title(own.first("abstract")).split()) for own in (one, other)]
    return (all(journals) and not journals[0] & journals[1]) or (
        all(texts) and len(texts[0] & texts[1]) < ALIKE * min(map(len, texts))
    )


def _surname(reference: Reference) -> str:
    """The longest word of the name of the first author: given names are often initials."""
    name = next((own for own in reference.values("author") if not _no_author.fullmatch(own)), "")
    words = plain_title(name.split(",")[0] if "," in name else name).split()
    return max(words, key=len, default="")


def group_copies(copies: Iterable[Copy]) -> list[Group]:
    """The references of a call, each with all its copies, in the order of the first ones."""
    groups: list[list[Copy]] = []
    known: dict[tuple[str, str], list[int]] = {}
    moved: dict[int, int] = {}
    for copy in copies:
        names = copy.reference.identities
        same = _same_groups(copy, names, groups, known, moved)
        if same:
            own = same[0]
            for other in same[1:]:
                groups[own] += groups[other]
                groups[other], moved[other] = [], own
            groups[own].append(copy)
        else:
            own = len(groups)
            groups.append([copy])
        for name in names:
            known.setdefault(name, []).append(own)
        copy.reference.forget()  # the copies of all files are in memory together
    return [Group(own) for own in groups if own]


def _same_groups(
    copy: Copy,
    names: Sequence[tuple[str, str]],
    groups: Sequence[list[Copy]],
    known: dict[tuple[str, str], list[int]],
    moved: dict[int, int],
) -> list[int]:
    """The groups of a copy, the surest first: several if it has the names of several."""
    same: dict[int, None] = {}
    for kind, name in names:
        for first in known.get((kind, name), ()):
            number = first
            while number in moved:
                number = moved[number]
            is_same = kind in SURE or not (
                same or any(contradict(copy.reference, other.reference) for other in groups[number])
            )
            if is_same:
                same[number] = None
    return sorted(same)
