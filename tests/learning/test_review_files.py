"""A review from the files of ten exporters to files that other programs read: each record comes out as it came in."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import bibtexparser
import pytest
import rispy
from Bio import Medline

import setsearch
from setsearch import errors
from setsearch.learning import Review
from setsearch.learning.known_answers import read_known
from setsearch.learning.review_files import KINDS, SAID, write_review

EXPORTERS = sorted((Path(__file__).parents[1] / "indexing" / "exporters").iterdir())
FORMS = {"ris": "ris", "bib": "bib", "savedrecs.txt": "ciw", "pubmed.txt": "nbib", "endnote.txt": "enw"}
OURS = re.compile(r"ASReview_\w+|setsearch: .*")


def of_ris(text):
    return rispy.loads(text)


def of_bibtex(text):
    library = bibtexparser.parse_string(text)
    entries = [
        {"type": entry.entry_type.lower(), "key": entry.key} | {field.key: field.value for field in entry.fields}
        for entry in library.entries
    ]
    return [{key: value for key, value in entry.items() if not key.startswith("decision")} for entry in entries]


def of_pubmed(text):
    return [dict(record) for record in Medline.parse(io.StringIO(text)) if record]


def of_web_of_science(text):
    return rispy.loads(text, implementation=rispy.WokParser)


def of_refer(text):
    records = [re.findall(r"^%(\S) (.*(?:\n(?!%|$).*)*)", part, re.MULTILINE) for part in re.split(r"\n\n(?=%0)", text)]
    return [{"fields": own} for own in records if own]


READERS = {"ris": of_ris, "bib": of_bibtex, "nbib": of_pubmed, "ciw": of_web_of_science, "enw": of_refer}


def without_decision(record):
    """A record without the note and the keywords that an export adds."""

    def plain(value):
        if isinstance(value, list):
            return [own for own in value if not OURS.fullmatch(own if isinstance(own, str) else own[1])]
        if not isinstance(value, str):
            return value
        return ",".join(part for part in value.split(",") if not OURS.fullmatch(part.strip()))

    return {name: plain(value) for name, value in record.items() if plain(value)}


@pytest.fixture
def index(run, tmp_path):
    """An index of some files, as the command makes it."""

    def make(*paths):
        for path in paths:
            shutil.copy(path, tmp_path / path.name)
        assert run("index", "r.db", *(path.name for path in paths), "--language", "english", "--pairs")[0] == 0
        return setsearch.open(tmp_path / "r.db")

    return make


@pytest.mark.parametrize("path", EXPORTERS, ids=lambda path: path.name)
def test_a_record_comes_out_as_it_came_in(index, path):
    kind = FORMS.get(path.name) or FORMS[path.suffix[1:]]
    read = READERS[kind]
    with index(path) as opened:
        review = Review(opened, "r", "documents")
        hits = opened.items("documents").find_names("", 9)
        review.know([hits[0].item])
        for hit in hits[1:]:
            review.decide(hit.item, "no", reason="wrong population", note="ask Ann")
        text = write_review(review, kind)
    before = read(path.read_text(encoding="utf-8"))
    after = [without_decision(record) for record in read(text)]
    drop = {"ciw": "research_notes", "enw": None, "ris": "research_notes", "nbib": "GN", "bib": None}[kind]
    for record in after:
        record.pop(drop, None)
        if "fields" in record:
            record["fields"] = [own for own in record["fields"] if own != ("Z", "ask Ann")]
    key = lambda record: sorted(map(str, record.items()))  # noqa: E731
    assert sorted(after, key=key) == sorted(before, key=key)


def test_a_review_from_ten_exporters_to_zotero(index, run, tmp_path):
    """Index, known answers, decisions by page and command, export, and the same records once more."""
    with index(*EXPORTERS) as opened:
        documents = opened.items("documents")
        assert documents.item_count() == 8
        review = Review(opened, "cats", "documents")
        review.know(["PMID: 30501234"], ["DBLP:conf/nips/GhahramaniH05"])
        asked = []
        while hits := review.queue():
            asked.append(hits[0].item)
            review.decide(hits[0].item, "yes" if len(asked) == 1 else "no", reason="" if len(asked) == 1 else "animals")
        assert len(asked) == 6 and review.progress().read == 8
        texts = {kind: write_review(review, kind) for kind in KINDS}
        before = {own.item: documents.features_of(own.item) for own in review.decisions()}
    exported = rispy.loads(texts["ris"])
    assert len(exported) == 8
    for record in exported:
        assert sum(note in SAID.values() for note in record["notes"]) == 1
        (decision,) = (word for word in record["keywords"] if re.fullmatch("setsearch: (included|excluded)", word))
        assert ("setsearch: reason: animals" in record["keywords"]) == (decision == "setsearch: excluded") or (
            record["title"] == "Bayesian Sets"
        )
    aspirin = next(record for record in exported if record.get("doi", "").lower().endswith("asp.2019"))
    assert aspirin["issn"] == "1474-547X" and len(aspirin["primary_title"]) > 80, "whole, and completed"
    rows = list(csv.DictReader(io.StringIO(texts["csv"])))
    assert [row["decision"] for row in rows].count("yes") == 2
    row = next(row for row in rows if row["doi"] == "10.1000/asp.2019")
    assert (row["year"], row["journal"], row["authors"]) == ("2019", "Lancet", "Smith, John A; Müller, Eva")
    assert row["when"].startswith("20") and row["title"].endswith("randomised controlled trial")
    assert sum(row["reason"] == "animals" for row in rows) == 5
    assert row["abstract"].startswith("BACKGROUND") and "; " in row["keywords"]
    assert len(of_pubmed(texts["nbib"])) == len(of_bibtex(texts["bib"])) == 8
    for kind, text in texts.items():  # into another review, by whatever names
        (tmp_path / f"known.{kind}").write_text(text, encoding="utf-8")
        with setsearch.open(tmp_path / "r.db") as opened:
            accepted, rejected, *_ = read_known(str(tmp_path / f"known.{kind}"), opened.items("documents"))
            find = opened.items("documents").find
            assert {find(item) for item in accepted} == {"10.1000/asp.2019", asked[0]}, kind
            assert len({find(item) for item in rejected}) == 6, kind
    (tmp_path / "out.ris").write_text(texts["ris"], encoding="utf-8")
    assert run("index", "r.db", "out.ris")[0] == 0
    with setsearch.open(tmp_path / "r.db") as opened:
        assert opened.items("documents").item_count() == 8, "the export is the same records"
        review = Review(opened, "cats")
        assert not review.queue()
        again = rispy.loads(write_review(review, "ris"))
        assert all(sum(note in SAID.values() for note in record["notes"]) == 1 for record in again)
        assert opened.check() == []
    (tmp_path / "out.csv").write_text(texts["csv"], encoding="utf-8")
    assert run("index", "again.db", "out.csv", "--language", "english", "--pairs")[0] == 0
    with setsearch.open(tmp_path / "again.db") as opened:
        own = opened.items("documents")
        assert {item: own.features_of(item) for item in before} == before and own.item_count() == len(before) == 8


def test_a_record_tells_who_wrote_it_where_and_when(index, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ris").write_text("TY  - JOUR\nTI  - A\nAU  - Doe, J.\nT2  - Stroke\nPY  - 2015/01\nER  - \n")
    with index(tmp_path / "in" / "a.ris") as opened:
        assert Review(opened, "r", "documents").record("a.ris#1", None).source == "Doe, J. Stroke. 2015."


@pytest.mark.parametrize("kind", KINDS)
def test_reasons_and_notes_come_with_known_answers(index, run, tmp_path, kind):
    """What one reviewer exports, another one has whole."""
    with index(*EXPORTERS) as opened:
        review = Review(opened, "cats", "documents")
        review.decide("10.1000/asp.2019", "yes", note="the main trial")
        review.decide("10.1000/cats", "no", reason="animals", note="ask Ann")
        review.decide("10.1000/birds", "no", reason="birds")
        (tmp_path / f"a.{kind}").write_text(write_review(review, kind), encoding="utf-8")
    assert run("review", "r.db", "dogs", "--known", f"a.{kind}", "--export", "b.csv")[0] == 0
    with setsearch.open(tmp_path / "r.db") as opened:
        found = {own.item: (own.said, own.reason or "", own.note or "") for own in Review(opened, "dogs").decisions()}
    assert found == {
        "10.1000/asp.2019": ("yes", "", "the main trial"),
        "10.1000/cats": ("no", "animals", "ask Ann"),
        "10.1000/birds": ("no", "birds", ""),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_that_is_indexed_has_each_note_once(index, run, tmp_path, kind):
    with index(*EXPORTERS) as opened:
        review = Review(opened, "cats", "documents")
        review.decide("10.1000/asp.2019", "yes", note="the main trial")
        review.decide("10.1000/cats", "no", reason="animals", note="ask Ann")
        (tmp_path / f"a.{kind}").write_text(write_review(review, kind), encoding="utf-8")
    assert run("index", "b.db", f"a.{kind}")[0] == 0
    code, _, said = run("review", "b.db", "r", "--known", f"a.{kind}", "--export", f"b.{kind}")
    assert code == 0 and "has no place" not in said
    for name in ("a", "b"):
        text = (tmp_path / f"{name}.{kind}").read_text()
        assert text.count("the main trial") == text.count("ask Ann") == 1, name


OF_OTHERS = {
    "rayyan.csv": 'title,notes\nSongs of birds in cities,"RAYYAN-INCLUSION: {""Ann""=>""Excluded""} | RAYYAN-LABELS: x'
    ' | RAYYAN-EXCLUSION-REASONS: wrong outcome,no trial | USER-NOTES: {""Ann""=>[""look again"", ""twice""]}"\n',
    "rayyan.ris": "TY  - JOUR\nDO  - 10.1000/birds\nAB  - No exclusion reason: none.\nN1  - RAYYAN-INCLUSION: "
    '{"Ann"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: wrong outcome,no trial | USER-NOTES: {"Ann"=>["look again", '
    '"twice"]}\nER  - \n',
    "covidence.csv": "Title,DOI,Notes,note\nSongs,10.1000/birds,Exclusion reason: wrong outcome; Exclusion reason: no "
    'trial;,"Ann: look again, twice"\n',
    "asreview.csv": "doi,asreview_label,asreview_note,reason\n"
    '10.1000/birds,0,"Ann: look again, twice","wrong outcome, no trial"\n',
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_reasons_and_notes_of_other_programs_come_along(index, run, tmp_path, name):
    index(*EXPORTERS).close()
    (tmp_path / name).write_text(OF_OTHERS[name])
    code, _, said = run("review", "r.db", "r", "--known", name, "--export", "o.csv")
    assert code == 0, said
    rows = csv.DictReader((tmp_path / "o.csv").read_text().splitlines())
    (birds,) = (row for row in rows if row["decision"] == "no")
    assert birds["reason"].replace(",no", ", no") == "wrong outcome, no trial"
    assert birds["note"] == "Ann: look again, twice"


def test_equal_answers_take_the_reason_that_they_lack(index, run, tmp_path):
    with index(*EXPORTERS) as opened:
        review = Review(opened, "cats", "documents")
        review.decide("10.1000/cats", "no")
        review.decide("10.1000/birds", "no", reason="birds")
        before = {own.item: own for own in review.decisions()}
    (tmp_path / "a.csv").write_text(
        "item,decision,reason,note\n10.1000/cats,no,animals,hm\n10.1000/birds,no,wings,hm\n"
    )
    assert run("review", "r.db", "cats", "--known", "a.csv", "--export", "b.csv")[0] == 0
    with setsearch.open(tmp_path / "r.db") as opened:
        found = {own.item: own for own in Review(opened, "cats").decisions()}
    assert found["10.1000/cats"] == before["10.1000/cats"]._replace(reason="animals", note="hm")
    assert found["10.1000/birds"] == before["10.1000/birds"]._replace(note="hm")
    assert run("check", "r.db")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_decided_is_no_word_of_a_record(index, run, tmp_path, kind):
    """An export that is indexed again has no feature more than the first files, and tells the newest answers."""
    with index(*EXPORTERS) as opened:
        documents = opened.items("documents")
        review = Review(opened, "cats", "documents")
        said = {"10.1000/asp.2019": "yes", "10.1000/cats": "no", "10.1000/birds": "later"}
        for item, word in said.items():
            reason = "wrong population, children; adults" if word == "no" else ""
            review.decide(item, word, reason=reason, note="ask; Ann, perhaps")
        before = {item: set(documents.features_of(item)) for item in said}
        (tmp_path / f"again.{kind}").write_text(write_review(review, kind), encoding="utf-8")
    assert run("index", "again.db", f"again.{kind}", "--language", "english", "--pairs")[0] == 0
    with setsearch.open(tmp_path / "again.db") as again:
        documents = again.items("documents")
        assert not any(set(documents.features_of(item)) - own for item, own in before.items())
        review = Review(again, "dogs", "documents")
        review.know(["10.1000/cats"])  # a newer answer, which the export tells instead of the earlier one
        (tmp_path / f"newer.{kind}").write_text(write_review(review, kind), encoding="utf-8")
        known = read_known(str(tmp_path / f"newer.{kind}"), documents)
        assert "10.1000/cats" in known.accepted and not known.problems


def test_any_document_of_a_table_is_indexed_again(run, tmp_path):
    (tmp_path / "d.jsonl").write_text(
        '{"id": "d1", "title": "Cats", "text": "Cats\\nLions, tigers"}\n{"id": "d2", "text": "oats"}'
    )
    assert run("index", "d.db", "d.jsonl")[0] == run("review", "d.db", "r", "d1", "--export", "d.csv")[0] == 0
    assert run("index", "e.db", "d.csv")[0] == 0
    with setsearch.open(tmp_path / "e.db") as index:
        assert index.items("documents").features_of("d1") == {"cats": 1, "lions": 1, "tigers": 1}


def test_what_a_spreadsheet_takes_for_a_formula_comes_back(run, tmp_path):
    names = ["-ware", "@stake", "=sum", "'quoted", "'@x"]
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps({"id": own, "text": f"lions {own}"}) for own in names))
    assert run("index", "d.db", "d.jsonl")[0] == 0
    with setsearch.open(tmp_path / "d.db") as index:
        review = Review(index, "r", "documents")
        for name in names:
            review.decide(name, "no", reason=f"{name} is odd", note=f"{name} again")
        review.decide("@stake", "yes")
        (tmp_path / "a.csv").write_text(write_review(review, "csv"), encoding="utf-8")
        before = {own.item: (own.said, own.reason, own.note) for own in review.decisions()}
    code, _, said = run("review", "d.db", "again", "--known", "a.csv", "--export", "b.csv")
    assert code == 0 and "not count" not in said
    with setsearch.open(tmp_path / "d.db") as index:
        assert {
            own.item: (own.said, own.reason, own.note) for own in index.decisions("again", "documents").read()
        } == before


KNOWN = {
    "doi.csv": "doi,included\nhttps://doi.org/10.1000/CATS,1\n10.1000/birds,0\n",
    "pmid.csv": "item,decision\nPMID: 21000007,yes\n30900003,excluded\n",
    "keys.csv": "item;decision\nSmith2019;yes\nWOS:000500001;no\n",
    "titles.csv": "title,decision\nSleep of cats,yes\nSONGS of birds in cities.,no\n",
    "older.csv": "item,decision\nmendeley.bib#10.1000/cats,yes\n",
    "rayyan.ris": 'TY  - JOUR\nTI  - Sleep of cats\nN1  - RAYYAN-INCLUSION: {"Ann"=>"Included"}\nER  - \n',
    "zotero.txt": "TY  - JOUR\nTI  - Sleep of cats\nPY  - 2019\nKW  - setsearch: included\nER  - \n",
    "asreview.nbib": "PMID- 21000007\nTI  - Dogs\nGN  - ASReview_relevant\n",
    "own.bib": "@article{Smith2019, title={Sleep of cats}, decision={included}}",
    "asreview.csv": "record_id,title,doi,asreview_label\n0,Sleep of cats,,1\n1,Songs,10.1000/BIRDS,0\n2,Dogs,,\n",
    "asreview1.csv": "record_id,title,included\n0,Sleep of cats,1\n",
    "rayyan.csv": "key,title,notes\nrayyan-1,"
    'Sleep of cats,"RAYYAN-INCLUSION: {""Ann""=>""Included"", ""Bo""=>""Maybe""}"\n',
    "covidence.csv": "Title,DOI,Notes,Status\n"
    "Songs,10.1000/birds,Exclusion reason: Wrong animals;,\nSleep of cats,,,Included\n",
    "of_tabs.tsv": "Item\tDecision\nSleep of cats\tInclude\n",
    "lines.jsonl": '{"item": 21000007, "decision": true}\n',
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers_take_any_name(index, tmp_path, name):
    (tmp_path / name).write_text(KNOWN[name])
    with index(*EXPORTERS) as opened:
        documents = opened.items("documents")
        accepted, rejected, *_ = read_known(str(tmp_path / name), documents)
        assert {documents.find(item) for item in accepted} <= {"10.1000/cats", "21000007"} and accepted
        assert {documents.find(item) for item in rejected} <= {"10.1000/birds", "30900003"}


KNOWN_BUT = """item,title,decision
10.1000/cats,,yes
10.1000/birds,,no
10.1000/none,,yes
21000007,,perhaps
,A title that nobody has,no
"30900003" x,,no
30900003,,yes
,Wheat,
PMID: 30900003,,no
,,yes
"""


def test_answers_that_do_not_count_are_listed_and_the_rest_is_taken(index, run, tmp_path, monkeypatch):
    (tmp_path / "k.csv").write_text(KNOWN_BUT)
    with index(*EXPORTERS) as opened:
        accepted, rejected, problems, *_ = read_known("k.csv", opened.items("documents"))
    assert (accepted, rejected) == (["10.1000/cats"], ["10.1000/birds"])
    assert [line.partition(":")[0] for line in problems] == [f"k.csv, line {line}" for line in (4, 5, 6, 7, 10, 11)]
    told = [
        "has no '10.1000/none'",
        "not 'perhaps'",
        "has no 'A title",
        "invalid",
        "'30900003' is no here",
        "without a name",
    ]
    told[3] = "expected"
    assert all(words in line for words, line in zip(told, problems, strict=True)), problems
    assert "line 8, so neither counts" in problems[4]
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    code, _, said = run("review", "r.db", "r", "--no", "10.1000/cats", "21000007", "--known", "k.csv")
    assert code == 0 and "k.csv: 0 yes, 1 no\n7 answers do not count:\n  k.csv, line 2: " in said
    assert "and no on the command line, which counts" in said
    assert "--errors" not in said


def test_reviewers_who_disagree_are_listed(index, tmp_path):
    notes = 'RAYYAN-INCLUSION: {"Ann"=>"Included", "Bo"=>"Excluded"} | RAYYAN-LABELS: x'
    text = f"TY  - JOUR\nTI  - Sleep of cats\nN1  - {notes}\nER  - \n"
    (tmp_path / "k.ris").write_text(text + text.replace("Included", "Excluded").replace("Sleep of cats", "Dogs"))
    with index(*EXPORTERS) as opened, pytest.raises(errors.SourceError, match="line 1: the reviewers disagree"):
        read_known("k.ris", opened.items("documents"))


LATER = {
    "rayyan.ris": 'TY  - JOUR\nTI  - Dogs\nN1  - RAYYAN-INCLUSION: {"Ann"=>"Maybe"}\nER  - \n',
    "own.ris": "TY  - JOUR\nTI  - Dogs\nN1  - ASReview_not_seen\nKW  - setsearch: later\nER  - \n",
    "own.bib": "@article{x, title={Dogs}, decision={later}}",
    "votes.csv": "title,vote\nDogs,Maybe\n",
}


@pytest.mark.parametrize("name", LATER)
def test_records_put_off_are_counted(index, tmp_path, name):
    (tmp_path / name).write_text(LATER[name])
    with index(*EXPORTERS) as opened, pytest.raises(errors.SourceError, match="has no answers but 1 later"):
        read_known(name, opened.items("documents"))


def test_known_answers_may_come_on_standard_input(index, run, monkeypatch):
    index(*EXPORTERS).close()
    for text in (KNOWN["doi.csv"], KNOWN["rayyan.ris"], KNOWN["own.bib"], KNOWN["asreview.csv"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code, _, said = run("review", "r.db", "r", "--known", "-", "--export", "o.csv", "--replace")
        assert code == 0 and "-: 1 yes, " in said, said


def test_a_set_that_is_not_there_is_not_exported(index, run, failed, tmp_path):
    index(*EXPORTERS).close()
    failed(run("review", "r.db", "nosuch", "--export", "o.csv"), 1, "no set 'nosuch'; there is ")
    assert not (tmp_path / "o.csv").exists()


def test_known_answers_are_decoded_as_files_are(index, tmp_path):
    text = "TY  - JOUR\r\nTI  - Löwen in Köln\r\nN1  - ASReview_relevant\r\nER  - \r\n"
    (tmp_path / "k.ris").write_bytes(text.encode("latin-1"))
    with index(*EXPORTERS) as opened:
        opened.update([("a", "Löwen in Köln", "Löwen in Köln")])
        assert read_known(str(tmp_path / "k.ris"), opened.items("documents"))[:3] == (["a"], [], [])


def test_reasons_and_notes_are_typed(index, run, tmp_path, monkeypatch):
    index(*EXPORTERS).close()
    monkeypatch.setattr("sys.stdin", io.StringIO("m ask Ann\nn wrong  population\ny\nq\n"))
    code, _, said = run("review", "r.db", "r", "10.1000/cats")
    assert code == 0 and "Sato, Yuki. 2001" in said
    with setsearch.open(tmp_path / "r.db") as opened:
        first, second = (decision for decision in Review(opened, "r").decisions() if decision.number)
    assert (first.said, first.reason, first.note) == ("no", "wrong  population", "ask Ann")
    assert (second.said, second.reason, second.note) == ("yes", None, None)
