from __future__ import annotations

import gzip
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
import uvicorn
from _catalogue import STORE, pipeline
from openlineage.client import OpenLineageClient
from openlineage.client.serde import Serde
from openlineage.client.transport.http import HttpConfig, HttpTransport

from provspark import receiver
from provspark.airflow.events import events_from_manifest
from provspark.errors import CatalogueError, PackageMissingError, SettingsError
from provspark.index_store.catalogue import Catalogue
from provspark.web.events import Events, events_app

pytest_plugins = ("_postgres",)
KEY = "a-key-for-the-tests"
HEADERS = {"Authorization": f"Bearer {KEY}"}


@contextmanager
def serving(catalogue_url: str, **options) -> Iterator[str]:
    """Run the app in a real server on a free loopback port; yield its URL."""
    app = events_app(Events(catalogue_url, KEY, **options))
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on", ws="none")
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def tell(sockets=None):
        await startup(sockets)
        started.set()

    server.startup = tell
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(30)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'catalogue.db'}"


def post(url: str, body: bytes, **headers) -> requests.Response:
    return requests.post(f"{url}/api/v1/lineage", data=body, headers={**HEADERS, **headers}, timeout=30)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_events_by_openlineages_own_transport(catalogue_url, tmp_path, compression):
    world = pipeline()
    events = [e for m in world.manifests for e in events_from_manifest(STORE, m)]
    world.unreachable = True
    with serving(catalogue_url) as url:
        settings = {"url": url, "auth": {"type": "api_key", "apiKey": KEY}, "compression": compression}
        client = OpenLineageClient(transport=HttpTransport(HttpConfig.from_dict(settings)))
        for event in events:
            client.emit(event)
        client.close()
    with (
        Catalogue.open(catalogue_url) as received,
        Catalogue.open(f"sqlite:///{tmp_path / 'own.db'}", files=world.files) as own,
    ):
        for event in events:
            own.ingest(event)
        assert received.dump() == own.dump()
        assert len(received.links()) == 2


def test_answers(sqlite_url, caplog):
    caplog.set_level(logging.CRITICAL)
    manifest = pipeline().manifests[1]
    event = Serde.to_json(events_from_manifest(STORE, manifest)[1]).encode()
    with serving(sqlite_url) as url:
        taken = post(url, event)
        assert (taken.status_code, taken.json()) == (
            201,
            {"store": STORE, "step": manifest.step, "status": "succeeded", "versions": 2, "unread": 2},
        )
        assert post(url, event).json() == taken.json()
        foreign = post(url, b'{"run": {"runId": "x"}, "job": {}}')
        assert (foreign.status_code, foreign.json()["step"]) == (201, None)
        assert foreign.json()["note"] == "no ProvSpark facet: the event was ignored"
        said = json.loads(event) | {"run": {"runId": "x"}}
        for entry in said["inputs"] + said["outputs"]:
            del entry["facets"]
        kept = post(url, json.dumps(said).encode())
        assert (kept.status_code, kept.json()) == (
            201,
            {"step": None, "note": "no ProvSpark facet: kept as a declared link"},
        )


def test_only_with_the_key(sqlite_url):
    event = Serde.to_json(events_from_manifest(STORE, pipeline().manifests[1])[1]).encode()
    with serving(sqlite_url) as url:
        for given in ("", "Bearer", "Bearer ", f"Bearer {KEY}x", f"Basic {KEY}", KEY, "Bearer \xe4"):
            answer = post(url, event, Authorization=given)
            assert answer.status_code == 401, given
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"
            assert KEY not in answer.text
        assert post(url, event, Authorization=f"bearer {KEY}").status_code == 201
        without = requests.post(f"{url}/api/v1/lineage", data=event, timeout=30)
        assert without.status_code == 401
    with Catalogue.open(sqlite_url) as catalogue:
        assert len(catalogue.steps()) == 1


def test_bad_requests_are_problems_and_take_nothing_in(sqlite_url):
    event = Serde.to_json(events_from_manifest(STORE, pipeline().manifests[1])[1]).encode()
    broken = json.loads(event)
    broken["outputs"][0]["facets"]["provspark"]["rows"] = -1
    packed = gzip.compress(event)
    gz = {"Content-Encoding": "gzip"}
    with serving(sqlite_url, max_bytes=20_000) as url:
        cases = [
            (422, post(url, b"")),
            (422, post(url, b"{")),
            (422, post(url, json.dumps(broken).encode())),
            (400, post(url, event, **gz)),
            (400, post(url, packed[:-9], **gz)),
            (400, post(url, packed + b"more", **gz)),
            (400, post(url, b"", **gz)),
            (415, post(url, event, **{"Content-Encoding": "br"})),
            (413, post(url, event + b" " * 20_000)),
            (413, post(url, gzip.compress(event + b" " * 5_000_000), **gz)),
            (413, post(url, iter([b" " * 9_000] * 3))),
            (404, requests.post(f"{url}/api/v2/lineage", headers=HEADERS, timeout=30)),
            (405, requests.get(f"{url}/api/v1/lineage", headers=HEADERS, timeout=30)),
            (404, requests.get(f"{url}/openapi.json", timeout=30)),
        ]
        for status, answer in cases:
            assert answer.status_code == status, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            body = answer.json()
            assert set(body) == {"type", "title", "status", "detail"}
            assert body["status"] == status
        assert "rows must be a whole number" in cases[2][1].json()["detail"]
    with Catalogue.open(sqlite_url) as catalogue:
        assert catalogue.steps() == []


def test_a_database_that_fails_is_said_and_may_be_tried_again(sqlite_url, monkeypatch):
    event = Serde.to_json(events_from_manifest(STORE, pipeline().manifests[1])[1]).encode()
    whole, failures = Catalogue.ingest, [CatalogueError("postgresql://secret-host is down")]

    def first_fails(self, body):
        if failures:
            raise failures.pop()
        return whole(self, body)

    monkeypatch.setattr(Catalogue, "ingest", first_fails)
    with serving(sqlite_url) as url:
        answer = post(url, event)
        assert answer.status_code == 503
        assert "secret-host" not in answer.text
        assert post(url, event).status_code == 201


def test_senders_at_once(catalogue_url):
    events = [Serde.to_json(e).encode() for m in pipeline().manifests for e in events_from_manifest(STORE, m)]
    statuses: list[int] = []
    with serving(catalogue_url) as url:

        def send(shift: int) -> None:
            for i in range(len(events)):
                statuses.append(post(url, events[(i * 3 + shift) % len(events)]).status_code)

        threads = [threading.Thread(target=send, args=(shift,)) for shift in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert statuses == [201] * 60
    with Catalogue.open(catalogue_url) as catalogue:
        assert len(catalogue.steps()) == 5


def test_settings_are_checked_at_start(sqlite_url, monkeypatch):
    with pytest.raises(SettingsError, match="at least 16 characters"):
        Events(sqlite_url, "short")
    with pytest.raises(CatalogueError):
        Events("sqlite:////no/such/folder/c.db", KEY)
    with pytest.warns(DeprecationWarning, match="provspark serve --events-key-file"):
        former = receiver.create_app(sqlite_url, KEY)
    assert [route.path for route in former.routes] == ["/api/v1/lineage"]
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(PackageMissingError, match="pip install fastapi"):
        receiver.create_app(sqlite_url, KEY)
