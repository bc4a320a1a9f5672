"""Other software asks a saved set by its name: beside its rivals in an exclusive group, else as `expand`, exactly."""

import asyncio
import json
import random
import sqlite3

import pytest

import setsearch
from setsearch import errors

CATS = "lion tiger leopard claw prowl savanna jungle whisker roar fur".split()
GRAIN = "wheat rye barley oats field harvest flour mill bread sickle".split()
OTHER = "day man house time year place thing hand world word".split()
MORE = ((), ("cats7",))


def rows():
    """Sixty texts of two topics, and one of both."""
    for topic, words in (("cats", CATS), ("grain", GRAIN)):
        for number in range(30):  # so many that some join the examples
            draw = random.Random(f"{topic} {number}")
            yield f"{topic}{number}", " ".join(draw.sample(words, 6) + draw.sample(OTHER, 3))
    yield "both", " ".join(CATS[:6] + GRAIN[:5])


def save(index, grouped):
    """Two sets, and what each answers, also with one more example."""
    for name in ("cats", "grain"):
        members = [f"{name}{number}" for number in range(3)]
        index.keep_set(name, members, ["grain5"] if name == "cats" else [], "documents", group="g" if grouped else "")
    if grouped:
        index.group("g", exclusive=True)
    own, more = index.set("cats"), index.set("cats")
    more.accept(*MORE[1])
    plain = index.items("documents").expand(own.accepted, 61, exclude=own.rejected, groups=1)
    assert (scores(plain) == scores(own.expand(61))) is not grouped
    return [own, more]


def scores(hits):
    return [(hit.item, hit.score) for hit in hits.shared()]


@pytest.fixture(params=[True, False], ids=["grouped", "alone"])
def host(request, tmp_path):
    """The table of an application that is indexed, and the sets with each of MORE."""
    app = sqlite3.connect(tmp_path / "app.db")
    app.execute("create table notes (id text primary key, body text)")
    app.executemany("insert into notes values (?, ?)", rows())
    app.commit()
    index = setsearch.open(app)
    index.add_table("notes", setsearch.Columns(id="id", text=("body",)))
    return app, index, save(index, request.param), request.param


def test_in_python(host):
    _, index, sets, grouped = host
    for more, own in zip(MORE, sets, strict=True):
        asked = index.question(more, set="cats")
        assert asked.expand(61, explain=True, groups=1) == own.expand(61, explain=True)
        assert asked.explain("both", groups=1) == own.explain("both")
        assert asked.scored(lambda fields, all: all[fields.resolve("both")]) == own.explain("both").score
    alone = index.question(["cats0"], items="documents", exclude=["grain1"])
    assert alone.expand(61) == index.items("documents").expand(["cats0"], 61, exclude=["grain1"])
    with pytest.raises(errors.UnknownSet, match="no set 'dogs'; there are cats, grain"):
        index.question(set="dogs")
    with pytest.raises(errors.InvalidParameter, match="the set 'cats' is of documents, not of terms"):
        index.question(set="cats", items="terms")
    with pytest.raises(errors.InvalidParameter, match="seeds is a list of texts"):
        index.question("cats0")
    with pytest.raises(errors.UnknownOption, match="unknown option 'set'; `question"):
        index.items("documents").expand(["cats0"], set="cats")
    with pytest.raises(errors.UnknownOption, match=r"unknown option 'items'; `items\(NAME\)` of the index"):
        index.items("documents").expand(["cats0"], items="terms")
    with pytest.raises(errors.NoSeeds):
        index.question(set=index.keep_set("none", [], ["cats0"], "documents").name).expand()
    told = {part.feature for hit in sets[0].expand(61, explain=True) for part in hit.features}
    assert grouped is any(feature.startswith("fits grain") for feature in told)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a host may show them
def test_sql(host):
    app, _, sets, _ = host
    setsearch.register(app)

    def ask(statement, *given):
        return app.execute(f"select {statement}", given).fetchone()[0]

    for more, own in zip(MORE, sets, strict=True):
        hits = own.expand(61)
        found = json.loads(ask("setsearch_expand(?, 61, json_object('set', 'cats', 'groups', 1))", json.dumps(more)))
        assert [(row["item"], row["score"]) for row in found] == [(hit.item, hit.score) for hit in hits]
        for item, score in [*scores(hits), ("grain5", None)]:
            assert ask("setsearch_score(?, ?, json_object('set', 'cats'))", item, json.dumps(more)) == score
        told = json.loads(ask("setsearch_explain('both', ?, json_object('set', 'cats'))", json.dumps(more)))
        assert told["score"] == own.explain("both").score
        assert told["features"] == {part.feature: part.weight for part in own.explain("both").features}
    assert ask("setsearch_score('both', null, json_object('set', 'cats'))") == sets[0].explain("both").score
    own, before = sets[0], ask("setsearch_score('both', null, json_object('set', 'cats'))")
    own.accept("cats9")
    own.save()
    assert ask("setsearch_score('both', null, json_object('set', 'cats'))") == own.explain("both").score != before
    assert ask("setsearch_inbox()") == "[]"
    app.execute("insert into notes values ('late', ?)", (" ".join(CATS[2:9]),))
    host[1].refresh()
    rows = host[1].inbox().with_headlines()
    new = [{name: own for name, own in row._asdict().items() if own is not None} for row in rows]
    assert json.loads(ask("setsearch_inbox()")) == [{**row, "others": [*row["others"]]} for row in new]
    assert [row["item"] for row in json.loads(ask("setsearch_inbox('cats, grain')"))] == ["late"]
    assert ask("""setsearch_inbox('["grain"]')""") == "[]"
    with pytest.raises(sqlite3.OperationalError):
        ask("setsearch_inbox('dogs')")
    assert ask("setsearch_error()") == "no set 'dogs'; there are cats, grain"
    with pytest.raises(sqlite3.OperationalError):
        ask("setsearch_expand(null, json_object('set', 'dogs'))")
    assert ask("setsearch_error()") == "no set 'dogs'; there are cats, grain"


def test_datasette(host, tmp_path):
    pytest.importorskip("datasette", reason="needs Datasette: pip install setsearch[datasette]")
    from datasette.app import Datasette

    _, _, sets, _ = host

    def ask(query):
        served = Datasette([str(tmp_path / "app.db")])
        return asyncio.run(served.client.get(f"/-/setsearch/app/notes{query}"))

    for more, own in zip(MORE, sets, strict=True):
        found = ask(".json?set=cats&groups=1&k=61" + "".join(f"&row={name}" for name in more)).json()
        assert [(row["item"], row["score"]) for row in found["hits"]] == scores(own.expand(61))
        assert [row["item"] for row in found["seeds"]] == [*more]
        assert all("set=cats" in row["with"] for row in found["hits"])
    assert ask(".json?set=dogs").json()["error"] == "no set 'dogs'; there are cats, grain"
    page = ask("?set=cats").text
    assert 'name="set" value="cats"' in page and "Name one or more rows" not in page


def test_assistants(host, tmp_path):
    pytest.importorskip("mcp", reason="needs the MCP library: pip install setsearch[mcp]")
    from mcp.server.mcpserver.exceptions import ToolError

    from setsearch.integrations.mcp import make_server

    server = make_server(tmp_path / "app.db")

    def ask(tool, **given):
        return asyncio.run(server.call_tool(tool, given)).structured_content

    for more, own in zip(MORE, host[2], strict=True):
        seeds = {"seeds": [*more]} if more else {}
        found = ask("expand", set="cats", groups=1, k=61, **seeds)["result"]
        assert [(row["item"], row["score"]) for row in found] == scores(own.expand(61))
        told = ask("explain", item="both", set="cats", groups=1, **seeds)
        assert told["score"] == own.explain("both").score
        assert {part["feature"]: part["weight"] for part in told["features"]} == {
            part.feature: part.weight for part in own.explain("both").features
        }
    with pytest.raises(ToolError, match="no set 'dogs'; there are cats, grain"):
        ask("expand", set="dogs")
    with pytest.raises(ToolError, match="no seeds; give at least one"):
        ask("expand", items="documents")


@pytest.mark.parametrize("grouped", [True, False])
def test_whoosh(tmp_path, grouped):
    pytest.importorskip("whoosh", reason="needs Whoosh: pip install setsearch[whoosh]")
    from whoosh.fields import ID, TEXT, Schema
    from whoosh.index import create_in

    from setsearch.integrations.whoosh import LOWEST_SCORE, SetQuery, WhooshSets

    whoosh = create_in(tmp_path, Schema(path=ID(stored=True), content=TEXT))
    for part in (0, 1):
        writer = whoosh.writer()
        for place, (name, text) in enumerate(rows()):
            if place % 2 == part:
                writer.add_document(path=name, content=text)
        writer.commit(merge=False)
    sets = WhooshSets(whoosh, tmp_path / "sets.db", id="path", fields=["content"])
    sets.update()
    asked = save(sets.index, grouped)
    with whoosh.searcher() as searcher:

        def found(seeds=(), **options):
            hits = searcher.search(SetQuery(seeds, sets, set="cats", **options), limit=None)
            return {hit["path"]: hit.score for hit in hits}

        for more, own in zip(MORE, asked, strict=True):
            hits = own.expand(61)
            lowest = min(hit.score for hit in hits)
            expected = {hit.item: hit.score - lowest + LOWEST_SCORE for hit in hits}
            assert found(more) == pytest.approx(expected, abs=1e-12)
            assert list(found(more, k=3)) == [hit.item for hit in hits[:3]]
            assert {*found(more, cut="keep")} == {hit.item for hit in own.expand(None, cut="keep")}
        with pytest.raises(errors.UnknownSet, match="no set 'dogs'"):
            SetQuery([], sets, set="dogs")
        query = SetQuery([], sets, set="cats")
        before = searcher.search(query, limit=None)
        assert len(before) == len(asked[0].expand(61))
        asked[0].accept("cats9")
        asked[0].save()
        assert "cats9" not in {hit["path"] for hit in searcher.search(query, limit=None)}
        assert any(term.text == "lion" for term in query.leaves() if hasattr(term, "text")), "what speaks for the set"
    sets.close()
