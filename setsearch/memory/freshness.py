"""What an answer may lack: `fresh` says how far contexts may be behind their texts.

None       the last contexts, whatever their age
"now"      contexts of the present texts
30         what was written in the last 30 seconds may be missing
"5%"       up to 5 % of the documents may have changed since
"""

import re
import sqlite3
import time
from contextlib import suppress

from setsearch.errors import InvalidParameter
from setsearch.storage.generations import Generation
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import changed_items, first_change

NOW = "now"
Fresh = str | float | None

_share = re.compile(r"(\d+(?:\.\d+)?)\s*%").fullmatch


def parse_fresh(value: object) -> Fresh:
    """`fresh` as it is used; raises InvalidParameter."""
    if value is None:
        return None
    text = value.strip().lower() if isinstance(value, str) else value
    if isinstance(text, str) and (text == NOW or _share(text)):
        return text
    if isinstance(text, (str, int, float)) and not isinstance(text, bool):
        with suppress(ValueError, OverflowError):
            seconds = float(text)
            if 0 <= seconds < float("inf"):
                return seconds
    raise InvalidParameter(f"fresh is 'now', a number of seconds, or a share such as '5%', not {value!r:.40}")


def is_fresh(cursor: sqlite3.Cursor, relation: Relation, generation: Generation, fresh: Fresh) -> bool:
    """Whether what was derived lacks no more than `fresh` allows."""
    if fresh is None or generation.stamp == relation.stamp:
        return True
    if isinstance(fresh, float):
        written = first_change(cursor, relation.state, generation.state)
        return written is not None and 0 <= time.time() - written <= fresh
    share = _share(fresh)
    if share is None:
        return False
    changed = changed_items(cursor, relation.state, generation.state)
    return changed is not None and 100 * len(changed) <= float(share[1]) * relation.items.size
