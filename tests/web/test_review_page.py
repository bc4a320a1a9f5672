"""The page of a review over HTTP: what was undone, and answers of two people."""

import io
import re
from html import unescape
from urllib.parse import urlencode

import pytest

import setsearch
from setsearch.learning.review import Review

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

FORM = {"content-type": "application/x-www-form-urlencoded"}
TEXTS = {
    "a": "lion tiger claw", "b": "lion leopard claw", "c": "tiger leopard jungle", "d": "wheat rye bread",
}  # fmt: skip


@pytest.fixture
def cats(tmp_path):
    with setsearch.open(tmp_path / "cats.db", create=True, contexts="off") as index:
        index.add(TEXTS.items())
        Review(index, "cats").know(["a"])
    return tmp_path / "cats.db"


def fields(html):
    """The fields of the last form of a page, as a browser sends them."""
    html = html.rpartition('<form class="answers"')[2]
    return {name: unescape(value) for name, value in re.findall(r'<input [^>]*name="(\w+)"[^>]*value="(.*?)">', html)}


def post(server, given, **typed):
    """Answer on a page; the page that follows."""
    status, headers, body = server.ask("/review", "POST", urlencode({**given, **typed}), FORM)
    assert status in (200, 303, 409, 422), body
    return server.ask(headers["location"])[2] if status == 303 else body


def decisions(path):
    with setsearch.open(path) as index:
        return [own[:2] + own[4:] for own in Review(index, "cats").decisions() if own.item != "a"]


def told(html):
    return [unescape(own) for own in re.findall(r'role="status">(.*?)</p>', html)]


def test_what_was_undone_is_told_and_shown_again(serve, cats):
    server = serve(cats)
    first = fields(server.ask("/review", set="cats")[2])
    html = post(server, first, said="no", reason="too wild", note="ask Ann")
    assert decisions(cats) == [(first["item"], "no", "too wild", "ask Ann")] and not told(html)
    html = post(server, fields(html), said="undo")
    assert told(html) == [f"Undone: no to {first['item']} (too wild), with the note: ask Ann"]
    given = fields(html)
    assert [given[name] for name in ("item", "reason", "note")] == [first["item"], "too wild", "ask Ann"]
    assert decisions(cats) == []
    assert told(post(server, given, said="undo")) == ["Nothing to undo."]


def test_the_curve_begins_at_what_was_known(serve, cats):
    server = serve(cats)
    html = server.ask("/review", set="cats")[2]
    assert "<figure" not in html
    for said, points in (("yes", "0.0,20.0 100.0,0.0"), ("no", "0.0,20.0 50.0,0.0 100.0,0.0")):
        html = post(server, fields(html), said=said)
        assert f'<polyline points="{points}"/>' in html


def test_the_last_record_is_undone(serve, cats):
    server = serve(cats)
    html = server.ask("/review", set="cats")[2]
    for _ in range(3):
        html = post(server, fields(html), said="no")
    assert "All are decided" in html
    last = decisions(cats)[-1][0]
    html = post(server, fields(html), said="undo")
    assert told(html) == [f"Undone: no to {last}"] and fields(html)["item"] == last


@pytest.mark.parametrize("said", ["yes", "later"])
def test_a_reason_for_another_answer_than_no_is_not_lost(serve, cats, said):
    server = serve(cats)
    first = fields(server.ask("/review", set="cats")[2])
    html = post(server, first, said=said, reason="too wild", note="ask Ann")
    assert told(html) == ["Nothing was saved: 'too wild' is a reason for no. Answer no, or empty the field."]
    assert fields(html) == {**first, "reason": "too wild", "note": "ask Ann"} and decisions(cats) == []
    html = post(server, {**fields(html), "reason": " "}, said=said)
    assert decisions(cats) == [(first["item"], said, None, "ask Ann")] and not told(html)


def test_a_note_is_shown_when_its_record_comes_back(serve, cats, run, monkeypatch):
    server = serve(cats)
    html = server.ask("/review", set="cats")[2]
    first = fields(html)
    html = post(server, first, said="later", note="ask Ann")
    for _ in range(2):
        assert fields(html)["note"] == ""
        html = post(server, fields(html), said="no")
    assert (fields(html)["item"], fields(html)["note"]) == (first["item"], "ask Ann")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "note: ask Ann" in run("review", str(cats), "cats")[2]


def test_undo_brings_the_answer_of_somebody_else_back(serve, cats):
    server = serve(cats)
    given = fields(server.ask("/review", set="cats")[2])
    post(server, given, said="no", reason="too wild", note="ask Ann")
    with setsearch.open(cats) as index:
        before = Review(index, "cats").decisions()
    html = post(server, given, said="yes", replaces="no")
    assert told(html) == [f"Replaced: no to {given['item']} (too wild), with the note: ask Ann"]
    html = post(server, fields(html), said="undo")
    assert told(html) == [f"Undone: yes to {given['item']}; again: {before[-1]}"]
    with setsearch.open(cats) as index:
        assert Review(index, "cats").decisions() == before


@pytest.mark.long
def test_an_overruled_answer_comes_back_much_later(serve, cats):
    """On another page, after other answers, by another server."""
    server = serve(cats)
    given = fields(server.ask("/review", set="cats")[2])
    post(server, given, said="no", reason="too wild")
    html = post(server, given, said="yes", replaces="no")
    html = post(server, fields(html), said="no")
    again = serve(cats)
    html = post(again, fields(again.ask("/review", set="cats")[2]), said="undo")
    html = post(again, fields(html) | {"last": given["item"]}, said="undo")
    assert told(html) == [f"Undone: yes to {given['item']}; again: no to {given['item']} (too wild)"]
    assert decisions(cats) == [(given["item"], "no", "too wild", None)]


def test_two_people_are_told_of_one_another(serve, cats):
    """Each takes back the answer after which the own page was made."""
    server = serve(cats)
    html = server.ask("/review", set="cats")[2]
    given = fields(html)
    mine = post(server, given, said="yes")
    given["note"] = "I doubt it"
    yours = post(server, given, said="no", reason="too wild")
    assert server.ask("/review", "POST", urlencode({**given, "said": "no"}), FORM)[0] == 409
    assert told(yours) == [f"Somebody has said yes to {given['item']} meanwhile, and your no was not saved."]
    assert decisions(cats) == [(given["item"], "yes", None, None)] and not told(mine)
    assert fields(yours)["item"] != given["item"], "the next record is shown"
    again = fields(yours.rpartition('<form class="answers"')[0])
    assert again.pop("replaces") == "yes" and "Say no all the same" in yours
    assert again == {"set": "cats", "item": given["item"], "reason": "too wild", "note": "I doubt it"}
    yours = post(server, {**again, "replaces": "yes"}, said="no")
    assert told(yours) == [f"Replaced: yes to {given['item']}"]
    assert decisions(cats) == [(given["item"], "no", "too wild", "I doubt it")]
    yours = post(server, fields(yours), said="no")
    html = post(server, fields(mine), said="undo")
    undone = f"Undone: no to {given['item']} (too wild), with the note: I doubt it"
    assert told(html) == [f"{undone}; again: yes to {given['item']}"]
    assert len(decisions(cats)) == 2, "the answer of somebody else stays"
    with setsearch.open(cats) as index:
        index.delete_set("cats")
    status, _, body = server.ask("/review", "POST", urlencode({**fields(html), "said": "yes"}), FORM)
    assert status == 404 and "it may have been deleted meanwhile" in body


def test_a_review_of_no_set_names_those_that_are_there(serve, cats):
    status, _, body = serve(cats).ask("/review")
    assert status == 404 and "no set is named; there is cats" in body


def test_the_page_says_what_each_kind_of_file_leaves_out(serve, tmp_path, run):
    fields = "AU  - Ann\nT2  - J\nPY  - 2020\nM1  - a\nM1  - b\nC1  - Ulm\n"
    (tmp_path / "a.ris").write_text(f"TY  - JOUR\nTI  - Big cats\nAB  - Lions.\nVL  - 3\n{fields}ER  - \n")
    path = tmp_path / "a.db"
    assert run("index", str(path), str(tmp_path / "a.ris"))[0] == 0
    with setsearch.open(path) as index:
        Review(index, "cats").know(["Big cats"])
    server = serve(path)
    assert 'href="/review/export?set=cats"' in server.ask("/review", set="cats")[2]
    html = unescape(server.ask("/review/export", set="cats")[2])
    said = dict(re.findall(r"download>(\w+)</a>(.*?)</li>", html))
    assert said == {
        "CSV": ": without fields of 1 record for which it has no place (C1 of 1, M1 of 1, VL of 1)",
        "RIS": "",
        **{
            kind: f" ({name}): without fields of 1 record for which it has no place (C1 of 1, M1 of 1)"
            for kind, name in {"BIB": "BibTeX", "NBIB": "PubMed", "CIW": "Web of Science", "ENW": "EndNote"}.items()
        },
    }
    assert "In the list" not in html
    told = run("review", str(path), "cats", "--export", str(tmp_path / "a.csv"))[2]
    assert "not in " in told and "fields of 1 record for which .csv has no place: C1 of 1, M1 of 1, VL of 1" in told
    assert server.ask("/review.ris", set="cats")[2].count("M1  - ") == 2
    assert server.ask("/review/export", set="dogs")[0] == 404
