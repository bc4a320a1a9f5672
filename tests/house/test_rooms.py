"""The rooms of the house: which may import which. A new file belongs where this passes."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "setsearch"

GROUND = {"errors", "options", "arrays", "lists", "core"}
STORED = GROUND | {"text", "sqlite", "storage"}
LIBRARY = STORED | {"models", "scoring", "indexing", "memory", "search", "answers", "index"}
ROOMS = {  # each may import itself and these; ground floor: text, models, scoring, which do not know one another
    "errors": set(),
    "options": {"errors"},
    "arrays": set(),
    "lists": {"errors", "arrays", "core"},
    "core": {"errors", "arrays"},
    "text": GROUND,
    "models": GROUND,
    "scoring": GROUND,
    "sqlite": GROUND,
    "storage": STORED,
    "indexing": STORED,
    "memory": STORED | {"models", "scoring"},
    "search": STORED | {"models", "scoring", "memory"},
    "answers": STORED | {"models", "scoring", "memory", "search"},
    "index": LIBRARY | {"upkeep"},
    "upkeep": LIBRARY - {"index"},
    "pool": LIBRARY,
    "learning": LIBRARY,
    "web": LIBRARY | {"learning", "pool"},
    "spark": LIBRARY | {"learning"},
    "integrations": LIBRARY | {"learning", "pool"},
    "cli": LIBRARY | {"learning", "pool", "web", "spark", "integrations"},  # which it starts
}
UNKNOWN = {"text": {"sqlite3", "pathlib"}, "models": {"sqlite3", "pathlib"}, "scoring": {"sqlite3", "pathlib"}}
OWN_LIBRARIES = {  # only these doors import these libraries
    "typer": {"cli"},
    "fastapi": {"web"},
    "pyspark": {"spark", "cli"},
    "whoosh": {"integrations"},
    "tantivy": {"integrations"},
    "sqlite_utils": {"sqlite", "integrations"},
    "scipy": {"arrays", "models", "learning", "memory", "search", "integrations"},
    "sklearn": {"integrations"},
}
EXCEPTIONS = {("integrations/sqlite_utils.py", "cli")}  # sqlite-utils offers our command line as a command
OWN_TAKE = re.compile(r"(?:lists|lists\(\w+\)|by_item|self|turns|connections|_Scratch)\.take\(")  # of no array
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem in ROOMS]
MOST_ENTRIES = 24
MOST_MODULES = 16  # of a folder
LONGEST_LINE, MOST_LINES_OF_C = 120, 70  # characters; lines of a function of the core


@cache
def nodes(path):
    """All nodes of the syntax tree of a file; the first is its root."""
    return [*ast.walk(ast.parse(path.read_text()))]


def imported(path):
    """All modules that a file imports, also inside functions."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


def check_imports(path):
    """A file imports only what its room may."""
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for module in imported(path):
        library, _, rest = module.partition(".")
        if library == "setsearch" and rest:
            other = rest.split(".")[0]
            is_exception = (path.relative_to(PACKAGE).as_posix(), other) in EXCEPTIONS
            assert is_exception or other in ROOMS[room] | {room}, f"{path}: {room} must not import {other}"
        assert library not in UNKNOWN.get(room, set()), f"{path}: {room} must not know {library}"
        assert room in OWN_LIBRARIES.get(library, {room}), f"{path}: {room} must not import {library}"


def test_imports_between_rooms_run_one_way():
    for path in FILES:
        check_imports(path)


def test_modules_of_a_room_import_without_circles():
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = {name: {module for module in _needs(path) if module in modules} for name, path in modules.items()}
    while graph:
        leaves = {name for name, needs in graph.items() if not needs & graph.keys() - {name}}
        assert leaves, f"circular imports among {sorted(graph)}"
        graph = {name: needs for name, needs in graph.items() if name not in leaves}


def _needs(path):
    """All modules that a file imports, also inside functions and for typing, and modules as names of a package."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    yield from imported(path)


def test_folders_show_at_a_glance_what_is_in_them():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    for folder in folders:
        modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(modules) <= MOST_MODULES, (folder.name, len(modules))


def test_the_house_shows_at_a_glance_what_there_is():
    entries = [entry for entry in PACKAGE.iterdir() if entry.name not in ("__pycache__", "py.typed")]
    assert len(entries) <= MOST_ENTRIES
    for entry in entries:
        front = entry / "__init__.py" if entry.is_dir() else entry
        first = (ast.get_docstring(nodes(front)[0]) or "").splitlines()[0]
        assert re.search(r"\w[.:]", first), f"{entry.name} has no sentence at its top"


def test_one_file_tells_numpy_how_wide_numbers_are():
    """Where addresses have 32 bits, these refuse or return narrow numbers; arrays.py has them for all platforms."""
    for path in FILES:
        if path.name != "arrays.py" and "spark" not in path.parts:  # a cluster has 64 bits
            text = OWN_TAKE.sub("", path.read_text())
            found = re.findall(r"np\.(?:repeat|bincount)\(|\.(?:reduceat|take)\(|<< (?:32|BITS) \|", text)
            assert not found, (path, found)


def test_functions_fit_on_a_screen():
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60 or path.parent.name in ("cli", "commands"), (path, node.name)


def test_the_core_can_be_read_beside_python():
    """Its lines are as long as ours, its functions nearly so, and what a comment says does the same is there."""
    source = (PACKAGE / "core" / "core.c").read_text()
    assert max(map(len, source.splitlines())) <= LONGEST_LINE
    for function in re.findall(r"^(?:static|ENTRY)[^;]*?\) \{\n(?:.*\n)*?\}$", source, re.M):
        assert function.count("\n") <= MOST_LINES_OF_C, function.splitlines()[0]
    told = re.findall(r"\(([\w/]+)\.py,\s+([\w.]+)\)", source)
    assert told
    for module, name in told:
        found = import_module(f"setsearch.{module.replace('/', '.')}")
        for part in name.split("."):
            assert hasattr(found, part), (module, name)
            found = getattr(found, part)


def test_each_number_has_a_word_of_source():
    """What a constant counts, or why it has its value, stands behind it or above it."""
    for path in FILES:
        lines = path.read_text().splitlines()
        for node in nodes(path)[0].body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _is_number(node.value):
                is_told = lines[node.lineno - 2].startswith("# ") or "  # " in lines[node.end_lineno - 1]
                assert is_told, f"{path}: {lines[node.lineno - 1]}"


def _is_number(value):
    """Whether an expression is made of numbers alone."""
    parts = [own for own in ast.walk(value) if isinstance(own, ast.expr)]
    are_plain = all(isinstance(own, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple)) for own in parts)
    numbers = [own.value for own in parts if isinstance(own, ast.Constant)]
    return bool(numbers) and are_plain and all(type(own) in (int, float) for own in numbers)


def test_public_functions_have_docstrings():
    """What a protocol says of a method need not be said again where it is implemented."""
    kinds = [node for path in FILES for node in nodes(path) if isinstance(node, ast.ClassDef)]
    protocols = [node for node in kinds if "Protocol" in map(ast.unparse, node.bases)]
    told = {own.name for node in protocols for own in node.body if isinstance(own, ast.FunctionDef)}
    assert {"background", "query"} <= told
    for path in FILES:
        private = [node for node in nodes(path) if isinstance(node, ast.ClassDef) and node.name.startswith("_")]
        functions = [node for node in nodes(path) if isinstance(node, ast.FunctionDef)]
        inner = {part for node in functions for part in ast.walk(node) if part is not node}
        hidden = inner.union(part for node in private for part in ast.walk(node))
        for node in set(nodes(path)) - hidden:
            is_named = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
            if is_named and node.name not in told:
                assert ast.get_docstring(node) or "web" in path.parts, (path, node.name)
