"""What a catalogue keeps of events without our facet: inputs and outputs that a job says it has."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from _catalogue import pipeline
from openlineage.client.serde import Serde

from provspark.airflow.events import events_from_manifest
from provspark.index_store.catalogue import Catalogue
from provspark.model.datasets import Dataset
from provspark.model.declarations import Declaration
from provspark.rebuild import rebuild_from_events

pytest_plugins = ("_postgres",)

AIRFLOW = {"dag": {"dag_id": "people"}, "task": {"task_id": "g.load"}, "dagRun": {"run_id": "r1"}}


def event(minute: int = 0, run: str = "one", job: str = "load", **more: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-01T10:{minute:02}:00Z",
        "run": {"runId": run, "facets": {}},
        "job": {"namespace": "prod", "name": job},
        "inputs": [{"namespace": "file", "name": "/in"}],
        "outputs": [{"namespace": "s3://b", "name": "/out/"}],
        **more,
    }


def of_airflow(**more: Any) -> dict[str, Any]:
    made = event(job="people.g.load", **more)
    made["run"]["facets"]["airflow"] = deepcopy(AIRFLOW)
    return made


def test_inputs_and_outputs_are_kept_and_no_step_is_made(catalogue_url):
    with Catalogue.open(catalogue_url) as catalogue:
        done = catalogue.ingest(json.dumps(event()))
        assert (done.ref, done.status, done.declared) == (None, "", True)
        when = "2026-01-01T10:00:00.000000+00:00"
        assert catalogue.declarations() == [
            Declaration("prod", "load", "one", when, when, (Dataset("file", "/in"),), (Dataset("s3://b", "out"),))
        ]
        assert (catalogue.steps(), catalogue.datasets(), catalogue.links()) == ([], [], [])


@pytest.mark.parametrize("seed", range(3))
def test_events_of_a_run_are_joined_in_any_order(catalogue_url, tmp_path, seed):
    more = [{"namespace": "file", "name": "/more"}]
    events = [event(5), event(1, inputs=more), of_airflow(minute=3, outputs=more), event(2, run="two"), event(9)]
    events += [e | {"job": {"namespace": "prod", "name": "people.g.load"}} for e in (event(4), event(2))]
    with (
        Catalogue.open(catalogue_url) as catalogue,
        Catalogue.open(f"sqlite:///{tmp_path / 'other.db'}") as other,
    ):
        for one in events:
            catalogue.ingest(one)
        random.Random(seed).shuffle(events)
        for one in events + events[:3]:
            other.ingest(one)
        assert other.dump() == catalogue.dump()
        two, airflow, load = catalogue.declarations()
        assert (airflow.dag_id, airflow.task_id, airflow.dag_run) == ("people", "g.load", "r1")
        assert [d.uri for d in airflow.outputs] == ["file:///more", "s3://b/out"]
        assert (airflow.first[11:16], airflow.last[11:16]) == ("10:02", "10:04")
        assert [d.uri for d in load.inputs] == ["file:///in", "file:///more"]
        assert (load.first[11:16], load.last[11:16], load.dag_id) == ("10:01", "10:09", "")
        assert (two.run, two.first) == ("two", two.last)


def test_a_rebuild_restores_them(catalogue_url, tmp_path):
    world = pipeline()
    events = [Serde.to_dict(e) for m in world.manifests for e in events_from_manifest(world.store, m)]
    events[3:3] = [event(1), of_airflow(minute=3)]
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(map(json.dumps, events)))
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for one in events:
            catalogue.ingest(one)
        live = catalogue.dump()
        assert len(live["declarations"]) == 2
        assert rebuild_from_events(catalogue, [path]) == 2 * len(world.manifests)
        assert catalogue.dump() == live
        catalogue.rebuild([])
        assert catalogue.declarations() == []


def _odd():
    """Return (what, change of a good event)."""
    yield "no input", lambda e: e.update(inputs=[])
    yield "no inputs", lambda e: e.pop("inputs")
    yield "no output", lambda e: e.update(outputs=None)
    yield "no job", lambda e: e.pop("job")
    yield "a job that is none", lambda e: e.update(job="load")
    yield "no name", lambda e: e["job"].update(name="")
    yield "a long name", lambda e: e["job"].update(name="x" * 2001)
    yield "long names", lambda e: e["job"].update(name="x" * 1500, namespace="y" * 600)
    yield "no run", lambda e: e["run"].pop("runId")
    yield "no time", lambda e: e.pop("eventTime")
    yield "no such time", lambda e: e.update(eventTime="yesterday")
    yield "names of no data set", lambda e: e.update(inputs=[{"namespace": 1, "name": "/x"}, {"name": "/x"}, {}])
    yield "names that no database keeps", lambda e: e.update(inputs=[{"namespace": "file", "name": "/a\0b"}])
    yield "a relative path", lambda e: e.update(outputs=[{"namespace": "file", "name": "out"}])
    yield "a long path", lambda e: e.update(outputs=[{"namespace": "file", "name": "/" + "x" * 2000}])
    yield "many", lambda e: e.update(inputs=[{"namespace": "file", "name": f"/{n}"} for n in range(201)])


@pytest.mark.parametrize("change", [pytest.param(c, id=w) for w, c in _odd()])
def test_what_is_of_no_use_is_left_aside_without_an_error(tmp_path, change):
    odd = event()
    change(odd)
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}") as catalogue:
        done = catalogue.ingest(odd)
        assert (done.ref, done.declared) == (None, False)
        assert catalogue.declarations() == []


def test_as_much_as_is_kept_is_kept(catalogue_url):
    """Names as long, and as many, as may be: PostgreSQL's indexes take keys up to a length."""
    rng = random.Random(1)
    letters = "".join(rng.choices("abcdefghijklmnopqrstuvwxyzäöü0123456789", k=1800))[:1700]
    full = event(run=letters[:500], job=letters[500:1300])
    full["inputs"] = [{"namespace": "file", "name": f"/{n}/{letters[n:]}"} for n in range(199)]
    full["inputs"] += [{"namespace": 7}, {"namespace": f"x://{letters[:800]}", "name": letters[800:1600]}]
    with Catalogue.open(catalogue_url) as catalogue:
        assert catalogue.ingest(full).declared
        (said,) = catalogue.declarations()
        assert len(said.inputs) == 200


@pytest.mark.parametrize(
    "facet",
    [
        7,
        {},
        {**AIRFLOW, "dag": "people"},
        {**AIRFLOW, "dagRun": {"run_id": None}},
        {**AIRFLOW, "task": {"task_id": "another"}},
        {**AIRFLOW, "dag": {"dag_id": "secret"}},
    ],
)
def test_a_task_is_one_if_airflows_facet_and_the_jobs_name_say_so(tmp_path, facet):
    odd = of_airflow()
    odd["run"]["facets"]["airflow"] = facet
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}") as catalogue:
        assert catalogue.ingest(odd).declared
        assert [(d.dag_id, d.task_id, d.dag_run) for d in catalogue.declarations()] == [("", "", "")]


def test_our_facet_is_no_declaration(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for manifest in world.manifests:
            for one in events_from_manifest(world.store, manifest):
                assert not catalogue.ingest(one).declared
        assert catalogue.declarations() == []
