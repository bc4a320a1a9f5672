"""Saved sets in the life of others, from end to end: an application whose editors file articles; a reviewer."""

import json
import random
import sqlite3

import pytest

import setsearch
from setsearch.learning import Review

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

SECTIONS = {
    "garden": "rose tulip spade compost hedge lawn prune seedling bloom soil".split(),
    "kitchen": "oven flour butter whisk dough simmer roast spice broth knead".split(),
    "forest": "oak fern moss deer owl bark acorn trail birch pine".split(),
    "harbor": "sail anchor tide gull keel mast pier net deck buoy".split(),
}


def body(section, number):
    """A text of words of a section and others, always the same."""
    draw = random.Random(f"{section} {number}")
    return " ".join(draw.sample(SECTIONS[section], 6) + draw.sample("day man house time year place".split(), 3))


def insert(application, section, number):
    """What an editor does in the application, which knows nothing of sets."""
    row = (f"{section} {number}", body(section, number))
    key = application.execute("insert into articles (title, body) values (?, ?)", row).lastrowid
    application.commit()
    return key


@pytest.mark.long
def test_editors_file_articles_and_a_browser_has_the_next_inbox(tmp_path, serve, browse):
    from playwright.sync_api import expect

    application = sqlite3.connect(tmp_path / "app.db")
    application.execute("create table articles (id integer primary key, title text, body text)")
    keys = {section: [insert(application, section, number) for number in range(9)] for section in SECTIONS}
    with setsearch.open(tmp_path / "app.db") as index:
        index.add_table("articles", setsearch.Columns(text=("title", "body"), title="title"), track=True)
        for section in ("garden", "kitchen"):
            index.keep_set(section, [str(key) for key in keys[section][:3]], items="documents")
    page = browse(serve(tmp_path / "app.db").url + "inbox")
    expect(page.locator("h1")).to_have_text("Nothing new for your sets")
    rose, bread = insert(application, "garden", 20), insert(application, "kitchen", 20)
    insert(application, "harbor", 20)
    page.reload()
    expect(page.locator("#hits > li")).to_have_count(2)
    expect(page.locator("#hits .name")).to_have_text(["garden 20", "kitchen 20"])
    page.keyboard.press("y")
    expect(page.locator("#hits .name")).to_have_text(["kitchen 20"])
    application.execute("delete from articles where id = ?", (bread,))
    application.execute("update articles set body = ? where id = ?", (body("garden", 21), keys["harbor"][0]))
    application.commit()
    page.reload()
    expect(page.locator("#hits .name")).to_have_text(["harbor 0"])  # the text changed: it is new; the other is gone
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("Nothing new for your sets")
    setsearch.register(application)  # what the application itself is told, by SQL
    (found,) = application.execute("select setsearch_sets_of(?)", (str(rose),)).fetchone()
    assert [(row["set"], row["said"]) for row in json.loads(found) if row["belongs"]] == [("garden", "accepted")]
    with setsearch.open(tmp_path / "app.db") as index:
        assert index.set("garden").rejected == [str(keys["harbor"][0])]
        assert index.check() == []
    application.close()


def test_a_reviewer_asks_two_questions_of_the_same_records(tmp_path, run):
    def write(name, numbers):
        rows = [(f"{section[0]}{n}", body(section, n)) for section in SECTIONS for n in numbers]
        rows += [("both", " ".join(SECTIONS["garden"][:6] + SECTIONS["kitchen"][:6]))] if 10 in numbers else []
        (tmp_path / name).write_text("\n".join(json.dumps({"id": id, "text": text}) for id, text in rows))

    def inbox(*names):
        return {(row["set"], row["item"]): row for row in json.loads(run("inbox", "r.db", *names)[1])}

    write("first.jsonl", range(9))
    write("later.jsonl", range(10, 12))
    (tmp_path / "questions.json").write_text(json.dumps({"plants": ["g0", "g1", "g2"], "food": ["k0", "k1", "k2"]}))
    assert run("index", "r.db", "first.jsonl")[0] == 0
    assert run("set", "import", "r.db", "questions.json", "--items", "documents")[0] == 0
    assert run("index", "r.db", "later.jsonl")[0] == 0
    rows = inbox()
    assert {("plants", "g10"), ("plants", "g11"), ("food", "k10"), ("food", "k11")} <= rows.keys()
    assert rows["plants", "both"]["others"] == ["food"], "a record of both questions is asked about in both"
    assert rows["food", "both"]["others"] == ["plants"]
    assert run("inbox", "r.db", "plants", "--accept", "=both")[0] == 0
    assert run("inbox", "r.db", "food", "--reject", "=both", "--accept", "=k10")[0] == 0
    found = {row["set"]: row for row in json.loads(run("set", "of", "r.db", "both")[1])}
    assert (found["plants"]["said"], found["food"]["said"]) == ("accepted", "rejected")
    assert (found["plants"]["belongs"], found["food"]["belongs"]) == (True, False)
    left = inbox()
    assert ("food", "k10") not in left and ("plants", "g10") in left
    with setsearch.open(tmp_path / "r.db") as index:
        review = Review(index, "plants", "documents")
        assert review.progress().found == 4, "the same answers are those of the review"
        review.decide("g10", "later")
    assert ("plants", "g10") in inbox(), "what is put off is not decided"
    (tmp_path / "sets.csv").write_text(run("set", "export", "r.db", "--csv")[1])
    assert run("index", "colleague.db", "first.jsonl", "later.jsonl")[0] == 0
    assert run("set", "import", "colleague.db", "sets.csv")[0] == 0
    for name in ("plants", "food"):
        mine, theirs = (
            run("expand", own, "--set", name, "--items", "documents", "-k", "30") for own in ("r.db", "colleague.db")
        )
        assert [(row["item"], row["score"]) for row in json.loads(mine[1])] == [
            (row["item"], row["score"]) for row in json.loads(theirs[1])
        ]
