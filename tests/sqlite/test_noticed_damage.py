"""Damage is noticed where it is read: nobody has to run `check` before a wrong answer becomes an error."""

import shutil
import sqlite3
import time
from functools import partial

import pytest
from patience import patience
from samples import delete_arrays, random_data

import setsearch
from setsearch import errors
from setsearch.indexing import check
from setsearch.memory.contexts.word_contexts import TOKENS
from setsearch.memory.readings import BY
from setsearch.pool import watch_damage
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.sqlite.mapped import map_arrays
from setsearch.storage.codec import _FLOATS, unpack
from setsearch.storage.generations import _packed, _slices, json_array

QUESTIONS = {
    "gaps": lambda index: index.items("film").expand(["i1"], 99),
    "counts": lambda index: index.items("film").expand(["i1"], 99, model="multinomial"),
    "bernoulli": lambda index: index.items("film").expand(["i1"], 99, model="bernoulli"),
}


def change(path, statement, *values):
    connection = sqlite3.connect(path)
    count = connection.execute(statement, values).rowcount
    connection.commit()
    connection.close()
    return count


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Something of each kind."""
    path = tmp_path_factory.mktemp("damage") / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(random_data(3, 30, 12, 0.5).items(), ("film", "user"))
        index.add([("d1", "lion tiger", "A lion"), ("d2", "lion cat", "A cat")], ("documents", "terms"))
        index.add_numbers([(f"n{n}", [n, n * n]) for n in range(5)], ["x", "y"], "thing")
    return path


@pytest.fixture
def path(whole, tmp_path):
    """A copy of it."""
    return shutil.copy(whole, tmp_path / "a.db")


@pytest.fixture
def words(tmp_path):
    """Documents and contexts, derived."""
    with setsearch.open(tmp_path / "w.db", create=True, contexts="on") as index:
        index.add((f"d{n}", f"the lion {n}, the tiger and the wolf") for n in range(30))
        index.refresh("now")
    return tmp_path / "w.db"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "statement",
    [
        # What no sum tells: two bytes exchanged, a block of another relation, a block in another place.
        "update setsearch_forward set data = cast(substr(data, 1, length(data) - 9) || substr(data, -8, 1) || "
        "substr(data, -9, 1) || substr(data, -7) as blob) where substr(data, -9, 1) <> substr(data, -8, 1)",
        "update setsearch_forward set data = (select data from setsearch_forward other where other.relation = 2)",
        "update setsearch_forward set first = first + 1 where relation = 1",
    ],
)
def test_a_block_belongs_to_its_relation_and_place(path, statement, question):
    with setsearch.open(path) as index:
        QUESTIONS[question](index)
    assert change(path, statement) > 0
    delete_arrays(path)
    with setsearch.open(path) as index:
        with pytest.raises(errors.CorruptIndex, match="damaged block"):
            QUESTIONS[question](index)
        assert index.check()


def test_names_and_titles_are_compared_with_their_indexes(path):
    connection = sqlite3.connect(path)
    (version,) = connection.execute("pragma schema_version").fetchone()
    connection.execute("pragma writable_schema = on")
    for name in ("setsearch_name_name", "setsearch_name_title"):  # a change that the indexes do not see
        connection.execute("update sqlite_master set type = 'hidden' where name = ?", (name,))
    connection.commit()
    connection.close()
    data = path.read_bytes()
    assert data.count(b"d2A cat")
    path.write_bytes(data.replace(b"d2A cat", b"d2A bat"))
    change_schema = sqlite3.connect(path)
    change_schema.execute("pragma writable_schema = on")
    change_schema.execute("update sqlite_master set type = 'index' where type = 'hidden'")
    change_schema.commit()
    change_schema.close()
    assert version
    with setsearch.open(path) as index, pytest.raises(errors.CorruptIndex, match="a name of documents is damaged"):
        index.items("documents").expand(["d1"])


def test_numbers_belong_to_their_items(path):
    change(path, "update setsearch_numbers set item = 100 - item")
    with setsearch.open(path) as index, pytest.raises(errors.CorruptIndex, match="numbers"):
        index.numbers("thing").expand(["n1"])


@pytest.mark.parametrize("change_of", ["name = name || 'x'", "slice = slice + 7", "generation = 7"])
def test_arrays_belong_to_their_places(words, change_of):
    with setsearch.open(words) as index:
        expected = index.items("terms").expand(["lion"], 99)
    assert change(words, f"update setsearch_array set {change_of}") > 0
    for _ in range(2):
        with setsearch.open(words) as index:
            assert index.items("terms").expand(["lion"], 99) == expected
        delete_arrays(words)


@pytest.mark.parametrize("name", TOKENS[:3])
def test_floats_under_a_right_checksum_are_no_tokens(words, name):
    with setsearch.open(words) as index:
        expected = index.items("terms").expand(["lion"], 99)
    with sqlite3.connect(words) as connection:
        (id,) = connection.execute("select id from setsearch_generation where name = 'contexts'").fetchone()
        place = f"{id} {name} 0"
        where = "where name = ? and slice = 0"
        (data,) = connection.execute(f"select data from setsearch_array {where}", (name,)).fetchone()
        floats = unpack(strip_checksum(data, place)) + 0.5
        data = add_checksum(bytes([_FLOATS]) + floats.tobytes(), place)
        connection.execute(f"update setsearch_array set data = ? {where}", (data, name))
    connection.close()
    delete_arrays(words)
    with setsearch.open(words) as index:
        assert index.items("terms").expand(["lion"], 99) == expected
        assert index.check() == []


@pytest.mark.parametrize("table", check.OWNED)
def test_rows_that_belong_to_nothing_are_missed(tmp_path, table):
    """They would be lost without a word: not every document has a text, or columns."""
    owner = check.OWNED[table]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([setsearch.Item(f"d{n}", f"lion {n}", None, {"price": n}, {"year": n}) for n in range(3)])
        index.add_numbers([("n", [1, 2])], ["x", "y"], "thing")
        index.add_vectors(["d1"], [[0.5, 0.5]], items="documents")
        with index._database.write() as cursor:
            cursor.execute("insert into setsearch_record (kind, item, record) values (1, 0, x'')")
            cursor.execute("insert into setsearch_alias (kind, name, item) values (1, 'other', 0)")
            cursor.execute(f"update setsearch_{table} set {owner} = {owner} + 1024")
            assert cursor.rowcount > 0
        assert f"rows of setsearch_{table} belong to nothing; index the collection again" in index.check()


def test_what_only_a_whole_look_finds_is_told_by_servers(path):
    told = []
    change(path, "update setsearch_relation set revision = revision + 1")
    watch_damage(path, told.append)
    deadline = time.monotonic() + patience(30)
    while not told and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "changed from outside; `setsearch check` may repair it" in told[0]


def test_a_value_of_an_unexpected_kind_is_damage_but_an_error_of_the_application_is_its_own(path, monkeypatch):
    from setsearch.search import passes as priors

    with setsearch.open(path) as index:
        monkeypatch.setattr(priors, "seed_weights", lambda *_: {}["nothing"])  # in a file that is not ours
        with pytest.raises(KeyError):
            index.items("film").expand(["i1"])
        monkeypatch.undo()
        change(path, "update setsearch_relation set columns = '[]' where columns is not null")
        with pytest.raises(errors.CorruptIndex):
            index.numbers("thing").expand(["n1"])


@pytest.mark.parametrize("what", ["repair", "update", "check"])
def test_a_damaged_view_is_one_line(path, what):
    """SQLite names what it misses in a message that is no UTF-8 then; its own check does not look at views."""
    data = path.read_bytes()
    assert data.count(b"f.length") == 1
    path.write_bytes(data.replace(b"f.length", b"f.\xa0ength"))
    with setsearch.open(path) as index, pytest.raises(errors.CorruptIndex, match="is damaged"):
        index.update([("d3", "lion")]) if what == "update" else getattr(index, what)()


def test_a_file_that_sqlite_cannot_read_is_told_with_the_way_out(path, run, failed):
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    for command in (["info"], ["check"], ["expand", "--json", "lion"]):
        told = run(command[0], path, *command[1:])
        failed(told, 1, f"{path}: database disk image is malformed; restore a copy, or index into a new file")


def test_an_older_format_is_converted_and_that_is_said(tmp_path, caplog):
    from pathlib import Path

    fixture = Path(__file__).parents[1] / "fixtures" / "0.3.0.db"
    (tmp_path / "old.db").write_bytes(fixture.read_bytes())
    with setsearch.open(tmp_path / "old.db") as index:
        index.info()
        assert [record.getMessage() for record in caplog.records] == [
            f"{tmp_path / 'old.db'}: converting the index of an earlier version, once"
        ]
        index.info()
        assert len(caplog.records) == 1
        assert index.check() == []


def test_damaged_arrays_are_derived_again_whoever_finds_them(words, monkeypatch):
    with setsearch.open(words) as index:
        expected = index.items("terms").expand(["lion"], 99)
    assert change(words, "update setsearch_array set data = zeroblob(5) where name like '%lengths'") > 0
    with setsearch.open(words) as index:  # the file of arrays holds them, too
        assert index.items("terms").expand(["lion"], 99) == expected
        assert any("damaged or gone" in line for line in index.check())
    delete_arrays(words)
    with setsearch.open(words) as index:
        assert index.items("terms").expand(["lion"], 99) == expected
        assert index.check() == []


def test_contexts_stay_where_files_of_arrays_are_damaged(words):
    """Contexts take long: what is damaged beside the database is made anew from them."""

    def generations():
        connection = sqlite3.connect(words)
        found = connection.execute("select name, id from setsearch_generation where published").fetchall()
        connection.close()
        return found

    with setsearch.open(words) as index:
        expected = index.items("documents").expand(["d1"], 3), index.items("terms").expand(["lion"], 3)
    before, files = generations(), sorted(words.parent.glob("*-arrays-*"))
    assert [file.name.partition("-arrays-")[2] for file in files] == ["contexts-1", "lists-1"]
    for file in files:
        file.write_bytes(file.read_bytes()[:-5])
    with setsearch.open(words) as index:
        assert (index.items("documents").expand(["d1"], 3), index.items("terms").expand(["lion"], 3)) == expected
    assert generations() == before and all(map_arrays(words, file).are_intact() for file in files)


def test_contexts_of_an_earlier_version_with_fewer_fields_are_derived_anew(tmp_path):
    place = tmp_path / "w.db"
    with setsearch.open(place, create=True, contexts="on") as index:
        index.add((f"d{n}", "the lion, the tiger and the wolf", "Lion") for n in range(30))
        index.refresh("now")
        sizes, expected = index.info()["contexts"], index.items("terms").expand(["lion"], 2)
    with setsearch.open(place) as index, index._database.write() as cursor:
        (id,) = cursor.execute("select id from setsearch_generation where name = 'contexts'").fetchone()
        cursor.execute("delete from setsearch_array where name = 'sizes' and generation = ?", (id,))
        old = {name: sizes[name.split()[-1]] for name in BY["both"] if "titled" not in name}
        for _, _, slice_, data in map(partial(_packed, id), _slices("sizes", json_array(old))):
            cursor.execute("insert into setsearch_array values (?, 'sizes', ?, ?)", (id, slice_, data))
    delete_arrays(place)
    with setsearch.open(place) as index:
        assert index.items("terms").expand(["lion"], 2) == expected
        assert index.info()["contexts"] == sizes
