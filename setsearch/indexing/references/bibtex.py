"""BibTeX: entries with their fields as they stand, macros resolved."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setsearch.indexing.libraries import load_library
from setsearch.indexing.references.reference import Reference, without_braces
from setsearch.indexing.references.tags import BIBTEX

_ESCAPED = {letter: f"\\{letter}" for letter in "%&#$_{}"}
_ESCAPED |= {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
_PART = r'"[^"]*"|\{[^{}]*\}|[^\s#"{}]+'
_part = re.compile(_PART)
_comment = re.compile(r"\s*@comment\b", re.IGNORECASE)
_several = re.compile(rf"\s*(?:{_PART})(?:\s*#\s*(?:{_PART}))+\s*")
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())  # what it would print, an error tells


def read_bibtex(text: str) -> Iterator[Reference]:
    """The entries of a text, also those of one key. Raises ValueError after them, if one is broken."""
    parser = load_library("bibtexparser", "BibTeX files", "references")
    resolve = parser.middlewares.ResolveStringReferencesMiddleware(allow_inplace_modification=True)
    library = parser.parse_string(text, parse_stack=[resolve])
    blocks = [*library.entries, *(block.ignore_error_block for block in library.failed_blocks)]
    entries = [block for block in blocks if isinstance(block, parser.model.Entry)]
    for entry in sorted(entries, key=lambda entry: entry.start_line or 0):
        fields = tuple((str(field.key), _joined(str(field.value), library.strings_dict)) for field in entry.fields)
        yield Reference(BIBTEX, fields, str(entry.entry_type), str(entry.key), (entry.start_line or 0) + 1)
    failed = (block for block in library.failed_blocks if block.ignore_error_block is None)
    # Groups of JabRef are a comment, with braces as people name them.
    broken = [str(block.start_line + 1) for block in failed if not _comment.match(block.raw or "")]
    if len(broken) > 1:
        raise ValueError(f"{len(broken):,} entries are broken: those that begin in lines {', '.join(broken)}")
    if broken:
        raise ValueError(f"the entry that begins in line {broken[0]} is broken")


def _joined(value: str, macros: Mapping[str, Any]) -> str:
    """A value of several parts, which # joins, as one; of an entry whose key came before, macros are not resolved."""
    if value in macros:
        return str(macros[value].value)
    if not _several.fullmatch(value):
        return value
    parts = [str(macros[part].value) if part in macros else part for part in _part.findall(value)]
    return "{" + "".join(without_braces(part) for part in parts) + "}"


def write_bibtex(references: Iterable[Reference]) -> str:
    """Entries as a file. Of equal keys, all but the first get a number."""
    parts, times = [], Counter[str]()
    for reference in references:
        times[reference.key] += 1
        key = reference.key if times[reference.key] == 1 else f"{reference.key}-{times[reference.key]}"
        fields = "".join(f"  {name} = {value},\n" for name, value in reference.fields)
        parts.append(f"@{reference.kind}{{{key},\n{fields}}}\n\n")
    return "".join(parts)


def bibtex_value(text: str) -> str:
    """A text as a value."""
    return "{" + "".join(_ESCAPED.get(letter, letter) for letter in text) + "}"
