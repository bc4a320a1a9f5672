# ruff: noqa: E501
"""References in tables and in XML are references: by their columns or their beginning, whatever the file is called."""

import io
import json

import pytest

import setsearch
from setsearch import Columns, errors
from setsearch.indexing.references.convert import converted, left_behind, merged
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tables import reference_of_row
from setsearch.indexing.references.tagged import read_tagged, write_tagged
from setsearch.indexing.references.tags import BIBTEX, FORMS, REFER, RIS, TABLE, TAGS
from setsearch.indexing.references.tags import PUBMED as PUBMED_FORM
from setsearch.indexing.references.tags import WOS as WOS_FORM
from setsearch.indexing.references.xml import read_xml
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader

WOS = (
    "PT\tAU\tBA\tBE\tGP\tAF\tTI\tSO\tDE\tAB\tPY\tDI\tUT\r\n"
    'J\tSmith, J; Doe, A\t\t\t\tSmith, John; Doe, Ann\t"Big" lions\tNature\tcats; manes\tThey roar.\t2019\t10.1000/x\tW:1\r\n'
)
ENDNOTE = (
    '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><ref-type name="Journal Article">17</ref-type>'
    "<contributors><authors><author><style>Smith, John</style></author><author>Doe, Ann</author></authors></contributors>"
    "<titles><title><style>Big </style><style face='italic'>lions</style></title><secondary-title>Nature</secondary-title>"
    "</titles><dates><year>2019</year></dates><keywords><keyword>cats</keyword><keyword>manes</keyword></keywords>"
    "<electronic-resource-num>10.1000/X</electronic-resource-num><abstract>They roar.\x0b</abstract></record></records></xml>"
)
PUBMED = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://x/p.dtd">\n'
    '<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">30501234</PMID><Article><Journal><JournalIssue>'
    "<PubDate><Year>2019</Year><Month>Jan</Month></PubDate></JournalIssue><Title>Nature</Title></Journal><ArticleTitle>Big "
    "<i>lions</i></ArticleTitle><Abstract><AbstractText Label='AIM'>They roar.</AbstractText></Abstract><AuthorList><Author>"
    "<LastName>Smith</LastName><ForeName>John</ForeName><Initials>J</Initials></Author><Author><LastName>Doe</LastName>"
    "<ForeName>Ann</ForeName></Author></AuthorList></Article><MeshHeadingList><MeshHeading><DescriptorName>cats"
    "</DescriptorName></MeshHeading><MeshHeading><DescriptorName>manes</DescriptorName></MeshHeading></MeshHeadingList>"
    "</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType='doi'>10.1000/x</ArticleId></ArticleIdList></PubmedData>"
    "</PubmedArticle></PubmedArticleSet>"
)
EBSCO = (
    "<?xml version='1.0'?>\n<records><rec resultID='1'><header shortDbName='zo' longDbName='Zoology' uiTerm='W1'><controlInfo>"
    "<jinfo><jtl>Nature</jtl></jinfo><pubinfo><dt year='2019' month='05'/></pubinfo><artinfo><ui type='doi'>10.1000/X</ui>"
    "<tig><atl>Big <i>lions</i></atl></tig><aug><au>Smith, John</au><au>Doe, Ann</au></aug><su>cats</su><su>manes</su><sug>"
    "<subj>cats</subj></sug><ab>They roar.</ab></artinfo></controlInfo></header></rec></records>"
)
SCOPUS = (
    '\ufeff"Authors","Title","Year","Source title","DOI","Abstract","Author Keywords","Document Type"\n'
    '"Smith, John; Doe, Ann","Big lions","2019","Nature","10.1000/x","They roar.","cats; manes","Article"\n'
)
DIMENSIONS = (
    "\"About the data: Exported on Nov 20, 2026. Criteria: 'lions' in full data. \u00a9 2026 Digital Science, Ltd.\"\n"
    "Rank,Publication ID,DOI,Title,Abstract,Source title,MeSH terms,PubYear,Authors\n"
    '5,pub.1,10.1000/x,Big lions,"They\nroar.",Nature,cats; manes,2019,"Smith, J; Doe, A"\n'
)
EMBASE = (
    '"TITLE","AUTHOR NAMES","SOURCE TITLE","PUBLICATION YEAR","ABSTRACT","DOI","EMTREE MEDICAL INDEX TERMS","PUI"\n'
    '"Big lions","Smith, John; Doe, Ann","Nature","2019","They roar.","10.1000/x","cats, manes","L1"\n'
)
OF_PUBMED = (
    "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,DOI,Abstract,Keywords\n"
    '30501234,Big lions,"Smith J, Doe A.",Nature. 2019,Smith J,Nature,2019,10.1000/x,They roar.,cats; manes\n'
)
ZOTERO = (
    '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Abstract Note","Manual Tags",'
    '"Automatic Tags"\n"ABC","journalArticle","2019","Smith, John; Doe, Ann","Big lions","Nature","10.1000/x",'
    '"They roar.","cats","manes"\n'
)
RAYYAN = (
    "key,title,year,journal,authors,abstract,notes,keywords,doi\n"
    'rayyan-1,Big lions,2019,Nature,"Smith, John and Doe, Ann",They roar.,,"cats, manes",https://doi.org/10.1000/X\n'
)
CSL = json.dumps(
    [
        {
            "id": "http://zotero.org/1",
            "title": "Big lions",
            "author": [{"family": "Smith", "given": "John"}, {"family": "Doe", "given": "Ann"}],
            "issued": {"date-parts": [[2019, 5]]},
            "container-title": "Nature",
            "DOI": "10.1000/x",
            "abstract": "They roar.",
            "keyword": "cats, manes",
        }
    ]
)
SEMANTIC_SCHOLAR = json.dumps(
    {
        "total": 1,
        "data": [
            {
                "paperId": "a1",
                "externalIds": {"DOI": "10.1000/x", "PubMed": "777", "CorpusId": 1},
                "title": "Big lions",
                "authors": [{"authorId": "1", "name": "John Smith"}, {"authorId": "2", "name": "Ann Doe"}],
                "journal": {"name": "Nature"},
                "year": 2019,
                "abstract": "They roar.",
                "keywords": ["cats", "manes"],
            }
        ],
    },
    indent=1,
)
OPENALEX = json.dumps(
    {
        "meta": {"count": 1},
        "results": [
            {
                "id": "https://openalex.org/W1",
                "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/777", "doi": "https://doi.org/10.1000/x"},
                "title": "Big lions",
                "authorships": [{"author": {"display_name": "Smith"}}, {"author": {"display_name": "Doe"}}],
                "publication_year": 2019,
                "journal": "Nature",
                "abstract_inverted_index": {"roar.": [1], "They": [0]},
                "mesh": ["cats", "manes"],
            }
        ],
    }
)
EUROPE_PMC = json.dumps(
    {
        "version": "6.9",
        "resultList": {
            "result": [
                {
                    "source": "MED",
                    "pmid": "777",
                    "doi": "10.1000/X",
                    "title": "Big lions",
                    "authorString": "Smith J, Doe A.",
                    "journalInfo": {"issue": "1", "journal": {"title": "Nature"}},
                    "pubYear": "2019",
                    "abstractText": "<h4>Background</h4>They roar.",
                    "keywordList": {"keyword": ["cats", "manes"]},
                }
            ]
        },
    }
)
CROSSREF = json.dumps(
    {
        "status": "ok",
        "message": {
            "total-results": 1,
            "items": [
                {
                    "DOI": "10.1000/X",
                    "title": ["Big lions"],
                    "abstract": "<jats:p>They roar.</jats:p>",
                    "author": [{"family": "Smith", "given": "J"}, {"family": "Doe", "given": "A"}],
                    "issued": {"date-parts": [[2019]]},
                    "container-title": ["Nature"],
                    "keyword": "cats, manes",
                }
            ],
        },
    }
)
FILES = {
    "wos.txt": WOS.encode("utf-16"),
    "wos.csv": WOS.encode(),
    "endnote.xml": ENDNOTE.encode(),
    "endnote.txt": ENDNOTE.replace('encoding="UTF-8"', "").encode("utf-16"),
    "pubmed.xml": PUBMED.encode(),
    "pubmed": PUBMED.encode(),
    "ebsco.xml": EBSCO.encode(),
    "ebsco.txt": EBSCO.replace("<records>", "<searchResponse><Hits>1</Hits><records>").encode() + b"</searchResponse>",
    "scopus.csv": SCOPUS.encode(),
    "scopus.tsv": SCOPUS.replace(",", "\t").replace("Smith\t", "Smith,").replace("Doe\t", "Doe,").encode(),
    "embase.csv": EMBASE.encode(),
    "of_pubmed.csv": OF_PUBMED.encode(),
    "dimensions.csv": DIMENSIONS.encode("utf-8-sig"),
    "zotero.csv": ZOTERO.encode(),
    "rayyan.csv": RAYYAN.encode(),
    "csl.json": CSL.encode(),
    "semantic_scholar.json": SEMANTIC_SCHOLAR.encode(),
    "openalex.json": OPENALEX.encode(),
    "europe_pmc.json": EUROPE_PMC.encode(),
    "crossref.json": CROSSREF.encode("utf-8-sig"),
}


@pytest.mark.parametrize("where", ["file", "folder", "input"])
@pytest.mark.parametrize("name", FILES)
def test_tables_and_xml_of_exporters_are_references(tmp_path, monkeypatch, name, where):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(FILES[name])
    source = {"file": str(tmp_path / "in" / name), "folder": str(tmp_path / "in"), "input": "-"}[where]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FILES[name])))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.update(SourceReader(Columns(keep=("authors", "year", "journal", "keywords")), RowReader()).read([source]))
        documents = index.items("documents")
        found = set(documents.features_of("10.1000/x"))
        assert {"big", "lions", "they", "roar", "cats", "manes"} <= found and not {"h4", "jats"} & found
        assert documents.titles(["10.1000/x"])["10.1000/x"].replace('"', "") == "Big lions"
        index.add([("other", "lions")])
        kept = documents.expand(["other"])[0].columns
        names = {name.split(",")[0].removeprefix("John ").removeprefix("Ann ").split()[0] for name in kept["authors"]}
        del kept["authors"]
        assert (names, kept) == ({"Smith", "Doe"}, {"year": 2019, "journal": "Nature", "keywords": ["cats", "manes"]})


OF_ENDNOTE = (
    "translated-authors/author titles/alt-title call-num num-vols section orig-pub reprint-edition reviewed-item caption"
    " custom5 custom6 custom7 access-date modified-date"
).split()
OF_PUBMED_XML = {
    "MedlineJournalInfo": "<Country>England</Country><NlmUniqueID>0410462</NlmUniqueID>",
    "Article/AuthorList/Author": "<LastName>Doe</LastName><Identifier Source='ORCID'>0000-0001</Identifier>"
    "<AffiliationInfo><Affiliation>Zoo, Bonn</Affiliation></AffiliationInfo>",
    "Article/GrantList/Grant": "<GrantID>R01</GrantID><Agency>NIH</Agency>",
    "Article/Abstract": "<AbstractText>They roar.</AbstractText><CopyrightInformation>(c) 2019</CopyrightInformation>",
    "CitationSubset": "IM",
    "CoiStatement": "None declared",
}


def element(path, text):
    """XML with a text at a path."""
    for name in reversed(path.split("/")):
        text = f"<{name}>{text}</{name}>"
    return text


def test_all_that_xml_has_a_tag_for_is_kept():
    inner = "".join(element(f"contributors/{path}" if "author" in path else path, f"own {path}") for path in OF_ENDNOTE)
    (record,) = read_xml(f"<xml><records><record>{inner}</record></records></xml>")
    assert sorted(value for _, value in record.fields) == sorted(f"own {path}" for path in OF_ENDNOTE)
    assert list(read_tagged(write_tagged([record], REFER), REFER)) == [record]
    inner = element("MedlineCitation", "".join(element(*own) for own in OF_PUBMED_XML.items()))
    (record,) = read_xml(f"<PubmedArticleSet><PubmedArticle>{inner}</PubmedArticle></PubmedArticleSet>")
    assert set(record.fields) == {
        *(("PL", "England"), ("JID", "0410462"), ("FAU", "Doe"), ("AU", "Doe"), ("AUID", "ORCID: 0000-0001")),
        *(("AD", "Zoo, Bonn"), ("GR", "R01/NIH"), ("AB", "They roar."), ("CI", "(c) 2019"), ("SB", "IM")),
        ("COIS", "None declared"),
    }


ROWS = {
    "a text": ("id,title,abstract,text\n1,T,A,lions\n", {}),
    "columns that were named": ("id,title,abstract\n1,T,lions\n", {"text": ("abstract",)}),
    "a column to keep that references have not": ("id,title,doi,text\n1,T,x,lions\n", {"keep": ("title",)}),
}


@pytest.mark.parametrize(("text", "columns"), ROWS.values(), ids=ROWS)
def test_other_tables_are_rows(tmp_path, text, columns):
    (tmp_path / "a.csv").write_text(text)
    ((id, own, *_),) = SourceReader(Columns(**columns), RowReader()).read([str(tmp_path / "a.csv")])
    assert (id, own) == ("1", "lions")


def test_a_table_of_films_needs_its_columns(tmp_path):
    (tmp_path / "films.csv").write_text("title,year,director\nAlien,1979,Scott\n")
    with pytest.raises(errors.SourceError, match="no column 'text'"):
        list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "films.csv")]))


def test_a_bad_row_of_references_is_skipped_with_its_line(tmp_path):
    (tmp_path / "a.csv").write_text('title,doi\nOne,10.1000/a\n"Two" x,10.1000/b\nThree,10.1000/c\n,10.1000/d\n')
    told = []
    reader = SourceReader(Columns(), RowReader("skip", told.append))
    assert len(list(reader.read([str(tmp_path / "a.csv")]))) == 2
    assert len(told) == 1 and "a.csv, line 3" in told[0]
    assert (reader.tally.left_out, len(reader.tally.textless)) == ({}, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '<!DOCTYPE x [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><xml><records><record/></records></xml>',
            "declares entities",
        ),
        ("<xml><records><record><titles><title>One</title></titles></record><record>", "broken XML"),
        ("<xml><records><record><titles><title>One &nbsp; x</title></titles></record></records></xml>", "broken XML"),
    ],
)
def test_hostile_xml_is_told(tmp_path, text, told):
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(errors.SourceError, match=told):
        list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "a.xml")]))


def test_records_of_endnote_are_named_by_their_numbers():
    """Which stay as they are in a library, unless they have a name of their own."""
    text = f"<xml><records>{2 * '<record><rec-number>{}</rec-number>{}<titles><title>Lions</title></titles></record>'}"
    first, second = read_xml(f"{text}</records></xml>".format(17, "", 18, "<accession-num>WOS:1</accession-num>"))
    assert (first.own_key, second.own_key) == ("17", "WOS:1")


def test_xml_is_read_in_pieces():
    one = "<record><titles><title>{}</title></titles></record>"
    text = (
        "<xml><records>" + "".join(one.format(f"{number} " + "x" * 100) for number in range(2000)) + "</records></xml>"
    )
    assert [own.first("title").split()[0] for own in read_xml(text)] == [*map(str, range(2000))]


def test_other_xml_is_text_without_tags(run, tmp_path):
    feed = (
        '<?xml version="1.0"?><rss><channel><title>Big cats</title><item><title>Lions</title>'
        "<description><![CDATA[<p>They <b>roar</b>]]></description></item></channel></rss>"
    )
    (tmp_path / "a").write_text(feed)
    (tmp_path / "a.rss").write_text(feed.partition("?>")[2])
    assert run("index", "a.db", "a", "a.rss")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        for name in ("a", "a.rss"):
            assert set(index.items("documents").features_of(name)) == {"big", "cats"}
            assert set(index.items("documents").features_of(f"{name}#1")) == {"lions", "they", "roar"}
            assert index.items("documents").titles([name]) == {name: "Big cats"}


FIELDS = (
    ("TY", "JOUR"),
    ("TI", "Lions"),
    ("T1", "Lions"),
    ("AU", "Doe"),
    ("EP", "9"),
    ("C1", "x"),
    ("C1", "y"),
    ("RN", ""),
)


@pytest.mark.parametrize("form", FORMS)
def test_fields_without_a_tag_in_another_form_are_counted(form):
    reference = Reference(RIS, FIELDS)
    expected = {RIS: [], TABLE: ["TY", "T1", "C1", "C1"]}.get(form, ["T1", "C1", "C1"])
    assert left_behind(reference, form) == expected
    if form != TABLE:
        said = " ".join(value for _, value in converted(reference, form).fields)
        assert {"Lions", "Doe"} <= set(said.replace("{", " ").replace("}", " ").split())


def test_what_is_left_behind_is_told(run, tmp_path):
    (tmp_path / "a.ris").write_text(
        "TY  - JOUR\nTI  - Lions\nAB  - roar\nDO  - 10.1000/x\nC1  - x\nC2  - y\nC1  - z\nER  - \n"
    )
    assert run("index", "a.db", "a.ris")[0] == 0
    said = run("review", "a.db", "r", "10.1000/x", "--export", "a.bib")[2]
    assert "not in a.bib: fields of 1 record for which .bib has no place: C1 of 1, C2 of 1" in said
    assert "not in" not in run("review", "a.db", "r", "--export", "b.ris")[2]


THESIS = Reference(BIBTEX, (("title", "{A}"), ("year", "2020")), "phdthesis", "k")
TYPED = {
    "thesis": (THESIS, {PUBMED_FORM: ["@phdthesis"], WOS_FORM: ["@phdthesis"], TABLE: ["@phdthesis"]}),
    "news": (
        Reference(RIS, (("TY", "NEWS"), ("TI", "A"))),
        {form: ["TY"] for form in FORMS if form != RIS},
    ),
    "article": (Reference(RIS, (("TY", "JOUR"), ("TI", "A"), ("JO", "J"))), {}),
    "row": (Reference(TABLE, (("Title", "A"), ("Item Type", "patent"))), {form: ["Item Type"] for form in FORMS[:-1]}),
}


@pytest.mark.parametrize("name", TYPED)
def test_types_that_a_form_has_not_are_told(name):
    """A thesis is one among letters of Web of Science that mean books; PubMed and tables have no type."""
    reference, expected = TYPED[name]
    assert {form: lost for form in FORMS if (lost := left_behind(reference, form))} == expected
    for form in {RIS, PUBMED_FORM, WOS_FORM, REFER, BIBTEX} - {reference.form, *expected}:
        assert converted(converted(reference, form), BIBTEX).kind == converted(reference, BIBTEX).kind, form


def test_copies_of_one_form_give_all_their_tags():
    one = Reference(RIS, (("TY", "JOUR"), ("TI", "A"), ("AB", "x"), ("C1", "mine")))
    other = Reference(RIS, (("TY", "JOUR"), ("T1", "A"), ("C1", "yours"), ("C2", "more")))
    assert merged([one, other]).fields == (*one.fields, ("C2", "more"))
    row = Reference(TABLE, (("Title", "A"), ("Abstract", "x"), ("Citations", "9")))
    for copies in ([row, other], [other, row]):
        assert merged(copies).fields == (*other.fields, ("AB", "x")), "a form that can be written is kept"
    bib = Reference(BIBTEX, (("Title", "{A}"), ("abstract", "{x}"), ("File", "{a}")), "article", "k")
    assert merged(
        [bib, Reference(BIBTEX, (("title", "{A}"), ("file", "{b}"), ("note", "{c}")), "article", "k")]
    ).fields == (
        *bib.fields,
        ("note", "{c}"),
    )


def test_the_type_of_a_record_of_web_of_science():
    kinds = {"J": "article", "B": "book", "C": "inproceedings", "S": "misc"}
    assert {kind: converted(Reference(WOS_FORM, (("PT", kind),)), BIBTEX).kind for kind in kinds} == kinds


def test_no_column_has_two_roles():
    columns = [column for tags in TAGS[TABLE].values() for column in tags.names]
    assert len(columns) == len(set(columns)) and all(column == column.lower() for column in columns)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("article-journal", "JOUR"),
        ("journal-article", "JOUR"),
        ("book-chapter", "CHAP"),
        ("proceedings-article", "CPAPER"),
        ("Book", "BOOK"),
        ("dataset", "GEN"),
    ],
)
def test_the_type_of_a_row_is_that_of_its_export(kind, found):
    own = reference_of_row("a.json, entry 1", {"type": kind, "title": "A"})
    assert dict(converted(own, RIS).fields)["TY"] == found
