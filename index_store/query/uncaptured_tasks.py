"""Stops for tasks that were not captured: they may have passed rows on, or may have made a source."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.relation import image, restrict
from provspark.index_store.query.trust import Trust
from provspark.index_store.query.walk import Stand, Ways, plan, stretch, uncaptured, walk
from provspark.index_store.store.tasks import below, datasets, is_captured, is_passive
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver
from provspark.model.runs import Runs
from provspark.model.steps import Manifest, Task
from provspark.model.stops import Blur, Stop
from provspark.model.times import milliseconds
from provspark.model.writes import Kind

__all__ = ["stops_of_tasks"]

_SECOND = 1000
"""Milliseconds by which file systems may round modification times down."""
_JUDGED = "Tasks of other DAGs are not checked"


def stops_of_tasks(
    linker: Linker, starts: Iterable[Stand], direction: Direction, to: object, trust: Trust, *, context: bool
) -> set[Stop]:
    """Return the stops of a walk at tasks of a DAG that were not captured and may have passed rows on or made them.

    Forward, these are the tasks downstream of one that made or read the rows. With `to`, only those upstream of a task
    that wrote `to`, or read rows of it that no captured step wrote. A task that was captured in part counts for the
    missing part. Backward, a stop names a source that was written while the DAG ran, or that a task declares.
    """
    graph = linker.graph
    partly = (_uncaptured(m.dag) or (m.key.dag_id and m.untracked) for m in graph.manifests)
    if not any(m.run_started for m in graph.manifests if direction == "backward") and not any(partly):
        return set()
    starts = list(starts)
    sink = _Touched()
    sink.nodes.update(dict.fromkeys(start.at.node for start in starts))
    quiet = Trust()  # another walk reports the stops of the walk itself
    walk(linker, plan(linker, [s.at for s in starts], direction), starts, sink, context=context, ways=Ways(trust=quiet))
    if direction == "forward":
        return set(_onward(linker, sink.nodes, to, trust))
    return {stop for at, rows in sink.sources() if (stop := _made(at, rows, trust)) is not None}


class _Touched:
    """A `WalkSink` that keeps the writes and reads that a walk meets, and the sources at which it ends."""

    def __init__(self) -> None:
        self.nodes: dict[WriteNode, None] = {}
        self._ended: dict[object, tuple[VersionReference, Runs]] = {}

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        self.nodes[at.node] = None

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        known = self._ended.get(at.key)
        self._ended[at.key] = (at, image(rel) if known is None else known[1] | image(rel))

    def stopped(self, stop: Stop) -> None:
        pass

    def sources(self) -> Iterable[tuple[VersionReference, Runs]]:
        return self._ended.values()


def _uncaptured(tasks: Iterable[Task]) -> bool:
    return any(not is_captured(task) and not is_passive(task) for task in tasks)


def _onward(linker: Linker, nodes: Iterable[WriteNode], to: object, trust: Trust) -> Iterator[Stop]:
    writers = {(n.manifest.key.dag_id, n.manifest.key.task_id) for n in _knowing(linker, to)}
    told: set[str] = set()
    partly, met = _partly(linker.graph.manifests), {node.step for node in nodes}
    for node in sorted(nodes, key=lambda n: (n.manifest.started, n.step, n.write.index)):
        key, tasks = node.manifest.key, {task.task_id: task for task in node.manifest.dag}
        for task in below(tasks, key.task_id).values():
            if to is not None and not _leads(task, tasks, key.dag_id, writers, to):
                continue
            named = f"task {task.task_id} ({task.operator}) of DAG {key.dag_id}"
            whys = [(f"{named} may have read these rows and passed them on", "")] if _uncaptured([task]) else []
            for manifest in partly.get((key.dag_id, key.run_id, task.task_id), ()) if is_captured(task) else ():
                if manifest.step not in met:  # otherwise the walk itself stops there
                    for r in uncaptured(manifest):
                        whys.append((f"part of {named} was not captured, so it may have passed rows on ({r})", r.site))
            for why, site in whys:
                why += f". {_JUDGED}"
                if why in told:
                    continue
                told.add(why)
                if not trust.takes(None, "task", why, [site], _names(key.dag_id, task)):
                    yield Stop("task", node.step, str(node.write.output.dataset), why)


def _partly(manifests: Iterable[Manifest]) -> dict[tuple[str, str, str], list[Manifest]]:
    """Return the steps that were captured in part, by DAG, run and task."""
    steps: dict[tuple[str, str, str], list[Manifest]] = {}
    for m in manifests:
        if m.untracked:
            steps.setdefault((m.key.dag_id, m.key.run_id, m.key.task_id), []).append(m)
    return steps


def _knowing(linker: Linker, to: object) -> Iterable[WriteNode]:
    """Return what wrote a dataset or its sources or read rows of it that no captured step wrote; or a step's writes."""
    graph = linker.graph
    if not isinstance(to, Dataset):
        return [n for n in graph.nodes if to is not None and n.step == getattr(to, "id", "")]
    read = [at for index in (graph.read, graph.read_on_driver, graph.lost) for at in index.by_name.get(to, ())]
    loose = [at for at in read if linker.links(at, "backward").loose]
    ends = [*graph.written.by_name.get(to, ()), *loose]
    return [*(at.node for at in ends), *plan(linker, ends, "backward").nodes]


def _leads(task: Task, tasks: Mapping[str, Task], dag_id: str, writers: Container[tuple[str, str]], to: object) -> bool:
    """Return whether a writer depends on a task, or the task itself declares the dataset."""
    if any((dag_id, name) in writers for name in below(tasks, task.task_id)):
        return True
    return isinstance(to, Dataset) and _declares(task, to)


def _declares(task: Task, dataset: Dataset) -> bool:
    return any(named.meets(dataset) for named in datasets(task.outlets))


def _made(at: VersionReference, rows: Runs, trust: Trust) -> Stop | None:
    """Return the stop at a source that a task without capture made, or something else while the DAG ran."""
    manifest, dataset = at.node.manifest, at.version.dataset
    if dataset.namespace.startswith("memory") or is_driver(dataset):
        return None
    key = manifest.key
    makers = [task for task in manifest.dag if _declares(task, dataset) and _uncaptured([task])]
    kind: Blur
    if makers:
        by = " or ".join(f"task {task.task_id} ({task.operator})" for task in makers)
        why, kind = f"{dataset} is declared as an outlet of {by} of DAG {key.dag_id}", "task"
    elif _written_since(at, rows, manifest.run_started):
        why, kind = (
            f"{dataset} was written during run {key.run_id} of DAG {key.dag_id} by a job without capture",
            "outside",
        )
    else:
        return None
    names = [name for task in makers for name in _names(key.dag_id, task)]
    if trust.takes(at.node, kind, why, names=names):
        return None
    return Stop(kind, at.node.step, str(at.node.write.output.dataset), why)


def _written_since(at: VersionReference, rows: Runs, started: str) -> bool:
    """Return whether a file that contains some of the rows was written after a time."""
    if not started:
        return False
    since, files = milliseconds(started) // _SECOND * _SECOND, at.files
    numbers = zip(files.mtimes.tolist(), files.bases.tolist(), files.rows.tolist(), strict=False)
    return any(mtime >= since and len(restrict(stretch(base, base, n), rows)) for mtime, base, n in numbers)


def _names(dag_id: str, task: Task) -> list[str]:
    return [task.task_id, f"{dag_id}.{task.task_id}", task.operator, *task.bases]
