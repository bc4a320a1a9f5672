"""The letters of a text as words have them: one form of each, in lower case.

`normalize` is what versions before 0.22 did: NFC. `fold` makes one word of what people type as one: ligatures and wide
letters (NFKC), without the points of Hebrew and Arabic; and a dotted I is an i.
"""

import re
import unicodedata

# Points and stress marks of Hebrew, vowels and recitation marks of Arabic, and the line that stretches Arabic words.
_points = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
# NFKC would make words of these: accents that stand alone, fractions behind a number, marks of trade.
_apart = re.compile(
    "[\u00a8\u00af\u00b8\u02d8-\u02dd\u037a\u0384\u0385\u1fbd-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed-\u1fef\u1ffd\u1ffe\u2120\u2122\u2139]\ufe0f?"
)
_AM = {"\u0e4d\u0e32": "\u0e33", "\u0ecd\u0eb2": "\u0eb3"}  # vowels of Thai and Lao, which NFKC takes apart
_fraction = re.compile("(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215f])")


def normalize(text: str) -> str:
    """A text in NFC and lower case."""
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).lower()


def normal_forms(text: str) -> list[str]:
    """A text, then its other forms that look the same: letters with their marks in one (NFC), or apart (NFD)."""
    forms = [text] if text.isascii() else [text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)]
    return list(dict.fromkeys(forms))


def fold(text: str) -> str:
    """A text in NFKC and lower case, without points; a dotted capital I is an i."""
    if text.isascii():
        return text.lower()
    text = _fraction.sub(" ", _apart.sub(" ", text.replace("\u00b4", "'").replace("\u05f3", "'")))
    text = unicodedata.normalize("NFKC", text).replace("\u0130", "i")
    for parts, whole in _AM.items():
        text = text.replace(parts, whole)
    return text.lower() if text.isascii() else _points.sub("", text.lower())
