"""Names as people type and paste them: known ones, lists, texts as examples, and unknown ones with suggestions."""

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

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
    unknown: list[dict[str, Any]] = []

    def _find(names: Sequence[str]) -> list[str]:
        found = []
        for name in names:
            several = _few(typed_list(reading, name)) if _has_words(reading) else [name]
            if len(several) > 1 and all(_is_known(reading, part) for part in several):
                found += _find(several)  # not the phrase of these words
                continue
            try:
                found.append(find_spelled(reading, name))
            except AmbiguousItem as error:
                unknown.append({"name": name, "problem": as_on_tabs(str(error).partition(";")[0]), "several": True})
            except UnknownItem as error:
                several, problem = _few(typed_list(reading, name)), as_on_tabs(str(error).rpartition(";")[0])
                words = name.split()
                if several == [name] and len(words) > 1 and all(_is_known(reading, part) for part in words):
                    several = words
                if several and several != [name]:
                    found += _find(several)
                else:
                    unknown.append({"name": name, "problem": problem, "several": False})
        return list(dict.fromkeys(found))

    texts = [name for name in asked.seeds if _is_text(reading, name)]
    seeds = _few(_find([name for name in asked.seeds if name not in texts]))
    rejected = _few([name for name in _find(asked.rejected) if name not in seeds])
    like = tuple(dict.fromkeys((*asked.like, *texts)))
    for own in unknown[:MOST_HINTS]:
        own["alike"] = reading.find_names(own["name"], HINTS)
        words = len(own["name"].split()) if reading.kind == "documents" and not own["several"] else 0
        if words >= FEWEST_OF_TEXT and not own["alike"] and own["name"] in asked.seeds:
            like = (*like, own["name"])
    unknown = [own for own in unknown if own["name"] not in like]
    address = asked.replace(seeds=tuple(seeds), rejected=tuple(rejected), like=like)
    for own in unknown:
        alike = own.pop("alike", [])
        shown = {found.item: found.item if own["several"] else found.title or found.item for found in alike}
        own["near"] = [(label, address.accept(item)) for item, label in shown.items()]
        may_be_text = reading.kind == "documents" and not own["several"]  # a few words, or a text without blanks
        own["like"] = address.replace(like=(*address.like, own["name"])) if may_be_text else None
    return address, unknown


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
