"""How many columns of a terminal texts take, and where they can be cut: wide letters take two, marks on others none."""

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import category, east_asian_width

NO_WIDTH = ("Mn", "Me", "Cf")  # kinds of characters
ON_OTHERS = (*NO_WIDTH, "Mc")  # that stand with the letter before
JOINER = "\u200d"  # what follows is a part of the same letter, as in emoji
TWO = ("W", "F")  # kinds of wide letters


def width_of(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if category(own) in NO_WIDTH else 1 + (east_asian_width(own) in TWO) for own in text)


def letters_of(text: str) -> list[str]:
    """The letters of a text, each with the marks on it."""
    starts = [place for place, own in enumerate(text) if not place or not _goes_on(own, text[place - 1])]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _goes_on(own: str, before: str) -> bool:
    """Whether a character is a part of the letter before it."""
    return not own.isascii() and (before == JOINER or category(own) in ON_OTHERS)


def fitted(text: str, columns: int) -> str:
    """A text of at most so many columns, the last of which says that it goes on."""
    if width_of(text) <= columns:
        return text
    _, begin = next(wrapped(text.replace(" ", "\0"), columns - 1))  # cut between any letters
    return text[: len(begin)] + "…"


def wrapped(text: str, columns: int) -> Iterator[tuple[int, str]]:
    """The lines of a text, cut at blanks, or else between letters, each with its place."""
    start = blank = place = used = 0
    for letter in letters_of(text):
        own = width_of(letter)
        if used + own > columns and place > start:
            end, has_blank = (blank, True) if blank > start else (place, letter == " ")
            yield start, text[start:end]
            start = end + has_blank
            used = width_of(text[start:place])
        if letter == " ":
            blank = place
        used += own * (place >= start)
        place += len(letter)
    yield start, text[start:]


def in_cells(text: str) -> list[str]:
    """A text, a cell a column: behind a wide letter is an empty one."""
    return [cell for letter in letters_of(text) for cell in (letter, *[""] * (width_of(letter) - 1))]
