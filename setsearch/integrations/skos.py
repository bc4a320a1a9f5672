"""Saved sets as SKOS, for tools of terminology: a set is a collection, its accepted items are concepts.

    as_skos(index, base="https://example.org/terms/").serialize("sets.ttl")

    index.import_sets(rows_of_skos(index, "theirs.ttl"))

SKOS has no word for rejected items: `Index.export_sets` has them. Without rdflib, to import this raises UsageError.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from setsearch.errors import InvalidParameter, QueryError, SourceError, UsageError
from setsearch.index import Index
from setsearch.indexing.rows.opening import open_file, read_whole

try:
    from rdflib import RDF, SKOS, Graph, Literal, URIRef
except ImportError:
    raise UsageError("SKOS needs rdflib: pip install 'setsearch[skos]'") from None

BASE = "urn:setsearch:"
_own_item = re.compile(r"items/([^/]+)/[^/]+\Z").search  # the end of the address of an item
NOT_IN_IRI = {*'<>"{}|\\^` '}


def as_skos(index: Index, names: Iterable[str] | None = None, base: str = BASE) -> Graph:
    """The graph of some saved sets, or of all; `base` is how its addresses begin.

    Raises UnknownSet, InvalidParameter.
    """
    if ":" not in base or NOT_IN_IRI.intersection(base) or not base.isprintable():
        raise InvalidParameter(f"base is how addresses begin, such as https://example.org/terms/, not {base!r:.60}")
    graph = Graph()
    scheme = URIRef(base)
    graph.add((scheme, RDF.type, SKOS.ConceptScheme))
    for row in index.export_sets(names):
        own = URIRef(f"{base}sets/{quote(row['name'], safe='')}")
        graph.add((own, RDF.type, SKOS.Collection))
        graph.add((own, SKOS.prefLabel, Literal(row["name"])))
        titles = index.reading(row["items"]).titles(row["accepted"])
        for item in row["accepted"]:
            concept = URIRef(f"{base}items/{quote(row['items'], safe='')}/{quote(item, safe='')}")
            graph.add((own, SKOS.member, concept))
            graph.add((concept, RDF.type, SKOS.Concept))
            graph.add((concept, SKOS.inScheme, scheme))
            graph.add((concept, SKOS.prefLabel, Literal(titles.get(item) or item)))
            graph.add((concept, SKOS.notation, Literal(item)))
    return graph


def rows_of_skos(index: Index, path: str | Path, items: str | None = None) -> list[dict[str, Any]]:
    """The collections of a file of SKOS (Turtle) as rows of `Index.import_sets`, which are of `items`.

    A member is an item that its notation, one of its labels in any language, or its address names. Collections within
    collections are sets of their own. Where several have one label, a set is named by the address, too.
    Raises SourceError, UnknownReading.
    """
    graph = Graph()
    try:
        with open_file(Path(path)) as file:
            graph.parse(data=read_whole(file, path), format="turtle")
    except SourceError:
        raise
    except Exception as error:  # whatever rdflib raises
        first = next(filter(None, map(str.strip, str(error).splitlines())), type(error).__name__)
        raise SourceError(f"{path} is not Turtle: {first:.120}; save it as Turtle, in UTF-8") from error
    kinds = SKOS.Collection, SKOS.OrderedCollection
    collections = sorted({own for kind in kinds for own in graph.subjects(RDF.type, kind)}, key=str)
    if not collections:
        raise SourceError(f"{path} has no skos:Collection; give one for each set")
    names = _distinct({own: _label(graph, own) for own in collections})
    return [{"name": names[own], **_row(graph, own, {*collections}, index, items)} for own in collections]


def _label(graph: Graph, own: Any) -> str:
    return [*sorted(map(str, graph.objects(own, SKOS.prefLabel))), *_names(graph, own)][0]


def _distinct(labels: dict[Any, str]) -> dict[Any, str]:
    """The labels of collections; of several with one label, each has the end of its address, or all of it, behind."""
    counts, ends = Counter(labels.values()), {own: f"{label} ({_end(own)})" for own, label in labels.items()}
    again = Counter(ends.values())
    return {
        own: label if counts[label] == 1 else ends[own] if again[ends[own]] == 1 else f"{label} ({own})"
        for own, label in labels.items()
    }


def _row(graph: Graph, own: Any, collections: set[Any], index: Index, items: str | None) -> dict[str, Any]:
    """The items of a collection; of several names of a member, one that the index has."""
    try:
        ordered = [one for first in graph.objects(own, SKOS.memberList) for one in graph.items(first)]
    except ValueError:
        raise SourceError(f"the list of {own!s:.60} has no end, but leads back into itself; correct it") from None
    members = sorted({*graph.objects(own, SKOS.member), *ordered} - collections, key=str)
    if items is None:
        items = next((unquote(found[1]) for found in map(_own_item, map(str, members)) if found), None)
    names = [[*_names(graph, one)] for one in members]
    known = index.reading(items).find_each([name for several in names for name in several])
    accepted = [
        next((name for name in several if not isinstance(known[name], QueryError)), several[0]) for several in names
    ]
    return {"items": items, "accepted": accepted}


def _names(graph: Graph, node: Any) -> Iterator[str]:
    """What something is called: by its notations, its labels, and the end of its address."""
    for label in (SKOS.notation, SKOS.prefLabel, SKOS.altLabel):
        yield from sorted(filter(None, map(str, graph.objects(node, label))))
    yield _end(node)


def _end(node: Any) -> str:
    return unquote(re.split(r"[/#]", str(node).rstrip("/#"))[-1])
