"""Long work says that it goes on, and how far it is."""

import gzip
import io
import json
import random
import re
import sys
import time
from contextlib import ExitStack

import pytest

import setsearch
from setsearch.cli import progress
from setsearch.indexing.rows.progress import Amount
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns


def shares_of(told, what):
    """The shares, in percent, that lines about some work tell."""
    return [int(own) for own in re.findall(rf"^{what}: (\d+)%", told, re.MULTILINE)]


def write_rows(path, number=3000):
    some = random.Random(1)
    rows = [{"id": str(n), "text": " ".join(f"cat{some.randrange(40)}" for _ in range(30))} for n in range(number)]
    data = "\n".join(map(json.dumps, rows)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def by_turns():
    """The thread that tells is let in as soon as it wants to, however little there is to do."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("by_turns")
def test_indexing_and_deriving_tell_how_far_they_are(run, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "STEP_OF_LINES", 0.001)
    write_rows(tmp_path / "a.jsonl")
    code, _, told = run("index", "a.db", "a.jsonl", "--contexts")
    assert code == 0
    for what in ("indexing", "deriving contexts of words"):
        shares = shares_of(told, what)
        assert len({*shares}) > 2 and shares == sorted(shares) and shares[-1] <= 100, told


def test_what_is_quick_tells_nothing(capsys):
    with progress.tell("nothing"):
        pass
    assert capsys.readouterr() == ("", "")


def test_items_of_a_known_number_tell_their_share(capsys, monkeypatch):
    monkeypatch.setattr(progress, "STEP_OF_LINES", 0.001)

    def wait_for(state: str) -> None:
        told = ""
        while f"{state} for" not in told:
            time.sleep(0.001)
            told += capsys.readouterr().err

    with progress.tell("known") as follow:
        for place, _ in enumerate(follow([1, 2, 3, 4])):
            wait_for(f"known: {place / 4:.0%}")
    with progress.tell("unknown") as follow:
        for place, _ in enumerate(follow(iter([1, 2]))):
            wait_for(f"unknown: {place}" if place else "unknown")


def test_the_share_of_files_that_is_read(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.jsonl.gz", "b.jsonl"):
        write_rows(tmp_path / name, 500)
    for number in range(4):
        (tmp_path / "texts" / f"{number}.txt").write_text("a cat " * 1000)
    for paths in ([tmp_path / "a.jsonl.gz"], [tmp_path / "b.jsonl"], [tmp_path / "texts"]):
        reader, shares = SourceReader(Columns(), RowReader()), []
        for _ in reader.read(map(str, paths)):
            shares.append(reader.rows.amount.share)
        assert 0 < shares[0] < 1 or (len(paths) == 1 and shares[-1] == 1), paths
        assert shares == sorted(shares) and shares[-1] > 0.7, paths


def test_a_file_that_is_closed_while_its_share_is_asked_is_read(tmp_path):
    (tmp_path / "a").write_text("cats")
    amount = Amount()
    amount.expect([4, 4])
    with ExitStack() as reading:

        class Closed(io.FileIO):
            """As if the thread that reads were quicker."""

            def tell(self):
                reading.close()
                self.close()
                return super().tell()

        reading.enter_context(amount.of(Closed(tmp_path / "a")))
        assert amount.share == 0.5
    assert amount.share == 0.5


def test_deriving_yields_hundredths_to_the_library(tmp_path):
    write_rows(tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([(row["id"], row["text"]) for row in rows])
        lengths, steps = [], []

        def follow(items):
            lengths.append(len(items))
            for item in items:
                steps.append(item)
                yield item

        index.refresh("now", follow)
        assert lengths == [100] and steps == [*range(100)]
        index.refresh("now", follow)  # there is nothing to do
        assert lengths == [100]
