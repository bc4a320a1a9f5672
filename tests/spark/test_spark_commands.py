"""`setsearch spark ...` as it is typed: what it answers, and what it says to mistakes, in one line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import patience

pytestmark = pytest.mark.long
ON = ("--master", "local[2]")
DOCS = [
    ("a", "the lion and the tiger", "Cats"),
    ("b", "the tiger and the cat of the savanna", "More cats"),
    ("c", "a lion of the savanna", "Lions"),
    ("d", "wheat and barley", "Grain"),
    ("e", "barley and oats", "Cereals"),
]


@pytest.fixture
def spark_run(run, tmp_path):
    """Run `setsearch spark`; Java keeps the folder in which it was started, so places are absolute."""

    def call(command, *arguments):
        def absolute(text):
            place = any(name in text for name in ("idx", "docs.", "none.", "bad.", "nothing", "again", ".db", "i*"))
            return str(tmp_path / text) if place and " " not in text else text

        on = () if "--master" in arguments else ON
        return run("spark", command, *map(absolute, arguments), *on)

    return call


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Few data: what makes Spark fast with many takes longer than the work."""
    for key, value in {"spark.sql.codegen.wholeStage": "false", "spark.sql.shuffle.partitions": "2"}.items():
        arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {key}={value} {arguments}")


def test_from_documents_to_answers_and_back(run, spark_run, tmp_path):
    rows = [json.dumps(dict(zip(("id", "body", "name"), row, strict=True))) + "\n" for row in DOCS]
    (tmp_path / "docs.jsonl").write_text("".join(rows))
    columns = ("--text", "body", "--title", "name")
    code, _, err = spark_run("build", "idx", "docs.jsonl", *columns)
    assert code == 0
    assert "idx: 5 documents, 16 terms" in err
    assert run("index", "x.db", "docs.jsonl", *columns, "--no-contexts")[0] == 0
    (tmp_path / "docs.ids").write_text("b\nd\n")
    for asked in (
        ["a", "Lions", "--items", "documents", "-k", "3"],
        ["lion", "--model", "bernoulli", "--by", "documents", "--explain"],
        ["a", "--items", "documents", "--exclude", "d", "--cut"],
        ["a", "--items", "documents", "--among", str(tmp_path / "docs.ids")],
    ):
        code, out, _ = spark_run("expand", "idx", *asked, "--json")
        _, expected, _ = run("expand", "x.db", *asked, "--json", "--unfold")
        assert code == 0
        assert json.loads(out) == [
            {key: value for key, value in row.items() if key != "revision"} for row in json.loads(expected)
        ]
    assert "note: scores are margins" in spark_run("expand", "idx", "a", "--items", "documents", "--exclude", "d")[2]
    (tmp_path / "sets.jsonl").write_text('["a", "c"]\n["d"]\n')
    code, out, _ = spark_run("expand", "idx", "--batch", "sets.jsonl", "--items", "documents", "--model", "bernoulli")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["seeds"] for answer in answers] == [["a", "c"], ["d"]]
    assert [answer["hits"][0]["item"] for answer in answers] == ["b", "e"]
    (tmp_path / "sets.jsonl").write_text('["nobody"]\n["a", "c"]\nno\n["a", "b", "c", "d", "e"]\n')
    code, out, err = spark_run("expand", "idx", "--batch", "sets.jsonl", "--items", "documents")
    assert (code, [hit["item"] for hit in json.loads(out)["hits"]][:1]) == (1, ["b"])
    for said in ("sets.jsonl, line 1: no 'nobody'", "line 3: broken JSON", "line 4: all 5", "3 of the sets in"):
        assert said in err
    assert spark_run("from-sqlite", "x.db", "again")[0] == 0
    code, _, err = spark_run("to-sqlite", "again", "part.db", "--where", "title like '%ats'")
    assert (code, "has 2 items" in err) == (0, True)
    assert run("check", "part.db")[0] == 0


def test_mistakes_are_told_in_one_line(spark_run, tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": "a", "text": "x"}\n')
    (tmp_path / "docs.csv").write_text("id,text\na,x\n")
    (tmp_path / "bad.jsonl").write_text('{"id": \n')
    for arguments, said in {
        ("expand", "nothing", "a"): "holds no setsearch index",
        ("expand", "nothing"): "give SEED",
        ("expand", "nothing", "--batch", "docs.jsonl", "--tsv"): "leave --tsv out",
        ("expand", "nothing", "a", "--master", "nonsense"): "Spark does not start",
        ("build", "idx", "docs.jsonl", "--text", "body"): "no column 'body'",
        ("build", "idx", "none.parquet"): "none.parquet cannot be read",
        ("build", "idx", "docs.csv"): "docs.csv cannot be read",
        ("build", "idx", "bad.jsonl"): "bad.jsonl",
        ("build", "idx", "docs.jsonl", "--items", "film"): "--features",
        ("build", "idx", "docs.jsonl", "--group-by", "id"): "leave --group-by",
        ("build", "i*", "docs.jsonl"): "cannot be the place",
        ("from-sqlite", "none.db", "idx"): "none.db",
        ("to-sqlite", "nothing", "y.db"): "holds no setsearch index",
    }.items():
        code, out, err = spark_run(*arguments)
        own = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert (code in (1, 2), out, len(own)) == (True, "", 1), err
        assert said in own[0], own[0]
        assert "Traceback" not in err
    assert not (tmp_path / "y.db").exists()


@pytest.mark.parametrize("busy", [False, True], ids=["while Java starts", "at work"])
def test_ctrl_c_is_told_in_one_line(tmp_path, busy):
    """What Java and its connection say of that stays away from the terminal."""
    rows = (json.dumps({"id": str(n), "text": f"lion w{n % 1000} w{n % 7}"}) + "\n" for n in range(30_000))
    (tmp_path / "docs.jsonl").write_text("".join(rows))
    command = [sys.executable, "-m", "setsearch", "spark", "build", "idx", "docs.jsonl", *ON]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not ((tmp_path / "idx" / "_stage").exists() if busy else children.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    java = Path("/proc", children.read_text().split()[0])
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=patience(120))
    assert (process.returncode, err) == (130, "Error: stopped; idx may hold no index now: build it again\n")
    assert not (tmp_path / "idx" / "setsearch.json").exists()
    for _ in range(200):
        time.sleep(0.1 * java.exists())
    assert not java.exists()


def test_a_second_ctrl_c_does_not_wait_for_java(tmp_path):
    submit = tmp_path / "bin" / "spark-submit"
    submit.parent.mkdir()
    submit.write_text("#!/bin/sh\nexec sleep 60\n")
    submit.chmod(0o755)
    command = [sys.executable, "-m", "setsearch", "spark", "expand", "idx", "a", *ON]
    surroundings = os.environ | {"SPARK_HOME": str(tmp_path)}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=surroundings)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():
        assert process.poll() is None
        time.sleep(0.05)
    java = int(children.read_text())
    for _ in range(2):
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
    try:
        assert process.communicate(timeout=patience(30))[1].startswith("Error: stopped")
        assert process.returncode == 130
    finally:
        os.kill(java, signal.SIGKILL)


def test_the_master_that_is_asked_for_is_the_one_that_java_starts_with(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master yarn\n")
    command = [sys.executable, "-m", "setsearch", "spark", "expand", str(tmp_path), "a", *ON]
    surroundings = os.environ | {"SPARK_CONF_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings, check=False)
    assert "holds no setsearch index" in done.stderr


def test_a_missing_package_is_named(tmp_path):
    program = (
        "import sys; sys.modules['pyarrow'] = None; sys.argv = ['setsearch', 'spark', 'expand', 'nowhere', 'a']; "
        "from setsearch.cli import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode
    assert done.stderr.count("\n") == 1
    assert "needs pyarrow: pip install" in done.stderr
