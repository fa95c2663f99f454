"""Database of the catalogue: its URL, its transactions, and its errors."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError

from provspark.model.errors import CatalogueAccessError, CatalogueError, CatalogueUnreachableError, NoCatalogueError

BUSY_SECONDS = 60
_DENIED = re.compile(
    r"authentication failed|permission denied|no pg_hba\.conf entry|role .* does not exist|readonly database|"
    r"no password supplied|not permitted to log in"
)
_ABSENT = re.compile(r"database .* does not exist")
_WRITES = "provspark_writes"


class Database:
    """Connections to SQLite or PostgreSQL, with the transactions that the catalogue needs.

    Parameters
    ----------
    url : str
        ``sqlite:////path/catalogue.db`` or ``postgresql://user:password@host/database``.
    """

    def __init__(self, url: str) -> None:
        self._url = _parse(url)
        self.sqlite = self._url.get_backend_name() == "sqlite"
        shown = self._url.set(drivername=self._url.get_backend_name())
        self.where = shown.render_as_string(hide_password=True)
        """URL without password and driver, for messages."""
        args = {"timeout": BUSY_SECONDS} if self.sqlite else {"connect_timeout": 10}
        self._engine: Engine = create_engine(self._url, connect_args=args, pool_pre_ping=not self.sqlite)
        if self.sqlite:
            event.listen(self._engine, "connect", _sqlite_connect)
            event.listen(self._engine, "begin", _sqlite_begin)

    def missing(self) -> bool:
        """Return whether this is SQLite and its file does not exist; connecting would create it."""
        if not self.sqlite:
            return False
        path = Path(str(self._url.database))
        try:
            there = path.exists()
        except PermissionError:
            there = True
        if there and not os.access(path, os.R_OK):
            raise CatalogueAccessError(
                f"Cannot read the catalogue {self.where}: permission denied. Let this user read the file."
            )
        return not there

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection whose reads see one snapshot."""
        with self._typed(), self._engine.connect() as connection:
            if not self.sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self, alone: bool = False) -> Iterator[Connection]:
        """Yield a connection in a transaction: all changes are kept, or none.

        SQLite has one writer at a time. On PostgreSQL writers run in parallel, except one that is `alone`.
        """
        with self._typed(), self._engine.connect() as connection:
            connection = connection.execution_options(**{_WRITES: True})
            with connection.begin():
                if not self.sqlite:
                    mode = "EXCLUSIVE" if alone else "ROW EXCLUSIVE"
                    connection.execute(text(f"LOCK TABLE provspark_store IN {mode} MODE"))
                yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Yield a connection in a transaction that excludes other migrations."""
        with self._typed(), self._engine.connect() as connection:
            if self.sqlite:
                _switch_to_wal(connection)
            connection = connection.execution_options(**{_WRITES: True})
            with connection.begin():
                if not self.sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('provspark_catalogue'))"))
                yield connection

    @contextmanager
    def _typed(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as e:
            reason = (str(getattr(e, "orig", None) or e).strip().splitlines() or [type(e).__name__])[0]
            raise _kind(e, reason)(
                f"Cannot access the catalogue {self.where}: {reason}. The transaction was rolled back. Check that the "
                f"URL is correct, that the database is running, and that the user can read and write it."
            ) from e


def _kind(error: Exception, reason: str) -> type[CatalogueError]:
    """Return the class of an error by its SQLSTATE, which drivers lack before they are connected, or its message."""
    state = getattr(getattr(error, "orig", None), "pgcode", None) or getattr(error, "sqlstate", None) or ""
    if state.startswith("28") or state == "42501" or _DENIED.search(reason):
        return CatalogueAccessError
    if state == "3D000" or _ABSENT.search(reason):
        return NoCatalogueError
    down = isinstance(error, (OperationalError, sqlite3.OperationalError, InterfaceError))
    return CatalogueUnreachableError if down else CatalogueError


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as e:
        raise CatalogueError(
            "The catalogue's URL is not valid. Use sqlite:////path/catalogue.db "
            "or postgresql://user:password@host/database."
        ) from e
    backend = "postgresql" if parsed.drivername == "postgres" else parsed.get_backend_name()
    where = parsed.render_as_string(hide_password=True)
    if backend == "postgresql":
        return _with_driver(parsed, where)
    if backend != "sqlite":
        raise CatalogueError(
            f"{where} is a {backend} database. The catalogue runs on SQLite or PostgreSQL; pass the URL of one."
        )
    if not parsed.database or parsed.database == ":memory:":
        raise CatalogueError(f"{where} is in memory and would be lost. Use a file: sqlite:////path/catalogue.db.")
    return parsed.set(drivername="sqlite+pysqlite")


def _with_driver(url: URL, where: str) -> URL:
    """Add the driver to the URL: which one a bare ``postgresql://`` means differs between releases of SQLAlchemy."""
    asked = url.drivername.partition("+")[2]
    for driver in (asked,) if asked else ("psycopg2", "psycopg"):
        if find_spec(driver) is not None:
            return url.set(drivername=f"postgresql+{driver}")
    raise CatalogueError(
        f"{where} needs a PostgreSQL driver, and none is installed. "
        f"Run `pip install 'airflow-provider-provspark[postgres]'`."
    )


def _sqlite_connect(connection: Any, _record: Any) -> None:
    # The sqlite3 module's own transactions start late and exclude DDL; `_sqlite_begin` starts ours.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _sqlite_begin(connection: Connection) -> None:
    # A writer takes its lock at once: if it read first, it would fail when another wrote meanwhile.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _switch_to_wal(connection: Connection) -> None:
    """Let readers run beside the writer; the file keeps this mode."""
    raw: Any = connection.connection.driver_connection
    if raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        raw.execute("PRAGMA journal_mode = WAL")
