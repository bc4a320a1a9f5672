"""A real client of the Model Context Protocol asks a server process, and servers in this one."""

import asyncio
import json
import sys
from importlib.util import find_spec

import pytest
from patience import patience

import setsearch
from setsearch.answers.highlight import with_headlines

if find_spec("mcp") is None:  # its import takes a while, and most processes run other tests
    pytest.skip("needs the MCP library: pip install setsearch[mcp]", allow_module_level=True)


@pytest.fixture
def database(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("d1", "lion tiger cat"), ("d2", "lion cat"), ("d3", "wheat field"), ("d4", "cat tiger")])
        index.add([(f"e{n}", "barley oats") for n in range(8)])
        cats = index.set("cats", "documents")
        cats.accept("d1")
        cats.save()
    return tmp_path / "x.db"


def make_server(database):
    """A server in this process."""
    from setsearch.integrations.mcp import make_server

    return make_server(database)


def ask(server, *calls):
    """The tools, and the results of calls, (tool, arguments), as JSON; errors as texts."""
    from mcp import Client

    async def run():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    tools, results = asyncio.run(asyncio.wait_for(run(), patience(60)))
    return tools, [
        r.content[0].text if r.is_error else r.structured_content.get("result", r.structured_content) for r in results
    ]


def test_an_assistant_can_expand_explain_and_search(database):
    with setsearch.open(database) as index:
        documents = index.items("documents")
        expected = [
            {
                "rank": h.rank,
                "item": h.item,
                "title": h.title,
                "score": h.score,
                "revision": 2,
                "contexts_revision": None,
                "snippet": h.snippet.text,
            }
            for h in with_headlines(documents, documents.expand(["d1"], snippets=True).shared())
        ]
        assert expected
        explained = documents.explain(["d1"], "d2")
        by_example = [hit.item for hit in documents.expand([], like=["the wheat"]).shared()]
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "setsearch", "mcp", str(database)])
    process = stdio_client(command, sys.__stderr__)  # by itself it takes that of the test that loaded mcp first
    tools, answers = ask(
        process,
        ("describe", {}),
        ("expand", {"seeds": ["d1"], "items": "documents"}),
        ("search_by_example", {"text": "the wheat"}),
        ("explain", {"item": "d2", "seeds": ["d1"], "items": "documents"}),
        ("features", {"seeds": ["d3"], "items": "documents", "k": 2}),
        ("expand", {"seeds": ["nobody"], "items": "documents"}),
        ("expand", {"seeds": ["d1"], "items": "planets"}),
        ("expand", {"seeds": ["d1"], "items": "documents", "at_most": 1, "per": "author"}),
        ("expand", {"seeds": ["d1"], "items": "documents", "k": 1}),
        *(("expand", {"seeds": ["d1"], "items": "documents", "k": k}) for k in (0, "two", "1")),
    )
    names = {tool.name for tool in tools}
    assert names >= {"describe", "expand", "find", "read", "save_set", "search_by_example", "explain", "features"}
    assert all(tool.description for tool in tools)
    assert answers[0]["sets"] == {"cats": "documents"}
    assert answers[1] == expected
    assert [row["item"] for row in answers[2]] == by_example
    assert answers[3]["score"] == explained.score
    assert answers[3]["features"] == [{"feature": part.feature, "weight": part.weight} for part in explained.features]
    assert len(answers[4]) == 2
    assert "no 'nobody' among the 12 documents" in answers[5]
    assert "no 'planets'" in answers[6]
    assert "no column 'author' was kept to count by; kept: none" in answers[7]
    assert answers[8] == expected[:1]
    assert all("k must be a whole number from 1 to 1000" in own for own in answers[9:]), "a text is no number"
    assert json.dumps(answers)


def test_a_missing_database_is_one_line(run, failed):
    failed(run("mcp", "none.db"), 1, "none.db is not a file")


def test_an_assistant_can_find_read_and_save(database):
    _, answers = ask(
        make_server(database),
        ("find", {"text": "D", "items": "documents", "k": 2}),
        ("read", {"item": "d1", "items": "documents"}),
        ("save_set", {"name": "mine", "accepted": ["d1", "d2"], "rejected": ["d3"], "items": "documents"}),
        ("save_set", {"name": "mine", "accepted": ["nobody"], "items": "documents"}),
        ("save_set", {"name": "mine", "accepted": ["d2"], "items": "documents"}),
        ("save_set", {"name": "mine", "accepted": ["d2"], "items": "documents", "replace": True}),
        ("read", {"item": "nobody", "items": "documents"}),
        ("rename_set", {"name": "mine", "new": "ours"}),
        ("rename_set", {"name": "mine", "new": "theirs"}),
    )
    assert [found["item"] for found in answers[0]] == ["d1", "d2"]
    assert answers[1] == {"item": "d1", "title": None, "text": None, "features": {"cat": 1, "lion": 1, "tiger": 1}} | {
        "text": answers[1]["text"]
    }
    assert answers[2]["accepted"] == ["d1", "d2"]
    assert "no 'nobody'" in answers[3]
    assert "there is a set 'mine' already" in answers[4] and "`replace`" in answers[4]
    assert answers[5]["accepted"] == ["d2"]
    assert "no 'nobody'" in answers[6]
    assert answers[7] == {"name": "ours"} and "no set 'mine'" in answers[8]
    with setsearch.open(database) as index:
        assert (index.set("ours").accepted, index.set("ours").rejected) == (["d2"], [])


def test_an_assistant_sees_the_sets_of_an_item_and_what_is_new(database):
    with setsearch.open(database) as index:
        index.add([("d5", "lion cat")])
        claims = [own._asdict() for own in index.sets_of("d2")]
        rows = [{**row._asdict(), "others": [*row.others]} for row in index.inbox().with_headlines()]
    assert [row["title"] for row in rows] == ["lion cat"]
    tools, answers = ask(
        make_server(database),
        ("sets_of", {"item": "d2"}),
        ("sets_of", {"text": "a tiger cat"}),
        ("inbox", {}),
        ("inbox", {"sets": ["dogs"]}),
    )
    assert {"sets_of", "inbox"} <= {tool.name for tool in tools}
    decided = {"name": "cats", "accept": [row["item"] for row in rows], "reject": ["d3"]}
    _, told = ask(
        make_server(database),
        ("change_set", decided),
        ("inbox", {}),
        ("change_set", {"name": "cats", "remove": ["d3"]}),
        ("change_set", {"name": "cats", "accept": ["d2"], "reject": ["d2"]}),
        ("change_set", {"name": "dogs", "accept": ["d2"]}),
        ("save_set", {"name": "lions", "accepted": ["d2"], "items": "documents", "group": "kinds", "under": "cats"}),
    )
    of_set = {"name": "cats", "items": "documents", "group": None, "under": None}
    assert told[0] == of_set | {"accepted": ["d1", *decided["accept"]], "rejected": ["d3"]}
    assert told[1]["rows"] == [] and told[2]["rejected"] == []
    assert "'d2' is accepted and rejected" in told[3] and "no set 'dogs'" in told[4]
    assert (told[5]["group"], told[5]["under"]) == ("kinds", "cats")
    assert answers[0] == {"rows": claims, "notes": []}
    assert answers[1]["rows"][0]["set"] == "cats"
    assert answers[2] == {"rows": rows, "notes": []} and rows
    assert "no set 'dogs'; there is cats" in answers[3]


def test_an_assistant_makes_a_group_exclusive_and_grows_it_round_by_round(tmp_path):
    words = {"cats": "lion tiger leopard claw fur roar".split(), "grain": "wheat rye barley oats flour mill".split()}
    with setsearch.open(tmp_path / "x.db", create=True, contexts="off") as index:
        index.add(
            [(f"{name}{n}", " ".join(own[n % 6 :] + own[: n % 4])) for name, own in words.items() for n in range(9)]
        )
        for name in words:
            index.keep_set(name, [f"{name}{n}" for n in range(3)], items="documents", group="kinds")
    how = {"group": "kinds", "each": 1, "precision": 0.05}
    _, answers = ask(
        make_server(tmp_path / "x.db"),
        ("group", {"name": "kinds", "exclusive": True}),
        ("group", {"name": "kinds", "exclusive": "maybe"}),
        ("grow", how),
        ("grow", how),
        ("growth", {"group": "kinds"}),
        ("read_set", {"name": "cats"}),
        ("grow", {"group": "kinds", "take_back": 2}),
        ("grow", {**how, "accept": True}),
        ("grow", {"group": "kinds", "rounds": 3}),
        ("grow", {"group": "kinds", "precision": 2}),
        ("group", {"name": "none"}),
    )
    group, wrong, first, second, grown, cats, back, later, *errors = answers
    assert group == {"name": "kinds", "exclusive": True, "sets": ["cats", "grain"]}
    assert "exclusive" in wrong and isinstance(wrong, str)
    assert [{row["round"] for row in own["rows"]} for own in (first, second, back, later)] == [{1}, {2}, {2}, {1}]
    assert grown == {"rows": first["rows"] + second["rows"], **{key: second[key] for key in grown if key != "rows"}}
    assert cats["grown"] == [row for row in grown["rows"] if row["set"] == "cats"] != []
    assert {row["item"] for row in cats["grown"]} < {*cats["accepted"]}
    assert first["ended"] == "round 1 is reached" and "no promise" in first["untold"]
    assert back["rows"] == second["rows"]
    for error, told in zip(
        errors, ("unknown option 'rounds'", "precision must be a number", "no set is in"), strict=True
    ):
        assert told in error
