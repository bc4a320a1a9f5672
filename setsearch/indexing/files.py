"""Documents in files: which hold text, how they are decoded, and what their formats make of them."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from setsearch.errors import SetsearchError, SourceError, UsageError
from setsearch.indexing.encodings import LOOKED_AT, is_text
from setsearch.indexing.folders import ANY_FILE, Folder, FolderRules, is_lock
from setsearch.indexing.formats import (
    FORMATS,
    MAIL,
    RISKY,
    SAY_LITTLE,
    are_rows,
    form_by_content,
    form_of,
    is_workbook,
    unread_kind,
)
from setsearch.indexing.formats.apart import Job, Reader, read_parts
from setsearch.indexing.formats.chats import BESIDE_CHANNELS, PEOPLE, is_day, is_of_slack, people_of, with_people
from setsearch.indexing.formats.front_matter import Note
from setsearch.indexing.formats.part import Attached, Part, Skipped, Unread
from setsearch.indexing.formats.text import plain_text, source_code
from setsearch.indexing.libraries import MissingLibrary
from setsearch.indexing.references.identity import Copy
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.rows.archives import NEVER_READ, Room, is_plain_zip, packed_ending, unpacked
from setsearch.indexing.rows.opening import MOST_UNPACKED, TooMuch, open_file, read_whole
from setsearch.indexing.rows.reader import (
    ROW_FILES,
    RowReader,
    beginning,
    broken_bytes,
    file_ending,
    is_array,
    is_array_of,
    unreadable,
)
from setsearch.indexing.rows.workbooks import Sheet, below_asked
from setsearch.indexing.tally import Tally
from setsearch.sqlite.folders import HeldFolder
from setsearch.storage.ids import is_storable

NOTHING = "nothing of their format in them"
_PLAIN = (plain_text, source_code)  # formats whose bytes are the text

_DEEPEST = 5  # files attached to what is attached


class FileItem(NamedTuple):
    """A document of a file; notes and mail have columns."""

    id: str
    text: str
    title: str
    columns: Note | Mapping[str, Any] | None = None


class Ids:
    """The ids of a file and of all that is in it, which differ: a sender names files as he likes, also `a.txt (2)`."""

    def __init__(self, own: str) -> None:
        self._wanted = Counter([own])  # how often each was

    def new(self, id: str) -> str:
        """An id that nothing else of the file has."""
        self._wanted[id] += 1
        if self._wanted[id] == 1:
            return id
        while (own := f"{id} ({self._wanted[id]})") in self._wanted:
            self._wanted[id] += 1
        self._wanted[own] = 1
        return own


class Place(NamedTuple):
    """Where documents are: the path and the id of a file, or of one that is `attached`.

    A file that `is_named` by somebody is an error if it is no text, any other is left out. What is in a file has the
    same `ids`, and all archives in it the same `room`.
    """

    path: str
    id: str
    is_named: bool
    ids: Ids
    room: Room
    attached: Attached | None = None

    @classmethod
    def of_file(cls, path: Path | str, id: str, is_named: bool) -> "Place":
        """That of a file, or of a stream by its name."""
        return cls(str(path), id, is_named, Ids(id), Room())

    @property
    def ending(self) -> str:
        """The ending of the file."""
        return file_ending(Path(self.path))

    def within(self, file: Attached, name: str) -> "Place":
        """That of a file in this one; its name begins with what is between."""
        return self._replace(
            path=f"{self.path}{name}", id=self.ids.new(f"{self.id}{name}"), is_named=False, attached=file
        )


@dataclass
class FileReader:
    """Reads files as documents."""

    rows: RowReader
    folders: FolderRules = ANY_FILE
    apart: Reader = field(default_factory=Reader)
    tally: Tally = field(default_factory=Tally)
    people: dict[Path, dict[str, str]] = field(default_factory=dict)  # of Slack, by the folder of its channels

    def know_people(self, files: Sequence[Path]) -> None:
        """Read the names that exports of Slack among these files have beside their channels."""
        for path in files:
            if path.name != PEOPLE or not any(_is_of_slack(day) for day in files if day.parent.parent == path.parent):
                continue
            self.people[path.parent] = {}
            try:
                with open_file(path) as file:
                    text = read_whole(file, path, MOST_UNPACKED).decode("utf-8-sig")
                self.people[path.parent] = people_of(text)
            except (SourceError, ValueError) as error:
                self.rows.warn(f"{path} cannot be read, so messages have ids for people: {error}")

    def folder(self, root: Path) -> Folder:
        """A folder, of which what cannot be read is told as that of files."""
        return Folder(root, self.folders, self.leave_out, self._skip)

    def _skip(self, path: object, problem: str) -> None:
        error = SourceError(f"{path} cannot be read: {problem}; leave it out, or pass `errors=skip`")
        self.tell_skipped(error, f"{path}: {problem}")

    def tell_skipped(self, error: SetsearchError, what: str) -> None:
        """Raise an error, unless such files are skipped."""
        if self.rows.errors != "skip":
            raise error
        self.rows.warn(f"skipped {what}")

    def leave_out(self, path: Path, why: str) -> None:
        """Note that a file gave no document, or one less."""
        self.tally.left_out.setdefault(why, []).append(self.rows.shown(str(path)))

    def documents(self, path: Path, id: str, is_named: bool) -> Iterator[FileItem]:
        """The documents of a file. A file that is no text is an error if it `is_named`, else left out."""
        if is_lock(path.name):
            self.leave_out(path, "locks of office programs")
            return
        try:
            with open_file(path, self.rows.amount) as file:
                data = read_whole(file, path, None if is_named else MOST_UNPACKED)
        except SourceError as error:
            self.tally.failed.add(id)
            self.tally.empty.append(id)
            if isinstance(error, TooMuch) and not is_named:
                self.leave_out(path, f"more than {MOST_UNPACKED >> 20:,} MB")
            else:
                self.tell_skipped(error, str(error))
            return
        found = self._documents_in(data, Place.of_file(path, id, is_named))
        del data  # a large file is not kept while it is read apart
        yield from found

    def _documents_in(self, data: bytes, place: Place) -> Iterator[FileItem]:
        path, id = Path(place.path), place.id
        if (unread := unread_kind(data, place.ending)) is not None:
            if place.is_named:
                raise SourceError(f"{path} is not read: {unread}")
            self.leave_out(path, unread)
            self.tally.textless_now.add(id)
            return
        if path.parent in self.people and path.name in BESIDE_CHANNELS:
            self.leave_out(path, "what Slack has beside its channels")
            self.tally.empty.append(id)
            return
        if (people := self.people.get(path.parent.parent)) is not None:
            data = with_people(data, people) if data.strip() != b"[]" else b""  # a day without a message
        if not is_storable(id):
            self._skip(repr(id), "its name is no UTF-8 (rename it)")
            return
        by_ending = FORMATS.get(place.ending)
        is_known = form_by_content(data, by_ending) is not None or by_ending not in SAY_LITTLE
        may_be_none = not is_known and (by_ending is None or not place.is_named) and self.rows.encoding is None
        is_wanted = place.is_named and self.rows.errors == "replace"
        if (may_be_none or (by_ending is None and not is_known)) and not is_wanted and not is_text(data):
            if place.is_named:
                raise SourceError(unreadable(path))
            self.leave_out(path, "no text")
            self.tally.textless_now.add(id)
            return
        found = self.documents_of(data, place)
        del data
        yield from found

    def _attached(self, around: Place, file: Attached, name: str) -> Iterator[FileItem]:
        """The documents of a file that is attached; what cannot be read of it is told, and no error."""
        place, ending = around.within(file, name), file_ending(Path(file.name))
        path = Path(place.path)
        if ending in ROW_FILES or (is_array_of(file.data, ending) and are_rows(file.data[:LOOKED_AT])):
            self.leave_out(path, "tables in mail: save them, and name them one by one")
        elif file.depth > _DEEPEST:
            self.leave_out(path, "what is in too many files, one in another")
        else:
            rows, folders = replace(self.rows, errors="skip"), self.folders._replace(globs=())
            lenient = replace(self, rows=rows, folders=folders)
            named = packed_ending(file.name)
            is_zip = is_plain_zip(io.BytesIO(file.data), named is not None)
            packed = ".zip" if is_zip else None if named == ".zip" else named
            if packed is None:
                yield from lenient._documents_in(file.data, place)
                return
            try:
                yield from lenient._packed(place, file, packed)
            except SourceError as error:  # the mail has other files
                self.tally.failed.add(place.id)
                lenient.tell_skipped(error, str(error))

    def _packed(self, place: Place, file: Attached, ending: str) -> Iterator[FileItem]:
        """The documents of an archive that is attached, whose files are attached as it is. Raises SourceError."""
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(HeldFolder())
                archive = Path(folder).resolve() / f"attached{ending}"
                archive.write_bytes(file.data)
            except OSError as error:
                problem = f"cannot be unpacked into the folder of temporary files ({error.strerror})"
                raise SourceError(f"{place.path} {problem}; let TMPDIR name one with more room") from error

            def leave_out(member: Path, why: str) -> None:
                """Note that a member is not read, or not all of the archive."""
                self.leave_out(place.path / member, why)
                self.tally.failed |= set() if why in NEVER_READ else {place.id}

            with unpacked(archive, leave_out, place.room, place.path) as found:
                for member in self.folder(found.folder).files():
                    name = member.relative_to(found.folder).as_posix()
                    inner = Attached(member.name, member.read_bytes(), file.columns, depth=file.depth + 1)
                    yield from self._attached(place, inner, f"/{name}")

    def documents_of(self, data: bytes, place: Place) -> Iterator[FileItem]:
        """The documents that a file of these bytes holds, which may be attached to mail."""
        path, id, ending, around = place.path, place.id, place.ending, place.attached
        number, is_own = 0, False  # whether a document has the id of the file
        if not data or data.isspace():  # `strip` would copy it
            data, ending = b"", ""  # no format complains
        is_empty, has_sheets = not data, is_workbook(data, ending)
        parts = self._parts(Job(data, ending, path, self.rows.errors, self.rows.encoding), place.is_named)
        if form_of(data, ending) in MAIL:  # which is large, and whose bytes tell no more
            data = b""
        for part in parts:
            if isinstance(part, Unread):
                self.tally.unread[part.what] += part.number
                continue
            if isinstance(part, Attached):
                name = part.name if part.key is None else f"{part.key}#{part.name}"
                inner = part._replace(depth=1 if around is None else around.depth + 1)
                yield from self._attached(place, inner, f"#{name}")
                continue
            number += 1
            text = None if part is None else self._without_nul(part, path, data)
            if part is None or text is None:
                self.tally.failed.add(id)
                continue
            self.tally.cut += [self.rows.shown(path)] * (part.reference is not None and part.reference.is_cut)
            if part.reference is not None and text.strip():
                self._take(Copy(part.reference, id, number), path, data)
                continue
            if not text.strip():
                self._note_empty(part, path, id, number)
                continue
            own = id if part.key is None else f"{id}#{part.key}"
            own = place.ids.new(own) if is_own or own != id else id
            is_own |= own == id
            self.tally.with_rows += [self.rows.shown(path)] * has_sheets
            title = (part.title or (Path(path).name if around is None else around.name)).replace("\0", " ")
            is_message = isinstance(part.columns, dict)
            yield FileItem(own, text, title, part.columns if around is None or is_message else around.columns)
        if not number:
            self.leave_out(Path(path), "empty" if is_empty else NOTHING)
            self.tally.empty.append(id)
        elif not is_own and id not in self.tally.empty[-1:]:
            self.tally.empty.append(id)  # its records have names of their own; it may have been one text before

    def _note_empty(self, part: Part, path: str, id: str, number: int) -> None:
        if part.reference is not None:
            self.tally.textless.append(Copy(part.reference, path, number))
        elif part.key is not None:
            self.tally.unread["empty part{s} of files"] += 1
        else:
            self.leave_out(Path(path), "empty")
            self.tally.empty.append(id)

    def sheets(self, path: Path, are_read: bool = False) -> list[Sheet]:
        """The sheets of a workbook that have rows; what they lack is counted if they `are_read`. Raises SourceError."""
        with open_file(path) as file:
            data = read_whole(file, path, MOST_UNPACKED)
        if unread := unread_kind(data, file_ending(path)):
            raise SourceError(f"{path} is not read: {unread}")
        sheets = list[Sheet]()
        for outcome in self.apart.read(Job(data, file_ending(path), str(path), has_rows=True)):
            if outcome.error is not None:
                raise SourceError(f"{path} cannot be read: {outcome.error}; save it again") from outcome.error
            sheets += [part for part in outcome.parts if isinstance(part, Sheet)]
            for part in outcome.parts:
                if isinstance(part, Unread) and are_read:
                    self.tally.unread[part.what] += part.number
        sheets = [below_asked(sheet, self.rows.asked) for sheet in sheets]
        if not any(sheet.is_table for sheet in sheets):
            raise SourceError(
                f"{path} has no sheet with names of columns and rows below them; add a first line of names"
            )
        return sheets

    def _parts(self, job: Job, is_named: bool) -> Iterator[Part | Unread | Attached | None]:
        """What a format makes of a file, None for what is skipped. What its library raises becomes a SourceError."""
        name, problem = job.name, None
        outcomes = self.apart.read(job) if form_of(job.data, job.ending) in RISKY else read_parts(job)
        del job
        try:
            for outcome in outcomes:
                for warning in outcome.warnings:
                    self.rows.warn(warning)
                for encoding in outcome.decided:
                    self.rows.decide(encoding, name)
                yield from outcome.parts
                problem = outcome.error
        except TooMuch as error:
            if is_named:
                self.tell_skipped(error, str(error))
            else:
                self.leave_out(Path(name), f"more than {self.apart.seconds:g} s or {self.apart.megabytes} MB to read")
            yield None
            return
        if problem is None:
            return
        if isinstance(problem, UsageError):  # an unknown encoding
            raise problem
        if isinstance(problem, MissingLibrary) and not is_named and self.rows.errors == "skip":
            self.leave_out(Path(name), str(problem))  # once for all such files
        elif isinstance(problem, SetsearchError):
            told = str(problem) if name in str(problem) else f"{name}: {problem}"
            self.tell_skipped(type(problem)(told), told)
        elif not isinstance(problem, Skipped):
            self._skip(name, str(problem) or type(problem).__name__)
        yield None

    def _without_nul(self, part: Part, path: str, data: bytes) -> str | None:
        """The text of a part. What a library extracted may have NUL for letters that it does not know."""
        if "\0" not in part.text:
            return part.text
        is_plain = form_of(data, file_ending(Path(path))) in _PLAIN
        if self.rows.errors == "replace" or not is_plain or part.text.count("\0") != data.count(b"\0"):
            return part.text.replace("\0", " ")
        problem = f"not text (NUL at byte {data.find(0)})"
        error = SourceError(f"{path} is {problem}; leave it out, or pass `errors=replace` or `errors=skip`")
        self.tell_skipped(error, f"{path}: {problem}")
        return None

    def _take(self, copy: Copy, path: str, data: bytes) -> None:
        if self._is_whole(copy.reference, path, data):
            self.tally.references.append(copy)
        else:
            self.tally.failed.add(copy.file)

    def _is_whole(self, reference: Reference, path: str, data: bytes) -> bool:
        """Whether all of a record is text. Else it is skipped, with its line."""
        for value in (reference.key, *(value for _, value in reference.fields)) if self.rows.errors == "skip" else ():
            if (broken := broken_bytes(value)) is not None:
                line = next(own for own in value.splitlines() if broken_bytes(own)).encode("utf-8", "surrogateescape")
                place = data[: data.find(line)].count(b"\n") + 1
                named = self.rows.encoding or "UTF-8"
                self.rows.warn(f"skipped {path}, line {place}: invalid {named} in {broken}; `errors=replace` reads it")
                return False
        return True


def _is_of_slack(day: Path) -> bool:
    """Whether a file is a day of a channel of Slack, with messages."""
    with suppress(SourceError):
        return is_day(day.name) is not None and is_of_slack(beginning(day))
    return False


def is_document(path: Path) -> bool:
    """Whether a file holds documents, not rows: by its beginning, or by its ending."""
    if file_ending(path) in ROW_FILES:
        return path.is_file() and not are_rows(beginning(path))
    return not is_array(path) or not are_rows(beginning(path))
