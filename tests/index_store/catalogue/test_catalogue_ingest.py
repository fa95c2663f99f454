from __future__ import annotations

import random

import pytest
from _catalogue import CLEAN, LAST, RAW, REPORT, STORE, World, as_input, file, files, pipeline
from openlineage.client.serde import Serde

from provspark.airflow.events import events_from_manifest
from provspark.errors import EventError, UnknownDatasetError, UnknownStepError
from provspark.index_store.catalogue import Catalogue, StepRef
from provspark.model.datasets import Dataset

pytest_plugins = ("_postgres",)


def all_events(world: World) -> list[dict]:
    return [Serde.to_dict(e) for m in world.manifests for e in events_from_manifest(world.store, m)]


def fill(catalogue: Catalogue, events) -> Catalogue:
    for event in events:
        catalogue.ingest(event)
    return catalogue


def by_task(world: World) -> dict[str, str]:
    return {f"{m.key.task_id}/{m.key.try_number}": m.step for m in world.manifests}


def edges(catalogue: Catalogue, world: World) -> set[tuple[str, str, int | None]]:
    names = {step: task for task, step in by_task(world).items()}
    return {(names[x.producer.step], names[x.consumer.step], x.files) for x in catalogue.links()}


def test_pipeline_is_known_as_it_was(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        steps, task = catalogue.steps(), by_task(world)

        assert catalogue.stores() == [STORE]
        assert catalogue.datasets() == [CLEAN, LAST, RAW, REPORT]
        assert [s.ref.step for s in steps] == [m.step for m in world.manifests]
        assert [s.key for s in steps] == [m.key for m in world.manifests]
        assert [(s.started, s.ended) for s in steps] == [(m.started, m.ended) for m in world.manifests]
        assert [s.status for s in steps] == ["failed", *["succeeded"] * 4]
        assert [s.answers for s in steps] == [False, True, True, True, True]
        assert [s.untracked for s in steps] == [False, False, False, False, True]
        outputs = catalogue.versions(REPORT, role="output")
        assert [(v.ref.step, v.rows, v.files, v.coverage) for v in outputs] == [
            (task["report/1"], 2, 1, "exact"),
            (task["more/1"], 4, 2, "exact"),
        ]
        assert [v.rows for v in catalogue.versions(RAW.uri, step=task["more/1"])] == [15]
        # The append is no producer of the file that was there before it; who reads both has two producers.
        assert edges(catalogue, world) == {
            ("clean/2", "report/1", 2),
            ("report/1", "read_all/1", 1),
            ("more/1", "read_all/1", 1),
        }
        up = [s.ref.step for s in catalogue.upstream(task["read_all/1"])]
        assert up == [task["report/1"], task["more/1"], task["clean/2"]]
        down = [s.ref.step for s in catalogue.downstream(task["clean/2"], store="/data/prov/")]
        assert down == [task["report/1"], task["read_all/1"]]
        assert catalogue.downstream(task["clean/1"]) == []


@pytest.mark.parametrize("seed", range(6))
def test_order_and_repetition_do_not_matter(catalogue_url, tmp_path, seed):
    world = pipeline()
    events = all_events(world)
    shuffled = events + random.Random(seed).choices(events, k=8)
    random.Random(seed).shuffle(shuffled)
    with (
        Catalogue.open(f"sqlite:///{tmp_path / 'straight.db'}", files=world.files) as straight,
        Catalogue.open(catalogue_url, files=world.files) as other,
    ):
        assert fill(other, shuffled).dump() == fill(straight, events).dump()


def test_a_file_list_is_read_once(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        asked = world.asked
        fill(catalogue, all_events(world))
        assert asked == sum(len(w.inputs) + 1 for m in world.manifests for w in m.writes) == world.asked


def test_running_step_then_failed_without_a_manifest(catalogue_url):
    world = pipeline()
    start, end = (Serde.to_dict(e) for e in events_from_manifest(STORE, world.manifests[0]))
    fail = start | {"eventType": "FAIL", "eventTime": "2026-01-01T12:00:00.5+01:00"}
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        assert catalogue.ingest(start).status == "running"
        (step,) = catalogue.steps()
        assert (step.status, step.started, step.ended) == ("running", world.manifests[0].started, "")
        assert catalogue.ingest(fail).status == "failed"
        (step,) = catalogue.steps()
        assert step.ended == "2026-01-01T11:00:00.500000+00:00"
        # The manifest's word counts more, also when it comes before another late event.
        catalogue.ingest(end)
        catalogue.ingest(fail)
        (step,) = catalogue.steps()
        assert (step.status, step.ended) == ("failed", world.manifests[0].ended)


def test_manifest_wins_over_the_kind_of_event(catalogue_url):
    world = pipeline()
    end = Serde.to_dict(events_from_manifest(STORE, world.manifests[1])[1]) | {"eventType": "FAIL"}
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        assert catalogue.ingest(end).status == "succeeded"


def test_last_good_try_answers_whatever_comes_last(catalogue_url):
    world = World()
    for try_number, status in ((3, "failed"), (2, "succeeded"), (1, "succeeded")):
        out = files(file(f"{try_number}.parquet"))
        world.step("t", writes=[(CLEAN, out)], try_number=try_number, status=status)
    world.step("t", writes=[(CLEAN, files(file("other.parquet")))], run="r2")
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        answers = {(s.key.run_id, s.key.try_number) for s in catalogue.steps() if s.answers}
        assert answers == {("r1", 2), ("r2", 1)}


def test_names_alone_never_link(catalogue_url):
    world = World()
    world.step("w", writes=[(CLEAN, files(file("a.parquet", mtime=1)))])
    world.step("r", reads=[(CLEAN, files(file("a.parquet", mtime=2, written=False)))])
    world.step("r2", reads=[(CLEAN, files(file("a.parquet", rows=11, written=False)))])
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        assert edges(fill(catalogue, all_events(world)), world) == set()


def test_who_adds_nothing_made_nothing(catalogue_url):
    """An append of no rows ends with the version that it found; the files are another's."""
    world = World()
    clean = files(file("c.parquet"))
    world.step("w", writes=[(CLEAN, clean)])
    world.step("idle", writes=[(CLEAN, as_input(clean))])
    world.step("r", reads=[(CLEAN, as_input(clean))], writes=[(REPORT, files(file("r.parquet")))])
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        assert edges(fill(catalogue, all_events(world)), world) == {("w/1", "r/1", 1)}


def test_versions_without_files_link_nothing(catalogue_url):
    world = World()
    world.step("w", writes=[(CLEAN, files())])
    world.step("r", reads=[(CLEAN, files())], writes=[(REPORT, files())])
    for world.unreachable in (True, False):
        with Catalogue.open(catalogue_url, files=world.files) as catalogue:
            assert edges(fill(catalogue, all_events(world)), world) == set()


def test_a_folder_within_links(catalogue_url):
    world = World()
    world.step("w", writes=[(CLEAN, files(file("p=1/a.parquet"), file("p=2/b.parquet")))])
    part = Dataset("file", "/data/clean/p=2")
    single = Dataset("file", "/data/clean/p=1/a.parquet")
    world.step("part", reads=[(part, files(file("b.parquet", written=False)))], writes=[(REPORT, files(file("x")))])
    world.step("single", reads=[(single, files(file("", written=False)))], writes=[(REPORT, files(file("y")))])
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        assert edges(catalogue, world) == {("w/1", "part/1", 1), ("w/1", "single/1", 1)}
        assert {x.output_dataset for x in catalogue.links()} == {CLEAN}
        assert {x.input_dataset for x in catalogue.links()} == {part, single}


def test_a_step_that_reads_its_own_output_links_to_itself(catalogue_url):
    world = World()
    middle = files(file("m.parquet"))
    world.step("both", [(CLEAN, as_input(middle))], [(CLEAN, middle), (REPORT, files(file("e.parquet")))])
    step = world.manifests[0].step
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        assert edges(catalogue, world) == {("both/1", "both/1", 1)}
        assert catalogue.upstream(step) == catalogue.downstream(step) == []


def test_unreachable_store_links_by_equal_versions_until_it_is_reached(catalogue_url, caplog):
    world = pipeline()
    world.unreachable = True
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        done = [catalogue.ingest(event) for event in all_events(world)]
        assert sum(len(d.unread) for d in done) == world.asked > 0
        assert "does not answer" in caplog.text
        assert edges(catalogue, world) == {("clean/2", "report/1", None), ("more/1", "read_all/1", None)}
        assert not any(v.files_read for v in catalogue.versions())
        world.unreachable = False
        fill(catalogue, all_events(world))
        assert ("report/1", "read_all/1", 1) in edges(catalogue, world)
        assert all(v.files_read for v in catalogue.versions())


def test_reading_differs_by_options_not_by_version(catalogue_url):
    world = World()
    text = Dataset("file", "/data/text")
    listed = files(file("t.csv", 10))
    headed = files(file("t.csv", 9, written=False))
    headed = type(headed)(headed.paths, listed.sizes, headed.mtimes, headed.rows, headed.written)
    world.step("w", writes=[(text, listed)])
    world.step("r", reads=[(text, headed)], writes=[(REPORT, files(file("r.parquet")))])
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        assert [(v.role, v.rows) for v in catalogue.versions(text)] == [("output", 10), ("input", 9)]
        assert edges(catalogue, world) == {("w/1", "r/1", 1)}


def test_two_stores_hold_steps_of_one_name(catalogue_url):
    here, there = pipeline(), pipeline("s3://bucket/prov")
    task = by_task(here)["clean/2"]

    def source(ref, version, role):
        return (here if ref.store == STORE else there).files(ref, version, role)

    with Catalogue.open(catalogue_url, files=source) as catalogue:
        fill(catalogue, all_events(here) + all_events(there))
        assert catalogue.stores() == [STORE, "s3://bucket/prov"]
        refs = [s.ref for s in catalogue.steps() if s.answers and s.ref.step == task]
        assert refs == [StepRef(STORE, task), StepRef("s3://bucket/prov", task)]


def test_json_text_and_objects_are_taken_alike(catalogue_url, tmp_path):
    world = pipeline()
    objects = [e for m in world.manifests for e in events_from_manifest(STORE, m)]
    with (
        Catalogue.open(catalogue_url, files=world.files) as one,
        Catalogue.open(f"sqlite:///{tmp_path / 'two.db'}", files=world.files) as two,
    ):
        assert fill(one, objects).dump() == fill(two, [Serde.to_json(e) for e in objects]).dump()


def test_unknown_names(catalogue_url):
    world = pipeline()
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, all_events(world))
        with pytest.raises(UnknownDatasetError, match="Did you mean file:///data/clean"):
            catalogue.versions("/data/claen")
        with pytest.raises(UnknownStepError, match="Did you mean"):
            catalogue.upstream(world.manifests[0].step[:-1] + "_")
        with pytest.raises(UnknownStepError):
            catalogue.downstream(world.manifests[0].step, store="/elsewhere")


def test_events_without_our_facet_are_left_aside(catalogue_url):
    foreign = {
        "eventType": "START",
        "eventTime": "whenever",
        "run": {"runId": "x", "facets": {"nominalTime": {}}},
        "job": {"namespace": "n", "name": "j"},
        "inputs": [{"namespace": "file", "name": "/a", "facets": {}}],
    }
    with Catalogue.open(catalogue_url) as catalogue:
        for event in (foreign, {"eventTime": "t", "job": {"name": "j"}}, {"dataset": {"name": "d"}}):
            assert catalogue.ingest(event).ref is None
        assert catalogue.dump() == {
            "stores": [],
            "steps": [],
            "versions": [],
            "files": {},
            "written": {},
            "declarations": [],
            "links": [],
        }


def _broken():
    """Return (what, change of a good event, part of the message)."""

    def in_output(**change):
        return lambda e: e["outputs"][0]["facets"]["provspark"].update(change)

    def in_run(**change):
        return lambda e: e["run"]["facets"]["provspark"].update(change)

    yield "no run", lambda e: e.update(run=7), "neither a run"
    yield "kind", lambda e: e.update(eventType="DONE"), "eventType is 'DONE'"
    yield "time", lambda e: e.update(eventTime="yesterday"), "eventTime: 'yesterday'"
    yield "no time", lambda e: e.pop("eventTime"), "eventTime"
    yield "inputs", lambda e: e.update(inputs={"a": 1}), "inputs must be a list"
    yield "dataset", lambda e: e.update(outputs=["x"]), r"outputs\[0\] must be an object"
    yield "facets", lambda e: e["outputs"][0].update(facets=[1]), r"outputs\[0\].facets"
    yield "facet", lambda e: e["outputs"][0]["facets"].update(provspark="x"), r"outputs\[0\].facets.provspark"
    yield "name", lambda e: e["outputs"][0].pop("name"), r"outputs\[0\].name"
    yield "long", lambda e: e["outputs"][0].update(name="/" * 3000), "3000 bytes"
    yield "nul", lambda e: e["outputs"][0].update(name="/a\0b"), "databases can't store"
    yield "surrogate", lambda e: e["outputs"][0].update(name="/\ud800"), "databases can't store"
    yield "version", in_output(version="../../x"), "32 hexadecimal"
    yield "rows", in_output(rows=-1), "rows must be a whole number"
    yield "true rows", in_output(rows=True), "rows must be a whole number"
    yield "many rows", in_output(rows=2**63), "rows must be a whole number"
    yield "files", in_output(files="1"), "files must be a whole number"
    yield "coverage", in_output(coverage="good"), "coverage is 'good'"
    yield "store", in_output(store=""), "store is empty"
    yield "relative store", in_output(store="data/prov"), "store: 'data/prov' is a relative path"
    yield "path in step", in_output(step="../up"), "step is '../up'"
    yield "two steps", in_output(step="other"), "several steps"
    yield "key", in_run(task_id="other"), "its dag, run, task, try, attempt and call belong to"
    yield "status", in_run(status="done"), "status is 'done'"
    yield "started", in_run(started=None), "started"
    yield "untracked", in_run(untracked="no"), "untracked must be true or false"


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=w) for w, c, m in _broken()])
def test_a_broken_event_is_refused_and_leaves_nothing(tmp_path, change, message):
    world = pipeline()
    event = Serde.to_dict(events_from_manifest(STORE, world.manifests[1])[1])
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}", files=world.files) as catalogue:
        before = catalogue.dump()
        change(event)
        with pytest.raises(EventError, match=message):
            catalogue.ingest(event)
        assert catalogue.dump() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "7", b"\xff\xfe", "[" * 100_000, "{}", None])
def test_what_is_no_event_is_refused(tmp_path, text):
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}") as catalogue, pytest.raises(EventError):
        catalogue.ingest(text)


def test_a_list_of_another_data_set_is_not_believed(catalogue_url):
    world = pipeline()
    event = Serde.to_dict(events_from_manifest(STORE, world.manifests[1])[1])
    event["outputs"][0]["name"] = "/data/elsewhere"
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        (reason,) = catalogue.ingest(event).unread
        assert "belongs to another dataset" in reason
        (record,) = catalogue.versions("/data/elsewhere")
        assert not record.files_read


def test_a_version_that_is_input_and_output_needs_no_file_count(catalogue_url):
    world = pipeline()
    events = all_events(world)
    for event in events:
        for entry in event["inputs"] + event["outputs"]:
            del entry["facets"]["provspark"]["files"]
    world.unreachable = True
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        fill(catalogue, events)
        assert ("clean/2", "report/1", None) in edges(catalogue, world)
        assert {v.files for v in catalogue.versions()} == {None}
