"""What a catalogue knows of format 3: attempts, calls, files that nobody counted, and what drivers read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from _catalogue import CLEAN, LAST, RAW, REPORT, World, as_input, file, files, pipeline, read_on_drivers
from openlineage.client.serde import Serde

from provspark.airflow.events import events_from_manifest, facets_for
from provspark.errors import EventError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.driver_datasets import driver_version
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Untracked
from provspark.rebuild import rebuild_from_stores

pytest_plugins = ("_postgres",)

WHY = Untracked("Project", "made by hand")


def all_events(world: World) -> list[dict]:
    return [Serde.to_dict(e) for m in world.manifests for e in events_from_manifest(world.store, m)]


def test_what_a_driver_read_links_and_is_no_data_set(catalogue_url):
    world = read_on_drivers()
    failed, clean, report, last = (m.step for m in world.manifests)
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for event in all_events(world):
            catalogue.ingest(event)
        assert catalogue.datasets() == [CLEAN, LAST, RAW, REPORT]
        links = [(x.producer.step, x.consumer.step, x.files) for x in catalogue.links()]
        assert sorted(links) == sorted([(clean, report, 1), (report, last, 2)])
        assert [(v.ref.step, v.rows) for v in catalogue.versions(RAW)] == [(failed, 7), (clean, 7), (last, 7)]
        assert [(v.role, v.rows, v.unit) for v in catalogue.versions(REPORT)] == [
            ("output", 2, "file"),
            ("input", 2, "row"),
        ]


def test_the_last_good_attempt_of_a_try_answers(catalogue_url):
    world = World()
    for attempt, status in ((2, "failed"), (1, "succeeded"), (0, "succeeded")):
        out = files(file(f"{attempt}.parquet"))
        world.step("t", writes=[(CLEAN, out)], attempt=attempt, status=status)
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for event in all_events(world):
            catalogue.ingest(event)
        assert {s.key.attempt for s in catalogue.steps() if s.answers} == {1}
        assert [s.key for s in catalogue.steps()] == [m.key for m in world.manifests]


def test_each_run_within_a_task_answers_for_itself(catalogue_url, tmp_path):
    world = World()
    runs = {"": "succeeded", "a": "succeeded", "b": "failed", "c": "failed", "d": "succeeded"}
    for call, status in runs.items():
        world.step(
            "t", writes=[(CLEAN, files(file(f"{call}.parquet")))], call=call, status=status, try_number=len(call)
        )
    with (
        Catalogue.open(catalogue_url, files=world.files) as catalogue,
        Catalogue.open(f"sqlite:///{tmp_path / 'new.db'}", files=world.files) as other,
    ):
        for event in all_events(world):
            catalogue.ingest(event)
        assert {s.key.call: s.answers for s in catalogue.steps()} == {c: s == "succeeded" for c, s in runs.items()}
        other.rebuild(all_events(world))
        assert catalogue.dump() == other.dump()


@pytest.mark.parametrize("seed", range(4))
def test_order_and_repetition_do_not_matter(catalogue_url, tmp_path, seed):
    world = read_on_drivers()
    events = all_events(world) * 2
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        for event in all_events(world):
            catalogue.ingest(event)
        random.Random(seed).shuffle(events)
        with Catalogue.open(f"sqlite:///{tmp_path / 'other.db'}", files=world.files) as other:
            for event in events:
                other.ingest(event)
            assert other.dump() == catalogue.dump()


def test_rows_and_files_of_one_number_are_two_uses(catalogue_url):
    """A step that wrote a file with pandas, and found one row in it when it read it with Spark, and wrote it again."""
    world = World()
    one = files(file("a.csv", 1))
    world.step("t", [], [(CLEAN, one)], unit="file")
    event = all_events(world)[1]
    again = json.loads(json.dumps(event["outputs"][0]))
    again["facets"]["provspark"]["unit"] = "row"
    event["outputs"].append(again)
    with Catalogue.open(catalogue_url, files=world.files) as catalogue:
        catalogue.ingest(event)
        assert sorted(v.unit for v in catalogue.versions(CLEAN)) == ["file", "row"]


def test_events_of_the_first_release_are_taken_in(catalogue_url, tmp_path):
    world = pipeline()
    old = all_events(world)
    for event in old:
        for owner in (event["run"], *event["inputs"], *event["outputs"]):
            facet = owner["facets"]["provspark"]
            facet["_schemaURL"] = facet["_schemaURL"].replace("1-3-0", "1-0-0")
            assert {facet.pop("attempt", 0), facet.pop("unit", "row")} == {0, "row"} and "call" not in facet
            assert "written" not in facet
    with (
        Catalogue.open(catalogue_url, files=world.files) as catalogue,
        Catalogue.open(f"sqlite:///{tmp_path / 'new.db'}", files=world.files) as other,
    ):
        catalogue.rebuild(old)
        other.rebuild(all_events(world))
        assert catalogue.dump() == other.dump()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e["run"]["facets"]["provspark"].update(attempt=-1), "attempt must be a whole number of at least 0"),
        (lambda e: e["run"]["facets"]["provspark"].update(attempt=1), "run, task, try, attempt and call belong"),
        (lambda e: e["run"]["facets"]["provspark"].update(call="x"), "run, task, try, attempt and call belong"),
        (lambda e: e["run"]["facets"]["provspark"].update(call=1), "call must be text"),
        (lambda e: e["outputs"][0]["facets"]["provspark"].update(unit="page"), "unit is 'page'; it must be one of"),
        (lambda e: e["outputs"][0]["facets"]["provspark"].update(unit=1), "unit must be text"),
    ],
)
def test_attempts_and_units_that_are_none(tmp_path, change, said):
    world = pipeline()
    event = all_events(world)[1]
    change(event)
    with (
        Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}", files=world.files) as catalogue,
        pytest.raises(EventError, match=said),
    ):
        catalogue.ingest(event)


def test_a_file_without_a_count_says_so():
    world = read_on_drivers()
    (written,) = facets_for(world.store, world.manifests[2]).outputs
    assert (written.facets["provspark"].rows, written.facets["provspark"].unit) == (2, "file")
    assert written.outputFacets["outputStatistics"].rowCount is None


def test_manifests_and_events_make_one_catalogue(catalogue_url, tmp_path):
    """The lists of what a driver read are found in the store; a model, which is on the driver itself, is left out."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    clean = files(file("c.parquet", 5))
    add(store, StepKey("clean", "r"), [(CLEAN, clean)], [])
    add(store, StepKey("report", "r", attempt=1), [(REPORT, files(file("r.parquet")))], [(CLEAN, as_input(clean))])
    with Catalogue.open(catalogue_url) as catalogue:
        for manifest in store.manifests():
            for event in events_from_manifest(store.url, manifest):
                assert catalogue.ingest(event).unread == ()
        live = catalogue.dump()
        assert [(x["producer"]["step"], x["files"]) for x in live["links"]] == [(StepKey("clean", "r").id, 1)]
        assert catalogue.datasets() == [CLEAN, REPORT]
        rebuild_from_stores(catalogue, [str(Path(store.url.removeprefix("file://")))])
        assert catalogue.dump() == live


def add(store: Store, key: StepKey, written: list[tuple[Dataset, Files]], read: list[tuple[Dataset, Files]]) -> None:
    writer = store.writer(key, driver_reads="on")
    models = []
    for call, (dataset, listed) in enumerate(read):
        output = driver_version(key.id, call, "job.py:1", listed.total)
        source = PendingVersion(dataset, listed, "parquet")
        writer.add_read(PendingWrite(output, "untracked", (source,), reason=WHY, action="DataFrame.collect"))
        models.append(output)
    for dataset, listed in written:
        version = PendingVersion(dataset, listed, "parquet")
        writer.add(PendingWrite(version, "untracked", tuple(models), reason=WHY))
    clock = "2026-01-01T10:00:00.000000+00:00"
    writer.publish(status="succeeded", started=clock, ended=clock)
