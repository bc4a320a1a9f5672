"""The database that a command is about, and the collection in it: DB and --collection."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import setsearch
from setsearch.cli.help import ADVANCED, argument, option

if TYPE_CHECKING:
    from setsearch.index import Index

Command = Callable[..., None]

_PATH = Annotated[Path, argument("DB", "The database file.")]
_NAME = Annotated[str, option("NAME", "One of several collections in DB.", ADVANCED)]


class Collection(NamedTuple):
    """A database file, and the name of a collection in it; all of them without a name."""

    path: Path
    name: str = ""

    def __str__(self) -> str:
        return str(self.path)

    def open(self, **options: Any) -> "Index":
        """Open the index; `options` are those of `setsearch.open`."""
        return setsearch.open(self.path, collection=self.name, **options)


def with_collection(command: Command) -> Command:
    """Give a command whose `db` is a Collection the argument DB and --collection; others stay as they are."""
    signature = inspect.signature(command)
    if "db" not in signature.parameters or signature.parameters["db"].annotation is not Collection:
        return command

    @functools.wraps(command)
    def run(db: Path, *args: Any, collection: str, **values: Any) -> None:
        command(Collection(db, collection), *args, **values)

    path, *others = signature.parameters.values()
    name = inspect.Parameter("collection", inspect.Parameter.KEYWORD_ONLY, default="", annotation=_NAME)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[path.replace(annotation=_PATH), *others, name]
    )
    run.__annotations__ = command.__annotations__ | {"db": _PATH, "collection": _NAME}
    return run
