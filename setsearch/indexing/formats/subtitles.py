"""Subtitles: what is said in a film, and in WebVTT by whom."""

import re
from collections.abc import Sequence
from html import unescape
from itertools import pairwise

from setsearch.indexing.formats.broken_words import join_broken_words
from setsearch.indexing.formats.part import Decode, Part, Parts
from setsearch.text.headline import headline

MOST_LINES = 4  # of captions that scroll
_time = re.compile(r"^\s*(?:\d+:)?\d+:\d+[.,]\d+(?:\s*-->.*|,\d+:\d\d:\d\d\.\d+\s*)$")
_blank_below_time = re.compile(r"^([\d:.,]+[ \t]*-->.*\n)[ \t]+\n(?!.*\n.*-->)", re.MULTILINE)  # its cue goes on
_said = re.compile(  # a line of SubStation Alpha, MicroDVD, LRC
    r"^(?:Dialogue:[ \t]*(?:[^,\n]*,){9}|\{\d+\}\{\d+\}|(?:\[\d+:\d\d(?:[.:]\d+)?\])+)(.*)$", re.MULTILINE
)
_breaks = re.compile(r"\\[Nn]|\|")  # of a line within a cue
_styles = re.compile(r"\{[^{}]*\}|\\h")
_voice = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^\s<>][^<>\n]*)>")  # who speaks, in WebVTT
_cue_markup = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
_cue_block = re.compile(r"(?:NOTE|STYLE|REGION)\b")


def subtitles(data: bytes, decode: Decode) -> Parts:
    """What is said in a film: without numbers, times and marks of style. Words that a line of a cue breaks are joined.

    At the end of a cue a hyphen stands where somebody is interrupted.
    """
    source = _blank_below_time.sub(r"\1", "\n".join(decode(data).lstrip("\ufeff").splitlines()))
    cues = [_cue_markup.sub("", _styles.sub(" ", _breaks.sub("\n", cue))) for cue in _said.findall(source)]
    blocks = [] if cues else re.split(r"\n[ \t]*\n", source)
    for block in blocks:
        lines = block.splitlines()
        times = [number for number, line in enumerate(lines) if _time.match(line)]
        if times:
            lines = [line for line in lines[times[0] + 1 :] if not _time.match(line)]
        elif block.startswith("WEBVTT") or _cue_block.match(block) or block.strip().isdigit():
            continue
        cues.append(unescape(_cue_markup.sub("", _voice.sub(r"\1: ", "\n".join(lines)))))
    lines = [[*filter(None, map(str.strip, cue.splitlines()))] for cue in cues]
    said = map("\n".join, _without_scrolled([*filter(None, lines)]))
    text = join_broken_words("\n\n".join(filter(None, said))).replace("\n\n", "\n")
    yield Part(text, headline(text))


def _without_scrolled(cues: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The lines of cues, of captions that scroll without those that still stand there, as YouTube writes them again.

    Below these more is said, in half of such cues; what is said again and again, as in a song, stands alone.
    """
    again = [
        next((size for size in range(min(len(own), MOST_LINES), 0, -1) if before[-size:] == own[:size]), 0)
        for before, own in pairwise([(), *cues])
    ]
    scrolls = 4 * sum(0 < size < len(own) for own, size in zip(cues, again, strict=True)) > len(cues)
    return [own[size:] for own, size in zip(cues, again, strict=True)] if scrolls else cues
