"""A job that nobody captured, between two steps that Spark ran: its OpenLineage event links them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd
import pytest
from _http import BASE, build, client, on_disk
from _steps import read, write
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.uuid import generate_new_uuid
from pyspark.sql import SparkSession

import provspark
from provspark.airflow.events import events_from_store
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.query.answer import stops_of
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.model.steps import StepKey
from provspark.tracker.attachment import attach
from provspark.web.policy import Policy
from provspark.web.scope import dataset_id


def said(job: str, given: Path, made: Path, when: str, facets: dict[str, object] | None = None) -> RunEvent:
    """What a job's own integration with OpenLineage emits when it is done."""
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=when,
        run=Run(str(generate_new_uuid()), facets or {}),
        job=Job("etl", job),
        producer="https://example.org/etl",
        inputs=[InputDataset("file", str(given))],
        outputs=[OutputDataset("file", f"{made}/")],
    )


def test_a_pandas_job_between_two_captured_steps(spark: SparkSession, tmp_path: Path) -> None:
    store, url = str(tmp_path / "prov"), f"sqlite:///{tmp_path}/catalogue.db"
    raw, clean, rich, report = (tmp_path / name for name in ("raw", "clean", "rich", "report"))
    raw.mkdir()
    pd.DataFrame({"id": range(6), "v": [1, 2, 3, 4, 5, 6]}).to_parquet(raw / "a.parquet")
    with attach(store=store, step="clean"):
        spark.read.parquet(str(raw)).where("v > 2").coalesce(1).write.parquet(str(clean))

    rich.mkdir()
    frame = pd.read_parquet(clean)
    frame.assign(w=frame["v"] * 10).to_parquet(rich / "b.parquet")
    event = said("rich", clean, rich, datetime.now(timezone.utc).isoformat())

    with attach(store=store, step="report"):
        spark.read.parquet(str(rich)).where("w = 40").write.parquet(str(report))

    with Catalogue.open(url) as catalogue:
        for step in events_from_store(store):
            catalogue.ingest(step)
        assert stops_of(provspark.open(url).backward(str(report)).table()) == ()
        assert provspark.open(url).backward(str(report)).table().column("dataset").to_pylist() == [f"file://{rich}"]
        assert catalogue.ingest(event).declared
    answer = provspark.open(url).backward(str(report)).table()
    assert set(answer.column("dataset").to_pylist()) == {f"file://{raw}"}
    assert sorted(answer.column("related_row").to_pylist()) == [2, 3, 4, 5]
    (stop,) = stops_of(answer)
    assert stop.what == "declared" and "job etl/rich declares in OpenLineage events: output " in stop.why


@pytest.fixture(params=["jobs", "vault", ""])
def shown(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path, str]]:
    """The DAG of a job that made `rich` of `people`, and a store with a catalogue; DAG shop made and read these."""
    root, dag = build(tmp_path / "http"), request.param
    store, url = Store.open(str(root / "prov")), f"sqlite:///{tmp_path}/catalogue.db"
    rich = on_disk(root / "rich", {"name": ["x"], "age": [1], "e_mail": [None]}, written=False)
    event = said(f"{dag}.enrich", root / "people", root / "rich", datetime.now(timezone.utc).isoformat())
    event.run.facets = (
        {"airflow": {"dag": {"dag_id": dag}, "task": {"task_id": "enrich"}, "dagRun": {"run_id": "secret-run"}}}
        if dag
        else {}
    )
    last = on_disk(root / "last", {"name": ["x"], "age": [1], "e_mail": [None]}, written=True)
    writer = store.writer(StepKey("last", "r1", "shop"))
    writer.add(write(last, [(read(rich), [(0, 0)])]))
    clock = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    writer.publish(status="succeeded", started=clock, ended=clock)
    with Catalogue.open(url) as catalogue:
        for step in events_from_store(store.url):
            catalogue.ingest(step)
        assert catalogue.ingest(event).declared
    yield dag, root, url


@pytest.mark.parametrize("dags", [["shop"], ["shop", "jobs"], ["shop", "vault"], ["jobs", "vault"], None])
def test_the_page_shows_a_link_to_those_who_may_read_the_jobs_dag(
    dags: list[str] | None, shown: tuple[str, Path, str]
) -> None:
    dag, root, url = shown
    api = client(root, dags, url=url)
    asked = {"dataset": dataset_id(Dataset.parse(str(root / "last"))), "rows": [0]}
    answer = api.post(f"{BASE}/trace", json=asked)
    may = dags is None or ("shop" in dags and bool(dag) and dag in dags)
    if dags is not None and "shop" not in dags:
        assert answer.status_code == 404
    else:
        found = [n["dataset"]["label"] for n in answer.json()["nodes"]]
        assert found == (["last", "rich", "people", "raw"] if may else ["last", "rich"])
    texts = [answer.text, *(api.get(f"{BASE}{path}").text for path in ("/datasets", "/steps", "/about"))]
    hidden = [word for word in ("etl/", "enrich", "secret-run") if not may]
    assert not [word for word in hidden if any(word in text for text in texts)]


def test_a_mask_reaches_through_a_link(shown: tuple[str, Path, str]) -> None:
    """For a user who does not see the link, too: nobody knows which columns the job derived from a masked one."""
    _, root, url = shown
    about = dataset_id(Dataset.parse(str(root / "last")))
    masks = Policy(masks=("age",))
    for where, hidden in ((url, ["age", "e_mail", "name"]), ("", ["age"])):
        for dags in (None, ["shop"]):
            api = client(root, dags, masks, url=where)
            columns = api.get(f"{BASE}/datasets/{about}").json()["columns"]
            assert sorted(c["name"] for c in columns if c["masked"]) == hidden
