"""Notebooks, and canvases of Obsidian: what their cells and cards say."""

import json

from setsearch.indexing.formats.part import Decode, Part, Parts, Unread
from setsearch.text.headline import headline

_SAID = ("source", "input", "text", "label", "url")  # by a cell, or a card


def notebook(data: bytes, decode: Decode) -> Parts:
    """The sources of the cells of a notebook; its title is the first heading. Of a canvas of Obsidian, its cards."""
    content = json.loads(decode(data))
    cells = content.get("cells") or [cell for sheet in content.get("worksheets", ()) for cell in sheet.get("cells", ())]
    cells += content.get("nodes", []) + content.get("edges", [])
    yield Unread("output{s} of notebooks", sum(len(cell.get("outputs") or ()) for cell in cells))
    sources = ["".join(next((cell[name] for name in _SAID if cell.get(name)), "")) for cell in cells]
    prose = "\n\n".join(source for cell, source in zip(cells, sources, strict=True) if cell.get("cell_type") != "code")
    yield Part("\n\n".join(filter(None, sources)), headline(prose) or headline("\n".join(sources)))
