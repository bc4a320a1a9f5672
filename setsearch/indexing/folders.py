"""The files of a folder: which are read, once each, where links lead, and what may not be read."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from setsearch.errors import SourceError

_BESIDE = re.compile("(-new|-lock)?(-journal|-wal|-shm)?|-arrays-.*", re.DOTALL)  # behind the name of a database


class FolderRules(NamedTuple):
    """Which files of a folder are read: `globs` choose some, `follow` goes where links lead out of it.

    The files of the `database` that is written are none of a user. `errors` are those of the reader, unless some are
    given for folders.
    """

    globs: tuple[str, ...] = ()
    follow: bool = False
    database: Path | None = None
    errors: str | None = None

    def wants(self, path: Path) -> bool:
        """Whether a file, by its path below the folder, is one of those that were chosen."""
        name = path.as_posix()
        return not self.globs or any(fnmatch(name, glob) or fnmatch(path.name, glob) for glob in self.globs)

    def is_of_database(self, path: Path) -> bool:
        """Whether a file is the database, or one beside it."""
        own = self.database
        if own is None or not path.name.startswith(own.name) or not _BESIDE.fullmatch(path.name, len(own.name)):
            return False
        return path.parent.resolve() == own.parent.resolve()


ANY_FILE = FolderRules()


class Folder:
    """Finds the files of a folder, each once, without hidden ones; those that are `shut` may not be read.

    `leave_out` gets a path that is not read, and why; `skip` one that cannot be, and may raise SourceError.
    """

    def __init__(
        self,
        root: Path,
        rules: FolderRules,
        leave_out: Callable[[Path, str], None],
        skip: Callable[[object, str], None],
    ) -> None:
        self.root, self.rules, self.shut = root, rules, list[Path]()
        self._resolved, self._leave_out, self._skip = root.resolve(), leave_out, skip

    def files(self) -> list[Path]:
        """The files, in the order of their paths. Raises SourceError if there is none."""
        found: dict[tuple[int, int], list[Path]] = {}
        for path in sorted(self._walk(), key=lambda path: (path.is_symlink(), path)):
            status = path.stat()
            same = found.setdefault((status.st_dev, status.st_ino), [])
            if not same or not path.is_symlink():  # a link to a file that is read anyway
                same.append(path)
        if not found:
            globs = self.rules.globs
            wanted = f" like {' or '.join(globs)}" if globs else ""
            raise SourceError(f"{self.root} holds no file{wanted}; hidden files are left out")
        return sorted(chain.from_iterable(found.values()))

    def _walk(self) -> Iterator[Path]:
        """Everything in the folder and in those below it, linked ones included. Raises SourceError."""

        def refuse(error: OSError) -> None:
            """A folder that may not be read."""
            self._skip(error.filename, error.strerror or str(error))
            self.shut.append(Path(error.filename))

        seen, waiting = set[tuple[int, int]](), [self.root]
        for top in waiting:  # links come after all folders, whose files keep their paths
            for place, folders, names in os.walk(top, onerror=refuse):
                here = Path(place)
                status = here.stat()
                if (status.st_dev, status.st_ino) in seen:  # a link leads back, or there twice
                    folders.clear()
                    continue
                seen.add((status.st_dev, status.st_ino))
                # A hidden folder may be one of a Maildir, such as .Sent.
                shown = sorted(name for name in folders if not name.startswith(".") or (here / name / "cur").is_dir())
                links = [name for name in shown if (here / name).is_symlink()]
                waiting += [here / name for name in links if self._may_follow(here / name)]
                folders[:] = [name for name in shown if name not in links]
                wanted = (name for name in names if self.rules.wants((here / name).relative_to(self.root)))
                yield from self._files_of(here, wanted)

    def _files_of(self, place: Path, names: Iterable[str]) -> Iterator[Path]:
        for name in names:
            path = place / name
            if (name.startswith(".") and not is_lock(name)) or self.rules.is_of_database(path):
                continue
            try:
                if not path.exists():
                    self._leave_out(path, "links that lead nowhere")
                elif not path.is_file():
                    self._leave_out(path, "pipes, sockets and devices")
                elif not path.is_symlink() or self._may_follow(path):
                    yield path
            except OSError as error:  # the folder may be listed, but not entered
                self._skip(path, error.strerror or str(error))
                self.shut.append(path)

    def _may_follow(self, link: Path) -> bool:
        """Whether a link stays in the folder, or links may lead out of it."""
        if self.rules.follow or link.resolve().is_relative_to(self._resolved):
            return True
        self._leave_out(link, "links that lead out of the folder (`follow` reads them)")
        return False


def is_lock(name: str) -> bool:
    """Whether a file is the lock of an office program beside a document that is open."""
    return name.startswith("~$") or (name.startswith(".~lock.") and name.endswith("#"))
