"""Dialogues in the terminal: lines that somebody types, and the dialogue that grows one set."""

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from setsearch.answers.answer import Hits
from setsearch.cli.messages import say, with_flags
from setsearch.cli.notes import notes_on
from setsearch.cli.output import bars
from setsearch.errors import SetsearchError, UsageError
from setsearch.options import ModelOptions

if TYPE_CHECKING:
    from setsearch.answers.saved.item_sets import AnyReading, ItemSet
    from setsearch.index import Index

SMALL, LARGE = 15, 50  # hits of a list
EXPLAINED = 10  # features
QUIT = ("q", "quit")
OPTION = re.compile(r"\B--[a-z]")
HELP = """1 3        accept the items with these numbers
-2         reject this one
lion       add an example (=u for one that looks like a command)
?4         why: the features of number 4
l          a larger list, and back
u          undo
s NAME     save the set under a name
q          done: the set is printed"""


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
    notes: list[str] = field(default_factory=list)  # on these

    def begin(self, seeds: Sequence[str]) -> None:
        """Accept the first examples. Raises UnknownItem."""
        self.current = replace(self.current.accept([self.reading.find(seed) for seed in seeds]), before=None)

    def run(self) -> None:
        """Run the dialogue to its end."""
        self._show(self.current)
        for line in typed_lines():
            try:
                changed = self._answer(line, self.current)
                if changed is not None:
                    self._show(changed)
                    self.current = changed
            except SetsearchError as error:
                say(f"Error: {without_options(str(error))}")
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
        from setsearch.answers.saved.item_sets import Question

        options: Any = {"cut": "mark", "explain": True, "fold": True, **self.wanted, **self.model}
        asked = Question(self.reading, self.saved, [*current.accepted], current.rejected)
        self.hits = with_headlines(self.reading, asked.expand(self.k, **options).shared())
        rejected = f"   rejected: {', '.join(current.rejected)}" if current.rejected else ""
        say(f"\n{', '.join(current.accepted)}{rejected}")
        say("\n".join(bars([hit._asdict() for hit in self.hits], numbered=True)))
        before, self.notes = self.notes, [*notes_on(self.reading, [*current.accepted], self.hits, self.model)]
        for note in self.notes:
            if note not in before:
                say(f"note: {without_options(note)}")
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


def without_options(message: str) -> str:
    """A message without those ways out that are options of a command, which nobody can type in a dialogue."""
    first, *others = with_flags(message).split("; ")
    return "; ".join([first, *(own.removeprefix("or ") for own in others if not OPTION.search(own))])


def typed_lines() -> Iterator[str]:
    """Typed lines, until q or the end of input; the prompt is on stderr, or at a terminal on stdout."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # such a name is unknown, and an error says so
    read = _edited_line if sys.stdin.isatty() and sys.stdout.isatty() else _line
    try:
        while line := read():
            if line.strip() in QUIT:
                return
            if line.strip():
                yield line.strip()
    except KeyboardInterrupt:
        print(file=sys.stderr)  # what is shown last begins a line
        raise
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
