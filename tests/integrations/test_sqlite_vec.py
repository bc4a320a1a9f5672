"""Vectors that the application keeps in tables of sqlite-vec."""

import numpy as np
import pytest

import setsearch

pysqlite3 = pytest.importorskip(
    "pysqlite3", reason="needs an SQLite that loads extensions: pip install pysqlite3-binary"
)
sqlite_vec = pytest.importorskip("sqlite_vec", reason="needs sqlite-vec: pip install sqlite-vec")


def test_rows_of_a_table_of_sqlite_vec_are_vectors(tmp_path, run, failed):
    connection = pysqlite3.connect(tmp_path / "a.db")
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.execute("create virtual table near using vec0(id text primary key, vector float[4])")
    matrix = np.random.default_rng(1).normal(size=(30, 4)).astype("<f4")
    names = [f"d{number:02}" for number in range(30)]
    for name, row in zip(names, matrix, strict=True):
        connection.execute("insert into near values (?, ?)", (name, sqlite_vec.serialize_float32(row.tolist())))
    connection.commit()
    expected = setsearch.open(tmp_path / "b.db", create=True, contexts="off")
    with setsearch.open(connection, create=True, contexts="off") as index, expected:
        for one in (index, expected):
            one.add((name, f"text {name}") for name in names)
        assert index.add_vectors(*zip(*connection.execute("select id, vector from near"), strict=True)) == 30
        expected.add_vectors(names, matrix)
        asked = [one.items("documents").expand(["d03", "d04"], vectors=1.0) for one in (index, expected)]
        assert [tuple(hit[:3]) for hit in asked[0]] == [tuple(hit[:3]) for hit in asked[1]]
        connection.commit()
        assert index.check() == []
    connection.close()
    failed(run("vectors", "a.db", "--table", "near"), 1, "no such module: vec0", "extension")
