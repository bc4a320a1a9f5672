"""Tables as museums, laboratories and programs export them: gaps, several names in a cell, headers of two rows."""

import gzip
import importlib.util
import json

import pandas
import pytest

import setsearch

OBJECTS = "id;material;maker;about\n1;silver; Ann ;a jug\n2;;Bob;a bowl\n3;silver; ;a cup\n4;oak; Ann | Bob;a chest\n"
BY_MATERIAL = ("--items", "material", "--features", "id")


def features(path, items):
    """The features of each item."""
    with setsearch.open(path) as index:
        reading = index.items(items)
        with reading.stored() as fields:
            names = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
        return {name: {*reading.features_of(name)} for name in names}


def test_a_row_about_nothing_is_left_out_and_counted(run, failed, tmp_path):
    (tmp_path / "a.csv").write_text(OBJECTS)
    code, _, said = run("index", "a.db", "a.csv", *BY_MATERIAL)
    assert code == 0 and "not read: 1 row without material" in said
    assert features(tmp_path / "a.db", "material") == {"silver": {"1", "3"}, "oak": {"4"}}
    rows = [{"material": "silver", "id": 1}, {"material": None, "id": 2}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "not read: 1 row without material" in run("index", "j.db", "a.jsonl", *BY_MATERIAL)[2]
    (tmp_path / "none.csv").write_text("material{s};id\n;1\n;2\n")
    of_none = ("--items", "material{s}", "--features", "id")
    failed(run("index", "n.db", "none.csv", *of_none), 1, "nothing to index", "2 rows without material{s}")


def test_an_empty_cell_of_features_has_none(run, tmp_path):
    (tmp_path / "a.csv").write_text(OBJECTS)
    assert run("index", "a.db", "a.csv", "--items", "id", "--features", "material")[0] == 0
    assert features(tmp_path / "a.db", "id") == {"1": {"silver"}, "2": set(), "3": {"silver"}, "4": {"oak"}}


def test_a_row_is_of_all_groups_that_its_cell_names(run, tmp_path):
    (tmp_path / "a.csv").write_text(OBJECTS)
    texts = ("--group-by", "maker", "--text", "about", "--split", "|")
    assert run("index", "a.db", "a.csv", *texts)[0] == 0
    assert features(tmp_path / "a.db", "maker") == {"Ann": {"a", "jug", "chest"}, "Bob": {"a", "bowl", "chest"}}
    rows = [{"maker": ["Ann", "Bob"], "about": "a chest"}, {"maker": [], "about": "a bowl"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "j.db", "a.jsonl", *texts[:4])[0] == 0
    assert features(tmp_path / "j.db", "maker") == {"Ann": {"a", "chest"}, "Bob": {"a", "chest"}}


def test_a_matrix_is_vectors_of_what_one_column_names(run, failed, tmp_path):
    (tmp_path / "m.tsv").write_text("gene\ts1\ts2\ns\t1\t0\nt\t0,9\t0,1\nu\t0\t1\n")
    code, _, said = run("vectors", "a.db", "m.tsv", "--id", "gene", "--items", "gene")
    assert code == 0 and "3 gene with 2 dimensions" in said
    rows = [{"gene": "s", "vector": [1, 0]}, {"gene": "t", "vector": [0.9, 0.1]}, {"gene": "u", "vector": [0, 1]}]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("vectors", "b.db", "m.jsonl", "--id", "gene", "--items", "gene")[0] == 0
    answers = [run("expand", name, "s", "--items", "gene", "--json")[1] for name in ("a.db", "b.db")]
    assert answers[0] == answers[1] and json.loads(answers[0])[0]["item"] == "t"


def test_a_matrix_of_other_things_than_numbers_is_refused(run, failed, tmp_path):
    wrong = {
        "gene,s1,s2\ns,,1\n": "line 2: the column 's1' is '', not a finite number",
        "gene,s1,s1,s2\ns,1,2,3\n": "several columns are named 's1'",
        "gene,s1\ns,1\nt,x\n": "line 3: the column 's1' is 'x'",
        "gene,about\ns,lions\n": "no column 'vector'",
        "name,s1\ns,1\n": "no column 'gene'",
    }
    for text, told in wrong.items():
        (tmp_path / "m.csv").write_text(text)
        failed(run("vectors", "a.db", "m.csv", "--id", "gene", "--items", "gene"), 1, told)


HEADS = {
    "a row of groups": "What;;Made;;Text\nno;name;by;of;about\n",
    "a row of as many names": "A;B;C;D;E\nno;name;by;of;about\n",
    "a title, a row of groups and units": "Our museum\n\nWhat;;Made;;\ntext;text;text;text;text\nno;name;by;of;about\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_the_header_has_the_columns_that_are_asked_for(run, tmp_path, head):
    (tmp_path / "a.csv").write_text(f"{head}1;jug;Ann;silver;with a lid\n2;bowl;;oak;round\n")
    code, _, said = run("index", "a.db", "a.csv", "--id", "no", "--text", "name", "--text", "about")
    assert code == 0 and "above the header" in said
    assert features(tmp_path / "a.db", "documents") == {"1": {"jug", "with", "a", "lid"}, "2": {"bowl", "round"}}
    assert run("index", "b.db", "a.csv", "--items", "no", "--features", "of")[0] == 0
    assert features(tmp_path / "b.db", "no") == {"1": {"silver"}, "2": {"oak"}}


def test_the_header_of_a_sheet_has_the_columns_that_are_asked_for(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install setsearch[office]")
    book = openpyxl.Workbook()
    others, objects, more = book.active, book.create_sheet("Objects"), book.create_sheet("More")
    for row in (["year", "visitors"], [2024, 7]):
        others.append(row)
    for sheet, name in ((objects, "jug"), (more, "bowl")):
        for row in (["What", None, "Text"], ["no", "name", "about"], [f"{name} 1", name, "round"]):
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    texts = ("--id", "no", "--text", "name", "--text", "about")
    assert "not those with other columns" in run("index", "a.db", "a.xlsx", *texts)[2]
    assert features(tmp_path / "a.db", "documents") == {"jug 1": {"jug", "round"}, "bowl 1": {"bowl", "round"}}
    assert run("index", "b.db", "a.xlsx", "--items", "no", "--features", "name")[0] == 0
    assert features(tmp_path / "b.db", "no") == {"jug 1": {"jug"}, "bowl 1": {"bowl"}}
    code, _, said = run("index", "c.db", "a.xlsx", "--items", "no", "--features", "colour")
    assert code == 1 and "no column 'no'; it has year" in said


TERMS = {"TP53": {"GO:1"}, "ATM": {"GO:1", "GO:2"}}
NAMED = {
    "two columns": ("TP53\tGO:1\nATM\tGO:1\nATM\tGO:2\n", "gene,term", TERMS),
    "a comma": ("TP53,GO:1\nATM,GO:1\nATM,GO:2\n", "gene,term", TERMS),
    "comments": ("!gaf\n" * 30 + "#\n\nTP53\tGO:1\n!ATM\tGO:2\n", "gene,term", {"TP53": {"GO:1"}, "!ATM": {"GO:2"}}),
    "other cells": ("x\tTP53\tGO:1\ty\nx\tATM\tGO:1\nx\tATM\tGO:2\t\t\n", "db,gene,term,...", TERMS),
    "a list": ("TP53\tGO:1\nATM\tGO:1\tGO:2\nKRAS\t\n", " gene , term ...", {**TERMS, "KRAS": set()}),
}


@pytest.mark.parametrize(("text", "header", "expected"), NAMED.values(), ids=NAMED)
def test_columns_without_names_get_some(run, tmp_path, text, header, expected):
    relation = ("--header", header, "--items", "gene", "--features", "term")
    for name in ("a.csv", "a.gaf", "a"):
        (tmp_path / name).write_text(text)
        code, _, said = run("index", "a.db", name, *relation, "--replace")
        assert code == 0 and ("left out 31 lines above the rows (!gaf)" in said) == text.startswith("!")
        assert features(tmp_path / "a.db", "gene") == expected
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    assert run("index", "b.db", "a.gz", *relation)[0] == 0
    assert run("index", "c.db", "-", *relation, stdin=text.encode())[0] == 0
    assert features(tmp_path / "b.db", "gene") == features(tmp_path / "c.db", "gene") == expected


def test_names_of_columns_that_do_not_fit(run, failed, tmp_path):
    (tmp_path / "a.tsv").write_text("TP53\tGO:1\nATM\tGO:1\tGO:2\n")
    (tmp_path / "a.json").write_text("[]")
    relation = ("--items", "gene", "--features", "term")

    def index(source, header, *more):
        return run("index", "a.db", source, "--header", header, *more, *relation)

    failed(index("a.tsv", "gene,term"), 1, "line 2: 3 fields, but the header has 2")
    failed(index("a.tsv", "gene,a,term"), 1, "line 1: 2 fields, but the header has 3")
    failed(index("a.tsv", "gene,what..."), 1, "no column 'term'; it has gene, what")
    (tmp_path / "b.tsv").write_text("TP53\tGO:1\nATM\tGO:1\n")
    failed(run("index", "a.db", "b.tsv", *relation), 1, "--header, if the first line names none")
    failed(index("no.tsv", "gene,term"), 1, "no.tsv does not exist")
    failed(index("a.json", "gene,term"), 2, "a.json is none")
    failed(index(".", "gene,term"), 2, ". is none")
    failed(index("a.tsv", "gene,term", "--table", "t"), 2, "--header is for files")
    for header in ("gene,gene", "gene,,term", "", "gene,gene...", "..."):
        failed(index("a.tsv", header), 2, "--header names columns once each")


def test_sets_of_genes(run, tmp_path):
    (tmp_path / "a.gmt").write_text("repair\thttps://example.org\tTP53\tATM\ncycle\t\tATM\t\n")
    relation = ("--header", "set,about,gene...", "--items", "set", "--features", "gene")
    assert run("index", "a.db", "a.gmt", *relation)[0] == 0
    assert features(tmp_path / "a.db", "gene") == {"TP53": {"repair"}, "ATM": {"repair", "cycle"}}
    assert run("set", "import", "a.db", "a.gmt", "--items", "gene") == (0, "", "saved 2 sets: 3 accepted, 0 rejected\n")
    with setsearch.open(tmp_path / "a.db") as index:
        sets = {own["name"]: {*own["accepted"]} for own in index.export_sets()}
    assert sets == {"repair": {"ATM", "TP53"}, "cycle": {"ATM"}}
    (tmp_path / "b.gmt").write_text('open\t"3\' end\tTP53\tATM\nquoted\t"DNA" repair\tATM\n')  # quotes are letters
    assert run("set", "import", "a.db", "b.gmt", "--items", "gene") == (0, "", "saved 2 sets: 3 accepted, 0 rejected\n")


def test_names_of_rows_have_no_name_in_r_and_pandas(run, failed, tmp_path):
    table = pandas.DataFrame({"about": ["a jug", "a cup"], "s1": [1.5, 2.0]}, index=["x", "y"])
    table.to_csv(tmp_path / "a.csv")
    (tmp_path / "r.csv").write_text('"","about","s1"\n"x","a jug",1.5\n"y","a cup",2\n')
    sources = ["a.csv", "r.csv"]
    if importlib.util.find_spec("openpyxl"):
        table.to_excel(tmp_path / "a.xlsx")
        sources.append("a.xlsx")
    for source in sources:
        assert run("index", "a.db", source, "--id", "rownames", "--text", "about", "--replace")[0] == 0
        assert features(tmp_path / "a.db", "documents") == {"x": {"a", "jug"}, "y": {"a", "cup"}}
        assert run("index", "b.db", source, "--items", "rownames", "--features", "about", "--replace")[0] == 0
        assert features(tmp_path / "b.db", "rownames") == {"x": {"a jug"}, "y": {"a cup"}}
    failed(run("index", "c.db", "r.csv"), 1, "no column 'text'; it has rownames, about, s1")


def test_numbers_of_rows_are_no_part_of_a_matrix(run, tmp_path):
    pandas.DataFrame({"gene": ["s", "t"], "s1": [1.0, 2.0], "s2": [1.0, 2.0]}).to_csv(tmp_path / "m.csv")
    assert "2 gene with 2 dimensions" in run("vectors", "a.db", "m.csv", "--id", "gene", "--items", "gene")[2]
    pandas.DataFrame({"s1": [1.0, 2.0]}, index=["s", "t"]).to_csv(tmp_path / "n.csv")
    assert "2 gene with 1 dimension" in run("vectors", "b.db", "n.csv", "--id", "rownames", "--items", "gene")[2]


def test_new_documents_without_the_fields_of_others_are_told(run, tmp_path):
    (tmp_path / "a.csv").write_text("id,text,of,year\n1,a jug,silver,1890\n2,a cup,oak,1900\n")
    (tmp_path / "b.csv").write_text("id,text,of\n2,a cup,oak\n3,a bowl,silver\n4,a plate,oak\n")
    assert "without" not in run("index", "a.db", "a.csv", "--tags", "of", "--numbers", "year")[2]
    assert "without" not in run("index", "a.db", "a.csv")[2], "nothing is new"
    said = run("index", "a.db", "b.csv", "--tags", "of")[2]
    assert "2 documents are new, without the fields year: --tags, --links and --numbers name their columns" in said
    (tmp_path / "c.csv").write_text("id,text\n5,a spoon\n")
    assert "1 document is new, without the fields of, year:" in run("index", "a.db", "c.csv")[2]
    assert "without" not in run("index", "a.db", "b.csv", "--replace")[2]
