"""How well a name or title matches what somebody typed: any case, any part, the words of it, small errors.

SQLite finds the candidates by the patterns here, a page of names by a few runs. rapidfuzz, 12 MB, would take the place
of two functions.
"""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import bincount

WHOLE, BEGINNING, LATER_WORD, ONE_EDIT, INSIDE, WORDS, NEAR_WORDS, SIMILAR = range(8)  # from the best
LEAST_EDITED = 4  # characters of a text: shorter ones are one edit from too many names,
LEAST_SWAPPED = 3  # and yet shorter ones one swap of neighbors
LEAST_SIMILAR = 0.7  # of difflib's ratio
TRIGRAM = 3  # characters
BREAK = "\0"  # between names in one text; none has it
# Of titles in English, German, French, Spanish and Italian; catalogues put them behind what they sort by.
ARTICLES = frozenset("the a an der die das ein eine le la les un une el los las il lo gli".split())
_may_have_accents = re.compile("[aceinosuyz]", re.IGNORECASE)
# On letters of Latin, Greek and Cyrillic.
_marks = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
# Letters of Arabic that keyboards, encodings and habits exchange: forms of alef, of yeh, of kaf, and the last heh.
_EXCHANGED = str.maketrans("أإآٱؤىيئكة", "ااااویییکه")
_LETTER = r"[^\W_]"
_word = re.compile(f"{_LETTER}+")


Total = Callable[[int], int]  # how often a thing is used, by its id
Row = tuple[int, str, str | None]  # id, name and title of a thing


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
    wanted = as_wanted(text)
    words = wanted.split()
    typed = [(as_typed(wanted, own), own) for own in (title, name) if own]
    begin = [one for one in typed if one[0].startswith(wanted)]  # nothing else matches better
    found = [(*_match(wanted, words, own), shown) for own, shown in begin or typed]
    quality, ratio, shown = max(found, key=lambda one: (-one[0], one[1]))
    return Match(quality, ratio, id, name, title, shown) if ratio >= LEAST_SIMILAR else None


def as_wanted(text: str) -> str:
    """A text that is typed, in any case, with one letter of Arabic for those that are exchanged."""
    text = text.casefold()
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_EXCHANGED)


def as_typed(text: str, name: str) -> str:
    """A name likewise; without accents for who types none."""
    name = name.casefold()
    if name.isascii():
        return name
    plain = name if _has_marks(text) else _marks.sub("", unicodedata.normalize("NFKD", name))
    return plain if text.isascii() else as_wanted(plain)


@lru_cache(8)
def _has_marks(text: str) -> bool:
    return not text.isascii() and _marks.search(unicodedata.normalize("NFKD", text)) is not None


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
    has_all = bool(words) and all(word in name for word in words)
    if has_all or _has_near_words(wanted, name):
        return WORDS if has_all else NEAR_WORDS, 1.0
    # A longer name may begin with something similar: a title with a year behind it.
    return SIMILAR, max(_ratio(wanted, candidate) for candidate in {name, name[: len(wanted)]})


def _has_near_words(wanted: str, name: str) -> bool:
    """Whether each word of a text begins a word of a name, or is one edit from one; the longest may be inside one."""
    words = words_of(wanted)
    if not words or len(words[0]) < LEAST_EDITED or not any(part in name for part in _left(words[0])):
        return False
    own = _word.findall(name)
    return all(any(other.startswith(word) or is_one_edit(word, other) for other in own) for word in words)


@lru_cache(8)
def words_of(text: str) -> list[str]:
    """The words of a text, the longest first."""
    return sorted(_word.findall(text), key=len, reverse=True)


@lru_cache(8)
def _left(word: str) -> tuple[str, str, str]:
    """Of which each edit of a word leaves one: its halves, and itself with a swap of the letters between them."""
    half = len(word) // 2
    return word[:half], word[half:], word[: half - 1] + word[half - 1 : half + 1][::-1] + word[half + 1 :]


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

    Of texts of fewer than LEAST_EDITED characters only a swap, of fewer than LEAST_SWAPPED nothing.
    """
    is_short = len(text) < LEAST_EDITED
    if len(text) < LEAST_SWAPPED or abs(len(text) - len(name)) > (not is_short) or text == name:
        return False
    same = next((n for n, (one, other) in enumerate(zip(text, name, strict=False)) if one != other), None)
    if same is None:  # one begins with the other
        return True
    one, other = text[same:], name[same:]
    swapped = one[1::-1] + one[2:] if len(one) > 1 else one
    is_other = one[1:] == other[1:] or one[1:] == other or one == other[1:]
    return swapped == other or (is_other and not is_short)


def one_edit_away(text: str, names: Sequence[str]) -> list[int]:
    """The places of names that are one edit from a text."""
    first, last, swapped = _left(text)
    return [
        place
        for place, name in enumerate(names)
        if (name.startswith(first) or name.endswith(last) or name == swapped) and is_one_edit(text, name)
    ]


def edited(text: str) -> list[str]:
    """Patterns of LIKE of which each name that is one edit from a text meets one: an edit leaves a half as it is.

    So does each name that has accents where the text has none.
    """
    first, last, swapped = _left(text)
    return [like(first) + "%", "%" + like(last), like(swapped), like(_may_have_accents.sub("é", text))]


def trigrams(text: str) -> list[str]:
    """The parts of three characters of a text."""
    return list(dict.fromkeys(text[n : n + TRIGRAM] for n in range(len(text) - TRIGRAM + 1)))


class NamePage:
    """Names, or titles, as a text of breaks and names."""

    def __init__(self, text: str, names: str) -> None:
        self._names = names
        self._typed = as_typed(text, names)  # as long as `names`, counted in breaks
        self._split: list[str] = []

    def with_near_words(self, word: str) -> set[str]:
        """Names that have a word of at least LEAST_EDITED characters inside, or a word that is one edit from it."""
        first, last, swapped = _left(word)
        page, found = self._typed, self._starts(word)
        for one in re.finditer(rf"{first}{_LETTER}*", page):
            if not page[one.start() - 1 : one.start()].isalnum() and is_one_edit(word, one[0]):
                found.append(one.start())
        for left in (last, swapped):  # one pattern for both would take eight times as long
            for end in (one.end() for one in re.finditer(rf"{left}(?!{_LETTER})", page)):
                for start in range(max(end - len(word) - 1, 0), end - len(word) + 2):
                    own = page[start:end]
                    if not page[start - 1 : start].isalnum() and is_one_edit(word, own) and _word.fullmatch(own):
                        found.append(start)
        return self._at(found)

    def trigrams(self, text: str) -> Counter[str]:
        """How many trigrams of a text each name has that has any."""
        shared = Counter[str]()
        for part in trigrams(text):
            shared.update(self._at(self._starts(part)))
        return shared

    def likely(self, wanted: str, parts: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which names have so many letters of a text, in any order, that difflib may find them similar, or a part."""
        codes = np.frombuffer(self._typed.encode("utf-32-le", "surrogatepass"), "<u4")
        numbers = np.cumsum(codes == ord(BREAK))  # of the names
        lengths = bincount(numbers[codes != ord(BREAK)], minlength=numbers[-1] + 1)
        shared = np.zeros(len(lengths))
        for letter, times in _letters(wanted):
            shared += np.minimum(bincount(numbers[codes == ord(letter)], minlength=len(lengths)), times)
        found: npt.NDArray[np.bool_] = 2.0 * shared / (len(wanted) + np.minimum(lengths, len(wanted))) >= LEAST_SIMILAR
        found[numbers[[place for part in parts for place in self._starts(part)]]] = True
        return found

    def _starts(self, part: str) -> list[int]:
        return [one.start() for one in re.finditer(re.escape(part), self._typed)]

    def _at(self, places: Iterable[int]) -> set[str]:
        """The names at places of the page."""
        self._split = self._split or self._names.split(BREAK)
        found, number, last = set[str](), 0, 0
        for place in sorted(places):
            number += self._typed.count(BREAK, last, place)
            found.add(self._split[number])
            last = place
        return found


def likely(text: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that a text may `match`: of many, which would be compared one after another, few are left.

    Their names or titles have as many letters of the text, in any order, as similar ones have, or a part of its longest
    word that each name with near words has.
    """
    wanted = as_wanted(text)
    if not rows or not wanted.strip():
        return [*rows]
    longest, *_ = words_of(wanted) or wanted.split()
    page = NamePage(text, BREAK.join([own or "" for _, *both in rows for own in both]))
    found = page.likely(wanted, _left(longest) if len(longest) >= LEAST_EDITED else [longest])
    return [rows[place] for place in np.flatnonzero(found[::2] | found[1::2]).tolist()]


def spellings(text: str) -> list[str]:
    """A text in the cases that names are written in; SQLite knows the cases of ASCII only."""
    return list(dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title())))


def cases(text: str) -> list[str]:
    """A short text with each letter in both cases."""
    both = ((character, character.lower(), character.upper()) for character in text)
    return list(dict.fromkeys(map("".join, product(*map(dict.fromkeys, both)))))


def with_article_moved(text: str) -> str | None:
    """A title with its article at the other end, as catalogues have it: The Matrix, and Matrix, The; None without."""
    title, mark, rest = text.partition(" (")
    first, _, others = title.partition(" ")
    begin, _, last = title.rpartition(", ")
    if first.casefold() in ARTICLES and others:
        return f"{others}, {first}{mark}{rest}"
    return f"{last} {begin}{mark}{rest}" if last.casefold() in ARTICLES and begin else None


def without_parenthesis(text: str) -> str | None:
    """A title without what stands in a parenthesis at its end, as a year does; None if none does."""
    title, mark, rest = text.rstrip().rpartition(" (")
    return title.rstrip() if mark and title.strip() and rest.endswith(")") else None


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
