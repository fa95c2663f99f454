"""Measures the page in Chromium: its size, the first view, a trace, a large graph, a table of ten million rows.

Writes the section of docs/performance.md. Needs `make demo` before it, and Chromium.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import demo_ui
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import screens
from playwright.sync_api import sync_playwright

from benchmarks.common import machine, publish, table
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis
from provspark.web.app import STATIC
from provspark.web.scope import dataset_id

RUNS = 5
ROWS = 10_000_000
STEPS = 100
REPORT_ROWS = "[aria-label*='census.csv'] [data-row]"
FRAMES = """async () => {
  const grid = document.querySelector("[role=grid]");
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < 120; i += 1) {
    grid.scrollTop += grid.scrollHeight / 150;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}"""
CLICKED = """() => {
  const note = () => { window.clickedAt = performance.now(); };
  document.addEventListener("click", note, { capture: true, once: true });
}"""
SHOWN = """(wanted) => wanted.every((one) => document.querySelector(one)) && performance.now() - window.clickedAt"""
"""Milliseconds since the click, as soon as all is there: what the driving of the browser takes is left out."""
Line = list[str]


def main() -> int:
    """Measure all and publish."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=screens.FLAGS)
        with demo_ui.serving() as (base, _):
            lines = [*sizes(), *in_airflow(browser, base)]
        with alone(browser, demo_ui.HOME / "store") as (page, base):
            lines += demo(page, base)
        lines.append(large_graph(browser, Path(folder)))
        lines += long_table(browser, Path(folder))
        version = browser.version
        browser.close()
    head = ["what", "target", "measured", "met"]
    load = f"load average {os.getloadavg()[0]:.1f}"
    publish("page", f"{machine()}, Chromium {version}, headless; medians of {RUNS}; {load}.\n\n{table(head, lines)}")
    return 0


def line(what: str, most: float, measured: float, unit: str) -> Line:
    """A line of the table."""
    digits = 0 if unit in ("ms", "kB") else 2
    return [what, f"{most:g} {unit}", f"{measured:,.{digits}f} {unit}", "yes" if measured <= most else "**no**"]


def median(ask: Callable[[], float]) -> float:
    """The median of some runs, after one that is not counted."""
    ask()
    return statistics.median(ask() for _ in range(RUNS))


def sizes() -> list[Line]:
    """What the browser has to fetch, compressed."""
    packed = {name: len(gzip.compress((STATIC / name).read_bytes())) / 1000 for name in ("page.js", "layout.js")}
    return [
        line("first load in Airflow, compressed", 250, packed["page.js"], "kB"),
        ["layout engine, fetched with the first graph", "", f"{packed['layout.js']:,.0f} kB", ""],
    ]


def in_airflow(browser: Any, base: str) -> list[Line]:
    """First view and first trace in Airflow's own server: nothing is in the browser's cache."""

    def opened(path: str, until: str) -> float:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(f"{base}/plugin/nothing")
        page.wait_for_timeout(1500)  # Airflow's own page, logged in: what is measured is how long ours takes.
        began = time.perf_counter()
        page.goto(f"{base}/plugin/provspark{path}")
        page.wait_for_selector(until)
        took = time.perf_counter() - began
        context.close()
        return took

    def chosen() -> float:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(base)
        entry = page.get_by_role("link", name="Provenance").first
        entry.wait_for()
        page.wait_for_timeout(1500)
        page.evaluate(CLICKED)
        entry.click()
        took = page.wait_for_function(SHOWN, arg=["[data-testid=provspark] tbody tr"], polling="raf").json_value()
        context.close()
        return float(took) / 1000

    alone_took = median(lambda: opened("/../..", "a:has-text('Provenance')"))
    return [
        line("first view, opened from Airflow's navigation", 1.5, median(chosen), "s"),
        ["Airflow's own page alone, opened by URL", "", f"{alone_took:.2f} s", ""],
        line("first view, opened by URL, with Airflow's page", 1.5, median(lambda: opened("", "tbody tr")), "s"),
        line(
            "deep link to a trace, with Airflow's page",
            1.5,
            median(lambda: opened(f"?{demo_ui.question()}", REPORT_ROWS)),
            "s",
        ),
    ]


@contextmanager
def alone(browser: Any, store: Path) -> Iterator[tuple[Any, str]]:
    """A page of its own over a store."""
    with screens.served(store) as base:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{base}/?token={screens.TOKEN}")
        page.wait_for_selector("tbody tr")
        yield page, base
        page.close()


def demo(page: Any, base: str) -> list[Line]:
    """The first view, and the demo's traces: each of another row, so that no answer is there already."""

    def first() -> float:
        began = time.perf_counter()
        page.goto(base)
        page.wait_for_selector("tbody tr")
        return time.perf_counter() - began

    view = median(first)
    page.get_by_role("button", name="report", exact=True).click()
    rows = iter(range(15))

    def trace() -> float:
        row = next(rows)
        page.locator(f"[data-row='{row}']").wait_for()
        page.locator(f"[data-row='{row}']").hover()
        page.evaluate(CLICKED)
        page.get_by_label(f"Source rows of row {row}", exact=True).click()
        took = page.wait_for_function(SHOWN, arg=[REPORT_ROWS, ".react-flow__node"], polling="raf").json_value()
        page.keyboard.press("Escape")
        return float(took)

    traced = median(trace)
    return [
        line("first view of `provspark serve`", 1.5, view, "s"),
        line("a trace of the demo's report: click to graph and rows", 300, traced, "ms"),
    ]


def large_graph(browser: Any, folder: Path) -> Line:
    """A trace through steps of which each joins two earlier data sets: from its answer to the graph."""
    store = Store.open(str(folder / "graph"), create=True)
    last = tangle(store, folder)
    with alone(browser, folder / "graph") as (page, base):
        page.goto(f"{base}/?ds={dataset_id(last)}&rows=0&trace=backward")
        page.wait_for_selector(".react-flow__node")

        def drawn() -> float:
            page.goto(base)
            page.wait_for_selector("tbody tr")
            with page.expect_response("**/trace") as answer:
                page.goto(f"{base}/?ds={dataset_id(last)}&rows=0&trace=backward")
            answer.value.finished()
            began = time.perf_counter()
            page.wait_for_selector(".react-flow__node", state="attached")
            return time.perf_counter() - began

        took = median(drawn)
        boxes = page.locator(".react-flow__node").count()
    return line(f"graph of {boxes} nodes, from the response to the drawing", 1, took, "s")


def tangle(store: Store, folder: Path) -> Dataset:
    """Write a made-up pipeline."""
    rng = np.random.default_rng(1)
    known = [version(folder / "source", 10, written=False)]
    for n in range(STEPS - 1):
        made = version(folder / f"data_set_{n:03d}", 10, written=True)
        picked = sorted({len(known) - 1, int(rng.integers(max(0, len(known) - 8), len(known)))})
        readings = [known[i] for i in picked]
        axes = [Axis("output", 10, screens.identity(made))]
        axes += [Axis("input", 10, screens.identity(r), 0) for r in readings]
        rows = np.arange(10)
        tensors = [PendingTensor(0, i + 1, from_pairs(rows, rows)) for i in range(len(readings))]
        writer = store.writer(StepKey(f"task_{n:03d}", "run", "tangle"))
        writer.add(PendingWrite(made, "exact", tuple(readings), tuple(axes), tensors))
        clock = f"2026-01-01T{n // 60:02d}:{n % 60:02d}"
        writer.publish(status="succeeded", started=f"{clock}:00.000000", ended=f"{clock}:30.000000")
        known.append(read(made))
    return known[-1].dataset


def version(path: Path, rows: int, *, written: bool) -> PendingVersion:
    """Make up a data set of one column, and write it."""
    path.mkdir()
    pq.write_table(pa.table({"n": pa.array(range(rows))}), path / "part")
    stat = (path / "part").stat()
    files = Files.of([("part", stat.st_size, stat.st_mtime_ns // 10**6, rows, written)])
    return PendingVersion(Dataset.parse(str(path)), files, "parquet", (), (Field("n", "bigint"),))


def read(made: PendingVersion) -> PendingVersion:
    """The same as a reader sees it."""
    f = made.files
    files = Files(f.paths, f.sizes, f.mtimes, f.rows, np.zeros(len(f.paths), dtype=np.bool_))
    return PendingVersion(made.dataset, files, made.format, (), made.fields)


def long_table(browser: Any, folder: Path) -> list[Line]:
    """Ten million rows: jumps, and frames while they scroll by."""
    store = Store.open(str(folder / "long"), create=True)
    made = version(folder / "long_table", ROWS, written=True)
    writer = store.writer(StepKey("long", "run", "long"))
    writer.add(PendingWrite(made, "exact", (), (Axis("output", ROWS, screens.identity(made)),), []))
    writer.publish(status="succeeded", started="2026-01-01T00:00:00.000000", ended="2026-01-01T00:00:01.000000")
    with alone(browser, folder / "long") as (page, _):
        page.get_by_role("button", name="long_table", exact=True).click()
        page.wait_for_selector("[role=gridcell]")
        places = iter(np.random.default_rng(2).integers(0, ROWS, 20).tolist())

        def jump() -> float:
            place = next(places) / ROWS
            began = time.perf_counter()
            page.evaluate(
                "p => { const g = document.querySelector('[role=grid]'); g.scrollTop = g.scrollHeight * p; }", place
            )
            page.wait_for_function(
                f"() => Math.abs(Number(document.querySelector('[data-row]')?.dataset.row) - {place * ROWS}) < 2000"
            )
            return 1000 * (time.perf_counter() - began)

        took = median(jump)
        gaps = page.evaluate(FRAMES)
    return [
        [f"jump in a table of {ROWS:,} rows, until its values are shown", "", f"{took:,.0f} ms", ""],
        [
            "frame while scrolling through the whole table, median and 95th percentile",
            "",
            f"{statistics.median(gaps):.0f} and {statistics.quantiles(gaps, n=20)[-1]:.0f} ms",
            "",
        ],
    ]


if __name__ == "__main__":
    sys.exit(main())
