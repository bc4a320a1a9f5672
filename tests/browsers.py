"""A Chromium for the tests of the pages: the machine's, or playwright's own (`make browser`)."""

import os
import shutil
from pathlib import Path

NEEDS_CHROMIUM = "needs Chromium: make browser"
UNTESTED = (
    "Not tested, because no Chromium was found: the page of `setsearch serve` and the page in Datasette work by mouse, "
    "by keyboard, without scripts and on a phone (docs/web.md). `make browser` gets a Chromium."
)


def find_chromium():
    """The path of a Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or _playwrights_own()


def _playwrights_own():
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    paths = sorted(folder.glob("chromium-*/chrome-*/**/chrome")) + sorted(folder.glob("chromium-*/**/MacOS/*Chrom*"))
    return str(paths[-1]) if paths else None
