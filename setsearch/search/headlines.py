"""Titles for documents that have none, from their texts."""

from collections.abc import Iterable

from setsearch.search.passages import text_of
from setsearch.search.reading import Reading
from setsearch.search.results import Hits
from setsearch.search.sets import AnyReading
from setsearch.text.headline import headline


def with_headlines(reading: AnyReading, hits: Hits) -> Hits:
    """Hits whose missing titles are the headlines of their texts."""
    found = headlines(reading, [hit.item for hit in hits if hit.title is None])
    kept = [hit if hit.title is not None else hit._replace(title=found.get(hit.item)) for hit in hits]
    return hits.with_hits(kept)


def headlines(reading: AnyReading, names: Iterable[str]) -> dict[str, str]:
    """The headlines of those documents whose text is known."""
    names = list(names)
    if not names or not isinstance(reading, Reading) or reading.kind != "documents":
        return {}
    with reading.stored() as fields:
        ids = fields.items.find(fields.first.cursor, names)
        texts = {name: text_of(fields, id) for name, id in ids.items()}
    found = {name: headline(text) for name, text in texts.items() if text is not None}
    return {name: title for name, title in found.items() if title is not None}
