"""Saved sets as SKOS, for tools of terminology: a set is a collection, its accepted items are concepts.

    as_skos(index, base="https://example.org/terms/").serialize("sets.ttl")

SKOS has no word for rejected items: `Index.export_sets` has them.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote

from setsearch.errors import InvalidParameter, UsageError
from setsearch.index import Index

if TYPE_CHECKING:
    from rdflib import Graph

BASE = "urn:setsearch:"
NOT_IN_IRI = {*'<>"{}|\\^` '}


def as_skos(index: Index, names: Iterable[str] | None = None, base: str = BASE) -> "Graph":
    """The graph of some saved sets, or of all; `base` is how its addresses begin.

    Raises UnknownSet, InvalidParameter, and UsageError without rdflib.
    """
    try:
        from rdflib import RDF, SKOS, Graph, Literal, URIRef
    except ImportError:
        raise UsageError("SKOS needs rdflib: pip install 'setsearch[skos]'") from None
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
