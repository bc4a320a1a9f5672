"""The short forms of tests/exactness/torture: each promise of docs/reliability.md, in seconds."""

import concurrency
import crash
import damage
import pytest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads
class TestShort:
    """Kills, full disks, readers beside writers, flipped bytes."""

    def test_kills_and_full_disks_lose_nothing(self, tmp_path):
        found = crash.torture(tmp_path, 8)
        assert found["rolled back"] + found["completed"] == 24

    def test_every_answer_is_that_of_one_revision(self, tmp_path):
        found = concurrency.torture(tmp_path, 4)
        assert found["answers"] > 50
        assert found["writes"] > 5

    def test_a_flipped_byte_is_found_or_harmless(self, tmp_path):
        found = damage.torture(tmp_path, 60)
        assert found["found"] > 5
        assert found["harmless"] > 0
        assert found["mended"] > 0
