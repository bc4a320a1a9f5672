"""A set that is grown in the terminal: lines that are typed, and what they make of the set.

The command that grows a set: expand, take in and leave out, expand again."""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from setsearch.cli.output import bars, say
from setsearch.errors import SetsearchError, UsageError

if TYPE_CHECKING:
    from setsearch.index import Index
    from setsearch.models.defaults import ModelOptions
    from setsearch.search.reading import Reading
    from setsearch.search.results import Hit
from typing import TYPE_CHECKING, Annotated

import typer

import setsearch
from setsearch.cli.options import DB, Examples, Items, options, scoring
from setsearch.cli.output import Show, printer
from setsearch.errors import Interrupted

if TYPE_CHECKING:
    from setsearch.models.defaults import ModelOptions


SMALL, LARGE, WHY = 15, 50, 10
HELP = """1 3        take in the items with these numbers
-2         leave this one out
lion       add an example (=u for one that looks like a command)
?4         why: the features of number 4
l          a larger list, and back
u          undo
s NAME     save the set under a name
q          done: the set is printed"""


@dataclass(frozen=True)
class GrownSet:
    """The set as it is now, and as it was before."""

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    before: "GrownSet | None" = field(default=None, repr=False)

    def begin(self, names: list[str]) -> "GrownSet":
        """With more examples, and nothing to undo."""
        return replace(self.take(names), before=None)

    def take(self, names: list[str]) -> "GrownSet":
        """With more examples."""
        accepted = tuple(dict.fromkeys((*self.accepted, *names)))
        return GrownSet(accepted, tuple(name for name in self.rejected if name not in names), self)

    def leave(self, names: list[str]) -> "GrownSet":
        """With more that is not meant."""
        rejected = tuple(dict.fromkeys((*self.rejected, *names)))
        return GrownSet(tuple(name for name in self.accepted if name not in names), rejected, self)


class Dialogue:
    """Reads lines and answers them."""

    def __init__(self, index: "Index", reading: "Reading", model: "ModelOptions", name: str | None) -> None:
        self.index, self.reading, self.model, self.name = index, reading, model, name
        self.k = SMALL
        self.hits: list[Hit] = []

    def run(self, current: GrownSet) -> GrownSet:
        """The dialogue, to its end; the set as it is then."""
        self._look(current)
        for line in _lines():
            if line in ("q", "quit"):
                break
            try:
                changed = self._answer(line, current)
                if changed is not None:
                    self._look(changed)
                    current = changed
            except SetsearchError as error:
                say(f"Error: {error}")
        return current

    def _answer(self, line: str, current: GrownSet) -> GrownSet | None:
        """The set after a line; None where nothing is to be looked at again."""
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
            self._save(rest.strip() or self.name, current)
        elif line.startswith("?"):
            self._explain(line[1:])
        elif all(word.lstrip("-").isdecimal() for word in line.split()):
            return self._marked(line.split(), current)
        else:
            return current.take([self.reading.find(line.removeprefix("="))])
        return None

    def _look(self, current: GrownSet) -> None:
        if not current.accepted:
            self.hits = []
            say("no example is left; add one")
            return
        wanted: Any = {"exclude": current.rejected, "cut": "mark", "explain": True, **self.model}
        self.hits = self.reading.expand(current.accepted, self.k, **wanted)
        left = f"   not: {', '.join(current.rejected)}" if current.rejected else ""
        say(f"\n{', '.join(current.accepted)}{left}")
        rows = [hit._asdict() for hit in self.hits]
        say("\n".join(bars(rows, numbered=True)))
        say("numbers take in, -number leaves out, a name adds; u undo, s NAME save, q done, h help")

    def _marked(self, words: list[str], current: GrownSet) -> GrownSet:
        taken = [self._numbered(word) for word in words if not word.startswith("-")]
        left = [self._numbered(word[1:]) for word in words if word.startswith("-")]
        marked = current.take(taken).leave(left)
        return replace(marked, before=current)

    def _numbered(self, number: str) -> str:
        if not number.strip().isdecimal() or not 1 <= int(number) <= len(self.hits):
            raise UsageError(f"{number!r} is no number of the list, 1 to {len(self.hits)} (={number} adds such a name)")
        return self.hits[int(number) - 1].item

    def _explain(self, number: str) -> None:
        item = self._numbered(number)
        hit = next(hit for hit in self.hits if hit.item == item)
        parts: list[dict[str, Any]] = [part._asdict() for part in hit.features]
        say(f"{item}: {hit.score:.3f}")
        say("\n".join(bars(parts[:WHY])))
        rest = hit.score - sum(part["weight"] for part in parts[:WHY])
        say(f"and {rest:+.3f} in all other parts")

    def _save(self, name: str | None, current: GrownSet) -> None:
        if name is None:
            raise UsageError("s NAME saves the set; give it a name")
        if name in self.index.sets() and name != self.name:
            raise UsageError(f"there is a set {name!r} already; take another name, or grow it with --set {name}")
        self.index.keep_set(name, current.accepted, current.rejected, self.reading.name)
        self.name = name
        say(f"saved: {name!r}, {len(current.accepted)} accepted, {len(current.rejected)} rejected")


def _lines() -> Iterator[str]:
    """What is typed, until the end of input; the prompt stands on stderr."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # such a name is unknown, which is told
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            return
        if line.strip():
            yield line.strip()


@options(model=scoring, show=printer)
def grow(
    db: DB,
    seeds: Examples = None,
    *,
    items: Items = None,
    set: Annotated[str | None, typer.Option(metavar="NAME", help="Go on with a saved set.")] = None,
    model: "ModelOptions",
    show: Show,
) -> None:
    """Grow a set in the terminal: look at what belongs, take in, leave out, look again.

    The dialogue is on stderr; at its end the set goes to stdout.
    """
    if not seeds and set is None:
        raise UsageError("no examples: give SEED..., or --set NAME")

    with setsearch.open(db) as index:
        start = GrownSet()
        if set is not None:
            saved = index.set(set, items)
            items, start = saved.items, GrownSet(tuple(saved.accepted), tuple(saved.rejected))
        reading = index.items(items)
        start = start.begin([reading.find(seed) for seed in seeds or ()])
        try:
            done = Dialogue(index, reading, model, set).run(start)
        except KeyboardInterrupt as error:
            raise Interrupted("stopped; what was saved stays") from error
    rows = [{"item": name, "status": "accepted"} for name in done.accepted]
    show(rows + [{"item": name, "status": "rejected"} for name in done.rejected])
