"""Links that leave docs have no page on the site: their text stays."""

import re
from typing import Any

_outside = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")


def on_page_markdown(markdown: str, **more: Any) -> str:
    """The text of a page, without these links."""
    return _outside.sub(r"\1", markdown)
