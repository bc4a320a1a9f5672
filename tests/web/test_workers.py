"""Several processes that answer at one address."""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import patience

pytest.importorskip("uvicorn", reason="needs uvicorn: pip install setsearch[web]")


def workers_of(parent):
    """The processes that a server has started to answer."""
    found = []
    for own in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_child = int(own.joinpath("stat").read_text().rpartition(")")[2].split()[1]) == parent
            if is_child and b"spawn_main" in own.joinpath("cmdline").read_bytes():
                found.append(int(own.name))
    return found


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="needs /proc to see processes: run on Linux")
def test_workers_share_an_address_and_one_that_dies_is_replaced(serve, animals, run, failed):
    server = serve(animals, "--workers", "2")
    asked = {"seeds": ["d0", "d1"], "items": "documents"}
    expected = server.json("/api/expand", **asked)
    assert expected[0]["item"] == "d2"
    first = workers_of(server.process.pid)
    assert len(first) == 2
    assert all(server.json("/api/expand", **asked) == expected for _ in range(20))
    os.kill(first[0], signal.SIGKILL)
    end = time.monotonic() + patience(30)
    while time.monotonic() < end and len({*workers_of(server.process.pid)} - {first[0]}) < 2:
        time.sleep(0.1)
    assert len({*workers_of(server.process.pid)} - {*first}) == 1
    assert server.json("/api/expand", **asked) == expected
    for workers in ("1", "2"):
        failed(run("serve", str(animals), "--port", str(server.port), "--workers", workers), 2, str(server.port))
    assert "stopped" in server.stop()
    with pytest.raises((OSError, http.client.HTTPException)):
        server.ask("/api/info")


@pytest.mark.parametrize("moment", ["bind", "get_ready", "make_app"])
def test_ctrl_c_stops_a_server_that_has_just_started(animals, run, monkeypatch, moment):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"setsearch.web.server.{moment}", interrupt)
    code, out, err = run("serve", str(animals), "--port", "0", "--refresh", "0")
    assert (code, out, err.splitlines()[-1]) == (0, "", "stopped")


@pytest.mark.long
def test_workers_end_by_sigterm_in_the_background_of_a_script(animals):
    """A shell makes the background jobs of its scripts ignore SIGINT."""
    command = [sys.executable, "-m", "setsearch", "serve", str(animals), "--port", "0", "--workers", "2"]
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert any(b"http://" in line for line in iter(process.stderr.readline, b""))  # it may say more before
    process.terminate()
    process.wait(patience(30))
    process.stderr.close()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="needs /proc to see processes: run on Linux")
def test_sigterm_at_the_start_leaves_nothing_behind(animals):
    command = [sys.executable, "-m", "setsearch", "serve", str(animals), "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not workers_of(process.pid):
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        said = process.stderr.read()
    assert b"leaked" not in said
    assert b"stopped" in said


def test_a_library_that_is_not_there_is_named_with_its_extra():
    code = "import sys; sys.modules['jinja2'] = None; import setsearch.web"
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    told = "ImportError: setsearch.web needs jinja2: pip install 'setsearch[web]'"
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, told)


LOST = """
import os, signal, sys
class Lost:
    def __del__(self):  # where Python ignores errors
        os.kill(os.getpid(), signal.SIGINT)
class Interrupting:
    def find_spec(self, name, *_):
        if name == "setsearch.web.server":
            Lost()
sys.meta_path.insert(0, Interrupting())
from setsearch.__main__ import run
run()
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere Ctrl-C is no signal")
def test_ctrl_c_is_not_lost_while_a_server_starts(animals):
    command = [sys.executable, "-c", LOST, "serve", str(animals), "--port", "0"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=patience(20))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "stopped\n")
