"""Suggestions while a name is typed."""

import setsearch
from setsearch.search.completion import complete, similar_names


def test_names_are_completed(database):
    with setsearch.open(database) as index:
        documents, terms = index.items("documents"), index.items("terms")
        assert [row.item for row in complete(documents, "l")] == ["d0", "d2"], "by title, those with most first"
        assert [row.item for row in complete(documents, "BARLEY")] == ["d4"]
        assert [row.item for row in complete(documents, "yor")] == ["d5"], "a later word"
        assert complete(documents, "yor")[0].total == 2
        assert complete(terms, "the")[0].total == 4
        assert complete(terms, "q") == []
        assert complete(terms, "\0") == []
        assert len(complete(terms, "", 5)) == 5
        assert similar_names(terms, "loin") == ["lion"]
        index.add_numbers([("ann", [1.0]), ("bob", [2.0])], ["height"], "body")
        assert [row.item for row in complete(index.numbers("body"), "A")] == ["ann"]


def test_completion_equals_a_look_at_every_name(build):
    names = ["lion", "Lion", "lioness", "a lion", "LIONS", "li", "l%on", "l_on", "ließ", "z"]
    index = build({name: {"x": n + 1} for n, name in enumerate(names)})
    reading = index.items("film")
    totals = {name: n + 1 for n, name in enumerate(names)}
    for prefix in ("l", "li", "lion", "L", "z", "l%"):
        expected = [name for name in names if name.lower().startswith(prefix.lower())]
        expected.sort(key=lambda name: (name.lower() != prefix.lower(), -totals[name], name))
        assert [row.item for row in complete(reading, prefix, len(expected))] == expected
