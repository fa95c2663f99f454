"""The page of `provspark serve`: hostile and hidden values, wide and long tables, long questions, hidden steps."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _browser import Tab, browser
from _steps import publish, read, write

from provspark.errors import QuestionCancelledError
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion
from provspark.model.progress import tell
from provspark.model.steps import StepKey
from provspark.web.local import local_app
from provspark.web.login import Viewer
from provspark.web.policy import Policy
from provspark.web.scope import dataset_id
from provspark.web.source import AnswerSource

pytestmark = pytest.mark.long
TOKEN = "a-token-for-this-test"
TAGS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
    "{{constructor.constructor('alert(5)')()}}",
    "\u202edetrever",
    "x" * 5000,
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@contextmanager
def served(store: Path, policy: Policy | None = None) -> Iterator[str]:
    import uvicorn

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        app = local_app(AnswerSource(lambda: str(store), policy or Policy()), TOKEN, "127.0.0.1", port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/?token={TOKEN}"
        finally:
            server.should_exit = True
            thread.join(30)


def data_set(folder: Path, table: pa.Table, types: dict[str, str], *, written: bool) -> PendingVersion:
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "part.parquet")
    stat = (folder / "part.parquet").stat()
    files = Files.of([("part.parquet", stat.st_size, stat.st_mtime_ns // 10**6, len(table), written)])
    fields = tuple(Field(name, types.get(name, "string")) for name in table.column_names)
    return PendingVersion(Dataset.parse(str(folder)), files, "parquet", (), fields)


def test_values_and_names_are_text(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    table = pa.table({"<b>bold</b>": TAGS, "plain": [str(i) for i in range(len(TAGS))]})
    source = data_set(tmp_path / "in<script>alert(6)<", table, {}, written=False)
    out = data_set(tmp_path / "out", table, {}, written=True)
    publish(store, "<script>alert(7)</script>", write(out, [(source, [(i, i) for i in range(len(TAGS))])]))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_text("in<script>alert(6)<", exact=True).first.wait_for()
        tab.view.get_by_role("button", name="out", exact=True).click()
        tab.page.wait_for_selector("[role=gridcell]")
        for text in TAGS[:5]:
            tab.view.get_by_role("gridcell", name=text, exact=True).first.wait_for()
        tab.view.get_by_role("columnheader", name="<b>bold</b>").wait_for()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.wait_for_selector(".react-flow__node")
        assert tab.counts()["in<script>alert(6)<"] == "7 of 7"
        assert tab.page.evaluate("document.querySelectorAll('[data-testid=provspark] :is(script, img, b)').length") == 0
        tab.check()
        tab.close()


def test_masked_and_hidden_values(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    out = data_set(tmp_path / "out", pa.table({"name": ["Ann"], "ssn": ["078-05-1120"]}), {}, written=True)
    publish(store, "make", write(out))
    for policy, shown, why in ((Policy.of(True, "ssn"), "Ann", "•••"), (Policy(False), None, "hidden all values")):
        with served(tmp_path / "prov", policy) as url:
            tab = Tab(chromium)
            tab.page.goto(url)
            tab.view.get_by_role("button", name="out", exact=True).click()
            tab.view.get_by_text(why).first.wait_for()
            text = tab.page.content()
            assert "078-05" not in text and (shown is None) == ("Ann" not in text)
            tab.check()
            tab.close()


def test_an_empty_store_says_what_to_do(tmp_path: Path, chromium: Any) -> None:
    Store.open(str(tmp_path / "prov"), create=True)
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_text("ProvSparkOperator").first.wait_for()
        tab.check()
        tab.close()


def test_thousands_of_columns_and_millions_of_rows(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    names = [f"c{i}" for i in range(3000)]
    wide = data_set(tmp_path / "wide", pa.table({n: [f"{n}-{r}" for r in range(3)] for n in names}), {}, written=True)
    long = data_set(tmp_path / "long", pa.table({"n": pa.array(range(10_000_000))}), {"n": "bigint"}, written=True)
    publish(store, "wide", write(wide))
    publish(store, "long", write(long))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="wide", exact=True).click()
        tab.view.get_by_role("gridcell", name="c1-2", exact=True).wait_for()
        assert tab.view.get_by_role("gridcell").count() < 200
        tab.page.evaluate("document.querySelector('[role=grid]').scrollLeft = 1e9")
        tab.view.get_by_role("gridcell", name="c2999-2", exact=True).wait_for()
        tab.check()
        tab.page.goto(url.split("?")[0])
        tab.view.get_by_role("button", name="long", exact=True).click()
        tab.view.get_by_role("gridcell", name="7", exact=True).wait_for()
        tab.page.locator("[role=grid]").focus()
        tab.page.keyboard.press("End")
        tab.view.get_by_role("gridcell", name="9999999", exact=True).wait_for()
        tab.page.evaluate("const g = document.querySelector('[role=grid]'); g.scrollTop = g.scrollHeight / 2")
        tab.view.locator("[data-row^='500']").first.wait_for()
        assert tab.view.locator("[data-row]").count() < 100
        tab.close()


def long_trace(folder: Path, steps: int = 2) -> Store:
    """raw → out0 → out1 …, row by row; the second last step belongs to another DAG."""
    store = Store.open(str(folder / "prov"), create=True)
    table = pa.table({"n": [str(i) for i in range(5)]})
    before = data_set(folder / "raw", table, {}, written=False)
    for n in range(steps):
        made = data_set(folder / f"out{n}", table, {}, written=True)
        writer = store.writer(StepKey(f"task{n}", "run", "vault" if n == steps - 2 else "shop"))
        writer.add(write(made, [(before, [(i, i) for i in range(5)])]))
        clock = f"2026-01-01T00:00:{n:02d}"
        writer.publish(status="succeeded", started=f"{clock}.000000", ended=f"{clock}.500000")
        before = read(made)
    return store


def grouped(folder: Path) -> None:
    """raw → out: row n was made of the rows 2n and 2n+1, but the last of none."""
    store = Store.open(str(folder / "prov"), create=True)
    raw = data_set(folder / "raw", pa.table({"n": [str(i) for i in range(8)]}), {}, written=False)
    out = data_set(folder / "out", pa.table({"n": [str(i) for i in range(5)]}), {}, written=True)
    publish(store, "sum", write(out, [(raw, [(n // 2, n) for n in range(8)])]))


def test_all_rows_first_and_one_example_that_names_its_row(tmp_path: Path, chromium: Any) -> None:
    grouped(tmp_path)
    out = dataset_id(Dataset.parse(str(tmp_path / "out")))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out", exact=True).wait_for()
        for old in ("", "&all=1"):
            tab.page.goto(f"{url.split('?')[0]}?ds={out}&rows=1-4&trace=backward{old}")
            tab.shows("raw: rows of the trace", [2, 3, 4, 5, 6, 7])
            tab.view.get_by_text("6 of 8 rows contributed to them", exact=True).wait_for()
        switch = tab.view.get_by_role("checkbox", name="Show one derivation of row 1")
        assert not switch.is_checked()
        tab.view.get_by_text("Show one derivation of row 1").click()
        tab.view.get_by_text("1 of 6 rows, in one derivation of row 1", exact=True).wait_for()
        tab.shows("raw: rows of the trace", [2])
        tab.check()
        choice = tab.view.get_by_label("Row whose derivation is shown")
        assert [o.inner_text() for o in choice.locator("option").all()] == ["row 1", "row 2", "row 3", "row 4"]
        choice.select_option("3")
        tab.view.get_by_text("1 of 6 rows, in one derivation of row 3", exact=True).wait_for()
        tab.shows("raw: rows of the trace", [6])
        assert "example=3" in tab.page.url
        tab.page.reload()
        tab.shows("raw: rows of the trace", [6])
        tab.view.get_by_label("Row whose derivation is shown").select_option("4")
        tab.view.get_by_text("This derivation has no row of raw").wait_for()
        tab.check()
        tab.view.get_by_text("Show one derivation of").click()
        tab.shows("raw: rows of the trace", [2, 3, 4, 5, 6, 7])
        assert "example" not in tab.page.url
        tab.close()


def test_no_example_where_all_rows_are_one(tmp_path: Path, chromium: Any) -> None:
    long_trace(tmp_path)
    out = dataset_id(Dataset.parse(str(tmp_path / "out1")))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out1", exact=True).wait_for()
        for rows, way, offered in (("2", "backward", 0), ("1-2", "backward", 1), ("1-2", "forward", 0)):
            tab.page.goto(f"{url.split('?')[0]}?ds={out}&rows={rows}&trace={way}")
            tab.page.locator("[aria-label*='rows of the trace'] [data-row]").first.wait_for()
            tab.has(tab.view.get_by_text("Show one derivation of"), offered)
        tab.page.goto(f"{url.split('?')[0]}?ds={out}&rows=1-2&trace=backward&example=4")
        tab.view.get_by_text("Row 4 is not among the selected rows").wait_for()
        tab.close()


def test_rows_that_a_step_wrote_are_told_from_those_of_the_folder(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    raw = data_set(tmp_path / "raw", pa.table({"n": [str(i) for i in range(3)]}), {}, written=False)
    folder = tmp_path / "log"
    folder.mkdir()
    for name, rows in (("a", 4), ("b", 3)):
        pq.write_table(pa.table({"n": [f"{name}{i}" for i in range(rows)]}), folder / name)
    stats = [(name, (folder / name).stat(), rows) for name, rows in (("a", 4), ("b", 3))]
    files = Files.of([(n, s.st_size, s.st_mtime_ns // 10**6, rows, n == "b") for n, s, rows in stats])
    log = PendingVersion(Dataset.parse(str(folder)), files, "parquet", (), (Field("n", "string"),))
    publish(store, "append", write(log, [(raw, [(4 + i, i) for i in range(3)])]))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="log", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.locator(".react-flow__node-step").first.click()
        tab.view.get_by_text("3 rows written · 7 in the dataset, from 3 of raw", exact=True).wait_for()
        tab.check()
        tab.close()


def test_a_long_question_can_be_ended(tmp_path: Path, chromium: Any) -> None:
    long_trace(tmp_path)
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        held: list[Any] = []
        tab.page.route("**/api/v1/trace", lambda route: held.append(route))
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out1", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.view.get_by_text("Tracing · ").wait_for()
        tab.check()
        with tab.page.expect_event("requestfailed"):
            tab.view.get_by_role("button", name="Cancel").click()
        tab.view.get_by_text("You cancelled this query").wait_for()
        tab.check()
        tab.page.unroute("**/api/v1/trace")
        tab.view.get_by_role("button", name="Run again").click()
        tab.page.wait_for_selector(".react-flow__node")
        assert tab.counts() == {"raw": "5 of 5", "out0": "5 of 5", "out1": "5 of 5"} and len(held) == 1
        tab.close()


def test_a_long_question_tells_how_far_it_is_and_ends_on_the_server(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_trace(tmp_path)
    ended: list[bool] = []

    def endless(*_: object) -> None:
        try:
            for n in range(6000):
                tell("rows", n, 6000)
                time.sleep(0.01)
        except QuestionCancelledError:
            ended.append(True)
            raise

    monkeypatch.setattr("provspark.web.scope.UserScope.trace", endless)
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out1", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.view.get_by_text(re.compile(r"Tracing · rows: \d+ of 6,000 · \d+ s")).wait_for()
        tab.view.get_by_role("progressbar").wait_for()
        tab.check()
        tab.view.get_by_role("button", name="Cancel").click()
        tab.view.get_by_text("You cancelled this query").wait_for()
        for _ in range(100):
            if ended:
                break
            time.sleep(0.05)
        assert ended
        tab.close()


def test_what_failed_is_said_and_can_be_tried_again(tmp_path: Path, chromium: Any) -> None:
    long_trace(tmp_path)
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        problem = {"status": 500, "content_type": "application/problem+json", "body": '{"detail": "the disk is gone"}'}
        tab.page.route("**/api/v1/datasets/*/rows*", lambda route: route.fulfill(**problem))
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out1", exact=True).click()
        tab.view.get_by_text("the disk is gone").wait_for()
        tab.page.unroute("**/api/v1/datasets/*/rows*")
        tab.view.get_by_role("button", name="Try again").click()
        tab.view.get_by_role("gridcell", name="4", exact=True).wait_for()
        tab.close()


def test_a_step_of_a_dag_that_one_may_not_read_is_hidden(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_trace(tmp_path, 3)
    monkeypatch.setattr("provspark.web.local.Viewer", lambda _, user: Viewer(frozenset({"shop"}), user))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="out2", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.locator(".react-flow__node-hidden", has_text="hidden step").wait_for()
        assert tab.counts() == {"out1": "5 of 5", "out2": "5 of 5"}
        for word in (str(tmp_path / "raw"), ">raw<", "out0", "task1", "vault"):
            assert word not in tab.view.inner_html()
        tab.check()
        tab.close()


def test_untracked_and_coarse_steps_are_marked_with_their_reason(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    table = pa.table({"n": [str(i) for i in range(3)]})
    raw, a, b = (data_set(tmp_path / n, table, {}, written=n != "raw") for n in ("raw", "a", "b"))
    publish(store, "lost", write(a, [(raw, [])], coverage="untracked"))
    publish(store, "blurred", write(b, [(read(a), [(i, j) for i in range(3) for j in range(3)])], coverage="coarse"))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        tab.view.get_by_role("button", name="b", exact=True).click()
        tab.view.get_by_role("button", name="← Source rows").click()
        tab.page.wait_for_selector(".react-flow__node-step")
        steps = {n.get_attribute("aria-label"): n for n in tab.page.locator(".react-flow__node-step").all()}
        assert sorted(s.split(",")[0] for s in steps) == ["Step blurred", "Step lost"]
        assert all("opaque function" in s for s in steps)
        (lost,) = (n for s, n in steps.items() if "lost" in s)
        assert lost.locator("> div").evaluate("e => getComputedStyle(e).borderStyle") == "dashed"
        tab.view.get_by_text("was captured as a whole").wait_for()
        tab.view.get_by_text("was written without capture").wait_for()
        tab.check()
        tab.close()


def test_a_trace_forward_names_the_step_that_kept_none_of_the_rows(tmp_path: Path, chromium: Any) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    tables = {
        n: pa.table({"n": [str(i) for i in range(rows)]}) for n, rows in (("raw", 6), ("people", 6), ("clean", 2))
    }
    raw, people, clean = (data_set(tmp_path / n, table, {}, written=n != "raw") for n, table in tables.items())
    publish(store, "load", write(people, [(raw, [(i, i) for i in range(6)])]))
    publish(store, "clean", write(clean, [(read(people), [(0, 1), (1, 3)])]))
    source, middle = (dataset_id(Dataset.parse(str(tmp_path / n))) for n in ("raw", "people"))
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(url)
        base = url.split("?")[0]
        tab.page.goto(f"{base}?ds={source}&rows=4&trace=forward")
        tab.counted(raw="1 of 6", people="1 of 6")
        ended = tab.view.get_by_role("list", name="Steps that did not keep all rows")
        ended.get_by_text("clean read 1 row of people and kept none.", exact=True).wait_for()
        box = tab.page.locator(".react-flow__node-step", has_text="clean")
        assert box.get_attribute("aria-label") == "Step clean, exact. people: 1 of 6 rows → none"
        tab.page.locator(".react-flow__edge-text", has_text="kept 0 of 1").wait_for()
        assert "clean" not in tab.counts()
        tab.check()
        ended.get_by_role("button", name="Find the operation").click()
        tab.page.wait_for_url(f"**ds={middle}**rows=4&trace=happened**at=dag-clean-**")
        tab.page.go_back()
        tab.page.goto(f"{base}?ds={middle}&rows=0&trace=forward")
        tab.view.get_by_text("No captured rows derive from these rows").wait_for()
        ended.get_by_text("clean read 1 row of people and kept none.", exact=True).wait_for()
        tab.check()
        tab.page.goto(f"{base}?ds={source}&trace=forward")
        ended.get_by_text("clean read 6 rows of people and kept 2.", exact=True).wait_for()
        tab.page.locator(".react-flow__edge-text", has_text="kept 2 of 6").wait_for()
        tab.check()
        tab.page.goto(f"{base}?ds={source}&rows=1&trace=forward")
        tab.counted(clean="1 of 2")
        tab.has(ended, 0)
        tab.page.goto(f"{base}?ds={dataset_id(Dataset.parse(str(tmp_path / 'clean')))}&rows=1&trace=forward")
        tab.view.get_by_text("No captured step read them.").wait_for()
        tab.check()
        tab.close()


def test_a_link_to_an_older_version_leads_to_the_same_row_now(tmp_path: Path, chromium: Any) -> None:
    """A link that was bookmarked before an append, and before an overwrite; and rows that are gone in a trace."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    source = data_set(tmp_path / "in", pa.table({"n": [f"in{i}" for i in range(4)]}), {}, written=False)

    def version(*names: str, written: str) -> PendingVersion:
        entries = []
        for name in names:
            stat = (tmp_path / "log" / name).stat()
            entries.append((name, stat.st_size, stat.st_mtime_ns // 10**6, 2, name == written))
        fields = (Field("n", "string"),)
        return PendingVersion(Dataset.parse(str(tmp_path / "log")), Files.of(entries), "parquet", (), fields)

    def put(name: str, *values: str) -> None:
        (tmp_path / "log").mkdir(exist_ok=True)
        pq.write_table(pa.table({"n": list(values)}), tmp_path / "log" / name)

    put("b", "first in1", "first in2")
    first = version("b", written="b")
    publish(store, "first", write(first, [(source, [(0, 1), (1, 2)])]))
    put("a", "second in1", "second in3")
    publish(store, "second", write(version("a", "b", written="a"), [(source, [(0, 1), (1, 3)])]))
    log, bookmarked = dataset_id(Dataset.parse(str(tmp_path / "log"))), first.files.identity(first.dataset)
    with served(tmp_path / "prov") as url:
        tab = Tab(chromium)
        tab.page.goto(f"{url}&ds={log}&v={bookmarked}&rows=1")
        tab.view.get_by_text("You are viewing a version that is not the current one.").wait_for()
        tab.view.get_by_role("gridcell", name="first in2", exact=True).wait_for()
        tab.view.get_by_role("button", name="Find the row in the current version").click()
        tab.view.get_by_role("gridcell", name="second in1", exact=True).wait_for()
        tab.view.locator("[data-row='3'][aria-selected=true]").get_by_text("first in2", exact=True).wait_for()
        assert "rows=3" in tab.page.url and bookmarked not in tab.page.url
        tab.page.goto(f"{url}&ds={log}&rows=1")
        tab.view.get_by_text("The link names no version").wait_for()
        (tmp_path / "log" / "b").unlink()
        tab.page.goto(f"{url}&ds={log}&v={bookmarked}&rows=1")
        tab.view.get_by_role("button", name="Find the row in the current version").click()
        tab.view.get_by_text("This row is no longer in the current version.").wait_for()
        tab.page.goto(f"{url}&ds={dataset_id(source.dataset)}&rows=1&trace=forward")
        gone = "1 row of log is no longer in the current version: no captured step is known to have removed its files."
        tab.view.get_by_text(gone).wait_for()
        assert tab.counts()["log"] == "1 of 4"
        tab.view.get_by_text("Include rows no longer in the current version").click()
        tab.view.get_by_text("not current", exact=True).wait_for()
        tab.check()
        tab.close()
