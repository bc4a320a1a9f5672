"""Forms in which each field is a tag and a value on lines of their own: RIS, PubMed, Web of Science, EndNote's refer.

Reading keeps every tag, the order, and the lines of a value; writing gives them back.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import dedent
from typing import NamedTuple

from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tags import PUBMED, REFER, RIS, WOS


class Form(NamedTuple):
    """How the lines of a form look. A record begins with a tag, and ends with a tag, the next one, or a blank line."""

    field: re.Pattern[str]  # tag and value
    begins: str
    ends: str | None
    header: tuple[str, ...]  # tags outside of records
    line: str  # how a field is written
    more: str  # what begins a further line of a value


FORMS: Mapping[str, Form] = {
    RIS: Form(re.compile(r"([A-Z][A-Z0-9])[ \t]{1,3}-[ \t]?(.*)$"), "TY", "ER", (), "{}  - {}", ""),
    PUBMED: Form(re.compile(r"([A-Z]{2,4}) {0,2}-(?: (.*)|)$"), "PMID", None, (), "{:4}- {}", "      "),
    WOS: Form(re.compile(r"([A-Z][A-Z0-9])(?: (.*)|)$"), "PT", "ER", ("FN", "VR", "EF"), "{} {}", "   "),
    REFER: Form(re.compile(r"%(\S)(?: (.*)|)$"), "0", None, (), "%{} {}", ""),
}
_PARAGRAPHS = (RIS, REFER)  # forms in which a value may have blank lines
_strict_ris = re.compile(r"([A-Z][A-Z0-9])  -(?: (.*)|)$")
# Plain text of the Cochrane Library: its tags, and those of RIS for them.
_COCHRANE = "ID ID AU AU TI TI SO T2 YR PY VL VL NO IS PG SP PM PM XR N1 PT M3 KY KW DOI DO AB AB US UR SN SN LA LA"
_of_cochrane = dict(zip(_COCHRANE.split()[::2], _COCHRANE.split()[1::2], strict=True))
_cochrane_line = re.compile(rf"^(?:({'|'.join(_of_cochrane)}):(?=\s)|Record #\d+ of \d+[ \t\r]*$)", re.MULTILINE)
_is_indented = re.compile(r"(?:[ \t]*\r?\n)*[ \t]+\S").match


def read_tagged(text: str, name: str) -> Iterator[Reference]:
    """The records of a text of a form, also of one that is indented as a whole, as in a mail."""
    form, text = FORMS[name], text.lstrip("\ufeff")
    text = dedent(text) if _is_indented(text) else text
    field = _strict_ris if name == RIS and re.search(r"^TY  -(?: |\r?$)", text, re.MULTILINE) else form.field
    lines = text.splitlines()
    has_begins = any(found and found[1] == form.begins for found in map(field.match, lines))
    fields: list[tuple[str, str]] = []
    begin, is_after_blank, all_end = 1, False, form.ends is not None
    for number, line in enumerate(lines, 1):
        found = None if form.more and line.startswith(" ") else field.match(line.rstrip())
        tag = found[1] if found else None
        is_end = tag == form.ends if form.ends else not (has_begins or line.strip())
        is_next = name == PUBMED and found and is_after_blank  # not each record has a number
        is_next = is_next or (tag == form.begins and any(own == form.begins for own, _ in fields))
        is_after_blank = not line.strip()
        if is_end or is_next:
            all_end = all_end and is_end  # some exporters write no ends
            yield from _record(name, fields, begin)
            fields = []
        begin = begin if fields else number
        if found and not is_end and tag not in form.header:
            fields.append((found[1], found[2] or ""))
        elif fields and not found and (line.strip() or name in _PARAGRAPHS):
            tag, value = fields[-1]
            fields[-1] = tag, f"{value}\n{line.strip()}"
    yield from _record(name, fields, begin, all_end)


def read_cochrane(text: str) -> Iterator[Reference]:
    """The records of plain text of the Cochrane Library, with the tags of RIS."""
    as_ris = _cochrane_line.sub(lambda line: f"{_of_cochrane[line[1]]}  -" if line[1] else "TY  - JOUR", text)
    return read_tagged(f"{as_ris}\nER  - \n", RIS)


def _record(name: str, fields: list[tuple[str, str]], line: int, is_cut: bool = False) -> Iterator[Reference]:
    if fields:
        yield Reference(name, tuple((tag, value.strip()) for tag, value in fields), line=line, is_cut=is_cut)


def write_tagged(references: Iterable[Reference], name: str) -> str:
    """Records of a form as a file of it. A line of a value that would be read as a field joins the one before."""
    form = FORMS[name]
    field = _strict_ris if name == RIS else form.field
    head = ["FN setsearch", "VR 1.0"] if name == WOS else []
    lines = [*head]
    for reference in references:
        for tag, value in reference.fields:
            first, *more = value.splitlines() or [""]
            lines.append(form.line.format(tag, first))
            for line in more if name in _PARAGRAPHS else filter(str.strip, more):
                if field.match(form.more + line):
                    lines[-1] += f" {line}"
                else:
                    lines.append(form.more + line)
        lines += [form.line.format(form.ends, "").rstrip() + " " * (name == RIS), ""] if form.ends else [""]
    return "\n".join([*lines, "EF", ""] if name == WOS else lines) + ("" if name == WOS else "\n" * bool(lines))
