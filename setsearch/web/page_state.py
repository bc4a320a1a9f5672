"""The state of the page, which is its URL: what is ranked, examples, how much is shown. Forms, and where to go then."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from setsearch.errors import UsageError
from setsearch.options import offered, require_known

MOST_NAMES = 200  # of each kind on a page
LONGEST_NAME = 1000  # characters
LONGEST_TEXT = 20_000  # characters; also of a list that was pasted
LONGEST_NUMBER = 9  # digits and one
SIZES = ("small", "large", "all")
OPTIONS = offered("the page")
LISTS = {"seed": "seeds", "reject": "rejected", "having": "having", "like": "like"}  # fields of several values
STATE = ("items", *LISTS, "size", "set", "end", "version")
SEE_OTHER = 303  # the status after which a browser asks by GET


@dataclass(frozen=True)
class Address:
    """What the page asks.

    `rejected` are negative examples, `having` features as an example, `like` texts as examples, `set` the saved name
    and `version` that of the saved set when it was opened;
    `options` are others of a question as names and values, `end` is how many items belong if the reader moved the line.
    """

    items: str | None = None
    seeds: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    having: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    size: str = "small"
    set: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    end: int | None = None
    version: str | None = None

    @classmethod
    def of(cls, request: Request, *others: str) -> "Address":
        """The state of a page, which may have other parameters; raises UnknownOption, UsageError."""
        require_known(request.query_params, (*STATE, *OPTIONS, *others), "the page")
        return cls.read(request.query_params)

    @classmethod
    def read(cls, query: QueryParams) -> "Address":
        """The state in a form; raises UsageError if it is too long."""

        def several(key: str) -> tuple[str, ...]:
            names = tuple(dict.fromkeys(name for name in query.getlist(key) if name.strip()))
            if len(names) > MOST_NAMES or any(len(name) > LONGEST_TEXT for name in names):
                raise UsageError(
                    f"at most {MOST_NAMES} names of {LONGEST_TEXT:,} characters fit on a page; the API takes more"
                )
            return names

        def one(key: str) -> str | None:
            return (query.get(key) or "").strip() or None

        names: Any = {own: several(key) for key, own in LISTS.items()}
        size, end = query.get("size"), query.get("end", "")
        return cls(
            one("items"),
            **names,
            size=size if size in SIZES else SIZES[0],
            set=one("set"),
            options=tuple((name, value) for name in OPTIONS for value in several(name)),
            end=int(end) if end.isdecimal() and len(end) < LONGEST_NUMBER and int(end) else None,
            version=one("version"),
        )

    @property
    def filter(self) -> tuple[str, ...]:
        return tuple(value for name, value in self.options if name == "filter")

    def with_option(self, name: str, value: str) -> "Address":
        return replace(self, options=tuple(dict.fromkeys((*self.options, (name, value)))))

    def with_only(self, name: str, value: str | None) -> "Address":
        """With this value of an option alone, or without the option."""
        options = tuple(own for own in self.options if own[0] != name)
        return replace(self, options=options if value is None else (*options, (name, value)))

    @property
    def asks(self) -> bool:
        return bool(self.examples)

    @property
    def examples(self) -> tuple[str, ...]:
        return self.seeds + self.having + self.like

    def accept(self, *names: str) -> "Address":
        seeds = tuple(dict.fromkeys((*self.seeds, *names)))
        return replace(self, seeds=seeds, rejected=_less(self.rejected, names))

    def reject(self, name: str) -> "Address":
        rejected = tuple(dict.fromkeys((*self.rejected, name)))
        return replace(self, seeds=_less(self.seeds, [name]), rejected=rejected)

    def forget(self, name: str) -> "Address":
        """Without a name."""
        kept: Any = {own: _less(getattr(self, own), [name]) for own in LISTS.values()}
        return replace(self, options=tuple(own for own in self.options if own != ("filter", name)), **kept)

    def replace(self, **fields: Any) -> "Address":
        return replace(self, **fields)

    def pairs(self) -> list[tuple[str, str]]:
        """Names and values of the query string."""
        pairs = [("items", self.items)]
        pairs += [(key, name) for key, own in LISTS.items() for name in getattr(self, own)]
        pairs += [("size", self.size if self.size != SIZES[0] else None), *self.options, ("set", self.set)]
        pairs += [("version", self.version), ("end", None if self.end is None else str(self.end))]
        return [(key, value) for key, value in pairs if value]

    def __str__(self) -> str:
        return "?" + urlencode(self.pairs())


async def read_form(request: Request) -> QueryParams:
    return QueryParams(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))


def root_of(request: Request) -> str:
    """Where this application is mounted."""
    return str(request.scope.get("root_path", ""))


def redirect(request: Request, place: str) -> RedirectResponse:
    """The page to show next."""
    return RedirectResponse(f"{root_of(request)}/{place}", SEE_OTHER)


def attachment(content: str, name: str, kind: str) -> Response:
    """A text as a file of some name."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)


def _less(names: Sequence[str], gone: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)
