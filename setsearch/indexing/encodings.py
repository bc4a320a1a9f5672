"""The encodings of texts that are not UTF-8."""

import codecs
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO

LOOKED_AT = 1 << 13  # characters or bytes by which a text, or its format, is known
MOST_CONTROLS = 0.05  # share of control characters in a text
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\b\x1b"))
DETECTED = 1 << 17  # bytes of a file by which its encoding is detected
MIXED = re.compile(r"[A-Za-z][\u0370-\u06ff]")  # Greek, Cyrillic, Hebrew or Arabic after Latin: no word is so
WESTERN = "cp1252"
WORSE = 0.2  # share of odd letters
MOSTLY = 2 / 3  # letters of UTF-8 for each broken byte; of East Asian texts .46 look so, of others none
FEWEST = 4  # bytes beyond ASCII by which an encoding can be told
USED = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp874 iso8859_2 iso8859_5 iso8859_7 iso8859_9 "
    "koi8_r koi8_u shift_jis euc_jp gb18030 big5 euc_kr"
).split()
OF_PAIRS = "gb18030", "euc_kr", "euc_jp"  # whose letters beyond ASCII are two bytes beyond ASCII, nearly all
_alone = re.compile(rb"(?<![\x80-\xff])(?:[\x80-\xff]{2})*[\x80-\xff](?![\x80-\xff])")  # one in an odd run of these
_apart = re.compile(rb"(?<![A-Za-z])[\x80-\xff]{3,}(?![A-Za-z])")  # no word of a Latin script is so
_BELOW_LETTERS = bytes(range(0xC0))  # what is no letter beyond ASCII in most encodings of a byte
ALONE = 0.05  # of the bytes beyond ASCII
MARKS = {  # byte order marks, the longer ones first: that of UTF-32 begins as that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UNMARKED = {  # as databases export it: eight letters of ASCII, each with a zero
    "utf-16-le": re.compile(rb"(?:[\t\n\r -~]\0){8}"),
    "utf-16-be": re.compile(rb"(?:\0[\t\n\r -~]){8}"),
}


def likely_encoding(data: bytes) -> str | None:
    """The encoding that bytes look like, of those that are used by texts in folders and on the web."""
    from charset_normalizer import from_bytes

    begin = data[:DETECTED]
    as_utf8 = begin.decode("utf-8", "replace")
    broken = as_utf8.count("\ufffd")
    if sum(not letter.isascii() for letter in as_utf8) - broken > MOSTLY * broken:  # UTF-8, but for some bytes
        return None
    if sum(byte > 127 for byte in begin) < FEWEST:
        return WESTERN
    found = from_bytes(begin, cp_isolation=USED, enable_fallback=False)
    best = found.best()
    if best is None:
        return _by_pairs(begin)
    western = next((match for match in found if WESTERN in (match.encoding, *match.could_be_from_charset)), None)
    is_equal = western and western.coherence >= best.coherence and western.chaos <= best.chaos + WORSE
    if is_equal or best.encoding == WESTERN or MIXED.search(begin.decode(best.encoding, "replace")):
        return _by_words_apart(begin) or WESTERN  # of equals, the one that is used most
    return codecs.lookup(best.encoding).name


def _by_words_apart(begin: bytes) -> str | None:
    """The encoding of the words of another script in a text with much Latin; None if these are not most of it."""
    from charset_normalizer import from_bytes

    words = b" ".join(_apart.findall(begin))
    if len(words.translate(None, _BELOW_LETTERS)) <= len(begin.translate(None, _BELOW_LETTERS)) / 2:
        return None
    best = from_bytes(words, cp_isolation=[own for own in USED if own != WESTERN], enable_fallback=False).best()
    return None if best is None else codecs.lookup(best.encoding).name


def _by_pairs(begin: bytes) -> str | None:
    """The only encoding of pairs of bytes that bytes can be, if they are such pairs."""
    beyond = sum(byte > 127 for byte in begin)
    if len(_alone.findall(begin)) > ALONE * beyond:
        return None
    possible = [own for own in OF_PAIRS if is_encoded(io.BytesIO(begin), own, is_cut=True)]
    return possible[0] if len(possible) == 1 else None


def encoding_by_mark(data: bytes) -> str | None:
    """UTF-32 or UTF-16, if a file begins with its byte order mark, or as ASCII does in UTF-16."""
    marked = next((encoding for mark, encoding in MARKS.items() if data.startswith(mark)), None)
    return marked or next((encoding for encoding, begin in _UNMARKED.items() if begin.match(data)), None)


def fitting_encoding(data: bytes) -> str | None:
    """The encoding in which a text can be read: UTF-8 if it is that, else the likely one."""
    marked = encoding_by_mark(data)
    return marked or ("utf-8" if is_encoded(io.BytesIO(data)) else None if b"\0" in data else likely_encoding(data))


def lines_as_utf8(lines: Iterable[bytes], decided: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of a file, as UTF-8. The first one with a letter that is not ASCII decides what the file is read as.

    `decided` is told if that is not UTF-8; if it looks like nothing, the lines stay as they are.
    """
    lines = iter(lines)
    for line in lines:
        if line.isascii():
            yield line
            continue
        ahead, size = [line], len(line)
        for own in lines if size < DETECTED else ():
            ahead.append(own)
            size += len(own)
            if size >= DETECTED:
                break
        data = b"".join(ahead)
        found = None if b"\0" in data or is_encoded(io.BytesIO(data)) else likely_encoding(data)
        if found is not None:
            decided(found)
        for rest in chain(ahead, lines):
            yield rest if found is None else rest.decode(found, "replace").encode()


def is_encoded(file: IO[bytes], encoding: str = "utf-8", is_cut: bool = False) -> bool:
    """Whether all of a file is a text in an encoding, read piece by piece; `is_cut`: its last letter may be."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while piece := file.read(1 << 16):
            decoder.decode(piece)
        decoder.decode(b"", not is_cut)
    except UnicodeDecodeError:
        return False
    return True


def is_text(data: bytes) -> bool:
    """Whether bytes look like a text in some encoding."""
    start = data[:LOOKED_AT]
    if encoding_by_mark(start) is not None:  # such texts have zeros
        return True
    return len(start.translate(None, _CONTROLS)) >= len(start) * (1 - MOST_CONTROLS) and b"\0" not in start
