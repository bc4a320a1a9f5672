"""Databases of earlier versions open, and answer as they did."""

import gzip
import json
import shutil
import sqlite3
import struct
import sys
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from samples import delete_arrays
from sqlite_utils.db import Database

import setsearch
from setsearch.memory.contexts import word_contexts
from setsearch.memory.contexts.word_contexts import COEFFICIENTS
from setsearch.search import passes
from setsearch.storage.kept.texts import Texts
from setsearch.text.contexts import choose_items
from setsearch.text.token_stream import most_frequent

FIXTURES = Path(__file__).parents[1] / "fixtures"


def copied(folder, version):
    """A copy of the database that a version made."""
    if (FIXTURES / f"{version}.db").exists():
        return Path(shutil.copy(FIXTURES / f"{version}.db", folder / "old.db"))
    (folder / "old.db").write_bytes(gzip.decompress((FIXTURES / f"{version}.db.gz").read_bytes()))
    return folder / "old.db"


@pytest.mark.usefixtures("papers_model")
def test_a_database_of_0_1_0_is_migrated(tmp_path):
    copy = copied(tmp_path, "0.1.0")
    with setsearch.open(copy) as index:
        assert index.items("documents").features_of("a") == {"cat": 1, "lion": 1, "tiger": 1}
        assert index.items("terms").expand(["lion"], 1)[0].item == "cat"
        assert index.check() == []
        index.update([("f", "lion king")])
        assert index.items("documents").item_count() == 6


@pytest.mark.usefixtures("papers_model")
def test_the_schema_of_0_2_0_is_migrated(tmp_path):
    copy = copied(tmp_path, "0.2.0")
    with setsearch.open(copy) as index:
        documents = index.items("documents")
        assert documents.features_of("b") == {"a": 2, "eats": 2, "lion": 1, "tiger": 1, "too": 1}
        assert documents.expand(["a"], 1)[0].item == "b"
        assert index.items("film").expand(["Alien"], 1)[0].item == "Brazil"
        assert index.numbers("body").expand(["x"], 1)[0].item == "y"
        assert (index.set("cats").accepted, index.set("cats").rejected) == (["a"], ["c"])
        belong = index.set("cats").expand(None, cut="keep")
        assert [row.item for row in index.inbox(["cats"])] == [hit.item for hit in belong] != []
        assert index.info()["mirrors"] == []
        assert index.check() == []
        index.drop()
    connection = sqlite3.connect(copy)
    assert connection.execute("select count(*) from sqlite_master").fetchone() == (0,)
    connection.close()


def without_the_most_frequent(names, counts, n_tokens, analyzer):
    """The items of versions whose contexts left out the most frequent words."""
    return choose_items(names, np.where(counts > most_frequent(n_tokens), 0, counts), n_tokens, analyzer)


@pytest.mark.parametrize("version", ["0.3.0", "0.4.0", "0.5.0", "0.7.0", "0.8.0"])
def test_a_database_of_an_earlier_version_answers_to_the_bit(tmp_path, version, monkeypatch):
    """Stems, phrases, contexts, a tracked table, numbers and a set; the JSON file has the answers of 0.3.0."""
    monkeypatch.setitem(COEFFICIENTS, "contexts skip", 1.0)
    monkeypatch.setitem(COEFFICIENTS, "documents", 0.3)
    monkeypatch.setattr(word_contexts, "choose_items", without_the_most_frequent)
    with setsearch.open(copied(tmp_path, version)) as index:
        assert index.check() == []
        for question in json.loads((FIXTURES / "0.3.0.json").read_text()):
            is_lift = question["items"] != "body" and question["options"].get("model") in (None, "lift")
            before = {"feedback": 0.0, "neighbors": 0.0, "rarity": 0.0, "vectors": 0.0} if is_lift else {}
            hits = index.reading(question["items"]).expand(question["seeds"], 5, **question["options"], **before)
            assert [hit.item for hit in hits] == [item for item, _ in question["hits"]]
            scores = [score for _, score in question["hits"]]
            if question["items"] == "body":  # not on a lattice: versions of numpy differ in the last bits
                scores = pytest.approx(scores, rel=1e-12)
            assert [hit.score for hit in hits] == scores
        assert (index.set("cats").accepted, index.set("cats").rejected) == (["lion", "tiger"], ["wheat"])
        assert index.items("documents").titles(["d58"]) == {"d58": "Cats"}


def test_a_table_that_0_3_0_tracked_is_followed(tmp_path):
    with setsearch.open(copied(tmp_path, "0.3.0")) as index:
        assert "u99" not in index.items("film").features_of("film0")
        assert index.refresh() == setsearch.Changes(written=1, deleted=0)
        assert index.items("film").features_of("film0")["u99"] == 3
        assert index.check() == []


@pytest.fixture
def joined_as_before(monkeypatch):
    """A second pass where the best scores are about the same, too (before 0.32.0), of equal weights (before 0.41.0)."""
    monkeypatch.setattr(passes, "FLAT", 2.0)
    monkeypatch.setattr(passes, "PARTS", 1)
    monkeypatch.setattr(passes, "SMALLER_WEIGHT", 0.25)


def answers(index, question):
    """What an index answers without latent vectors of words, as before 0.33.0."""
    vectors = {"vectors": 0.0} if question["items"] == "terms" else {}
    hits = index.items(question["items"]).expand(question["seeds"], 5, **question["options"], **vectors)
    return [[hit.item, hit.score] for hit in hits]


def test_a_database_of_0_21_0_answers_to_the_bit_and_keeps_its_names(tmp_path, joined_as_before, monkeypatch):
    """Its words are not folded; its references keep their ids; its reviews have decisions without a time."""
    monkeypatch.setattr(word_contexts, "choose_items", without_the_most_frequent)
    with setsearch.open(copied(tmp_path, "0.21.0")) as index:
        assert index.check() == []
        for question in json.loads((FIXTURES / "0.21.0.json").read_text()):
            if "exclude" in question["options"]:  # what rejected documents teach has changed
                continue
            assert answers(index, question) == question["hits"]
        index.update([("new", "the ﬁeld of ｗide lions")], ("documents", "terms"))
        assert {"ﬁeld", "ｗide", "lion"} <= set(index.items("documents").features_of("new"))
        assert [decision[:4] for decision in index.decisions("review", "documents").read()] == [
            ("d3", "yes", 1, None),
            ("d4", "no", 2, None),
        ]
        assert index.set("cats").accepted == ["full.ris#10.1000/xyz"]
        assert index.check() == []


@pytest.mark.parametrize("version", ["0.9.0", "0.14.0", "0.22.0", "0.24.0", "0.25.0", "0.26.0", "0.27.0"])
def test_a_database_answers_to_the_bit_as_it_did(tmp_path, version, joined_as_before):
    """Stems, contexts, counts; before a write, after one, and from its tables alone. 0.21 asked of words otherwise."""
    path = copied(tmp_path, version)
    questions = json.loads((FIXTURES / f"{version}.json").read_text())
    if version in ("0.9.0", "0.14.0"):
        questions = [question for question in questions if question["items"] != "terms"]
    for step in ("open", "write", "tables"):
        if step == "tables":
            delete_arrays(path)
        with setsearch.open(path, language="english") as index:
            if step == "write":
                index.add([("new", "lion")], ("documents", "terms"))
                index.delete(["new"], ("documents", "terms"))
            for question in questions:
                assert answers(index, question) == question["hits"]
            assert index.check() == []


@pytest.mark.parametrize("mode", [True, False])
def test_a_host_has_its_file_converted_within_its_transaction(tmp_path, mode):
    """Whatever `sqlite3.connect(autocommit=...)` says; on 3.11, where there is none, the default."""
    path, modern = copied(tmp_path, "0.3.0"), sys.version_info >= (3, 12)
    before = path.read_bytes()
    with closing(sqlite3.connect(path, **({"autocommit": mode} if modern else {}))) as host:
        for end in ("rollback", "commit"):
            if not host.in_transaction:
                host.execute("begin")
            index = setsearch.open(host)
            assert index.check() == []
            assert host.in_transaction
            assert path.read_bytes() == before
            host.execute(end)
    with setsearch.open(path) as index:
        assert index.check() == []
        assert path.read_bytes() != before


MEMBERS = "select * from setsearch_member order by name, item"


def test_members_of_0_27_0_get_a_sum(tmp_path):
    """Some of them grew, were decided, or are in doubt."""
    path = copied(tmp_path, "0.27.0")
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute(MEMBERS).fetchall()
    with setsearch.open(path) as index:
        assert index.check() == []
        assert [len(index.set(name).grown()) for name in index.sets()] == [4, 4, 4, 0, 4]
        assert [own.said for own in index.decisions("review", "documents").read()] == ["yes", "no", "later"]
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(MEMBERS).fetchall() == before
        index.inbox().done()
        index.delete_set("cats")
        assert index.check() == []


@pytest.mark.parametrize("version", ["0.1.0", "0.21.0", "0.27.0"])
def test_a_file_without_the_view_for_people_gets_it_again(tmp_path, version):
    path = copied(tmp_path, version)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("drop view setsearch_frequency")
    with setsearch.open(path) as index:
        assert index.check() == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select count(*) from setsearch_frequency").fetchone() != (0,)


def test_damaged_members_of_0_27_0_stay_damaged(tmp_path):
    path = copied(tmp_path, "0.27.0")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update setsearch_member set accepted = 0 where name = 'cats' and item = 'cats1'")
    with setsearch.open(path) as index:
        index.delete_set("sea")
        assert any("changed from outside" in line for line in index.check())
        index.repair()
        assert index.check() == []


def blocks_of_0_24_0(table, owner, rows):
    """Lists as versions up to 0.24 wrote them: (list, ids, counts), each in one block or more of 9 ids."""
    for list_, ids, counts in rows:
        for start in range(0, len(ids), 9):
            own, of_own = np.array(ids[start : start + 9]), np.array(counts[start : start + 9])
            gaps, stored = narrow(np.diff(own)), narrow(of_own) if of_own.max() > 1 else None
            head = [list_, int(own[0]), int(own[-1]), len(own), int(of_own.sum())]
            of_head = zlib.crc32(struct.pack("<7q", table, owner, *head))
            checksums = zlib.crc32(gaps, of_head), of_head if stored is None else zlib.crc32(stored, of_head)
            yield owner, *head, gaps, stored, *checksums


def narrow(numbers):
    """Numbers in 1, 2 or 4 bytes each, as the largest one needs."""
    return numbers.astype(
        next(f"<u{width}" for width in (1, 2, 4) if numbers.max(initial=0) < 1 << 8 * width)
    ).tobytes()


@pytest.fixture
def of_0_24_0(tmp_path, made_as_by_0_24_0):
    """A copy for each test, and what it holds."""
    path, expected = made_as_by_0_24_0
    return Path(shutil.copy(path, tmp_path / "old.db")), expected


@pytest.fixture(scope="module")
def made_as_by_0_24_0(tmp_path_factory):
    """A relation of more entries than one block of today holds, with counts and gaps of all widths."""
    path = tmp_path_factory.mktemp("made") / "old.db"
    rng, n_items, n_features = np.random.default_rng(0), 60, 70_000
    content = {}
    for item in range(n_items):
        ids = np.sort(np.append(rng.choice(n_features - 1, int(rng.integers(1, 600)), replace=False), n_features - 1))
        content[item] = ids.tolist(), rng.choice([1, 1, 1, 2, 300, 70_000, 2**31 - 1], len(ids)).tolist()
    turned = {}
    for item, (ids, counts) in content.items():
        for id, count in zip(ids, counts, strict=True):
            turned.setdefault(id, ([], []))
            turned[id][0].append(item)
            turned[id][1].append(count)
    unused = sorted({*range(n_features)} - turned.keys())
    copied(path.parent, "0.24.0")
    db = Database(path)
    for name in {*db.table_names()} - {"setsearch_migrations"}:
        db.execute(f"delete from {name}")
    db.execute("create view broken as select * from what_is_gone")  # of the host
    insert = "(relation, list, first, last, length, total, gaps, counts, gaps_checksum, counts_checksum)"
    with db.conn as connection:
        connection.execute("insert into setsearch_kind (id, name, size, peak) values (1, 'film', ?, ?)", [n_items] * 2)
        sizes = len(turned), n_features
        connection.execute("insert into setsearch_kind (id, name, size, peak) values (2, 'user', ?, ?)", sizes)
        connection.execute("insert into setsearch_relation (id, items, features, stamp) values (1, 1, 2, 7)")
        names = [(1, id, f"i{id}") for id in content] + [(2, id, f"f{id}") for id in turned]
        connection.executemany("insert into setsearch_name (kind, id, name) values (?, ?, ?)", names)
        connection.executemany("insert into setsearch_free values (2, ?)", [(id,) for id in unused])
        for number, table, lists in ((1, "posting", turned), (2, "forward", content)):
            blocks = blocks_of_0_24_0(number, 1, ((id, *lists[id]) for id in sorted(lists)))
            connection.executemany(f"insert into setsearch_{table} {insert} values (?,?,?,?,?,?,?,?,?,?)", blocks)
    db.close()
    expected = {
        f"i{item}": {f"f{id}": count for id, count in zip(*lists, strict=True)} for item, lists in content.items()
    }
    return path, expected


@pytest.mark.long
def test_lists_of_0_24_0_become_blocks_of_many_items(of_0_24_0):
    path, expected = of_0_24_0
    with setsearch.open(path) as index:
        films = index.items("film")
        assert {item: films.features_of(item) for item in expected} == expected
        assert films.document_frequency("f69999") == len(expected)
        assert index.check() == []
        index.update([("i7", {"f1": 2})], ("film", "user"))
        assert films.features_of("i7") == {"f1": 2}
        assert films.features_of("i8") == expected["i8"]
        assert index.check() == []
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("select count(*) from setsearch_forward").fetchone()
        assert 1 < count < 5


@pytest.mark.parametrize(
    "damage",
    ["gaps = x'05'", "total = total + 1", "length = 4611686018427387904", "length = 0", "counts = x''", "list = -1"],
)
def test_a_damaged_list_of_0_24_0_stays_damaged(of_0_24_0, damage):
    path, _ = of_0_24_0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            f"update setsearch_forward set {damage} where list = 7 and first = "
            "(select min(first) from setsearch_forward where list = 7)"
        )
        connection.commit()
    with setsearch.open(path) as index:
        with pytest.raises(setsearch.errors.CorruptIndex, match="damaged block"):
            index.items("film").expand(["i1"])
        assert index.check()


@pytest.fixture
def texts_of_0_24_0(tmp_path):
    """Texts of one row each, of more bytes than a block holds, with vectors of an encoder."""
    texts = {f"d{n}": f"lion{n} tiger " + "é wheat " * (n % 90) for n in range(200)} | {"empty": ""}
    path = tmp_path / "old.db"

    def encoder(given):
        return np.array([[len(text) + 1.0, 1.0] for text in given])

    with setsearch.open(path, create=True, contexts="on", encoder=encoder) as index:
        index.add(texts.items())
        index.refresh("now")
    with closing(sqlite3.connect(path)) as connection:
        ids = dict(connection.execute("select name, id from setsearch_name where kind = 1"))
        stored = {ids[name]: zlib.compress(text.encode(), 1) for name, text in texts.items()}
        digests = [(zlib.crc32(stored[ids[name]]), name) for name in texts]
        connection.executemany("update setsearch_vector set digest = ? where kind = 1 and name = ?", digests)
        connection.executescript("""
            drop table setsearch_text;
            create table setsearch_text (
                relation integer not null, item integer not null, text blob not null, primary key (relation, item)
            ) strict, without rowid;
            delete from setsearch_migrations where name = 'm013_texts';
        """)
        connection.executemany("insert into setsearch_text values (1, ?, ?)", stored.items())
        connection.commit()
    return path, texts, ids, encoder


def test_texts_of_0_24_0_share_blocks_and_keep_their_vectors(texts_of_0_24_0):
    path, texts, ids, encoder = texts_of_0_24_0
    with setsearch.open(path, encoder=encoder) as index:
        with index._database.read() as cursor:
            assert {id: text.decode() for id, text in Texts(cursor, 1).read()} == {ids[n]: t for n, t in texts.items()}
            assert 1 < len(Texts(cursor, 1).firsts()) < 9
        assert index.check() == []
        assert all(hit.snippet for hit in index.items("documents").expand(["d7"], 3, snippets=True))
        index.update([*texts.items()][:50])  # the same: they keep their vectors
        assert index.info()["vectors"]["documents"]["count"] == len(texts) - 1
        index.update([("d7", "another lion")])
        assert index.info()["vectors"]["documents"]["count"] == len(texts) - 2


def test_a_damaged_text_of_0_24_0_stays_damaged_alone(texts_of_0_24_0):
    path, texts, ids, _ = texts_of_0_24_0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update setsearch_text set text = x'789c' where item = ?", [ids["d7"]])
        connection.commit()
    with setsearch.open(path) as index, index._database.read() as cursor:
        others = {id: name for name, id in ids.items() if name != "d7"}
        for id, name in others.items():
            assert [*Texts(cursor, 1).read(np.array([id]))] == [(id, texts[name].encode())]
        with pytest.raises(setsearch.errors.CorruptIndex, match="stored text"):
            [*Texts(cursor, 1).read(np.array([ids["d7"]]))]
