"""Numbers of a stranger's file: none costs more than the file's size allows."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does"),
]
HOSTILE = Path(__file__).with_name("hostile.py")


def problems(folder, *columns):
    """What the script writes."""
    done = subprocess.run([sys.executable, HOSTILE, folder, *columns], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_hostile_number_costs_a_line(tmp_path):
    assert problems(tmp_path, "setsearch_relation.revision", "setsearch_kind.peak") == []


@pytest.mark.long
def test_every_number_of_every_table_costs_a_line(tmp_path):
    assert problems(tmp_path) == []
