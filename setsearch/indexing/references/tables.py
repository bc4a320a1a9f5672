"""References in tables: rows of CSV and JSON, and the tab-delimited files of Web of Science."""

from collections.abc import Iterator, Mapping
from typing import Any

from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tags import TABLE, TAGS, WOS, plain_column

NAMING = ("abstract", "doi", "pmid")  # roles, one of which a table of references has beside titles
_MORE = "; "  # between values of a cell
_WHOLE = ("literal", "name", "display_name", "author")  # of an object, what names it


def are_reference_columns(values: Mapping[str, Any]) -> bool:
    """Whether a row has the columns of references: a title, and an abstract, a DOI or a number in PubMed; no text."""
    names = {plain_column(name) for name, _ in _flat(values)}
    title, *others = ({*TAGS[TABLE][role].names} for role in ("title", *NAMING))
    return "text" not in names and bool(names & title) and any(names & other for other in others)


def reference_of_row(position: str, values: Mapping[str, Any]) -> Reference:
    """A row as a reference; `position` ends with its line."""
    fields = tuple((name, text) for name, value in _flat(values) if (text := _text(value).strip()))
    line = position.rpartition(" ")[2]
    return Reference(TABLE, fields, line=int(line) if line.isdecimal() else 0)


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The cells of a row, with those of objects that are no text of their own: externalIds.DOI."""
    for name, value in values.items():
        if isinstance(value, dict) and not _text(value):
            yield from ((f"{name}.{key}", own) for key, own in _flat(value))
        else:
            yield str(name), value


def _text(value: Any) -> str:
    """A cell as text; of JSON as citation programs write it: a name has parts, a date too."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return _MORE.join(filter(None, map(_text, value)))
    if not isinstance(value, dict):
        return str(value).encode("utf-8", "replace").decode()
    if "date-parts" in value:
        parts = value["date-parts"]
        return "-".join(map(str, parts[0])) if isinstance(parts, list) and parts and isinstance(parts[0], list) else ""
    if all(isinstance(own, list) and own and all(isinstance(part, int) for part in own) for own in value.values()):
        words = {place: word for word, places in value.items() for place in places}  # an abstract of OpenAlex
        return " ".join(words[place] for place in sorted(words))
    names = [value.get(name) for name in ("family", "given")]
    names = names if any(names) else [next(filter(None, map(value.get, _WHOLE)), None)]
    return ", ".join(filter(None, map(_text, names)))


def read_wos_table(text: str) -> Iterator[Reference]:
    """The records of a tab-delimited file of Web of Science, whose columns are its tags. Cells have no quotes."""
    lines = text.lstrip("\ufeff").splitlines()
    tags = [tag.strip() for tag in lines[0].split("\t")]
    for number, line in enumerate(lines[1:], 2):
        cells = [(tag, cell.strip()) for tag, cell in zip(tags, line.split("\t"), strict=False)]
        fields = tuple(
            (tag, cell.replace(_MORE, "\n") if tag in TAGS[WOS]["author"].names else cell)
            for tag, cell in cells
            if cell
        )
        if fields:
            yield Reference(WOS, fields, line=number)
