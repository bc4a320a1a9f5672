"""Commands that serve an index to other programs."""

from setsearch.commands.arguments import DB
from setsearch.errors import UsageError


def mcp(db: DB) -> None:
    """Serve an index to an assistant, by the Model Context Protocol on stdin and stdout."""
    try:
        from setsearch.integrations.mcp import make_server
    except ImportError as error:
        raise UsageError("the command mcp needs an extra: pip install 'setsearch[mcp]'") from error
    make_server(db).run("stdio")
