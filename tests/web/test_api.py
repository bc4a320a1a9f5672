"""The JSON API over HTTP, against what the index says itself; its description against its answers."""

import gzip
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import patience

import setsearch
from setsearch.indexing.writing.intake import Item

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

NEEDS_SCHEMATHESIS = "needs schemathesis: pip install schemathesis"


def test_answers_are_those_of_the_index(serve, animals):
    server = serve(animals)
    with setsearch.open(animals) as index:
        documents = index.items("documents")
        for options in ({}, {"model": "bernoulli", "strength": 3}, {"exclude": ["wheat"], "cut": "mark"}):
            found = server.json("/api/expand", items="documents", seeds=["lion", "tiger"], explain=True, **options)
            expected = documents.expand(["lion", "tiger"], explain=True, **options).shared()
            assert [(hit["item"], hit["score"], hit["belongs"]) for hit in found] == [
                (hit.item, hit.score, hit.belongs) for hit in expected
            ]
            assert [[part["label"], part["weight"]] for hit in found for part in hit["reasons"]] == [
                [*part[:2]] for hit in expected for part in hit.reasons
            ]
            assert [[tuple(part.values()) for part in hit["features"]] for hit in found] == [
                [tuple(part) for part in hit.features] for hit in expected
            ]
        assert server.json("/api/expand", items="documents", like="a big cat", k=2) == [
            hit._asdict()
            | {"features": [], "reasons": [], "duplicates": [], "group": [], "revision": 1, "contexts_revision": None}
            for hit in documents.expand([], 2, like=["a big cat"])
        ]
        explained = server.json("/api/explain", items="documents", item="leopard", seeds="lion")
        assert explained["score"] == documents.explain(["lion"], "leopard").score
        features = server.json("/api/features", items="documents", seeds=["lion", "tiger"], k=3)
        assert features == [part._asdict() for part in documents.features(["lion", "tiger"], 3)]
        assert server.json("/api/item", items="documents", item="lion") == {
            "item": "d0",
            "features": documents.features_of("d0"),
            "feature_count": 10,
            "text": "The lion and the tiger are big cats of the savanna; the lion roars",
        }
    info = server.json("/api/info")
    assert {reading["items"]: reading["item_count"] for reading in info["readings"]}["documents"] == 8
    assert [row["item"] for row in server.json("/api/complete", items="terms", prefix="Bar")] == ["barley"]


def test_a_head_request_is_a_get_request_without_the_body(asked):
    for path in ("/", "/api/health", "/api/nothing"):
        status, headers, body = asked.ask(path)
        found, others, nothing = asked.ask(path, "HEAD")
        assert (found, nothing) == (status, "")
        assert others["content-type"] == headers["content-type"]
        assert body


def test_a_body_without_its_content_type_is_told_so(asked):
    body = '{"seeds": ["lion"], "k": 1}'
    status, _, told = asked.ask("/api/expand", "POST", body)
    assert status == 422 and "content-type: application/json" in told
    status, _, told = asked.ask("/api/expand", "POST", {"seeds": "lion"})
    assert status == 422 and "content-type" not in told


def test_true_is_no_number(asked):
    for wrong in ({"k": True}, {"offset": False}, {"strength": True}, {"seeds": [True]}):
        status, _, told = asked.ask("/api/expand", "POST", {"items": "documents", "seeds": ["lion"]} | wrong)
        assert status == 422 and next(iter(wrong)) in told, told
    assert asked.ask("/api/expand", "POST", {"items": "documents", "seeds": ["lion"], "keep_seeds": True})[0] == 200


def test_a_method_that_is_not_there(asked):
    status, headers, _ = asked.ask("/api/sets/grain", method="POST")
    assert (status, headers["allow"]) == (405, "DELETE, GET, PATCH, PUT")


def test_sets_and_classes(serve, animals):
    server = serve(animals)
    cats = {"items": "documents", "accepted": ["lion", "d1"], "rejected": ["wheat"]}
    made = server.json("/api/sets/big%20cats/of%20ours", method="PUT", body=cats)
    assert server.json("/api/sets/big%20cats/of%20ours") == made
    version = made.pop("version")
    of_group = {"group": None, "under": None}
    own = {"name": "big cats/of ours", "items": "documents", "accepted": ["d0", "d1"], "rejected": ["d4"]}
    assert made == own | of_group
    said = server.json("/api/sets/big%20cats/of%20ours", 409, method="PUT", body=cats | {"rejected": []})["error"]
    assert "the `version` that GET gives" in said
    less = cats | {"rejected": [], "version": version}
    changed = server.json("/api/sets/big%20cats/of%20ours", method="PUT", body=less)["version"]
    any = less | {"version": "*"}
    assert server.json("/api/sets/big%20cats/of%20ours", method="PUT", body=any)["version"] == changed
    for old in ("", version):
        server.json("/api/sets/big%20cats/of%20ours", 409, method="PUT", body=cats | {"version": old})
    again = server.json("/api/sets/big%20cats/of%20ours", method="PUT", body=cats | {"version": changed})
    assert again["version"] == version
    assert {row["name"] for row in server.json("/api/sets")} == {"grain", "big cats/of ours"}
    found = server.json("/api/sets-of", items="documents", item="leopard")
    assert found["rows"][0]["set"] == "big cats/of ours"
    assert server.json("/api/sets/grain", method="DELETE") == {"name": "grain", "parts": []}
    server.json("/api/sets/grain", 404, method="DELETE")
    server.json("/api/sets/new", 404, method="PUT", body={"items": "documents", "accepted": ["unicorn"]})
    assert {row["name"] for row in server.json("/api/sets")} == {"big cats/of ours"}


def test_a_set_is_put_into_a_group_and_within_another_set(serve, animals):
    server = serve(animals)
    cats = {"items": "documents", "accepted": ["lion", "d1"], "group": "kinds"}
    assert server.json("/api/sets/cats", method="PUT", body=cats)["group"] == "kinds"
    made = server.json("/api/sets/big", method="PUT", body={"items": "documents", "accepted": ["d0"], "under": "cats"})
    back = {key: value for key, value in made.items() if key != "name"} | {"accepted": ["d1"]}
    changed = server.json("/api/sets/big", method="PUT", body=back)
    assert (changed["accepted"], changed["under"]) == (["d1"], "cats"), "what GET gave is put back"
    del back["under"], back["group"]
    kept = server.json("/api/sets/big", method="PUT", body=back | {"version": "*"})
    assert (kept["group"], kept["under"]) == (None, "cats"), "what is not given stays"
    named = server.json("/api/sets/cats", method="PATCH", body={"name": " cats, all/some "})
    assert (named["name"], named["accepted"], named["group"]) == ("cats, all/some", ["d0", "d1"], "kinds")
    assert server.json("/api/sets/big")["under"] == "cats, all/some"
    for name, new, status in (("cats", "dogs", 404), ("big", "cats, all/some", 409), ("big", " ", 422)):
        assert "\n" not in server.json(f"/api/sets/{name}", status, method="PATCH", body={"name": new})["error"]
    server.json("/api/sets/cats%2C%20all%2Fsome", method="PATCH", body={"name": "cats"})
    assert server.json("/api/sets/cats", method="DELETE") == {"name": "cats", "parts": ["big"]}
    assert server.json("/api/sets/big")["under"] is None
    server.json("/api/sets/big", 404, method="PUT", body=back | {"version": "*", "under": "cats"})


def test_a_text_is_no_number_in_json(asked):
    asking = {"items": "documents", "seeds": ["lion", "tiger"]}
    plain = asked.json("/api/expand", method="POST", body=asking | {"k": 2, "gamma": 1, "explain": True})
    assert asked.json("/api/expand", **asking, k="2", gamma="1", explain="true") == plain, "an address has only texts"
    for name, text in (("k", "2"), ("offset", "0"), ("gamma", "1"), ("explain", "true"), ("groups", "1")):
        said = asked.json("/api/expand", 422, method="POST", body=asking | {name: text})["error"]
        assert name in said and repr(text) in said
    nothing = dict.fromkeys(("k", "offset", "gamma", "set", "exclude", "fields"))
    assert asked.json("/api/expand", method="POST", body=asking | nothing) == asked.json("/api/expand", **asking)
    said = asked.json("/api/expand", 422, method="POST", body=asking | {"weights": ["1", "2"]})["error"]
    assert said == "weights.0 must be a number, not '1'"


def test_many_sets_at_once(serve, animals):
    server = serve(animals)
    whole = server.json("/api/sets", members=True)
    assert whole == [server.json("/api/sets/grain")]
    sets = [whole[0] | {"rejected": []}, {"name": "cats", "items": "documents", "accepted": ["lion", "d1"]}]
    assert [row["name"] for row in server.json("/api/sets", method="POST", body=sets)] == ["grain", "cats"]
    assert [row["accepted"] for row in server.json("/api/sets", members=True)] == [["d0", "d1"], whole[0]["accepted"]]
    said = server.json("/api/sets", 409, method="POST", body=[sets[1] | {"name": "new"}, sets[0]])["error"]
    assert "somebody has changed the set 'grain' meanwhile" in said
    said = server.json("/api/sets", 422, method="POST", body=[sets[1] | {"accepted": ["unicorn"]}])["error"]
    assert said.startswith("row 1: ") and "'unicorn'" in said
    assert {row["name"] for row in server.json("/api/sets")} == {"grain", "cats"}, "all or none"


def test_the_sets_of_an_item_and_the_inbox(serve, animals):
    with setsearch.open(animals) as index:
        index.keep_set("cats", ["lion"], items="documents")
        index.update([("new", "a lion and a tiger, big cats")])
        expected = [own._asdict() for own in index.sets_of("leopard", k=1)]
        rows = [{**row._asdict(), "others": [*row.others]} for row in index.inbox(["cats"]).with_headlines()]
    assert [row["item"] for row in rows] == ["new"]
    server = serve(animals)
    assert server.json("/api/sets-of", item="leopard", k=1) == {"rows": expected, "notes": []}
    assert server.json("/api/sets-of", text="oats in fields", k=1)["rows"][0]["set"] == "grain"
    found = server.json("/api/inbox", sets=["cats"])
    assert found == {"rows": rows, "notes": [], "seen": found["seen"]} and [*found["seen"]] == ["cats"]
    assert "'unicorn'" in server.json("/api/sets-of", 404, item="unicorn")["error"]
    assert "give an item or a text" in server.json("/api/sets-of", 422)["error"]
    assert "no set 'dogs'; there are cats, grain" in server.json("/api/inbox", 404, sets=["dogs"])["error"]


@pytest.mark.parametrize(
    ("path", "query", "status", "said"),
    [
        ("/api/expand", {"seeds": "unicorn"}, 404, "unicorn"),
        ("/api/expand", {"items": "planets", "seeds": "x"}, 404, "planets"),
        ("/api/expand", {}, 422, "no seeds"),
        ("/api/expand", {"seeds": "lion", "k": 0}, 422, "k must"),
        ("/api/expand", {"seeds": "lion", "k": 10**9}, 422, "k must"),
        ("/api/expand", {"seeds": "lion", "model": "best"}, 422, "best"),
        ("/api/expand", {"seeds": "lion", "strength": "nan"}, 422, "not nan"),
        ("/api/expand", {"seeds": ["lion"] * 201}, 422, "seeds"),
        ("/api/expand", {"seeds": "x" * 1001}, 422, "1000"),
        ("/api/expand", {"seeds": "lion", "sed": "x"}, 422, "sed"),
        ("/api/expand", {"seeds": "li\0on"}, 404, "among"),
        ("/api/item", {"item": "\udcff"}, 404, "among"),
        ("/api/nothing", {}, 404, "there is no /api/nothing; /openapi.json describes the API"),
        ("/api/documents", {}, 405, "GET is not for /api/documents; it takes POST"),
        ("/api/sets/none", {}, 404, "none"),
    ],
)
def test_mistakes_are_told_in_one_line(asked, path, query, status, said):
    query = {key: value.encode("utf-8", "surrogateescape") if key == "item" else value for key, value in query.items()}
    problem = asked.json(path, status, **query)["error"]
    assert said in problem
    assert "\n" not in problem
    assert len(problem) < 2000


def test_an_error_is_one_short_line_whatever_is_asked_for(asked):
    for status, method, path in ((404, "GET", "/api/sets/a%0Ab"), (405, "GET", "/api/groups/" + "a" * 1500)):
        problem = asked.json(path, status, method=method)["error"]
        assert "\n" not in problem and len(problem) < 200


@pytest.mark.parametrize(
    ("body", "said"),
    [
        *((b"", "the body"), (b"[]", "the body is a JSON object, not []"), (b"{,", "broken JSON")),
        *((b"[" * 100_000, "nested too deep; /openapi.json"), (b'{"seeds": ["\xff"]}', "not UTF-8; /openapi.json")),
    ],
)
def test_bodies_that_are_no_question(asked, body, said):
    json_ = {"content-type": "application/json"}
    status, _, answer = asked.ask("/api/expand", method="POST", body=body, headers=json_)
    assert (status, said in json.loads(answer)["error"]) == (422, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"name": "cats"}', "the body is a JSON array of objects, not {'name': 'cats'}"),
        (b'["cats"]', "0 is a JSON object, not 'cats'"),
        (b'[{"name": "cats", "accepted": "lion"}]', "0.accepted is a list of texts, not 'lion'"),
    ],
)
def test_bodies_that_are_no_sets(asked, body, said):
    json_ = {"content-type": "application/json"}
    status, _, answer = asked.ask("/api/sets", method="POST", body=body, headers=json_)
    assert (status, json.loads(answer)) == (422, {"error": said})


def test_who_may_do_what(serve, animals):
    server = serve(animals, "--token", "secret ä", "--cors", "https://friend.example")
    bearer = {"authorization": "Bearer secret ä".encode().decode("latin-1")}
    status, headers, _ = server.ask("/api/info")
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert server.ask("/api/info", headers={"authorization": "Bearer wrong"})[0] == 401
    assert "Token" in server.ask("/")[2], "the page asks for it"
    assert server.ask("/token", method="POST", body="token=wrong")[0] == 401
    status, headers, _ = server.ask("/token", method="POST", body="token=secret+%C3%A4")
    assert status == 303
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert "secret" not in cookie
    assert server.ask("/?items=documents&seed=lion", headers={"cookie": cookie.split(";")[0]})[0] == 200
    assert server.ask("/", headers={"cookie": "setsearch_token=wrong"})[0] == 401
    for page in ("/inbox?set=grain", "/?items=documents&seed=lion"):  # also after a slip
        found = re.search('action="(/token.*?)"', server.ask(page)[2])[1]
        found = re.search('action="(/token.*?)"', server.ask(found, method="POST", body="token=slip")[2])[1]
        sent = server.ask(found, method="POST", body="token=secret+%C3%A4")
        assert sent[1]["location"] == page
    for place in ("https://evil.example/", "//evil.example/", "/\t/evil.example", "\\\\evil.example"):
        sent = server.ask("/token?" + urlencode({"back": place}), method="POST", body="token=secret+%C3%A4")
        assert re.match("/(?![/\\\\\t])", sent[1]["location"]), "it stays here"
    elsewhere = bearer | {"origin": "https://evil.example"}
    assert "access-control-allow-origin" not in server.ask("/api/sets", headers=elsewhere)[1]
    friend = bearer | {"origin": "https://friend.example"}
    assert server.ask("/api/sets", headers=friend)[1]["access-control-allow-origin"] == "https://friend.example"
    body = {"items": "documents", "accepted": ["lion"]}
    own = f"127.0.0.1:{server.port}"
    for scheme, status in (("http", 200), ("https", 200), ("ftp", 403), ("chrome-extension", 403)):
        headers = bearer | {"origin": f"{scheme}://{own}"}
        assert server.ask("/api/sets/x", method="PUT", body=body, headers=headers)[0] == status, scheme
    for origin in ("https://evil.example", "http://[", "null"):
        assert server.ask("/api/sets/x", method="PUT", body=body, headers=bearer | {"origin": origin})[0] == 403
    assert (
        server.ask("/api/sets/x", method="PUT", body=body, headers=bearer | {"sec-fetch-site": "cross-site"})[0] == 403
    )
    assert server.ask("/api/sets/x", method="PUT", body=body, headers=bearer)[0] == 200


def test_many_unknown_names_are_told(asked):
    """Names that look alike are looked for a few times only, as that takes a while; more than fit are refused."""
    from setsearch.web.typed_names import MOST_HINTS

    names = [f"wheatx{n}" for n in range(150)]
    for seeds in ({"seed": names}, {"seed": ",".join(names[:100])}):
        status, _, text = asked.ask("/", items="documents", **seeds)
        assert status == 200, text
        assert text.count("did you mean") == MOST_HINTS
        assert re.findall(r"no &#39;(\w+)&#39; among the \d+ \w+", text) == names[:MOST_HINTS]
        assert re.search(r"and (97|147) more: wheatx3, .*, wheatx99\b", text)
    assert asked.ask("/", items="documents", seed=",".join(f"x{n}" for n in range(201)))[0] == 422


def test_an_item_with_much_is_cut(asked):
    found = asked.json("/api/item", items="terms", item="oats", k=2)
    with_all = asked.json("/api/item", items="terms", item="oats")
    assert len(found["features"]) == 2 < len(with_all["features"]) == found["feature_count"]


def test_other_names_of_the_server_are_refused(serve, animals):
    server = serve(animals)
    status, headers, answer = server.ask("/api/info", headers={"host": "evil.example"})
    assert (status, headers["content-type"]) == (400, "application/json")
    assert json.loads(answer) == {
        "error": "'evil.example' is no name of this server; `setsearch serve --name` gives it more"
    }
    assert server.ask("/api/info", headers={"host": f"localhost:{server.port}"})[0] == 200
    named = serve(animals, "--name", "sets.example")
    assert named.ask("/api/info", headers={"host": "sets.example"})[0] == 200


def test_one_thing_is_told_as_one(serve, tmp_path):
    with setsearch.open(tmp_path / "one.db", create=True) as index:
        index.add([("a", "lions roar")])
        index.add([("Alien", ["ann", "bob"])], ("films", "users"))
    server = serve(tmp_path / "one.db")
    assert "It holds 1 document and 2 words." in server.ask("/", items="documents")[2]
    assert "It holds 1 films and 2 users." in server.ask("/", items="films")[2], "a name that somebody gave"


def test_read_only_saves_nothing(serve, animals):
    server = serve(animals, "--read-only")
    assert server.ask("/api/sets/x", method="PUT", body={"accepted": []})[0] == 403
    assert server.ask("/api/sets/grain", method="DELETE")[0] == 403
    assert server.ask("/sets", method="POST", body="name=x&items=documents&seed=lion")[0] == 403
    assert server.ask("/forget", method="POST", body="name=grain")[0] == 403
    assert [row["name"] for row in server.json("/api/sets")] == ["grain"]
    assert ">Save<" not in server.ask("/?items=documents&seed=lion")[2]


def test_what_is_too_large_is_refused(serve, animals):
    server = serve(animals)
    status, _, body = server.ask("/api/sets/x", method="PUT", body=b"[" * (1 << 21))
    assert (status, "bytes" in body) == (413, True)
    assert server.ask("/?" + "&".join(f"seed=w{n}" for n in range(300)))[0] == 422
    assert server.ask("/api/info")[0] == 200


def test_headers_forbid_what_pages_do_not_need(asked):
    for path in ("/", "/api/info", "/static/page.js", "/nothing", "/?items=planets"):
        headers = asked.ask(path, headers={"origin": "https://evil.example"})[1]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "uvicorn" not in headers.get("server", "")


def test_little_is_sent_to_who_is_far_away(asked):
    """Pages come compressed, to those that ask for it, and files once, until they change."""
    where = asked.url + "?items=documents&seed=lion&seed=tiger"
    with urlopen(Request(where, headers={"accept-encoding": "gzip"})) as answer:
        packed = answer.read()
    assert gzip.decompress(packed).decode() == asked.ask("/?items=documents&seed=lion&seed=tiger")[2]
    _, headers, body = asked.ask("/static/page.js")
    assert (headers["cache-control"], len(body) > 0) == ("no-cache", True)
    assert asked.ask("/static/page.js", headers={"if-none-match": headers["etag"]})[0] == 304
    assert asked.ask("/api/info")[1]["cache-control"] == "no-store"


def test_the_title_of_a_page_names_the_examples_as_people_do(asked):
    assert "<title>lion, tiger · setsearch</title>" in asked.ask("/?items=documents&seed=d0&seed=d1")[2]


def test_nothing_is_loaded_from_elsewhere(asked):
    set_page, item_page = "/?items=documents&seed=lion", "/item?items=documents&open=lion"
    for path in (set_page, item_page, "/static/page.js", "/static/page.css"):
        text = asked.ask(path)[2]
        assert not re.findall(r"""(?:src|href|action|url|import)\s*[=(]\s*["']?(?:https?:)?//""", text), path


def test_serve_says_what_is_wrong(animals, tmp_path, serve, run, failed):
    failed(run("serve", tmp_path / "none.db"), 1, "none.db")
    failed(run("serve", animals, "--host", "0.0.0.0"), 2, "--token")
    server = serve(animals)
    server.json("/api/health")  # it has started, and ends in order
    command = [sys.executable, "-m", "setsearch", "serve", animals, "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience(60))
    failed((done.returncode, done.stdout, done.stderr), 2, "--port 0")


@pytest.mark.long
def test_many_writers_and_readers_at_once(serve, animals):
    """Sets are saved while others read: no error, and each answer is whole."""
    server = serve(animals)

    def one(number):
        body = {"items": "documents", "accepted": [f"d{number % 8}", f"d{(number + 1) % 8}"], "version": "*"}
        server.json("/api/sets/shared", method="PUT", body=body)
        kept = server.json("/api/sets/shared")["accepted"]
        return len(kept) == 2 and len(server.json("/api/expand", items="documents", seeds="lion")) == 3

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(80)))


@pytest.mark.long
def test_the_api_is_as_it_is_described(serve, animals, tmp_path):
    """Schemathesis makes requests of the description, at the edges of what it allows, and compares the answers."""
    pytest.importorskip("schemathesis", reason=NEEDS_SCHEMATHESIS)
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"]
    command += [serve(animals).url + "openapi.json", "--phases", "examples,coverage", "--workers", "1", "--seed", "1"]
    # An unknown model, or examples that have no answer, are refused with 422 though the schema allows them.
    command += ["--exclude-checks", "positive_data_acceptance", "--no-color", "--generation-database", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience(200), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


KNOWN = {"documents": ["lion", "d1", "wheat"], "terms": ["lion", "barley", "grow"]}


@pytest.mark.long
@pytest.mark.parametrize("name", ["expand", "explain", "features", "item", "sets-of"])
def test_answers_for_real_seeds_are_as_described(asked, name):
    """The same with names that the index has."""
    schemathesis = pytest.importorskip("schemathesis", reason=NEEDS_SCHEMATHESIS)
    kinds = ["documents"] if name == "sets-of" else list(KNOWN)  # of which there is a set
    operation = schemathesis.openapi.from_url(asked.url + "openapi.json")[f"/api/{name}"]["GET"]
    answered = []

    @given(case=operation.as_strategy(), items=st.sampled_from(kinds), data=st.data())
    @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def ask(case, items, data):
        chosen = st.sampled_from(KNOWN[items])
        real = {"items": items, "item": data.draw(chosen), "seeds": data.draw(st.lists(chosen, min_size=1, max_size=3))}
        case.query = {key: real.get(key, value) for key, value in case.query.items() if key not in LEFT_OUT}
        case.query |= {key: real[key] for key in ("items", "item", "seeds") if key in NEEDED[name]}
        response = case.call_and_validate()
        answered.append(response.status_code)

    ask()
    assert answered.count(200) > 5, answered


NEEDED = {
    "expand": ("items", "seeds"),
    "explain": ("items", "item", "seeds"),
    "features": ("items", "seeds"),
    "item": ("items", "item"),
    "sets-of": ("items", "item"),
}
# Names that the index would not know, and numbers that do not fit the seeds.
LEFT_OUT = "model weights like groups having exclude filter at_most per sets text by purpose".split()


def test_pages_of_hits_and_thousands_of_names(serve, animals):
    server = serve(animals)
    whole = server.json("/api/expand", items="documents", seeds=["lion"], model="bernoulli")
    assert server.json("/api/expand", items="documents", seeds=["lion"], model="bernoulli", k=2, offset=1) == whole[1:3]
    body = {"items": "documents", "seeds": ["lion"], "among": ["d1", "d6"], "model": "bernoulli"}
    found = server.json("/api/expand", method="POST", body=body)
    assert {hit["item"] for hit in found} == {"d1", "d6"}
    many = {"items": "documents", "seeds": [f"d{n % 4}" for n in range(5000)], "k": 1, "model": "bernoulli"}
    assert len(server.json("/api/expand", method="POST", body=many)) == 1
    assert server.json("/api/health") == {"version": setsearch.__version__, "revision": 1}
    assert server.json("/api/find", items="documents", text="tigr")[0]["title"] == "tiger"
    (hit,) = server.json("/api/expand", items="documents", seeds=["lion"], k=1, snippets=True)
    assert hit["snippet"] is None or hit["snippet"]["marks"]


def test_columns_filter_and_fields_are_chosen(serve, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(
            [Item(f"d{n}", f"lion tiger number{n}", None, {"year": n, "even": n % 2}) for n in range(6)]
            + [("w", "wheat")] * 1
        )
    server = serve(tmp_path / "a.db")
    asked = {"items": "documents", "seeds": ["d0"], "model": "bernoulli"}
    rows = server.json("/api/expand", **asked, filter=["year > 1", "year != 3"], fields=["title", "columns"])
    assert {row["item"]: row["columns"] for row in rows} == {f"d{n}": {"year": n, "even": n % 2} for n in (2, 4, 5)}
    assert all(set(row) == {"rank", "item", "title", "columns"} for row in rows)
    body = asked | {"filter": ["year = 5"], "fields": ["score"], "among": ["d4", "d5"]}
    (row,) = server.json("/api/expand", method="POST", body=body)
    assert set(row) == {"rank", "item", "score"}
    assert "kept: year, even" in server.json("/api/expand", **asked, status=422, filter=["size > 1"])["error"]
    pages = [server.json("/api/expand", **asked, at_most=1, per="even", k=1, offset=place) for place in range(4)]
    assert [row["item"] for page in pages for row in page] == ["d1", "d2", "w"]
    assert "belong together" in server.json("/api/expand", **asked, status=422, at_most=1)["error"]
    assert server.ask("/api/expand", **asked, fields=["secret"])[0] == 422


def test_what_a_document_is_not_given_stays(serve, tmp_path, run):
    reference = "TY  - JOUR\nTI  - Old words\nAB  - the lion of the savanna\nPY  - 1999\nER  - \n"
    (tmp_path / "a.ris").write_text(reference)
    assert run("index", "a.db", "a.ris", "--keep-columns", "year")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        (name,) = [hit.item for hit in index.items("documents").find_names("old words")]
    server = serve(tmp_path / "a.db", "--token", "secret")

    def stored(body, *, method="PUT", id=name):
        """The title, the kept columns and a word of the reference after a write."""
        path = "/api/documents" + (f"/{id}".replace("#", "%23") if id else "")
        assert server.ask(path, method=method, body=body, headers={"authorization": "Bearer secret"})[0] == 200
        with setsearch.open(tmp_path / "a.db") as index:
            reading = index.items("documents")
            (hit,) = reading.expand([name], 1, keep_seeds=True)
            return hit.title, hit.columns, "zebra" in reading.features_of(name)

    year = {"year": 1999}
    assert stored({"text": "a tiger"}) == ("Old words", year, False)
    both = [{"id": name, "text": "a zebra"}, {"id": "new", "text": "wheat"}]
    assert stored(both, method="POST", id=None) == ("Old words", year, True)
    assert run("set", "save", "a.db", "s", name, "--items", "documents")[0] == 0
    assert run("review", "a.db", "s", "--export", "b.ris")[0] == 0
    assert "AB  - the lion of the savanna" in (tmp_path / "b.ris").read_text(), "the record of a reference stays"
    assert stored({"text": "a zebra", "title": None}) == (None, year, True)
    day = {"text": "wheat", "fields": {"day": "2004-12-31"}}
    stored(day, id="new")
    stored(day | {"fields": {"day": "2006-12-31"}}, id="newer")
    with setsearch.open(tmp_path / "a.db") as index:
        assert "day:below 2006-01-01" in index.items("documents").features_of("new")


def test_documents_of_a_collection_are_written(serve, tmp_path):
    for name in ("notes", "mails"):
        with setsearch.open(tmp_path / "a.db", create=True, collection=name, language="english") as index:
            index.add([("a", "lions")])
    server = serve(tmp_path / "a.db", "--token", "secret")

    def ask(path, method="PUT", body=None, **query):
        status, _, text = server.ask(path, method, body, {"authorization": "Bearer secret"}, **query)
        return status, json.loads(text).get("error")

    for wrong in ({}, {"items": "documents"}, {"items": "notes/terms"}):
        status, told = ask("/api/documents/a", body={"text": "tigers"}, **wrong)
        assert status == 422 and "`items` names the documents that are written: notes/documents or mails/doc" in told
    assert ask("/api/documents/a", body={"text": "tigers"}, items="notes/documents") == (200, None)
    assert ask("/api/documents", "POST", [{"id": "b", "text": "wolves"}], items="mails/documents") == (200, None)
    with setsearch.open(tmp_path / "a.db") as index:
        assert [own["items"].partition("/")[0] for own in index.readings()] == ["notes"] * 2 + ["mails"] * 2
        assert index.items("notes/documents").features_of("a") == {"tiger": 1}
        assert index.items("mails/documents").features_of("b") == {"wolv": 1}
    assert ask("/api/documents/a", "DELETE", items="mails/documents") == (200, None)
    assert ask("/api/documents/a", "DELETE", items="mails/documents")[0] == 404


@pytest.mark.long
def test_documents_are_written_with_a_token(serve, animals):
    server = serve(animals, "--token", "secret")
    headers = {"authorization": "Bearer secret"}
    new = {"text": "lion and zebra", "title": "Zebra"}
    written = server.ask("/api/documents/new/one", method="PUT", body=new, headers=headers)
    assert json.loads(written[2]) == {"count": 1, "revision": 2}
    two = [{"id": "x", "text": "zebra"}, {"id": "y", "text": "zebra lion"}]
    assert json.loads(server.ask("/api/documents", method="POST", body=two, headers=headers)[2])["count"] == 2
    with setsearch.open(animals) as index:
        assert index.items("documents").find("Zebra") == "new/one"
        assert index.items("documents").features_of("y") == {"zebra": 1, "lion": 1}
    fields = {"tags": ["stripes"], "year": 2004}
    with_links = new | {"fields": fields, "links": {"cites": ["x"]}}
    assert server.ask("/api/documents/z", method="PUT", body=with_links, headers=headers)[0] == 200
    assert (
        server.ask("/api/documents/z", method="PUT", body=new | {"fields": {"year": None}}, headers=headers)[0] == 200
    )
    with setsearch.open(animals) as index:
        of_fields = [name for name in index.items("documents").features_of("z") if ":" in name]
    assert of_fields == ["cites:x", "cites:z", "tags:stripes"], "a field that is not given stays"
    asked = {"items": "documents", "seeds": ["z"], "by": {"text": 1, "tags": 0.5}}
    rows = json.loads(server.ask("/api/expand", method="POST", body=asked, headers=headers)[2])
    with setsearch.open(animals) as index:
        hits = index.items("documents").expand(["z"], by="text,tags=0.5").shared()
        assert [(row["item"], row["score"]) for row in rows] == [(hit.item, hit.score) for hit in hits]
    for wrong in ({"by": {"text": "x"}}, {"weights": {"z": 1}}):
        status, _, text = server.ask("/api/expand", method="POST", body=asked | wrong, headers=headers)
        assert status == 422 and re.search("must be a number from 0|weights are a list of numbers, one for each", text)
    wrong = server.ask("/api/documents/z", method="PUT", body=new | {"fields": {"text": ["a"]}}, headers=headers)
    assert wrong[0] == 422 and "the name of the first one; rename it" in wrong[2]
    wrong = server.ask("/api/documents/z", method="PUT", body=new | {"links": ["x"]}, headers=headers)
    assert (wrong[0], json.loads(wrong[2])) == (422, {"error": "links is a JSON object, not ['x']"})
    assert server.ask("/api/documents/x", method="DELETE", headers=headers)[0] == 200
    assert server.ask("/api/documents/x", method="DELETE", headers=headers)[0] == 404
    assert server.ask("/api/documents/x", method="PUT", body=new)[0] == 401
    open_server = serve(animals)
    status, _, text = open_server.ask("/api/documents/x", method="PUT", body=new)
    assert (status, "--token" in text) == (403, True)


def test_items_with_numbers_have_a_page(serve, tmp_path):
    with setsearch.open(tmp_path / "n.db", create=True) as index:
        index.add_numbers([("ann", [1.0]), ("bob", [1.1]), ("cat", [9.0])], ["height"], "person")
    page = serve(tmp_path / "n.db").ask("/", items="person", seed="ann")
    assert page[0] == 200
    assert "bob" in page[2]


def test_a_proxy_may_show_it_under_a_path(serve, animals):
    """It asks without the path, and all links have it."""
    server = serve(animals, "--prefix", "sets/")
    status, _, page = server.ask("/", items="documents", seed="lion")
    links = re.findall(r'(?:href|src|action|data-complete)="(/[^"]*)"', page)
    assert status == 200 and links and all(link.startswith("/sets/") for link in links)
    assert server.ask("/static/page.css")[0] == server.ask("/api/expand", items="documents", seeds="lion")[0] == 200
    assert server.json("/openapi.json")["servers"] == [{"url": "/sets"}]


def test_a_proxy_may_ask_by_another_name(serve, animals):
    """As most do by themselves. The browser says that the page is of the same origin."""
    server = serve(animals, "--prefix", "sets")
    body, headers = {"items": "documents", "accepted": ["lion"]}, {"origin": "https://sets.example"}
    for site, status in (("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("none", 403)):
        given = headers | {"sec-fetch-site": site}
        assert server.ask("/api/sets/x", method="PUT", body=body, headers=given)[0] == status, site


def test_pages_of_an_origin_may_ask_by_post_where_nothing_is_written(serve, animals):
    """An address is taken for its origin."""
    server = serve(animals, "--read-only", "--cors", "https://Friend.example/", "--cors", "null")
    for origin in ("https://friend.example", "null"):
        asks = {"origin": origin, "access-control-request-method": "POST"}
        asks["access-control-request-headers"] = "authorization,content-type"
        status, headers, _ = server.ask("/api/expand", method="OPTIONS", headers=asks)
        assert (status, headers["access-control-allow-origin"]) == (200, origin)
        body = {"items": "documents", "seeds": ["lion"]}
        assert server.ask("/api/expand", method="POST", body=body, headers={"origin": origin})[0] == 200
        status, headers, said = server.ask("/api/sets/x", method="PUT", body={}, headers={"origin": origin})
        assert status == 403 and "only reads" in said and headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("given", ["friend.example", "https://friend.example/page", "https://", "https://a@b.example"])
def test_what_is_no_origin_is_told(run, failed, animals, given):
    said = f"--cors '{given}' is no origin; give scheme and host, such as https://friend.example"
    failed(run("serve", animals, "--cors", given), 2, said)


def test_generated_clients_have_short_names(asked):
    paths = asked.json("/openapi.json")["paths"].values()
    names = [operation["operationId"] for path in paths for operation in path.values()]
    assert {"expand", "explain", "get_set", "put_set"} < {*names} and len(names) == len({*names})
