"""A store that does not answer, denies access, is missing, or is empty: in Python, over HTTP and by commands."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from _damage import deny
from _http import BASE, build, client
from click.testing import CliRunner
from fastapi import Request
from fastapi.testclient import TestClient

import provspark
from provspark.cli.main import main
from provspark.errors import (
    CatalogueAccessError,
    CatalogueError,
    CatalogueUnreachableError,
    NoCatalogueError,
    ProvSparkError,
    StoreAccessError,
    StoreMissingError,
    StoreUnreachableError,
)
from provspark.index_store.catalogue import Catalogue
from provspark.web import source
from provspark.web.app import create_app
from provspark.web.limits import Limits
from provspark.web.login import Viewer
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

pytest_plugins = ("_postgres", "_s3")

SECRET = "hidden-word"


class State(NamedTuple):
    error: type[ProvSparkError]
    type: str
    said: str


UNREACHABLE = State(StoreUnreachableError, "store-unreachable", "does not answer")
DENIED = State(StoreAccessError, "store-access-denied", "denies access")
MISSING = State(StoreMissingError, "store-missing", "There is no store")
NO_DATABASE = State(NoCatalogueError, "catalogue-missing", "There is no catalogue")
DATABASE_DENIED = State(CatalogueAccessError, "catalogue-access-denied", "denies access")
DATABASE_DOWN = State(CatalogueUnreachableError, "catalogue-unreachable", "does not answer")


def served(url: str) -> TestClient:
    def login(request: Request) -> None:
        request.state.provspark_viewer = Viewer(None, "ann")

    return TestClient(
        create_app(AnswerSource(lambda: url, Policy()), login, Limits(), url), raise_server_exceptions=False
    )


def assert_state(url: str, state: State) -> None:
    """The same state by all three ways, and no secret and no place where others read it."""
    with pytest.raises(ProvSparkError) as caught:
        provspark.open(url)
    assert type(caught.value) is state.error
    api = served(url)
    for path in ("about", "datasets", "steps"):
        answer = api.get(f"{BASE}/{path}")
        problem = answer.json()
        assert (answer.status_code, problem["status"]) == (503, 503)
        assert problem["type"] == f"urn:provspark:{state.type}"
        assert state.said in problem["detail"]
        assert ("retry-after" in answer.headers) == state.type.endswith("unreachable")
        assert url not in answer.text
    ran = CliRunner().invoke(main, ["ls", "--store", url])
    assert (ran.exit_code, ran.stderr.splitlines()) == (2, [f"error: {' '.join(str(caught.value).split())}"])
    assert SECRET not in str(caught.value) + answer.text + ran.output


def assert_empty(url: str) -> None:
    prov = provspark.open(url)
    assert (prov.datasets().table().num_rows, prov.steps().table().num_rows, prov.broken) == (0, 0, ())
    for path in ("datasets", "steps"):
        answer = served(url).get(f"{BASE}/{path}")
        assert (answer.status_code, answer.json()["items"]) == (200, [])
    ran = CliRunner().invoke(main, ["ls", "--store", url])
    assert (ran.exit_code, "There is no step yet in" in ran.stdout) == (0, True)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    assert_state(str(tmp_path / "none"), MISSING)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert_state(str(tmp_path), MISSING)


def test_an_empty_folder_and_a_store_without_steps(tmp_path: Path) -> None:
    assert_empty(str(tmp_path))
    build(tmp_path / "made")
    for step in (tmp_path / "made" / "prov" / "steps").iterdir():
        (step / "manifest.json").unlink()
    assert_empty(str(tmp_path / "made" / "prov"))


def test_an_empty_folder_that_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "prov").mkdir()
    prov = provspark.open(tmp_path / "prov")
    build(tmp_path)
    prov.refresh()
    assert prov.datasets().table().num_rows == 5


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path)
    deny(monkeypatch, tmp_path / "prov" / "format.json")
    assert_state(str(tmp_path / "prov"), DENIED)


@pytest.mark.parametrize("slow", [False, True])
def test_a_store_that_goes_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: bool) -> None:
    """No answer is from before: values and lineage can't be read."""
    root = build(tmp_path)
    api = client(root)
    assert api.get(f"{BASE}/datasets").json()["total"] == 5
    monkeypatch.setattr(source, "_FRESH", -1.0)
    monkeypatch.setattr(source, "_AT_ONCE", 0.0 if slow else 1e9)
    (root / "prov").rename(root / "away")
    codes = [api.get(f"{BASE}/datasets") for _ in range(20)]
    gone = [a.status_code for a in codes].index(503)
    assert gone <= (10 if slow else 0)
    for answer in codes[gone:]:
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:provspark:store-missing")
    (root / "away").rename(root / "prov")
    assert api.get(f"{BASE}/datasets").json()["total"] == 5


def test_a_store_that_is_slow_to_fail_is_not_tried_by_every_question(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def url() -> str:
        tries.append(1)
        raise StoreUnreachableError("down")

    monkeypatch.setattr(source, "_AT_ONCE", 0.0)
    looked = AnswerSource(url, Policy())
    for _ in range(5):
        with pytest.raises(StoreUnreachableError):
            looked.scope(None)
    assert len(tries) == 1
    monkeypatch.setattr(source, "_FRESH", -1.0)
    with pytest.raises(StoreUnreachableError):
        looked.scope(None)
    assert len(tries) == 2


def options(port: int) -> str:
    return f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def forbidding() -> Iterator[int]:
    """The port of an S3 server that denies everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(403)
            body = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_PUT = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_an_object_store_that_is_down(closed_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_FRESH", 60.0)
    assert_state(f"s3://key:{SECRET}@bucket/prov{options(closed_port)}", UNREACHABLE)


def test_an_object_store_that_denies_access(forbidding: int) -> None:
    assert_state(f"s3://key:{SECRET}@bucket/prov{options(forbidding)}", DENIED)


def test_an_object_store_without_the_bucket_and_without_a_step(s3: str) -> None:
    assert_state(f"s3://nobucket/prov{s3}", MISSING)
    assert_empty(f"s3://bucket/no-step-yet{s3}")


def test_a_catalogue_that_does_not_exist(tmp_path: Path) -> None:
    assert_state(f"sqlite:///{tmp_path / 'none.db'}", NO_DATABASE)


def test_a_catalogue_without_a_step(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'made.db'}"
    Catalogue.open(url).close()
    assert_empty(url)


def test_a_database_that_is_down(closed_port: int) -> None:
    assert_state(f"postgresql://user:{SECRET}@127.0.0.1:{closed_port}/db", DATABASE_DOWN)


@pytest.mark.postgres
def test_a_database_that_denies_access_and_one_that_does_not_exist(postgres: Any) -> None:
    url = postgres.database()
    user, _, rest = url.split("//", 1)[1].partition("@")
    assert_state(f"postgresql://{user.split(':')[0]}:{SECRET}@{rest}", DATABASE_DENIED)
    assert_state(f"{url}_none", NO_DATABASE)


def test_each_error_is_one_that_was_raised_before() -> None:
    """Programs that catch the errors of older versions still do."""
    assert issubclass(StoreAccessError, StoreUnreachableError) and issubclass(StoreMissingError, StoreUnreachableError)
    for kind in (CatalogueAccessError, CatalogueUnreachableError, NoCatalogueError):
        assert issubclass(kind, CatalogueError)


def test_a_read_that_fails_because_the_store_went_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of the store, not the one file that happened to be read."""
    root = build(tmp_path)
    api = client(root)
    (people,) = [d for d in api.get(f"{BASE}/datasets").json()["items"] if d["label"] == "people"]
    (tensor,) = root.glob("prov/steps/shop-clean-*/tensors/*.parquet")
    refused: list[Callable[[], None]] = [
        lambda: deny(monkeypatch, tensor),
        lambda: deny(monkeypatch, root / "prov" / "format.json"),
    ]
    types = []
    for act in refused:
        act()
        answer = api.post(f"{BASE}/trace", json={"dataset": people["id"], "rows": [0]})
        types.append((answer.status_code, answer.json()["type"]))
    assert types == [(500, "urn:provspark:file-unreadable"), (503, "urn:provspark:store-access-denied")]
