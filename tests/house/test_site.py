"""The site is built of the documents, strictly: a link to nothing fails."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[2] / "docs"


def build(docs, site):
    """Whether it was built, and what was said."""
    config = str(docs / "site" / "mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_every_document_is_a_page_and_nothing_is_loaded_from_elsewhere(tmp_path):
    built, said = build(DOCS, tmp_path)
    assert built, said
    pages = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html")}
    assert {path.stem for path in DOCS.glob("*.md")} <= pages.keys()
    assert "Vocabulary from a manual" in pages["index"]
    for text in pages.values():
        assert not re.search(
            r"""<(?:script|img|iframe)[^>]* src=["']?(?:https?:)?//|<link[^>]* href=["']?(?:https?:)?//""", text
        )
        assert not re.search(r'href="\.\./', text), "a link leaves the site"


@pytest.mark.parametrize("link", ["[a](nothing.md)", "[a](guide.md#no-such-part)"])
def test_a_link_to_nothing_is_refused(tmp_path, link):
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    with (docs / "guide.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{link}\n")
    built, said = build(docs, tmp_path / "site")
    assert not built, said
    assert link[4:-1] in said or "no-such-part" in said
