"""The short forms of tests/exactness/torture: each promise of docs/reliability.md, in seconds."""

import random
import shutil
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest

pytest.importorskip("resource", reason="needs a system with limits of processes: POSIX")

import concurrency
import crash
import damage
import fuzz
import power
import replayed
import serving
import transactions
import writes
from processes import in_fresh_process

from setsearch.errors import SetsearchError

pytestmark = pytest.mark.long
needs_power = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs a compiler, and Linux"
)


def chance(seed):
    """Gives what the fuzzer would give, without looking at what comes of it."""
    rng = random.Random(seed)

    def character():
        """A usual one, or any."""
        return chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xD800)]))

    return SimpleNamespace(
        ConsumeBytes=lambda most: rng.randbytes(rng.randrange(most)),
        ConsumeUnicodeNoSurrogates=lambda most: "".join(character() for _ in range(rng.randrange(most))),
        ConsumeBool=lambda: rng.random() < 0.5,
        PickValueInList=rng.choice,
    )


class TestShort:
    """Kills, full disks, power cuts, readers beside writers, flipped bytes."""

    def test_kills_and_full_disks_lose_nothing(self, tmp_path):
        found = in_fresh_process(crash.torture, tmp_path, 4)
        assert found["rolled back"] + found["completed"] == 12

    def test_contexts_are_those_of_the_texts_after_kills(self, tmp_path):
        found = in_fresh_process(crash.torture, tmp_path, 3, "on")
        assert found["rolled back"] + found["completed"] == 9

    def test_all_that_is_stored_is_that_of_the_same_steps_after_kills(self, tmp_path):
        found = in_fresh_process(replayed.torture, tmp_path, 2)
        assert found["rolled back"] + found["completed"] == 2 * len(replayed.ENDS)
        assert found["steps"] > found["completed"]

    @needs_power
    def test_power_cuts_lose_no_write_of_sets_and_tables(self, tmp_path):
        assert in_fresh_process(replayed.cut, tmp_path, 10, 0, 12)["cuts"] > 0

    @needs_power
    @pytest.mark.parametrize("contexts", ["on", "off"])
    def test_power_cuts_lose_no_write_that_had_ended(self, tmp_path, contexts):
        found = in_fresh_process(power.torture, tmp_path, 40, 0, contexts)
        assert found["it is not"] > 0

    @pytest.mark.long
    def test_a_killed_server_leaves_a_sound_file(self, tmp_path):
        found = in_fresh_process(serving.torture, tmp_path, 3)
        assert found["answers"] > 0

    def test_a_page_of_an_older_state_is_found_or_harmless(self, tmp_path):
        found = damage.stale_pages(tmp_path)
        assert found["found"] > 5

    @pytest.mark.parametrize("seconds", [1, pytest.param(4, marks=pytest.mark.long)])
    def test_every_answer_is_that_of_one_revision(self, tmp_path, seconds):
        found = in_fresh_process(concurrency.torture, tmp_path, seconds)
        assert found["answers"] >= 16 * concurrency.LEAST
        assert found["writes"] >= 2 * concurrency.LEAST

    def test_no_transaction_of_a_host_is_lost(self, tmp_path):
        found = in_fresh_process(transactions.torture, tmp_path, 3)
        assert found["committed"] > 0

    def test_a_flipped_byte_is_found_or_harmless(self, tmp_path):
        found = damage.torture(tmp_path, 300)
        assert found["found"] > 5
        assert found["harmless"] > 0
        assert found["mended"] > 0  # some seven of them

    @pytest.mark.parametrize("part", [fuzz.stored, fuzz.readers, fuzz.words])
    def test_what_the_fuzzer_calls_ends_with_an_answer_or_an_error_of_ours(self, part):
        for seed in range(100):
            with suppress(SetsearchError):
                part(chance(seed))

    def test_many_writes_cost_a_bounded_history(self, tmp_path):
        found = writes.torture(tmp_path, 200)
        assert found["revisions kept"] == 201

    @pytest.mark.long
    def test_more_writes_than_the_history_keeps(self, tmp_path):
        found = in_fresh_process(writes.torture, tmp_path, 10_000)  # memory of other tests would count
        assert found["file, megabytes more in the second half"] < 1
        assert found["megabytes of memory more in the second half"] < 16
