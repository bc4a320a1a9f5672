"""Every option of a question reaches every door, or LEFT_OUT says why not; a wrong value gets the same words at all."""

import asyncio
import sqlite3
from functools import partial

import pytest
from hosts import TEXTS, host
from typer.main import get_command

import setsearch
from setsearch.cli.app import COMMANDS, make_app
from setsearch.errors import SetsearchError, UnknownOption
from setsearch.models import MODELS
from setsearch.options import ALL, EXAMPLES, LEFT_OUT, MODEL, RESULT, SAVED, Option, offered, refuse

FLAGS = [name for name, own in ALL.items() if own.type is bool]
CHECKED = [name for name, own in ALL.items() if own.bounds or own.choices or name in ("model", "fresh")] + FLAGS
WRONG = {name: ALL[name].type(ALL[name].least - 1) if ALL[name].bounds else "nonsense" for name in CHECKED}
UNKNOWN = "unknown option 'exlude'; did you mean 'exclude'?"
# What those use that answer in their own way: all others are in LEFT_OUT. Numbers are fresh, and have no duplicates.
OF_LIFT = {"rarity", "budget", "feedback", "neighbors"}
OF_MODELS = {"model", "strength", "binarize", "popularity", "by"} | OF_LIFT
USED = {
    "explain": {*MODEL, *EXAMPLES, "exclude", "gamma", "groups"},
    "query": {*MODEL, *EXAMPLES, "exclude", "gamma"},
    "numbers": {"model", "strength", "fresh", "exclude", "among", "keep_seeds", "explain", "snippets", "fold", "cut"},
    "Spark": OF_MODELS | {"exclude", "among", "gamma", "keep_seeds", "explain", "cut"},
    "scores": {*MODEL, *EXAMPLES, "exclude", "among", "filter", "gamma", "keep_seeds"},
    "Whoosh": {*MODEL, *EXAMPLES, "exclude", "among", "filter", "gamma", "keep_seeds", "cut"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("doors") / "app.db"
    setsearch.open(host(path)).add_table("articles", TEXTS)
    return path


@pytest.fixture(scope="module")
def told(place):
    """What the library says of a wrong value of each option."""
    said = {}
    with setsearch.open(place) as index:
        for name, value in WRONG.items():
            with pytest.raises(SetsearchError) as caught:
                index.items("documents").expand(["1"], **{name: value})
            assert name in str(caught.value) and repr(value) in str(caught.value)
            said[name] = str(caught.value)
    return said


def at(door):
    """Options with wrong values that a door has. On the command line a flag has no value."""
    flags = FLAGS if door == "the command line" else ()
    return [name for name in WRONG if name not in LEFT_OUT[door] and name not in flags]


@pytest.mark.parametrize("door", USED)
def test_who_answers_in_another_way_uses_what_it_is_given(door):
    assert offered(door).keys() == USED[door], "use the option there, or say in LEFT_OUT why not"


def test_the_table_names_options_that_there_are():
    for door, options in LEFT_OUT.items():
        assert options.keys() <= ALL.keys(), door
    ours = {name for name, make in MODELS.items() if make.__module__.startswith("setsearch.models")}
    assert ours and all(name in ALL["model"].help for name in ours)


def command(name, app=None):
    """The parameters of a command."""
    commands = (app or get_command(make_app(COMMANDS))).commands
    return {parameter.name for parameter in commands[name].params}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("expand", {**offered("the command line"), **SAVED}),
        ("grow", {**offered("the dialogue", RESULT), **MODEL}),
        ("explain", {**MODEL, **SAVED}),
        ("features", {**MODEL, **EXAMPLES}),
    ],
)
def test_commands_have_the_options(name, options):
    assert options.keys() <= command(name)
    assert name != "expand" or {"among", "where", "match", "cut", "unfold"} <= command(name)


def test_spark_has_the_options_and_refuses_others():
    spark = get_command(make_app(["spark"])).commands["spark"]
    assert {*offered("Spark", offered("the command line")), "among", "cut"} <= command("expand", spark)
    for name in LEFT_OUT["Spark"]:
        with pytest.raises(SetsearchError, match=f"'{name}' is not for Spark: its index"):
            refuse("Spark", {name: 2})
        refuse("Spark", {name: None})
        refuse("Spark", {name: False})


def test_short_help_fits_on_a_screen(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, short, _ = run("expand", "--help")
    assert code == 0 and len(short.splitlines()) <= 40
    assert "--like" in short and "--rarity" not in short
    code, long, _ = run("expand", "--help-all")
    assert code == 0 and "--rarity" in long and "--batch" in long


@pytest.mark.parametrize("name", at("the command line"))
def test_the_command_line(run, place, told, name):
    asked = run("expand", str(place), "1", "--items", "documents", ALL[name].flag, str(WRONG[name]))
    assert asked == (2, "", f"Error: {told[name]}\n")


def test_the_api_and_the_page(place, told):
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")
    pytest.importorskip("httpx", reason="needs httpx: pip install httpx")
    from fastapi.testclient import TestClient
    from starlette.datastructures import QueryParams

    from setsearch.web import make_app as make_web
    from setsearch.web.page_state import Address
    from setsearch.web.schemas import ExpandBody, ExpandQuery, ExplainQuery, FeaturesQuery
    from setsearch.web.view import make_view

    assert {*offered("an address"), *SAVED} <= ExpandQuery.model_fields.keys()
    assert {*offered("explain"), *SAVED} <= ExplainQuery.model_fields.keys()
    assert ALL.keys() <= ExpandBody.model_fields.keys()
    assert MODEL.keys() <= ExplainQuery.model_fields.keys()
    assert {*MODEL, *EXAMPLES} <= FeaturesQuery.model_fields.keys()
    with TestClient(make_web(place)) as client, setsearch.open(place) as index:
        for name, value in WRONG.items():
            asked = {"items": "documents", "seeds": ["1"], name: value}
            for answer in (client.get("/api/expand", params=asked), client.post("/api/expand", json=asked)):
                assert (answer.status_code, answer.json()) == (422, {"error": told[name]})
        asked = {"items": "documents", "seeds": ["1"]}
        for wrong, said in [
            (("k", "x"), "k must be a whole number from 1 to 1000, not 'x'"),
            (("strength", "much"), "strength must be a number from 1e-100 to 1e+100, not 'much'"),
            (("exlude", "2"), UNKNOWN),
        ]:
            for answer in (
                client.get("/api/expand", params=[*asked.items(), wrong]),
                client.post("/api/expand", json=asked | dict([wrong])),
            ):
                assert (answer.status_code, answer.json()) == (422, {"error": said})
        for wrong, said in [
            (("seeds", "1"), "seeds is a list of texts, not '1'"),
            (("seeds", [1.5]), "seeds.0 is a text, not 1.5"),
            (("per", 5), "per is a text, not 5"),
            (("fields", ["x"]), "fields.0 must be one of rank, item, "),
        ]:
            answer = client.post("/api/expand", json=asked | dict([wrong]))
            assert answer.status_code == 422 and answer.json()["error"].startswith(said)
        assert client.get("/api/expand?seeds=1&among=2").json()["error"].startswith("'among' is not for an address: ")
        assert client.get("/api/explain?seeds=1").json() == {"error": "item is missing"}
        for name in at("the page"):
            shown = Address.read(QueryParams({"items": "documents", "seed": "1", name: str(WRONG[name])}))
            assert (name, str(WRONG[name])) in shown.pairs()
            assert name == "by" or make_view(index, shown).problem == told[name]
        papers = Address.read(QueryParams("items=documents&seed=1&model=bernoulli&strength=3&gamma=1&reject=3"))
        expected = index.items("documents").expand(["1"], model="bernoulli", strength=3, gamma=1, exclude=["3"])
        assert [row.hit.score for row in make_view(index, papers).rows] == [hit.score for hit in expected.shared()]


def test_options_of_growing_are_the_same_at_all_doors(tmp_path, run):
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")
    pytest.importorskip("httpx", reason="needs httpx: pip install httpx")
    mcp = pytest.importorskip("setsearch.integrations.mcp", reason="needs the MCP library: pip install setsearch[mcp]")
    from fastapi.testclient import TestClient

    from setsearch.web import make_app as make_web

    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add([("a", "lion tiger"), ("b", "lion cat"), ("c", "wheat")])
        index.keep_set("cats", ["a"], items="documents", group="g")
    tools = mcp.make_server(path)
    with TestClient(make_web(path)) as client, setsearch.open(path) as index:
        for name, value in {"rounds": 0, "each": 0, "precision": 2.0}.items():
            with pytest.raises(SetsearchError) as caught:
                index.grow(group="g", **{name: value})
            told = str(caught.value)
            assert told.startswith(f"{name} must be a ")
            assert run("grow", str(path), "--group", "g", f"--{name}", str(value)) == (2, "", f"Error: {told}\n")
            assert client.post("/api/grow/g", json={name: value}).json() == {"error": told}
            answer = client.post("/group", data={"name": "g", "said": "grow", name: str(value)})
            assert (answer.status_code, told in answer.text) == (422, True)
            if name != "rounds":  # assistants grow by one
                with pytest.raises(Exception, match=f"^{name} must be a "):
                    asyncio.run(tools.call_tool("grow", {"group": "g", name: value}))
        assert index.growth(group="g") == []


def test_an_unknown_option_is_refused_with_the_nearest(place):
    with setsearch.open(place) as index:
        reading = index.items("documents")
        for ask in (reading.expand, reading.query, reading.fits, reading.features, partial(reading.rank, ["2"])):
            with pytest.raises(UnknownOption, match=r"^unknown option 'stregnth'; did you mean 'strength'\?$"):
                ask(["1"], stregnth=2)
        for option in ("explain", "among", "filter", "keep_seeds", "at_most"):
            with pytest.raises(SetsearchError, match=rf"^'{option}' is not for query: "):
                reading.query(["1"], **{option: 1})
        with pytest.raises(SetsearchError, match=r"^'among' is not for rank: its candidates say it"):
            reading.rank(["2"], ["1"], among=["3"])
        assert reading.expand(["1"], keep_seeds=1)[0].item == "1"  # as SQL gives a flag
    connection = sqlite3.connect(place)
    setsearch.register(connection)
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("select setsearch_expand('1', json_object('exlude', '2'))")
    assert connection.execute("select setsearch_error()").fetchone() == (UNKNOWN,)


def test_sql(place, told):
    connection = sqlite3.connect(place)
    setsearch.register(connection)
    ask = "select setsearch_expand('1', json_object('items', 'documents', ?, ?))"
    for name in (*WRONG, *LEFT_OUT["SQL"]):
        with pytest.raises(sqlite3.OperationalError):
            connection.execute(ask, (name, WRONG.get(name, 1)))
        said = connection.execute("select setsearch_error()").fetchone()[0]
        assert said == told[name] if name in at("SQL") else said.startswith(f"'{name}' is not for SQL")


def test_datasette(place, told):
    pytest.importorskip("datasette", reason="needs Datasette: pip install setsearch[datasette]")
    from datasette.app import Datasette

    async def ask(name, value):
        served = Datasette([str(place)])
        path = f"/-/setsearch/app/articles.json?row=1&{name}={value}"
        return (await served.client.get(path)).json()["error"]

    for name in at("Datasette"):
        assert asyncio.run(ask(name, WRONG[name])) == told[name]
    assert asyncio.run(ask("graviton", 1)).startswith("unknown option 'graviton'; choose from row, not, k, ")
    assert asyncio.run(ask("gama", 1)) == "unknown option 'gama'; did you mean 'gamma'?"
    assert asyncio.run(ask("exclude", 1)) == "'exclude' is not for Datasette: not=ID says it"
    assert asyncio.run(ask("k", "x")) == "k must be a whole number from 1 to 200, not 'x'"
    assert asyncio.run(ask("_shape", "array")) is None  # of Datasette itself


def test_assistants(place, told):
    pytest.importorskip("mcp", reason="needs the MCP library: pip install setsearch[mcp]")
    from mcp.server.mcpserver.exceptions import ToolError

    from setsearch.integrations.mcp import make_server

    server = make_server(place)
    tools = {tool.name: tool for tool in asyncio.run(server.list_tools())}
    assert {*offered("assistants"), *SAVED} <= tools["expand"].input_schema["properties"].keys()
    explaining = {*offered("assistants", offered("explain")), *SAVED}
    assert explaining <= tools["explain"].input_schema["properties"].keys()
    for name in at("assistants"):
        asked = {"seeds": ["1"], "items": "documents", name: WRONG[name]}
        with pytest.raises(ToolError) as caught:
            asyncio.run(server.call_tool("expand", asked))
        assert told[name] in str(caught.value)
    for wrong, said in [
        (("k", "x"), "k must be a whole number from 1 to 1000, not 'x'"),
        (("exlude", ["2"]), UNKNOWN),
        (("explain", True), "'explain' is not for assistants: answers are short, with snippets"),
        (("seeds", "1"), "seeds is a list of texts, not '1'"),
        (("only_what_belongs", "perhaps"), "only_what_belongs must be true or false, not 'perhaps'"),
    ]:
        with pytest.raises(ToolError) as caught:
            asyncio.run(server.call_tool("expand", {"seeds": ["1"], "items": "documents"} | dict([wrong])))
        assert str(caught.value) == said
    with pytest.raises(ToolError, match=r"^item is a text, not None$"):
        asyncio.run(server.call_tool("read", {"item": None}))


def test_whoosh(tmp_path, told):
    pytest.importorskip("whoosh", reason="needs Whoosh: pip install setsearch[whoosh]")
    from whoosh.fields import ID, TEXT, Schema
    from whoosh.index import create_in

    from setsearch.integrations.whoosh import SetQuery, WhooshSets

    whoosh = create_in(tmp_path, Schema(path=ID(stored=True), content=TEXT))
    writer = whoosh.writer()
    for number, text in enumerate(("lion tiger", "lion cat", "wheat field")):
        writer.add_document(path=str(number), content=text)
    writer.commit()
    sets = WhooshSets(whoosh, tmp_path / "sets.db", id="path", fields=["content"])
    sets.update()
    with whoosh.searcher() as searcher:
        for name in at("Whoosh"):
            with pytest.raises(SetsearchError) as caught:
                searcher.search(SetQuery(["1"], sets, **{name: WRONG[name]}))
            assert str(caught.value) == told[name]
    for name in LEFT_OUT["Whoosh"]:
        with pytest.raises(SetsearchError, match=f"'{name}' is not for Whoosh"):
            SetQuery(["1"], sets, **{name: True})


@pytest.mark.parametrize(
    ("own", "value", "said"),
    [
        (Option(float, "", "", 0, 1, name="gamma"), float("nan"), "gamma must be a number from 0 to 1, not nan"),
        (Option(float, "", "", 0, 1, name="gamma"), True, "gamma must be a number from 0 to 1, not True"),
        (Option(bool, "", "", name="fold"), "True", "fold must be true or false, not 'True'"),
        (Option(bool, "", "", name="fold"), [], "fold must be true or false, not []"),
        (Option(float, "", "", 0, 1e6, name="budget"), 10**400, "budget must be a number from 0 to 1e+06"),
        (Option(int, "", "", 1, name="k"), 1.5, "k must be a whole number from 1 on, not 1.5"),
        (Option(str, "", "", choices=("a", "b"), name="by"), ["a"], "by must be one of a, b, not ['a']"),
    ],
)
def test_values_that_are_none(own, value, said):
    with pytest.raises(SetsearchError) as caught:
        own.check(value)
    assert str(caught.value).startswith(said)
