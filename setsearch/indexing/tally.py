"""What became of the files and rows that are read, beside the items that they give."""

import re
from collections import Counter
from dataclasses import dataclass, field

from setsearch.indexing.references.identity import Copy, Filed

_ends = re.compile(r"[#/]| \(|\Z")  # of the id of a file or folder within that of an item


@dataclass
class Tally:
    """What was left out, and what a user may expect otherwise; all that read one set of sources have the same.

    `left_out` names files by the reason, `unread` counts what gave no text. `empty` are the ids of files without a
    document of this id, which may have had one before. `references` wait until all are there: one may be in several
    files. `cut` names files that end within a record.
    """

    left_out: dict[str, list[str]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    empty: list[str] = field(default_factory=list)
    references: list[Copy] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    with_rows: list[str] = field(default_factory=list)  # files whose rows became one document
    textless: list[Copy] = field(default_factory=list)  # references without a text
    filed: Filed = field(default_factory=Filed)
    skipped: list[str] = field(default_factory=list)  # what readers of rows warned of
    numbered: list[str] = field(default_factory=list)  # files whose rows have no ids
    columns: set[str] = field(
        default_factory=set
    )  # that documents had beside their texts; of rows those that are asked
    seen: set[str] = field(default_factory=set)  # ids of rows
    failed: set[str] = field(default_factory=set)  # ids of files, archives and folders that could not be read this time
    textless_now: set[str] = field(default_factory=set)  # ids of files that are no text, but may have been one before
    broken_off: set[str] = field(default_factory=set)  # of these, archives whose name no id has: any item may be theirs
    kept: set[str] = field(default_factory=set)  # those that failed and whose items stay

    def keep(self, id: str) -> bool:
        """Whether an item stays because its file, archive or folder could not be read, or is no text."""
        files = {id[: end.start()] for end in _ends.finditer(id)}
        found = files & self.failed | files & self.textless_now | self.broken_off
        self.kept |= found
        return bool(found)

    def not_read(self) -> list[str]:
        """What gave no text, with its numbers."""
        counts = sorted(self.unread.items())
        return [f"{count:,} {what.format(s='s' * (count > 1))}" for what, count in counts if count]
