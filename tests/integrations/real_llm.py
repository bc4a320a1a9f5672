"""The package llm-setsearch in the real llm: `make test-others` runs this file."""

import llm
import pytest
from click.testing import CliRunner
from llm.cli import cli
from llm.plugins import pm

import setsearch
from setsearch.errors import UnknownItem


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    path = tmp_path / "notes.db"
    words = {"lion": "big cat savanna", "tiger": "big cat jungle", "leopard": "big spotted cat", "wheat": "a cereal"}
    with setsearch.open(path, create=True) as index:
        index.add(words.items())
    return path


def test_a_set_is_fragments(notes):
    loader = llm.get_fragment_loaders()["set"]
    first, *_ = loader(f"{notes} lion, tiger")
    assert (str(first), first.source) == ("big spotted cat", f"{notes} leopard")
    with pytest.raises(UnknownItem, match="zebra"):
        loader(f"{notes} zebra")


def test_it_is_a_tool(notes):
    assert "more_like" in CliRunner().invoke(cli, ["tools", "list"]).output
    tool = llm.get_tools()["more_like"]
    assert tool.implementation(str(notes), ["lion", "tiger"], 1)[0]["document"] == "leopard"
    assert tool.input_schema["required"] == ["database", "examples"]


def test_the_package_is_loaded_by_its_entry_point():
    assert "llm-setsearch" in {distribution.metadata["Name"] for _, distribution in pm.list_plugin_distinfo()}
