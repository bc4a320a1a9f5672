"""What to say of the sources that `index` has read: what was written, what was left out, and why."""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsearch.cli.messages import first_of, say, say_lines
from setsearch.errors import UnknownReading, number_of
from setsearch.options import TEXT_FIELD
from setsearch.storage.ids import in_number

if TYPE_CHECKING:
    from setsearch.index import Index
    from setsearch.indexing.sources import SourceReader
    from setsearch.storage.synced_source import Columns

SHOWN_SKIPS, SHOWN_MERGED = 20, 10  # lines
MOSTLY = 0.5  # of the terms are pairs of characters
UNUSUAL = 0.35  # of the characters are in no word; of prose 2 to 10 %, of programs up to 31 %


def tell_indexed(index: "Index", written: int, db: str) -> None:
    """How many items were written, what the index holds now, and what is unusual about them."""
    content = index.info()
    parts = [in_number(r["item_count"], r["items"]) for r in content["readings"]]
    if content["contexts"]:
        parts.append(f"{content['contexts']['terms']:,} of them in context")
    parts += [f"vectors of {own['count']:,} {name}" for name, own in content["vectors"].items()]
    say(f"indexed {written:,}; {db} now holds {', '.join(parts)}")
    if index.lost:
        what = f"{number_of(index.lost, 'entry')} {'is' if index.lost == 1 else 'are'} gone"
        say(f"{what} that items had before: give all rows of an item in one call")
    if index.unread_share > UNUSUAL:
        signs = "are these drawings, data, or in another encoding (--encoding)? --glob chooses files"
        say(f"{index.unread_share:.0%} of the characters are in no word, which is unusual: {signs}")
    if index.paired_share > MOSTLY and written == content["readings"][0]["item_count"]:  # it is time to begin anew
        what = f"{index.paired_share:.0%} of the terms are pairs of characters, of texts without blanks"
        say(f"{what}; --analyzer icu (pip install 'setsearch[icu]') knows the words, in a new database")


def tell_left_out(reader: "SourceReader", replace: bool) -> None:
    """Everything that is not in the index, or not as somebody may expect it."""
    for why, names in sorted(reader.tally.left_out.items()):
        say(f"left out {_files(names)}: {why}")
    if unread := reader.tally.not_read():
        say(f"not read: {', '.join(unread)}")
    if reader.tally.with_rows:
        say(f"read {_files(reader.tally.with_rows)} as a document each; --text COL reads their rows")
    if reader.tally.cut:
        say(f"{_files(reader.tally.cut)} without an end of the last record: the download may have broken off")
    if len(reader.tally.skipped) > SHOWN_SKIPS:
        say(f"skipped {len(reader.tally.skipped):,} in all")
    for encoding, names in sorted(reader.rows.decided.items()):
        say(f"read {_files(names)} as {encoding}; --encoding names another one")
    if reader.tally.numbered:
        say(f"no column 'id' in {first_of(reader.tally.numbered)}: rows are numbered (--id names a column)")
    _tell_references(reader)
    stay = {"what was there": reader.tally.kept, "nothing": reader.tally.failed - reader.tally.kept}
    for what, files in stay.items() if replace else ():
        if files:
            say(f"--replace kept {what} of {_files(sorted(files))}, which could not be read")


def tell_moved(index: "Index") -> None:
    """Which documents go by other names."""
    moved = [f"{old} is {new}" for old, new in index.moved.items()]
    say_lines(f"saved sets follow {number_of(len(moved), 'document')} to other names", moved, SHOWN_MERGED)


def tell_others(index: "Index", reader: "SourceReader", sources: list[str], db: str) -> None:
    """Which documents stay that whole folders have no more, or not with a text."""
    kept = list[str]()  # files that are empty now, and had a text when they were indexed before
    if reader.tally.empty:
        with suppress(UnknownReading):
            kept = [id for id in index.items("documents").titles(reader.tally.empty) if id not in reader.tally.seen]
    if kept:
        way_out = shlex.join(["setsearch", "delete", db, *kept[:1]])
        say(f"the index keeps the earlier text of {_files(kept)}; `{way_out}` deletes it")
    are_folders = bool(sources) and all(Path(source).is_dir() for source in sources)
    if index.altered and are_folders:
        what = f"{number_of(index.altered, 'document')} changed ({first_of(index.some_altered)})"
        say(f"{what}; if another folder has files of these names, index both in one command, with --replace")
    number = index.not_given - len(kept)
    if number > 0 and are_folders and not reader.tally.failed:
        stay = f"{number:,} document{'s stay that are' if number > 1 else ' stays that is'}"
        say(f"{stay} not in {', '.join(sources)}; --replace deletes what is not given")


def tell_without_fields(index: "Index", before: list[dict[str, Any]], columns: "Columns") -> None:
    """Which fields new documents lack because no column was named for them; those that were there keep theirs."""
    given = {TEXT_FIELD, *(name for name, _ in (*columns.named, *columns.numbered))}
    counts = {own["items"]: own["item_count"] for own in index.readings()}
    for own in before:
        lacking = [name for name in own["fields"] if name not in given]
        number = counts.get(own["items"], 0) - own["item_count"]
        if lacking and number > 0:
            way_out = "--tags, --links and --numbers name their columns"
            verb = "are" if number > 1 else "is"
            say(f"{in_number(number, own['items'])} {verb} new, without the fields {first_of(lacking)}: {way_out}")


def tell_replaced(index: "Index", before: list[dict[str, Any]]) -> None:
    """Which fields and kept columns went with what was replaced, because they were not named again."""
    now = {own["items"]: own for own in index.readings()}
    for own in before:
        for what in ("fields", "columns"):
            stays = {TEXT_FIELD, *now.get(own["items"], own)[what]}
            lost = [name for name in own[what] if name not in stays]
            if lost:
                say(f"--replace took the {what} {first_of(lost)}: name them again to have them")


def _tell_references(reader: "SourceReader") -> None:
    """Which references came several times, and which have names of an earlier version."""
    merged, older, bare = reader.tally.filed.merged, reader.tally.filed.older, reader.tally.filed.bare
    if textless := [reader.rows.shown(copy.position) for copy in reader.tally.textless]:
        say(f"left out {number_of(len(textless), 'reference')} without a text ({first_of(textless)})")
    if bare:
        say(f"{number_of(len(bare), 'reference')} without an abstract ({first_of(bare)})")
    what = f"merged {number_of(len(merged), 'reference')} that came several times"
    say_lines(what, [f"{name}: {', '.join(files)}" for name, files in merged.items()], SHOWN_MERGED)
    if older:
        shown = f"{number_of(len(older), 'reference')} ({first_of(older)})"
        say(f"{shown} keep their ids of an earlier version; --replace gives them a DOI, a PMID or their own key")


def _files(names: list[str]) -> str:
    """How many files, and the first of them."""
    names = list(dict.fromkeys(names))
    return f"{number_of(len(names), 'file')} ({first_of(names)})"
