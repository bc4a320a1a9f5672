"""A title for a text that has none."""

import re

LONGEST_TITLE, LEAST_LETTERS = 80, 3  # characters; and letters of a line that is a title
HEADING_WITHIN, LINES_WITHIN = 2000, 8192  # characters
# A link of a note, or of Org, of which the words are shown, or else the name; no test of a shell, which has blanks.
_wiki_link = re.compile(r"\[\[(?!\s)(?:[^\[\]]*(?:\||\]\[))?([^\[\]|]*[^\[\]|\s])\]\]")
_heading = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$|^(?!\s*$)(.+)\n(?:={3,}|-{3,}|~{3,})\s*$", re.MULTILINE)


def headline(text: str) -> str | None:
    """The first heading of Markdown or reStructuredText, or the first line with a word."""
    heading = _heading.search(text[:HEADING_WITHIN])
    lines = (line for line in text[:LINES_WITHIN].splitlines() if sum(map(str.isalnum, line)) >= LEAST_LETTERS)
    return shorten(heading[1] or heading[2] if heading else next(lines, None))


def shorten(title: str | None) -> str | None:
    """A title on one line, without the brackets of links, of at most 80 characters; None if nothing is left.

    A word is cut only if it is long.
    """
    line = " ".join(_wiki_link.sub(r"\1", title or "").split())
    whole = line[:LONGEST_TITLE].rpartition(" ")[0]  # a part of a word would count as a word
    cut = whole if len(whole) > LONGEST_TITLE // 2 else line[: LONGEST_TITLE - 1]
    return (line if len(line) <= LONGEST_TITLE else f"{cut}…") or None
