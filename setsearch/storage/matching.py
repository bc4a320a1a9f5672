"""How well a name or title matches what somebody typed: any case, any part, the words of it, small errors.

SQLite finds the candidates by the patterns here. rapidfuzz, 12 MB, would take the place of two functions.
"""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

WHOLE, BEGINNING, LATER_WORD, ONE_EDIT, INSIDE, WORDS, SIMILAR = range(7)  # from the best
LEAST_EDITED = 4  # characters of a text: shorter ones are one edit from too many names
LEAST_SIMILAR = 0.7  # of difflib's ratio
TRIGRAM = 3  # characters
LONGEST_SHOWN = 80  # characters of a text in a message
_may_have_accents = re.compile("[aceinosuyz]", re.IGNORECASE)


Total = Callable[[int], int]  # how often a thing is used, by its id


def no_total(_: int) -> int:
    """None: all are used alike."""
    return 0


class Match(NamedTuple):
    """A thing that matches: `shown` is its name or title, whichever matches better; `ratio` is 1 but for SIMILAR."""

    quality: int
    ratio: float
    id: int
    name: str
    title: str | None
    shown: str

    @property
    def order(self) -> tuple[int, float]:
        """The best match first."""
        return self.quality, -self.ratio


def match(text: str, id: int, name: str, title: str | None) -> Match | None:
    """How a name or its title matches; None if it does not."""
    wanted = text.casefold()
    words = wanted.split()
    found = [(*_match(wanted, words, as_typed(wanted, own)), own) for own in (title, name) if own]
    quality, ratio, shown = max(found, key=lambda one: (-one[0], one[1]))
    return Match(quality, ratio, id, name, title, shown) if ratio >= LEAST_SIMILAR else None


def as_typed(text: str, name: str) -> str:
    """A name in any case; without accents for who types none."""
    name = name.casefold()
    if name.isascii() or not text.isascii():
        return name
    return "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))


def _match(wanted: str, words: Sequence[str], name: str) -> tuple[int, float]:
    place = name.find(wanted)
    if place == 0:
        return WHOLE if name == wanted else BEGINNING, 1.0
    later = range(place, len(name)) if place > 0 else ()
    if any(not name[at - 1].isalnum() for at in later if name.startswith(wanted, at)):
        return LATER_WORD, 1.0
    if is_one_edit(wanted, name):
        return ONE_EDIT, 1.0
    if place > 0:
        return INSIDE, 1.0
    if words and all(word in name for word in words):
        return WORDS, 1.0
    # A longer name may begin with something similar: a title with a year behind it.
    return SIMILAR, max(_ratio(wanted, candidate) for candidate in {name, name[: len(wanted)]})


def _ratio(wanted: str, name: str) -> float:
    """The ratio of difflib; 0 if the letters that both have, in any order, are too few for it."""
    length, shared = len(wanted) + len(name), 0
    if 2.0 * min(len(wanted), len(name)) / length < LEAST_SIMILAR:
        return 0.0
    for letter, times in _letters(wanted):
        count = name.count(letter)
        shared += count if count < times else times
    if 2.0 * shared / length < LEAST_SIMILAR:
        return 0.0
    return difflib.SequenceMatcher(None, name, wanted).ratio()


@lru_cache(8)
def _letters(text: str) -> list[tuple[str, int]]:
    return [*Counter(text).items()]


def is_one_edit(text: str, name: str) -> bool:
    """Whether one insertion, deletion or substitution of a character, or swap of neighbors, makes a text a name.

    False for texts of fewer than LEAST_EDITED characters.
    """
    if len(text) < LEAST_EDITED or abs(len(text) - len(name)) > 1 or text == name:
        return False
    same = next((n for n, (one, other) in enumerate(zip(text, name, strict=False)) if one != other), None)
    if same is None:  # one begins with the other
        return True
    one, other = text[same:], name[same:]
    swapped = one[1::-1] + one[2:] if len(one) > 1 else one
    return one[1:] == other[1:] or one[1:] == other or one == other[1:] or swapped == other


def edited(text: str) -> list[str]:
    """Patterns of LIKE of which each name that is one edit from a text meets one: an edit leaves a half as it is.

    So does each name that has accents where the text has none.
    """
    half = len(text) // 2
    swapped = text[: half - 1] + text[half - 1 : half + 1][::-1] + text[half + 1 :]
    accented = like(_may_have_accents.sub("é", text))
    return [like(text[:half]) + "%", "%" + like(text[half:]), like(swapped), accented]


def trigrams(text: str) -> list[str]:
    """The parts of three characters of a text."""
    return list(dict.fromkeys(text[n : n + TRIGRAM] for n in range(len(text) - TRIGRAM + 1)))


def spellings(text: str) -> list[str]:
    """A text in the cases that names are written in; SQLite knows the cases of ASCII only."""
    return list(dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title())))


def cases(text: str) -> list[str]:
    """A short text with each letter in both cases."""
    spelled = [""]
    for character in text:
        both = dict.fromkeys((character, character.lower(), character.upper()))
        spelled = [start + own for start in spelled for own in both]
    return list(dict.fromkeys(spelled))


def like(text: str) -> str:
    """A pattern of LIKE for a text in any case, and for others: SQLite knows the cases of ASCII only."""
    return "".join(character if character.isascii() else "_" for character in _escaped(text))


def anywhere(text: str) -> str:
    """A pattern of LIKE for a text anywhere."""
    return f"%{_escaped(text)}%"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def best_matches(matches: Iterable[Match | None], total: Total = no_total) -> list[Match]:
    """The matches, the best first, equal ones by the total of their id, then by name."""
    return sorted((one for one in matches if one is not None), key=lambda one: (*one.order, -total(one.id), one.name))


def shown(text: str) -> str:
    """A text of a caller as messages show it."""
    return repr(text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…")
