"""Models of other packages: known by an entry point, and never answered from a base of another version."""

import os
import subprocess
import sys

import numpy as np
import pytest

import setsearch
from setsearch import errors
from setsearch.models import MODELS, Background, Query, ValueRule, make_model, register

MODULE = """
import numpy as np
from setsearch.models import Query, ValueRule

class Shared:
    rule = ValueRule()

    def background(self, df, n_items, n_seeds):
        return None

    def query(self, seeds, df, n_items):
        return Query(seeds.having.astype(float), np.zeros(len(df)))
"""


def test_a_package_offers_a_model_to_the_command_line(tmp_path):
    (tmp_path / "shared_model.py").write_text(MODULE)
    package = tmp_path / "shared_model-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: shared-model\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[setsearch.models]\nshared = shared_model:Shared\n")
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", "lion tiger"), ("b", "lion cat"), ("c", "lion tiger cat")])
    command = [sys.executable, "-m", "setsearch", "expand", "x.db", "a", "--items", "documents", "--model", "shared"]
    done = subprocess.run(
        [*command, "--csv"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("1,c,2.0")


class Constant:
    """A base of one number for each feature; two versions of it have the same `repr`."""

    rule = ValueRule()
    height = 1.0

    def background(self, df, n_items, n_seeds):
        return Background(np.full(len(df), self.height), 0.0)

    def query(self, seeds, df, n_items):
        return Query(np.zeros(len(df)), np.zeros(len(df)))

    def __repr__(self):
        return "Constant()"


@pytest.fixture
def constant():
    register("constant", Constant)
    yield Constant
    del MODELS["constant"]
    Constant.height = 1.0


def test_a_base_of_a_foreign_model_does_not_outlive_its_process(tmp_path, constant):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", ["x"]), ("b", ["x", "y"])], ("film", "user"))
    for height in (1.0, 2.0):
        constant.height = height  # as if the package had a new version
        with setsearch.open(tmp_path / "x.db") as index:
            assert index.items("film").expand(["a"], model="constant")[0].score == 2 * height


class Unsound:
    """A model with a mistake: what its query gives, or raises, is a class attribute."""

    rule = ValueRule()
    gives = None

    def background(self, df, n_items, n_seeds):
        return Background(np.full(len(df), np.inf), 0.0) if self.gives == "inf" else None

    def query(self, seeds, df, n_items):
        ones = np.ones(len(df))
        if self.gives == "error":
            return ones[len(df)]
        wrong = {"short": ones[1:], "nan": ones * np.nan, "list": ones.tolist(), "one": 1.0}
        return Query(wrong[self.gives], ones) if isinstance(self.gives, str) else self.gives


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        ("error", "its method query raises IndexError: index 2 is out of bounds"),
        ("inf", "its method background gives no array of 3 finite weights, nor None"),
        *((wrong, "its method query gives no two arrays of 2 finite numbers") for wrong in ("short", "nan")),
        *((wrong, "its method query gives no two arrays of 2 finite numbers") for wrong in ("list", "one")),
        (None, "its method query gives NoneType, not Query"),
        ((1.0, 2.0), "its method query gives tuple, not Query"),
    ],
)
def test_a_mistake_in_somebodys_model_is_told_as_such(tmp_path, monkeypatch, gives, told):
    """Not as damage of the database, nor as a fault of ours."""
    monkeypatch.setattr(Unsound, "gives", gives)
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", ["x", "y"]), ("b", ["x", "z"])], ("film", "user"))
        register("unsound", Unsound)
        try:
            with pytest.raises(errors.InvalidParameter, match=f"the model Unsound cannot answer: {told}"):
                index.items("film").expand(["a"], model="unsound")
        finally:
            del MODELS["unsound"]
        assert index.items("film").expand(["a"])[0].item == "b"


def test_what_is_no_model_and_the_name_of_another_are_refused(tmp_path):
    with pytest.raises(errors.InvalidParameter, match="'lift' is the name of a model of setsearch"):
        register("lift", Unsound)
    monkey = type("Monkey", (), {"rule": ValueRule()})
    register("monkey", monkey)
    try:
        with pytest.raises(errors.InvalidParameter, match="the model monkey has no background and no query"):
            make_model("monkey")
    finally:
        del MODELS["monkey"]


def test_a_hit_shows_what_it_has(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", ["x", "y"]), ("b", ["x", "z"]), *((f"c{n}", ["w"]) for n in range(9))], ("film", "user"))
        (plain,), (explained,) = (index.items("film").expand(["a"], 1, explain=own) for own in (False, True))
    assert repr(plain) == f"Hit(rank=1, item='b', score={plain.score!r})"
    assert repr(explained).startswith(f"{repr(plain)[:-1]}, features=(Contribution(")
    assert eval(repr(plain), {"Hit": setsearch.Hit}) == plain
