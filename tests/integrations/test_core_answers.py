"""Every door asks the compiled core, whatever the question: its calls are counted, and numpy answers nothing."""

import asyncio
from collections import Counter

import numpy as np
import pytest
from hosts import TEXTS, host
from starlette.testclient import TestClient

import setsearch
from setsearch import Where
from setsearch.core import binding, question
from setsearch.web import make_app

pytestmark = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")

DOCUMENTS = [(str(n), " ".join(f"w{(n * step) % 97}" for step in range(3, 15))) for n in range(120)]
HOW = [
    {},
    {"cut": "mark"},
    {"cut": "keep", "k": None},
    {"cut": "mark", "fold": True, "explain": True, "snippets": True},
    {"among": [f"{letter}{n}" for letter in ("", "w", "f", "u") for n in range(30)]},
    {"exclude": 1},
    {"exclude": 1, "gamma": 0.5},
    {"model": "bernoulli"},
    {"model": "multinomial"},
    {"model": "poisson", "keep_seeds": True},
    {"popularity": 0.5, "feedback": 0},
]


class NotAsked(AssertionError):
    """The core was not asked."""


@pytest.fixture
def by_core(monkeypatch):
    """Ask a question, and check that the core answered."""
    asked = Counter()

    def counted(entry):
        """An entry of the core that counts its answers."""

        def ask(*arguments):
            """As the entry."""
            found = entry(*arguments)
            asked["answers"] += found not in (None, [None]) or entry is add
            return found

        return ask

    add = binding.add

    monkeypatch.setattr(binding, "add", counted(add))
    monkeypatch.setattr(question, "ask_all", counted(question.ask_all))
    setsearch.use_kernel("core")

    def check(door):
        """The answer."""
        asked.clear()
        answer = door()
        if not asked["answers"]:
            raise NotAsked
        return answer

    yield check
    setsearch.use_kernel(None)


@pytest.fixture
def database(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True, contexts="on") as index:
        index.add(DOCUMENTS)
        index.add([(f"f{n}", [f"u{(n * step) % 41}" for step in range(2, 9)]) for n in range(60)], ("film", "user"))
        kept = index.set("some", "documents")
        kept.accept("1", "2")
        kept.save()
    return tmp_path / "x.db"


SEEDS = {
    "documents": ["1", "2", "9"],
    "terms": ["w1", "w2", "w9"],
    "film": ["f1", "f2", "f9"],
    "user": ["u1", "u2", "u9"],
}


@pytest.mark.parametrize("items", SEEDS)
def test_python(database, by_core, items):
    with setsearch.open(database) as index:
        reading, seeds = index.items(items), SEEDS[items]
        for how in HOW:
            options = {"k": 9, **how}
            if "exclude" in how:
                options["exclude"] = seeds[2:]
            assert by_core(lambda: reading.expand(seeds[:2], **options)) is not None  # noqa: B023 - asked at once
        assert by_core(lambda: reading.expand({seeds[0]: 1, seeds[1]: 0.5}, 9))
        assert by_core(lambda: reading.expand_many([seeds[:1], seeds[1:]], 9))
        assert by_core(lambda: reading.rank(seeds[2:], seeds[:2]))

        def scores():
            """Of all items."""
            with reading.scores(seeds[:2]) as (_, found):
                return found.tolist()

        assert by_core(scores)


def test_vectors_a_text_and_a_saved_set(database, by_core):
    with setsearch.open(database) as index:
        vectors = np.random.default_rng(0).normal(size=(60, 5))
        index.add_vectors([f"f{n}" for n in range(60)], vectors, "film")
        assert by_core(lambda: index.items("film").expand(["f1", "f2"], 9))
        assert by_core(lambda: index.items("documents").expand([], 9, like=["w1 w2 w3"]))
        assert by_core(lambda: index.items("documents").expand([], 9, having=["w1", "w2"]))
        assert by_core(lambda: index.set("some", "documents").expand(9))
        index.update([("1", "w5 w6")], ("documents", "terms"))
        assert by_core(lambda: index.items("documents").expand(["1"], 9))


def test_a_command(database, by_core, run):
    asked = "expand", database, "1", "2", "--items", "documents", "--json"
    for how in (
        [],
        ["--cut"],
        ["--explain", "--snippets"],
        ["--unfold"],
        ["--exclude", "9"],
        ["--seed-weights", "1,.5"],
    ):
        assert "score" in by_core(lambda: run(*asked, *how)[1])  # noqa: B023 - asked at once


def test_the_page_and_the_api(database, by_core):
    app = TestClient(make_app(database))
    seeds = "items=documents&seeds=1&seeds=2"
    for path in (
        "/?items=documents&seed=1&seed=2",
        "/?items=documents&seed=1&seed=2&reject=9",
        f"/api/expand?{seeds}",
        f"/api/expand?{seeds}&exclude=9&explain=true&snippets=true&cut=mark",
    ):
        assert by_core(lambda: app.get(path).raise_for_status().text)  # noqa: B023 - asked at once


def test_an_assistant(database, by_core):
    pytest.importorskip("mcp", reason="needs the MCP library: pip install setsearch[mcp]")
    from setsearch.integrations.mcp import make_server

    server = make_server(database)
    for tool, arguments in (
        ("expand", {"seeds": ["1", "2"], "items": "documents", "exclude": ["9"], "only_what_belongs": True}),
        ("expand", {"seeds": ["w1", "w2"], "items": "terms"}),
        ("search_by_example", {"text": "w1 w2 w3"}),
    ):
        assert by_core(lambda: asyncio.run(server.call_tool(tool, arguments)))  # noqa: B023 - asked at once


@pytest.fixture
def connection():
    """A host that keeps its texts in a table of its own, with an index."""
    own = host()
    setsearch.register(own)
    setsearch.open(own).add_table("articles", TEXTS, track=True)
    yield own
    own.close()


def test_sql(connection, by_core):
    for asked in (
        "select setsearch_expand('1, 4', 9)",
        "select setsearch_expand('1, 4', 9, 'documents', null, '2')",
        "select setsearch_score(2, '[1]')",
    ):
        assert by_core(lambda: connection.execute(asked).fetchone()[0])  # noqa: B023 - asked at once
    articles = setsearch.open(connection).items("documents")
    assert by_core(lambda: articles.expand(["1"], among=Where("year > ?", (2000,))))


def test_sqlite_utils(connection, by_core):
    from sqlite_utils import Database

    from setsearch.integrations.sqlite_utils import expand

    assert by_core(lambda: list(expand(Database(connection)["articles"], [1, 4], 3)))


def test_datasette(tmp_path, by_core):
    pytest.importorskip("datasette", reason="needs Datasette: pip install setsearch[datasette]")
    from datasette.app import Datasette

    connection = host(tmp_path / "app.db")
    setsearch.open(connection).add_table("articles", TEXTS)
    connection.commit()
    connection.close()

    async def get(path):
        """The answer of a Datasette in this process."""
        served = Datasette([str(tmp_path / "app.db")])
        await served.invoke_startup()
        return await served.client.get(path)

    for query in ("row=1&k=3", "row=1&not=2", "row=1&_where=year+>+2003"):
        answer = by_core(lambda: asyncio.run(get(f"/-/setsearch/app/articles.json?{query}")))  # noqa: B023 - at once
        assert answer.json()["hits"]


def test_whoosh(tmp_path, by_core):
    pytest.importorskip("whoosh", reason="needs Whoosh: pip install setsearch[whoosh]")
    from whoosh import fields
    from whoosh.filedb.filestore import RamStorage

    from setsearch.integrations.whoosh import SetQuery, WhooshSets

    index = RamStorage().create_index(fields.Schema(path=fields.ID(stored=True, unique=True), content=fields.TEXT))
    with index.writer() as writer:
        for name, text in DOCUMENTS:
            writer.add_document(path=name, content=text)
    sets = WhooshSets(index, tmp_path / "sets.db", id="path", fields=["content"])
    sets.update()
    with index.searcher() as searcher:
        assert by_core(lambda: len(searcher.search(SetQuery(["1", "2"], sets))))
        assert by_core(lambda: len(searcher.search(SetQuery(["1", "2"], sets, exclude=["9"]))))
        assert by_core(lambda: len(sets.more_like(searcher, 1, top=5)))
    sets.close()


def test_what_is_left_to_numpy(database, by_core):
    """Items that numbers describe have no lists. Many of equal score are no matter."""
    with setsearch.open(database) as index:
        index.add_numbers([(f"x{n}", [n * 1.5, -n / 7]) for n in range(50)], ["height", "weight"], "body")
        with pytest.raises(NotAsked):
            by_core(lambda: index.numbers("body").expand(["x1", "x2"], 5))
        index.add([(f"tie{n}", ["same"]) for n in range(binding.LEAST_ROOM + 3)], ("tie", "feature"))
        assert by_core(lambda: index.items("tie").expand(["tie1"], 5))
