"""The sum over members of saved sets: every write keeps it, and no later write hides damage."""

import random
import shutil
import sqlite3
from contextlib import closing
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.sqlite import integrity

ITEMS = [f"d{n}" for n in range(12)]
SETS = ["a", "b", "it's"]
CHANGED = "setsearch_member changed from outside"
WORDS = ["lion", "tiger", "wheat", "rye", "sea", "ship"]


def filled(place):
    index = setsearch.open(place, create=True, contexts="off")
    draw = random.Random(7)
    index.add([(item, " ".join(draw.sample(WORDS, 3))) for item in ITEMS])
    return index


def by_definition(connection, table="member"):
    """The sum of all rows of a table."""
    rows = connection.execute(f"select * from setsearch_{table}").fetchall()
    return sum(int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest()) for row in rows) % 2**62


def keep(index, decisions, name, some):
    index.keep_set(name, some[:2], some[2:3], items="documents")


def accept(index, decisions, name, some):
    own = index.set(name, "documents")
    own.accept(*some)
    own.save()


def reject(index, decisions, name, some):
    own = index.set(name, "documents")
    own.reject(*some)
    own.save()


def forget(index, decisions, name, some):
    own = index.set(name, "documents")
    own.forget(*some)
    own.save()


def delete(index, decisions, name, some):
    index.delete_set(name)


def rename(index, decisions, name, some):
    index.rename_set(name, "for now")
    assert index.check() == []
    index.rename_set("for now", name)


def regroup(index, decisions, name, some):
    own = index.set(name, "documents")
    own.group = None if own.group else "kinds"
    own.save()


def grow(index, decisions, name, some):
    index.grow([name], rounds=len(some), each=2, precision=0.1)


def see(index, decisions, name, some):
    index.inbox([name]).done()


def decide(index, decisions, name, some):
    decisions[name].write(dict(zip(some, ("yes", "no", "later"), strict=False)), dict.fromkeys(some, (None, some[0])))


def know(index, decisions, name, some):
    decisions[name].write(dict.fromkeys(some, "yes"), known=True)


def undo(index, decisions, name, some):
    decisions[name].undo()


def undo_one(index, decisions, name, some):
    decisions[name].undo(some[0])


def restore(index, decisions, name, some):
    decisions[name].restore()


def bring(index, decisions, name, some):
    index.import_sets(index.export_sets([name]), replace=True)
    index.import_sets([{"name": name, "accepted": some}], items="documents", replace=True)


STEPS = [keep, accept, reject, forget, delete, rename, regroup, grow, see, decide, know, undo, undo_one, restore, bring]
steps = st.tuples(
    st.sampled_from(STEPS),
    st.sampled_from(SETS),
    st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3, unique=True),
)


def take(index, decisions, step):
    """One step; what it may refuse has changed nothing."""
    act, name, some = step
    try:
        act(index, decisions, name, some)
    except errors.SetsearchError:
        return False
    return True


@examples(150)
@given(st.lists(steps, min_size=1, max_size=12))
def test_any_writes_keep_the_sum(path):
    with closing(sqlite3.connect(":memory:")) as connection:
        index = filled(connection)
        decisions = {name: index.decisions(name, "documents") for name in SETS}
        for step in path:
            take(index, decisions, step)
            sums = integrity.Seal(connection.cursor()).sums()
            for table, id in integrity.SUMMED.items():
                assert sums.get(id, 0) == by_definition(connection, table)
        assert index.check() == []


def test_each_kind_of_step_writes():
    """The law above is not one of refusals."""
    with closing(sqlite3.connect(":memory:")) as connection:
        index = filled(connection)
        decisions = {name: index.decisions(name, "documents") for name in SETS}
        keep(index, decisions, "a", ITEMS[:3])
        assert [
            step.__name__
            for step in STEPS
            if step is not delete and not take(index, decisions, (step, "a", ITEMS[6:9]))
        ] == []
        decisions["a"].read()
        assert take(index, decisions, (delete, "a", ITEMS[:1]))
        restore(index, decisions, "a", ITEMS[:1])
        assert index.set("a").accepted
        assert index.check() == []


DAMAGE = {
    "a flipped bit": "update setsearch_member set accepted = 1 - accepted where name = 'a' and item = 'd1'",
    "a flipped bit of a name": "update setsearch_member set item = 'e1' where name = 'a' and item = 'd1'",
    "a lost row": "delete from setsearch_member where name = 'a' and item = 'd1'",
    "a doubled row": "insert into setsearch_member (name, item, accepted, note) "
    "select 'b', item, accepted, note from setsearch_member where name = 'a' and item = 'd1'",
    "two swapped values": "update setsearch_member set note = case note when 'x' then 'y' else 'x' end "
    "where name = 'a' and item in ('d1', 'd2')",
    "a lost sum": "delete from setsearch_seal where id = 2",
}
DAMAGE_OF_SETS = {
    "a flipped bit of a set": "update setsearch_set set exclusive = 1 where name = 'a'",
    "another group of a set": "update setsearch_set set \"group\" = 'kinds' where name = 'b'",
    "a lost sum of sets": "delete from setsearch_seal where id = 3",
}
LATER = {
    "nothing": lambda index: None,
    "another set": lambda index: accept(index, {}, "b", ["d7"]),
    "another member": lambda index: accept(index, {}, "a", ["d8"]),
    "the same member": lambda index: accept(index, {}, "a", ["d1", "d2"]),
    "a replaced set": lambda index: keep(index, {}, "a", ["d3", "d4", "d5"]),
    "a decision": lambda index: index.decisions("a", "documents").write({"d9": "yes"}),
    "a deleted set": lambda index: index.delete_set("a"),
    "a renamed set": lambda index: index.rename_set("a", "c"),
    "documents": lambda index: index.add([("new", "lion")]),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("members") / "a.db"
    with filled(path) as index:
        index.keep_set("b", ["d4", "d5"], items="documents")
        for item, note in (("d1", "x"), ("d2", "y"), ("d3", "z")):
            index.decisions("a", "documents").write({item: "yes"}, {item: (None, note)})
        assert index.check() == []
    return path


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("damage", [*DAMAGE, *DAMAGE_OF_SETS])
def test_no_later_write_hides_damage(whole, tmp_path, damage, later):
    path = shutil.copy(whole, tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute((DAMAGE | DAMAGE_OF_SETS)[damage]).rowcount > 0
    with setsearch.open(path) as index:
        LATER[later](index)
        assert index.check() == [CHANGED if damage in DAMAGE else "setsearch_set changed from outside"]
        assert any("look at them" in line for line in index.repair())
        assert index.check() == []
        LATER["another set"](index)
        assert index.check() == []


def test_a_write_reads_no_other_members(whole, tmp_path, monkeypatch):
    """It hashes twice what it writes."""
    hashed = []
    monkeypatch.setattr(integrity, "_hash", lambda row, hash=integrity._hash: hashed.append(row[:2]) or hash(row))
    with setsearch.open(shutil.copy(whole, tmp_path / "a.db")) as index:
        accept(index, {}, "a", ["d8"])
        assert hashed == [("a", "d8")]
        index.decisions("a", "documents").write({"d8": "no"}, known=True)
        assert hashed == [("a", "d8")] * 3
