"""README and docs are true: their commands and programs run, and they teach the public surface only."""

import ast
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import setsearch
from setsearch.cli.app import COMMANDS
from setsearch.indexing.formats import FORMATS
from setsearch.indexing.rows.archives import ENDINGS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
READ = [*(name for name in DOCUMENTS if name != "docs/cli.md"), "ARCHITECTURE.md", "CONTRIBUTING.md"]  # cli.md is made
WISHES = "docs/index.md"
HISTORY = re.compile(
    r"\b(since|until|before|after) (version )?0\.\d+\.\d|\bno longer\b|\bany more\b|\bused to be\b"
    r"|\b(former|previous)ly\b|\b[Ss]ince (then|this was)\b|\bas before\b|\d before\)"
)
PUBLIC = re.compile(r"setsearch(\.(models|learning|text|web|spark|integrations(\.\w+)?))?")  # what documents may import


def fenced(name, language):
    """The code blocks of a document in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)


@pytest.fixture
def newcomer(tmp_path):
    """A folder with what the commands of README and guide work on."""
    (tmp_path / "sample_corpus").symlink_to(ROOT / "sample_corpus")
    (tmp_path / "ratings.csv").write_text("film,user,times\nAlien,u1,1\nAliens,u1,2\nAliens,u2,1\nBrazil,u3,1\n")
    (tmp_path / "papers.csv").write_text("author,text\nAda,engines compute\nBabbage,engines grind\nAda,notes\n")
    (tmp_path / "wines.csv").write_text("id,alcohol,sugar\na,12,3\nb,13,2\nc,9,40\n")
    titles = ("Aspirin after stroke", "Statins after stroke", "Rain in April")
    references = [f"TY  - JOUR\nTI  - {title}\nAB  - a trial\nER  - \n" for title in titles]
    (tmp_path / "refs.ris").write_text("\n".join(references))
    (tmp_path / "answers.csv").write_text("item,decision\nRain in April,no\n")
    app = sqlite3.connect(tmp_path / "app.db")
    app.execute("create table articles (id integer primary key, title text, body text, year int)")
    app.execute("create virtual table search using fts5(title, body, content=articles, content_rowid=id)")
    for title, body in (("A", "lion tiger"), ("B", "lion cat"), ("C", "wheat"), ("D", "tiger leopard")):
        app.execute("insert into articles (title, body, year) values (?, ?, 2001)", (title, body))
    app.execute("insert into search (search) values ('rebuild')")
    app.execute("create table comments (id integer primary key, body text)")
    said = [("a good lion",), ("a bad tiger",), ("the tiger and the lion",), ("wheat",)]
    app.executemany("insert into comments (body) values (?)", said)
    app.commit()
    app.close()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The lion and the tiger are big cats.")
    (tmp_path / "notes" / "b.md").write_text("The lion eats. The wheat grows.")
    return tmp_path


def by_process(*words):
    """Run a command in a process of its own, in the current folder; returns exit code, stdout, stderr."""
    command = [sys.executable, "-m", "setsearch", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def run_commands(name, run):
    """Run each `setsearch` line of a document, and compare the output where it is shown; returns how many of both."""
    ran = compared = 0
    for block in fenced(name, "console"):
        for line, shown in re.findall(r"^\$ (setsearch .*)\n((?:[^$].*\n)*)", block, re.M):
            words = shlex.split(line.split(" #")[0])[1:] + (["--table"] if shown else [])
            code, out, err = run(*words)
            assert code == 0, (line, err)
            assert shown in ("", out)
            ran += 1
            compared += bool(shown)
    return ran, compared


def test_the_demo_prints_commands_that_can_be_typed(tmp_path):
    stub = tmp_path / "setsearch"
    stub.write_text('#!/bin/sh\necho "$#"\n')
    stub.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    demo = ["sh", str(ROOT / "sample_corpus" / "demo.sh")]
    printed = subprocess.run(demo, cwd=tmp_path, env=path, capture_output=True, text=True, check=True).stdout
    told = re.findall(r"^\$ (setsearch .*)\n(\d+)$", printed, re.M)
    assert len(told) >= 8
    assert [len(shlex.split(line)) - 1 for line, _ in told] == [int(given) for _, given in told]


@pytest.mark.long
def test_commands_of_the_readme_run(run, newcomer):
    ran, compared = run_commands("README.md", run)
    assert ran >= 5
    assert compared >= 1


@pytest.mark.long
def test_the_walk_of_a_folder_that_grows(run, tmp_path):
    early = "waltz tango fox-trot polka minuet violin cello banjo guitar".split()
    late = ["quickstep", "mambo", "koto", "string of words"]
    for folder in ("notes", "today"):
        (tmp_path / folder).mkdir()
    lines = (ROOT / "sample_corpus" / "wordnet.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        entry = json.loads(line)
        own, id = f"{entry['id']}\n\n{entry['text']}", entry["id"]
        if id in late or number % 2400 == 7:
            (tmp_path / "today" / f"{id}.md").write_text(own, encoding="utf-8")
        elif id in early or (number % 60 == 0 and "/" not in id):
            (tmp_path / "notes" / f"{id}.md").write_text(own, encoding="utf-8")
    classes = {"dances": early[:2] + early[3:4], "instruments": early[5:8], "trees": ["oak", "birch", "willow"]}
    with (tmp_path / "terms.jsonl").open("w", encoding="utf-8") as file:
        members = {item for own in classes.values() for item in own}
        file.writelines(f"{line}\n" for n, line in enumerate(lines) if n % 6 == 0 or json.loads(line)["id"] in members)
    rows = [f"{name},{item}\n" for name, own in classes.items() for item in own]
    (tmp_path / "kinds.csv").write_text("".join(["set,item\n", *rows]))
    (tmp_path / "classes.csv").write_text("set,item\nsteps,polka.md\nsteps,minuet.md\n")
    ran, compared = run_commands("docs/sets.md", run)
    assert (ran, compared) == (17, 6)
    assert run("inbox", "stems.db")[1] == "[]\n", "all were looked at"


@pytest.mark.long
def test_commands_of_the_guide_run(newcomer, monkeypatch):
    monkeypatch.chdir(newcomer)
    ran, compared = run_commands("docs/guide.md", by_process)
    assert ran >= 30
    assert compared >= 1


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if fenced(name, "python") and name != WISHES])
def test_python_in_documents_runs(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in fenced(name, "python"):
        exec(compile(block, name, "exec"), names)


def test_programs_of_documents_run_in_one_folder_after_all_commands():
    """Each has a file of its own, which nobody else fills."""
    taken = {own for name in DOCUMENTS for block in fenced(name, "console") for own in re.findall(r"\w+\.db", block)}
    for name in DOCUMENTS:
        own = {*re.findall(r'(?:open|connect)\("(\w+\.db)"', "".join(fenced(name, "python")))}
        assert not own & taken, name
        taken |= own


@pytest.mark.long
def test_what_people_ask_for_is_answered_as_shown(newcomer, monkeypatch, capsys):
    monkeypatch.chdir(newcomer)
    names, blocks = {}, fenced(WISHES, "python")
    for block in blocks:
        exec(compile(block, WISHES, "exec"), names)
    shown = re.findall(r"^ *print\(.*\)  # (.*)$", "".join(blocks), re.M)
    assert capsys.readouterr().out.splitlines() == shown
    assert len(shown) >= 9


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_teach_the_public_surface_only(name):
    for block in fenced(name, "python") + fenced(name, "py"):
        for node in ast.walk(ast.parse(block)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                assert not module.startswith("setsearch") or PUBLIC.fullmatch(module), (name, module)


@pytest.mark.parametrize("name", [*DOCUMENTS, "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_files_that_documents_name_exist(name):
    """Links, and paths such as setsearch/index.py or tests/exactness."""
    text = (ROOT / name).read_text()
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:\s]+)\)", text):
        assert (folder / target).exists(), (name, target)
    for target in re.findall(r"\b((?:setsearch|tests|benchmarks|examples|sample_corpus)/[\w./-]*\w)", text):
        assert (ROOT / target).exists() or re.search("[A-Z]{4}", target), (name, target)


def test_cli_reference_is_what_help_says():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import command_line
    finally:
        sys.path.pop(0)
    assert (ROOT / "docs" / "cli.md").read_text() == command_line.render(), "run `make docs`"


def test_the_guide_names_every_command():
    guide = (ROOT / "docs" / "guide.md").read_text() + (ROOT / "docs" / "integrations.md").read_text()
    guide += (ROOT / "docs" / "scaling.md").read_text()
    for name in COMMANDS:
        assert f"setsearch {name}" in guide, name


def test_public_names_exist_and_are_documented():
    for name in setsearch.__all__:
        assert getattr(setsearch, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = setsearch.nothing


def test_documents_have_their_size():
    assert len((ROOT / "README.md").read_text().split()) < 600
    for_users = [name for name in [*READ, "CHANGELOG.md"] if name != "CONTRIBUTING.md"]
    assert sum(len((ROOT / name).read_text().split()) for name in for_users) <= 15_000
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 100
    assert sum(path.stat().st_size for path in (ROOT / "sample_corpus").iterdir() if path.is_file()) < 5_000_000


def test_lines_of_documents_fit():
    for name in READ:
        text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.DOTALL | re.MULTILINE)
        assert [line for line in text.splitlines() if len(line) > 120 and line[0] not in "|!"] == [], name


def test_documents_tell_no_history():
    """What was is told by CHANGELOG.md and benchmarks/LOG.md."""
    for name in READ:
        found = HISTORY.search((ROOT / name).read_text())
        assert not found, (name, found[0])


def test_relevance_is_that_of_the_stored_results():
    printed = subprocess.run(
        [sys.executable, "benchmarks/relevance.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert printed in (ROOT / "docs" / "relevance.md").read_text()


def test_endings_of_files_are_told_as_they_are_read():
    told = (ROOT / "docs/files.md").read_text().partition("## References")[0]
    left_out = re.search(r"- \*\*Left out\*\*.*?(?=\n- )", told, re.DOTALL)[0]
    read, unread = ({*re.findall(r"(?<=[` ])\.[a-z]+\b", text)} for text in (told.replace(left_out, ""), left_out))
    assert read and read <= {*FORMATS, *ENDINGS}
    assert unread and not unread & FORMATS.keys()


def test_one_version_everywhere():
    version = setsearch.__version__
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
