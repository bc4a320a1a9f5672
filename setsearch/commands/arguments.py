"""Arguments and options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

DB = Annotated[Path, typer.Argument(metavar="DB", help="The database file.", show_default=False)]
SEEDS = typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)
Seeds = Annotated[list[str], SEEDS]
Examples = Annotated[list[str] | None, SEEDS]
Items = Annotated[str | None, typer.Option(metavar="NAME", help="What to rank: terms, documents, or a column.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another writer.", min=0)]
