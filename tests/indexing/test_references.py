"""References: what exporters write is read by the format, each record is one item, and is kept as it came."""

import gzip
import io
import json
import shutil
import sqlite3
from pathlib import Path
from textwrap import indent

import hypothesis.strategies as st
import pytest
from Bio import Medline
from hypothesis import given
from laws import examples

import setsearch
from setsearch.indexing.references.bibtex import read_bibtex, write_bibtex
from setsearch.indexing.references.convert import converted, left_behind, merged
from setsearch.indexing.references.identity import Copy, group_copies
from setsearch.indexing.references.rdf import read_rdf
from setsearch.indexing.references.reference import Reference, as_json, from_json
from setsearch.indexing.references.tagged import read_cochrane, read_tagged, write_tagged
from setsearch.indexing.references.tags import BIBTEX, FORMS, PUBMED, REFER, RIS, WOS
from setsearch.indexing.writing import batch
from setsearch.learning import Review
from setsearch.learning.review_files import write_review
from setsearch.sqlite import connections
from setsearch.text.identifiers import plain_doi, plain_title

EXPORTERS = Path(__file__).parent / "exporters"


@pytest.fixture
def index_of(run, tmp_path):
    """Index files, given by name and text; returns what the command says."""

    def make(database="a.db", *options, **files):
        names = []
        for name, text in files.items():
            names.append(name.replace("__", "."))
            (tmp_path / names[-1]).write_text(text, encoding="utf-8")
        code, _, said = run("index", database, *names, *options)
        assert code == 0, said
        return said

    return make


def documents(database):
    with setsearch.open(database) as index:
        reading = index.items("documents")
        with reading.stored() as fields:
            found = dict(fields.describe(fields.item_ids().tolist()).values())
        return {id: (title, set(reading.features_of(id))) for id, title in found.items()}


TAGS = {
    "N2 is the abstract": ("a.ris", "TY  - JOUR\nT1  - Pain\nN2  - zebras\nER  - \n", {"zebras"}),
    "fields before TY": ("a.ris", "ID  - 7\nTI  - Pain\nTY  - JOUR\nAB  - zebras\nER  - \n", {"pain", "zebras"}),
    "a number before a record": ("a.ris", "1. \nTY  - JOUR\nTI  - Pain\nAB  - zebras\nER  - \n", {"zebras"}),
    "a record that does not end": ("a.ris", "TY  - JOUR\nTI  - Pain\n\nTY  - JOUR\nTI  - zebras\nER  - \n", {"pain"}),
    "further lines": ("a.ris", "TY  - JOUR\nTI  - Pain\nKW  - big\nzebras\nER  - \n", {"big", "zebras"}),
    "lines of DOS": ("a.ris", "TY  - JOUR\r\nTI  - Pain\r\nAB  - zebras\r\nER  - \r\n", {"zebras"}),
    "lines of old Macs": ("a.ris", "TY  - JOUR\rTI  - Pain\rAB  - zebras\rER  - \r", {"zebras"}),
    "other abstract": ("a.nbib", "PMID- 1\nTI  - Pain\nOAB - zebras\n", {"zebras"}),
    "title in the language": ("a.nbib", "PMID- 1\nTI  - Pain\nTT  - zebras\n", {"zebras"}),
    "title of a book": ("a.nbib", "PMID- 1\nBTI - Pain and zebras\n", {"zebras"}),
    "subjects": ("a.nbib", "PMID- 1\nTI  - Pain\nMH  - zebras\nMH  - Humans/blood\n", {"zebras", "humans"}),
    "broken lines": ("a.nbib", "PMID- 1\nTI  - Pain of\n      zebras\n", {"zebras"}),
    "plain text of Cochrane": ("a.txt", "Record #1 of 1\nID: CN-1\nTI: Pain\nKY: big; zebras\n", {"zebras", "big"}),
    "keywords plus": ("a.ciw", "FN x\nVR 1.0\nPT J\nTI Pain\nID ZEBRAS; BIG CATS\nER\n\nEF\n", {"zebras", "big"}),
    "refer": ("a.enw", "%0 Journal Article\n%T Pain\n%X Big.\n\nMore zebras.\n%K cats\ndogs\n", {"zebras", "dogs"}),
    "keywords of BibTeX": ("a.bib", "@article{k, title={Pain}, keywords={zebras, big cats}}", {"zebras", "big"}),
    "macros": ("a.bib", '@string{z = "zebras"}\n@article{k, title={Pain}, abstract = z # " run"}', {"zebras", "run"}),
    "accents": ("a.bib", '@article{k, title={{\\"O}l and {\\\'E}cole na{\\"\\i}ve}}', {"öl", "école", "naïve"}),
    "escapes": ("a.bib", "@article{k, title={50\\% of R\\&D, 20% more, \\textit{in vivo}}}", {"20", "more", "vivo"}),
    "tags": (
        "a.ris",
        "TY  - JOUR\nTI  - CO<sub>2</sub> <i>in</i>\nAB  - <jats:p>A &lt; b</jats:p>c\nER  - \n",
        {"co2", "b", "c"},
    ),
    "escaped twice": ("a.bib", '@article{k, title={{\\\\"O}l \\\\textit{in vivo}}}', {"öl", "vivo"}),
}


@pytest.mark.parametrize(("name", "text", "words"), TAGS.values(), ids=TAGS)
def test_what_exporters_write_is_read(index_of, tmp_path, name, text, words):
    (tmp_path / name).write_bytes(text.encode())
    index_of(**{name.replace(".", "__"): text}) if "\r" not in text else None
    if "\r" in text:
        with setsearch.open(tmp_path / "a.db", create=True) as index:
            index.update(setsearch_items(tmp_path / name))
    found = documents(tmp_path / "a.db")
    assert set().union(*(own for _, own in found.values())) >= words


def setsearch_items(path):
    from setsearch import Columns
    from setsearch.indexing.rows.reader import RowReader
    from setsearch.indexing.sources import SourceReader

    return SourceReader(Columns(), RowReader()).read([str(path)])


COCHRANE = """Record #1 of 2
ID: CN-01234567
AU: Smith J
AU: Doe A
TI: Ginger for nausea: a trial
SO: BMJ
YR: 2010
PG: 11-19
PM: PUBMED 20123456
XR: EMBASE 358123456
KY: Ginger; Nausea [*drug therapy]
DOI: 10.1136/bmj.c123
AB: BACKGROUND: It is common.
METHODS: We compared.

Record #2 of 2
ID: CN-07654321
TI: Mint for nausea
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_of_cochrane_have_all_their_names(run, tmp_path, end):
    (tmp_path / "a.txt").write_bytes(COCHRANE.replace("\n", end).encode())
    assert run("index", "a.db", "a.txt", "--keep-columns", "year,pmid,journal,authors")[0] == 0
    assert sorted(documents(tmp_path / "a.db")) == ["10.1136/bmj.c123", "CN-07654321"]
    with setsearch.open(tmp_path / "a.db") as index:
        (hit,) = index.items("documents").expand(["CN-07654321"])
        assert hit.item == "10.1136/bmj.c123"
        assert [hit.columns[name] for name in ("year", "pmid", "journal")] == [2010, "20123456", "BMJ"]
        assert hit.columns["authors"] == ["Smith J", "Doe A"]
    first, second = read_cochrane(COCHRANE)
    assert first.pages == ("11", "19") and first.values("keyword") == ["Ginger", "Nausea [*drug therapy]"]
    assert first.first("abstract") == "BACKGROUND: It is common. METHODS: We compared."
    assert second.line == 16 and not second.is_cut


KINDS = {path.name: path for path in sorted(EXPORTERS.iterdir())}
BY_CONTENT = {name: path for name, path in KINDS.items() if path.suffix != ".bib"}


@pytest.mark.parametrize("name", BY_CONTENT)
def test_the_beginning_tells_the_format_before_the_ending(run, tmp_path, name):
    shutil.copy(BY_CONTENT[name], tmp_path / name)
    assert run("index", "a.db", name)[0] == 0
    expected = [own for own, _ in documents(tmp_path / "a.db").values()]
    for other in ("b.txt", "b", "b.dat", "b.csv", "b.nbib", "b.bib", "b.md"):
        shutil.copy(BY_CONTENT[name], tmp_path / other)
        assert run("index", f"{other}.db", other)[0] == 0
        assert [own for own, _ in documents(tmp_path / f"{other}.db").values()] == expected, other


@pytest.mark.parametrize("name", BY_CONTENT)
def test_references_come_on_standard_input(run, tmp_path, name):
    shutil.copy(BY_CONTENT[name], tmp_path / name)
    assert run("index", "a.db", name)[0] == 0
    assert run("index", "b.db", "-", stdin=BY_CONTENT[name].read_bytes())[0] == 0
    titles = [{title for title, _ in documents(tmp_path / f"{own}.db").values()} for own in "ab"]
    assert titles[0] == titles[1]


def test_a_text_about_references_stays_a_text(index_of, tmp_path):
    index_of(
        a__md="# RIS\n\nA record begins with\n\n    TY  - JOUR\n", b__txt="PT J is a tag\n", c__txt="@home { x }\n"
    )
    assert sorted(documents(tmp_path / "a.db")) == ["a.md", "b.txt", "c.txt"]


def test_a_reference_is_named_by_doi_then_pmid_then_key(index_of, tmp_path):
    index_of(
        a__ris="TY  - JOUR\nID  - 1\nTI  - One\nDO  - https://doi.org/10.1000/XYZ\nER  - \n"
        "TY  - JOUR\nID  - 2\nTI  - Two\nAN  - 0012345\nDB  - Ovid MEDLINE(R)\nER  - \n"
        "TY  - JOUR\nID  - smith\nTI  - Three\nER  - \n"
        "TY  - JOUR\nTI  - Four\nER  - \n",
        b__ris="TY  - JOUR\nID  - smith\nTI  - Another one\nER  - \n",
    )
    assert set(documents(tmp_path / "a.db")) == {"10.1000/xyz", "12345", "smith", "a.ris#4", "b.ris#smith"}
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items("documents")
        names = ("doi:10.1000/XYZ", "https://doi.org/10.1000/xyz", "a.ris#10.1000/xyz", "1", "PMID: 12345", "pmid12345")
        assert [reading.find(name) for name in names] == ["10.1000/xyz"] * 4 + ["12345"] * 2


def test_the_same_search_again_is_the_same_records(index_of, tmp_path):
    text = (EXPORTERS / "ovid.ris").read_text()
    index_of(a__ris=text)
    with setsearch.open(tmp_path / "a.db") as index:
        review = Review(index, "r")
        review.know(["10.1000/asp.2019"])
        review.decide("30500002", "no")
    before = documents(tmp_path / "a.db")
    said = index_of(again__ris=text)
    assert documents(tmp_path / "a.db") == before
    assert "merged 2 references that came several times:\n  10.1000/asp.2019: a.ris, again.ris" in said
    assert "merged" not in index_of(again__ris=text), "nothing is new"
    with setsearch.open(tmp_path / "a.db") as index:
        assert not Review(index, "r").queue(), "an answered record never comes back"


def test_a_field_that_one_copy_lacks_comes_from_the_other(run, tmp_path):
    assert run("index", "a.db", str(EXPORTERS))[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        references = Review(index, "r", "documents").references()
    aspirin = references["10.1000/asp.2019"]
    assert (aspirin.pmid, aspirin.first("issn"), aspirin.first("issue")) == ("30501234", "1474-547X", "10")
    assert aspirin.fields[0] == ("TY", "JOUR") and ("KW", "Stroke") in aspirin.fields
    assert references["30500002"].first("abstract") == "Yields of wheat fell.", "WoS has the title only"
    order = [copy for path in reversed(KINDS.values()) for copy in copies_of(path)]
    assert len(group_copies(order)) == len(references), "in whatever order"


def copies_of(path):
    from setsearch.indexing.files import FileReader
    from setsearch.indexing.rows.reader import RowReader

    reader = FileReader(RowReader())
    list(reader.documents(path, path.name, is_named=True))
    return reader.tally.references


def reference(**fields):
    return Reference(RIS, (("TY", "JOUR"), *((tag, value) for tag, value in fields.items())))


SAME = {
    "title and year": ({"TI": "A title", "PY": "2019"}, {"T1": "A Title.", "Y1": "2019/01/02"}, True),
    "another year": ({"TI": "A title", "PY": "2019"}, {"TI": "A title", "PY": "2018"}, False),
    "other DOIs": ({"TI": "A", "PY": "2019", "DO": "10.1000/a"}, {"TI": "A", "PY": "2019", "DO": "10.1000/b"}, False),
    "other authors": (
        {"TI": "Editorial", "PY": "2019", "AU": "Doe, J"},
        {"TI": "Editorial", "PY": "2019", "AU": "Roe"},
        False,
    ),
    "names of one author": (
        {"TI": "A", "PY": "2019", "AU": "Doe, Jane"},
        {"TI": "A", "PY": "2019", "AU": "J. Doe"},
        True,
    ),
    "one DOI": ({"TI": "A", "DO": "10.1000/a"}, {"TI": "B", "PY": "2019", "DO": "doi:10.1000/A"}, True),
    "one PMID": ({"TI": "A", "PM": "12345"}, {"TI": "B", "UR": "https://pubmed.ncbi.nlm.nih.gov/12345/"}, True),
    "a DOI that a note mentions": ({"TI": "A", "DO": "10.1000/a"}, {"TI": "B", "N1": "Comment on 10.1000/a"}, False),
    "another journal": (
        {"TI": "Reply", "PY": "2019", "AU": "Doe", "JO": "Lancet"},
        {"TI": "Reply", "PY": "2019", "AU": "Doe", "JO": "Field Crops"},
        False,
    ),
    "an author who is none": (
        {"TI": "A", "PY": "2019", "AU": "[No author name available]"},
        {"TI": "A", "PY": "2019", "AU": "World Health Organization"},
        True,
    ),
    "a journal abbreviated": (
        {"TI": "A", "PY": "2019", "JO": "Anim. Behav."},
        {"TI": "A", "PY": "2019", "JO": "Animal Behaviour"},
        True,
    ),
    "another abstract": (
        {"TI": "Editorial", "PY": "2019", "AB": "on lions and tigers"},
        {"TI": "Editorial", "PY": "2019", "AB": "about wheat, oats"},
        False,
    ),
    "no year": ({"TI": "Erratum", "AB": "one"}, {"TI": "Erratum", "AB": "one"}, False),
    "nothing in common": ({"AB": "x"}, {"AB": "x"}, False),
}


@pytest.mark.parametrize(("one", "other", "is_same"), SAME.values(), ids=SAME)
def test_which_references_are_the_same(one, other, is_same):
    copies = [Copy(reference(**fields), "a.ris", number) for number, fields in enumerate((one, other))]
    assert len(group_copies(copies)) == 2 - is_same
    assert len(group_copies(copies[::-1])) == 2 - is_same


def test_a_copy_with_both_names_joins_those_with_one():
    copies = [reference(TI="A", DO="10.1000/a"), reference(TI="B", PM="12345"), reference(DO="10.1000/a", PM="12345")]
    (group,) = group_copies([Copy(own, "a.ris", number) for number, own in enumerate(copies)])
    assert len(group.copies) == 3


def test_an_edited_record_stays_the_same_item(index_of, tmp_path):
    index_of(a__bib="@article{smith, title={Old tittle}, abstract={lions}}")
    index_of(a__bib="@article{smith, title={New title}, abstract={tigers}}")
    ((id, (title, words)),) = documents(tmp_path / "a.db").items()
    assert (id, title) == ("smith", "New title") and "tigers" in words and "lions" not in words
    index_of(b__ris="TY  - JOUR\nID  - 1\nTI  - One\nER  - \n")
    index_of(b__ris="TY  - JOUR\nID  - 1\nTI  - Two\nER  - \n")
    assert len(documents(tmp_path / "a.db")) == 3, "a number is no name: the next export counts anew"


def test_keys_that_occur_twice_are_two(index_of, tmp_path):
    index_of(a__bib="@book{a, title={One}}\n@book{a, title={Two}}\n@book{d, title={X}, title={Y}}\n")
    assert {id: title for id, (title, _) in documents(tmp_path / "a.db").items()} == {
        "a": "One",
        "a.bib#a": "Two",
        "d": "X",
    }
    index_of(a__bib="@book{a, title={Two}}\n@book{a, title={One}}\n")
    assert {id: title for id, (title, _) in documents(tmp_path / "a.db").items()}["a"] == "One"


def test_a_collection_of_before_keeps_its_ids(index_of, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:  # as 0.21 named them
        index.add(
            [("full.ris#10.1000/xyz", "Old", "Old"), ("c.nbib#123", "Pubmed", "P"), ("b.bib#heller", "Sets", "S")]
        )
        index.keep_set("r", ["full.ris#10.1000/xyz"], items="documents")
    said = index_of(
        full__ris="TY  - JOUR\nTI  - New\nDO  - 10.1000/xyz\nER  - \n",
        c__nbib="PMID- 123\nTI  - Pubmed\n",
        b__bib="@book{heller, title={Sets}}",
    )
    assert {id: title for id, (title, _) in documents(tmp_path / "a.db").items()} == {
        "full.ris#10.1000/xyz": "New",
        "c.nbib#123": "Pubmed",
        "b.bib#heller": "Sets",
    }
    assert "3 references (full.ris#10.1000/xyz, " in said and "--replace gives them a DOI" in said
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").find("10.1000/xyz") == "full.ris#10.1000/xyz"
        assert index.check() == []
    index_of("a.db", "--replace", full__ris="TY  - JOUR\nTI  - New\nDO  - 10.1000/xyz\nER  - \n")
    assert set(documents(tmp_path / "a.db")) == {"10.1000/xyz"}


def test_a_document_that_has_the_doi_as_id_is_that_reference(index_of, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("10.1000/xyz", "from a table"), ("smith", "something else")])
    index_of(a__ris="TY  - JOUR\nTI  - New\nDO  - 10.1000/xyz\nER  - \nTY  - JOUR\nID  - smith\nTI  - Mine\nER  - \n")
    assert set(documents(tmp_path / "a.db")) == {"10.1000/xyz", "smith", "a.ris#smith"}


def test_records_go_with_their_items(index_of, tmp_path):
    index_of(a__ris=(EXPORTERS / "ovid.ris").read_text())
    with setsearch.open(tmp_path / "a.db") as index:
        index.delete(["30500002"])
        index.update([("10.1000/asp.2019", "now a text of the application")])
        with pytest.raises(setsearch.errors.UnknownItem):
            index.items("documents").find("pmid:30501234")
    connection = sqlite3.connect(tmp_path / "a.db")
    for table in ("record", "alias"):
        assert connection.execute(f"select count(*) from setsearch_{table}").fetchone() == (0,)
    connection.close()


RECORDS = """@article{one, title={Lions}, author={Ann Roe and Bo Li}, year={2001}, keywords={cats; hunts}}
@article{two, title={Wheat}, author={Bo Li}, year={2002}}
@article{six, title={Barley}, author={Cy Day}}
"""


def test_columns_of_references_are_fields(run, tmp_path):
    pytest.importorskip("bibtexparser", reason="needs bibtexparser: pip install setsearch[references]")
    (tmp_path / "a.bib").write_text(RECORDS)
    (tmp_path / "a.csv").write_text("title,abstract,authors,doi\nOats,a cereal,Cy Day,10.1000/oats\n")
    for source in ("a.bib", "a.csv"):
        code, _, said = run("index", "a.db", source, "--tags", "authors", "--tags", "keywords", "--numbers", "year")
        assert code == 0, said
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items("documents")
        assert reading.defaults.fields == ("text", "authors", "keywords", "year")
        assert {"authors:Bo Li", "keywords:cats"} < {*reading.features_of("one")}
        assert reading.expand(["six"], 1, by="authors")[0].item == "10.1000/oats"
        assert reading.expand(["one"], 1, by="authors,year")[0].item == "two"
    for options, told in (
        (("--tags", "name"), "no document has a column 'name' beside its text, but authors, doi, journal"),
        (("--keep-columns", "name"), "no document has a column 'name' beside its text, but authors, doi"),
        (("--numbers", "journal"), "the column 'journal' is 'Nature', not a finite number"),
        (("--tags", "t.id=name"), "t is read with a table of the database that is indexed, not with reference one"),
    ):
        (tmp_path / "b.bib").write_text(RECORDS.replace("year={2001}", "journal={Nature}"))
        code, _, said = run("index", "b.db", "b.bib", *options)
        assert code in (1, 2) and told in said and said.count("\n") == 1


def test_references_beside_notes_may_lack_their_columns(run, tmp_path):
    pytest.importorskip("bibtexparser", reason="needs bibtexparser: pip install setsearch[references]")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.bib").write_text(RECORDS)
    (tmp_path / "vault/a.md").write_text("---\ntags: [cats]\n---\nLions hunt.\n")
    code, _, said = run("index", "a.db", "vault", "--tags", "tags", "--tags", "keywords")
    assert code == 0, said
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert "tags:cats" in documents.features_of("a.md") and "keywords:cats" in documents.features_of("one")


def test_columns_of_references_are_kept(run, tmp_path):
    assert run("index", "a.db", str(EXPORTERS), "--keep-columns", "year,authors,journal")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        hits = index.items("documents").expand(["30500002"], filter=["year >= 2019"])
        columns = {hit.item: hit.columns for hit in hits}
    assert {own["year"] for own in columns.values()} <= {2019, 2020, 2021}
    assert columns["10.1000/birds"]["authors"] == ["Kowalska, Anna", "Nowak, Jan"]


def test_what_is_not_there_is_told(index_of):
    said = index_of(a__ris="TY  - JOUR\nAU  - Nobody\nER  - \nTY  - JOUR\nTI  - Only lions\nER  - \n")
    assert "1 reference without an abstract (a.ris#2)" in said
    assert "left out 1 reference without a text (a.ris, line 1)" in said
    assert "setsearch delete" not in said


def test_records_without_a_text_are_counted_with_their_lines(index_of):
    record = "TY  - JOUR\nAU  - Nobody\nER  - \n"
    said = index_of(a__ris=record * 2 + "TY  - JOUR\nTI  - Lions\nER  - \n", b__csv="title,doi,abstract\n,10.1000/a,\n")
    assert "left out 3 references without a text (a.ris, line 1, a.ris, line 4, b.csv, line 2)" in said
    assert "files" not in said


def test_a_file_without_a_record_is_not_called_empty(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ris").write_text("<html><p>Your session has expired")
    (tmp_path / "in" / "b.txt").write_text("lions")
    assert "left out 1 file (in/a.ris): nothing of their format in them" in run("index", "a.db", "in")[2]


def test_entries_of_one_key_have_their_macros():
    text = "@string{l = {The Lancet}}\n@book{a, title={One}, journal=l}\n@book{a, title={Two}, journal=l}\n"
    assert [own.first("journal") for own in read_bibtex(text)] == ["The Lancet"] * 2


def test_all_broken_entries_are_told(run, failed, tmp_path):
    (tmp_path / "b.bib").write_text("@book{a, title={lost\n@book{b, title={kept}}\n@book{c title={no comma}}\n")
    failed(run("index", "a.db", "b.bib"), 1, "2 entries are broken: those that begin in lines 1, 3")


def test_broken_bibtex_is_told(run, failed, tmp_path):
    (tmp_path / "b.bib").write_text("@book{a, title={kept}}\n@book{b, title={lost\n@book{c, title={also}}\n")
    failed(run("index", "a.db", "b.bib"), 1, "begins in line 2 is broken")
    assert run("index", "a.db", "b.bib", "--errors", "skip")[0] == 0
    assert set(documents(tmp_path / "a.db")) == {"a", "c"}


def test_a_comment_of_bibtex_is_no_entry_that_may_be_broken(run, tmp_path):
    """Names of groups of JabRef may have a brace."""
    groups = "@Comment{jabref-meta: grouping:\n0 AllEntriesGroup:;\n1 StaticGroup:Reading {list\\;0\\;;\n}\n"
    entries = [
        "@article{a, title={Lions}, abstract={They roar}}\n",
        "@article{b, title={Wheat}, abstract={It grows}}\n",
    ]
    (tmp_path / "b.bib").write_text(groups.join(["", *entries, ""]))
    assert run("index", "a.db", "b.bib") == (0, "", "indexed 2; a.db now holds 2 documents, 6 terms\n")


values = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
tags = {
    RIS: ["TI", "AB", "KW", "AU", "ZZ"],
    PUBMED: ["TI", "AB", "MH", "AU"],
    WOS: ["TI", "AB", "DE"],
    REFER: ["T", "X"],
}
begins = {RIS: ("TY", "JOUR"), PUBMED: ("PMID", "1"), WOS: ("PT", "J"), REFER: ("0", "Book")}


@pytest.mark.parametrize(
    ("name", "form"), [("zotero.ris", RIS), ("pubmed.txt", PUBMED), ("savedrecs.txt", WOS), ("endnote.txt", REFER)]
)
def test_records_that_are_indented_are_the_same(name, form):
    text = (EXPORTERS / name).read_text(encoding="utf-8")
    indented = "\n\n" + indent(text.removeprefix("\ufeff"), "    ")
    records = [*read_tagged(text, form)]
    assert [*read_tagged(indented, form)] == records and records


@given(st.data(), st.sampled_from([RIS, PUBMED, WOS, REFER]))
def test_tagged_records_come_out_as_they_came_in(data, form):
    fields = st.lists(st.tuples(st.sampled_from(tags[form]), values), max_size=6)
    references = [Reference(form, (begins[form], *own)) for own in data.draw(st.lists(fields, min_size=1, max_size=3))]
    assert list(read_tagged(write_tagged(references, form), form)) == references
    assert [from_json(json.loads(json.dumps(as_json(own)))) for own in references] == references


@pytest.mark.parametrize("form", [RIS, REFER])
def test_paragraphs_of_a_value_stay(form):
    tag = "AB" if form == RIS else "X"
    fields = begins[form], (tag, "Aim: one.\n\nMethods: two."), (tags[form][0], "A")
    came = [Reference(form, fields)] * 2
    text = write_tagged(came, form)
    assert list(read_tagged(text, form)) == came and text.count("one.\n\nMethods") == 2
    assert came[0].first("abstract") == "Aim: one. Methods: two."


HOSTILE = [
    "a word",
    "ER  - ",
    "ER",
    "TY  - JOUR",
    "%0 Book",
    "%T evil",
    "PMID- 7",
    "TI  - evil",
    "PT J",
    "EF",
    "",
    " ",
    "AU x",
]


@pytest.mark.parametrize("form", [RIS, PUBMED, WOS, REFER])
@given(
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n", "\u2028", "\x0c", "\n\n"]),
)
@examples(100)
def test_no_line_of_a_value_begins_a_field(form, lines, end):
    """A note that somebody typed, or an abstract from another form."""
    tag = tags[form][1]
    came = [Reference(form, (begins[form], (tag, end.join(lines)), (tag, "last"))) for _ in range(2)]
    found = read_tagged(write_tagged(came, form), form)
    words = [[(name, own.split()) for name, own in reference.fields] for reference in (*came, *found)]
    assert words[:2] == words[2:]


@given(st.lists(st.booleans(), min_size=1, max_size=4))
def test_records_of_pubmed_without_a_number_stay_apart(numbered):
    """An abstract may have a blank line."""
    bare = [("TI", "Pain"), ("AB", "First.\nSecond.")]
    records = [Reference(RIS, (("TY", "JOUR"), *bare, *([("PM", str(n + 1))] * has))) for n, has in enumerate(numbered)]
    text = write_tagged([converted(own, PUBMED) for own in records], PUBMED)
    assert text.count("PMID-") == sum(numbered)
    for own in (text, text.replace("Second", "\n      Second")):
        found = list(read_tagged(own, PUBMED))
        assert [one.pmid for one in found] == [str(n + 1) * has for n, has in enumerate(numbered)]
        assert [one.first("title") for one in found] == ["Pain"] * len(numbered)
    assert [one["TI"] for one in Medline.parse(io.StringIO(text)) if one] == ["Pain"] * len(numbered)


@pytest.mark.parametrize("form", [RIS, PUBMED, WOS, REFER, BIBTEX])
def test_a_record_keeps_its_name_in_another_form(form):
    """Also its key, or its number in PubMed, where the form has no tag for it."""
    one, other = reference(TI="A", ID="2-s2.0-85"), reference(TI="B", PM="12345")
    written = [converted(own, form) for own in (one, other)]
    text = write_bibtex(written) if form == BIBTEX else write_tagged(written, form)
    read = list(read_bibtex(text) if form == BIBTEX else read_tagged(text, form))
    assert [read[0].own_key, read[0].pmid, read[1].pmid] == ["2-s2.0-85", "", "12345"]
    assert left_behind(one, form) == left_behind(other, form) == []


@given(st.sampled_from(FORMS), st.sampled_from(sorted(KINDS)))
def test_what_is_known_survives_another_form(form, name):
    for copy in copies_of(KINDS[name]):
        other = converted(copy.reference, form)
        for role in ("title", "abstract", "author", "doi", "pmid", "year", "keyword"):
            if copy.reference.values(role) and role not in ("author",) and not (form == REFER and role == "pmid"):
                before, after = copy.reference.values(role), other.values(role)
                assert [" ".join(v.split()) for v in after][:1] or role in ("year", "doi"), (role, before, after)
        assert (other.doi, other.year) == (copy.reference.doi, copy.reference.year)
        assert plain_title(other.first("title")) == plain_title(copy.reference.first("title"))


ZOTERO = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/">
 <bib:Article rdf:about="#item_1"><z:itemType>journalArticle</z:itemType>
  <dcterms:isPartOf rdf:resource="urn:issn:0140-6736"/>
  <bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Müller</foaf:surname><foaf:givenName>Jörg</foaf:givenName>
  </foaf:Person></rdf:li><rdf:li><foaf:Person><foaf:surname>WHO</foaf:surname></foaf:Person></rdf:li></rdf:Seq>
  </bib:authors><dc:subject><z:AutomaticTag><rdf:value>Hair</rdf:value></z:AutomaticTag></dc:subject>
  <dc:subject><dcterms:LCC><rdf:value>QL 737</rdf:value></dcterms:LCC></dc:subject>
  <dc:title>Cortisol &amp; hair</dc:title><dcterms:abstract>Zebras.</dcterms:abstract><dc:date>2014-03</dc:date>
  <bib:pages>1-9</bib:pages><dc:description>PMID: 12345</dc:description>
  <dcterms:isReferencedBy rdf:resource="#item_3"/></bib:Article>
 <bib:Memo rdf:about="#item_3"><rdf:value>&lt;p&gt;Read again&lt;/p&gt;</rdf:value></bib:Memo>
 <bib:Memo rdf:about="#item_4"><z:itemType>note</z:itemType>
  <rdf:value>&lt;p&gt;Of tigers&lt;/p&gt;</rdf:value></bib:Memo>
 <bib:Journal rdf:about="urn:issn:0140-6736"><prism:volume>7</prism:volume><dc:title>The Lancet</dc:title>
  <dc:identifier>DOI 10.1000/A</dc:identifier><dc:identifier>ISSN 0140-6736</dc:identifier></bib:Journal>
 <z:Attachment rdf:about="#item_2"><z:itemType>attachment</z:itemType><dc:title>PDF</dc:title></z:Attachment>
 <rdf:Description rdf:about="urn:isbn:1"><z:itemType>conferencePaper</z:itemType><dc:title>Lions</dc:title>
  <dcterms:isPartOf><bib:Journal><dc:title>Proceedings</dc:title></bib:Journal></dcterms:isPartOf>
  <dc:identifier><dcterms:URI><rdf:value>https://doi.org/10.1000/b</rdf:value></dcterms:URI></dc:identifier>
 </rdf:Description></rdf:RDF>"""


def test_records_of_zotero_have_what_their_journals_say(index_of, tmp_path):
    """Attachments are no records, and call numbers no keywords; a note is of a record, or by itself."""
    index_of(zotero__rdf=ZOTERO)
    assert documents(tmp_path / "a.db") == {
        "10.1000/a": ("Cortisol & hair", {"cortisol", "hair", "zebras"}),
        "10.1000/b": ("Lions", {"lions"}),
        "zotero.rdf#2": ("Of tigers", {"of", "tigers"}),
    }
    article, _, paper = read_rdf(ZOTERO)
    assert article.values("author") == ["Müller, Jörg", "WHO"] and article.values("keyword") == ["Hair"]
    assert (article.pmid, article.year, article.pages) == ("12345", "2014", ("1", "9"))
    said = [article.first(role) for role in ("journal", "volume", "issn")]
    assert said == ["The Lancet", "7", "0140-6736"]
    assert paper.first("journal") == "Proceedings" and dict(paper.fields)["TY"] == "CPAPER"
    assert converted(article, BIBTEX).kind == "article" and left_behind(article, BIBTEX) == ["N1", "N1"]
    assert [value for tag, value in article.fields if tag == "N1"] == ["PMID: 12345", "<p>Read again</p>"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (ZOTERO[:-9], "broken XML"),
        (ZOTERO.replace("<rdf:RDF", "<!DOCTYPE a [<!ENTITY b 'c'>]><rdf:RDF", 1), "declares entities"),
    ],
)
def test_broken_rdf_is_told(text, what):
    with pytest.raises(ValueError, match=what):
        next(read_rdf(text))


@pytest.mark.parametrize("form", [RIS, WOS, REFER, BIBTEX])
def test_addresses_and_kinds_of_a_record_go_into_another_form(form):
    """Also several; and short names of authors beside the whole ones are not counted as lost."""
    authors = [("FAU", "Doe, Jane"), ("AU", "Doe J"), ("FAU", "Roe, Richard"), ("AU", "Roe R")]
    about = [("AD", "University of Rome, Italy."), ("AD", "Lund, Sweden."), ("PT", "Journal Article"), ("PT", "Review")]
    own = Reference(PUBMED, (("PMID", "12345"), ("TI", "Pain"), *authors, *about))
    other = [converted(own, form)]
    text = write_bibtex(other) if form == BIBTEX else write_tagged(other, form)
    (read,) = read_bibtex(text) if form == BIBTEX else read_tagged(text, form)
    assert read.values("author") == own.values("author") == ["Doe, Jane", "Roe, Richard"]
    assert "; ".join(read.values("address")) == "University of Rome, Italy.; Lund, Sweden."
    assert read.values("genre") == ([] if form == BIBTEX else ["Journal Article", "Review"])
    assert left_behind(own, form) == (["PT", "PT"] if form == BIBTEX else [])


def test_the_fullest_copy_gets_what_it_lacks():
    full = reference(TI="A", AB="x", AU="Doe, J", PY="2019")
    short = Reference(PUBMED, (("PMID", "12345"), ("TI", "A"), ("JT", "Lancet"), ("AID", "10.1000/a [doi]")))
    for copies in ([full, short], [short, full]):
        one = merged(copies)
        assert one.fields[: len(full.fields)] == full.fields
        assert (one.pmid, one.doi, one.first("journal")) == ("12345", "10.1000/a", "Lancet")


@pytest.mark.parametrize(
    "cut", ["Lions roar at", "Lions roar at nig...", "[No abstract available]", "N/A", "", "Cats."]
)
def test_an_abstract_that_is_cut_or_none_comes_from_the_other(cut):
    full = reference(TI="A", AB=cut, AU="Doe, J", PY="2019", KW="cats", VL="3", SP="1")
    short = Reference(PUBMED, (("PMID", "12345"), ("TI", "A"), ("AB", "Lions roar at night. Cats do not.")))
    for copies in ([full, short], [short, full]):
        one = merged(copies)
        assert one.values("abstract") == (["Cats."] if cut == "Cats." else short.values("abstract"))
        assert one.pmid == "12345"
        assert sum(tag == "AB" for tag, _ in one.fields) == 1


def test_what_says_that_there_is_no_abstract_is_none(index_of, tmp_path):
    said = index_of(
        a__ris="TY  - JOUR\nTI  - Lions\nAB  - [No abstract available]\nER  - \n",
        b__nbib="PMID- 12345\nTI  - Tigers\nOAB - Publisher: Abstract available from the publisher.\n",
    )
    assert "2 references without an abstract" in said
    assert documents(tmp_path / "a.db") == {"a.ris#1": ("Lions", {"lions"}), "12345": ("Tigers", {"tigers"})}
    with setsearch.open(tmp_path / "a.db") as index:
        assert "AB  - [No abstract available]" in write_review(Review(index, "r", "documents"), "ris")


@pytest.mark.parametrize(
    ("fields", "pmid"),
    [
        ({"C3": "PUBMED 12345678,EMBASE 2001"}, "12345678"),
        ({"C3": "EMBASE 12345678"}, ""),
        ({"N1": "PubMed PMID: 12345678; PMCID"}, "12345678"),
        ({"AN": "PMID: 12345678"}, "12345678"),
        ({"N1": "PubMed 12 is a base"}, ""),
        ({"UR": "https://x.org/1", "L2": "http://www.ncbi.nlm.nih.gov/pubmed/12345678"}, "12345678"),
        ({"Extra": "Publisher: X\nPMID: 12345678"}, "12345678"),
        ({"Link Attachments": "https://x.org/1; http://www.ncbi.nlm.nih.gov/pubmed/12345678"}, "12345678"),
    ],
)
def test_numbers_of_pubmed_in_other_fields(fields, pmid):
    form = RIS if all(len(tag) == 2 for tag in fields) else "table"
    assert Reference(form, (("TI", "A"), *fields.items())).pmid == pmid


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1000/XYZ.", "10.1000/xyz"),
        ("doi: 10.1016/S0140-6736(19)30001-1", "10.1016/s0140-6736(19)30001-1"),
        ("(see 10.1000/abc)", "10.1000/abc"),
        (
            "10.1002/1097-0142(197701)39:1<123::AID-CNCR2>3.0.CO;2-H",
            "10.1002/1097-0142(197701)39:1<123::aid-cncr2>3.0.co;2-h",
        ),
        ("https://doi.org/10.1002/5(77)39:1%3C89::AID-2%3E3.0.CO;2-#", "10.1002/5(77)39:1<89::aid-2>3.0.co;2-#"),
        ("10.1175/5(1998)126&lt;1099:TRA&gt;2.0.CO;2, x", "10.1175/5(1998)126<1099:tra>2.0.co;2"),
        ("10.1890/0012(2001)082[0290:ROS]2.0.CO;2", "10.1890/0012(2001)082[0290:ros]2.0.co;2"),
        ("10.1000/a.de;10.1000/a.en", "10.1000/a.de"),
        ("<a href=10.1000/abc>10.1000/abc</a>", "10.1000/abc"),
        ("10.1/x", ""),
        ("none", ""),
    ],
)
def test_dois(text, doi):
    assert plain_doi(text) == doi


def test_a_doi_is_found_in_linear_time():
    """Each sign is tried once as the one within angles; else it would take an hour."""
    assert plain_doi(f"10.1234/a<{':' * 300_000}") == "10.1234/a"


def test_papers_of_one_issue_whose_dois_have_angles_are_no_copies(index_of, tmp_path, run):
    dois = {page: f"10.1002/1097(1977)39:1<{page}::aid-{page}>3.0.co;2-h" for page in (89, 98)}
    ris = "".join(f"TY  - JOUR\nTI  - Paper {page}\nDO  - {doi}\nER  - \n\n" for page, doi in dois.items())
    index_of(a__ris=ris)
    assert set(documents(tmp_path / "a.db")) == {*dois.values()}
    assert json.loads(run("find", "a.db", dois[98], "--items", "documents")[1])[0]["item"] == dois[98]


def test_a_damaged_record_is_told_and_read_again(index_of, tmp_path, run, failed):
    text = (EXPORTERS / "ovid.ris").read_text()
    index_of(a__ris=text)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("update setsearch_record set record = zeroblob(9)")
    connection.execute("insert into setsearch_alias values (1, 'doi:10.1000/none', 99)")
    connection.commit()
    connection.close()
    code, out, err = run("review", "a.db", "r", "30500002", "--export", "o.ris")
    assert (code, out) == (1, "") and "the stored record of an item is damaged" in err.splitlines()[-1]
    failed(run("check", "a.db"), 1, "the stored record of an item is damaged")
    assert set(documents(tmp_path / "a.db")) == {"10.1000/asp.2019", "30500002"}, "questions do not need it"
    index_of(a__ris=text)
    failed(run("check", "a.db"), 1, "1 rows of setsearch_alias belong to no item")
    index_of("a.db", "--replace", a__ris=text)
    assert run("check", "a.db")[0] == 0


def test_an_item_keeps_the_names_of_all_its_copies(index_of, tmp_path):
    index_of(
        a__ris="TY  - JOUR\nID  - 77\nTI  - Big cats\nAB  - lions\nDO  - 10.1000/x\nER  - \n",
        b__nbib="PMID- 12345\nTI  - Large cats\nLID - 10.1000/x [doi]\n",
    )
    index_of(a__ris="TY  - JOUR\nID  - 77\nTI  - Big cats\nAB  - lions\nDO  - 10.1000/x\nER  - \n")
    with setsearch.open(tmp_path / "a.db") as index:
        find = index.items("documents").find
        assert {find(name) for name in ("Large cats", "12345", "77", "big cats", "b.nbib#12345")} == {"10.1000/x"}
        index.delete(["10.1000/x"])
        index.add([("other", "text")])
        with pytest.raises(setsearch.errors.UnknownItem):
            find("Large cats")


def test_records_without_a_name_are_the_same_when_they_come_again(index_of, tmp_path):
    text = "TY  - JOUR\nTI  - Erratum\nAB  - one\nER  - \nTY  - JOUR\nTI  - Erratum\nAB  - two\nER  - \n"
    index_of(a__ris=text)
    before = documents(tmp_path / "a.db")
    index_of(a__ris=text)
    assert documents(tmp_path / "a.db") == before
    assert len(before) == 2


def test_keys_of_an_export_are_distinct_and_its_values_are_read_back():
    value = r"50% of R&D_x ~ y^2 C:\tmp {z} #1 $5"
    copies = [converted(reference(TI=value, AU="Smith, J", PY="2020"), "bibtex") for _ in range(3)]
    read = list(read_bibtex(write_bibtex(copies)))
    assert len({own.key for own in read}) == 3
    assert read[0].first("title") == value


def test_what_somebody_else_decided_stays_until_it_is_decided(index_of, tmp_path):
    index_of(a__ris="TY  - JOUR\nTI  - One\nDO  - 10.1000/a\nN1  - ASReview_irrelevant\nER  - \n")
    with setsearch.open(tmp_path / "a.db") as index:
        review = Review(index, "r", "documents")
        assert "N1  - ASReview_irrelevant" in write_review(review, "ris")
        review.decide("10.1000/a", "yes")
        text = write_review(review, "ris")
    assert "ASReview_relevant" in text
    assert "irrelevant" not in text


@pytest.mark.long
def test_references_in_memory_are_little_more_than_their_text(tmp_path):
    """All of a call are in memory together, so that copies are found: as they came, not as they are indexed, too."""
    import tracemalloc

    from setsearch.indexing.rows.reader import RowReader
    from setsearch.indexing.sources import SourceReader
    from setsearch.storage.synced_source import Columns

    abstract = " ".join(f"lions{n}" for n in range(500))
    path = tmp_path / "a.ris"
    path.write_text("".join(f"TY  - JOUR\nTI  - Cats {n}\nAB  - {abstract}\nER  - \n\n" for n in range(200)))
    csv = tmp_path / "b.csv"
    csv.write_text("title,abstract,doi\n" + "".join(f"Dogs {n},{abstract},10.1000/{n}\n" for n in range(200)))
    for source in (path, csv):
        reader = SourceReader(Columns(), RowReader())
        list(reader.read([str(source)]))  # what is loaded once
        tracemalloc.start()
        groups = list(reader.read([str(source)]))
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(groups) == 200 and held < 1.5 * source.stat().st_size


CUT = "TY  - JOUR\nTI  - Lions\nAB  - big cats\nER  - \n\nTY  - JOUR\nTI  - Tigers\nAB  - strip"
WHOLE = {
    "end.ris": f"{CUT}es\nER  - ",
    "no_ends.ris": CUT.replace("ER  - \n", ""),  # as some exporters write them
    "a.nbib": "PMID- 1\nTI  - Lions\nAB  - big cats\n\nPMID- 2\nTI  - Tigers\nAB  - strip",
    "a.ciw": "FN Web\nVR 1.0\nPT J\nTI Lions\nAB big cats\nER\n\nEF",
}


def test_a_file_that_ends_within_a_record_is_told(run, tmp_path):
    told = "without an end of the last record: the download may have broken off"
    (tmp_path / "cut.ris").write_text(CUT)
    (tmp_path / "cut.ciw").write_text(WHOLE["a.ciw"].partition("ER")[0])
    for name, text in WHOLE.items():
        (tmp_path / name).write_text(text)
        assert told not in run("index", f"{name}.db", name)[2], name
    assert f"1 file (cut.ris) {told}" in run("index", "a.db", "cut.ris")[2]
    assert f"1 file (cut.ciw) {told}" in run("index", "b.db", "cut.ciw")[2]
    assert f"1 file (standard input) {told}" in run("index", "c.db", "-", stdin=CUT.encode())[2]
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").item_count() == 2


@pytest.mark.parametrize("is_cut", [True, False])
def test_replace_keeps_the_references_of_a_file_that_cannot_be_read(tmp_path, run, is_cut):
    """All of it, or one record; what other files have of them comes first."""
    folder = tmp_path / "in"
    folder.mkdir()
    form = "TY  - JOUR\nTI  - {}\nAB  - {}\n{}ER  - \n"
    cats, wolves = form.format("Big cats", "Lions.", "DO  - 10.1000/a\n"), form.format("Wolves", "Howl.", "")
    whole = (cats + wolves + form.format("Newts", "Swim in Zürich, größer.", "ID  - newts\n")).encode()
    (folder / "a.ris.gz").write_bytes(gzip.compress(whole))
    (folder / "b.ris").write_text(form.format("Wheat", "Grows.", "DO  - 10.1000/b\n") + form.format("Rye", "Too.", ""))
    assert run("index", "a.db", "in", "--tags", "keywords")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        before = {row["id"]: row for row in index.export()}
    damaged = gzip.compress(whole)[:-12] if is_cut else gzip.compress(whole.replace(b"Big", b"B\xffg"))
    (folder / "a.ris.gz").write_bytes(damaged)
    (folder / "b.ris").write_text(form.format("Big cats", "Tigers.", "DO  - 10.1000/a\n"))
    code, _, said = run("index", "a.db", "in", "--tags", "keywords", "--replace")
    assert code == 0 and "--replace kept what was there of 1 file (a.ris.gz), which could not be read" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        after = {row["id"]: row for row in index.export()}
        assert index.items("documents").find("Newts") == "newts" and index.check() == []
    assert {*after} == {"10.1000/a", "a.ris.gz#2", "newts"} and "Tigers" in after["10.1000/a"]["text"]
    assert all(after[name] == before[name] for name in ("a.ris.gz#2", "newts"))
    assert run("index", "a.db", "in/b.ris", "--replace")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert [row["id"] for row in index.export()] == ["10.1000/a"]


def test_replace_loses_no_reference_beside_a_write_that_locks_its_file(tmp_path, run, monkeypatch):
    """A file without a log cannot be read once the pages of a write find no room in memory."""
    host = sqlite3.connect(tmp_path / "a.db")
    host.execute("create table host (id)")
    host.close()
    whole = gzip.compress(b"TY  - JOUR\nTI  - Cats\nAB  - Lions.\nDO  - 10.1000/a\nER  - \n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.ris.gz").write_bytes(whole)
    assert run("index", "a.db", "in")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        before = [*index.export()]
    (folder / "a.ris.gz").write_bytes(whole[:-12])
    rows = [{"id": f"r{n}", "text": " ".join(f"w{n * m % 9973}" for m in range(1, 60))} for n in range(600)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(connections, "PAGE_CACHE_KIB", 64)
    monkeypatch.setattr(batch, "FULL_BATCH", 10_000)
    code, _, said = run("index", "a.db", "in", "--replace", "--timeout", "0.1")
    assert code == 1 and said.endswith("mend the files that were skipped, or leave --replace out\n"), said
    with setsearch.open(tmp_path / "a.db") as index:
        assert [*index.export()] == before


def test_references_that_are_kept_keep_their_places_too(run, tmp_path):
    """A new one at the place of an old one has another name: sets know the old one by this, each time it is kept."""
    form = "TY  - JOUR\nTI  - {}\nAB  - {}\nER  - \n"
    whole = form.format("Wheat", "Grows.") + form.format("Lions", "Roar.") + form.format("Tigers", "Climb.")
    (tmp_path / "a.ris").write_text(whole)
    assert run("index", "a.db", "a.ris")[0] == 0
    (tmp_path / "a.ris").write_bytes(b"TY  - JOUR\nTI  - W\xff\nER  - \n" + form.format("Rye", "Too.").encode())
    for _ in range(2):
        assert run("index", "a.db", "a.ris", *"--replace --errors skip --encoding utf-8".split())[0] == 0
        with setsearch.open(tmp_path / "a.db") as index:
            titles = {row["id"]: row["title"] for row in index.export()}
        assert titles == {"a.ris#1": "Wheat", "a.ris#2": "Lions", "a.ris#3": "Tigers", "a.ris#2 (2)": "Rye"}
