"""Documents in files: which files of a folder hold text, how they are decoded, and what their formats make of them."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from setsearch.errors import SetsearchError, SourceError, UsageError
from setsearch.indexing.encodings import encoding_by_mark
from setsearch.indexing.formats import FORMATS, LOOKED_AT, Part, is_manual, mailbox, manual, plain_text
from setsearch.indexing.rows import ROW_FILES, RowReader, file_ending, open_file, unreadable
from setsearch.storage.names import is_storable

MOST_CONTROLS = 0.05  # share of control characters in a text
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\x1b"))

FileItem = tuple[str, str, str | None]


@dataclass
class FileReader:
    """Reads files as documents. `globs` choose among those of a folder; `left_out` names others by the reason.

    `empty` are the ids of files without a document, which may have had one before.
    """

    rows: RowReader
    globs: tuple[str, ...] = ()
    left_out: dict[str, list[str]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)

    def files(self, folder: Path) -> list[Path]:
        """The files of a folder, without hidden ones, in the order of their paths. Raises SourceError if none is."""
        found = sorted(path for path in self._walk(folder) if self._is_wanted(path.relative_to(folder)))
        if not found:
            wanted = f" like {' or '.join(self.globs)}" if self.globs else ""
            raise SourceError(f"{folder} holds no file{wanted}; hidden files are left out")
        return found

    def _walk(self, folder: Path) -> Iterator[Path]:
        """Everything in a folder and in those below it, linked ones included. Raises SourceError."""

        def refuse(error: OSError) -> None:
            """A folder that may not be read."""
            self._skip(error.filename, error.strerror or str(error))

        seen, waiting = set[tuple[int, int]](), [folder]
        for top in waiting:  # links come after all folders, whose files keep their paths
            for place, folders, names in os.walk(top, onerror=refuse):
                here = Path(place)
                status = here.stat()
                if (status.st_dev, status.st_ino) in seen:  # a link leads back, or there twice
                    folders.clear()
                    continue
                seen.add((status.st_dev, status.st_ino))
                shown = sorted(name for name in folders if not name.startswith("."))
                links = [name for name in shown if (here / name).is_symlink()]
                waiting += [here / name for name in links]
                folders[:] = [name for name in shown if name not in links]
                yield from self._files_of(here, names)

    def _files_of(self, place: Path, names: Iterable[str]) -> Iterator[Path]:
        for name in names:
            try:
                if (place / name).is_file():
                    yield place / name
            except OSError as error:  # the folder may be listed, but not entered
                self._skip(place / name, error.strerror or str(error))

    def _skip(self, path: object, problem: str) -> None:
        error = SourceError(f"{path} cannot be read: {problem}; leave it out, or pass `errors=skip`")
        self._tell_skipped(error, f"{path}: {problem}")

    def _tell_skipped(self, error: SetsearchError, what: str) -> None:
        """Raise an error, unless such files are skipped."""
        if self.rows.errors != "skip":
            raise error
        self.rows.warn(f"skipped {what}")

    def leave_out(self, path: Path, why: str) -> None:
        """Note that a file gave no document, or one less."""
        self.left_out.setdefault(why, []).append(str(path))

    def documents(self, path: Path, id: str, is_named: bool) -> Iterator[FileItem]:
        """The documents of a file. A file that is no text is an error if it `is_named`, else left out."""
        try:
            with open_file(path) as file:
                data = file.read()
        except SourceError as error:
            self._tell_skipped(error, str(error))
            return
        form = FORMATS.get(file_ending(path))
        may_be_none = form is None or (form is plain_text and not is_named and self.rows.encoding is None)
        if may_be_none and not is_text(data):
            if is_named:
                raise SourceError(unreadable(path))
            self.leave_out(path, "no text")
            return
        if form is None:
            form = mailbox if data.startswith(b"From ") else manual if is_manual(data) else plain_text
        if not is_storable(id):
            self._skip(repr(id), "its name is no UTF-8 (rename it)")
            return
        number, times = 0, Counter[str]()
        for part in self._parts(path, data, form):
            number += 1
            text = None if part is None else self._without_nul(part.text, path, data)
            if part is None or text is None:
                continue
            if not text.strip():
                self.leave_out(path, "empty")
                self.empty.append(id)
                continue
            own = id if part.key is None else f"{id}#{part.key}"
            times[own] += 1  # of several databases, a file may have a record twice
            own = own if times[own] == 1 else f"{own} ({times[own]})"
            yield own, text, (part.title or path.name).replace("\0", " ")
        if not number:
            self.leave_out(path, "empty")
            self.empty.append(id)

    def _is_wanted(self, path: Path) -> bool:
        if any(part.startswith(".") for part in path.parts):
            return False
        name = path.as_posix()
        return not self.globs or any(fnmatch(name, glob) or fnmatch(path.name, glob) for glob in self.globs)

    def _parts(self, path: Path, data: bytes, form: object) -> Iterator[Part | None]:
        """What a format makes of a file, None for what is skipped. What its library raises becomes a SourceError."""

        def decode(own: bytes) -> str:
            """As the options say."""
            text = self.rows.decode_file(own, str(path))
            if text is None:
                raise _Skipped
            return text

        try:
            yield from form(data, decode)  # type: ignore[operator]
        except _Skipped:
            yield None
        except UsageError:  # an unknown encoding
            raise
        except SetsearchError as error:
            self._tell_skipped(error, f"{path}: {error}")
            yield None
        except RecursionError as error:
            raise SourceError(f"{path} cannot be read: it is nested too deeply; leave it out") from error
        except Exception as error:  # a library may raise anything on broken input
            self._skip(path, " ".join(str(error).split())[:200] or type(error).__name__)
            yield None

    def _without_nul(self, text: str, path: Path, data: bytes) -> str | None:
        if "\0" not in text:
            return text
        if self.rows.errors == "strict":
            position = data.find(b"\0")
            raise SourceError(f"{path} is not text (NUL at byte {position}); leave it out, or pass `errors=skip`")
        if self.rows.errors == "skip":
            self.rows.warn(f"skipped {path}: not text")
            return None
        return text.replace("\0", " ")


class _Skipped(Exception):
    """A file that could not be decoded, and shall be skipped."""


def is_document(path: Path) -> bool:
    """Whether a file holds documents, not rows."""
    return file_ending(path) not in ROW_FILES


def is_text(data: bytes) -> bool:
    """Whether bytes look like a text in some encoding."""
    start = data[:LOOKED_AT]
    if encoding_by_mark(start) is not None:  # such texts have zeros
        return True
    return len(start.translate(None, _CONTROLS)) >= len(start) * (1 - MOST_CONTROLS) and b"\0" not in start
