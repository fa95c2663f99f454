"""A store of two DAGs with files on disk, and clients of the API over it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from _steps import read, write
from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.web.app import create_app
from provspark.web.limits import Limits
from provspark.web.login import Viewer
from provspark.web.policy import Policy
from provspark.web.scope import dataset_id
from provspark.web.source import AnswerSource

SCRIPT = "<script>alert('x')</script>"
PEOPLE: dict[str, list[Any]] = {
    "name": ["Ann", SCRIPT, "=1+1", None, "Eve"],
    "age": [30, 41, 30, 2**60, 52],
    "e_mail": ["a@x", "b@x", "c@x", "d@x", "e@x"],
}
FIELDS = (Field("name", "string"), Field("age", "bigint"), Field("e_mail", "string"))
BASE = "/api/v1"
PATIENT = Limits(request_seconds=300, replay_seconds=600)
"""Far more time than any test needs, on a busy machine too."""


def on_disk(folder: Path, columns: dict[str, list[Any]], *, written: bool) -> PendingVersion:
    folder.mkdir(parents=True)
    schema = pa.schema([("name", pa.string()), ("age", pa.int64()), ("e_mail", pa.string())])
    pq.write_table(pa.table(columns, schema), folder / "part.parquet")
    stat = (folder / "part.parquet").stat()
    files = Files.of([("part.parquet", stat.st_size, stat.st_mtime_ns // 10**6, len(columns["age"]), written)])
    return PendingVersion(Dataset.parse(str(folder)), files, "parquet", (), FIELDS)


def publish(store: Store, second: int, key: StepKey, *writes: PendingWrite, error: str = "") -> None:
    writer = store.writer(key)
    for w in writes:
        writer.add(w)
    clock = f"2026-01-01T00:00:{second:02d}"
    writer.publish(status="succeeded", started=f"{clock}.000000", ended=f"{clock}.500000", error=error)


def build(root: Path) -> Path:
    """raw → people (DAG shop) → secret (DAG vault) → report (DAG shop); and a run without a DAG: raw → loose."""
    store = Store.open(str(root / "prov"), create=True)
    raw = on_disk(root / "raw", PEOPLE, written=False)
    kept = {name: [values[i] for i in (0, 1, 2, 4)] for name, values in PEOPLE.items()}
    people = on_disk(root / "people", kept, written=True)
    publish(store, 1, StepKey("clean", "r1", "shop"), write(people, [(raw, [(0, 0), (1, 1), (2, 2), (3, 4)])]))
    few = {name: values[:2] for name, values in kept.items()}
    secret = on_disk(root / "secret", few, written=True)
    publish(store, 2, StepKey("hide", "r2", "vault"), write(secret, [(read(people), [(0, 0), (1, 1)])]))
    report = on_disk(root / "report", {"name": ["all"], "age": [2], "e_mail": [None]}, written=True)
    pairs = [(0, 0), (0, 1)]
    context = (read(people), [(0, 3)], "context")
    publish(store, 3, StepKey("report", "r1", "shop"), write(report, [(read(secret), pairs), context]))
    loose = on_disk(root / "loose", few, written=True)
    publish(store, 4, StepKey("loose", "cli"), write(loose, [(raw, [(0, 0), (1, 1)])]))
    return root


def id_of(root: Path, name: str) -> str:
    return dataset_id(Dataset.parse(str(root / name)))


def path_of(root: Path, route: APIRoute, name: str = "page.js") -> str:
    """A path that a route takes."""
    return route.path.format(dataset=id_of(root, "raw"), step="x", operation=0, name=name)


def client(
    root: Path,
    dags: Iterable[str] | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    url: str = "",
) -> TestClient:
    """A client of an app where the header ``who: me`` is the login, and `name` the user's name.

    It shows the store below `root`, or what a URL names.
    """
    seen = None if dags is None else frozenset(dags)

    def login(request: Request) -> None:
        if request.headers.get("who") != "me":
            raise HTTPException(401, "log in")
        request.state.provspark_viewer = Viewer(seen, request.headers.get("name", "me"))

    source = AnswerSource(lambda: url or str(root / "prov"), policy or Policy())
    app = create_app(source, login, limits or PATIENT, str(root))
    return TestClient(app, headers={"who": "me"}, raise_server_exceptions=False)
