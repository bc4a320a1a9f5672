"""setsearch for llm: documents that belong with examples, as fragments of a prompt and as a tool.

llm -f 'set:notes.db lion.md, tiger.md' 'What do these have in common?'
llm -T more_like 'Which notes of notes.db are like lion.md and tiger.md?'
"""

from collections.abc import Callable
from typing import Any

import llm

import setsearch


@llm.hookimpl
def register_fragment_loaders(register: Callable[..., Any]) -> None:
    """-f 'set:DATABASE EXAMPLE, EXAMPLE'"""
    register("set", load_set)


@llm.hookimpl
def register_tools(register: Callable[..., Any]) -> None:
    """-T more_like"""
    register(more_like)


def load_set(argument: str) -> list[llm.Fragment]:
    """Passages of ten documents like some, given "DATABASE EXAMPLE, EXAMPLE"."""
    path, _, names = argument.partition(" ")
    found = more_like(path, [name.strip() for name in names.split(",")])
    return [llm.Fragment(own["text"], f"{path} {own['document']}") for own in found]


def more_like(database: str, examples: list[str], k: int = 10) -> list[dict[str, Any]]:
    """The documents that belong best with some examples, given the path of a setsearch database."""
    with setsearch.open(database, read_only=True) as index:
        hits = index.items("documents").expand(examples, k, snippets=True)
    texts = [hit.snippet.text if hit.snippet else hit.title or hit.item for hit in hits]
    return [{"document": hit.item, "text": text, "score": hit.score} for hit, text in zip(hits, texts, strict=True)]
