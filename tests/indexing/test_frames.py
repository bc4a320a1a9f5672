"""What gives rows beside plain frames: streams, datasets and scanners of Arrow, cursors, mappings."""

import json
import sqlite3
from itertools import islice

import pandas
import polars
import pyarrow
import pytest
from pyarrow import dataset, feather, parquet

import setsearch
from setsearch import errors
from setsearch.indexing.rows.arrow import AT_ONCE, frame_rows

ROWS = {"id": [1, 2, 3], "text": ["lion tiger", None, "lion"], "day": ["2024-01-01", None, "2024-01-03"]}


class Relation:
    """As of DuckDB: columns, rows that have no names, and a stream."""

    columns = tuple(ROWS)

    def iter_rows(self):
        raise TypeError("no names")

    def __arrow_c_stream__(self, requested_schema=None):
        return pyarrow.table(ROWS).__arrow_c_stream__(requested_schema)


def _records():
    return ({name: cells[row] for name, cells in ROWS.items()} for row in range(3))


def _cursor():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    return connection.execute("select 1 id, 'lion tiger' text, '2024-01-01' day union all select 2, null, null")


KINDS = {
    "a relation": Relation,
    "a stream": lambda: pyarrow.table(ROWS).to_reader(),
    "a batch": lambda: pyarrow.table(ROWS).to_batches()[0],
    "batches": lambda: [pyarrow.table(ROWS).slice(place, 1).to_batches()[0] for place in range(3)],
    "a stream of batches": lambda: iter(pyarrow.table(ROWS).to_batches(max_chunksize=2)),
    "chunks of pandas": lambda: (pandas.DataFrame(ROWS).iloc[place : place + 1] for place in range(3)),
    "frames of polars": lambda: list(polars.DataFrame(ROWS).iter_slices(2)),
    "a dataset in memory": lambda: dataset.dataset(pyarrow.table(ROWS)),
    "a scanner": lambda: dataset.dataset(pyarrow.table(ROWS)).scanner(),
    "mappings": _records,
    "a list of them": lambda: list(_records()),
    "a cursor": _cursor,
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_gives_rows_is_indexed_as_a_frame_is(kind):
    answers = []
    for rows in (KINDS[kind](), pandas.DataFrame(ROWS)):
        index = setsearch.open(sqlite3.connect(":memory:"))
        assert index.add_frame(rows, keep="day", progress=iter) in (2, 3)
        assert index.items("documents").features_of("1") == {"lion": 1, "tiger": 1}
        assert index.items("documents").features_of("2") == {}
        hits = index.items("documents").expand([], like=["lion tiger"], filter=["day = 2024-01-01"])
        answers.append([(hit.item, hit.columns) for hit in hits])
        assert hits.to_pandas()["item"].tolist() == [1], "ids of a column of whole numbers are whole"
    assert answers[0] == answers[1] == [("1", {"day": "2024-01-01"})]


def test_a_dataset_of_files_has_the_columns_of_its_folders(tmp_path):
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / f"day={day}").mkdir()
        parquet.write_table(pyarrow.table({"id": [day], "text": ["lion"]}), tmp_path / f"day={day}" / "a.parquet")
    index = setsearch.open(sqlite3.connect(":memory:"))
    assert index.add_frame(dataset.dataset(tmp_path, partitioning="hive"), keep="day") == 2
    (hit,) = index.items("documents").expand(["2024-01-01"])
    assert hit.columns == {"day": "2024-01-02"}


def test_parts_of_a_frame_are_numbered_and_counted_as_one():
    """Chunks of pandas have indexes that go on, which tell no more than places; a name of an index is a column."""
    texts = [{"text": [own]} for own in ("lion", "tiger", "lion")]
    chunks = [pandas.DataFrame(own, index=pandas.RangeIndex(place, place + 1)) for place, own in enumerate(texts)]
    for frames in (chunks, [pyarrow.RecordBatch.from_pydict(own) for own in texts]):
        index = setsearch.open(sqlite3.connect(":memory:"))
        counts = []
        assert index.add_frame(frames, progress=lambda rows, counts=counts: counts.append(len(rows)) or rows) == 3
        assert counts == [3] and index.items("documents").features_of("2") == {"tiger": 1}
    index = setsearch.open(sqlite3.connect(":memory:"))
    assert index.add_frame(own.rename_axis(index="id") for own in chunks) == 3
    assert index.items("documents").features_of("1") == {"tiger": 1}
    with pytest.raises(errors.InvalidParameter, match="rows that are mappings, not list"):
        index.add_frame([chunks])


def test_streams_are_read_a_piece_at_a_time():
    """A frame that fills half of the memory must not become as many objects of Python."""
    read = []

    def batches():
        for number in range(9):
            read.append(number)
            yield pyarrow.record_batch({"id": [number]})

    stream = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"id": pyarrow.int64()}), batches())
    assert [row["id"] for _, row in islice(frame_rows(stream), 2)] == [0, 1] and len(read) <= 3
    wide = pandas.DataFrame({"id": range(3 * AT_ONCE + 1)})
    for frame in (wide, pyarrow.Table.from_pandas(wide)):
        assert [row["id"] for _, row in frame_rows(frame)] == [*wide["id"]]


METHODS = "scanner to_reader lazy collect iter_rows to_batches schema to_pylist read_next_batch column_names".split()


def test_columns_of_pandas_may_have_names_of_methods_of_others():
    """A frame of pandas has its columns as attributes; those are no methods."""
    index = setsearch.open(sqlite3.connect(":memory:"))
    frame = pandas.DataFrame({"id": [1, 2], "text": ["lion", "tiger"], **{name: ["a", "b"] for name in METHODS}})
    assert index.add_frame(frame, keep=METHODS) == 2
    (hit,) = index.items("documents").expand(["1"], k=1)
    assert hit.item == "2" and hit.columns == dict.fromkeys(METHODS, "b")


TWICE = pyarrow.Table.from_arrays([pyarrow.array([own]) for own in "1ab"], names=["id", "text", "text"])


@pytest.mark.parametrize("kind", [pyarrow.Table.to_pandas, pyarrow.Table.to_reader, pyarrow.Table.combine_chunks])
def test_of_columns_that_are_named_twice_none_is_taken(kind, recwarn):
    """As in CSV: one of them would be lost, and nobody told."""
    index = setsearch.open(sqlite3.connect(":memory:"))
    with pytest.raises(errors.SourceError, match="row 1: several columns are named 'text'; rename all but one"):
        index.add_frame(kind(TWICE))
    both = [pyarrow.array([1]), pyarrow.array(["lion"]), *2 * [pyarrow.array(["a"])]]
    assert index.add_frame(kind(pyarrow.Table.from_arrays(both, names=["id", "text", "other", "other"]))) == 1
    assert not recwarn.list


class Once:
    """Rows that are there once, by an iterator that is new each time: Django's cursors, progress bars."""

    def __init__(self, rows, length=None):
        self.rows, self.length = iter(rows), length

    def __iter__(self):
        yield from self.rows

    def __len__(self):
        return self.length


@pytest.mark.parametrize("length", [3, None])
def test_no_row_is_lost_of_what_can_be_read_once(length):
    index, told = setsearch.open(sqlite3.connect(":memory:")), []
    rows = [{"id": n, "text": f"a lion of {n}"} for n in range(3)]

    def progress(rows):
        try:
            told.append(len(rows))
        except TypeError:
            told.append(None)
        return rows

    assert index.add_frame(Once(rows, length), progress=progress) == 3
    assert index.items("documents").features_of("0") == {"a": 1, "lion": 1, "of": 1, "0": 1}
    assert told == [length]
    frames = Once([pandas.DataFrame([row]) for row in rows])
    assert index.add_frame(frames, update=True) == 3
    for wrong in (Once([(1, "a")]), (row for row in [(1, "a")])):
        with pytest.raises(errors.InvalidParameter, match=f"rows that are mappings, not {type(wrong).__name__}"):
            index.add_frame(wrong)


@pytest.mark.parametrize("wrong", ["docs.parquet", None, 5, [1], [("a", "b")], pandas.Series(["a"]), {"a": {"id": 1}}])
def test_what_gives_no_rows_is_an_error(wrong):
    index = setsearch.open(sqlite3.connect(":memory:"))
    with pytest.raises(errors.InvalidParameter, match=f"rows that are mappings, not {type(wrong).__name__}"):
        index.add_frame(wrong)


NESTED = [
    {"_id": 1, "own": {"title": "red boots", "price": 30.0, "tags": [{"name": "feet"}]}},
    {"_id": 2, "own": {"title": "blue boots", "price": 40.0, "tags": []}},
    {"_id": 3, "own": None},
    {"_id": 4, "own": {"title": "a hat", "price": None, "tags": [{"name": "head"}, {"name": None}]}},
]


def test_objects_within_rows_have_columns_in_frames_and_mappings(tmp_path):
    """As those of JSON: what is in a null is empty; a column that is in no object is an error."""
    table = pyarrow.Table.from_pylist(NESTED)
    parquet.write_table(table, tmp_path / "a.parquet")
    given = [NESTED, iter(NESTED), table, table.to_batches(), pandas.DataFrame(NESTED), polars.DataFrame(table)]
    columns = {"id": "_id", "text": "own.title", "title": "own.title", "tags": ["for=own.tags.name"]}
    for frame in [*given, pandas.read_parquet(tmp_path / "a.parquet")]:
        with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
            assert index.add_frame(frame, **columns, keep=["own.price"]) == 4
            found = {hit.item: hit for hit in index.items("documents").expand([1], 3)}
            assert (found["2"].title, found["2"].columns) == ("blue boots", {"own.price": 40.0})
            assert {found[item].columns["own.price"] for item in "34"} == {None}
            assert index.items("documents").features_of(4) == {"a": 1, "hat": 1, "for:head": 1}
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        with pytest.raises(errors.SourceError, match=r"row 1 has no column 'own.titel'; it has _id, own.title"):
            index.add_frame(NESTED, id="_id", text="own.titel")
        liked = [{"film": {"id": n % 3}, "by": {"name": f"u{n}"}, "n": {"n": float("nan")}} for n in range(9)]
        assert index.add_frame(liked, items="film.id", features="by.name") == 3
        assert index.items("film.id").features_of(1) == {"u1": 1, "u4": 1, "u7": 1}
        assert index.items("film.id").expand([1], 1).to_pandas()["item"].tolist() == [0], "as a whole number"
        index.add_frame(liked[:3], id="film.id", text="by.name", keep=["n.n"])
        assert index.items("documents").expand(["1"], 1)[0].columns == {"n.n": None}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_objects_within_rows_have_columns_in_files(tmp_path, run, failed, ending):
    table = pyarrow.Table.from_pylist(NESTED)
    write = parquet.write_table if ending == "parquet" else feather.write_feather
    write(table, tmp_path / f"a.{ending}")
    roles = "--id _id --text own.title --title own.title --tags for=own.tags.name --keep-columns own.price".split()
    code, _, said = run("index", "a.db", f"a.{ending}", *roles)
    assert code == 0 and "indexed 4" in said, said
    hit = json.loads(run("expand", "a.db", "1", "--items", "documents", "--filter", "own.price > 1", "--json")[1])[0]
    assert (hit["item"], hit["title"], hit["own.price"]) == ("2", "blue boots", 40.0)
    problem = "row 1 has no column 'own.titel'; it has _id, own.title, own.price, own.tags"
    failed(run("index", "a.db", f"a.{ending}", "--text", "own.titel", "--id", "_id"), 1, problem)
    code, _, said = run("index", "b.db", f"a.{ending}", "--items", "own.title", "--features", "own.tags.name")
    assert code == 0 and "own.title" in said, said
