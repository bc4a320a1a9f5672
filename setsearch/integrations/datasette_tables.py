"""A table of a database of Datasette: how it is indexed, what answers questions about its rows, and who may see it."""

import asyncio
import atexit
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from datasette.utils import tilde_decode, tilde_encode
from datasette.utils.sqlite import sqlite3 as driver

import setsearch
from setsearch.errors import NoIndex, SetsearchError
from setsearch.integrations.table_copies import TableCopies, not_indexed
from setsearch.pool import WORKERS, QuestionPool, watch_damage
from setsearch.sqlite.sql import quote
from setsearch.storage.synced_source import FTS5, TABLE

OUR_PREFIX = "setsearch_"
REFRESH_WAIT = 200  # ms for another writer, before an answer without its changes
ANSWER_SECONDS = 30.0  # the first answer after a write may take long; SQL of visitors has Datasette's own limit
_log = logging.getLogger("setsearch")
_pools: dict[tuple[str, float], QuestionPool] = {}
_copies = TableCopies()
atexit.register(_copies.close)
_turns: "WeakKeyDictionary[Any, asyncio.Semaphore]" = WeakKeyDictionary()  # of databases in memory

Source = dict[str, Any]  # how a table is indexed: `Index.table_source`


@dataclass(frozen=True)
class HostTable:
    """A table or view of a database that Datasette serves; a database alone has no `name` here."""

    datasette: Any
    database: str
    name: str = ""

    def path(self, suffix: str = "", **query: Any) -> str:
        """The address of our page of it."""
        path = f"/-/setsearch/{tilde_encode(self.database)}/{tilde_encode(self.name)}{suffix}"
        parameters = urlencode(query, doseq=True)
        return str(self.datasette.urls.path(path + ("?" + parameters if parameters else "")))

    async def may(self, actor: Any, action: str) -> bool:
        """Whether a visitor may do something to it."""
        datasette, database, name = self.datasette, self.database, self.name
        if hasattr(datasette, "allowed"):
            from datasette.resources import DatabaseResource, TableResource

            resource = TableResource(database, name) if name else DatabaseResource(database)
            return bool(await datasette.allowed(action=action, resource=resource, actor=actor))
        if not name:
            return bool(await datasette.permission_allowed(actor, action, resource=database, default=True))
        permissions = [(action, (database, name)), ("view-database", database), "view-instance"]
        return bool((await datasette.check_visibility(actor, permissions=permissions))[0])

    async def indexed(self, strict: bool = False) -> Source | None:
        """How it is indexed; None if it is not. Raises SetsearchError if `strict`."""
        found: Source | None = await self.ask(lambda index: index.table_source(self.name, (TABLE, FTS5)), strict)
        return found

    async def source(self) -> Source | None:
        """How it is indexed, or would be copied; None if no rows of it can be asked for."""
        source = await self.indexed()
        if source is None and self._may_be_copied():
            with suppress(SetsearchError, sqlite3.Error):  # a menu has no entry then
                source = await self._execute(partial(_copies.key, self._place, self.name))
        return source

    async def page_of_row(self, request: Any) -> str | None:
        """Our page of rows like the one that a request shows; None if no rows can be asked for."""
        source = await self.source()
        if source is None:
            return None
        names = [*map(tilde_decode, request.url_vars["pks"].split(","))]
        if not source["primary"]:
            keys = await self._host.primary_keys(self.name) or ["rowid"]
            condition = " and ".join(f"{quote(key)} = ?" for key in keys)
            statement = f"select {quote(source['key'])} from {quote(self.name)} where {condition}"
            rows = await self._host.execute(statement, names)
            names = [str(name) for row in rows.rows for name in row if name is not None]
        return self.path(row=names) if names else None

    async def answer(self, question: Callable[[Source, setsearch.Index], Any]) -> Any:
        """What its index answers, or that of its copy, with changes applied if it is so configured.

        Raises SetsearchError.
        """
        source = None
        with suppress(NoIndex):
            source = await self.indexed(strict=True)
        if source is not None and source["changed"] and self._configured("refresh", False) and await self._refresh():
            source = await self.indexed() or source
        if source is not None:
            return await self.ask(partial(question, source), strict=True)
        if not self._may_be_copied():
            raise SetsearchError(not_indexed(self.name))
        copy = await self._execute(partial(_copies.copy, self._place, self.name))
        copied = datetime.fromtimestamp(copy.time, UTC).isoformat(timespec="seconds")
        source = {"items": "documents", "key": copy.key, "primary": copy.primary, "changed": None, "copied": copied}
        return await _pool(copy.path, self._time_limit).ask(partial(question, source))

    async def ask(self, question: Callable[[setsearch.Index], Any], strict: bool = False) -> Any:
        """Ask the index in its database, in few threads. Unless `strict`, an error gives None.

        A database in memory has its connections in Datasette's threads, so few questions at a time go there.
        """
        host, limit = self._host, self._time_limit
        try:
            if host.path is None:
                return await self._execute(lambda lent: question(setsearch.open(lent, time_limit=limit)))
            place: Any = host.path
            if driver is not sqlite3:  # but pysqlite3, which Datasette prefers
                place = _Connector(str(place), "mode=ro" if host.is_mutable else "immutable=1")
            if (str(place), limit) not in _pools:
                watch_damage(place, _log.error)
            return await _pool(place, limit).ask(question)
        except SetsearchError:
            if strict:
                raise
            return None

    @property
    def _host(self) -> Any:
        return self.datasette.get_database(self.database)

    @property
    def _place(self) -> str:
        """What tells its database from all others."""
        path = self._host.path
        return f"{id(self.datasette)} {self.database}" if path is None else str(path)

    @property
    def _time_limit(self) -> float:
        """Seconds that SQL may take."""
        return float(self.datasette.setting("sql_time_limit_ms") / 1000)

    def _configured(self, name: str, default: bool) -> bool:
        own = self.datasette.plugin_config("setsearch", database=self.database, table=self.name) or {}
        return bool(own.get(name, default))

    def _may_be_copied(self) -> bool:
        return self._configured("copies", True) and not self.name.lower().startswith(OUR_PREFIX)

    async def _refresh(self) -> bool:
        """Apply the changes of the tables of its database; False if that failed: the answer says what it lacks."""
        if not self._host.is_mutable:
            return False
        try:
            await self._host.execute_write_fn(_refresh)
        except (SetsearchError, driver.Error) as error:
            _log.warning("%s is not refreshed: %s", self.database, error)
            return False
        return True

    async def _execute(self, read: Callable[[sqlite3.Connection], Any]) -> Any:
        """What is read by a connection of Datasette's, a few at a time."""
        async with _turns.setdefault(self.datasette, asyncio.Semaphore(WORKERS)):
            return await self._host.execute_fn(read)


@dataclass(frozen=True)
class _Connector:
    """Connects to a file by an SQLite that is not Python's: two in a process end one another's locks on it."""

    path: str
    options: str

    def __str__(self) -> str:
        return self.path

    def __call__(self) -> Any:
        address = f"{Path(self.path).resolve().as_uri()}?{self.options}"
        return driver.connect(address, uri=True, check_same_thread=False)


def _pool(place: str | Path | _Connector, limit: float) -> QuestionPool:
    """What asks the index in a file."""
    key = (str(place), limit)
    if key not in _pools:
        for gone in [own for own in _pools if not Path(own[0]).exists()]:  # copies that are not kept
            del _pools[gone]
        _pools[key] = QuestionPool(place, ANSWER_SECONDS, time_limit=limit)
    return _pools[key]


def _refresh(lent: sqlite3.Connection) -> None:
    """Apply the changes of tables, unless another writer takes long."""
    (usual,) = lent.execute("pragma busy_timeout").fetchone()
    lent.execute(f"pragma busy_timeout = {REFRESH_WAIT}")
    try:
        setsearch.open(lent).refresh()
    finally:
        lent.execute(f"pragma busy_timeout = {usual}")
