"""The commands concepts and features."""

import json
import random
import sys
from pathlib import Path

import pytest
from samples import planted

import setsearch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))


def test_the_commands(run, failed, tmp_path):
    data, sets = planted(seed=random.Random(1).randint(0, 9))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    for name, own in sets.items():
        assert run("set", "save", "a.db", name, *own)[0] == 0
    assert json.loads(run("features", "a.db", *sets["x"], "--weigh", "mi", "-k", "2")[1])[0]["feature"][0] in "xyz"
    shared = max(data["x-01"].keys() & data["x-02"].keys(), default=None)
    if shared:
        rows = json.loads(run("concepts", "a.db", "x-01", "x-02")[1])
        assert sum(row["posterior"] for row in rows) == pytest.approx(1)
        (tmp_path / "prior.csv").write_text(f"feature,weight\n{shared},3\n")
        (row,) = json.loads(run("concepts", "a.db", "x-01", "x-02", "--prior", "prior.csv", "--no-size-principle")[1])
        assert (row["feature"], row["posterior"]) == (shared, 1.0)
    (tmp_path / "bad.csv").write_text("feature,weight\nx1,-1\n")
    failed(run("concepts", "a.db", "x-01", "--prior", "bad.csv"), 2, "'x1'", "-1")
