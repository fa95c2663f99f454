"""What the page says where there is no answer, where a step can't be read, and of text that can't be seen."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _damage import deny, manifest_of
from _steps import write
from test_ui_serve import Tab, chromium, data_set, publish, served

from provspark.index_store.store.store import Store
from provspark.web import source

__all__ = ["chromium"]

pytestmark = pytest.mark.long

HOSTILE = "a\u202eb\u200bc\x1b[31m\ufeff\nd\te\u2066"
MARKS = ["U+202E", "U+200B", "U+001B", "U+FEFF", "⏎", "⇥", "U+2066"]


def small(folder: Path) -> Path:
    """A store of two steps."""
    store = Store.open(str(folder / "prov"), create=True)
    table = pa.table({"n": ["1", "2"]})
    raw, out = (data_set(folder / n, table, {}, written=n == "out") for n in ("raw", "out"))
    publish(store, "first", write(out, [(raw, [(0, 0), (1, 1)])]))
    publish(store, "second", write(data_set(folder / "more", table, {}, written=True)))
    return folder / "prov"


def shot(tab: Tab, name: str) -> None:
    """Keep a picture where PROVSPARK_SHOTS says so."""
    folder = os.environ.get("PROVSPARK_SHOTS")
    if folder:
        tab.page.screenshot(path=f"{folder}/{name}.png")


def gone(folder: Path, _: pytest.MonkeyPatch) -> str:
    return str(folder / "none")


def denied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    deny(monkeypatch, small(folder) / "format.json")
    return str(folder / "prov")


def down(_: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"s3://key:hidden-word@bucket/prov?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"


@pytest.mark.parametrize(
    ("state", "title", "action"),
    [
        (gone, "There is no store", "Check [provspark] store"),
        (denied, "No access to the store", "Check the permissions"),
        (down, "The store does not answer", "Try again in a while"),
    ],
)
def test_a_store_that_can_not_be_read(
    tmp_path: Path,
    chromium: Any,
    monkeypatch: pytest.MonkeyPatch,
    state: Callable[[Path, pytest.MonkeyPatch], str],
    title: str,
    action: str,
) -> None:
    with served(state(tmp_path, monkeypatch)) as url:  # type: ignore[arg-type]
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_text(title, exact=True).wait_for(timeout=60_000)
        tab.view.get_by_text(action).wait_for()
        tab.view.get_by_role("button", name="Try again").wait_for()
        assert "No lineage yet" not in tab.view.inner_text()
        assert "hidden-word" not in tab.page.content() and str(tmp_path) not in tab.page.content()
        shot(tab, f"state-{state.__name__}")
        tab.errors = [e for e in tab.errors if "503" not in e]
        tab.check()
        tab.close()


def test_a_store_that_goes_and_comes_back(tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_FRESH", -1.0)
    store = small(tmp_path)
    with served(store) as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out", exact=True).wait_for()
        store.rename(tmp_path / "away")
        tab.page.reload()
        tab.view.get_by_text("There is no store", exact=True).wait_for()
        (tmp_path / "away").rename(store)
        tab.view.get_by_role("button", name="Try again").click()
        tab.view.get_by_role("button", name="out", exact=True).wait_for()
        tab.close()


def test_an_empty_folder_says_how_to_begin(tmp_path: Path, chromium: Any) -> None:
    with served(tmp_path) as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_text("No lineage yet").wait_for()
        tab.view.get_by_text("ProvSparkOperator").first.wait_for()
        shot(tab, "state-empty")
        tab.check()
        tab.close()


def test_a_step_that_can_not_be_read_is_named(tmp_path: Path, chromium: Any) -> None:
    store = small(tmp_path)
    path = manifest_of(store, "second")
    path.write_bytes(path.read_bytes()[:-9])
    with served(store) as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out", exact=True).wait_for()
        tab.view.get_by_text(f"steps/{path.parent.name}/manifest.json").wait_for()
        tab.view.get_by_text("provspark repair").wait_for()
        shot(tab, "broken-list")
        tab.check()
        tab.view.get_by_role("button", name="out", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.wait_for_selector(".react-flow__node-dataset")
        tab.view.get_by_text("this may be incomplete").wait_for()
        shot(tab, "broken-trace")
        tab.check()
        tab.close()
        for other in store.glob("steps/*/manifest.json"):
            other.write_text("")
    with served(store) as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_text("No step can be read").wait_for()
        assert "No lineage yet" not in tab.view.inner_text()
        tab.close()


def test_what_can_not_be_seen_is_marked(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    table = pa.table({f"col{HOSTILE}": [HOSTILE, "plain"], "n": ["1", "2"]})
    name = f"x{HOSTILE}"
    raw, out = data_set(tmp_path / name, table, {}, written=False), data_set(tmp_path / "out", table, {}, written=True)
    publish(store, f"task{HOSTILE}", write(out, [(raw, [(0, 0), (1, 1)])]))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out", exact=True).wait_for()
        shot(tab, "marks-list")
        assert_marked(tab)
        tab.view.get_by_role("button", name="out", exact=True).click()
        cell = tab.view.get_by_role("gridcell").first
        cell.wait_for()
        assert cell.locator("[data-mark]").all_inner_texts() == MARKS
        shot(tab, "marks-rows")
        assert_marked(tab)
        tab.check()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.wait_for_selector(".react-flow__node-step")
        tab.page.locator(".react-flow__node-step").first.click()
        tab.view.get_by_text("task").first.wait_for()
        shot(tab, "marks-trace")
        assert_marked(tab)
        tab.close()


def assert_marked(tab: Tab) -> None:
    """No character that can't be seen is in any text, or in an attribute that is shown or read out."""
    found = tab.page.evaluate(
        r"""() => {
          const bad = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, found = [];
          const root = document.querySelector("[data-testid=provspark]");
          const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) if (bad.test(texts.currentNode.data)) found.push(texts.currentNode.data);
          for (const e of root.querySelectorAll("*"))
            for (const name of ["title", "aria-label", "placeholder"]) {
              const text = e.getAttribute(name) ?? "";
              if (bad.test(text.replace(/[\n\t]/g, ""))) found.push(`${name}=${text}`);
            }
          return found;
        }"""
    )
    assert found == []
    assert tab.view.locator("[data-mark]").count() > 0
