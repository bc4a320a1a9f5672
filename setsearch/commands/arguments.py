"""Arguments and options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

DB = Annotated[Path, typer.Argument(metavar="DB", help="The database file.", show_default=False)]
Examples = Annotated[
    list[str] | None, typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)
]
Seeds = Annotated[list[str], typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)]
Items = Annotated[str | None, typer.Option(metavar="NAME", help="What to rank: terms, documents, or a column.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another writer.", min=0)]
