"""Headless Chromium, and the checks that every view passes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

SHOWS = """([grid, rows, more]) => {
  const table = document.querySelector(`[role=grid][aria-label*='${grid}']`);
  const shown = [...(table?.querySelectorAll("[data-row]") ?? [])].map((e) => Number(e.dataset.row));
  return (more || shown.length === rows.length) && rows.every((row, i) => row === shown[i]);
}"""


SETTLED = """() => Promise.allSettled(
  document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished)
)"""
"""Colours between two states, as of a button that becomes enabled, are in neither."""


def chromium() -> str:
    """Where Chromium is; skips where there is none, but in CI."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        assert not os.environ.get("CI"), "continuous integration has a Chromium"
        pytest.skip("no Chromium; install Debian's package `chromium`, or set CHROMIUM")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield opened
        opened.close()


class Tab:
    """A page that fails on any error in the browser's console."""

    def __init__(self, browser: Any, token: str | None = None, url: str = "", **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
        if token:
            self.context.add_cookies([{"name": "_token", "value": token, "url": url}])
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("dialog", lambda d: self.errors.append(f"dialog: {d.message}"))

    @property
    def view(self) -> Any:
        return self.page.locator("[data-testid=provspark]")

    def node(self, label: str) -> Any:
        return self.page.locator(".react-flow__node-dataset", has_text=label).first

    def counts(self) -> dict[str, str]:
        """What the graph says of each data set."""
        self.page.wait_for_selector(".react-flow__node-dataset")
        texts = [n.get_attribute("aria-label") for n in self.page.locator(".react-flow__node-dataset").all()]
        return dict(t.removeprefix("Dataset ").removesuffix(" rows").split(": ") for t in texts)

    def counted(self, **counts: str) -> None:
        """Wait until the graph says this of data sets; another trace's may still stand there."""
        for label, said in counts.items():
            self.page.locator(f".react-flow__node-dataset[aria-label='Dataset {label}: {said} rows']").wait_for()

    def has(self, what: Any, number: int) -> None:
        """Wait until there are so many: what loads stands in skeletons, and what was there before may still be."""
        from playwright.sync_api import expect

        expect(what).to_have_count(number, timeout=20_000)

    def rows(self, grid: str) -> list[int]:
        """Row ids that a table shows, by its name."""
        table = self.page.locator(f"[role=grid][aria-label*='{grid}']")
        table.locator("[data-row]").first.wait_for()
        return [int(r.get_attribute("data-row")) for r in table.locator("[data-row]").all()]

    def shows(self, grid: str, rows: list[int], *, more: bool = False) -> None:
        """Wait until a table, by its name, shows these rows (or `more` after them)."""
        from playwright.sync_api import TimeoutError

        try:
            self.page.wait_for_function(SHOWS, arg=[grid, rows, more])
        except TimeoutError:
            assert self.rows(grid) == rows

    def check(self) -> None:
        """No error so far, and nothing that axe-core calls serious."""
        assert self.errors == []
        if not AXE.exists():
            assert not os.environ.get("CI"), "continuous integration has axe-core, by `make ui`"
            return
        self.page.evaluate(AXE.read_text())
        self.page.evaluate(SETTLED)
        found = self.page.evaluate("axe.run('[data-testid=provspark]')")
        serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
        assert not serious, [(v["id"], v["nodes"][0]["html"]) for v in serious]

    def close(self) -> None:
        self.context.close()
