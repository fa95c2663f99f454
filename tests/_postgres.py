"""A private PostgreSQL for the tests: in a temporary folder, on loopback, unprivileged, gone afterwards."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"PostgreSQL must be there in CI: {reason}")
    pytest.skip(f"no PostgreSQL: {reason}; tests/setup_postgres.sh installs it")


DRIVER = "/usr/share/java/postgresql.jar"


def driver() -> str:
    """Return the JDBC driver's jar as a URL; skip where there is none, but never in CI."""
    jar = Path(os.environ.get("PROVSPARK_TEST_POSTGRES_JDBC", DRIVER))
    if not jar.exists():
        _missing(f"its JDBC driver is not at {jar}")
    return jar.as_uri()


def _binaries() -> Path | None:
    found = [Path(p).parent for p in [shutil.which("initdb")] if p]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)
    return next((p for p in found if (p / "initdb").exists() and (p / "postgres").exists()), None)


def _user() -> str | None:
    """PostgreSQL refuses to run as root: whom to be instead."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), "nobody")


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Postgres:
    """A running server; `database` makes a fresh database and returns its URL, `drop` removes them all."""

    def __init__(self, url: str) -> None:
        self._url, self._made = url.rpartition("/")[0], []

    def database(self) -> str:
        name = f"provspark_test_{secrets.token_hex(6)}"
        self._execute(f"CREATE DATABASE {name}")
        self._made.append(name)
        return f"{self._url}/{name}"

    def drop(self) -> None:
        for name in self._made:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _execute(self, statement: str) -> None:
        connection = self._connect()
        try:
            connection.autocommit = True
            connection.cursor().execute(statement)
        finally:
            connection.close()

    def _connect(self) -> Any:
        """Connect, waiting while the server still starts up."""
        import psycopg2

        for _ in range(300):
            try:
                return psycopg2.connect(f"{self._url}/postgres")
            except psycopg2.OperationalError as e:
                if "starting up" not in str(e):
                    raise
                time.sleep(0.1)
        raise TimeoutError("PostgreSQL is still starting up after 30 s")


@contextmanager
def _running() -> Iterator[Postgres]:
    bin_folder = _binaries()
    if bin_folder is None:
        _missing("no initdb on the path or in /usr/lib/postgresql")
    user, folder = _user(), Path(tempfile.mkdtemp(prefix="provspark-postgres-"))
    password = secrets.token_hex(12)
    (folder / "password").write_text(password)
    if user is not None:
        for path in (folder, folder / "password"):
            shutil.chown(path, user)
    options = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
    try:
        made = subprocess.run(
            [
                *(f"{bin_folder}/initdb", "-D", folder / "data", "-U", "tester", "-A", "scram-sha-256"),
                *(f"--pwfile={folder / 'password'}", "--no-sync", "-E", "UTF8", "--locale=C"),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            **options,
        )
        if made.returncode:
            _missing(f"initdb failed: {made.stderr.strip()[-300:]}")
        with _server(bin_folder, folder, options) as port:
            yield Postgres(f"postgresql://tester:{password}@127.0.0.1:{port}/postgres")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _server(bin_folder: Path, folder: Path, options: dict[str, Any]) -> Iterator[int]:
    """Start on a free port; someone may take the port between the asking and the start, so try some."""
    log = folder / "log"
    for _ in range(3):
        port = _free_port()
        with log.open("w") as out:
            server = subprocess.Popen(
                [
                    *(f"{bin_folder}/postgres", "-D", folder / "data", "-p", str(port), "-h", "127.0.0.1"),
                    *("-k", "", "-F", "-c", "max_connections=60"),
                ],
                cwd=folder,
                stdout=out,
                stderr=out,
                **options,
            )
        try:
            if _answers(server, port):
                yield port
                return
        finally:
            server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    _missing(f"the server does not start: {log.read_text()[-300:]}")


def _answers(server: subprocess.Popen[bytes], port: int) -> bool:
    for _ in range(300):
        if server.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return True
    return False


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return the session's server; skip where there is none, but never in CI.

    PROVSPARK_TEST_POSTGRES may name another one, as postgresql://user:password@host:port/postgres, with a
    user who may make databases.
    """
    given = os.environ.get("PROVSPARK_TEST_POSTGRES")
    if not given:
        with _running() as server:
            yield server
        return
    server = Postgres(given)
    try:
        yield server
    finally:
        server.drop()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def catalogue_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database: each test runs on both kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'catalogue.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()
