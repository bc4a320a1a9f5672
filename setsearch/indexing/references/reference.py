"""A reference: the record as it came, and what its fields say in any form (tags.py)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import Any

from setsearch.indexing.references.tags import BIBTEX, FORMS, PUBMED, REFER, RIS, TABLE, TAGS, WOS, plain_tag
from setsearch.text.identifiers import first_doi, is_doi, plain_doi, plain_title
from setsearch.text.latex import latex_text

DOI, PMID, TITLE, KEY, PLACE = "doi", "pmid", "title", "key", "place"  # kinds of names
TEXTS = ("title", "other_title", "abstract", "other_abstract", "keyword")
SEVERAL = ("author", "keyword", "address", "genre")  # roles whose values are many
OURS = "setsearch: "  # how keywords begin by which an export of a review tells what was decided
_pmid = re.compile(
    r"(?:(?:(?:PubMed )?PMID|PubMed):?\s*|.*\bpubmed(?:\.ncbi\.nlm\.nih\.gov)?/)(\d{4,9})\b", re.IGNORECASE
)
_inline_tag = re.compile(r"</?(?:jats:)?(?:i|b|u|em|strong|italic|bold|sub|sup|sc|span)\b[^<>]{0,200}>", re.IGNORECASE)
_block_tag = re.compile(r"</?(?:p|br|div|sec|title|h[1-6]|[uo]l|li|(?:jats|mml):[\w-]+)\b[^<>]{0,200}>", re.IGNORECASE)
_no_abstract = re.compile(
    r"\W*(?:(?:no|without) abstract(?: available)?|abstract not available|n/?a|none"
    r"|publisher: abstract available from the publisher)?\W*",
    re.IGNORECASE,
)
_year = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_medline = re.compile(r"medline|pubmed", re.IGNORECASE)
_short_name = re.compile(r"[^,;]+ [A-Z-]{1,5}\.?")  # a surname and initials


@dataclass(frozen=True)
class Reference:
    """A record: its form, and its fields as they came, in their order; a value of several lines has line ends.

    Of BibTeX, `kind` is the type of the entry and `key` its key, and values have their braces.
    """

    form: str
    fields: tuple[tuple[str, str], ...]
    kind: str = ""
    key: str = ""
    line: int = field(default=0, compare=False)  # of its file where it begins; 0 if that is not known
    is_cut: bool = field(default=False, compare=False)  # the file ends within it
    _known: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def values(self, role: str) -> list[str]:
        """What the fields of a role say, in plain text."""
        if role not in self._known:
            self._known[role] = self._values(role)
        return self._known[role]

    def forget(self) -> None:
        """Free what was told of the fields; only the names of the record are kept. It is told again when asked for."""
        self._known.clear()
        self.__dict__.pop("_by_tag", None)

    def _values(self, role: str) -> list[str]:
        names, has_all = TAGS[self.form].get(role, ((), False))
        found: dict[str, None] = {}
        for name in names:
            if name in self._by_tag:
                own = [part for value in self._by_tag[name] for part in self._plain(role, value) if part]
                if own and not has_all:
                    return own
                found.update(dict.fromkeys(own))
        return list(found)

    def first(self, role: str) -> str:
        """The first value of a role; empty if there is none."""
        return next(iter(self.values(role)), "")

    def text(self) -> str:
        """What is indexed: titles, abstracts, keywords."""
        lines = ["\n".join(self.values(role)) for role in TEXTS if role not in SEVERAL]
        return "\n".join(filter(None, [*lines, " ; ".join(self.keywords)]))

    @property
    def keywords(self) -> list[str]:
        """What the record is about: its keywords without those of a review."""
        return [own for own in self.values("keyword") if not own.startswith(OURS)]

    @cached_property
    def _by_tag(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        plain = plain_tag(self.form)
        for tag, value in self.fields:
            found.setdefault(plain(tag), []).append(value)
        return found

    @cached_property
    def doi(self) -> str:
        """The DOI, in lower case, without an address."""
        notes = [note for note in self._notes() if is_doi(note)]
        return next(filter(None, map(plain_doi, [*self.values("doi"), *self.values("url"), *notes])), "")

    @cached_property
    def pmid(self) -> str:
        """The number of the record in PubMed."""
        named = self.first("pmid")
        if named.strip().isdecimal():
            return named.strip().lstrip("0")
        tags = {RIS: ("DB", "AN"), REFER: ("~", "M")}.get(self.form, ())
        base, number = ("".join(self._by_tag.get(tag, ())).strip() for tag in tags) if tags else ("", "")
        if number.isdecimal() and _medline.search(base):
            return number.lstrip("0")
        found = (_pmid.match(value) for value in [named, *self.values("url"), *self._notes()])
        return next((match[1].lstrip("0") for match in found if match), "")

    @cached_property
    def year(self) -> str:
        """The year, four digits."""
        return next((match[1] for value in self.values("year") if (match := _year.search(value))), "")

    @cached_property
    def identities(self) -> list[tuple[str, str]]:
        """(kind, name) by which copies are known: DOI, number in PubMed, title and year."""
        title = plain_title(self.first("title"))
        names = [(DOI, self.doi), (PMID, self.pmid), (TITLE, f"{title} {self.year}" if title and self.year else "")]
        return [(kind, name) for kind, name in names if name]

    @cached_property
    def own_key(self) -> str:
        """The key that the record has in its file."""
        return self.key or self.first("key")

    @property
    def pages(self) -> tuple[str, str]:
        """The first and the last page."""
        first, last = self.first("first_page"), self.first("last_page")
        if not last and (cut := re.fullmatch(r"([^\s-]+)\s*[-\u2013]+\s*([^\s-]+)", first)):
            first, last = cut[1], cut[2]
        is_short = first.isdecimal() and last.isdecimal() and len(last) < len(first)
        return first, first[: len(first) - len(last)] + last if is_short else last

    def _notes(self) -> Iterator[str]:
        """The lines of fields in which some exporters hide names."""
        named = {RIS: "M1 M3 N1 C2 C3 AN L2", BIBTEX: "note", REFER: "Z", TABLE: "extra linkattachments"}
        names = named.get(self.form, "").split()
        values = (
            bibtex_plain(value) if self.form == BIBTEX else value
            for tag in names
            for value in self._by_tag.get(tag, ())
        )
        return (line.strip() for value in values for line in value.splitlines())

    def _plain(self, role: str, value: str) -> Iterator[str]:
        """A value as its role has it: one name, one keyword, one title a piece."""
        if self.form == BIBTEX:
            value = bibtex_plain(value)
        is_line = self.form in (RIS, REFER) or (self.form == WOS and role in ("author", "address"))
        ends_value = "\n" if is_line else "\0"
        if role == "keyword":
            commas = ",;" if self.form in (BIBTEX, TABLE) and ";" not in value else ";"
            yield from (" ".join(part.split()) for part in re.split(f"[{commas}{ends_value}]", value))
        elif role == "address" or (role == "genre" and self.form == WOS):
            yield from (" ".join(part.split()) for part in value.split(ends_value if role == "address" else ";"))
        elif role == "author":
            parts = re.split(r"\s+and\s+", value) if self.form == BIBTEX else value.split(ends_value)
            parts = _names_of_cell(value) if self.form == TABLE else parts
            yield from (" ".join(part.split()).rstrip(",") for part in parts)
        elif role == "doi":
            yield first_doi(value) if self.form != PUBMED or "pii" not in value or "doi" in value else ""
        elif role in TEXTS[2:4] and _no_abstract.fullmatch(value):
            return
        else:
            yield " ".join((_without_tags(value) if role in TEXTS else value).split())


def _names_of_cell(value: str) -> list[str]:
    """The names in a cell of a table: Doe, J; Roe, R | Doe, Jane and Roe, Richard | Doe J, Roe R."""
    if ";" in value or "\n" in value:
        return re.split("[;\n]", value)
    if " and " in value:
        return value.split(" and ")
    names = [name.strip() for name in value.rstrip(". ").split(",")]
    return names if all(map(_short_name.fullmatch, names)) else [value]


def _without_tags(text: str) -> str:
    """A title or an abstract without the tags of HTML and JATS that Crossref and others leave in it."""
    if "<" in text:
        text = _block_tag.sub(" ", _inline_tag.sub("", text))
    return unescape(text) if "&" in text else text


def without_braces(value: str) -> str:
    """A value of BibTeX without what encloses it."""
    return value[1:-1] if value[:1] + value[-1:] in ("{}", '""') else value


def bibtex_plain(value: str) -> str:
    """The text of a value of BibTeX; without the library that reads LaTeX, without braces."""
    inner = without_braces(value)
    try:
        return latex_text(inner)
    except ImportError:
        return inner.replace("{", "").replace("}", "")


def as_json(reference: Reference) -> list[Any]:
    """A reference as it is stored."""
    return [reference.form, reference.fields, reference.kind, reference.key]


def from_json(stored: Sequence[Any]) -> Reference:
    """The inverse of `as_json`; raises ValueError."""
    form, fields, kind, key = stored
    if form not in FORMS or not all(isinstance(part, str) for part in (kind, key)):
        raise ValueError(f"unknown form of a reference: {form!r:.40}")
    return Reference(form, tuple((str(tag), str(value)) for tag, value in fields), kind, key)
