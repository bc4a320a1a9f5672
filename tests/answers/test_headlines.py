"""Documents without a title are shown by the first line of their text."""

import json

import pytest

import setsearch
from setsearch.answers.highlight import with_headlines
from setsearch.text.headline import headline

HEADLINES = [
    ("# A heading #\ntext", "A heading"),
    ("\n\n  ...\nThe first line\nmore", "The first line"),
    ("intro\n\nA title\n=======\ntext", "A title"),
    ("word " * 40, ("word " * 40)[:79].rstrip() + "…"),
    ("日本語の文章", "日本語の文章"),
    ("", None),
    ("--\n!!", None),
]


@pytest.mark.parametrize(("text", "expected"), HEADLINES)
def test_a_headline_is_the_heading_or_the_first_line_with_a_word(text, expected):
    assert headline(text) == expected


def test_only_missing_titles_are_filled(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "lion tiger\nand more", "Own"), ("b", "tiger lion\nand"), ("c", "lion"), ("d", ["lion"])])
        index.add([(f"w{n}", "wheat") for n in range(9)])
        reading = index.items("documents")
        hits = with_headlines(reading, reading.expand(["c"], 3))
        assert {hit.item: hit.title for hit in hits} == {"a": "Own", "b": "tiger lion", "d": None}
        assert hits.revision == 2
        assert index.items("terms").headlines(["lion"]) == {}
        assert reading.headlines(["b", "nobody"]) == {"b": "tiger lion"}


def test_the_command_line_shows_them(run, tmp_path):
    rows = [{"id": n, "text": text} for n, text in enumerate(["lion tiger", "lion of the zoo\nx", *["wheat"] * 9])]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "d.jsonl")[0] == 0
    (row,) = json.loads(run("expand", "a.db", "0", "--items", "documents")[1])
    assert row["title"] == "lion of the zoo"
