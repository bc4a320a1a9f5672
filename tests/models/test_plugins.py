"""Models of other packages: known by an entry point, and never answered from a base of another version."""

import os
import subprocess
import sys

import numpy as np
import pytest

import setsearch
from setsearch.models import MODELS, Background, Query, ValueRule, register

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
