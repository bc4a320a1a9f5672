"""TODO"""

import sqlite3
import threading

from setsearch.errors import InvalidParameter


class Tokenizer:
    """The tokenizer that an FTS5 table declares, such as "porter unicode61": text to terms."""

    def __init__(self, declared: str) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        argument = "'" + declared.replace("'", "''") + "'"
        try:
            self._connection.execute(f"create virtual table said using fts5(words, tokenize = {argument})")
        except sqlite3.Error as error:
            raise InvalidParameter(
                f"the tokenizer {declared!r} of the full-text table is not one of SQLite's own ({error}); "
                "give setsearch.open an analyzer"
            ) from error
        self._connection.execute("create virtual table term using fts5vocab(said, instance)")

    def __call__(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        with self._lock:
            self._connection.execute("delete from said")
            self._connection.execute("insert into said values (?)", (text,))
            return [term for (term,) in self._connection.execute("select term from term order by offset")]
