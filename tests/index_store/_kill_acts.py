"""What is killed at every point: a step's life in a store, and each transaction of the catalogue."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
import alembic.command  # noqa: F401 - once, before each process would
from _catalogue import CLEAN, RAW, World, file, files, pipeline
from openlineage.client.serde import Serde
from sqlalchemy import Engine, event

from provspark.airflow.events import events_from_manifest
from provspark.errors import StepExistsError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.gc import Keep, collect
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store
from provspark.model.steps import StepKey
from provspark.testing.contract import end, small

KEY = StepKey("task", "run", "dag")
WRITES = [small(f"/out{i}", f"/in{i}") for i in range(4)]
Point = Callable[[], None]
OPERATIONS = ("mkdir", "fsync", "link", "unlink", "rmdir", "rename")


class Leaky:
    """A file of which half is written before each point."""

    def __init__(self, file: Any, point: Point) -> None:
        self._file, self._point = file, point

    def write(self, data: Any) -> Any:
        half = len(data) // 2
        self._file.write(memoryview(data)[:half])
        self._file.flush()
        self._point()
        return half + self._file.write(memoryview(data)[half:])

    def __enter__(self) -> Leaky:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def points_at_files(point: Point) -> Iterator[None]:
    """Put a point before every operation on files that the store does, and in the middle of every write."""
    real = {name: getattr(os, name) for name in OPERATIONS}
    real_open = Path.open

    def opened(self: Path, mode: str = "r", **kwargs: Any) -> Any:
        if "x" not in mode:
            return real_open(self, mode, **kwargs)
        point()
        return Leaky(real_open(self, mode, **kwargs), point)

    try:
        for name, act in real.items():
            setattr(os, name, lambda *a, act=act, **k: (point(), act(*a, **k))[1])
        Path.open = opened  # type: ignore[method-assign]
        yield
    finally:
        for name, act in real.items():
            setattr(os, name, act)
        Path.open = real_open  # type: ignore[method-assign]


def write_step(url: str) -> None:
    """One step of four writes, from claim to manifest, in a store that is made for it."""
    writer = Store.open(url, create=True).writer(KEY)
    (Path(writer.taps.removeprefix("file://")) / "part-0").write_bytes(b"x")
    for pending in WRITES:
        writer.add(pending)
    end(writer)


def seal_and_publish(at: int, point: Point, folder: str) -> None:
    with points_at_files(point):
        write_step(f"{folder}/{at}")


def mend_and_collect(at: int, point: Point, folder: str) -> None:
    """Repair a given up step, then remove all: each store was made before by `given_up`."""
    with points_at_files(point):
        store = Store.open(f"{folder}/{at}")
        repair(store, idle=0)
        collect(store, Keep(runs=0))


def given_up(url: str) -> None:
    """A store with a step whose process ended after its first write."""
    writer = Store.open(url, create=True).writer(KEY)
    writer.add(WRITES[0])


@contextlib.contextmanager
def points_at_statements(point: Point) -> Iterator[None]:
    """Put a point before and after every statement, and before and after every commit."""

    def told(*_: object) -> None:
        point()

    names = ("before_cursor_execute", "after_cursor_execute", "commit")
    for name in names:
        event.listen(Engine, name, told)
    try:
        yield
    finally:
        for name in names:
            event.remove(Engine, name, told)
    point()


def one_step(number: int) -> World:
    """A step of a run of its own that reads and writes the data sets of all others."""
    world = World()
    read, written = files(file("r0.csv", 7, written=False)), files(file(f"{number}.parquet", 5), file("all.parquet", 6))
    world.step("clean", [(RAW, read)], [(CLEAN, written)], run=f"run {number}")
    return world


def events(world: World) -> list[dict[str, Any]]:
    return [Serde.to_dict(e) for m in world.manifests for e in events_from_manifest(world.store, m)]


def ingest(at: int, point: Point, url: str) -> None:
    """Take the last event of a step into a catalogue."""
    world = one_step(at)
    with Catalogue.open(url, migrate=False, files=world.files) as catalogue, points_at_statements(point):
        catalogue.ingest(events(world)[-1])


def rebuild(at: int, point: Point, url: str, allowed: str) -> None:
    """Forget all and take in a pipeline without its last event; what was there before is one of two contents."""
    world = pipeline()
    with Catalogue.open(url, migrate=False, files=world.files) as catalogue:
        assert as_text(catalogue) in json.loads(Path(allowed).read_text())
        with points_at_statements(point):
            catalogue.rebuild(events(world)[:-1])


def as_text(catalogue: Catalogue) -> str:
    return json.dumps(catalogue.dump(), default=str, sort_keys=True)


def migrate(at: int, point: Point, urls: str) -> None:
    """Make the tables, in a new database for each point."""
    with points_at_statements(point):
        Catalogue.open(Path(urls).read_text().split()[at - 1]).close()


def race(url: str, many: int) -> list[str]:
    """Let so many processes publish one step at the same moment; tell how each fared."""
    Store.open(url, create=True)
    (ready, tell), (wait, go) = os.pipe(), os.pipe()
    children = []
    for _ in range(many):
        child = os.fork()
        children.append(child)
        if not child:
            os.close(go)
            writer = Store.open(url).writer(KEY)
            writer.add(WRITES[0])
            os.write(tell, b"x")
            os.read(wait, 1)
            try:
                end(writer)
            except StepExistsError:
                os._exit(3)
            os._exit(0)
    for _ in range(many):
        os.read(ready, 1)
    os.close(go)
    said = {0: "won", 3: "lost"}
    return [said.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "died") for child in children]


if __name__ == "__main__":
    print(*race(sys.argv[1], int(sys.argv[2])))
