"""Takes the pictures of docs/screens: the demo in Airflow, and small made-up stores on the page alone."""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import demo_ui
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn
from playwright.sync_api import sync_playwright

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis, Untracked
from provspark.web.local import local_app
from provspark.web.policy import Policy
from provspark.web.scope import dataset_id
from provspark.web.source import AnswerSource

OUT = Path(__file__).resolve().parents[1] / "docs" / "screens"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
NEUTRAL = """folders => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const folder of folders) {
      walker.currentNode.data = walker.currentNode.data.replaceAll(folder, "/srv/provspark");
    }
  }
}"""
WIDTHS = (1280, 1920)
TOKEN = "a-token-for-pictures"


def main() -> int:
    """Take all pictures anew."""
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        with demo_ui.serving() as (base, _):
            in_airflow(browser, base)
        with tempfile.TemporaryDirectory() as folder:
            alone(browser, Path(folder))
        browser.close()
    return 0


def in_airflow(browser: Any, base: str) -> None:
    """The demo's views, light and dark, at two widths."""
    for theme, width in (("light", WIDTHS[0]), ("dark", WIDTHS[0]), ("light", WIDTHS[1])):
        context = browser.new_context(viewport={"width": width, "height": width * 5 // 8}, color_scheme=theme)
        context.add_init_script(f"localStorage.setItem('theme', '{theme}')")
        page = context.new_page()
        page.set_default_timeout(180_000)
        name = f"{theme}-{width}"
        page.goto(f"{base}/plugin/provspark")
        shoot(page, "[data-testid=provspark] tbody tr", f"list-{name}")
        page.get_by_role("button", name="people", exact=True).click()
        shoot(page, "[role=gridcell]", f"rows-{name}")
        page.goto(f"{base}/plugin/provspark?{demo_ui.question()}")
        page.wait_for_selector(".react-flow__node")
        shoot(page, "[aria-label*='census.csv'] [data-row]", f"trace-{name}")
        if width == WIDTHS[0]:
            page.locator(".react-flow__node-dataset", has_text="regions.csv").hover()
            shoot(page, "[role=gridcell]", f"hover-{name}")
        page.locator(".react-flow__node-step", has_text="regions").click()
        shoot(page, "aside ol li", f"step-{name}")
        if width == WIDTHS[0]:
            page.get_by_role("tab", name="Columns").click()
            shoot(page, "aside tbody tr", f"columns-{name}")
            page.get_by_role("tab", name="Values").click()
            shoot(page, "aside [role=img]", f"values-{name}")
            beside(page, base, name)
            happened(page, base, name)
        context.close()
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{base}/dags/census/tasks/clean/plugin/provspark-task")
    shoot(page, "[data-testid=provspark] tbody tr", "tab-light-1280")
    page.close()


def beside(page: Any, base: str, name: str) -> None:
    """The menu of a row, its questions about rows beside it, and a cell."""
    page.goto(f"{base}/plugin/provspark?ds={dataset_id(demo_ui.data('regions'))}")
    page.locator("[data-row='3']").click(button="right")
    shoot(page, "[role=menuitem]", f"menu-{name}")
    page.get_by_role("menuitem", name="co-dependency").click()
    page.get_by_label("Shared source").select_option(label="regions.csv")
    shoot(page, "[aria-label*='rows found'] [data-row]", f"siblings-{name}")
    source = dataset_id(demo_ui.data("people"))
    page.goto(
        f"{base}/plugin/provspark?ds={dataset_id(demo_ui.data('report'))}&rows=3"
        f"&trace=composition&to={source}&column=education"
    )
    shoot(page, "[aria-label*='by education'] dd", f"bars-{name}")
    page.goto(f"{base}/plugin/provspark?ds={dataset_id(demo_ui.data('report'))}&rows=13&column=hours")
    shoot(page, "aside button:has-text('census')", f"cell-{name}")


def happened(page: Any, base: str, name: str) -> None:
    """What operations did to a record, and where another one ended."""
    told = "[aria-label='What happened'] section"
    clean, people = dataset_id(demo_ui.data("clean")), dataset_id(demo_ui.data("people"))
    page.goto(f"{base}/plugin/provspark?ds={clean}&rows=5&trace=happened")
    shoot(page, told, f"happened-{name}")
    page.goto(f"{base}/plugin/provspark?ds={people}&rows=14&trace=happened")
    page.get_by_label("Step", exact=True).select_option(label="read by clean")
    shoot(page, f"{told} >> text=ended here", f"ended-{name}")


def alone(browser: Any, folder: Path) -> None:
    """An empty store, one step, forty steps, and captures that are not exact."""
    for name, steps in (("empty", 0), ("one", 1), ("forty", 40)):
        store = Store.open(str(folder / name), create=True)
        (folder / f"data-{name}").mkdir()
        last = chain(store, folder / f"data-{name}", steps)
        with served(folder / name) as base:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{base}/?token={TOKEN}")
            if last:
                page.goto(f"{base}/?ds={dataset_id(last)}&rows=0-4&trace=backward")
                shoot(page, ".react-flow__node", f"{name}-light-1280")
            else:
                shoot(page, "[data-testid=provspark] pre", "empty-light-1280")
                page.goto(f"{base}/?ds={'0' * 16}")
                shoot(page, "[role=alert]", "failed-light-1280")
            page.close()


def chain(store: Store, folder: Path, steps: int) -> Dataset | None:
    """Steps one after the other; every eighth joins a lookup, and two are not captured row by row."""
    before = data_set(folder / "orders_of_all_regions_since_the_beginning.parquet", 1000, written=False)
    for n in range(steps):
        made = data_set(folder / f"step_{n:02d}_of_a_long_pipeline", 1000 - n, written=True)
        readings = [before]
        if n % 8 == 4:
            readings.append(data_set(folder / f"lookup_{n:02d}.csv", 12, written=False))
        coverage = "coarse" if n == 20 else "exact"
        axes = [Axis("output", made.files.total, identity(made))]
        axes += [Axis("input", r.files.total, identity(r), 0) for r in readings]
        rows = np.arange(made.files.total, dtype=np.int64)
        tensors = [PendingTensor(0, 1, from_pairs(rows, rows))]
        tensors += [PendingTensor(0, 2, from_pairs(rows, rows % 12))] if len(readings) > 1 else []
        reason = Untracked("MapInPandas", "an opaque function", "job.py:7") if coverage == "coarse" else None
        writer = store.writer(StepKey(f"task_{n:02d}", "run", "pipeline"))
        writer.add(PendingWrite(made, coverage, tuple(readings), tuple(axes), tensors, reason))
        clock = f"2026-01-01T00:{n:02d}"
        writer.publish(status="succeeded", started=f"{clock}:00.000000", ended=f"{clock}:30.000000")
        files = made.files
        read = Files(files.paths, files.sizes, files.mtimes, files.rows, np.zeros(1, dtype=np.bool_))
        before = PendingVersion(made.dataset, read, made.format, (), made.fields)
    return before.dataset if steps else None


def data_set(path: Path, rows: int, *, written: bool) -> PendingVersion:
    """Make up a data set of one file with a column, and write it."""
    path.mkdir()
    table = pa.table(
        {"order": pa.array(range(rows)), "region": ["North", "South"] * (rows // 2) + ["North"] * (rows % 2)}
    )
    pq.write_table(table, path / "part")
    stat = (path / "part").stat()
    entry = ("part", stat.st_size, stat.st_mtime_ns // 10**6, rows, written)
    fields = (Field("order", "bigint"), Field("region", "string"))
    return PendingVersion(Dataset.parse(str(path)), Files.of([entry]), "parquet", (), fields)


def identity(version: PendingVersion) -> str:
    """Return the id that the store will give it."""
    return version.files.identity(version.dataset)


@contextmanager
def served(store: Path) -> Iterator[str]:
    """Serve a store on the page alone."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        app = local_app(AnswerSource(lambda: str(store), Policy()), TOKEN, "127.0.0.1", port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()


def shoot(page: Any, until: str, name: str) -> None:
    """Take a picture once something is there and has settled."""
    page.wait_for_selector(until)
    page.wait_for_timeout(900)
    # No picture names the machine that it was taken on.
    page.evaluate(NEUTRAL, [str(demo_ui.ROOT), tempfile.gettempdir()])
    page.screenshot(path=OUT / f"{name}.png")
    print(OUT / f"{name}.png", flush=True)


if __name__ == "__main__":
    sys.exit(main())
