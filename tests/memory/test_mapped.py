"""Files of arrays beside a database: they change no answer, whatever becomes of them, and whatever is in them."""

import os
import platform
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import suppress
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples
from processes import in_fresh_process
from samples import delete_arrays, random_data

import setsearch
from setsearch import errors
from setsearch.core import binding
from setsearch.memory import array_files, content
from setsearch.sqlite import mapped
from setsearch.storage.forward_lists import ForwardLists
from setsearch.storage.relation import load_relations

MODELS = ("lift", "bernoulli", "multinomial")
HOSTILE = {
    "ids that do not ascend": ("features ids", lambda own: own[::-1]),
    "the same id twice": ("features ids", lambda own: np.repeat(own[:1], len(own))),
    "ids beyond all items": ("features ids", lambda own: own + 1_000_000),
    "negative ids": ("items ids", lambda own: own - 50),
    "ids of another type": ("items ids", lambda own: own.astype(np.int64)),
    "fewer counts": ("features counts", lambda own: own[:-1]),
    "counts of another type": ("features counts", lambda own: own.astype(np.float32)),
    "negative lengths": ("features lengths", lambda own: np.where(np.arange(len(own)) == 0, own - 99, own)),
    "lengths of 2^40": ("items lengths", lambda own: own + (1 << 40)),
    "bounds of 2^62": ("items bounds", lambda own: own + (1 << 62)),
    "bounds that descend": ("features bounds", lambda own: own[::-1]),
    "fewer lists": ("features lengths", lambda own: own[:-1]),
    "more items": ("sizes", lambda own: own + 7),
    "sizes of 2^40": ("sizes", lambda own: own + (1 << 40)),
    "sizes that are none": ("sizes", lambda own: own[:1]),
    "ids that are gone": ("absent", lambda own: np.array([1 << 40])),
    "norms that are none": (" norms", lambda own: own * np.nan),
    "fewer values": (" values", lambda own: own[:-1]),
    "valued bounds of 2^62": ("by feature bounds", lambda own: own + (1 << 62)),
    "valued bounds that descend": ("by item bounds", lambda own: own[::-1]),
    "fewer valued bounds": ("by feature bounds", lambda own: own[:-1]),
    "valued ids beyond all": ("by feature ids", lambda own: own + 1_000_000),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A relation and texts, and what is derived from both."""
    path = tmp_path_factory.mktemp("mapped") / "a.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(random_data(3, 40, 25, 0.4).items(), ("film", "user"))
        rng, words = random.Random(1), "lion tiger wolf bear cat, and the a; fox dog".split()
        texts = ((f"d{n}", " ".join(rng.choices(words, k=12))) for n in range(30))
        index.add(texts, ("documents", "terms"))
        index.refresh("now")
    return path


@pytest.fixture
def path(whole, tmp_path):
    """A copy of it."""
    for file in whole.parent.glob("a.db*"):
        shutil.copy(file, tmp_path)
    return tmp_path / "a.db"


def answers(index):
    films, terms = index.items("film"), index.items("terms")
    return [
        *(films.expand(["i1", "i2"], 99, model=model, explain=True) for model in MODELS),
        films.expand(["i1", "i3", "i4"], 5, cut="mark", fold=True),
        index.items("user").expand(["f1"], 99),
        index.items("documents").expand(["d1", "d8"], 9, explain=True),
        *(terms.expand(["lion"], 99, by=by, explain=True) for by in ("documents", "contexts", "both")),
        *(terms.expand(["lion", "cat"], 9, by="contexts", model=model) for model in ("bernoulli", "multinomial")),
    ]


def ask(path):
    with setsearch.open(path) as index:
        return answers(index)


def files_of(path):
    return sorted(path.parent.glob(f"{path.name}-arrays-*"))


def is_mapped(index):
    """Whether the lists that answer come from a file."""
    index.items("film").expand(["i1"])
    version = index._readings._memory.versions[1][-1]
    return version.content.mapped is not None


def rewrite(file, change):
    """Write a file anew with other arrays, and right checksums."""
    own = mapped.map_arrays(file, file)
    arrays = [
        (name, mapped.Room(change(name, array[: own.used[name]]), len(array) - own.used[name]))
        for name, array in own.arrays.items()
    ]
    assert mapped.write_arrays(file, file, own.state, arrays)


def test_files_answer_as_the_tables_do(path, monkeypatch, kernel):
    expected = ask(path)
    assert [file.name for file in files_of(path)] == [
        f"a.db-arrays-{name}" for name in ("contexts-2", "lists-1", "lists-2")
    ]
    with setsearch.open(path) as index:
        assert is_mapped(index)
        monkeypatch.setattr(ForwardLists, "sweep", None)  # which reads all lists from the tables
        monkeypatch.setattr("setsearch.memory.contexts.word_contexts.derived_contexts", None)
        assert answers(index) == expected
    monkeypatch.undo()
    delete_arrays(path)
    monkeypatch.setattr(array_files.ArrayFiles, "write", lambda *_: False)
    assert ask(path) == expected and files_of(path) == []


def test_only_active_lists_are_read(path, monkeypatch):
    """The point of the inverted index: a query reads the lists of the seeds' features and of no others."""
    data = random_data(3, 40, 25, 0.4)
    seeds = min(data, key=lambda item: len(data[item]) or 99)
    with setsearch.open(path) as index, index._database.read() as cursor:
        expected = index.items("film").expand([seeds], 99)
        relation = index._readings.find("film")[1].within(cursor)
        features = set(relation.features.find(list(data[seeds])).values())
        items = set(relation.items.find([seeds]).values())
    file = files_of(path)[1]
    bounds = {name: mapped.map_arrays(file, file).arrays[name] for name in ("items bounds", "features bounds")}
    valued = {
        direction: next(
            array
            for name, array in mapped.map_arrays(file, file).arrays.items()
            if name.endswith(f"{direction} bounds")
        )
        for direction in ("by item", "by feature")
    }

    def change(name, array):
        """Other numbers wherever no active list is."""
        for whole, direction, active in (("items", "by item", items), ("features", "by feature", features)):
            if name in (f"{whole} ids", f"{whole} counts"):
                own = bounds[f"{whole} bounds"]
            elif name.endswith((f"{direction} ids", f"{direction} values")) and name.startswith("film by"):
                own = valued[direction]
            else:
                continue
            kept = np.zeros(len(array), bool)
            for list_ in active:
                kept[own[list_] : own[list_ + 1]] = True
            assert not kept.all()
            return np.where(kept, array, array.dtype.type(7)).astype(array.dtype)
        return array

    rewrite(file, change)
    monkeypatch.setattr(ForwardLists, "sweep", None)
    if binding.library() is None:
        pytest.skip("without a core all lists are looked at, whether they are sound")
    with setsearch.open(path) as index:
        assert index.items("film").expand([seeds], 99) == expected


@pytest.mark.long
@pytest.mark.parametrize("attack", HOSTILE)
def test_hostile_arrays_end_with_a_line_at_most(path, attack, kernel):
    expected = ask(path)
    ending, change = HOSTILE[attack]
    file = files_of(path)[1]
    changed = []

    def attacked(name, array):
        """The array that is attacked, changed."""
        if name != ending and not (ending[0] == " " and name.endswith(ending)) and not name.endswith(f" {ending}"):
            return array
        changed.append(name)
        return change(array)

    rewrite(file, attacked)
    before = mapped.identity_of(file)
    with setsearch.open(path) as index:
        found = None
        with suppress(errors.SetsearchError):
            found = answers(index)
        was_noticed = index.check() or mapped.identity_of(file) != before  # by `check`, or by one of the questions
    assert changed and (found == expected or was_noticed)
    assert ask(path) == expected


@pytest.mark.parametrize("ending", [" keys", " largest", " values"])
def test_numbers_that_no_contexts_have_are_derived_again(path, ending):
    """What a key names, and bounds of values, are looked at before they are used; values may not be left out."""
    expected, file = ask(path), files_of(path)[0]
    own = mapped.map_arrays(file, file)
    changed = {name: array - 1_000_000 for name, array in own.arrays.items() if name.endswith(ending)}
    arrays = [(name, changed.get(name, array)) for name, array in own.arrays.items()]
    if ending == " values":
        arrays = [(name, array) for name, array in own.arrays.items() if name not in changed]
    assert changed and mapped.write_arrays(file, file, own.state, arrays)
    assert ask(path) == expected


@pytest.mark.parametrize(
    ("how", "place"),
    [
        *product(("a byte", "shorter"), (0, 5, -1, -9, -19, -40)),
        ("shorter", 70),  # in an array, where another byte is found elsewhere
        ("longer", 9),
    ],
)
def test_a_damaged_file_changes_no_answer(path, how, place):
    """Where no array is: at the beginning, and in what says where arrays are."""
    expected = ask(path)
    for file in files_of(path):
        data = bytearray(file.read_bytes())
        if how == "a byte":
            data[place] ^= 255
        file.write_bytes(data + bytes(place) if how == "longer" else data[:place] if how == "shorter" else data)
    assert ask(path) == expected


@examples(40)
@given(st.binary(max_size=300), st.integers(0, 2**63), st.integers(-(2**63), 2**63 - 1))
def test_any_bytes_are_refused(data, place, length):
    path = Path("/dev/shm" if Path("/dev/shm").is_dir() else ".") / f"setsearch-any-{os.getpid()}"
    try:
        for tail in (b"", data[-20:]):
            path.write_bytes(mapped.MAGIC + data + tail)
            assert mapped.map_arrays(path, path) is None
    finally:
        path.unlink()


@pytest.mark.parametrize(
    "head",
    [
        {"state": [1], "arrays": [["x", "<i8", 1 << 60, 0, 64, 0]]},
        {"state": [1], "arrays": [["x", "<i8", -1, -1, 64, 0]]},
        {"state": [1], "arrays": [["x", "O", 1, 1, 64, 0]]},
        {"state": [1], "arrays": [["x", "<i8", 1, 1, 1 << 62, 0]]},
        {"state": [1], "arrays": [["x", "<i8", 1, 1, -64, 0]]},
        {"state": [1], "arrays": [["x", "<i8", 1.5, 1, 64, 0]]},
        {"state": [1], "arrays": [["x"]]},
        {"state": ["x"], "arrays": []},
        {"state": [float("inf")], "arrays": []},
        {"state": None, "arrays": []},
        {"arrays": {}},
        [],
    ],
)
def test_a_head_that_lies_is_refused(tmp_path, monkeypatch, head):
    monkeypatch.setattr(mapped.json, "dumps", lambda _: mapped.json.JSONEncoder().encode(head))
    (tmp_path / "a.db").touch()
    mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], [("x", np.arange(3))])
    assert mapped.map_arrays(tmp_path / "x", tmp_path / "x") is None


def test_arrays_come_back_as_they_were(tmp_path):
    (tmp_path / "a.db").touch(0o640)
    arrays = {"ids": np.arange(5, dtype=np.int32), "none": np.zeros(0, np.uint16), "x": np.linspace(0, 1, 7)}
    given_arrays = [*arrays.items(), ("more", mapped.Room(np.arange(3), 1000))]
    assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [3, 2**62], given_arrays)
    found = mapped.map_arrays(tmp_path / "x", tmp_path / "x")
    assert found.state == [3, 2**62] and found.are_intact()
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype and np.array_equal(found.arrays[name], array)
    assert len(found.arrays["more"]) == 1003 and found.used["more"] == 3
    found.arrays["more"][3:9] = 7  # stays in this process
    assert mapped.map_arrays(tmp_path / "x", tmp_path / "x").arrays["more"][3] == 0
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_one_writes_at_a_time_and_one_that_died_is_succeeded(tmp_path, monkeypatch):
    (tmp_path / "a.db").touch()
    draft = tmp_path / "x.draft"
    draft.write_text(f"{platform.node()} {os.getpid()}")
    assert not mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], [])
    os.utime(draft, (time.time() - 2 * mapped.AT_WORK,) * 2)
    assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], [])
    assert not draft.exists() and mapped.map_arrays(tmp_path / "x", tmp_path / "x").state == [1]

    draft.write_text(f"{platform.node()} 999999999")
    assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [2], []), "its process is gone"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells nothing of processes that ended")
def test_a_process_that_ended_is_gone_though_nobody_asked_how(tmp_path):
    (tmp_path / "a.db").touch()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        draft = tmp_path / "x.draft"
        draft.write_text(f"{platform.node()} {child.pid}")
        assert not mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], []), "it works"
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [2], [])


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_arrays_follow_the_mode_of_their_database(path):
    expected, before = ask(path), [file.read_bytes() for file in files_of(path)]
    for mode in (0o600, 0o640):
        path.chmod(mode)
        assert ask(path) == expected
        assert [file.stat().st_mode & 0o777 for file in files_of(path)] == [mode] * len(before)
    assert [file.read_bytes() for file in files_of(path)] == before


@pytest.mark.skipif(os.name != "posix", reason="modes and kinds of files are those of POSIX")
def test_files_of_others_and_what_is_no_file_are_not_used(path):
    expected = ask(path)
    file = files_of(path)[1]
    data = file.read_bytes()
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
        assert mapped.map_arrays(path, file) is None and ask(path) == expected
    file.unlink()
    os.mkfifo(file)
    assert mapped.map_arrays(path, file) is None
    file.unlink()
    with file.open("wb") as sparse:
        sparse.write(data[:64])
        sparse.truncate(8 << 30)
        sparse.seek(0, os.SEEK_END)
        sparse.write(mapped._TAIL.pack(64, (8 << 30) - 64, 0))
    assert mapped.map_arrays(path, file) is None
    assert ask(path) == expected


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_draft_is_private_until_it_has_the_mode_of_the_database(tmp_path, monkeypatch):
    (tmp_path / "a.db").touch(0o644)
    modes, owners = [], []

    def share(file, _):
        """Look at the draft before others may read it."""
        modes.append(os.fstat(file).st_mode & 0o777)
        owners.append((tmp_path / "x.draft").read_text().strip())

    monkeypatch.setattr(mapped, "_share", share)
    assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], []) and modes == [0o600]
    assert owners == [f"{platform.node()} {os.getpid()}"], "nobody waits for a process that died here"


def test_a_draft_says_who_writes_it_until_it_is_complete(tmp_path, monkeypatch):
    """To sync it takes long: nobody waits for a process that died in the meantime."""
    (tmp_path / "a.db").touch()
    owners = []
    monkeypatch.setattr(mapped.os, "fsync", lambda _: owners.append((tmp_path / "x.draft").read_bytes()[:64].strip()))
    assert mapped.write_arrays(tmp_path / "a.db", tmp_path / "x", [1], [("x", np.arange(3))])
    assert owners == [f"{platform.node()} {os.getpid()}".encode()]
    assert mapped.map_arrays(tmp_path / "x", tmp_path / "x").are_intact()


def test_without_room_the_answer_stays(path, monkeypatch):
    expected = ask(path)
    delete_arrays(path)

    def full(*_):
        """As a full disk does."""
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mapped.os, "fsync", full)
    with setsearch.open(path) as index:
        assert answers(index) == expected
        index.refresh("now")
    assert files_of(path) == []


@pytest.mark.parametrize("why", ["folder", "0", "off"])
def test_a_folder_that_cannot_be_written_gets_no_file(path, monkeypatch, why):
    expected = ask(path)
    delete_arrays(path)
    if why != "folder":
        monkeypatch.setenv("SETSEARCH_ARRAYS", why)
    else:
        monkeypatch.setattr(array_files.os, "access", lambda *_: False)  # root may write everywhere
    with setsearch.open(path) as index:
        assert answers(index) == expected
        index.refresh("now")
        assert not index.refresh().behind
    assert files_of(path) == []


def test_an_earlier_file_is_brought_up_to_date(path):
    earlier = [(file, file.read_bytes()) for file in files_of(path)]
    with setsearch.open(path) as index:
        index.update([("i1", {"u1": 3, "new": 1}), ("later", {"u2": 1})], ("film", "user"))
        index.delete(["i3"], ("film", "user"))
        index.refresh("now")
    for file, data in earlier:
        file.write_bytes(data)
    with setsearch.open(path) as index:
        films = [index.items("film").expand(["i1", "later"], 99, model=model) for model in MODELS]
        assert index.check() == []
    delete_arrays(path)
    with setsearch.open(path) as index:
        assert [index.items("film").expand(["i1", "later"], 99, model=model) for model in MODELS] == films


def test_who_stays_takes_the_new_file(path):
    """A process that follows writes in memory of its own gives it up when another one has derived."""
    with setsearch.open(path) as stays, setsearch.open(path) as other:
        assert is_mapped(stays)
        for number in (3, 4):
            other.update([("i1", {"f1": number})], ("film", "user"))
            assert not is_mapped(stays)
        delete_arrays(path)
        other.update([("i1", {"f1": 5})], ("film", "user"))
        other.refresh("now")
        assert is_mapped(stays)
        found = answers(stays)
    assert ask(path) == found


def test_contents_of_one_file_write_each_for_itself(path):
    """Changed lists go behind the others: those of one content may not be where another one has put its own."""

    def entries(fields):
        """The lists of all films."""
        return [array.tolist() for own in fields.first.sweep() for array in own]

    with setsearch.open(path) as index, setsearch.open(path) as writer:
        writer.update([("i1", {"f1": 3, "f2": 1})], ("film", "user"))
        with index.items("film").fields() as fields:
            before = entries(fields)
            index._readings._memory.versions.clear()
            writer.update([("i2", {"f3": 7, "f4": 9})], ("film", "user"))
            assert index.items("film").expand(["i2"], 99)
            assert entries(fields) == before


def test_the_file_of_another_database_is_not_used(path, tmp_path):
    with setsearch.open(tmp_path / "b.db", create=True) as other:
        other.add(random_data(9, 40, 25, 0.4).items(), ("film", "user"))
        other.refresh("now")
    expected = ask(path)
    shutil.copy(tmp_path / "b.db-arrays-lists-1", tmp_path / "a.db-arrays-lists-1")
    shutil.copy(tmp_path / "a.db-arrays-lists-2", tmp_path / "a.db-arrays-contexts-2")
    assert ask(path) == expected
    with setsearch.open(path) as index:
        assert is_mapped(index), "its own was written again"


def test_a_file_may_go_while_it_is_mapped(path):
    expected = ask(path)
    with setsearch.open(path) as index:
        assert answers(index) == expected
        delete_arrays(path)
        assert answers(index) == expected
        for file in files_of(path.with_name("none")):
            file.touch()
        assert answers(index) == expected


def test_check_finds_what_flips_in_an_array_and_ends_it(path):
    expected = ask(path)
    for file in files_of(path):
        data = bytearray(file.read_bytes())
        data[70] ^= 1
        file.write_bytes(data)
    with setsearch.open(path) as index:
        assert sorted(line.partition(": ")[2] for line in index.check()) == [
            f"a.db-arrays-{name} is damaged; it is made anew" for name in ("contexts-2", "lists-1", "lists-2")
        ]
        assert files_of(path) == [] and index.check() == []
    assert ask(path) == expected


def test_drop_leaves_no_file(path):
    with setsearch.open(path) as index:
        index.drop()
    assert files_of(path) == []


@pytest.mark.long
def test_threads_and_processes_share_one_file(path):
    expected = ask(path)
    delete_arrays(path)
    with setsearch.open(path) as index:
        found = []
        threads = [threading.Thread(target=lambda: found.append(answers(index))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 4
    for _ in range(2):
        assert in_fresh_process(ask, path) == expected
    assert len(files_of(path)) == 3 and not list(path.parent.glob("*.draft"))


def test_a_lent_connection_is_served_by_the_file_and_writes_it_only_when_refreshed(path):
    expected = ask(path)
    delete_arrays(path)
    connection = sqlite3.connect(path)
    with setsearch.open(connection) as index:
        assert answers(index) == expected and files_of(path) == []
        index.refresh("now")
        connection.commit()
        assert len(files_of(path)) == 3 and answers(index) == expected
    connection.close()


def test_an_encrypted_database_has_no_file(tmp_path):
    sqlcipher = pytest.importorskip("sqlcipher3.dbapi2", reason="sqlcipher3 is not installed")
    connection = sqlcipher.connect(tmp_path / "secret.db")
    connection.execute("pragma key = 'secret'")
    index = setsearch.open(connection, create=True)
    index.add(random_data(3, 10, 8, 0.4).items(), ("film", "user"))
    connection.commit()
    index.refresh("now")
    connection.commit()
    assert index.items("film").expand(["i1"], 3)
    connection.close()
    assert files_of(tmp_path / "secret.db") == []


def test_no_file_in_memory():
    index = setsearch.open(sqlite3.connect(":memory:"), create=True)
    index.add(random_data(3, 10, 8, 0.4).items(), ("film", "user"))
    index.refresh("now")
    assert index.items("film").expand(["i1"], 3) and not index.refresh().behind


def test_an_error_of_the_application_is_its_own(path, monkeypatch):
    """Only where arrays are damaged an unexpected error becomes a reason to ask again."""
    with setsearch.open(path) as index:
        monkeypatch.setattr("setsearch.search.passes.seed_weights", lambda *_: {}["nothing"])
        with pytest.raises(KeyError):
            index.items("film").expand(["i1"], model="multinomial")
    assert len(files_of(path)) == 3


def test_lost_rights_are_told_by_nobody(path):
    """A writer that cannot finish leaves the file before."""
    with setsearch.open(path) as index:
        with pytest.raises(errors.UnknownItem):
            index.items("film").expand(["nobody"])
        before = [file.stat().st_ino for file in files_of(path)]

        def broken(*_):
            """Fails half-way."""
            yield "sizes", np.array([1, 2])
            raise OSError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(content.RelationContent, "arrays", broken)
            index.update([("i1", {"u1": 3})], ("film", "user"))
            index.refresh("now")
    assert [file.stat().st_ino for file in files_of(path)] == before and not list(path.parent.glob("*.draft"))


def test_lists_are_read_in_little_memory(tmp_path):
    chance = np.random.default_rng(0)
    rows = [(f"i{n}", [f"f{own}" for own in np.unique(chance.integers(0, 5000, 500))]) for n in range(600)]
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add(rows, ("items", "features"))
    with sqlite3.connect(tmp_path / "x.db") as connection:
        (relation,) = load_relations(connection.cursor())
        tracemalloc.start()
        try:
            size = content.read_content(relation).by_item.size
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert size == sum(len(own) for _, own in rows) and peak < 60 * size
