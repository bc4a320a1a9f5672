"""The command line end to end: real files, a process for what depends on one, exit codes, one line of error."""

import csv
import gc
import gzip
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from oracle import log_scores, presence
from patience import patience

import setsearch

by_the_papers_model = pytest.mark.usefixtures("papers_model")  # its sets have what shares nothing with the examples

DOCUMENTS = {
    "a": "lion tiger cat",
    "b": "lion cat savanna",
    "c": "wheat barley field",
    "d": "barley Field rye",
    "e": "tiger jungle",
}


@pytest.fixture
def animals(run, tmp_path):
    """a.db, of five documents."""
    rows = "\n".join(json.dumps({"id": key, "text": text}) for key, text in DOCUMENTS.items())
    (tmp_path / "docs.jsonl").write_text(rows)
    assert run("index", "a.db", "docs.jsonl")[0] == 0
    return tmp_path / "a.db"


@by_the_papers_model
def test_main_job(run, animals):
    code, out, err = run("expand", "a.db", "lion", "Tiger", "--by", "documents", "--json")
    assert (code, err) == (0, "")
    hits = json.loads(out)
    turned = {}
    for key, text in DOCUMENTS.items():
        for word in text.lower().split():
            turned.setdefault(word, {})[key] = 1
    scores = log_scores(presence(turned), ["lion", "tiger"])
    assert [hit["rank"] for hit in hits] == list(range(1, len(turned) - 1))
    assert hits[0]["item"] == "cat"
    assert {hit["item"]: hit["score"] for hit in hits} == pytest.approx(
        {word: score for word, score in scores.items() if word not in ("lion", "tiger")}, abs=1e-7
    )


def test_formats(failed, run, animals):
    arguments = ("expand", "a.db", "a", "--items", "documents", "-k", "2")
    rows = json.loads(run(*arguments, "--json")[1])
    assert rows == json.loads(run(*arguments)[1]), "JSON is the default in a pipe"
    assert rows == [json.loads(line) for line in run(*arguments, "--nl")[1].splitlines()]
    for flag, delimiter in (("--csv", ","), ("--tsv", "\t")):
        read = list(csv.DictReader(io.StringIO(run(*arguments, flag)[1]), delimiter=delimiter))
        assert [(int(row["rank"]), row["item"], float(row["score"])) for row in read] == [
            tuple(r.values())[:3] for r in rows
        ]
    assert {row["revision"] for row in rows} == {1}
    table = run(*arguments, "--table")[1].splitlines()
    assert table[0].split() == ["rank", "item", "score", "belongs", "title"]
    assert table[1].split() == ["1", "b", f"{rows[0]['score']:.3f}", "yes", *rows[0]["title"].split()]
    failed(run(*arguments, "--csv", "--json"), 2, "choose one of")


def test_explain_and_features(run, animals):
    whole = json.loads(run("explain", "a.db", "b", "a", "--items", "documents", "--json")[1])
    total = whole["constant"] + whole["base"] + sum(part["weight"] for part in whole["features"])
    assert total == pytest.approx(whole["score"], abs=1e-9)
    assert {part["feature"] for part in whole["features"]} == {"cat", "lion"}
    hit = json.loads(run("expand", "a.db", "a", "--items", "documents", "--explain", "-k", "1")[1])[0]
    assert (hit["score"], hit["features"]) == (whole["score"], whole["features"])
    assert sum(part["weight"] for part in hit["reasons"]) == pytest.approx(hit["score"], abs=1e-9)
    shown = run("expand", "a.db", "a", "--items", "documents", "--explain", "-k", "1", "--table")[1]
    below = [line.split() for line in shown.splitlines()[2:]]
    assert below == [[f"{part['weight']:+.3f}", *part["label"].split()] for part in hit["reasons"]]
    table = run("explain", "a.db", "b", "a", "--items", "documents", "--table")[1].splitlines()
    assert table[-1].split() == ["score", "of", "b", f"{whole['score']:.3f}"]
    features = json.loads(run("features", "a.db", "a", "--items", "documents")[1])
    assert [f["feature"] for f in features] == ["cat", "lion", "tiger"]
    assert [f["document_frequency"] for f in features] == [2, 2, 2]


def test_info_check_delete_and_replace(failed, run, animals):
    info = json.loads(run("info", "a.db", "--json")[1])
    assert [(r["items"], r["item_count"], r["feature_count"], r["posting_count"]) for r in info["readings"]] == [
        ("documents", 5, 9, 14),
        ("terms", 9, 5, 14),
    ]
    assert (info["revision"], info["defaults"]["items"]) == (1, "terms")
    assert run("check", "a.db")[0] == 0
    assert run("delete", "a.db", "a", "e") == (0, "", "deleted 2 from a.db\n")
    failed(run("delete", "a.db", "a"), 1, "'a'", "nothing was deleted")
    assert run("index", "a.db", "-", "--replace", stdin=b'{"id": 7, "text": "rye"}\n')[0] == 0
    assert json.loads(run("info", "a.db")[1])["readings"][0]["item_count"] == 1
    assert run("check", "a.db")[0] == 0


@by_the_papers_model
def test_options_of_the_model(failed, run, animals):
    base = ("expand", "a.db", "a", "--items", "documents")
    plain = json.loads(run(*base)[1])
    assert json.loads(run(*base, "--model", "bernoulli", "--strength", "2", "--binarize", "presence")[1]) == plain
    assert json.loads(run(*base, "--strength", "9")[1]) != plain
    kept = json.loads(run(*base, "--keep-seeds", "--exclude", "b", "--exclude", "c")[1])
    assert [hit["item"] for hit in kept] == ["a", "e", "d"]
    for strength in ("0", "-1", "nan", "inf"):
        failed(run(*base, "--strength", strength), 2, "strength", strength.lstrip("-"))
    failed(run(*base, "--model", "bernouli"), 2, "'bernouli'", "bernoulli")
    failed(run(*base, "--binarize", "half"), 2, "'half'", "twice-mean")


@by_the_papers_model
def test_a_folder(run, tmp_path):
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "a.txt").write_text("lion tiger")
    (tmp_path / "notes" / "deep" / "b.md").write_text("\ufefflion cat", encoding="utf-8")
    (tmp_path / "notes" / "image.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "notes" / ".hidden.txt").write_text("not this")
    (tmp_path / "notes" / "empty.txt").touch()
    code, _, err = run("index", "n.db", "notes")
    assert code == 0
    assert err.splitlines()[1:] == [
        f"left out 1 file (notes{os.sep}empty.txt): empty",
        f"left out 1 file (notes{os.sep}image.png): no text",
    ]
    for number in range(4):
        (tmp_path / "notes" / f"{number}.txt").touch()
    assert ", ...): empty" in run("index", "n.db", "notes")[2]
    hits = json.loads(run("expand", "n.db", "a.txt", "--items", "documents")[1])
    assert [hit["item"] for hit in hits] == ["deep/b.md"]


@by_the_papers_model
def test_tables_and_relations(failed, run, tmp_path):
    (tmp_path / "r.csv").write_text(
        "film,user,times\nAlien,u1,1\nBrazil,u3,2\nAliens,u1,2\nAlien,u2,1\nAliens,u2,3\nAlien,u2,1\n"
    )
    assert run("index", "r.db", "r.csv", "--items", "film", "--features", "user", "--count", "times")[0] == 0
    assert [hit["item"] for hit in json.loads(run("expand", "r.db", "Alien")[1])] == ["Aliens", "Brazil"]
    assert [hit["item"] for hit in json.loads(run("expand", "r.db", "u1", "--items", "user")[1])] == ["u2", "u3"]
    with sqlite3.connect(tmp_path / "app.db") as connection:
        connection.execute('create table "my notes" (nr integer primary key, head text, body text)')
        connection.executemany(
            'insert into "my notes" (head, body) values (?, ?)', [("Lion", "a cat"), ("Rye", "a grass")]
        )
    connection.close()
    columns = ("--table", "my notes", "--id", "nr", "--text", "head", "--text", "body", "--title", "head")
    assert run("index", "t.db", "app.db", *columns)[0] == 0
    hits = json.loads(run("expand", "t.db", "Lion", "--items", "documents")[1])
    assert [(hit["item"], hit["title"]) for hit in hits] == [("2", "Rye")]
    assert run("index", "app.db", *columns)[0] == 0
    again = json.loads(run("expand", "app.db", "1", "--items", "documents")[1])
    assert [hit | {"revision": 1} for hit in again] == [hit | {"revision": 1} for hit in hits]
    (tmp_path / "z.tsv.gz").write_bytes(gzip.compress(b"id\ttext\n1\tlion\n2\tlion cat\n"))
    assert run("index", "z.db", "z.tsv.gz")[0] == 0
    failed(run("index", "t.db", "app.db", "--table", "notes"), 1, "'notes'", "my notes")
    failed(run("index", "none.db", "--table", "notes"), 1, "none.db")
    failed(run("index", "r.db", "r.csv", "--items", "film"), 2, "--features")
    failed(run("index", "r.db", "r.csv", "--items", "film", "--features", "times"), 1, "'film'")


BAD_SOURCES = [
    ("missing", {}, ("nothing.txt",), ("nothing.txt",)),
    ("unknown kind", {"a.pdf": b"\0x"}, ("a.pdf",), ("a.pdf", "cannot be read", "--errors skip")),
    ("unknown kind", {"a.bin": b"\x7fELF\0"}, ("a.bin",), ("a.bin is not text", ".jsonl")),
    ("empty folder", {"f/x.png": b""}, ("f",), ("nothing to index in f",)),
    ("empty file", {"e.txt": b""}, ("e.txt",), ("e.txt",)),
    ("empty jsonl", {"e.jsonl": b"\n"}, ("e.jsonl",), ("e.jsonl",)),
    ("empty csv", {"e.csv": b""}, ("e.csv",), ("e.csv",)),
    ("binary", {"b.txt": b"\x7fELF\0\0"}, ("b.txt",), ("b.txt is not text", "byte 4", "--errors skip")),
    ("encoding", {"l.txt": b"caf\xe9"}, ("l.txt", "--encoding", "utf-8"), ("l.txt is not utf-8", "byte 3", "0xe9")),
    ("encoding of a line", {"l.jsonl": b'{"id": "\xc3\xa9"}\n{"id": "\xe9"}\n'}, ("l.jsonl",), ("line 2", "byte 8")),
    (
        "broken json",
        {"b.jsonl": b'{"id": 1, "text": "x"}\n{"id": 2,\n'},
        ("b.jsonl",),
        ("b.jsonl, line 2", "broken JSON"),
    ),
    ("deep json", {"b.jsonl": b"[" * 100_000}, ("b.jsonl",), ("b.jsonl, line 1",)),
    ("no object", {"b.jsonl": b"[1]\n"}, ("b.jsonl",), ("line 1", "not a JSON object")),
    ("missing column", {"m.csv": b"id,body\n1,x\n"}, ("m.csv",), ("m.csv, line 2", "'text'", "id, body")),
    ("missing id", {"m.csv": b"key,text\n1,x\n"}, ("m.csv", "--id", "no"), ("'no'", "key, text")),
    ("short row", {"m.csv": b"id,text\n1\n"}, ("m.csv",), ("m.csv, line 2", "1 field, ", "2")),
    ("open quote", {"m.csv": b'id,text\n1,"x\n'}, ("m.csv",), ("m.csv",)),
    ("empty id", {"m.csv": b"id,text\n,x\n"}, ("m.csv",), ("m.csv, line 2", "'id'")),
    ("null id", {"m.jsonl": b'{"id": null, "text": "x"}\n'}, ("m.jsonl",), ("line 1", "None")),
    ("object as text", {"m.jsonl": b'{"id": 1, "text": {"x": 1}}\n'}, ("m.jsonl",), ("line 1", "'text'")),
    ("duplicate id", {"m.csv": b"id,text\n1,x\n1,y\n"}, ("m.csv",), ("'1' occurs twice",)),
    ("surrogate id", {"m.jsonl": b'{"id": "\\ud800", "text": "x"}\n'}, ("m.jsonl",), ("surrogate",)),
    ("NUL id", {"m.jsonl": b'{"id": "a\\u0000b", "text": "x"}\n'}, ("m.jsonl",), ("NUL",)),
    ("broken gz", {"m.csv.gz": b"\x1f\x8b no"}, ("m.csv.gz",), ("m.csv.gz",)),
    ("not a database", {"m.db": b"x" * 200}, ("m.db", "--table", "t"), ("m.db",)),
    (
        "fraction as count",
        {"m.csv": b"i,f,c\n1,x,2.5\n"},
        ("m.csv", "--items", "i", "--features", "f", "--count", "c"),
        ("line 2", "'2.5'", "whole numbers"),
    ),
]


@pytest.mark.parametrize(("files", "arguments", "parts"), [b[1:] for b in BAD_SOURCES], ids=[b[0] for b in BAD_SOURCES])
def test_bad_sources_change_nothing(failed, run, animals, tmp_path, files, arguments, parts):
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    before = json.loads(run("info", "a.db")[1]), run("expand", "a.db", "lion")[1]
    relation = "--items" in arguments
    result = run("index", "new.db" if relation else "a.db", *arguments)
    result = (
        result[0],
        result[1],
        "".join(line for line in result[2].splitlines(True) if not line.startswith("skipped")),
    )
    failed(result, 1, *parts)
    assert (json.loads(run("info", "a.db")[1]), run("expand", "a.db", "lion")[1]) == before
    assert run("check", "a.db")[0] == 0
    run("index", "fresh.db", *arguments)
    assert not (tmp_path / "fresh.db").exists()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere arguments are text")
def test_names_that_are_no_utf8_are_told(failed, run, animals):
    for command in ("set delete", "set show", "grow", "review", "index", "expand"):
        option = {"grow": ["--set"], "index": ["--table"], "expand": ["--set"]}.get(command, [])
        code, _, err = run(*command.split(), "a.db", *option, "\udcff")
        assert (code in (1, 2), err.count("\n"), err[:7]) == (True, 1, "Error: "), err
        assert "damaged" not in err


def test_a_member_that_left_the_index_is_told_and_the_others_answer(run, tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", "lion tiger d1" if n % 2 else "lion wheat d1") for n in range(12))
        index.keep_set("big cats", ["d1", "d3"], ["d5"], "documents")
        before = index.items("documents").expand(["d3"], exclude=["d5"])
        index.delete(["d1"])
    code, out, err = run("expand", "a.db", "--set", "big cats", "--unfold", "--json")
    assert code == 0
    assert [row["item"] for row in json.loads(out)] == [hit.item for hit in before if hit.item != "d1"]
    assert "big cats: d1 left the index; `setsearch set remove a.db 'big cats' d1` takes it out" in err
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    code, out, err = run("grow", "a.db", "--set", "big cats", "--csv")
    assert (code, out.splitlines()) == (0, ["item,status", "d3,accepted", "d5,rejected"])
    assert run("set", "remove", "a.db", "big cats", "d1")[0] == 0
    assert "left the index" not in run("expand", "a.db", "--set", "big cats")[2]


@by_the_papers_model
def test_rows_in_a_folder_that_are_no_documents_are_left_out(run, tmp_path):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.txt").write_text("lion tiger")
    (tmp_path / "f" / "log.jsonl").write_text('{"ts": 1, "msg": "started"}\n')
    (tmp_path / "f" / "rows.jsonl").write_text('{"id": "r", "text": "lion cat"}\n')
    code, _, err = run("index", "f.db", "f")
    assert code == 0 and f"left out 1 file (f{os.sep}log.jsonl): rows without a column text" in err
    assert json.loads(run("expand", "f.db", "a.txt", "--items", "documents")[1])[0]["item"] == "r"


def test_kept_columns_named_as_what_is_said_of_a_hit(run, tmp_path):
    (tmp_path / "k.csv").write_text(
        "id,text,score,year,revision\n1,lion tiger,7,1999,a\n2,lion cat,8,2001,b\n3,wheat,9,0,c\n"
    )
    assert run("index", "k.db", "k.csv", "--keep-columns", "score,year,revision")[0] == 0
    for more in ((), ("--explain",)):
        (row,) = json.loads(run("expand", "k.db", "1", "--items", "documents", "-k", "1", "--json", *more)[1])
        assert (row["score (kept)"], row["year"], row["revision (kept)"], row["revision"]) == ("8", "2001", "b", 1)
        assert isinstance(row["score"], float)


def test_lone_surrogates_become_question_marks(run, tmp_path):
    rows = [
        {"id": "a", "x": 1, "t": "\ud800", "text": "moon \ud800 star"},
        {"id": "b", "x": 2, "t": "ok", "text": "moon"},
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for number, roles in enumerate((("--items", "id", "--numbers", "x"), ("--items", "id", "--features", "x"), ())):
        assert run("index", f"{number}.db", "s.jsonl", *roles, "--title", "t")[0] == 0
        assert (
            json.loads(run("find", f"{number}.db", "?", *(() if roles else ("--items", "documents")))[1])[0]["item"]
            == "a"
        )
    assert run("index", "g.db", "s.jsonl", "--group-by", "x")[0] == 0


@by_the_papers_model
def test_errors_can_be_replaced_or_skipped(failed, run, tmp_path):
    (tmp_path / "l.jsonl").write_bytes(
        b'{"id": 1, "text": "caf\xe9 au lait"}\nbroken\n{"id": 2, "text": "th\xc3\xa9"}\n'
    )
    failed(run("index", "x.db", "l.jsonl", "--errors", "replace"), 1, "line 2", "broken JSON")
    code, _, err = run("index", "x.db", "l.jsonl", "--errors", "skip")
    assert code == 0
    assert "skipped l.jsonl, line 1: invalid UTF-8 at byte 22; --errors replace reads it" in err
    assert "skipped l.jsonl, line 2: broken JSON" in err
    (tmp_path / "l.txt").write_bytes(b"caf\xe9 au\0lait")
    assert run("index", "y.db", "l.txt", "--errors", "replace")[0] == 0
    assert {hit["item"] for hit in json.loads(run("expand", "y.db", "lait")[1])} == {"caf", "au"}
    failed(run("index", "y.db", "l.txt", "--errors", "ignore"), 2, "'ignore'", "skip")


def test_words_that_have_no_snippets_are_told(run, animals):
    assert "no snippets" in run("expand", "a.db", "lion", "--snippets")[2]
    assert "no snippets" not in run("expand", "a.db", "--like", "lion", "--items", "documents", "--snippets")[2]


def test_marks_of_snippets_are_spans_in_a_spreadsheet(run, animals):
    code, out, _ = run("expand", "a.db", "--like", "lion tiger", "--items", "documents", "--csv", "--snippets")
    (row, *_) = csv.DictReader(io.StringIO(out))
    first, last = row["marks"].split(", ")[0].split("-")
    assert code == 0 and row["snippet"][int(first) : int(last)].strip()


def test_bad_questions(failed, run, animals, tmp_path):
    failed(run("expand", "no.db", "lion"), 1, "no.db", "setsearch index")
    assert not (tmp_path / "no.db").exists()
    failed(run("expand", "a.db", "lyon"), 1, "'lyon'", "did you mean 'lion'?")
    failed(run("expand", "a.db", "lion", "--items", "documents"), 1, "by --having lion, or", "--items terms")
    failed(run("expand", "a.db", "lion", "--exclude", "tigre"), 1, "'tigre'", "'tiger'")
    failed(run("expand", "a.db"), 2, "SEED")
    failed(run("expand", "a.db", "--like", " ", "--items", "documents"), 2, "--like is empty")
    for name in (" ", "x" * 201):
        failed(run("set", "save", "a.db", name, "lion"), 2, "1 to 200 printable characters")
    failed(run("expand", "a.db", "a", "b", "c", "d", "e", "--items", "documents"), 1, "all 5 documents", "--keep-seeds")
    for k in ("0", "-3"):
        failed(run("expand", "a.db", "lion", "-k", k), 2, k)
    failed(run("expand", "a.db", "lion", "-k", "many"), 2, "-k must be a whole number, not 'many' (see --help)")
    failed(run("expand", "a.db", "lion", "--gamma", "a: b"), 2, "--gamma must be a number, not 'a: b' (see --help)")
    failed(run("set", "group", "a.db", "g", "--take-back", "0"), 2, "must be a whole number from 1 on, not 0 (")
    failed(run("expand", "a.db", "lion", "--colour"), 2, "--colour")
    failed(run("expand", "a.db", "lion", "--items", "films"), 1, "'films'", "documents, terms")
    failed(run("expand", "docs.jsonl", "lion"), 1, "docs.jsonl is not an SQLite database", "index NAME.db docs.jsonl`")
    failed(run("index", "a.db"), 2, "no source")
    failed(run("index", "docs.jsonl"), 2, "no database before docs.jsonl", "`setsearch index docs.db docs.jsonl`")
    failed(run("expnd", "a.db"), 2, "expnd")
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("create table t (x)")
    connection.close()
    failed(run("expand", "other.db", "lion"), 1, "other.db holds no setsearch index")
    failed(run("expand", "a.db", "li\nn"), 1, "'li\\nn'")


def test_a_locked_database(failed, run, animals):
    writer = sqlite3.connect(animals, isolation_level=None)
    writer.execute("begin immediate")
    failed(run("index", "a.db", "docs.jsonl", "--timeout", "0.1"), 1, "a.db is locked by another writer")
    failed(run("delete", "a.db", "a", "--timeout", "0.1"), 1, "a.db is locked by another writer")
    assert run("expand", "a.db", "lion")[0] == 0
    writer.rollback()
    writer.close()


@pytest.mark.long
def test_a_document_of_25_megabytes(run, tmp_path):
    (tmp_path / "big.txt").write_text("lion tiger wheat rye " * 1_250_000)
    (tmp_path / "small.txt").write_text("lion")
    assert run("index", "big.db", "big.txt", "small.txt", "--title-weight", "0")[0] == 0
    import setsearch

    with setsearch.open("big.db") as index:
        assert index.items("documents").features_of("big.txt") == dict.fromkeys(
            ["lion", "rye", "tiger", "wheat"], 1_250_000
        )


def process(*args, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "setsearch", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_the_database_as_it_was(run, animals, tmp_path, number):
    before = run("expand", "a.db", "lion")[1]
    running = process("index", "a.db", "-", cwd=tmp_path, stdin=subprocess.PIPE)
    fresh = process("index", "fresh.db", "-", cwd=tmp_path, stdin=subprocess.PIPE)
    for each in (running, fresh):
        each.stdin.write("".join(f'{{"id": "n{n}", "text": "lion number{n}"}}\n' for n in range(20_000)))
        each.stdin.flush()  # more than a pipe holds: when it returns, the process reads
    for each in (running, fresh):
        each.send_signal(number)
        out, err = each.communicate(timeout=patience(60))
        assert (each.returncode, out) == (130, "")
        assert err.splitlines()[-1] == "Error: stopped; nothing was changed"
    assert run("expand", "a.db", "lion")[1] == before
    assert not [*tmp_path.glob("fresh.db*")]


def test_a_closed_pipe_is_no_error(animals):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "setsearch", "expand", str(animals), "lion", "--by", "documents"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.stderr == b""


def test_batch(failed, run, animals, tmp_path):
    sets = [["lion"], ["wheat", "barley"], ["lion", "lion", "Tiger"]]
    (tmp_path / "sets.jsonl").write_text("".join(json.dumps(seeds) + "\n" for seeds in sets))
    code, out, _ = run("expand", "a.db", "--batch", "sets.jsonl", "-k", "3")
    assert code == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["seeds"] for answer in answers] == sets
    assert [answer["hits"] for answer in answers] == [
        json.loads(run("expand", "a.db", *own, "-k", "3")[1]) for own in sets
    ]
    assert run("expand", "a.db", "--batch", "-", stdin=b'["lion"]\n')[0] == 0
    bad = b'["lion"]\n["lyon"]\n{}\n["lion", /france]\n\n["tiger"]\n'
    code, out, err = run("expand", "a.db", "--batch", "-", stdin=bad)
    assert [json.loads(line)["seeds"] for line in out.splitlines()] == [["lion"], ["tiger"]]
    first, second, third, last = err.splitlines()
    assert first.startswith("-, line 2: no 'lyon' among")
    assert second.startswith("-, line 3: not an array of texts")
    assert third.startswith("-, line 4: broken JSON")
    assert third.endswith('["lion", /france]; put texts in quotes, as ["lion", "tiger"]')
    assert (code, last) == (1, "Error: 3 of the sets in - had no answer; the others are above")
    failed(run("expand", "a.db", "--batch", "no.jsonl"), 1, "no.jsonl")
    failed(run("expand", "a.db", "lion", "--batch", "sets.jsonl"), 2, "leave the others out")
    failed(run("expand", "a.db", "--batch", "sets.jsonl", "--csv"), 2, "leave --csv")


def test_unusual_output(animals, run, tmp_path):
    """A terminal of few characters, a full disk, no arguments."""
    expand = [sys.executable, "-m", "setsearch", "expand", "u.db", "lion", "--by", "documents", "--table"]
    texts = ["lion \u00e9t\u00e9", "lion \u00e9t\u00e9", *["wheat"] * 9]
    rows = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(texts)]
    (tmp_path / "u.jsonl").write_text("\n".join(rows))
    assert run("index", "u.db", "u.jsonl")[0] == 0
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(expand, cwd=tmp_path, env=ascii_only, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(expand, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: cannot write the output")
    done = subprocess.run(expand[:3], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Ask:" in done.stdout


@by_the_papers_model
def test_ids_stay_as_they_are(run, tmp_path):
    ids = ["two\nlines", "zero\u200dwidth", 'quo"te', "a,b", "tab\there", "'; drop table x; --"]
    (tmp_path / "i.jsonl").write_text("".join(json.dumps({"id": i, "text": "lion"}) + "\n" for i in ids))
    assert run("index", "i.db", "i.jsonl")[0] == 0
    arguments = ("expand", "i.db", ids[0], "--items", "documents", "--keep-seeds", "--unfold")
    assert {hit["item"] for hit in json.loads(run(*arguments)[1])} == set(ids)
    for flag, delimiter in (("--csv", ","), ("--tsv", "\t")):
        rows = csv.DictReader(io.StringIO(run(*arguments, flag)[1], newline=""), delimiter=delimiter)
        assert {row["item"] for row in rows} == set(ids)
    assert len(run(*arguments, "--table")[1].splitlines()) == 7


@by_the_papers_model
def test_two_relations_in_one_database(failed, run, animals, tmp_path):
    (tmp_path / "r.csv").write_text("film,user\nAlien,u1\nAliens,u1\nBrazil,u3\n")
    assert run("index", "a.db", "r.csv", "--items", "film", "--features", "user")[0] == 0
    failed(run("delete", "a.db", "Alien"), 1, "several relations", "name --items of one")
    failed(run("delete", "a.db", "Alien", "--items", "book"), 2, "documents, terms, film, user")
    failed(run("delete", "a.db", "Alien", "--items", "user"), 1, "no item 'Alien' to delete")
    failed(run("delete", "a.db", "cat", "--items", "terms"), 2, "terms go with the documents that have them")
    assert run("delete", "a.db", "Alien", "--items", "film")[0] == 0
    assert run("delete", "a.db", "u3", "--items", "user") == (0, "", "deleted 1 from a.db\n")
    assert run("index", "a.db", "r.csv", "--items", "film", "--features", "user")[0] == 0
    assert run("delete", "a.db", "Alien", "--items", "film")[0] == 0
    assert run("check", "a.db")[0] == 0
    assert [hit["item"] for hit in json.loads(run("expand", "a.db", "Aliens", "--items", "film")[1])] == ["Brazil"]


def test_help(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in ("index", "expand", "explain", "features", "delete", "info", "check"):
        assert command in out
        assert run(command, "--help")[0] == 0


def test_the_cut_and_more_examples(failed, run, animals, tmp_path):
    documents = ("expand", "a.db", "--items", "documents")
    every = json.loads(run(*documents, "a")[1])
    assert {row["belongs"] for row in every} == {True}, "what shares nothing is not listed"
    assert json.loads(run(*documents, "a", "--cut")[1]) == [row for row in every if row["belongs"]]
    assert run(*documents, "a", "--cut", "-k", "1", "--csv")[1].splitlines()[0].split(",")[:4] == [
        "rank",
        "item",
        "score",
        "belongs",
    ]
    (tmp_path / "text.txt").write_text("wheat on the field")
    assert json.loads(run(*documents, "--like", "text.txt")[1])[0]["item"] == "c"
    assert run(*documents, "--like", "text.txt") == run(*documents, "--like", "wheat on the field")
    page = "<title>Café</title><script>lion tiger</script><p>wheat on the field</p>"
    (tmp_path / "page.html").write_bytes(page.encode("latin-1"))
    assert run(*documents, "--like", "page.html") == run(*documents, "--like", "wheat on the field")
    failed(run(*documents, "--like", "none.txt"), 1, "none.txt does not exist")
    failed(run(*documents, "--like", "."), 1, ". is a folder; give a file")
    failed(run(*documents, "a", "--among", "none.txt"), 1, "Error: none.txt does not exist")
    failed(run(*documents, "a,e"), 1, "no 'a,e' among", "give each by itself: 'a' 'e'")
    failed(run(*documents, "a,", "e"), 1, "no 'a,' among the 5 documents; did you mean 'a'?")
    failed(run("expand", documents[1], "wheat, field"), 1, "give each by itself: 'wheat' 'field'")
    failed(run("expand", "a", "e"), 1, "a is not a file; name a database before all else; `setsearch index a SOURCE`")
    failed(run("expand", "b.db", "e"), 1, "b.db is not a file; `setsearch index b.db SOURCE`")
    failed(run("expand", ".", "a"), 1, ". is a folder, not a database", "`setsearch index notes.db .` puts")
    assert json.loads(run(*documents, "--having", "jungle")[1])[0]["item"] == "e"
    assert run(*documents, "a", "--exclude", "e", "--gamma", "0.5")[0] == 0
    failed(run(*documents, "a", "--popularity", "7"), 2, "popularity")
    failed(run(*documents, "a", "--model", "bernoulli", "--feedback", "1"), 2, "feedback needs the model lift")
    assert run(*documents, "a", "--model", "bernoulli", "--cut")[0] == 0
    failed(run("expand", "a.db"), 2, "no examples")
    failed(run("expand", "a.db", "lion", "--by", "context"), 2, "'context'", "contexts")
    failed(run("expand", "a.db", "lion", "--by", "contexts"), 2, "--contexts")


def test_languages_and_contexts(failed, run, tmp_path):
    rows = [{"id": n, "text": "Lions hunt in jungles. Tigers hunt in forests."} for n in range(3)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, _, err = run("index", "w.db", "d.jsonl", "--language", "english", "--stop-words", "--contexts")
    assert (code, "in context" in err) == (0, True)
    assert json.loads(run("info", "w.db")[1])["contexts"]["up_to_date"]
    assert json.loads(run("expand", "w.db", "lion", "--by", "contexts", "-k", "1")[1])[0]["item"] == "tigers"
    assert run("expand", "w.db", "LIONS")[0] == 0
    failed(run("index", "w.db", "d.jsonl", "--language", "german"), 2, "english", "german")
    failed(run("index", "x.db", "d.jsonl", "--language", "elvish"), 2, "'elvish'")
    failed(run("index", "x.db", "d.jsonl", "--phrases", "--no-contexts"), 2, "--phrases")
    assert not (tmp_path / "x.db").exists()


def test_a_word_that_is_too_rare_is_told(run, tmp_path):
    rows = [{"id": n, "text": "the lion hunts here, the tiger hunts there"} for n in range(4)]
    rows.append({"id": "z", "text": "lion and okapi"})
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "w.db", "d.jsonl", "--contexts")[0] == 0
    assert run("expand", "w.db", "lion", "okapi")[2].startswith("note: okapi: too rare for contexts")
    assert run("expand", "w.db", "lion", "tiger")[2] == ""


def test_csv_without_rows_has_its_header(run, tmp_path):
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps({"id": w, "text": w}) for w in ("lion", "tiger", "wheat")))
    assert run("index", "h.db", "d.jsonl")[0] == 0
    assert run("expand", "h.db", "lion", "--items", "documents", "--csv")[1] == "rank,item,score\n"
    assert run("expand", "h.db", "lion", "--items", "documents", "--tsv")[1] == "rank\titem\tscore\n"
    run("set", "save", "h.db", "cats", "lion", "--items", "documents")
    run("set", "remove", "h.db", "cats", "lion")
    assert run("inbox", "h.db", "--csv")[1] == "item,set,score,reason,others\n"
    assert run("set", "export", "h.db", "--csv")[1] == "set,items,item,mark\n"
    assert run("set", "show", "h.db", "cats", "--csv")[1] == "item,mark\n"


def test_groups(run, tmp_path):
    rows = [
        {"who": w, "text": t}
        for w, t in (("x", "lion cat"), *((f"y{n}", "wheat") for n in range(9)), ("x", "tiger"), ("z", "cat tiger"))
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "g.db", "d.jsonl", "--group-by", "who")[0] == 0
    assert json.loads(run("expand", "g.db", "z", "--items", "who")[1])[0]["item"] == "x"


def make_app(path):
    connection = sqlite3.connect(path)
    connection.execute("create table articles (id integer primary key, title text, body text, year int)")
    rows = [("A", "lion tiger", 2001), ("B", "lion cat", 1999), ("C", "wheat", 2002), ("D", "tiger leopard", 2003)]
    connection.executemany("insert into articles (title, body, year) values (?, ?, ?)", rows)
    connection.commit()
    return connection


@by_the_papers_model
def test_a_table_of_an_application(run, failed, tmp_path):
    connection = make_app(tmp_path / "app.db")
    code, _, err = run("index", "app.db", "--table", "articles", "--text", "body", "--track")
    assert (code, err) == (0, "indexed 4; app.db now holds 4 documents, 8 terms\n")
    code, out, _ = run("expand", "app.db", "1", "--items", "documents", "--where", "year > 2000", "--nl")
    assert [json.loads(line)["item"] for line in out.splitlines()] == ["4", "3"]
    code, out, _ = run(
        "expand", "app.db", "1", "--items", "documents", "--where", "id = 4", "--where", "1 or 0", "--nl"
    )
    assert [json.loads(line)["item"] for line in out.splitlines()] == ["4"], "all conditions hold"
    code, out, _ = run("expand", "app.db", "1", "--items", "documents", "--among", "-", "--nl", stdin=b"2\n4\n77\n")
    assert {json.loads(line)["item"] for line in out.splitlines()} == {"2", "4"}
    connection.execute("update articles set body = 'oats' where id = 2")
    connection.execute("delete from articles where id = 3")
    connection.commit()
    assert run("update", "app.db") == (0, "", "updated 1, deleted 1 in app.db\n")
    assert run("update", "app.db") == (0, "", "updated 0, deleted 0 in app.db\n")
    failed(run("expand", "app.db", "1", "--items", "documents", "--where", "year >"), 2, "'year >'", "articles")
    failed(run("expand", "app.db", "1", "--items", "documents", "--match", "x"), 2, "no FTS5 table")
    failed(run("expand", "app.db", "1", "--among", "-", "--where", "1"), 2, "leave --where")
    failed(run("index", "app.db", "-", "--track", stdin=b"{}"), 2, "--track")
    failed(run("index", "app.db", "--table", "nothing"), 1, "no table 'nothing'", "articles")
    failed(run("delete", "app.db", "1"), 2, "change them there")
    failed(run("drop", "app.db"), 2, "--yes", "3 documents")
    assert run("drop", "app.db", "--yes")[0] == 0
    failed(run("update", "app.db"), 1, "holds no setsearch index")
    assert connection.execute("select name from sqlite_master").fetchall() == [("articles",)]
    connection.close()


def test_what_is_no_mirror_is_derived_again(run):
    texts = [{"id": f"d{n}", "text": "a lion, a tiger and a wolf eat an apple, a pear and a plum"} for n in range(9)]
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    run("index", "x.db", "-", "--contexts", stdin=lines.encode())
    new = {"id": "new", "text": "a lion, a tiger and a zebra; a zebra, a lion and a tiger"}
    run("index", "x.db", "-", stdin=json.dumps(new).encode())
    assert json.loads(run("expand", "x.db", "lion")[1])[0]["contexts_revision"] == 2, "index derives"
    run("delete", "x.db", "d8")
    code, out, err = run("expand", "x.db", "lion")
    row = json.loads(out)[0]
    assert (code, row["revision"], row["contexts_revision"]) == (0, 3, 2)
    assert "contexts know write 2 of 3; --fresh now" in err
    assert run("update", "x.db", "--fresh", "50%")[2].strip().endswith("words know write 2")
    assert run("update", "x.db")[2].strip().endswith("words know write 3")
    assert json.loads(run("expand", "x.db", "lion")[1])[0]["contexts_revision"] == 3
    run("delete", "x.db", "d7")
    assert json.loads(run("expand", "x.db", "lion", "--fresh", "3600")[1])[0]["contexts_revision"] == 3
    assert json.loads(run("expand", "x.db", "lion", "--fresh", "now")[1])[0]["contexts_revision"] == 4
    assert run("expand", "x.db", "lion", "--fresh", "soon")[0] == 2


def test_main_leaves_a_process_as_it_was(run, animals):
    """As a plug-in of sqlite-utils it is not the owner of the process."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert run("expand", "a.db", "lion")[0] == 0
    assert run("expand", "a.db", "nothing")[0] == 1
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() <= frozen, "some may be let go, as garbage of other tests holds them"


def test_collections_of_one_file(run, failed, animals):
    assert run("index", "a.db", "docs.jsonl", "--collection", "more", "--language", "english")[0] == 0
    failed(run("index", "a.db", "docs.jsonl", "--collection", "a/b"), 2, "a collection is a name", "'a/b'")
    within = run("expand", "a.db", "a", "--items", "documents", "--collection", "more", "--json")
    assert within == run("expand", "a.db", "a", "--items", "more/documents", "--json")
    assert within[0] == 0
    assert run("set", "save", "a.db", "cats", "lion", "tiger", "--collection", "more")[0] == 0
    assert json.loads(run("set", "list", "a.db", "--collection", "more", "--json")[1])[0]["items"] == "more/terms"
    readings = json.loads(run("info", "a.db", "--collection", "more")[1])["readings"]
    assert [reading["items"] for reading in readings] == ["more/documents", "more/terms"]
    assert run("drop", "a.db", "--collection", "more", "--yes")[0] == 0
    assert len(json.loads(run("info", "a.db")[1])["readings"]) == 2
    failed(run("expand", "a.db", "lion", "--collection", "more"), 1, "no collection 'more'; it has none")


def test_items_are_deleted_beside_numbers(run, tmp_path):
    """Numbers have one reading, not two."""
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add_numbers([("sun", [1.0])], ["size"], "star")
        index.add([("d1", "lion"), ("d2", "tiger")], ("documents", "terms"))
    assert run("delete", "a.db", "d1", "--items", "documents")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").item_count() == 1


def test_parts_and_the_rest_sum_to_the_score(run, tmp_path):
    texts = {"d1": "lion tiger", "d2": "lion cat", "d3": "tiger cat", "d4": "wheat", "d5": "rye lion"}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts.items())
    for options in (["--model", "bernoulli"], ["--exclude", "d4"]):
        rows = json.loads(run("expand", "a.db", "d1", "--items", "documents", "--explain", *options)[1])
        for row in rows:
            assert sum(part["weight"] for part in row["features"]) + row["rest"] == pytest.approx(
                row["score"], abs=1e-6
            )


@pytest.mark.parametrize("how", ["--json", "--csv", "--tsv", "--skos"])
def test_files_for_programs_lose_no_names_whatever_the_output_knows(run, tmp_path, how):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("Löwe", "lion", "Żubr & œuf"), ("Bär", "bear")])
        index.keep_set("Bäume", ["Löwe"], items="documents")
    if how == "--skos":
        pytest.importorskip("rdflib")
    command = [sys.executable, "-m", "setsearch", "set", "export", "a.db", how]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=ascii_only, capture_output=True, check=True)
    ending = {"--skos": "ttl", "--json": "json", "--csv": "csv", "--tsv": "tsv"}[how]
    (tmp_path / f"sets.{ending}").write_bytes(done.stdout)
    assert run("set", "delete", "a.db", "Bäume")[0] == run("set", "import", "a.db", f"sets.{ending}")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.set("Bäume").accepted == ["Löwe"]
    if how == "--skos":
        assert "Żubr & œuf" in done.stdout.decode()


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes files: run on Linux or macOS")
def test_closed_outputs_are_no_error(database):
    for closed, other in ((">&-", "stderr"), ("2>&-", "stdout")):
        command = f"{sys.executable} -m setsearch expand x.db d0 --items documents --json {closed}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=database.parent)
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
        assert other == "stderr" or json.loads(done.stdout)


def test_a_table_is_read_once(tmp_path):
    """A row that is skipped is told once, though contexts are derived behind it."""
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("create table entry (id integer primary key, body text, year)")
    connection.executemany("insert into entry values (?, ?, ?)", [(1, "a lion", 2001), (2, "a tiger", "soon")])
    connection.commit()
    connection.close()
    index = [sys.executable, "-m", "setsearch", "index", "t.db", "--table", "entry", "--text", "body"]
    asked = [*index, "--numbers", "year", "--errors", "skip"]
    said = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True).stderr
    assert said.count("skipped table entry, rowid 2") == 1


def test_counts_have_commas(run, tmp_path):
    with setsearch.open(tmp_path / "m.db", create=True, contexts="off") as index:
        index.add((f"d{n}", "lions") for n in range(1200))
    assert run("delete", "m.db", *(f"d{n}" for n in range(1100)))[2] == "deleted 1,100 from m.db\n"
    with setsearch.open(tmp_path / "m.db", create=True) as index:
        index.add((f"e{n}", "lions") for n in range(1200))
    dropped = "dropped the index of 1,300 documents, 1 term from m.db; SQLite's VACUUM gives back the room\n"
    assert run("drop", "m.db", "--yes")[2] == dropped


def test_ids_that_are_words_too_are_told(run, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(str(n), f"lions {n} {n + 1} {n % 2}") for n in range(1, 9)])
    told = "note: these are words; for the documents of these ids: --items documents"
    for seeds, is_told in ((["1", "2"], True), (["1", "9"], False), (["lions"], False), (["1", "lions"], False)):
        assert (told in run("expand", "a.db", *seeds)[2].splitlines()) is is_told
        assert told not in run("expand", "a.db", *seeds, "--items", "terms")[2]


def test_an_item_that_loses_entries_is_told(run, tmp_path):
    def index(name, rows):
        (tmp_path / name).write_text("user,film\n" + "".join(f"{row}\n" for row in rows))
        return run("index", "a.db", name, "--items", "film", "--features", "user")[2].splitlines()[1:]

    before = [f"{user},{film}" for user in ("ann", "bob", "cleo") for film in ("Alien", "Aliens", "Brazil")]
    lost = "4 entries are gone that items had before: give all rows of an item in one call"
    assert index("all.csv", before) == index("all.csv", before) == []
    assert index("more.csv", [*before, "di,Alien", "di,Amelie"]) == []
    assert index("one.csv", ["ann,Alien", "bob,Alien", "cleo,Alien"]) == [lost.replace("4 entries are", "1 entry is")]
    assert index("more.csv", [*before, "di,Alien", "di,Amelie"]) == []
    assert index("night.csv", ["eve,Alien"]) == [lost]
    assert index("new.csv", ["eve,Chocolat"]) == []
    assert run("index", "a.db", "new.csv", "--items", "film", "--features", "user", "--replace")[2].count("\n") == 1


def test_a_name_in_use_is_told_with_the_other(failed, run, tmp_path):
    (tmp_path / "a.csv").write_text("user,film\nann,Alien\n")
    assert run("index", "a.db", "a.csv", "--items", "film", "--features", "user")[0] == 0
    told = "'user' already names a side of film x user; give both names so, or use other names"
    failed(run("index", "a.db", "a.csv", "--items", "films", "--features", "user"), 1, told)


def test_examples_come_by_lines(run, failed, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as made:
        made.add([("lion king", "a large cat"), ("tiger", "a striped cat"), ("lynx", "a cat"), ("wheat", "a cereal")])
    for before in (
        ("expand", "a.db"),
        ("explain", "a.db", "lynx"),
        ("features", "a.db"),
    ):
        own = ("--items", "documents", "--json")
        named = run(*before, "lion king", "tiger", *own)
        assert named[0] == 0 and run(*before, "-", *own, stdin=b"lion king\r\ntiger\n\n") == named
        assert run(*before, "-", "tiger", *own, stdin=b"lion king") == named
    failed(run("expand", "a.db", "-", "--items", "documents", stdin=b"\n"), 2, "no examples")
    failed(run("expand", "a.db", "-", "--items", "documents", stdin=b"nobody\n"), 1, "no 'nobody'")
