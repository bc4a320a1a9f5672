"""Power cuts: what a disk may hold if it lost, or cut, what was not synced, at any moment of a process that writes.

Each file operation of the writer is noted (power.c). A cut at one of them keeps all that was synced before, and of the
rest of each file any part: writes are lost, or torn at a sector. Names come and go in order, at least as far as the
folder was synced. After it the database has every write that had ended.

    python power.py write PATH STEPS CONTEXTS     the writer
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import crash
import numpy as np

from setsearch.scoring import best as kernels

OPEN, WRITE, CUT, SYNC, RENAME, UNLINK, LINK = range(7)
NAMES = (RENAME, UNLINK, LINK)
SECTOR = 512  # bytes that a disk writes at once
DONE = "done"  # the file in which the writer counts the steps that have ended


class Note(NamedTuple):
    """A file operation: of the file that was opened by a number, or of names."""

    kind: int
    file: int
    place: int
    data: bytes
    second: bytes


def record(folder: Path, steps: int, contexts: str, script: str = __file__) -> list[Note]:
    """What a process does to the files of a folder while it writes, as a script writes."""
    shim, log = folder / "power.so", folder / "notes"
    files = folder / "files"
    files.mkdir()
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", shim, Path(__file__).with_name("power.c"), "-ldl"], check=True
    )
    noted = {"LD_PRELOAD": str(shim), "POWER_FOLDER": str(files), "POWER_LOG": str(log)}
    command = [sys.executable, script, "write", str(files / "power.db"), str(steps), contexts]
    subprocess.run(command, env=os.environ | noted, check=True)
    data, place, notes = log.read_bytes(), 0, []
    while place < len(data):
        kind, file, at, length, more = np.frombuffer(data, np.int64, 5, place).tolist()
        middle = place + 40 + length
        notes.append(Note(kind, file, at, data[place + 40 : middle], data[middle : middle + more]))
        place = middle + more
    return notes


def write(path: Path, steps: int, contexts: str) -> None:
    """Begin, do the steps, and count them."""
    kernels.use_kernel("numpy")
    done = os.open(path.with_name(DONE), os.O_WRONLY | os.O_CREAT)
    state = crash.begin(path, contexts)
    for number in range(steps):
        os.write(done, b".")
        kind, given, state = crash.step(state, number)
        crash.write(path, kind, given, contexts)
    os.write(done, b".")


class Disk:
    """The files of a folder, as they are and as they may be after a cut."""

    def __init__(self) -> None:
        self.names: dict[bytes, int] = {}
        self.synced: dict[int, bytes] = {}  # what each file has for sure
        self.pending: dict[int, list[tuple[int, bytes | None]]] = {}  # place, data; None: cut there
        self.opened: dict[int, int] = {}  # of each number that was opened, the file
        self.named: list[dict[bytes, int]] = [{}]  # the names at each moment since the folder was synced
        self.folders: set[int] = set()
        self.ended = 0  # steps of the writer

    def apply(self, note: Note, folder: bytes) -> None:
        """Do what the writer did."""
        if note.kind == OPEN:
            if note.data == folder:
                self.folders.add(note.file)
                return
            if note.data not in self.names:
                self.names[note.data] = note.file
                self.synced[note.file], self.pending[note.file] = b"", []
                self._renamed()
            self.opened[note.file] = self.names[note.data]
            if note.place:
                self.pending[self.opened[note.file]].append((0, None))
        elif note.kind in NAMES:
            self._name(note)
            self._renamed()
        elif note.kind == SYNC and note.file in self.folders:
            self.named = self.named[-1:]
        elif note.file in self.opened:
            file = self.opened[note.file]
            if note.kind == SYNC:
                self.synced[file], self.pending[file] = _after(self.synced[file], self.pending[file]), []
                return
            self.pending[file].append((note.place, note.data if note.kind == WRITE else None))
            if self.names.get(folder + b"/" + DONE.encode()) == file:
                self.ended += 1

    def _name(self, note: Note) -> None:
        file = self.names.get(note.data, 0)
        if note.kind != LINK:
            self.names.pop(note.data, None)
        if note.kind != UNLINK:
            self.names[note.second] = file

    def _renamed(self) -> None:
        self.named.append(dict(self.names))

    def cut(self, rng: random.Random) -> dict[bytes, bytes]:
        """The files after a power cut."""
        names = rng.choice(self.named)
        return {name: self._left(file, rng) for name, file in names.items() if file in self.synced}

    def _left(self, file: int, rng: random.Random) -> bytes:
        kept, share = [], rng.choice((0.0, 0.5, 1.0))
        for place, data in self.pending[file]:
            if rng.random() >= share:
                continue
            end = None if data is None or rng.random() < 0.8 else rng.randrange(0, len(data) + 1, SECTOR)
            kept.append((place, data if data is None else data[:end]))
        return _after(self.synced[file], kept)


def _after(before: bytes, operations: list[tuple[int, bytes | None]]) -> bytes:
    data = bytearray(before)
    for place, written in operations:
        if written is None:
            data = data[:place].ljust(place, b"\0")
        else:
            data = data.ljust(place, b"\0")
            data[place : place + len(written)] = written
    return bytes(data)


def cuts(notes: list[Note], folder: bytes, times: int, rng: random.Random) -> Iterator[tuple[int, dict[bytes, bytes]]]:
    """The steps that had ended at some moments, and the files after a cut at each."""
    disk, moments = Disk(), sorted(rng.choices(range(len(notes)), k=times))
    for moment, note in enumerate(notes):
        disk.apply(note, folder)
        while moments and moments[0] == moment:
            moments.pop(0)
            yield disk.ended, disk.cut(rng)


def put(files: dict[bytes, bytes], place: Path) -> None:
    """Let these be the files of a folder."""
    for own in place.iterdir():
        own.unlink()
    for name, data in files.items():
        (place / Path(os.fsdecode(name)).name).write_bytes(data)


def torture(folder: Path, times: int, seed: int = 0, contexts: str = "on", steps: int = 40) -> dict[str, int]:
    """`times` power cuts at random moments of a process that does `steps`: none may lose a write that had ended."""
    kernels.use_kernel("numpy")
    notes, rng = record(folder, steps, contexts), random.Random(seed)
    states = {0: {f"d{n}": crash.text(random.Random(n)) for n in range(10)}}
    for number in range(steps):
        states[number + 1] = crash.step(states[number], number)[2]
    found = {"cuts": 0, "before the first write": 0, "the write that was cut is there": 0, "it is not": 0}
    written, place = os.fsencode(folder / "files"), folder / "after"
    place.mkdir()
    path = place / "power.db"
    for ended, files in cuts(notes, written, times, rng):
        put(files, place)
        found["cuts"] += 1
        if ended == 0 and not path.exists():
            found["before the first write"] += 1
            continue
        reached = crash.verify(path, {n: states[n] for n in (ended - 1, ended) if n in states}, contexts)
        found["the write that was cut is there" if reached == ended else "it is not"] += 1
    return found


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
