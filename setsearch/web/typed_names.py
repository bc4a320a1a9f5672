"""Names as people type them: known ones, lists, texts as examples, and unknown ones with suggestions."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from setsearch.answers.saved.groups import unknown_set
from setsearch.answers.sets import AnyReading, ItemSet
from setsearch.errors import HINTS, AmbiguousItem, UnknownItem, UnknownSet, UsageError
from setsearch.index import Index
from setsearch.web.page_state import MOST_NAMES, Address

WORDS_OF_TEXT = 4  # from which on what is typed may be a text
FEWEST_OF_TEXT = 3  # the same, where no name is like it
MOST_HINTS = 3  # unknown names with suggestions, each of which takes a scan


def find_typed(reading: AnyReading, asked: Address) -> tuple[Address, list[dict[str, Any]]]:
    """The state with known names, and the unknown names with suggestions."""
    unknown: list[dict[str, Any]] = []

    def _find(names: Sequence[str]) -> list[str]:
        found = []
        for name in names:
            try:
                found.append(find_spelled(reading, name))
            except AmbiguousItem as error:
                unknown.append({"name": name, "problem": str(error).partition(";")[0], "several": True})
            except UnknownItem as error:
                several = list(dict.fromkeys(part.strip() for part in name.replace("\n", ",").split(",")))
                several = [part for part in several if part]
                if len(several) == 1 and all(_is_known(reading, part) for part in name.split()):
                    several = name.split()
                if len(several) > MOST_NAMES:
                    raise UsageError(
                        f"at most {MOST_NAMES} names fit on a page, not {len(several):,}; the API takes more"
                    ) from error
                if len(several) > 1:  # a pasted list
                    found += _find(several)
                else:
                    unknown.append({"name": name, "problem": str(error).partition(";")[0], "several": False})
        return list(dict.fromkeys(found))

    texts = [name for name in asked.seeds if _is_text(reading, name)]
    seeds = _find([name for name in asked.seeds if name not in texts])
    rejected = [name for name in _find(asked.rejected) if name not in seeds]
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
    names = [name, *(part.strip() for part in name.replace("\n", ",").split(","))]
    return not any(_is_known(reading, own) for own in names if own)


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
    kept = [part for part in problem.split("; ") if "`" not in part and "setsearch " not in part]
    return "; ".join(kept) or "that has no answer"
