"""Saved sets as SKOS: rdflib reads back what is written."""

import sqlite3
import sys

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


def test_what_was_written_is_read_back(index, tmp_path):
    from setsearch.integrations.skos import as_skos, rows_of_skos

    as_skos(index, base="https://example.org/").serialize(tmp_path / "a.ttl", format="turtle")
    rows = rows_of_skos(index, tmp_path / "a.ttl")
    assert {own["name"]: {*own["accepted"]} for own in rows} == {"cats": {*NAMES[:3]}, "odd & <ends>": {*NAMES[2:4]}}
    assert {own["items"] for own in rows} == {"documents"}
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as other:
        other.add([(name, "a text") for name in NAMES])
        assert {own.name: {*own.accepted} for own in other.import_sets(rows)} == {
            name: {*index.set(name).accepted} for name in index.sets()
        }


THEIRS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix v: <https://example.org/v/> .
v:cats a skos:Collection ; skos:prefLabel "Katzen"@de ; skos:notation "C1" ; skos:member v:1, v:2, v:more .
v:more a skos:OrderedCollection ; skos:memberList ( v:tiger v:1 ) .
v:1 a skos:Concept ; skos:prefLabel "Löwe"@de, "lion"@en ; skos:notation "100" .
v:2 a skos:Concept ; skos:prefLabel "Luchs"@de ; skos:altLabel "LYNX"@en .
"""


def test_collections_of_others_are_sets(tmp_path, run, failed):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as made:
        made.add([("lion", "a large cat"), ("tiger", "a striped cat"), ("lynx", "a cat")])
    (tmp_path / "a.ttl").write_text(THEIRS)
    assert run("set", "import", "a.db", "a.ttl", "--items", "documents")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        sets = {own["name"]: {*own["accepted"]} for own in index.export_sets()}
    assert sets == {"Katzen": {"lion", "lynx"}, "more": {"tiger", "lion"}}
    (tmp_path / "b.ttl").write_text(THEIRS.replace('"lion"@en', '"lioness"@en'))
    failed(run("set", "import", "a.db", "b.ttl", "--items", "documents", "--add"), 1, "no '100' among the 3 documents")
    for text, told in (("@prefix broken", "is not Turtle"), ("", "has no skos:Collection"), ("a,b\n1,2\n", "is not")):
        (tmp_path / "c.ttl").write_text(text)
        failed(run("set", "import", "a.db", "c.ttl"), 1, "c.ttl", told)
    failed(run("set", "import", "a.db", "none.ttl"), 1, "none.ttl does not exist")
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    ring = f"_:a <{rdf}first> <x:lion> ; <{rdf}rest> _:a . <x:ring> a skos:OrderedCollection ; skos:memberList _:a ."
    (tmp_path / "d.ttl").write_text(f"@prefix skos: <http://www.w3.org/2004/02/skos/core#> . {ring}")
    failed(run("set", "import", "a.db", "d.ttl"), 1, "the list of x:ring has no end")


def test_collections_of_one_label_are_sets_of_their_own(index, tmp_path):
    from setsearch.integrations.skos import rows_of_skos

    (tmp_path / "a.ttl").write_text(
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> . @prefix a: <urn:a/> . @prefix b: <urn:b/> ."
        'a:1 a s:Collection ; s:prefLabel "birds" ; s:member a:lion .'
        'b:1 a s:Collection ; s:prefLabel "birds" ; s:member [s:notation "ünï/code #1"] .'
        'b:2 a s:Collection ; s:prefLabel "birds" ; s:member a:lion .'
        'b:3 a s:Collection ; s:prefLabel "beasts" ; s:member a:lion .'
    )
    index.import_sets(rows_of_skos(index, tmp_path / "a.ttl", "documents"))
    assert {name: index.set(name).accepted for name in {*index.sets()} - {"cats", "odd & <ends>"}} == {
        "birds (urn:a/1)": ["lion"],
        "birds (urn:b/1)": ["ünï/code #1"],
        "birds (2)": ["lion"],
        "beasts": ["lion"],
    }


def test_without_the_library_the_command_names_it(tmp_path, run, failed, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as made:
        made.add([("lion", "a large cat")])
    monkeypatch.setitem(sys.modules, "rdflib", None)
    monkeypatch.delitem(sys.modules, "setsearch.integrations.skos", raising=False)
    failed(run("set", "export", "a.db", "--skos"), 2, "SKOS needs rdflib: pip install 'setsearch[skos]'")
