"""Retrievers for LangChain and LlamaIndex: documents that belong with examples, or are like a question's text.

python examples/retrievers.py
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.retrievers import BaseRetriever as LlamaRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import setsearch

CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"


def hits(index: setsearch.Index, question: str, examples: tuple[str, ...], k: int) -> list[setsearch.Hit]:
    """The k documents that belong most with the examples and the question."""
    return index.items("documents").expand(examples, k, like=[question] if question else (), snippets=True)


class SetRetriever(LangChainRetriever):
    """For LangChain."""

    index: Any
    examples: tuple[str, ...] = ()
    k: int = 5

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document(hit.snippet.text if hit.snippet else hit.item, metadata={"id": hit.item, "score": hit.score})
            for hit in hits(self.index, query, self.examples, self.k)
        ]


class SetNodeRetriever(LlamaRetriever):
    """For LlamaIndex."""

    def __init__(self, index: setsearch.Index, examples: tuple[str, ...] = (), k: int = 5) -> None:
        self.index, self.examples, self.k = index, examples, k
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = hits(self.index, query_bundle.query_str, self.examples, self.k)
        texts = [hit.snippet.text if hit.snippet else hit.item for hit in found]
        return [
            NodeWithScore(node=TextNode(id_=hit.item, text=text), score=hit.score)
            for hit, text in zip(found, texts, strict=True)
        ]


def main() -> None:
    """Ask both for what is played with a bow."""
    index = setsearch.open(sqlite3.connect(":memory:"), language="english")
    index.add((row["id"], row["text"], row["title"]) for row in map(json.loads, CORPUS.read_text().splitlines()))
    question, examples = "an instrument that is played with a bow", ("violin", "cello")
    documents = SetRetriever(index=index, examples=examples).invoke(question)
    print("LangChain:", ", ".join(document.metadata["id"] for document in documents))
    nodes = SetNodeRetriever(index, examples).retrieve(question)
    print("LlamaIndex:", ", ".join(node.node.node_id for node in nodes))
    print(documents[0].page_content)


if __name__ == "__main__":
    main()
