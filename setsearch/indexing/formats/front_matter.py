"""Notes: a text with front matter (YAML or TOML), as Hugo, Jekyll, Obsidian and Zettlr have, and with #tags.

People write what no parser of YAML takes, such as `title: Lions: a study` and `title: [draft] Lions`. So keys are lines
that begin with one, those of tables of TOML, too; values are texts, and lists of texts. Others, such as mappings, are
none.
"""

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from setsearch.indexing.encodings import LOOKED_AT
from setsearch.text.headline import shorten

TAGS, LINKED = "tags", "links"  # the columns of #tags and [[links]] within a text
_NO_NAMES = ("index", "_index", "readme")  # of files that each folder has
SPLIT_IN_POSTS = TAGS, "categories"  # columns of Jekyll whose texts are names between blanks

_post = re.compile(r"(?:^|/)\d{4}-\d\d-\d\d-[^/]*$")
_key = re.compile(r"^[ \t]*[\w-]+[ \t]*[:=][ \t]*", re.MULTILINE)
# A line of a key and its value; and what is no word: a day, a number, a switch, a UUID.
_line = re.compile(r"^[ \t]*(?!title|alias|tag|keyword)[\w-]+[ \t]*[:=]([^\n]*)$", re.MULTILINE | re.IGNORECASE)
_DAY = r"[\d .,:/+-]*(?:\dT[\d.:]+)?(?:Z|[+-][\d:]+)?"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_wordless = re.compile(rf"([\"']?)(?:{_DAY}|true|false|yes|no|null|~|{_UUID})\1", re.IGNORECASE)
_title = re.compile(r"^title[ \t]*[:=](.*)", re.MULTILINE | re.IGNORECASE)
_double_quoted = re.compile(r'"((?:\\.|[^"\\])*)"\s*(?:#.*)?$')
_single_quoted = re.compile(r"'((?:''|[^'])*)'\s*(?:#.*)?$")
_x = "[0-9a-fA-F]"
_escaped = re.compile(rf"\\(x{_x}{{2}}|u(?![dD][89a-fA-F]){_x}{{4}}|u[dD][89abAB]{_x}{{2}}\\u[dD][c-fC-F]{_x}{{2}}|.)")
_mark_of_lines = re.compile(r"(?:[|>][-+0-9]*)?\s*(?:#.*)?")
_TRIPLE = ('"""', "'''")
# A key, its value, and the lines below that belong to it.
_entry = re.compile(
    r"^([^\W\d_](?:[^:=\n]*[^:=\s])?)[ \t]*(?::(?=\s)|=)[ \t]*(.*(?:\n(?:[ \t\-\]\"',#].*|$))*)", re.MULTILINE
)
_properties = re.compile(r"(?:[\w-]+::[ \t].*\n)+(?=\s*(?:- |\Z))")
_property = re.compile(r"^([\w-]+)::(.*)$", re.MULTILINE)
_item_of_block = re.compile(r"^[ \t]*-[ \t]+(?:name[ \t]*:[ \t]*)?(.*)$", re.MULTILINE)
_item_of_list = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*'|\[\[[^\[\]]*\]\]|\]|#[^\S\n].*|[^\s,\[\]\"'][^,\[\]\n]*"
)
_mapping = re.compile(r"\s*[\w-]+[ \t]*:(?:\s|$)")
_name_within = re.compile(r"^[ \t]*name[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_link = re.compile(r"\[\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\]")  # of Obsidian: [[Lions|the lion]]
_code = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_OF_TAG = r"(?![،؛؟।॥])[\w/\u0300-\u1fff-]"  # letters of any script with their marks
# No heading, number, part of an address, or place that Markdown links to: [x](#x) and [x]: #x.
_tag = re.compile(rf"(?<![^\s(,])(?<!\]\()(?<!\]: )#(?=[\d/_-]*[^\W\d_])((?:{_OF_TAG})+)")


class Note(NamedTuple):
    """A text; `front` is what stands before its `body` between two lines of dashes, empty in most texts."""

    front: str
    body: str

    @property
    def words(self) -> str:
        """The values of the front matter without keys, days, numbers and switches, which all notes of a year share."""
        return _key.sub("", _line.sub(_words_of_line, self.front))

    @property
    def title(self) -> str | None:
        """The title that the front matter gives: a plain or quoted value, or the lines indented below a mark."""
        told = _title.search(self.front)
        if told is None:
            return None
        value = told[1].strip()
        if value.startswith(_TRIPLE):
            value = value[3:].partition(value[:3])[0]
        elif _mark_of_lines.fullmatch(value):
            lines = self.front[told.end() :].splitlines()[1:]
            value = " ".join(takewhile(lambda line: not line.strip() or line[0] in " \t", lines))
        else:
            value = _unquoted(value)
        return shorten(value)

    def columns(self) -> dict[str, str | list[str]]:
        """The values of the front matter by their keys, which count in any case."""
        found: dict[str, str | list[str]] = {}
        for entry in _entry.finditer(self.front.replace("\r\n", "\n")):
            value = _value(entry[2].rstrip())
            if value not in ("", "~", "null"):
                found.setdefault(entry[1], value)
                found.setdefault(entry[1].lower(), value)
        return found

    def tags(self) -> list[str]:
        """The #tags of the text, each once; not those of code."""
        return list(dict.fromkeys(_tag.findall(_code.sub(" ", self.body)))) if "#" in self.body else []

    def links(self) -> list[str]:
        """The names of notes that the text links to, as [[folder/name#heading|words]], each once; not those of code."""
        found = _link.findall(_code.sub(" ", self.body)) if "[[" in self.body else ()
        return list(dict.fromkeys(name for link in found if (name := name_of_note(link.partition("#")[0].strip()))))


def name_of_note(id: str) -> str:
    """What others call a note by: the name of its file, without .md; nothing if each folder has one."""
    name = id.rpartition("/")[2].removesuffix(".md")
    return "" if name.lower() in _NO_NAMES else name


def is_post(id: str) -> bool:
    """Whether a file, by its name, is a post of Jekyll: its day, and what it is about."""
    return _post.search(id) is not None


def read_note(text: str) -> Note:
    """A text as a note: front matter is between a first line of --- or +++ and the next one, and begins with a key.

    Logseq has lines of `key:: value` above an outline instead.
    """
    if properties := _properties.match(text):
        return Note(_property.sub(_as_yaml, properties[0]), text[properties.end() :])
    if not text.startswith(("---", "+++")):
        return Note("", text)
    first, *lines = text[:LOOKED_AT].splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if line.rstrip() == first.rstrip()), 0)
    front = "".join(lines[:end])
    if first.rstrip() not in ("---", "+++") or not _key.match(front.lstrip()):
        return Note("", text)
    return Note(front, text[len(first) + len(front) + len(lines[end]) :])


def _as_yaml(line: re.Match[str]) -> str:
    """A property of Logseq, where several tags, or names of a page, are between commas."""
    key, value = line[1], line[2].strip()
    return f"{key}: [{value}]" if key in ("tags", "alias") else f"{key}: {value}"


def _words_of_line(line: re.Match[str]) -> str:
    """A line of front matter; nothing if its value is no word. What follows no value, as `#tag`, is no comment."""
    value = line[1].partition("#")[0].strip() or line[1].strip()
    return "" if _wordless.fullmatch(value) else line[0]


def _value(text: str) -> str | list[str]:
    """What stands behind a key: a text, or a list in brackets or below dashes; of a mapping its name."""
    first, _, below = text.partition("\n")
    if first.startswith("[") and not _link.match(first):
        items: Iterable[str] = takewhile(lambda item: item != "]", _item_of_list.findall(text))
    elif _tag.match(first):  # a comment, but people write their tags so
        items = first.split()
    elif not _mark_of_lines.fullmatch(first):
        return _name(first)
    elif below.lstrip().startswith("- "):
        items = _item_of_block.findall(below)
    elif _mapping.match(below) and not first.startswith(("|", ">")):
        return _name("".join(_name_within.findall(below)[:1]))
    else:
        return " ".join(below.split())
    return [name for item in items if (name := _name(item))]


def _name(value: str) -> str:
    """A value as a text; nothing for a mapping, or what a template leaves to be filled in."""
    value = value.strip()
    if value.startswith("{"):
        return ""
    return _link.sub(r"\1", value if _tag.match(value) else _unquoted(value)).strip().removeprefix("#")


def _unquoted(value: str) -> str:
    """A plain or quoted value, without a comment."""
    if quoted := _double_quoted.match(value):
        return unescaped(quoted[1])
    if quoted := _single_quoted.match(value):
        return quoted[1].replace("''", "'")
    return re.split(r"(?:^|\s)#", value)[0]


def unescaped(text: str) -> str:
    """A double-quoted value of YAML, JSON or gettext without escapes; ends of lines and the like are blanks."""
    return _escaped.sub(_unescape, text)


def _unescape(escape: re.Match[str]) -> str:
    own = escape[1]
    if own.count("u") > 1:
        return bytes.fromhex(own.replace("\\u", "")[1:]).decode("utf-16-be")
    return chr(int(own[1:], 16) or ord(" ")) if len(own) > 1 else " " if own in "abefnrtv" else own
