"""Archives of files, unpacked into a folder that goes again: as far as they may be long, and nothing beside it."""

import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from tarfile import EOFHeaderError, HeaderError, ReadError  # type: ignore[attr-defined]
from typing import IO, NamedTuple

from setsearch.errors import SourceError
from setsearch.indexing.rows.opening import MOST_UNPACKED, TooMuch
from setsearch.sqlite.folders import HeldFolder

try:
    from lzma import LZMAError
except ImportError:  # a Python may be built without it, as that of a browser is; then tarfile tells it
    from tarfile import CompressionError as LZMAError  # type: ignore[assignment]

ENDINGS = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".jex")
MOST_MEMBERS, LONGEST_LIST = 100_000, 1 << 24  # of an archive; bytes of the list of a .zip
DEEPEST = 3  # archives, one in another
PIECE = 1 << 20  # bytes that are written at once
BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError),
    *(OSError, EOFError, NotImplementedError, RuntimeError, ValueError),
)
LINKS, OUTSIDE = "links of an archive", "names that lead out of their archive"
NEVER_READ = LINKS, OUTSIDE  # so that an index cannot have them of an earlier time
OF_DOCUMENTS = {"[Content_Types].xml", "mimetype", "META-INF/container.xml"}  # members of what is no plain archive
_foreign = re.compile(r"[^\x00-\x7f]+")
_UTF8 = 0x800  # of the flags of a member: its name is UTF-8


@dataclass
class Room:
    """How much an archive, and all archives within it, may still unpack, and how many are open, one in another."""

    depth: int = 0
    bytes: int = field(default_factory=lambda: MOST_UNPACKED)
    members: int = field(default_factory=lambda: MOST_MEMBERS)

    def fill(self, path: Path, size: int) -> None:
        """Take some bytes; raises TooMuch."""
        self.bytes -= size
        if self.bytes < 0:
            raise TooMuch(f"{path} unpacks to more than {MOST_UNPACKED >> 20:,} MB; unpack it")

    def count(self, path: Path) -> None:
        """Take one more member; raises TooMuch."""
        self.members -= 1
        if self.members < 0:
            raise TooMuch(f"{path} has more than {MOST_MEMBERS:,} members; unpack it")


LeaveOut = Callable[[Path, str], None]  # the path of a member, or an empty one: the rest of the archive; and why


class Unpacked(NamedTuple):
    """The `folder` with the files of an archive, where this is, and what people call it."""

    folder: Path
    archive: Path
    name: str

    def told(self, message: str) -> str:
        """A message that names the archive, not a folder of temporary files."""
        return message.replace(str(self.folder), self.name).replace(str(self.archive), self.name)


class _Bounded(io.FileIO):
    """A file of which only so much is read at once: the list of an archive may be as long as it likes."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LONGEST_LIST:
            raise TooMuch(f"{self.name} lists too many members; unpack it")
        return super().read(size) or b""


class _Member(tarfile.TarInfo):
    """A member of a .tar, which ends with zeros. For tarfile it ends without them, and at a broken header, too."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> "_Member":
        """The next member; raises ReadError where there is none, and no end."""
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as error:
            if isinstance(error, EOFHeaderError):
                raise
            raise ReadError(str(error)) from error


def packed_ending(name: str) -> str | None:
    """The ending of a name that archives have; None for any other."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, not a document that is kept in one."""
    name = path.name.lower()
    if (path.suffix and not name.endswith(ENDINGS)) or not path.is_file():
        return False
    try:
        if name.endswith(ENDINGS[1:]):
            return tarfile.is_tarfile(path)
        with _Bounded(path) as file:
            return is_plain_zip(file, path.suffix != "")
    except (EOFError, zlib.error):  # what is broken is told where it is unpacked
        return True
    except OSError:
        return False


def is_plain_zip(file: IO[bytes], is_named: bool) -> bool:
    """Whether an open file is a .zip, not a document of an office program or a book; a broken one, if its name says it.

    What is broken is told where it is unpacked.
    """
    if not file.read(4).startswith((b"PK\3\4", b"PK\5\6")):
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return not OF_DOCUMENTS & {*archive.namelist()}
    except (SourceError, *BROKEN):
        return is_named


@contextmanager
def unpacked(path: Path, leave_out: LeaveOut, room: Room, name: str | None = None) -> Iterator[Unpacked]:
    """The files of an archive, in a folder. What cannot be read of it is left out.

    Raises SourceError, TooMuch; these, and those of the block, call the archive by its `name`, else by its path.
    """
    with HeldFolder() as place:
        found = Unpacked(Path(place).resolve(), path, name or str(path))
        room.depth += 1
        try:
            _unpack(found, leave_out, room)
            yield found
        except SourceError as error:
            raise type(error)(found.told(str(error))) from error
        finally:
            room.depth -= 1


def _unpack(found: Unpacked, leave_out: LeaveOut, room: Room) -> None:
    path = found.archive
    for name, open_member in _members(path, leave_out):
        room.count(path)
        target = _target(found.folder, name)
        if target is None:
            leave_out(Path("member"), OUTSIDE)
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_member() as file, target.open("wb") as out:
                while piece := file.read(PIECE):
                    room.fill(path, len(piece))
                    out.write(piece)
        except SourceError:
            raise
        except BROKEN as error:
            with suppress(OSError):
                target.unlink(missing_ok=True)
            what = "members that are broken, or packed as is not known"
            leave_out(Path(name), (isinstance(error, OSError) and error.strerror) or what)


def _members(path: Path, leave_out: LeaveOut) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """The files of an archive, each to be opened before the next one comes. Raises SourceError."""
    try:
        yield from (_of_tar if path.name.lower().endswith(ENDINGS[1:]) else _of_zip)(path, leave_out)
    except SourceError:
        raise
    except BROKEN as error:
        if isinstance(error, OSError) and error.strerror:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        leave_out(Path(), "archives that break off")


def _of_zip(path: Path, leave_out: LeaveOut) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    with _Bounded(path) as plain, zipfile.ZipFile(plain) as archive:
        for info in archive.infolist():
            name = _zip_name(info)
            if info.flag_bits & 1:
                leave_out(Path(name), "encrypted")
            elif stat.S_ISLNK(info.external_attr >> 16):
                leave_out(Path(name), LINKS)
            elif not info.is_dir():
                yield name, partial(archive.open, info)


def _of_tar(path: Path, leave_out: LeaveOut) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    with tarfile.open(path, "r|*", errors="surrogateescape", tarinfo=_Member) as archive:
        for own in archive:
            if own.isreg():
                yield own.name, partial(archive.extractfile, own)  # type: ignore[misc]
            elif not own.isdir():
                leave_out(Path(own.name), LINKS)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name of a member, in the encoding that it looks like: few programs say that it is UTF-8."""
    if info.flag_bits & _UTF8 or info.filename.isascii():
        return info.filename
    raw = info.filename.encode("cp437")
    with suppress(UnicodeDecodeError):
        return raw.decode()
    with suppress(UnicodeDecodeError):
        japanese = raw.decode("cp932")
        if all(len(run) > 1 and run.isalpha() for run in _foreign.findall(japanese)):
            return japanese
    return info.filename


def _target(folder: Path, name: str) -> Path | None:
    """Where a member goes; None if that were elsewhere than in the folder."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name or ":" in parts[0]:
        return None
    return folder.joinpath(*parts)
