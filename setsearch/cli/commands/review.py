"""The command that reviews items one by one: yes, no, later; what is found so far, and when to stop."""

import os
import shlex
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from setsearch.answers.results import Hit
from setsearch.answers.saved.groups import unknown_set
from setsearch.cli.dialogue import typed_lines, without_options
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import first_of, say, say_lines
from setsearch.cli.options import Collection, Items
from setsearch.cli.output import bars
from setsearch.cli.progress import tell
from setsearch.errors import AnsweredMeanwhile, ChangedSet, Interrupted, NoSeeds, SetsearchError, UsageError, number_of

if TYPE_CHECKING:
    from setsearch.answers.saved.decisions import Decision
    from setsearch.learning.known_answers import Known
    from setsearch.learning.review import Review

ANSWERS = {"y": "yes", "n": "no", "l": "later"}
LONGEST = 1500  # characters of a text
HELP = """y  yes, it belongs
n  no; a reason may follow: n wrong population
l  later: it comes back at the end
m  a note: m ask Ann; without an answer it comes back at the end
u  undo the last answer or note
!  overrule what somebody else has answered meanwhile
w  why: the features of this one
t  the whole text
q  done for now; every answer is kept"""
DECIDED = "all are decided; u undo, q done"


def review(
    db: Collection,
    name: Annotated[str, argument("NAME", "The name of the review.")],
    seeds: Annotated[list[str] | None, argument("ID...", "Items known to belong, to begin with.")] = None,
    *,
    no: Annotated[list[str] | None, option("ID", "An item known not to; may be repeated.")] = None,
    known: Annotated[
        str | None, option("FILE", "Answers known before: rows (item, decision), or references with notes.")
    ] = None,
    export: Annotated[
        Path | None, option("FILE", "Write all with their answers, .csv, .ris, .bib, .nbib, .ciw, .enw, and end.")
    ] = None,
    replace: Annotated[bool, flag("--replace", "Replace the file of --export.")] = False,
    items: Items = None,
    recall: Annotated[float, option("R", "The share that is to be found.")] = 0.95,
) -> None:
    """Say yes or no to one item after another, the likeliest first, until enough are found.

    Each answer is kept at once, and changes what comes next. Answers are a saved set; `serve` shows the same review.

    Example: setsearch review notes.db dances waltz
    """
    from setsearch.learning.known_answers import read_known
    from setsearch.learning.review import Review

    if export is not None:
        _require_export(export, replace)
    with db.open() as index:
        if export is not None and name not in index.sets() and not (seeds or no or known is not None):
            raise unknown_set(name, index.sets())
        is_new = name not in index.sets()
        current = Review(index, name, items, recall=recall)
        _tell_changed(current.know(seeds or (), no or ()), {})
        if known is not None:
            given = {current.reading.find(own): "yes" for own in seeds or ()}
            given |= {current.reading.find(own): "no" for own in no or ()}
            answers = read_known(known, current.reading, given)
            changed = current.know(answers.accepted, answers.rejected, answers.texts)
            _tell_known(known, answers)
            _tell_changed(changed, answers.places)
        if is_new and name in index.sets():
            say(f"{name}: a new review")
        if export is not None:
            _export(current, export)
            return
        own = f"setsearch review {shlex.quote(str(db))} {shlex.quote(name)}"
        try:
            way_on = f"it is finished, `{own} --export FILE` writes it" if _run(current) else f"`{own}` goes on"
            say(f"{name}: {_state(current)}; {way_on}")
        except NoSeeds as error:
            raise NoSeeds(f'{error}: `{own} "TITLE"`, or several with `--known FILE`') from error
        except ChangedSet as error:
            raise ChangedSet(f'somebody has deleted the set {name!r}; `{own} "TITLE"` begins it anew') from error
        except KeyboardInterrupt as error:
            raise Interrupted("stopped; every answer is kept") from error


def _kind(export: Path) -> str:
    """The kind of a file, by its ending."""
    return export.suffix.removeprefix(".").lower()


def _require_export(export: Path, replace: bool) -> None:
    """Raise UsageError for a file that cannot be written, or is there already."""
    from setsearch.learning.review_files import KINDS

    if _kind(export) not in KINDS:
        raise UsageError(f"--export writes {', '.join(f'.{own}' for own in KINDS)}, not {export.name!r}")
    if export.exists() and not replace:
        raise UsageError(f"{export} exists already; name a new file, or replace it with --replace")


def _export(review: "Review", export: Path) -> None:
    """Write a review to a file."""
    from setsearch.learning.review_files import Dropped, write_review

    kind, dropped = _kind(export), Dropped()
    with tell("writing") as follow:
        content = write_review(review, kind, follow, dropped)
    write_file(export, content)
    if dropped.records:
        tags = first_of([f"{tag} of {number:,}" for tag, number in dropped.tags.most_common()])
        say(f"not in {export}: fields of {number_of(dropped.records, 'record')} for which .{kind} has no place: {tags}")
    say(f"wrote {export}: {_state(review)}")


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole or not at all: it is written beside, with the rights of the old one, and renamed."""
    target = path.resolve()  # a link stays
    if target.exists() and not target.is_file():
        path.write_text(text, encoding="utf-8")  # a pipe or a device
        return
    draft = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        raise SetsearchError(f"{path} cannot be written: {error.strerror}; it is as it was before") from error
    finally:
        draft.unlink(missing_ok=True)


def _tell_known(source: str, known: "Known") -> None:
    """How many answers there are, and which do not count."""
    later = f", {known.later:,} later, which is no answer" if known.later else ""
    say(f"{source}: {len(known.accepted):,} yes, {len(known.rejected):,} no{later}")
    number = len(known.problems)
    say_lines(f"{number:,} answer{'s do' if number > 1 else ' does'} not count", known.problems)


def _tell_changed(before: "list[Decision]", places: Mapping[str, str]) -> None:
    """Which answers of the review were replaced, and where the new ones are."""
    new = {"yes": "no", "no": "yes"}
    lines = [
        f"{own.item} {own.said} -> {new[own.said]}, {places.get(own.item, 'on the command line')}" for own in before
    ]
    say_lines(f"{number_of(len(lines), 'answer')} changed", lines)


def _run(review: "Review") -> bool:
    """Show what is first and read answers, until all are decided or the reader is done; returns whether all are."""
    shown, refused = _show(review), dict[str, str]()
    for line in typed_lines():
        key, _, rest = line.partition(" ")
        try:
            if line == "u":
                undone = review.undo()
                say("nothing to undo" if undone is None else f"undone: {undone}")
                shown = _show(review, undone and undone.item)
            elif line == "!" and refused:
                say(f"replaced: {review.decide(**refused) or 'the reason'}; u brings it back")
                refused = {}
            elif line == "r":
                review.restore()
                shown = _show(review)
            elif shown is None:
                say(DECIDED)
            elif line in ANSWERS or (key == "n" and rest):
                given = {"item": shown.item, "said": ANSWERS[key], "reason": rest.strip()}
                review.decide(**given)
                shown = _show(review)
            elif key == "m" and rest:
                given = {"item": shown.item, "said": "later", "note": rest.strip()}
                review.decide(**given)  # kept, even if no answer follows
                say(f"note: {rest.strip()}")
            elif line == "w":
                say("\n".join(bars([{"feature": own.label, "weight": own.weight} for own in shown.reasons])))
            elif line == "t":
                say(_text(review, shown, None))
            else:
                say(HELP)
        except AnsweredMeanwhile as error:
            say(f"Error: {without_options(str(error).replace('`replaces`', '!'))}")
            shown, refused = _show(review), {**given, "replaces": error.said}
        except SetsearchError as error:
            say(f"Error: {without_options(str(error).replace('`restore`', 'r'))}")
    return shown is None


def _show(review: "Review", item: str | None = None) -> Hit | None:
    """Print the next item, or this one if it is not decided; None if all are decided."""
    hits = review.queue(item=item)
    if not hits:
        say(DECIDED)
        return None
    hit = hits[0]
    record = review.record(hit.item, hit.title)
    say(f"\n{record.title}" + (f"  ({hit.item})" if record.title != hit.item else ""))
    if record.source:
        say(record.source)
    noted = next((own.note for own in review.decisions() if own.item == hit.item), None)
    say(_text(review, hit, LONGEST) + (f"\nnote: {noted}" if noted else ""))
    say(f"{_state(review)}\ny yes, n no, l later, m note, u undo, w why, q done, h help")
    return hit


def _text(review: "Review", hit: Hit, most: int | None) -> str:
    text = review.record(hit.item, hit.title).text
    cut = text if most is None or len(text) <= most else f"{text[:most]}… (t shows all)"
    width = min(shutil.get_terminal_size().columns, 100)
    return "\n".join(textwrap.fill(line, width) for line in cut.splitlines())


def _state(review: "Review") -> str:
    progress = review.progress()
    ahead = progress.outlook
    state = f"{progress.found:,} found, {progress.read:,} of {progress.records:,} read"
    if progress.read == progress.records:
        return state
    if progress.may_stop:
        return f"{state}; you may stop: {review.recall:.0%} are found with {review.confidence:.0%} confidence"
    if ahead.is_narrow:
        return f"{state}; {ahead.at_least:,} to {ahead.at_most:,} left"
    return f"{state}; at least {number_of(ahead.answers_needed, 'more answer')} before you can stop"
