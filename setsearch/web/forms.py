"""Forms of the page: what was sent, and where to go then."""

from urllib.parse import parse_qsl

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse

SEE_OTHER = 303


async def read_form(request: Request) -> QueryParams:
    """The fields of a form."""
    return QueryParams(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))


def root_of(request: Request) -> str:
    """Where this application is mounted."""
    return str(request.scope.get("root_path", ""))


def redirect(request: Request, place: str) -> RedirectResponse:
    """The page to show next."""
    return RedirectResponse(f"{root_of(request)}/{place}", SEE_OTHER)
