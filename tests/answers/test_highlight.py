"""Texts of items, with features marked."""

import setsearch
from setsearch.answers.highlight import item_text, mark_features
from setsearch.answers.results import Contribution


def test_a_text_is_marked_where_its_features_stand(tmp_path):
    with setsearch.open(tmp_path / "s.db", create=True, language="english", contexts="on") as index:
        index.add([("a", "Running dogs; a dog RAN, cafe\u0301 runs."), ("b", "dogs run")])
        index.add((f"c{n}", f"cats sleep {n}") for n in range(8))
        reading = index.items("documents")
        assert item_text(reading, "a") == "Running dogs; a dog RAN, cafe\u0301 runs."
        (hit,) = reading.expand(["b"], 1, explain=True)
        pieces = mark_features(reading, item_text(reading, "a"), hit.features)
        assert "".join(piece.text for piece in pieces) == "Running dogs; a dog RAN, café runs."
        assert [piece.text for piece in pieces if piece.weight] == ["Running", "dogs", "dog", "runs"]
        assert item_text(index.items("terms"), "dog") is None
        assert mark_features(reading, "", hit.features) == []
        assert [piece.weight for piece in mark_features(reading, "dog", [Contribution("dog", 2.5)])] == [2.5]


def test_the_text_of_a_mirrored_row(tmp_path):
    import sqlite3

    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute('create table "my notes" (id integer primary key, "the title" text, body text)')
    connection.execute("""insert into "my notes" values (4, 'One', 'a lion'), (7, 'Two', null)""")
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "app.db", contexts="off") as index:
        index.add_table("my notes", setsearch.Columns(text=("the title", "body")))
        reading = index.items("documents")
        assert item_text(reading, "4") == "One\na lion"
        assert item_text(reading, "7") == "Two\n"
        with sqlite3.connect(tmp_path / "app.db") as other:
            other.execute('alter table "my notes" rename column body to content')
        other.close()
        assert item_text(reading, "4") is None, "the table is no longer as it was"
