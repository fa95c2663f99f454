"""Small pipelines for the catalogue's tests: manifests and file lists made by hand, no Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from provspark.index_store.catalogue import StepRef
from provspark.index_store.catalogue.records import VersionRole
from provspark.model.datasets import Dataset, Field, Files, Unit, Version
from provspark.model.driver_datasets import driver_version
from provspark.model.steps import Manifest, StepKey, StepStatus
from provspark.model.writes import Untracked, Write

STORE = "file:///data/prov"
RAW, CLEAN, REPORT, LAST = (Dataset("file", f"/data/{name}") for name in ("raw", "clean", "report", "last"))


def file(path: str, rows: int = 10, mtime: int = 1, written: bool = True) -> tuple[str, int, int, int, bool]:
    """One entry for `Files.of`; the size follows the rows."""
    return (path, 100 + rows, mtime, rows, written)


def files(*entries: tuple[str, int, int, int, bool]) -> Files:
    return Files.of(entries)


def as_input(*lists: Files) -> Files:
    """Return the files of several lists as who reads them finds them."""
    entries = {}
    for one in lists:
        for i, path in enumerate(one.paths):
            entries[path] = (path, int(one.sizes[i]), int(one.mtimes[i]), int(one.rows[i]), False)
    return Files.of(entries.values())


@dataclass
class World:
    """Steps with their manifests, and a source of file lists that counts what it was asked for."""

    store: str = STORE
    manifests: list[Manifest] = field(default_factory=list)
    lists: dict[tuple[StepRef, str, VersionRole], Files] = field(default_factory=dict)
    unreachable: bool = False
    asked: int = 0

    def files(self, ref: StepRef, version: str, role: VersionRole) -> Files:
        self.asked += 1
        if self.unreachable:
            raise OSError(f"{ref.store} does not answer")
        return self.lists[ref, version, role]

    def step(
        self,
        task: str,
        reads: Iterable[tuple[Dataset, Files]] = (),
        writes: Iterable[tuple[Dataset, Files]] = (),
        driver: Iterable[tuple[Dataset, Files]] = (),
        *,
        attempt: int = 0,
        call: str = "",
        unit: Unit = "row",
        run: str = "r1",
        try_number: int = 1,
        status: StepStatus = "succeeded",
        minute: int | None = None,
        untracked: bool = False,
    ) -> Manifest:
        """Publish a step of DAG ``d``; every write reads all the inputs, and the driver some of its own.

        `unit` is that of what it writes.
        """
        key = StepKey(task, run, "d", -1, try_number, attempt, call)
        inputs = tuple(self._version(key, dataset, read, "input") for dataset, read in reads)
        minute = len(self.manifests) if minute is None else minute
        manifest = Manifest(
            step=key.id,
            key=key,
            status=status,
            started=f"2026-01-01T10:{minute:02}:00.000000+00:00",
            ended=f"2026-01-01T10:{minute:02}:30.000000+00:00",
            writes=tuple(
                Write(i, self._version(key, dataset, written, "output", unit), "exact", inputs)
                for i, (dataset, written) in enumerate(writes)
            ),
            reads=tuple(self._read(key, i, dataset, read) for i, (dataset, read) in enumerate(driver)),
            files=(),
            untracked=(Untracked("SaveIntoDataSource", "a write bypassed capture"),) if untracked else (),
        )
        self.manifests.append(manifest)
        return manifest

    def _read(self, key: StepKey, call: int, dataset: Dataset, read: Files) -> Write:
        """A call that returned all rows of a data set."""
        made = driver_version(key.id, call, f"{key.task_id}.py:1", read.total)
        output = Version(made.files.identity(made.dataset), made.dataset, read.total, 1, made.format)
        return Write(call, output, "coarse", (self._version(key, dataset, read, "input"),), action="DataFrame.collect")

    def _version(self, key: StepKey, dataset: Dataset, listed: Files, role: VersionRole, unit: Unit = "row") -> Version:
        id_ = listed.identity(dataset)
        self.lists[StepRef(self.store, key.id), id_, role] = listed
        fields = (Field("a", "int"),)
        return Version(id_, dataset, listed.total, len(listed.paths), "parquet", fields=fields, unit=unit)


def pipeline(store: str = STORE) -> World:
    """raw → clean → report, with a retry of `clean` that failed first and an append to the report."""
    world = World(store)
    raw = files(file("r0.csv", 7, written=False), file("r1.csv", 8, written=False))
    half = files(file("half.parquet", 3))
    clean = files(file("c0.parquet", 5), file("c1.parquet", 6))
    first = files(file("p=1/a.parquet", 2))
    both = files(file("p=1/a.parquet", 2, written=False), file("p=2/b.parquet", 2))
    world.step("clean", [(RAW, raw)], [(CLEAN, half)], status="failed")
    world.step("clean", [(RAW, raw)], [(CLEAN, clean)], try_number=2)
    world.step("report", [(CLEAN, as_input(clean))], [(REPORT, first)])
    world.step("more", [(RAW, raw)], [(REPORT, both)])
    world.step("read_all", [(REPORT, as_input(both))], [(LAST, files(file("l.parquet")))], untracked=True)
    return world


def read_on_drivers(store: str = STORE) -> World:
    """raw → clean, whose second attempt read it into memory; a report of files that nobody counted, read there too."""
    world = World(store)
    raw = files(file("r0.csv", 7, written=False))
    clean = files(file("c0.parquet", 5))
    uncounted = files(("a.csv", 9, 1, 1, True), ("b.csv", 9, 1, 1, True))
    world.step("clean", [], [(CLEAN, files(file("half.parquet", 1)))], [(RAW, raw)], status="failed")
    world.step("clean", [], [(CLEAN, clean)], [(RAW, raw), (RAW, raw)], attempt=1)
    world.step("report", [], [(REPORT, uncounted)], [(CLEAN, as_input(clean))], unit="file")
    world.step("last", [(RAW, raw)], [(LAST, files(file("l.parquet")))], [(REPORT, as_input(uncounted))])
    return world
