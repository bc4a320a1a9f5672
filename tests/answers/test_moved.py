"""Documents under other names: saved sets follow them."""

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch.answers.saved.moved import moved_items
from setsearch.storage.relation import load_relations

texts = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.tuples(
        st.sampled_from(["lion cat", "cat lion", "lion", "lion lion", ""]), st.sampled_from(["One", "Two", None])
    ),
)


def plainly(stored, gone, fresh):
    """The same by comparing all with all."""
    moved = {}
    for words in {stored[name][0] for name in gone} - {()}:
        old, new = ([n for n in stored if stored[n][0] == words and (n in gone) is side] for side in (True, False))
        new = [name for name in new if name in fresh] or new
        pairs = {}
        for title in {stored[name][1] for name in old}:
            alike = [[name for name in side if stored[name][1] == title] for side in (old, new)]
            if [len(side) for side in alike] == [1, 1]:
                pairs[alike[0][0]] = alike[1][0]
        old, new = ([name for name in side if name not in pairs and name not in pairs.values()] for side in (old, new))
        moved |= pairs | ({old[0]: new[0]} if len(old) == len(new) == 1 else {})
    return moved


@examples(100)
@given(texts, st.sets(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh")))
@example({"a": ("lion", "One"), "b": ("lion", None), "c": ("lion", "One")}, {"a", "b"}, {"c"})
def test_an_item_has_moved_to_the_one_that_has_its_features(given_texts, gone, fresh):
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off", analyzer="unicode+0-titles") as index:
        index.add([(name, text, title) for name, (text, title) in given_texts.items()] or [("z", "wheat")])
        with index._database.read() as cursor:
            (relation,) = load_relations(cursor)
            ids = relation.items.find([*given_texts])
            names = {id: name for name, id in ids.items()}
            going = [ids[name] for name in gone if name in ids]
            moved = moved_items(relation, going, [ids[name] for name in fresh if name in ids])
            found = {names[old]: names[new] for old, new in moved.items()}
    stored = {name: (tuple(sorted(text.split())), title) for name, (text, title) in given_texts.items()}
    assert found == plainly(stored, {name for name in gone if name in stored}, fresh)


@pytest.fixture
def notes(tmp_path, run):
    for name in ("garden/rose.md", "garden/tulip.md", "garden/soil.md", "cats/lion.md", "cats/tiger.md"):
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(f"{' '.join(name.removesuffix('.md').split('/'))} and more")
    assert run("index", "a.db", "notes")[0] == 0
    save = ("set", "save", "a.db", "flowers", "garden/rose.md", "garden/tulip.md", "--reject", "garden/soil.md")
    assert run(*save, "--items", "documents")[0] == 0
    return tmp_path / "notes"


def members(tmp_path):
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.check() == []
        return index.set("flowers").accepted, index.set("flowers").rejected


def test_saved_sets_follow_files_of_a_folder_that_moved(notes, run, tmp_path):
    (notes / "old").mkdir()
    (notes / "garden").rename(notes / "old" / "garden")
    (notes / "cats").rename(notes / "old" / "cats")  # of no set
    (notes / "old" / "garden" / "tulip.md").rename(notes / "old" / "Tulips of ours.md")
    code, _, err = run("index", "a.db", "notes", "--replace")
    assert code == 0 and "saved sets follow 3 documents to other names:" in err
    assert "  garden/tulip.md is old/Tulips of ours.md\n" in err
    assert members(tmp_path) == (["old/Tulips of ours.md", "old/garden/rose.md"], ["old/garden/soil.md"])
    assert "follow" not in run("index", "a.db", "notes", "--replace")[2]


def test_files_that_are_gone_are_told_and_their_copies_are_followed(notes, run, tmp_path):
    (notes / "garden" / "rose.md").rename(notes / "rose.md")
    err = run("index", "a.db", "notes")[2]
    assert "1 document stays that is not in notes; --replace deletes what is not given\n" in err
    assert members(tmp_path)[0] == ["garden/rose.md", "garden/tulip.md"]
    (tmp_path / "today").mkdir()
    (tmp_path / "today" / "new.md").write_text("a new one")
    assert "not in" not in run("index", "a.db", "today")[2], "another folder"
    assert "not in" not in run("index", "a.db", "notes", "--glob", "rose.md")[2], "a part of a folder"
    (tmp_path / "today" / "new.md").rename(notes / "new.md")
    assert (
        "saved sets follow 1 document to other names:\n  garden/rose.md is rose.md\n"
        in run("index", "a.db", "notes", "--replace")[2]
    )
    assert members(tmp_path)[0] == ["garden/tulip.md", "rose.md"]


def test_a_copy_that_stays_is_no_other_name(notes, run, tmp_path):
    (notes / "copy.md").write_text((notes / "garden" / "rose.md").read_text())
    assert run("index", "a.db", "notes")[0] == 0
    (notes / "garden" / "rose.md").rename(notes / "rose.md")
    assert "garden/rose.md is rose.md\n" in run("index", "a.db", "notes", "--replace")[2]
    assert members(tmp_path)[0] == ["garden/tulip.md", "rose.md"]


def test_a_member_of_another_set_is_nobodys_copy(notes, run, tmp_path):
    (notes / "rose.md").write_text((notes / "garden" / "rose.md").read_text())
    assert run("index", "a.db", "notes")[0] == 0
    assert run("set", "save", "a.db", "others", "rose.md", "--items", "documents")[0] == 0
    (notes / "garden" / "rose.md").unlink()
    (notes / "garden" / "soil.md").write_text("other words")
    assert "follow" not in run("index", "a.db", "notes", "--replace")[2]
    assert members(tmp_path) == (["garden/rose.md", "garden/tulip.md"], ["garden/soil.md"])


def test_a_document_of_no_set_and_an_item_without_texts_follow_nobody(tmp_path):
    texts = [("rose", "a red rose"), ("oak", "a tall oak"), ("soil", "brown soil")]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts)
        index.keep_set("flowers", ["rose"], items="documents")
        index.replace((f"new {name}", text) for name, text in texts)
        assert index.set("flowers").accepted == ["new rose"]
    likes = [("Alien", {"Ann": 1, "Bob": 2}), ("Brazil", {"Ann": 3})]
    with setsearch.open(tmp_path / "b.db", create=True) as index:
        index.add(likes, relation=("films", "users"))
        index.keep_set("good", ["Alien"], items="films")
        index.replace(((f"new {name}", own) for name, own in likes), relation=("films", "users"))
        assert index.set("good").accepted == ["Alien"], "who liked the same may be another film"
