"""The wheel and the sdist are built, and what they hold runs."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the sdist, built from a copy of the tracked files."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def setsearch_of(site, folder, *args):
    """Run what lies in `site`, as an installation would, with the dependencies of this environment."""
    code = (
        "import sys; site = sys.argv.pop(1); sys.path.insert(0, site); "
        "sys.meta_path[:] = [f for f in sys.meta_path if 'edit' not in type(f).__module__]; "
        "import setsearch.cli.app; assert setsearch.__file__.startswith(site), setsearch.__file__; "
        "setsearch.cli.app.main()"
    )
    command = [sys.executable, "-P", "-c", code, str(site), *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def runs(site, folder):
    (folder / "a.txt").write_text("lion tiger")
    (folder / "b.txt").write_text("lion cat")
    (folder / "c.txt").write_text("wheat and barley grow on the field")
    assert setsearch_of(site, folder, "index", "x.db", "a.txt", "b.txt", "c.txt").returncode == 0
    done = setsearch_of(site, folder, "expand", "x.db", "a.txt", "--items", "documents", "--csv")
    assert done.stdout.splitlines()[1].startswith("1,b.txt,")


def test_wheel(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == {"setsearch"}
    assert "setsearch/py.typed" in names
    has_core = any(name.startswith("setsearch/core/core.") and not name.endswith(".c") for name in names)
    assert has_core != wheel.name.endswith("-py3-none-any.whl")
    assert "-py3-none-" in wheel.name
    assert {"setsearch/web/templates/set.html", "setsearch/web/static/page.js"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
    assert "setsearch = setsearch.__main__:run" in (tmp_path / "site" / entry_points).read_text()
    runs(tmp_path / "site", tmp_path)


def test_sdist(built, tmp_path):
    (sdist,) = built.glob("*.tar.gz")
    filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # early 3.11 has none
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, **filtered)
    (root,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    files = "pyproject.toml README.md LICENSE Makefile cli.py hatch_build.py setsearch/core/core.c"
    for part in f"{files} migrations examples docs tests".split():
        assert (root / part).exists(), part
    assert (root / "sample_corpus" / "wordnet.jsonl").exists()
    runs(root, tmp_path)


def test_the_doors_at_the_top(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "expand" in done.stdout
    sqlite_utils = Path(sys.executable).with_name("sqlite-utils")
    command = [str(sqlite_utils), "migrate", str(tmp_path / "m.db"), str(ROOT / "migrations")]
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run(command, check=True, capture_output=True)
    import setsearch

    with setsearch.open(tmp_path / "m.db") as index:
        index.add([("a", "x y"), ("b", "x")])
        assert index.items("documents").expand(["a"])[0].item == "b"


def test_installed_in_a_fresh_environment(built, tmp_path):
    """`pip install` of the wheel makes the console script."""
    venv.create(tmp_path / "env", system_site_packages=False, with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "env" / "bin" / "setsearch").exists()
