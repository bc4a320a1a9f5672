"""The command features."""

import json
import random

from samples import planted

import setsearch


def test_the_command(run, tmp_path):
    data, sets = planted(seed=random.Random(1).randint(0, 9))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    for name, own in sets.items():
        assert run("set", "save", "a.db", name, *own)[0] == 0
    assert json.loads(run("features", "a.db", *sets["x"], "--weigh", "mi", "-k", "2")[1])[0]["feature"][0] in "xyz"
