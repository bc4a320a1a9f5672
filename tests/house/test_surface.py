"""What others build on: public names, keys of JSON, exit codes, as surface.txt has them (docs/cli.md has the options).

A change of that file is a change for users, and needs a line in CHANGELOG.md.
"""

import json
from importlib import import_module
from inspect import getmodule, isclass, isfunction
from pathlib import Path

STORED = Path(__file__).with_name("surface.txt")
MODULES = ["setsearch", *(f"setsearch.{name}" for name in ("models", "learning", "text", "web", "spark"))]
MODULES += [
    f"setsearch.integrations.{name}" for name in "datasette mcp sklearn sql sqlite_utils tantivy whoosh".split()
]
COMMANDS = """
expand x.db lion --json
expand x.db d0 --items documents --explain --snippets --json
expand x.db d0 --items documents --cut --json
expand x.db nobody
expand x.db
expand none.db lion
expand x.db lion --no-such-option
explain x.db d0 d1 --items documents --json
features x.db d0 --items documents --json
find x.db li --items documents --json
info x.db --json
check x.db
set save x.db cats d0 d1 --items documents
set list x.db --json
set show x.db cats --json
set show x.db dogs
index x.db none.jsonl
index x.db -
update x.db
delete x.db d5
delete x.db d5
drop x.db
no-such-command
""".split("\n")[1:-1]


def names_of(module):
    """What a module offers: `__all__`, or what it defines without an underscore."""
    defined = {name: value for name, value in vars(module).items() if isfunction(value) or isclass(value)}
    own = [name for name, value in defined.items() if name[0] != "_" and getmodule(value) is module]
    return sorted(getattr(module, "__all__", own))


def keys_of(value):
    """The keys of JSON, of the first row of lists."""
    if isinstance(value, list):
        return f"[{keys_of(value[0])}]" if value else "[]"
    if not isinstance(value, dict):
        return ""
    inner = {key: keys_of(part) for key, part in value.items()}
    return "{" + " ".join(f"{key}{inside}" for key, inside in inner.items()) + "}"


def test_the_surface_is_as_it_was(database, run):
    lines = [f"{name}: {' '.join(names_of(import_module(name)))}" for name in MODULES]
    for command in COMMANDS:
        code, out, _ = run(*command.split(), stdin=b"")
        try:
            keys = keys_of(json.loads(out))
        except ValueError:
            keys = "text" if out else ""
        lines.append(f"{command}: {code} {keys}".rstrip())
    assert "\n".join(lines) + "\n" == STORED.read_text()
