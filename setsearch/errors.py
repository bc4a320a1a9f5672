"""What can go wrong, one class for each mistake that a caller can make.

    SetsearchError
    |-- UsageError              the call itself is wrong
    |   `-- InvalidParameter    a value outside its range, such as k = 0
    |-- DatabaseError           the file
    |   |-- MissingDatabase, NotADatabase, NewerSchema, ReadOnlyDatabase, LockedDatabase
    |   |-- NoIndex             a database without a setsearch index in it
    |   `-- CorruptIndex        stored lists that contradict themselves
    |-- QueryError              the question
    |   `-- UnknownReading, UnknownItem, UnknownSet, AmbiguousItem, NoSeeds, NoConcept, NothingToRank
    |-- ItemError               an item that is to be written
    |   `-- InvalidItem, DuplicateItem, NameTaken
    `-- SourceError             a file, a folder or a table that is to be read

Messages are one line: the value at fault first, then the way out.
"""

MEND = "`setsearch check DB --repair` may mend it"  # the way out of a CorruptIndex


class SetsearchError(Exception):
    """Base of all errors that setsearch raises on purpose."""

    exit_code = 1


class UsageError(SetsearchError):
    """The call is wrong, whatever the data."""

    exit_code = 2


class InvalidParameter(UsageError, ValueError):
    """A parameter has a value outside its range."""


class DatabaseError(SetsearchError):
    """The database cannot be used as asked."""


class MissingDatabase(DatabaseError, FileNotFoundError):
    """There is no file at the path."""


class NotADatabase(DatabaseError):
    """The file is not an SQLite database."""


class NewerSchema(DatabaseError):
    """The index was written by a newer setsearch."""


class ReadOnlyDatabase(DatabaseError):
    """The database cannot be written."""


class LockedDatabase(DatabaseError):
    """Another connection holds the write lock for longer than the timeout."""


class NoIndex(DatabaseError):
    """The database holds no setsearch index."""


class CorruptIndex(DatabaseError):
    """A stored list contradicts itself or the rest of the index."""


class QueryError(SetsearchError):
    """The question has no answer."""


class UnknownReading(QueryError, LookupError):
    """`items(name)` names nothing that the index holds."""


class UnknownItem(QueryError, LookupError):
    """No item has this id or title."""


class AmbiguousItem(QueryError, LookupError):
    """Several items have this title."""


class UnknownSet(QueryError, LookupError):
    """No saved set has this name."""


class NoConcept(QueryError):
    """No hypothesis holds all the seeds."""


class NoSeeds(QueryError):
    """The set of seeds is empty."""


class NothingToRank(QueryError):
    """Every item is a seed or excluded."""


class ItemError(SetsearchError):
    """An item cannot be written."""


class InvalidItem(ItemError, ValueError):
    """An item without an id, or with counts that are not whole numbers."""


class DuplicateItem(ItemError):
    """An item is already there, or comes twice in one batch."""


class NameTaken(ItemError):
    """Another relation of this index uses the name."""


class SourceError(SetsearchError):
    """A source cannot be read; the message names file and place."""


class Interrupted(SetsearchError):
    """Stopped from the keyboard, where that has not left everything as it was."""

    exit_code = 130
