"""Links of the site: those that leave docs are text, and the page of `make try` has one if it was built."""

import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.nav import Link, Navigation

TRY = Path(__file__).parents[2] / "dist" / "try"
_outside = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")


def on_page_markdown(markdown: str, **more: Any) -> str:
    """The text of a page, without links that leave docs."""
    return _outside.sub(r"\1", markdown)


def on_nav(nav: Navigation, **more: Any) -> None:
    """Name the page that runs in a browser."""
    if TRY.is_dir():
        nav.items.append(Link("Try it here", "try/index.html"))


def on_post_build(config: Any) -> None:
    """Copy it."""
    if TRY.is_dir():
        shutil.copytree(TRY, Path(config["site_dir"]) / "try", dirs_exist_ok=True)
