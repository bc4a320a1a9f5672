"""Folders of temporary files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setsearch.sqlite.folders import PREFIX, YOUNG, HeldFolder

HOLDS = """
from pathlib import Path
from setsearch.sqlite.folders import HeldFolder
with HeldFolder() as name:
    (Path(name) / "x").write_text("x")
    print(name, flush=True)
    input()
"""
pytest.importorskip("fcntl", reason="without locks of folders nobody knows which are left")


def aged(folder: Path) -> None:
    """Let a folder look as one that nobody has just made."""
    then = time.time() - 2 * YOUNG
    os.utime(folder, (then, then))


def names(folder: Path) -> set[str]:
    return {own.name for own in folder.iterdir()}


def test_folders_of_killed_processes_are_removed_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    for other in ("setsearch-mine", f"{PREFIX}young"):
        (tmp_path / other).mkdir()
    aged(tmp_path / "setsearch-mine")
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "setsearch-mine")
    command = [sys.executable, "-c", HOLDS]
    held = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        killed, alive = (Path(own.stdout.readline().strip()) for own in held)
        held[0].send_signal(signal.SIGKILL)
        held[0].wait()
        aged(killed)
        aged(alive)
        others = names(tmp_path) - {killed.name}
        assert killed.is_dir() and alive.name in others
        with HeldFolder() as own:
            aged(Path(own))
            monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("one look at all that is there is enough"))
            with HeldFolder() as second:
                assert names(tmp_path) == others | {Path(own).name, Path(second).name}
        assert names(tmp_path) == others and (alive / "x").exists()
    finally:
        for own in held:  # of which one was killed, and reads no more
            own.communicate("\n" if own.poll() is None else None)
    assert alive.name not in names(tmp_path), "who ends removes his own"
