"""What a visitor asks of a database from a stranger, within limits."""

import resource
from pathlib import Path

import setsearch
from setsearch.errors import SetsearchError

LIMIT = 400 << 20  # bytes beyond what a process has
SECONDS = 20  # of the processor


def ask_everything(path):
    """Every way in; only errors of our own may come out."""

    def tried(call):
        try:
            call()
        except SetsearchError as error:
            assert "\n" not in str(error)
            return 1
        return 0

    with setsearch.open(path) as index:
        failures = tried(index.info) + tried(index.check) + tried(index.refresh) + tried(index.sets)
        for name, seed in (("documents", "d1"), ("terms", "lion"), ("film", "film1"), ("body", "x1")):
            failures += tried(lambda name=name, seed=seed: index.reading(name).expand([seed], 5, explain=True))
            failures += tried(lambda name=name, seed=seed: index.reading(name).explain([seed], seed))
        failures += tried(lambda: index.items("documents").expand([], like=["lion"]))
        failures += tried(lambda: index.set("cats").expand(3))
        failures += tried(lambda: index.update([("new", "lion tiger")], ("documents", "terms")))
        failures += tried(lambda: index.delete(["d1"], ("documents", "terms")))
        failures += tried(index.repair)
        tried(index.drop)
    return failures


def ask_within_limits(path):
    """Ask everything in a process that may use little more memory than it has, and some seconds."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + LIMIT, used + LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    ask_everything(path)
