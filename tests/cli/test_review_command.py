"""Reviews in the terminal, and from file to file."""

import io
import json
import subprocess
import sys

import pytest

import setsearch
from setsearch.cli.commands.review import write_file
from setsearch.errors import SourceError
from setsearch.learning.known_answers import read_known
from setsearch.learning.review import Review
from setsearch.learning.review_files import write_review

RECORDS = {
    "r1": ("Aspirin after stroke", "a trial of aspirin in stroke patients"),
    "r2": ("Statins after stroke", "a trial of statins in stroke patients"),
    "r3": ("Rain in April", "rain and wind in spring"),
    "r4": ("Surgery after stroke", "clot removal in stroke patients"),
    "r5": ("=Storms", "wind and thunder"),
}


@pytest.fixture
def review(run, tmp_path, monkeypatch):
    rows = [{"id": id, "title": title, "text": f"{title}\n{text}"} for id, (title, text) in RECORDS.items()]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "r.db", "r.jsonl", "--language", "english", "--pairs", "--title-weight", "1")[0] == 0

    def dialogue(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return run("review", "r.db", "stroke", *arguments)

    return dialogue


def test_answers_are_kept_and_gone_on_with(review, tmp_path):
    code, out, err = review("y\nl\nw\nt\nx\nu\nn\nq\n", "r1", "--no", "r3")
    assert (code, out) == (0, "")
    assert "2 found, 4 of 5 read" in err and "undone: later to" in err
    with setsearch.open(tmp_path / "r.db") as index:
        assert len(index.set("stroke").accepted) == 2 and index.items("documents").features_of("r1")["aspirin"] == 3
    code, _, err = review("n\n")  # and the input ends
    assert code == 0 and "all are decided" in err
    assert err.endswith("5 of 5 read; it is finished, `setsearch review r.db stroke --export FILE` writes it\n")
    code, _, err = review("u\nu\nu\nu\nq\n")
    assert code == 0 and "all are decided" in err


def test_a_review_without_a_find_can_be_finished(review):
    nothing = [part for id in RECORDS for part in ("--no", id)]
    code, _, err = review("", *nothing[2:])
    assert code == 1 and "has no accepted item to begin with" in err
    code, _, err = review("", *nothing[:2])
    assert code == 0 and "all are decided; " in err and "stroke: 0 found, 5 of 5 read; it is finished, " in err


def test_a_note_is_kept_at_once_and_undone_alone(review, tmp_path):
    """Also if the dialogue ends before an answer; a later answer leaves it."""

    def kept():
        with setsearch.open(tmp_path / "r.db") as index:
            return [own[1:3] + own[5:] for own in Review(index, "stroke").decisions()[1:]]

    code, _, err = review("m my note\n", "r1")  # and the input ends
    assert code == 0 and "note: my note\n" in err
    assert kept() == [("later", 1, "my note")]
    err = review("y\ny\nm ask Ann\nu\nm\nq\n")[2]
    assert "undone: the note on r" in err and ": ask Ann\n" in err and err.count("m  a note") == 1
    assert [own[0] for own in kept()] == ["later", "yes", "yes"], "the earlier answers stay"
    review("n\nn\n")
    assert [own[::2] for own in kept()] == [("yes", None), ("yes", None), ("no", None), ("no", "my note")]


def test_an_answer_is_undone_and_its_note_stays(review, tmp_path):
    err = review("m ask Ann\nn too old\nu\nu\nq\n", "r1")[2]
    undone = [line for line in err.splitlines() if "undone: " in line]
    item = undone[0].split()[-3]
    assert [line.removeprefix("> ") for line in undone] == [
        f"undone: no to {item} (too old)", f"undone: the note on {item}: ask Ann",
    ]  # fmt: skip
    shown = [line for line in err.splitlines() if line.endswith(f"({item})")]
    assert len(shown) == 3, "what was undone is shown again"
    assert len(kept_of(tmp_path)) == 1


def test_the_last_answer_can_be_undone(review, tmp_path):
    err = review("y\ny\nn\ny\nu\nm Ann\nn\n", "r1")[2]
    assert err.count("all are decided; u undo, q done") == 2 and "undone: yes to" in err
    assert kept_of(tmp_path)[-1] == ("no", "Ann")


def kept_of(tmp_path):
    with setsearch.open(tmp_path / "r.db") as index:
        return [(own.said, own.note) for own in Review(index, "stroke").decisions()]


def test_a_review_that_somebody_deletes_is_told(run, review, tmp_path, monkeypatch):
    def lines(*typed):
        yield "y"
        with setsearch.open(tmp_path / "r.db") as index:
            index.delete_set("stroke")
        yield from typed

    review("q\n", "r1")
    monkeypatch.setattr("setsearch.cli.commands.review.typed_lines", lambda: lines("n", "r", "n"))
    code, _, err = run("review", "r.db", "stroke")
    gone = (
        "Error: somebody has deleted the set 'stroke' meanwhile, and nothing was saved; r brings its 2 answers back\n"
    )
    assert code == 0 and gone in err and "stroke: 2 found, 3 of 5 read; " in err
    monkeypatch.setattr("setsearch.cli.commands.review.typed_lines", lambda: lines("y"))
    code, _, err = run("review", "r.db", "stroke")
    last = "Error: somebody has deleted the set 'stroke'; `setsearch review r.db stroke \"TITLE\"` begins it anew\n"
    assert code == 1 and err.endswith(last)


def test_an_answer_of_somebody_else_is_overruled_only_on_purpose(review, tmp_path, monkeypatch):
    def lines():
        """What is typed; somebody else answers before the first line, and before the third."""
        for typed in ("n wrong part", "!", "m ask Ann", "q"):
            if typed[1:]:
                with setsearch.open(tmp_path / "r.db") as index:
                    own = Review(index, "stroke")
                    shown.append(own.queue()[0].item)
                    own.decide(shown[-1], "yes")
            yield typed

    shown = []
    monkeypatch.setattr("setsearch.cli.commands.review.typed_lines", lines)
    code, _, err = review("", "r1")
    first, second = shown
    assert code == 0
    told = "Error: somebody has said yes to {} meanwhile, and your {} was not saved; ! overrules it\n"
    assert told.format(first, "no") in err and f"replaced: yes to {first}; u brings it back" in err
    assert told.format(second, "later") in err
    with setsearch.open(tmp_path / "r.db") as index:
        said = {own.item: own[1:2] + own[4:] for own in Review(index, "stroke").decisions()}
    assert said[first] == ("no", "wrong part", None) and said[second] == ("yes", None, None)


def test_a_file_is_not_overwritten_by_an_export(review, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    code, out, err = review("", "r1", "--export", "out.csv")
    assert (code, out) == (2, "") and (tmp_path / "out.csv").read_text() == "mine"
    assert err == "Error: out.csv exists already; name a new file, or replace it with --replace\n"
    assert review("", "r1", "--export", "out.csv", "--replace")[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith("item,title,")


def test_a_record_is_not_both_known_to_belong_and_not_to(review):
    code, _, err = review("", "r1", "--no", "r1")
    assert (code, err.splitlines()) == (2, ["Error: 'r1' is accepted and rejected; leave out one of them"])


def test_files_go_to_and_fro(review, run, tmp_path):
    review("y\nn\nq\n", "r1")
    for kind in ("csv", "ris"):
        code, _, err = review("", "--export", f"out.{kind}")
        assert code == 0 and f"wrote out.{kind}: 2 found, 3 of 5 read" in err
    with setsearch.open(tmp_path / "r.db") as index:
        saved = index.set("stroke")
        expected = set(saved.accepted), set(saved.rejected)
        for kind in ("csv", "ris"):
            accepted, rejected, *_ = read_known(str(tmp_path / f"out.{kind}"), index.items("documents"))
            assert (set(accepted), set(rejected)) == expected
        index.delete_set("stroke")
    assert "'=Storms" in (tmp_path / "out.csv").read_text()
    assert (tmp_path / "out.ris").read_text().count("ASReview_relevant") == 2
    code, _, err = review("q\n", "--known", "out.ris")
    assert code == 0 and "2 found, 3 of 5 read" in err


def test_an_import_tells_what_it_changes(review, tmp_path):
    """An equal answer stays as it was given; `maybe` and `later` are counted, and answer nothing."""

    def kept():
        with setsearch.open(tmp_path / "r.db") as index:
            return {own.item: own[1:3] + own[4:] for own in Review(index, "stroke").decisions()}

    review("m ask Ann\ny\nl\nq\n", "r1")
    before = kept()
    (first,) = (item for item, own in before.items() if own[:1] == ("yes",) and own[1])
    (put_off,) = (item for item, own in before.items() if own[0] == "later")
    (tmp_path / "a.csv").write_text(f"item,decision\n{first},yes\nr3,maybe\n{put_off},Later\n")
    err = review("q\n", "--known", "a.csv")[2]
    assert "a.csv: 1 yes, 0 no, 2 later, which is no answer\n" in err and "changed" not in err
    assert kept() == before
    (tmp_path / "a.csv").write_text(f"item,decision\nr1,yes\n{first},no\n{put_off},no\n")
    err = review("q\n", "--known", "a.csv")[2]
    assert f"a.csv: 1 yes, 2 no\n1 answer changed:\n  {first} yes -> no, a.csv, line 3\n" in err
    assert kept()[first][0] == "no" and kept()[first][-1] == "ask Ann"
    assert f"1 answer changed:\n  {first} no -> yes, on the command line\n" in review("q\n", first)[2]
    (tmp_path / "a.csv").write_text("item,decision\nr1,maybe\n")
    assert "a.csv has no answers but 1 later;" in review("q\n", "--known", "a.csv")[2]
    assert "Error: none.ris does not exist\n" in review("q\n", "--known", "none.ris")[2]


def test_records_of_ris_are_known_by_their_ids(tmp_path):
    """Titles may be the same, or missing; an id of somebody else's may be that of another record here."""
    texts = [("a", "lion tiger", "Same"), ("b", "lion cat", "Same"), ("c", "no title"), ("1", "oat", "Mine")]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts)
        review = Review(index, "one", "documents")
        review.know(["a", "c"], ["b"])
        (tmp_path / "a.ris").write_text(write_review(review, "ris"))
        accepted, rejected, *_ = read_known(str(tmp_path / "a.ris"), index.items("documents"))
        assert (sorted(accepted), rejected) == (["a", "c"], ["b"])
        other = "TY  - GEN\nID  - 1\nTI  - Same\nN1  - ASReview_relevant\nER  - \n"
        (tmp_path / "other.ris").write_text(other)
        with pytest.raises(SourceError, match=r"other\.ris has no answers; .*line 1: 'Same' is the title of several"):
            read_known(str(tmp_path / "other.ris"), index.items("documents"))


def test_mistakes_take_one_line(review, tmp_path):
    (tmp_path / "bad.csv").write_text("item,decision\nr1,perhaps\n")
    (tmp_path / "none.csv").write_text("item,decision\nr1,\n")
    for arguments in (
        ["--export", "out.txt"],
        ["--known", "bad.csv"],
        ["--known", "none.csv"],
        ["r9"],
        [],
        ["r1", "--recall", "2"],
    ):
        code, out, err = review("q\n", *arguments)
        assert code in (1, 2) and not out and err.count("\n") == 1, arguments
    assert '; accept one: `setsearch review r.db stroke "TITLE"`, or several with `--known FILE`' in review("q\n")[2]
    with pytest.raises(SourceError, match="perhaps"):
        read_known(str(tmp_path / "bad.csv"), None)


def test_what_was_learned_is_said(review, run):
    code, _, err = run("expand", "r.db", "r1", "--items", "documents", "--exclude", "r3")
    assert code == 0 and "learned from what was accepted and rejected" in err
    assert "learned" not in run("expand", "r.db", "r1", "--items", "documents", "--exclude", "r3", "--gamma", "0")[2]


def test_a_review_that_is_new_is_told(run, review):
    begun = "stroke: a new review\n"
    assert begun in review("q\n", "r1")[2]
    assert begun not in review("q\n", "r4")[2]
    assert run("set", "delete", "r.db", "stroke")[0] == 0
    assert begun in review("q\n", "r1")[2], "somebody has deleted it"


def test_a_file_for_people_is_written_as_a_whole_or_stays_as_it_was(tmp_path):
    """The disk is full: as a process sees it that may write 1,000 bytes."""
    resource = pytest.importorskip("resource", reason="needs limits of processes")
    code = "import sys; from pathlib import Path; from setsearch.cli.commands.review import write_file as write; "
    code += "write(Path(sys.argv[1]), 'x' * 5000)"
    (tmp_path / "old.csv").write_text("mine")
    for name in ("old.csv", "new.csv"):
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )
        assert f"{name} cannot be written: File too large; it is as it was before" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"] and (tmp_path / "old.csv").read_text() == "mine"


def test_a_file_that_is_replaced_keeps_its_rights_and_its_link(tmp_path):
    (tmp_path / "kept.csv").write_text("old")
    (tmp_path / "kept.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("kept.csv")
    write_file(tmp_path / "link.csv", "né\n")
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "kept.csv").read_text("utf-8") == "né\n"
    assert (tmp_path / "kept.csv").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "link.csv"]
