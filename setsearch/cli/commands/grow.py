"""The command that grows a set in a dialogue: expand, accept and reject, expand again; or many sets by themselves."""

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from setsearch.answers.answer import Hits
from setsearch.cli import progress
from setsearch.cli.help import option
from setsearch.cli.notes import tell_gone, tell_notes
from setsearch.cli.options import Collection, Items, OptionalSeeds, question_options, with_options
from setsearch.cli.output import Show, bars, format_options, say
from setsearch.errors import Interrupted, SetsearchError, UsageError
from setsearch.options import GROWING, MODEL, RESULT, ROUNDS, ModelOptions, check, offered

if TYPE_CHECKING:
    from setsearch.answers.sets import AnyReading, ItemSet
    from setsearch.index import Index

SMALL, LARGE = 15, 50  # hits of a list
EXPLAINED = 10  # features
HELP = """1 3        accept the items with these numbers
-2         reject this one
lion       add an example (=u for one that looks like a command)
?4         why: the features of number 4
l          a larger list, and back
u          undo
s NAME     save the set under a name
q          done: the set is printed"""


class Alone(NamedTuple):
    """How sets grow by themselves."""

    sets: Annotated[
        str | None, option("FILE", "Save classes first (CSV: set, item; or JSON), as an exclusive group; grow them.")
    ] = None
    group: Annotated[str | None, option("NAME", "Grow the saved sets of a group, without a dialogue.")] = None
    until: Annotated[str | None, option("TIME", "Begin no other round when a clock shows this (07:30).")] = None


def _grow_alone(db: Collection, items: str | None, alone: Alone, how: dict[str, Any], show: Show) -> None:
    """Grow the sets of a group, or of a file, and show what joined."""
    until = None if alone.until is None else _next_time(alone.until)
    again = "the same command" + " without --accept" * how["accept"]
    how = {name: value for name, value in how.items() if value is not None}
    check(how, GROWING)
    with db.open() as index:
        group = Path(alone.sets or "").stem if alone.group is None else alone.group
        if alone.sets is not None:
            _keep_classes(index, group, alone.sets, items)
        sets = index.group(group).sets
        kind = index.sets()[sets[0]]
        if items is not None and index.reading(items).name != kind:
            raise UsageError(f"the sets of the group {group!r} are of {kind}, not of {items}; leave --items out")

        is_late = False

        def tell(rounds: Any) -> Iterator[list[Any]]:
            """Say what each round added, until it is time."""
            nonlocal is_late
            added = iter(rounds)
            while True:
                with progress.tell("growing", lambda: rounds.share):
                    rows = next(added, None)
                if rows is None:
                    return
                grown = len({row.set for row in rows})
                what = f"{len(rows)} joined {grown} {'set' if grown == 1 else 'sets'}"
                say(f"round {rows[0].round} of {how.get('rounds', ROUNDS)}: {what}")
                yield rows
                if is_late := until is not None and datetime.now() >= until:
                    say(f"it is {alone.until}; {again} goes on")
                    return

        try:
            joined = index.grow(group=group, progress=tell, **how)
        except KeyboardInterrupt as error:
            raise Interrupted(f"stopped; the rounds that were told are kept, and {again} goes on") from error
        last = index.growth(group=group).last
    show([row._asdict() for row in joined])
    for note in joined.notes:
        say(f"note: {note}")
    if joined.untold:
        say(joined.untold)
    if joined.ended.endswith("is reached"):
        more = f"--rounds {last + how.get('rounds', ROUNDS)} goes on"
        say(f"{joined.ended}; {more}, `setsearch set group --grown` has what joined, and why")
    elif not is_late:
        way_out = "judge the doubtful ones of `setsearch inbox`, or give a smaller --precision, then grow again"
        say(f"{joined.ended}; {way_out if joined.ended.startswith('nothing') else again + ' goes on'}")


def _next_time(text: str) -> datetime:
    """The next time that a clock shows this. Raises UsageError."""
    now = datetime.now()
    try:
        wanted = datetime.combine(now.date(), time.fromisoformat(text))
    except ValueError:
        raise UsageError(f"--until is a time of the day such as 07:30, not {text!r:.40}") from None
    return wanted if wanted > now else wanted + timedelta(days=1)


def _keep_classes(index: "Index", group: str, source: str, items: str | None) -> None:
    """Save the classes of a file as sets that exclude one another; those that the group has already stay as they are.

    Raises SourceError, UsageError; then nothing is saved.
    """
    from setsearch.answers.saved.exchange import set_name
    from setsearch.cli.set_files import nothing_skipped, read_set_rows
    from setsearch.indexing.rows.reader import RowReader

    known = {name: index.set(name).group for name in index.sets()}
    rows = []
    with nothing_skipped():
        given = [*read_set_rows(source, RowReader())]
    for place, row in given:
        name = set_name(row)
        if known.get(name, group) != group:
            raise UsageError(f"{place}: there is a set {name!r} already, outside the group {group!r}; rename the class")
        rows.append((place, row, name in known))
    if not rows:
        raise UsageError(f"{source} has no class to grow; each line names a set and an item")
    new = [(place, {**row, "group": group, "exclusive": "yes"}) for place, row, is_known in rows if not is_known]
    with nothing_skipped():
        index.import_sets(new, items, warn=say)


@with_options(
    alone=Alone,
    how=question_options(GROWING),
    wanted=question_options(offered("the dialogue", RESULT)),
    model=question_options(MODEL),
    show=format_options,
)
def grow(
    db: Collection,
    seeds: OptionalSeeds = None,
    *,
    items: Items = None,
    set: Annotated[str | None, option("NAME", "Continue a saved set.")] = None,
    alone: Alone,
    how: dict[str, Any],
    wanted: dict[str, Any],
    model: ModelOptions,
    show: Show,
) -> None:
    """Grow a set in the terminal: look at the list, accept, reject, look again.

    The dialogue is on stderr; at its end the set goes to stdout. With --sets or --group, saved sets grow by themselves,
    side by side; what is doubtful comes to `setsearch inbox`.

    Example: setsearch grow notes.db violin cello --items documents
    """
    if alone.sets is not None or alone.group is not None:
        if seeds or set is not None or any(value is not None for value in {**wanted, **model}.values()):
            raise UsageError("--sets and --group grow saved sets by themselves; leave the options of a dialogue out")
        _grow_alone(db, items, alone, how, show)
        return
    if given := next((name for name, value in how.items() if value), None):
        raise UsageError(f"--{given} is for --sets and --group; leave it out")
    if not seeds and set is None:
        raise UsageError("no examples: give SEED..., or --set NAME")
    with db.open() as index:
        saved = None if set is None else index.set(set, items)
        reading = index.reading(items if saved is None else saved.items)
        accepted, rejected = ([], []) if saved is None else saved.present()
        if saved is not None:
            tell_gone(saved, str(db))
        dialogue = Dialogue(index, reading, model, saved, GrowingSet(tuple(accepted), tuple(rejected)), wanted)
        dialogue.begin(seeds or [])
        try:
            dialogue.run()
        except KeyboardInterrupt as error:
            show(dialogue.current.rows())
            raise Interrupted("stopped; saved sets stay saved") from error
    show(dialogue.current.rows())


@dataclass(frozen=True)
class GrowingSet:
    """The set as it is now, and as it was before the last step."""

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    before: "GrowingSet | None" = field(default=None, repr=False)

    def accept(self, names: list[str]) -> "GrowingSet":
        """With more accepted items."""
        accepted = tuple(dict.fromkeys((*self.accepted, *names)))
        return GrowingSet(accepted, tuple(name for name in self.rejected if name not in names), self)

    def reject(self, names: list[str]) -> "GrowingSet":
        """With more rejected items."""
        rejected = tuple(dict.fromkeys((*self.rejected, *names)))
        return GrowingSet(tuple(name for name in self.accepted if name not in names), rejected, self)

    def rows(self) -> list[dict[str, Any]]:
        """What is printed at the end."""
        rows = [{"item": name, "status": "accepted"} for name in self.accepted]
        return rows + [{"item": name, "status": "rejected"} for name in self.rejected]


@dataclass
class Dialogue:
    """Reads lines and answers them. `current` is the set, `saved` the one that was last opened or saved."""

    index: "Index"
    reading: "AnyReading"
    model: ModelOptions
    saved: "ItemSet | None"
    current: GrowingSet
    wanted: dict[str, Any]
    k: int = SMALL
    hits: Hits = field(default_factory=Hits)

    def begin(self, seeds: Sequence[str]) -> None:
        """Accept the first examples. Raises UnknownItem."""
        self.current = replace(self.current.accept([self.reading.find(seed) for seed in seeds]), before=None)

    def run(self) -> None:
        """Run the dialogue to its end."""
        self._show(self.current)
        for line in typed_lines():
            if line in ("q", "quit"):
                break
            try:
                changed = self._answer(line, self.current)
                if changed is not None:
                    self._show(changed)
                    self.current = changed
            except SetsearchError as error:
                say(f"Error: {error}")
        if self.saved is not None and (
            [*self.current.accepted] != self.saved.accepted or [*self.current.rejected] != self.saved.rejected
        ):
            say(f"the set {self.saved.name!r} stays as it was saved; what follows has your changes")

    def _answer(self, line: str, current: GrowingSet) -> GrowingSet | None:
        """The set after a line; None if there is nothing new to show."""
        command, _, rest = line.partition(" ")
        if line in ("h", "help", "?"):
            say(HELP)
        elif line == "u":
            if current.before is not None:
                return current.before
            say("nothing to undo")
        elif line == "l":
            self.k = LARGE if self.k == SMALL else SMALL
            return current
        elif command == "s":
            self._save(rest.strip(), current)
        elif line.startswith("?"):
            self._explain(line[1:])
        elif all(word.lstrip("-").isdecimal() for word in line.split()):
            return self._mark(line.split(), current)
        else:
            return current.accept([self.reading.find(line.removeprefix("="))])
        return None

    def _show(self, current: GrowingSet) -> None:
        if not current.accepted:
            self.hits = Hits()
            say("no example is left; add one")
            return
        from setsearch.answers.highlight import with_headlines
        from setsearch.answers.sets import Question

        options: Any = {"cut": "mark", "explain": True, "fold": True, **self.wanted, **self.model}
        asked = Question(self.reading, self.saved, [*current.accepted], current.rejected)
        self.hits = with_headlines(self.reading, asked.expand(self.k, **options).shared())
        rejected = f"   rejected: {', '.join(current.rejected)}" if current.rejected else ""
        say(f"\n{', '.join(current.accepted)}{rejected}")
        say("\n".join(bars([hit._asdict() for hit in self.hits], numbered=True)))
        tell_notes(self.reading, list(current.accepted), self.hits, self.model)
        say("numbers accept, -number rejects, a name adds; u undo, s NAME save, q done, h help")

    def _mark(self, words: list[str], current: GrowingSet) -> GrowingSet:
        accepted = [self._item(word) for word in words if not word.startswith("-")]
        rejected = [self._item(word[1:]) for word in words if word.startswith("-")]
        return replace(current.accept(accepted).reject(rejected), before=current)

    def _item(self, number: str) -> str:
        if not number.strip().isdecimal() or not 1 <= int(number) <= len(self.hits):
            raise UsageError(f"{number!r} is not a number of the list, 1 to {len(self.hits)} (={number} adds the name)")
        return self.hits[int(number) - 1].item

    def _explain(self, number: str) -> None:
        item = self._item(number)
        hit = next(hit for hit in self.hits if hit.item == item)
        parts: list[dict[str, Any]] = [part._asdict() for part in hit.features]
        say(f"{item}: {hit.score:.3f}")
        say("\n".join(bars(parts[:EXPLAINED])))
        rest = hit.score - sum(part["weight"] for part in parts[:EXPLAINED])
        say(f"and {rest:+.3f} in all other parts")

    def _save(self, name: str, current: GrowingSet) -> None:
        name = name or (self.saved.name if self.saved is not None else "")
        if not name:
            raise UsageError("s NAME saves the set; give it a name")
        version = self.saved.version if self.saved is not None and name == self.saved.name else ""
        self.saved = self.index.keep_set(name, current.accepted, current.rejected, self.reading.name, version)
        say(f"saved: {name!r}, {len(current.accepted)} accepted, {len(current.rejected)} rejected")


def typed_lines() -> Iterator[str]:
    """Typed lines, until the end of input; the prompt is on stderr, or at a terminal on stdout."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # such a name is unknown, and an error says so
    read = _edited_line if sys.stdin.isatty() and sys.stdout.isatty() else _line
    while line := read():
        if line.strip():
            yield line.strip()
    print(file=sys.stderr)


def _line() -> str:
    """A line with its end, empty at the end of input."""
    print("> ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _edited_line() -> str:
    """The same at a terminal, where arrow keys edit the line and find earlier ones."""
    with suppress(ImportError):  # not everywhere
        import readline  # noqa: F401
    try:
        return input("> ") + "\n"
    except EOFError:
        return ""
