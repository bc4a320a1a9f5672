"""All errors: one class for each mistake that a caller can make.

    SetsearchError
    |-- UsageError              the call itself is wrong
    |   |-- InvalidParameter    a value outside its range, such as k = 0
    |   `-- UnknownOption       an option that nobody knows
    |-- DatabaseError           the file cannot be used
    |   |-- MissingDatabase, NotADatabase, NewerSchema, ReadOnlyDatabase, LockedDatabase, TakenOver
    |   |-- NoIndex             a database without a setsearch index in it
    |   `-- CorruptIndex        stored data that contradicts itself
    |       `-- LostArrays      what was derived is damaged or gone: the next call derives it again
    |-- QueryError              the query has no answer
    |   |-- UnknownReading, UnknownItem, UnknownSet, AmbiguousItem, NoSeeds, NothingToRank
    |   `-- TimeLimitExceeded, Cancelled
    |-- ItemError               an item or a set cannot be written
    |   `-- InvalidItem, DuplicateItem, NameTaken, ChangedSet
    |-- SourceError             a file, folder or table cannot be read
    `-- Fault                   a mistake of ours

A message is one line: first the value at fault, then the way out.
"""

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from traceback import walk_tb

LENT = "the database"  # what one is called whose connection a host lends
REPAIR_HINT = "`setsearch check` may repair it"  # the way out of a CorruptIndex
LONGEST_SHOWN = 80  # characters of a text in a message
_joiner = re.compile(r"(?<!\\)((?:\\\\)*)\\u200([cd])")  # of letters, as `repr` escapes it
HINTS = 3  # names that a message offers
MOST_NAMED = 10  # names of what is there


def number_of(count: int, noun: str) -> str:
    """A number of things for a message: 1 field, 1,234 entries."""
    several = noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def there_is(names: Iterable[str]) -> str:
    """What is there, for a message: there is cats; there are cats, grain; there is none yet. At most ten have names."""
    known = [*names]
    more = f", and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    return f"there {'are' if len(known) > 1 else 'is'} {', '.join(known[:MOST_NAMED]) or 'none yet'}{more}"


def shown(text: str) -> str:
    """A text of a caller as messages show it: as `repr` does, but joiners as they are, so that it can be copied."""
    quoted = repr(text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…")
    return _joiner.sub(lambda own: own[1] + chr(int(f"200{own[2]}", 16)), quoted)


def did_you_mean(names: Iterable[str]) -> str:
    """A question that offers the first few names; empty without any."""
    offered = [*map(shown, islice(names, HINTS))]
    return f"did you mean {' or '.join(offered)}?" if offered else ""


class SetsearchError(Exception):
    """Base of all errors that setsearch raises."""

    exit_code = 1


class UsageError(SetsearchError):
    """The call is wrong, independent of the data."""

    exit_code = 2


class InvalidParameter(UsageError, ValueError):
    """A parameter has a value outside its range."""


class UnknownOption(UsageError, TypeError):
    """An option that nobody knows."""


class DatabaseError(SetsearchError):
    """The database cannot be used."""


class MissingDatabase(DatabaseError, FileNotFoundError):
    """The path is not a file."""


class NotADatabase(DatabaseError):
    """The file is not an SQLite database."""


class NewerSchema(DatabaseError):
    """A newer setsearch wrote the index."""


class ReadOnlyDatabase(DatabaseError):
    """The database is read-only."""


class LockedDatabase(DatabaseError):
    """Another connection holds the write lock longer than the timeout."""


class TakenOver(LockedDatabase):
    """Another process derives what this one began to, which was silent for too long."""


class NoIndex(DatabaseError):
    """The database holds no setsearch index."""


def no_index(database: str) -> NoIndex:
    """That a database, by its path or as LENT, holds no index."""
    way = "Index.add or add_table" if database == LENT else f"`setsearch index {database} SOURCE`"
    return NoIndex(f"{database} holds no setsearch index; {way} creates one")


class CorruptIndex(DatabaseError):
    """Stored data contradicts itself."""


class LostArrays(CorruptIndex):
    """Arrays that were derived and stored are damaged or gone; they are derived again."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} are damaged or gone; ask again")


class QueryError(SetsearchError):
    """The query has no answer."""


class UnknownReading(QueryError, LookupError):
    """The index holds no items of this name."""


class UnknownItem(QueryError, LookupError):
    """No item has this id or title."""


class AmbiguousItem(QueryError, LookupError):
    """Several items have this title."""


class UnknownSet(QueryError, LookupError):
    """No saved set has this name."""


class NoSeeds(QueryError):
    """The set of seeds is empty, or does not make the groups that are asked for."""


class NothingToRank(QueryError):
    """Every item is a seed or excluded."""


class TimeLimitExceeded(QueryError):
    """SQL of the host's, or of a caller, takes longer than the time limit."""


class Cancelled(QueryError):
    """The caller has stopped the question."""


class ItemError(SetsearchError):
    """An item or a set cannot be written."""


class InvalidItem(ItemError, ValueError):
    """An item without an id, or with counts that are not whole numbers."""


class DuplicateItem(ItemError):
    """An item exists already, or occurs twice in one batch."""


class NameTaken(ItemError):
    """Another relation of this index uses the name."""


class ChangedSet(ItemError):
    """The saved set is not of the version that was to be replaced."""


class AnsweredMeanwhile(ChangedSet):
    """Somebody else has answered otherwise; `said` is that answer: "yes" or "no"."""

    def __init__(self, problem: str, said: str) -> None:
        super().__init__(problem)
        self.said = said


class SourceError(SetsearchError):
    """A source cannot be read; the message names file and position."""


class Fault(SetsearchError):
    """A mistake in setsearch itself; its cause is the error that arose."""


def place_of(error: BaseException) -> str:
    """The innermost line of ours that an error came through, such as storage/names.py:12."""
    home = f"{Path(__file__).parent}{os.sep}"
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    ours = [(path.removeprefix(home).replace(os.sep, "/"), line) for path, line in frames if path.startswith(home)]
    return "{}:{}".format(*ours[-1]) if ours else ""


def fault_of(error: BaseException, unless: str = "") -> Fault:
    """An error that nobody expected as a mistake of ours, `unless` it has another reason."""
    problem = " ".join(f"{type(error).__name__}: {error}".split())
    told = f"a fault of setsearch ({problem:.200}, in {place_of(error)})"
    return Fault(f"{told}{unless}; please report it, with what SETSEARCH_DEBUG=1 shows")


class Interrupted(SetsearchError):
    """Interrupted from the keyboard after something was changed."""

    exit_code = 130
