"""Tasks of a DAG that were not captured: answers stop at those through which rows may have gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _steps import read, version, write

import provspark
from provspark.errors import UntrackedError
from provspark.index_store.query.answer import stops_of, trusted_of
from provspark.index_store.store.store import Store
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey, Task
from provspark.model.writes import Untracked

SRC, CLEAN = version("/src", {"a": 4}), version("/clean", {"p": 2}, written=["p"])
OTHER, REPORT = version("/other", {"o": 2}), version("/report", {"r": 2}, written=["r"])
OURS = ("SparkSubmitOperator", "BaseOperator")
DAG = (
    Task("clean", "ProvSparkOperator", (), OURS),
    Task("enrich", "PythonOperator", ("clean",), ("BaseOperator",), outlets=("file:///other",)),
    Task("report", "ProvSparkOperator", ("enrich",), OURS),
    Task("tell", "EmailOperator", ("report",), ("BaseOperator",)),
    Task("archive", "BashOperator", ("report",), ("BaseOperator",)),
)


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store.open(str(folder), create=True)

    def step(self, task: str, made: PendingWrite | None, dag: Iterable[Task] = DAG, **more: Any) -> None:
        parts = {name: more.pop(name) for name in ("call", "try_number") if name in more}
        key = StepKey(task, more.pop("run", "run"), "people", **parts)
        writer = self.store.writer(key, dag=dag, run_started=more.pop("run_started", ""))
        if made is not None:
            writer.add(made)
        times = {"started": "2024-01-01T00:00:00.000000", "ended": "2024-01-01T00:00:01.000000"}
        writer.publish(status="succeeded", **times, **more)

    def stops(self, direction: str, dataset: str, rows: list[int], **more: Any) -> dict[str, list[str]]:
        """By the kind of stop, what they say; an empty answer that stops raises."""
        prov = provspark.open(str(self.folder))
        try:
            found = stops_of(getattr(prov, direction)(dataset, rows, **more))
        except UntrackedError:
            found = prov.trace(dataset, rows, direction, **more).stops
        said: dict[str, list[str]] = {}
        for stop in found:
            said.setdefault(stop.what, []).append(stop.why)
        return said


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.step("clean", write(CLEAN, [(SRC, [(0, 0), (1, 2)])]))
    made.step("report", write(REPORT, [(OTHER, [(0, 0), (1, 1)])]))
    return made


@pytest.mark.parametrize("row", [0, 1])
def test_tasks_after_the_one_that_read_the_row_may_have_taken_it_on(row: int, world: World) -> None:
    said = world.stops("forward", "/src", [row])["task"]
    assert [why.split(" may")[0] for why in said] == [
        "task archive (BashOperator) of DAG people",
        "task enrich (PythonOperator) of DAG people",
    ]
    assert all("Tasks of other DAGs are not checked" in why for why in said)


def test_on_the_way_to_a_data_set_only_tasks_before_its_writer_count(world: World) -> None:
    (said,) = world.stops("forward", "/src", [1], to="/report")["task"]
    assert said.startswith("task enrich ")
    assert "task" not in world.stops("forward", "/other", [1], to="/clean")
    assert "task" not in world.stops("forward", "/src", [1], to="/clean")


def test_on_the_way_to_a_source_tasks_before_its_reader_count(world: World) -> None:
    (said,) = world.stops("forward", "/src", [1], to="/other")["task"]
    assert said.startswith("task enrich ")


@pytest.mark.parametrize(("seen", "told"), [(version("/clean", {"p": 2, "q": 1}), True), (read(CLEAN), False)])
def test_rows_added_to_what_a_step_wrote(seen: PendingVersion, told: bool, tmp_path: Path) -> None:
    """A task adds a file, which the next one reads."""
    world, dag = World(tmp_path), (*DAG, Task("more", "ProvSparkOperator", ("enrich",), OURS))
    world.step("clean", write(CLEAN, [(SRC, [(0, 0), (1, 2)])]), dag)
    world.step("more", write(version("/more", {"m": 1}, written=["m"]), [(seen, [(0, 0)])]), dag)
    found = world.stops("forward", "/src", [1], to="/clean")
    assert ("task" in found) is told


def test_an_empty_answer_raises_and_names_the_task(world: World) -> None:
    with pytest.raises(UntrackedError, match=r"task enrich \(PythonOperator\) of DAG people may have read these rows"):
        provspark.open(str(world.folder)).forward("/src", [1], to="/report").table()


@pytest.mark.parametrize("entry", ["enrich", "people.enrich", "PythonOperator", "task"])
def test_what_is_trusted_is_no_stop(entry: str, world: World) -> None:
    answer = provspark.open(str(world.folder)).forward("/src", [1], to="/report", trust=[entry]).table()
    assert stops_of(answer) == () and [t.by for t in trusted_of(answer)] == [entry]


@pytest.mark.parametrize(
    "task",
    [
        Task("next", "ProvSparkOperator", ("clean",), OURS),
        Task("next", "OurOperator", ("clean",), ("ProvSparkOperator", *OURS)),
        Task("next", "BashOperator", ("clean",), ("BaseOperator",), mode="run"),
        Task("next", "S3KeySensor", ("clean",), ("BaseSensorOperator", "BaseOperator")),
        Task("next", "EmptyOperator", ("clean",), ("BaseOperator",)),
        Task("next", "_ShortCircuitDecoratedOperator", ("clean",), ("ShortCircuitOperator", "PythonOperator")),
        Task("next", "ProvQueryOperator", ("clean",), ("BaseOperator",)),
        Task("next", "ApprovalOperator", ("clean",), ("HITLOperator", "BaseOperator")),
        Task("next", "SQLTableCheckOperator", ("clean",), ("BaseSQLOperator", "BaseOperator")),
        Task("before", "PythonOperator", (), ("BaseOperator",)),
    ],
)
def test_tasks_that_are_captured_or_take_no_rows_are_no_stops(task: Task, tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (Task("clean", "ProvSparkOperator"), task))
    assert world.stops("forward", "/src", [0, 1]) == {}


def test_a_task_of_ours_that_is_off_is_a_stop(tmp_path: Path) -> None:
    world = World(tmp_path)
    off = Task("next", "ProvSparkOperator", ("clean",), OURS, mode="off")
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (Task("clean", "ProvSparkOperator"), off))
    assert set(world.stops("forward", "/src", [0])) == {"task"}


def test_a_source_that_a_task_declares_names_it(world: World) -> None:
    (said,) = world.stops("backward", "/report", [1])["task"]
    assert said == "file:///other is declared as an outlet of task enrich (PythonOperator) of DAG people"
    assert "task" not in world.stops("backward", "/report", [1], trust=["enrich"])
    assert world.stops("backward", "/clean", [1]) == {}


@pytest.mark.parametrize("dag", [DAG, DAG[:1]], ids=["some tasks are not captured", "all tasks are captured"])
def test_a_source_that_was_written_while_the_dag_ran(dag: tuple[Task, ...], tmp_path: Path) -> None:
    world = World(tmp_path)
    new = version("/landed", {"a": 4, "b": 4}, mtime=5_000_000)
    for task, started in (("early", "1970-01-01T01:00:00Z"), ("late", "1970-01-01T02:00:00Z")):
        made = version(f"/{task}", {"p": 1}, written=["p"])
        world.step(task, write(made, [(new, [(0, 5)])]), (*dag, Task(task, "ProvSparkOperator")), run_started=started)
    assert world.stops("backward", "/late", [0]) == {}
    assert world.stops("backward", "/early", [0]) == {
        "outside": ["file:///landed was written during run run of DAG people by a job without capture"]
    }


@pytest.mark.parametrize(("mtime", "told"), [(5_000_000, True), (4_999_999, False)])
def test_times_of_files_may_be_rounded_down_to_seconds(mtime: int, told: bool, tmp_path: Path) -> None:
    world = World(tmp_path)
    new = version("/landed", {"a": 4}, mtime=mtime)
    world.step("clean", write(CLEAN, [(new, [(0, 0)])]), DAG, run_started="1970-01-01T01:23:20.900000Z")
    found = world.stops("backward", "/clean", [0])
    assert ("outside" in found) is told


LOST = (
    Untracked("Spark Connect", "what it reads and writes is not seen", "/jobs/next.py:5"),
    Untracked("spark-submit", "a process of its own runs Spark", "/jobs/next.py:9"),
)
NEXT = (DAG[0], Task("next", "ProvSparkOperator", ("clean",), OURS), Task("last", "ProvSparkOperator", ("next",), OURS))


def partly(tmp_path: Path, run: str = "run", task: str = "next") -> World:
    """A DAG whose second task was captured, but for two things that it did."""
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), dag=NEXT)
    world.step(task, None, () if task == "next" else NEXT, run=run, untracked=LOST)  # as one that did not start
    return world


def test_what_is_missing_of_a_task_after_the_one_that_read_the_row_is_a_stop(tmp_path: Path) -> None:
    world = partly(tmp_path)
    first, second = world.stops("forward", "/src", [0])["task"]
    assert first.startswith("part of task next (ProvSparkOperator) of DAG people was not captured, so it may")
    assert "(Spark Connect: " in first
    assert "/jobs/next.py:9" in second
    world.step("last", write(REPORT, [(OTHER, [(0, 0)])]), dag=NEXT)
    assert len(world.stops("forward", "/src", [0], to="/report")["task"]) == 2
    (left,) = world.stops("forward", "/src", [0], trust=["next.py:5"])["task"]
    assert left == second
    assert world.stops("forward", "/src", [0], trust=["next.py:5", "next.py:9"]) == {}
    assert world.stops("forward", "/src", [0], trust=["next"]) == {}


@pytest.mark.parametrize("step", [{"run": "another"}, {"task": "before"}])
def test_what_is_missing_of_other_runs_and_tasks_is_no_stop(step: dict[str, str], tmp_path: Path) -> None:
    assert partly(tmp_path, **step).stops("forward", "/src", [0]) == {}


@pytest.mark.parametrize("uri", [" ", "\n", "http://[bad", "file:///clean?x", "x" * 3000])
def test_inlets_and_outlets_that_name_no_data_set_are_left_out(uri: str, tmp_path: Path) -> None:
    odd = Task("enrich", "PythonOperator", ("clean",), (), "", False, "", (uri, "file:///clean"), (uri,))
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (DAG[0], odd))
    assert len(world.stops("forward", "/src", [0])["task"]) == 1
    assert "task" not in world.stops("backward", "/clean", [0])


def test_a_task_that_declares_the_data_set_in_question_counts(tmp_path: Path) -> None:
    adds = Task("add", "PythonOperator", ("report",), ("BaseOperator",), outlets=("file:///report",))
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (*DAG[:3], adds))
    world.step("report", write(REPORT, [(version("/else", {"e": 2}), [(0, 0)])]), (*DAG[:3], adds))
    said = world.stops("forward", "/src", [0], to="/report")["task"]
    assert [why.split(" (")[0] for why in sorted(said)] == ["task add", "task enrich"]


def test_what_is_missing_of_the_step_that_wrote_the_rows_is_a_stop(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (), untracked=LOST)
    assert len(world.stops("forward", "/clean", [0])["untracked"]) == 2
    assert world.stops("forward", "/clean", [0], trust=["next.py:5", "next.py:9"]) == {}
    assert world.stops("backward", "/clean", [0]) == {}


def test_what_is_missing_in_one_of_several_runs_is_a_stop(tmp_path: Path) -> None:
    world = World(tmp_path)
    for run in ("first", "second"):
        made = version(f"/clean-{run}", {"p": 2}, written=["p"])
        world.step("clean", write(made, [(SRC, [(0, 0)])]), NEXT, run=run)
        world.step("next", None, NEXT, run=run, untracked=LOST[:1] if run == "second" else ())
    (said,) = world.stops("forward", "/src", [0])["task"]
    assert "/jobs/next.py:5" in said


def test_each_thing_that_is_missing_of_a_step_is_a_stop_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), dag=(), untracked=LOST)
    said = world.stops("forward", "/src", [0])["untracked"]
    assert [text.split(": ")[1] for text in sorted(said)] == ["Spark Connect", "spark-submit"]
    assert len(world.stops("forward", "/src", [0], trust=["next.py:5"])["untracked"]) == 1
    assert world.stops("forward", "/src", [0], trust=["/jobs/next.py:5", "next.py:9"]) == {}


def test_steps_without_a_dag_have_no_such_stops(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), ())
    assert world.stops("forward", "/src", [0, 1]) == {}


def test_a_read_version_of_what_a_task_made_leads_on(world: World) -> None:
    made = version("/last", {"l": 2}, written=["l"])
    world.step(
        "last", write(made, [(read(CLEAN), [(0, 0)])]), (*DAG, Task("last", "ProvSparkOperator", ("clean",), OURS))
    )
    assert len(world.stops("forward", "/src", [0])["task"]) == 2


DECLARED = (
    DAG[0],
    Task("enrich", "PythonOperator", ("clean",), (), "", False, "", ("file:///clean",), ("file:///other",)),
)


@pytest.fixture
def linked(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.step("clean", write(CLEAN, [(SRC, [(0, 0), (1, 2)])]), (*DECLARED, *DAG[2:]))
    made.step("report", write(REPORT, [(OTHER, [(0, 0), (1, 1)])]), (*DECLARED, *DAG[2:]))
    return made


def test_inlets_and_outlets_link_what_was_captured_before_and_after(linked: World) -> None:
    prov = provspark.open(str(linked.folder))
    answer = prov.forward("/src", [2], to="/report").table()
    assert answer.column("related_row").to_pylist() == [0, 1]
    (said,) = [stop.why for stop in stops_of(answer) if stop.what == "declared"]
    assert "task enrich (PythonOperator) declares the outlet file:///other, and the inlets file:///clean" in said
    assert {stop.what for stop in stops_of(answer)} == {"declared", "task"}
    assert prov.backward("/report", [1], to="/src").table().column("related_row").to_pylist() == [0, 2]
    assert linked.stops("forward", "/src", [1], to="/report").keys() == {"task"}  # it went nowhere that is known


def test_rows_end_in_captured_steps_and_not_in_what_a_task_declares(tmp_path: Path) -> None:
    world, empty = World(tmp_path), version("/other", {"o": 0})
    world.step("clean", write(CLEAN, [(SRC, [(0, 0), (1, 2)])]), (*DECLARED, *DAG[2:]))
    world.step("report", write(version("/report", {"r": 0}, "r"), [(empty, [])]), (*DECLARED, *DAG[2:]))
    prov = provspark.open(str(tmp_path))
    assert any(node.declared for node in prov.graph.nodes)
    (ending,) = prov.trace("/src", direction="forward").endings
    assert (ending.dataset, ending.read, ending.kept) == ("file:///clean", 4, 2)


def test_what_a_captured_step_made_is_not_linked_as_declared(tmp_path: Path) -> None:
    world = World(tmp_path)
    dag = (*DECLARED, *DAG[2:])
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), dag)
    world.step("other", write(version("/other", {"o": 2}, written=["o"]), [(SRC, [(1, 1)])]), dag)
    world.step("report", write(REPORT, [(read(OTHER), [(0, 0), (1, 1)])]), dag)
    prov = provspark.open(str(world.folder))
    assert prov.backward("/report", to="/src").table().column("related_row").to_pylist() == [1]


CALLING = (
    Task("clean", "ProvSparkOperator", (), OURS),
    Task("join", "BashOperator", ("clean",), ("BaseOperator",), mode="run"),
    Task("load", "PythonOperator", ("join",), ("BaseOperator",), outlets=("file:///other",)),
)
JOINED = version("/joined", {"j": 2}, written=["j"])


def test_a_run_within_a_task_has_the_dag_that_another_step_of_its_run_knows(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("join", write(JOINED, [(SRC, [(0, 1), (1, 2)])]), (), call="join-1")
    assert world.stops("forward", "/src", [1]) == {}
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), CALLING)
    (said,) = world.stops("forward", "/src", [1])["task"]
    assert said.startswith("task load (PythonOperator) of DAG people may have read these rows")
    assert world.stops("forward", "/src", [1], trust=["load"]) == {}


def test_what_a_run_within_a_task_read_may_be_declared_by_another(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.step("join", write(JOINED, [(OTHER, [(0, 1)])]), (), call="join-1")
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), CALLING)
    (said,) = world.stops("backward", "/joined", [0])["task"]
    assert said == "file:///other is declared as an outlet of task load (PythonOperator) of DAG people"


def test_a_task_that_two_steps_know_has_all_tasks_before_it(tmp_path: Path) -> None:
    """`load` is below `clean` and `other`, each of which knows only the tasks around itself."""
    world = World(tmp_path)
    load = Task("load", "PythonOperator", ("clean",), ("BaseOperator",))
    world.step("other", write(JOINED, [(OTHER, [(0, 1)])]), (), call="other-1")
    world.step("more", write(REPORT, [(OTHER, [(0, 1)])]), (replace(load, upstream=("other",)), Task("other", "X")))
    world.step("clean", write(CLEAN, [(SRC, [(0, 0)])]), (Task("clean", "ProvSparkOperator"), load))
    assert [w.split(" may")[0] for w in world.stops("forward", "/other", [1])["task"]] == [
        "task load (PythonOperator) of DAG people"
    ]


def test_runs_within_a_task_replace_one_another_neither_in_one_try_nor_in_two(tmp_path: Path) -> None:
    """A step that is the task itself would be replaced by its next try: forward, its rows would go nowhere."""
    world = World(tmp_path)
    for number in (1, 2, 3):
        made = version(f"/out{number}", {"o": 1}, written=["o"])
        world.step("join", write(made, [(SRC, [(0, 1)])]), (), call=f"join-{number}", try_number=min(number, 2))
    for number in (1, 2):
        made = version(f"/task{number}", {"o": 1}, written=["o"])
        world.step("task", write(made, [(SRC, [(0, 1)])]), (), try_number=number)
    reached = provspark.open(str(tmp_path)).forward("/src", [1]).table().column("dataset").to_pylist()
    assert sorted(reached) == [f"file:///{name}" for name in ("out1", "out2", "out3", "task2")]
