"""Cost of capture: one write plain and tracked, in turn, in one session.

Plain runs are unwrapped: no capture is attached while they run. Ratios are of medians over the pairs; which of a pair
goes first changes from pair to pair. What the processor spent is of this process and Spark's: where others use the
machine, that ratio says more than the one of seconds.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

import provspark
from benchmarks.common import SCRATCH, table
from provspark.model.boxes.overlap import disjoint
from provspark.tracker import attach

RESULTS = SCRATCH / ("quick" if os.environ.get("PROVSPARK_BENCH_PRINT") else "results")


@dataclass(slots=True)
class Measured:
    """All runs of one write, in seconds."""

    name: str
    plain: list[float] = field(default_factory=list)
    tracked: list[float] = field(default_factory=list)
    plain_used: list[float] = field(default_factory=list)
    tracked_used: list[float] = field(default_factory=list)
    rewrite: list[float] = field(default_factory=list)
    seal: list[float] = field(default_factory=list)
    edges: int = 0
    size: int = 0

    @property
    def ratio(self) -> float:
        """Tracked over plain, sealing included."""
        return statistics.median(self.tracked) / statistics.median(self.plain)

    @property
    def unsealed(self) -> float:
        """The same, sealing apart."""
        apart = [t - s for t, s in zip(self.tracked, self.seal, strict=True)]
        return statistics.median(apart) / statistics.median(self.plain)

    @property
    def used(self) -> float:
        """The same as `ratio` of the processor's time."""
        return statistics.median(self.tracked_used) / statistics.median(self.plain_used)


@dataclass(frozen=True, slots=True)
class Case:
    """A write to measure: `write` gets the URL of the folder to write."""

    name: str
    write: Callable[[str], None]


def measure(suite: str, case: Case, runs: int) -> Measured:
    """Run a write in turn, plain and tracked; the first pair warms up and is not counted.

    The store and the tracked output stay: see `folders`.
    """
    store, tracked = folders(suite, case.name)
    plain = SCRATCH / "plain" / suite / tracked.name
    for folder in (store, plain, tracked):
        shutil.rmtree(folder, ignore_errors=True)
    found = Measured(case.name)
    for run in range(runs + 1):
        for traced in (False, True) if run % 2 else (True, False):
            costs: tuple[float, ...] = ()
            if traced:
                with attach(store=store.as_uri(), step=store.name) as capture:
                    wall, used = timed(lambda: case.write(tracked.as_uri()))
                if capture.untracked:
                    raise SystemExit(f"{case.name} is not tracked: {capture.untracked}")
                costs = (sum(c.rewrite for c in capture.costs), sum(c.seal for c in capture.costs))
            else:
                wall, used = timed(lambda: case.write(plain.as_uri()))
            if not run:
                continue
            (found.tracked if traced else found.plain).append(wall)
            (found.tracked_used if traced else found.plain_used).append(used)
            if traced:
                found.rewrite.append(costs[0])
                found.seal.append(costs[1])
    assert capture.manifest is not None
    found.size = sum(f.size for f in capture.manifest.files)
    found.edges = data_edges(store, tracked)
    shutil.rmtree(plain, ignore_errors=True)
    return found


def folders(suite: str, name: str) -> tuple[Path, Path]:
    """The store and the tracked output of a case, as `measure` leaves them."""
    place = "".join(c if c.isalnum() else "-" for c in name)
    return SCRATCH / "prov" / suite / place, SCRATCH / "tracked" / suite / place


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Return how long a call takes: seconds, and seconds of the processor in this process and those it started."""
    began, used = time.perf_counter(), processor()
    work()
    return time.perf_counter() - began, processor() - used


def processor(processes: Iterable[psutil.Process] | None = None) -> float:
    """Seconds of the processor that some processes have had: this one and those it started, where none are given."""
    here = psutil.Process()
    some = (here, *here.children(recursive=True)) if processes is None else processes
    times = [p.cpu_times() for p in some]
    return sum(t.user + t.system for t in times)


class Peak:
    """The most memory, in MB, that this process and the driver's JVM had, looked at every so many seconds.

    Attributes
    ----------
    first, most : list of float
        When it began, and at most; Python's and the JVM's.
    """

    def __init__(self, every: float) -> None:
        here = psutil.Process()
        (self.jvm,) = [p for p in here.children() if "java" in Path(p.exe()).name]
        self.driver = (here, self.jvm)
        self._every = every
        self.first = self._now()
        self.most = list(self.first)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _now(self) -> list[float]:
        return [p.memory_info().rss / 2**20 for p in self.driver]

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(self._every):
            self.most[:] = map(max, self.most, self._now())

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def data_edges(store: Path, dataset: Path) -> int:
    """Distinct (output row, occurrence of an input, source row) of the newest version."""
    parts = provspark.open(store.as_uri()).backward(dataset.as_uri()).parts
    return sum(disjoint(part.boxes).edges for part in parts if part.kind == "data")


def run(suite: str, cases: Iterable[Case], runs: int, resume: bool = False) -> list[Measured]:
    """Measure all, telling each as it is there; what was measured is kept, and with `resume` not measured again."""
    kept = {m.name: m for m in load(suite)} if resume else {}
    found: list[Measured] = []
    for case in cases:
        known = kept.get(case.name)
        found.append(known if known and len(known.plain) == runs else measure(suite, case, runs))
        last = found[-1]
        took = f"{last.ratio:.2f} ({last.used:.2f} of the processor's time)" if last.plain else "not timed"
        print(f"{suite} {last.name}: {took}", flush=True)
        save(suite, found)
    return found


def save(suite: str, found: list[Measured]) -> None:
    """Keep what was measured, for `load`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{suite}.json").write_text(json.dumps([asdict(m) for m in found]), encoding="utf-8")


def load(suite: str) -> list[Measured]:
    """What the last run of a suite measured; nothing where there was none."""
    path = RESULTS / f"{suite}.json"
    return [Measured(**m) for m in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def geometric(ratios: Sequence[float]) -> float:
    """Geometric mean."""
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def report(found: list[Measured], what: str) -> str:
    """Return a table of what was measured, `what` naming each line's thing."""
    head = [what, "plain, s", "with capture, s", "ratio", "ratio without sealing", "CPU time ratio", "rewrite, s"]
    head += ["seal, s", "data edges", "bytes, all files", "bytes per edge"]
    lines = []
    for m in found:
        seconds = [f"{statistics.median(x):.2f}" for x in (m.plain, m.tracked)]
        costs = [f"{statistics.median(x):.3f}" for x in (m.rewrite, m.seal)]
        per_edge = f"{m.size / m.edges:.2f}" if m.edges else "–"
        ratios = [f"{x:.2f}" for x in (m.ratio, m.unsealed, m.used)]
        lines.append([m.name, *seconds, *ratios, *costs, f"{m.edges:,}", f"{m.size:,}", per_edge])
    if len(found) > 1:
        edges, size = sum(m.edges for m in found), sum(m.size for m in found)
        columns = [[getattr(m, n) for m in found] for n in ("ratio", "unsealed", "used")]
        for name, fold in (("**geometric mean**", geometric), ("**worst**", max)):
            lines.append([name, "", "", *(f"**{fold(c):.2f}**" for c in columns), *[""] * 5])
        lines[-2][-3:] = [f"{edges:,}", f"{size:,}", f"{size / max(1, edges):.2f}"]
    return table(head, lines)


def load_average() -> str:
    """Say how busy the machine is."""
    return f"load {psutil.getloadavg()[0]:.1f}"


def frames(spark: Any, folder: Path, names: Iterable[str]) -> None:
    """Make views of Parquet files of these names."""
    for name in names:
        spark.read.parquet(f"file://{folder}/{name}.parquet").createOrReplaceTempView(name)
