"""Memory that is free is given back to the system; sanitizers have a memory of their own, so this is a file apart."""

from pathlib import Path

import numpy as np
import pytest
from processes import in_fresh_process

from setsearch.core.threads import _trim, give_back


def resident():
    """The memory of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (size,) = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(size) / 1e3


def given_back():
    """How much memory a process gives back of 128 MB in many arrays, of which one behind all others stays."""
    arrays = [np.ones(8000) for _ in range(2000)]
    kept, before = arrays.pop(), resident()
    arrays.clear()
    freed = resident()
    give_back()
    assert kept.all()
    return before - freed, freed - resident()


@pytest.mark.skipif(_trim() is None or not Path("/proc/self/status").exists(), reason="memory as glibc has it")
def test_memory_that_is_free_is_given_back():
    by_itself, told = in_fresh_process(given_back)
    assert by_itself < 64
    assert told > 100
