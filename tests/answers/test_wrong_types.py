"""What is no list, no name and no path is an error that says so, not a traceback of ours."""

import pytest

import setsearch
from setsearch import errors

CALLS = {
    "add": lambda index: index.add(None),
    "update": lambda index: index.update(5),
    "delete": lambda index: index.delete(None),
    "add_numbers": lambda index: index.add_numbers(None, ["a"]),
    "add_vectors": lambda index: index.add_vectors(None, None),
    "vectors": lambda index: index.add_vectors(["a"], 5),
    "import": lambda index: index.import_sets(None),
    "rows": lambda index: index.import_sets([5]),
    "export": lambda index: index.export_sets(5),
    "inbox": lambda index: index.inbox(5),
    "grow": lambda index: index.grow(5),
    "set": lambda index: index.set(None),
    "number": lambda index: index.set(5),
    "unknown": lambda index: index.delete_set(None),
    "rename": lambda index: index.rename_set(5, "dogs"),
    "new name": lambda index: index.rename_set("cats", None),
    "question": lambda index: index.question(set=5),
    "rejected": lambda index: index.keep_set("cats", ["a"], 5, items="documents"),
    "letters": lambda index: index.keep_set("cats", "ab", items="documents"),
    "decide": lambda index: index.inbox().decide(5),
    "forget": lambda index: index.set("cats").forget(["a"], {}),
    "kind": lambda index: index.reading(["documents"]),
    "unknown names": lambda index: index.rename_set(["cats"], "dogs"),
    "list": lambda index: index.question(set=["cats"]),
    "named": lambda index: index.export_sets([5]),
    "group": lambda index: index.keep_set("cats", ["a"], items="documents", group=5),
    "exclusive": lambda index: index.group("kinds", exclusive="no"),
    "keep": lambda index: index.keep_set(None, ["a"], items="documents"),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_types_are_errors_of_one_line(call, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("a", "lion tiger"), ("b", "lion cat")])
        index.keep_set("cats", ["a"], items="documents", group="kinds")
        with pytest.raises(
            errors.SetsearchError, match=r"several|printable|mapping|no set|True or False|a list|has no"
        ):
            CALLS[call](index)


@pytest.mark.parametrize("place", [None, 5, ["a.db"], b"a.db"])
def test_an_index_is_opened_by_a_path_or_a_connection(place):
    with pytest.raises(errors.InvalidParameter, match="opened by a path, or a connection"):
        setsearch.open(place, create=True)
