"""Saved sets as SKOS: rdflib reads back what is written."""

import sqlite3

import pytest

import setsearch
from setsearch import errors

rdflib = pytest.importorskip("rdflib", reason="needs rdflib: pip install setsearch[skos]")
SKOS, RDF = rdflib.SKOS, rdflib.RDF
NAMES = ["lion", 'a "quoted" <name>', "two\nlines", "ünï/code #1", "back\\slash"]


@pytest.fixture
def index():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as made:
        made.add([(name, "a text of some words", "Leo" if name == "lion" else None) for name in NAMES])
        made.keep_set("cats", NAMES[:3], ["back\\slash"], "documents")
        made.keep_set("odd & <ends>", NAMES[2:4], items="documents")
        yield made


def sets_of(graph):
    """The names of collections, with the notations of their members."""
    return {
        str(graph.value(own, SKOS.prefLabel)): {
            str(graph.value(one, SKOS.notation)) for one in graph[own : SKOS.member]
        }
        for own in graph.subjects(RDF.type, SKOS.Collection)
    }


def test_turtle_says_what_the_sets_say(index):
    from setsearch.integrations.skos import as_skos

    graph = as_skos(index)
    again = rdflib.Graph().parse(data=graph.serialize(format="turtle"), format="turtle")
    assert set(again) == set(graph)
    assert sets_of(again) == {name: set(index.set(name).accepted) for name in index.sets()}
    (leo,) = again.subjects(SKOS.notation, rdflib.Literal("lion"))
    assert str(again.value(leo, SKOS.prefLabel)) == "Leo"
    assert leo == rdflib.URIRef("urn:setsearch:items/documents/lion")
    (scheme,) = again.subjects(RDF.type, SKOS.ConceptScheme)
    assert {*again.subjects(SKOS.inScheme, scheme)} == {*again.subjects(RDF.type, SKOS.Concept)}
    assert sets_of(as_skos(index, ["cats"], "https://example.org/t#")).keys() == {"cats"}
    assert (scheme := rdflib.URIRef("https://example.org/t#")) in {*as_skos(index, base=str(scheme)).subjects()}
    for base in ("example", "https://example.org/a b", "<x:>"):
        with pytest.raises(errors.InvalidParameter, match="how addresses begin"):
            as_skos(index, base=base)


def test_the_command(tmp_path, run, failed):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as made:
        made.add([("lion", "a large cat"), ("tiger", "a striped cat")])
        made.keep_set("cats", ["lion", "tiger"], items="documents")
    code, out, _ = run("set", "export", "a.db", "--skos", "--base", "https://example.org/")
    assert code == 0
    assert sets_of(rdflib.Graph().parse(data=out, format="turtle")) == {"cats": {"lion", "tiger"}}
    failed(run("set", "export", "a.db", "--skos", "--base", "nowhere"), 2, "'nowhere'")
    failed(run("set", "export", "a.db", "--skos", "--csv"), 2, "--skos writes Turtle; leave --csv and --tsv out")
    failed(run("set", "export", "a.db", "--base", "https://example.org/"), 2, "--base is how addresses of --skos begin")
