"""OpenLineage events of jobs that nobody captured link what captured steps wrote before them and read after them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _steps import read, version, write

import provspark
from provspark.airflow.events import events_from_manifest
from provspark.api import Provenance
from provspark.errors import UntrackedError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.query.answer import stops_of, trusted_of
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey, StepStatus, Task
from provspark.model.times import milliseconds


def at(hour: int) -> str:
    return f"2024-01-01T{hour:02}:00:00.000000+00:00"


def files(name: str, hour: int, *paths: str, written: bool = False) -> PendingVersion:
    """A version whose files, of two rows each, were written in an hour."""
    return version(name, dict.fromkeys(paths, 2), paths if written else (), mtime=milliseconds(at(hour)))


def appended(name: str, **hours: int) -> PendingVersion:
    """A version whose files were written in different hours."""
    entries = [(path, 10, milliseconds(at(hour)), 2, False) for path, hour in hours.items()]
    return PendingVersion(Dataset.parse(name), Files.of(entries), "parquet")


RAW = files("/raw", 0, "a")
CLEAN = files("/clean", 1, "c", written=True)
PAIRS = [(0, 0), (1, 1)]


class World:
    """A store, and a catalogue that knows its steps and takes events of others."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(str(folder / "prov"), create=True)
        self.url = f"sqlite:///{folder}/catalogue.db"
        self.catalogue = Catalogue.open(self.url)

    def step(
        self,
        task: str,
        hour: int,
        made: PendingWrite,
        dag: str = "",
        status: StepStatus = "succeeded",
        tasks: tuple[Task, ...] = (),
    ) -> Manifest:
        """Publish a step that ends at half past an hour."""
        writer = self.store.writer(StepKey(task, "run", dag), dag=tasks)
        writer.add(made)
        ended = at(hour).replace(":00:00.", ":30:00.")
        manifest = writer.publish(status=status, started=at(hour), ended=ended)
        for event in events_from_manifest(self.store.url, manifest):
            self.catalogue.ingest(event)
        return manifest

    def event(
        self,
        hour: int,
        inputs: list[str],
        outputs: list[str],
        *,
        job: str = "enrich",
        run: str = "",
        kind: str = "COMPLETE",
        dag: str = "",
    ) -> dict[str, Any]:
        """Take in an event of a job that nobody captured; with a DAG it is one of Airflow's."""
        facets = {"airflow": {"dag": {"dag_id": dag}, "task": {"task_id": job}, "dagRun": {"run_id": "run"}}}
        event = {
            "eventType": kind,
            "eventTime": at(hour),
            "run": {"runId": run or f"run-{hour}", "facets": facets if dag else {}},
            "job": {"namespace": "prod", "name": f"{dag}.{job}" if dag else job},
            **{
                role: [dict(zip(("namespace", "name"), name.split(" "), strict=True)) for name in names]
                for role, names in (("inputs", inputs), ("outputs", outputs))
            },
        }
        assert self.catalogue.ingest(event).declared
        return event

    @property
    def prov(self) -> Provenance:
        return provspark.open(self.url)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.catalogue.close()


@pytest.fixture
def linked(world: World) -> World:
    """clean, then a job that nobody captured (/clean to /enriched), then report."""
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.event(3, ["file /clean"], ["file /enriched"])
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]))
    return world


ENRICHED = files("/enriched", 2, "e")
REPORT = files("/report", 4, "r", written=True)


def sources(prov: Provenance, dataset: str, rows: list[int] | None = None, to: str | None = "/raw") -> list[int]:
    """Rows of a source that rows came from; none where the way ends before it."""
    try:
        return sorted(set(prov.backward(dataset, rows, to=to).table().column("related_row").to_pylist()))
    except UntrackedError:
        return []


def test_an_event_links_what_was_captured_before_and_after(linked: World) -> None:
    answer = linked.prov.backward("/report", [1], to="/raw").table()
    assert answer.column("related_row").to_pylist() == [0, 1]
    (stop,) = stops_of(answer)
    assert stop.what == "declared"
    assert stop.why == (
        "declared: job prod/enrich declares in OpenLineage events: output file:///enriched, from file:///clean. "
        "Without capture, each row of the output counts as derived from all rows of the inputs"
    )
    assert linked.prov.forward("/raw", [0], to="/report").table().column("related_row").to_pylist() == [0, 1]
    listed = linked.prov.datasets().table().to_pylist()
    assert [(d["dataset"], d["role"]) for d in listed if "enriched" in d["dataset"]] == [
        ("file:///enriched", "derived")
    ]


def test_without_a_catalogue_nothing_is_linked(linked: World) -> None:
    assert sources(provspark.open(linked.store.url), "/report") == []


@pytest.mark.parametrize("entry", ["declared", "enrich"])
def test_a_declaration_can_be_trusted(entry: str, linked: World, caplog: pytest.LogCaptureFixture) -> None:
    answer = linked.prov.backward("/report", [1], to="/raw", trust=[entry]).table()
    assert stops_of(answer) == () and [t.by for t in trusted_of(answer)] == [entry]
    assert "no effect" not in caplog.text


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("file:// /clean/", True),
        ("file /clean/part=1", True),
        ("file /", False),
        ("file /cle", False),
        ("s3://clean clean", False),
    ],
)
def test_names_as_other_producers_write_them(given: str, taken: bool, world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.event(3, [given], ["file /enriched/"])
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]))
    assert sources(world.prov, "/report") == [0, 1] * taken


def test_a_bucket_has_one_name_for_spark_and_others(world: World) -> None:
    world.step("clean", 1, write(files("s3a://b/clean", 1, "c", written=True), [(RAW, PAIRS)]))
    world.event(3, ["s3://b /clean/"], ["s3://b enriched"])
    world.step("report", 4, write(REPORT, [(files("s3a://b/enriched", 2, "e"), PAIRS)]))
    assert sources(world.prov, "/report") == [0, 1]


def test_what_a_captured_write_made_is_not_declared(world: World) -> None:
    """Spark's own listener emits events of jobs that are captured, too."""
    world.step("clean", 1, write(CLEAN, [(RAW, [(0, 1)])]))
    world.event(2, ["file /raw"], ["file /clean"])
    world.step("report", 4, write(REPORT, [(read(CLEAN), PAIRS)]))
    answer = world.prov.backward("/report", [0], to="/raw").table()
    assert (answer.column("related_row").to_pylist(), stops_of(answer)) == ([1], ())
    assert not any(node.declared for node in world.prov.graph.nodes)


@pytest.mark.parametrize(
    ("written", "hour", "linked"),
    [(2, 3, True), (2, 2, True), (4, 3, False), (2, 1, False), (2, 6, False)],
    ids=["before", "as it ended", "after", "event before the input", "event after it was read"],
)
def test_times_decide_what_a_job_made(written: int, hour: int, linked: bool, world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.event(hour, ["file /clean"], ["file /enriched"])
    world.step("report", 5, write(REPORT, [(files("/enriched", written, "e"), PAIRS)]))
    assert sources(world.prov, "/report") == [0, 1] * linked


def test_a_job_read_the_last_version_before_it(world: World) -> None:
    for hour, row in ((1, 0), (2, 1), (6, 0)):
        world.step(f"clean{hour}", hour, write(files("/clean", hour, "c", written=True), [(RAW, [(0, row), (1, row)])]))
    world.event(4, ["file /clean"], ["file /enriched"])
    world.step("report", 5, write(REPORT, [(files("/enriched", 3, "e"), PAIRS)]))
    assert sources(world.prov, "/report") == [1]


def test_a_run_of_several_events_may_have_read_all_that_was_there_meanwhile(world: World) -> None:
    for hour, row in ((1, 0), (3, 1)):
        world.step(f"clean{hour}", hour, write(files("/clean", hour, "c", written=True), [(RAW, [(0, row), (1, row)])]))
    world.event(4, ["file /clean"], ["file /enriched"], run="one")
    world.event(2, ["file /clean"], ["file /enriched"], run="one", kind="START")
    world.step("report", 5, write(REPORT, [(files("/enriched", 4, "e"), PAIRS)]))
    assert sources(world.prov, "/report") == [0, 1]


def test_what_a_failed_step_left_counts_only_where_nothing_else_does(world: World) -> None:
    world.step("clean", 1, write(files("/clean", 1, "c", written=True), [(RAW, [(0, 0), (1, 0)])]))
    failed = files("/clean", 2, "c", written=True)
    world.step("again", 2, write(failed, [(RAW, [(0, 1), (1, 1)])]), status="failed")
    world.event(3, ["file /clean"], ["file /enriched"])
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]))
    assert sources(world.prov, "/report") == [0]


def test_a_source_that_was_only_read_is_an_input(world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.event(3, ["file /raw"], ["file /enriched"])
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]))
    assert sources(world.prov, "/report") == [0, 1]


def test_each_run_of_a_job_that_appends_has_its_files(world: World) -> None:
    for hour, row in ((1, 0), (5, 1)):
        world.step(f"clean{hour}", hour, write(files("/clean", hour, "c", written=True), [(RAW, [(0, row), (1, row)])]))
        world.event(hour + 2, ["file /clean"], ["file /enriched"])
        hours = {"x": 2, "y": 6} if hour == 5 else {"x": 2}
        made = files(f"/report{hour}", hour + 3, "r", written=True)
        pairs = [(i, i) for i in range(2 * len(hours))][:2] if hour == 1 else [(0, 0), (1, 2)]
        world.step(f"report{hour}", hour + 3, write(made, [(appended("/enriched", **hours), pairs)]))
    assert sources(world.prov, "/report1") == [0]
    assert sources(world.prov, "/report5", [0]) == [0]
    assert sources(world.prov, "/report5", [1]) == [1]


def test_runs_that_may_have_made_one_file_count_together(world: World) -> None:
    """Two instances of a mapped task, one after the other, and nobody reads in between."""
    made = write(files("/left", 1, "c", written=True), [(RAW, [(0, 0), (1, 0)])])
    other = write(files("/right", 1, "c", written=True), [(RAW, [(0, 1), (1, 1)])])
    world.step("left", 1, made)
    world.step("right", 1, other)
    world.event(3, ["file /left"], ["file /enriched"], job="l")
    world.event(4, ["file /right"], ["file /enriched"], job="r")
    world.step("report", 5, write(REPORT, [(ENRICHED, PAIRS)]))
    answer = world.prov.backward("/report", [0], to="/raw").table()
    assert answer.column("related_row").to_pylist() == [0, 1]
    (why,) = {stop.why for stop in stops_of(answer)}
    assert (
        "jobs prod/l, prod/r declare in OpenLineage events: output file:///enriched, from file:///left, file:///right"
        in why
    )


def test_a_job_that_wrote_one_partition_made_no_other(world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.event(3, ["file /clean"], ["file /enriched/p=1/"])
    both = files("/enriched", 2, "p=1/e", "p=10/e")
    world.step("report", 4, write(REPORT, [(both, [(0, 1), (1, 3)])]))
    assert sources(world.prov, "/report", [0]) == [0, 1]
    assert sources(world.prov, "/report", [1]) == []


def test_two_steps_that_read_one_version_are_linked_to_one_job(linked: World) -> None:
    linked.step("again", 5, write(files("/again", 5, "r", written=True), [(ENRICHED, PAIRS)]))
    assert sources(linked.prov, "/again") == sources(linked.prov, "/report") == [0, 1]
    reached = linked.prov.forward("/raw", [0]).table().column("dataset").to_pylist()
    assert set(reached) == {"file:///again", "file:///report"}


def test_inlets_and_outlets_of_the_same_task_are_not_linked_twice(world: World) -> None:
    tasks = (
        Task("clean", "ProvSparkOperator"),
        Task("enrich", "PythonOperator", ("clean",), (), "", False, "", ("file:///clean",), ("file:///enriched",)),
        Task("report", "ProvSparkOperator", ("enrich",)),
    )
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]), "people", tasks=tasks)
    world.event(3, ["file /clean"], ["file /enriched"], dag="people")
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]), "people", tasks=tasks)
    answer = world.prov.backward("/report", [0], to="/raw").table()
    assert answer.column("related_row").to_pylist() == [0, 1]
    assert [s.why for s in stops_of(answer) if s.what == "declared"] == [
        "declared: task enrich (PythonOperator) declares the outlet file:///enriched, and the inlets file:///clean. "
        "Without capture, each row of the outlet counts as derived from all rows of the inlets"
    ]


def test_the_best_answer_to_a_name_is_the_last(linked: World) -> None:
    """A captured step writes the data set after the job did."""
    later = files("/enriched", 5, "e", written=True)
    linked.step("captured", 5, write(later, [(RAW, [(0, 1), (1, 1)])]))
    assert sources(linked.prov, "/enriched") == [1]


def test_as_of_a_time_before_the_event_there_is_no_link(linked: World) -> None:
    assert linked.prov.backward("/report", to="/raw", as_of="2024-01-02").table().num_rows
    assert not any(n.declared for n in linked.prov._views.of("/raw", None, None, at(2)).back.graph.nodes)


def test_a_look_again_finds_new_events(world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]))
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]))
    prov = world.prov
    assert sources(prov, "/report") == []
    graph = prov.graph
    prov.refresh()
    assert prov.graph is graph
    world.event(3, ["file /clean"], ["file /enriched"])
    prov.refresh()
    assert sources(prov, "/report") == [0, 1]


def test_a_list_of_files_that_cannot_be_read_links_nothing_and_hides_nothing_else(
    linked: World, tmp_path: Path
) -> None:
    linked.step("other", 5, write(files("/other", 5, "o", written=True), [(RAW, PAIRS)]))
    (report,) = [m for m in linked.store.manifests() if m.key.task_id == "report"]
    (tmp_path / "prov" / "steps" / report.step / report.writes[0].inputs[0].files).write_bytes(b"damaged")
    assert sources(linked.prov, "/other") == [0, 1]


@pytest.fixture
def dags(world: World) -> World:
    """A step of DAG a, a job of DAG j, a step of DAG b."""
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]), "a")
    world.event(3, ["file /clean"], ["file /enriched"], dag="j")
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]), "b")
    return world


def seeing(world: World, *dags: str) -> Provenance:
    return world.prov.restricted(lambda m: m.key.dag_id in dags)


@pytest.mark.parametrize(("may", "linked"), [("ajb", True), ("ab", False), ("aj", False), ("jb", False)])
def test_who_may_not_read_a_dag_does_not_see_the_link(may: str, linked: bool, dags: World) -> None:
    nodes = [n for n in seeing(dags, *may).graph.nodes if n.declared]
    assert bool(nodes) == linked
    if linked:
        assert sources(seeing(dags, *may), "/report") == [0, 1]


def test_a_link_is_seen_if_any_step_that_may_be_read_knows_the_versions(dags: World) -> None:
    """A step of DAG c reads what a made, so c's readers know it; its name is no secret to them."""
    dags.step("copy", 2, write(files("/copy", 2, "x", written=True), [(read(CLEAN), PAIRS)]), "c")
    assert any(n.declared for n in seeing(dags, "c", "j", "b").graph.nodes)
    assert not any(n.declared for n in seeing(dags, "c", "b").graph.nodes)


def test_a_job_of_no_dag_is_seen_by_those_only_who_see_all(world: World) -> None:
    world.step("clean", 1, write(CLEAN, [(RAW, PAIRS)]), "a")
    world.event(3, ["file /clean"], ["file /enriched"], job="a.enrich")
    world.step("report", 4, write(REPORT, [(ENRICHED, PAIRS)]), "a")
    assert not any(n.declared for n in seeing(world, "a").graph.nodes)
    assert any(n.declared for n in world.prov.restricted(lambda m: True).graph.nodes)


def test_runs_of_two_dags_that_may_have_made_one_file_are_seen_by_those_only_who_see_all(dags: World) -> None:
    dags.event(2, ["file /raw"], ["file /enriched"], dag="k")
    assert not any(n.declared for n in seeing(dags, "a", "b", "j", "k").graph.nodes)
    assert any(n.declared for n in dags.prov.graph.nodes)
