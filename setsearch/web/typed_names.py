"""Names as people type and paste them: known ones, lists, texts as examples, and unknown ones with suggestions."""

import csv
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from setsearch.answers.results import Found
from setsearch.answers.saved.groups import unknown_set
from setsearch.answers.saved.item_sets import AnyReading, ItemSet
from setsearch.errors import HINTS, AmbiguousItem, UnknownItem, UnknownSet, UsageError
from setsearch.index import Index
from setsearch.storage.ids import plain_name
from setsearch.web.page_state import MOST_NAMES, Address

WORDS_OF_TEXT = 4  # from which on what is typed may be a text
FEWEST_OF_TEXT = 3  # the same, where no name is like it
MOST_HINTS = 3  # unknown names with suggestions, each of which takes a scan
MOST_COMMAS = 8  # of a title in a list without quotes
QUOTED = re.compile('"[^"]*"')
_terms = re.compile(r"(?<![\w'/`])terms(?![\w'/`])")
SEPARATORS = "\t;,"  # of names in a line; what stands first may have the others within names


def typed_list(reading: AnyReading, typed: str) -> list[str]:
    """The names in what was typed or pasted: a line each, or cells of a line, which quotes keep together.

    Cells without quotes are a name together if the index has it: titles have commas.
    """
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) != 1:
        return lines
    unquoted = QUOTED.sub("", lines[0])
    separator = next((own for own in SEPARATORS if own in unquoted), ",")
    (cells,) = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    cells = [cell.strip() for cell in cells if cell.strip()]
    if separator != "," or _has_words(reading) or len(cells) > MOST_NAMES:
        return cells
    names = []
    while cells:
        parts = (cells[:count] for count in range(min(MOST_COMMAS + 1, len(cells)), 1, -1))
        name = next((own for own in parts if _is_known(reading, ", ".join(own))), cells[:1])
        names.append(", ".join(name))
        del cells[: len(name)]
    return names


def find_typed(reading: AnyReading, asked: Address) -> tuple[Address, list[dict[str, Any]]]:
    """The state with known names, and the unknown names with suggestions."""
    unknown = list[_Unknown]()
    texts = [name for name in asked.seeds if _is_text(reading, name)]
    seeds = _few(_known(reading, [name for name in asked.seeds if name not in texts], unknown))
    rejected = _few([name for name in _known(reading, asked.rejected, unknown) if name not in seeds])
    alike = {own.name: reading.find_names(own.name, HINTS) for own in unknown[:MOST_HINTS]}
    meant = (own for own in unknown[:MOST_HINTS] if own.name in asked.seeds and not alike[own.name])
    texts += [own.name for own in meant if own.may_be_text(reading) and len(own.name.split()) >= FEWEST_OF_TEXT]
    like = tuple(dict.fromkeys((*asked.like, *texts)))
    address = asked.replace(seeds=tuple(seeds), rejected=tuple(rejected), like=like)
    return address, [
        own.suggested(reading, address, alike.get(own.name, ())) for own in unknown if own.name not in like
    ]


class _Unknown(NamedTuple):
    """A name that is none, or that of `several` items, and what is told of it."""

    name: str
    problem: str
    several: bool = False

    def may_be_text(self, reading: AnyReading) -> bool:
        """Whether it can be a text as an example: a few words, or a text without blanks."""
        return reading.kind == "documents" and not self.several

    def suggested(self, reading: AnyReading, address: Address, alike: Iterable[Found]) -> dict[str, Any]:
        """With the pages of what may be meant."""
        shown = {found.item: found.item if self.several else found.title or found.item for found in alike}
        near = [(label, address.accept(item)) for item, label in shown.items()]
        like = address.replace(like=(*address.like, self.name)) if self.may_be_text(reading) else None
        return {**self._asdict(), "near": near, "like": like}


def _known(reading: AnyReading, names: Sequence[str], unknown: list[_Unknown]) -> list[str]:
    """What names are called in the index, also those of a list; adds those that are none to `unknown`."""
    found = list[str]()
    for name in names:
        parts = _few(typed_list(reading, name)) if _has_words(reading) else [name]
        if len(parts) > 1 and all(_is_known(reading, part) for part in parts):
            found += _known(reading, parts, unknown)  # not the phrase of these words
            continue
        try:
            found.append(find_spelled(reading, name))
        except AmbiguousItem as error:
            unknown.append(_Unknown(name, as_on_tabs(str(error).partition(";")[0]), several=True))
        except UnknownItem as error:
            if (parts := _parts(reading, name)) != [name]:
                found += _known(reading, parts, unknown)
            else:
                unknown.append(_Unknown(name, as_on_tabs(str(error).rpartition(";")[0])))
    return list(dict.fromkeys(found))


def _parts(reading: AnyReading, name: str) -> list[str]:
    """The names in one that is none: of a list, or words that are all known; itself without any."""
    parts, words = _few(typed_list(reading, name)), name.split()
    if parts == [name] and len(words) > 1 and all(_is_known(reading, word) for word in words):
        return words
    return parts or [name]


def _is_text(reading: AnyReading, name: str) -> bool:
    """Whether what was typed is a text as an example, not the name of a document or several of them."""
    if reading.kind != "documents" or len(name.split()) < WORDS_OF_TEXT:
        return False
    return not any(_is_known(reading, own) for own in [name, *typed_list(reading, name)[:MOST_NAMES]])


def _few(names: list[str]) -> list[str]:
    """Names that fit on a page: one with more would have links that are refused. Raises UsageError."""
    if len(names) > MOST_NAMES:
        raise UsageError(f"at most {MOST_NAMES} names fit on a page, not {len(names):,}; the API takes more")
    return names


def _has_words(reading: AnyReading) -> bool:
    return plain_name(reading.name) == "terms"


def _is_known(reading: AnyReading, name: str) -> bool:
    try:
        find_spelled(reading, name)
    except (UnknownItem, AmbiguousItem) as error:
        return isinstance(error, AmbiguousItem)
    return True


def saved_set(index: Index, name: str) -> ItemSet:
    """A saved set; raises UnknownSet."""
    known = index.sets()
    if name not in known:
        raise UnknownSet(f"no set {name!r}; it may have been deleted meanwhile") if name else unknown_set(name, known)
    return index.set(name)


def find_spelled(reading: AnyReading, name: str) -> str:
    """A name as the index has it: as given, with line ends as forms send them, or without blanks around it."""
    spellings = dict.fromkeys((name, name.replace("\r\n", "\n"), name.strip()))
    for spelling in list(spellings)[:-1]:
        with suppress(UnknownItem, AmbiguousItem):
            return str(reading.find(spelling, hint=False))
    return str(reading.find([*spellings][-1], hint=False))


def without_commands(problem: str) -> str:
    """A message without its way out by the command line, which a reader of a page does not have."""
    kept = [part.removeprefix("or ") for part in problem.split("; ") if "`" not in part and "setsearch " not in part]
    return as_on_tabs("; ".join(kept)) or "that has no answer"


def as_on_tabs(problem: str) -> str:
    """A message with the name that words have on their tab; what is in quotes, or a part of a name, stays."""
    return _terms.sub("words", problem)
