"""The encodings of texts that are not UTF-8."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import IO

DETECTED = 1 << 17  # bytes of a file by which its encoding is detected
MIXED = re.compile(r"[A-Za-z][\u0370-\u06ff]")  # Greek, Cyrillic, Hebrew or Arabic after Latin: no word is so
MARKS = {  # byte order marks, the longer ones first: that of UTF-32 begins as that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def likely_encoding(data: bytes) -> str | None:
    """The encoding that bytes look like, of those that are used by texts in folders and on the web."""
    import chardet

    begin = data[:DETECTED]
    found = chardet.detect(begin, encoding_era=chardet.EncodingEra.MODERN_WEB)["encoding"]
    try:
        name = codecs.lookup(found or "").name
    except LookupError:  # none, or one that Python does not read
        return None
    if name == "utf-8":  # but for some bytes, which a guess would hide
        return None
    return "cp1252" if MIXED.search(begin.decode(name, "replace")) else name


def encoding_by_mark(data: bytes) -> str | None:
    """UTF-32 or UTF-16, if a file begins with its byte order mark."""
    return next((encoding for mark, encoding in MARKS.items() if data.startswith(mark)), None)


def lines_as_utf8(file: IO[bytes], decided: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of a file, as UTF-8. The first one with a letter that is not ASCII decides what the file is read as.

    `decided` is told if that is not UTF-8; if it looks like nothing, the lines stay as they are.
    """
    for line in file:
        if line.isascii():
            yield line
            continue
        ahead = line + file.read(DETECTED) + file.readline()
        is_utf8 = any(not own.isascii() and _is_utf8(own) for own in ahead.splitlines())  # but for some bytes
        found = None if is_utf8 or b"\0" in ahead else likely_encoding(ahead)
        if found is not None:
            decided(found)
        for rest in chain(io.BytesIO(ahead), file):
            yield rest if found is None else rest.decode(found, "replace").encode()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
