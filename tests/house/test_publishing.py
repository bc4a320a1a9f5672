"""What a person publishes is of one piece: metadata, the citation, and the packages of examples/packages."""

import re
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest
import yaml
from trove_classifiers import classifiers

import setsearch

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "examples" / "packages"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_classifiers_are_known():
    assert set(PROJECT["classifiers"]) <= classifiers
    assert "Framework :: Datasette" in PROJECT["classifiers"]


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (setsearch.__version__, PROJECT["license"])
    assert citation["abstract"] == PROJECT["description"]
    (dated,) = re.findall(rf"^## {re.escape(setsearch.__version__)} - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert citation["date-released"] == dated


def test_the_recipe_of_conda_needs_what_the_package_needs():
    recipe = yaml.safe_load((PACKAGES / "conda" / "meta.yaml").read_text())
    assert recipe["package"] == {"name": "setsearch", "version": setsearch.__version__}
    native = [line.partition(";")[0].strip() for line in PROJECT["dependencies"] if "== 'emscripten'" not in line]
    needs = [f"python {PROJECT['requires-python']}", *native]
    plain = {re.sub(r"\s", "", line.lower()) for line in needs}
    assert {line.replace(" ", "") for line in recipe["requirements"]["run"]} == plain
    assert recipe["build"]["entry_points"] == [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]


@pytest.mark.long
@pytest.mark.parametrize("name", ["asreview-setsearch", "datasette-setsearch", "llm-setsearch"])
def test_packages_of_a_few_lines_are_built(tmp_path, name):
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    done = subprocess.run([*command, str(PACKAGES / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [part for part in archive.namelist() if part.endswith("METADATA")]
        assert "Requires-Dist: setsearch" in archive.read(metadata).decode()


@pytest.mark.long
def test_the_command_of_the_image_serves_a_folder(tmp_path):
    """Docker is not asked: the command runs in folders of ours, at a free port."""
    lines = (PACKAGES / "Dockerfile").read_text().splitlines()
    assert len(lines) <= 12
    (words,) = [yaml.safe_load(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD ")]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lion.md").write_text("The lion is a big cat.")
    python = f"{sys.executable} -m setsearch"
    command = re.sub(r"\bsetsearch ", f"{python} ", words[-1]).replace("/index/", f"{tmp_path}/")
    process = subprocess.Popen(
        [*words[:-1], f"{command} --port 0"], cwd=tmp_path / "notes", stderr=subprocess.PIPE, text=True
    )
    try:
        (port,) = next(filter(None, (re.findall(r"http://[\d.]+:(\d+)/", line) for line in process.stderr)))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
            assert "notes.db" in page.read().decode()
    finally:
        process.kill()
        process.communicate()
