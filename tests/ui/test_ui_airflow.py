"""The page in Airflow's own api-server, over the lineage of the Census DAG, run for real."""

import csv
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _api_server import Server, api_server
from _browser import ROOT, Tab, browser
from _dags import run_dag

import provspark
from provspark.model.datasets import Dataset
from provspark.web.scope import dataset_id

pytestmark = [pytest.mark.airflow, pytest.mark.long]
ROW = 13


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("census")
    conf = {"data": str(ROOT / "dags_examples" / "data"), "out": str(made / "data"), "store": str(made / "store")}
    run = run_dag(ROOT / "dags_examples", "census", made / "airflow", conf, AIRFLOW__OPENLINEAGE__DISABLED="True")
    assert run.code == 0, run.log[-3000:]
    return made


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    settings = {
        "AIRFLOW__CORE__MULTI_TEAM": "True",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags_examples"),
        "AIRFLOW__PROVSPARK__STORE": str(home / "store"),
    }
    users, teams = {"ann": "admin", "eve": "viewer:others"}, {"census": ["census"], "others": ["another"]}
    with api_server(home / "airflow", users, teams, **settings) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture
def tab(server: Server, chromium: Any) -> Iterator[Tab]:
    made = Tab(chromium, server.token("ann"), server.url, permissions=["clipboard-read", "clipboard-write"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def expected(home: Path) -> dict[str, list[int]]:
    """Which rows of each data set the report's row came from, as the Python API says."""
    prov = provspark.open(str(home / "store"))
    report = str(home / "data" / "report")
    out = {}
    for name in ("regions", "clean", "people"):
        out[name] = prov.backward(report, [ROW], to=str(home / "data" / name)).table()["related_row"].to_pylist()
    for name in ("census.csv", "regions.csv"):
        source = str(ROOT / "dags_examples" / "data" / name)
        out[name] = prov.backward(report, [ROW], to=source).table()["related_row"].to_pylist()
    return out


def open_list(tab: Tab, server: Server) -> None:
    tab.page.goto(f"{server.url}/plugin/provspark")
    tab.view.locator("tbody tr").first.wait_for()


def open_report(tab: Tab, server: Server) -> None:
    open_list(tab, server)
    tab.view.get_by_role("button", name="report", exact=True).click()
    tab.page.wait_for_selector("[role=gridcell]")


def open_trace(tab: Tab, server: Server) -> None:
    open_report(tab, server)
    tab.page.locator(f"[data-row='{ROW}']").click()
    tab.view.get_by_role("button", name="← Source rows").click()
    tab.page.wait_for_selector(".react-flow__node")


def open_tab(tab: Tab, server: Server, place: str, route: str) -> None:
    """Choose the tab of a place in Airflow; the entry in the navigation has the same name."""
    tab.page.goto(f"{server.url}/dags/census/{place}")
    tab.page.locator(f"a[href$='/plugin/{route}']").click()
    tab.view.get_by_role("button", name="clean").wait_for()


def test_find_a_data_set_from_the_navigation(tab: Tab, server: Server) -> None:
    tab.page.goto(server.url)
    tab.page.get_by_role("link", name="Provena").first.click()
    tab.has(tab.view.locator("tbody tr"), 6)
    tab.check()
    tab.page.fill("#provspark-search", "csv reg")
    tab.has(tab.view.locator("tbody tr"), 1)
    tab.page.wait_for_url("**q=csv+reg**")
    tab.page.press("#provspark-search", "Enter")
    tab.shows("regions.csv", [0, 1, 2], more=True)
    tab.check()


def test_filter_rows(tab: Tab, server: Server) -> None:
    open_report(tab, server)
    tab.page.select_option("[aria-label=Column]", "region")
    tab.page.fill("[aria-label=Value]", "Pacific")
    tab.page.press("[aria-label=Value]", "Enter")
    tab.view.get_by_text("3 of 15 rows").wait_for()
    tab.shows("report", [12, 13, 14])
    tab.check()
    tab.view.get_by_label("Remove region = Pacific").click()
    tab.view.get_by_text("15 rows", exact=True).wait_for()


def test_trace_back_shows_exactly_the_witnesses(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    counts = tab.counts()
    for name, rows in expected.items():
        assert counts[name].split(" of ")[0] == str(len(rows))
    tab.shows("census.csv", expected["census.csv"])
    for name in ("people", "regions.csv", "clean"):
        tab.node(name).click()
        tab.shows(f"{name}: rows of the trace", expected[name])
    tab.check()


def test_trace_on_forward_and_back_by_the_breadcrumbs(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    row = expected["census.csv"][0]
    tab.page.locator(f"[aria-label*='census.csv'] [data-row='{row}']").hover()
    tab.page.get_by_label(f"Rows derived from row {row}", exact=True).click()
    tab.page.wait_for_url("**trace=forward**")
    tab.counted(report="1 of 15")
    tab.shows("report: rows of the trace", [ROW])
    tab.view.get_by_role("button", name=f"report · row {ROW} ←").click()
    tab.shows("census.csv: rows", expected["census.csv"])
    tab.page.keyboard.press("Escape")
    tab.view.get_by_role("button", name="← Source rows").wait_for()
    tab.check()


def test_a_deep_link_restores_the_view(tab: Tab, server: Server, chromium: Any, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    tab.node("people").click()
    tab.rows("people: rows of the trace")
    tab.page.locator(".react-flow__node-step", has_text="clean").click()
    tab.view.get_by_role("link", name="Task instance in Airflow").wait_for()
    again = Tab(chromium, server.token("ann"), server.url)
    again.page.goto(tab.page.url)
    again.view.get_by_role("link", name="Task instance in Airflow").wait_for()
    again.view.get_by_label("Close the step").click()
    again.shows("people: rows of the trace", expected["people"])
    again.check()
    again.close()


def test_all_rows_first_and_one_example_on_demand(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    tab.shows("census.csv: rows of the trace", expected["census.csv"])
    assert len(expected["census.csv"]) > 1
    tab.view.get_by_text(f"Show one derivation of row {ROW}").click()
    tab.view.get_by_text(f"1 of {len(expected['census.csv'])} rows, in one derivation of row {ROW}").wait_for()
    assert f"example={ROW}" in tab.page.url
    for name in ("census.csv", "people", "clean", "regions.csv"):
        tab.node(name).click()
        tab.view.get_by_text(f"1 of {len(expected[name])} row").wait_for()
        tab.page.locator(f"[aria-label='{name}: rows of the trace'] [data-row]").first.wait_for()
        (row,) = tab.rows(f"{name}: rows of the trace")
        assert row in expected[name]
    tab.check()
    tab.node("census.csv").click()
    tab.view.get_by_text(f"Show one derivation of row {ROW}").click()
    tab.shows("census.csv: rows of the trace", expected["census.csv"])
    tab.page.goto(tab.page.url + "&all=1")
    tab.shows("census.csv: rows of the trace", expected["census.csv"])


def test_a_path_is_lit_across_graph_and_tables(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    opacity = "e => getComputedStyle(e).opacity"
    tab.shows("census.csv: rows of the trace", expected["census.csv"])
    tab.node("regions.csv").hover()
    box = tab.node("census.csv").locator("> div").first
    tab.page.wait_for_timeout(400)
    assert float(box.evaluate(opacity)) < 0.5
    said = f"report: 1 of 15 rows ← regions.csv: {len(expected['regions.csv'])} of 40"
    tab.view.get_by_text(said, exact=True).wait_for()
    grid = tab.page.locator("[aria-label*='census.csv: rows']")
    grid.locator(f"[data-row='{expected['census.csv'][1]}']").hover()
    tab.page.wait_for_function(
        "s => getComputedStyle(document.querySelector(s)).opacity < 0.5",
        arg=f"[aria-label*='census.csv: rows'] [data-row='{expected['census.csv'][0]}']",
    )
    assert float(tab.node("regions.csv").locator("> div").first.evaluate(opacity)) < 0.5
    tab.page.mouse.move(2, 2)
    tab.page.wait_for_timeout(500)
    assert float(box.evaluate(opacity)) == 1
    tab.check()


def test_rows_beside_a_row_from_its_menu(tab: Tab, server: Server, chromium: Any, home: Path) -> None:
    prov = provspark.open(str(home / "store"))
    lookup, people = str(ROOT / "dags_examples" / "data" / "regions.csv"), str(home / "data" / "clean")
    together = prov.co_contributory(people, [0], to=lookup).table()["related_row"].to_pylist()
    regions = str(home / "data" / "regions")
    sharing = prov.co_dependency(regions, [0], to=regions, via=lookup).table()["related_row"].to_pylist()
    open_list(tab, server)
    tab.view.get_by_role("button", name="clean", exact=True).click()
    tab.page.locator("[data-row='0']").click(button="right")
    tab.page.get_by_role("menuitem", name="Rows used together with it").click()
    tab.shows("regions.csv: rows found", together)
    assert "trace=co_contributory" in tab.page.url
    tab.check()
    tab.view.get_by_role("button", name="Export").click()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("menuitem", name="Result rows as JSON", exact=True).click()
    assert [line["provspark_row"] for line in json.loads(Path(saved.value.path()).read_text())] == together
    again = Tab(chromium, server.token("ann"), server.url)
    again.page.goto(tab.page.url)
    again.shows("regions.csv: rows found", together)
    again.close()
    open_list(tab, server)
    tab.view.get_by_role("button", name="regions", exact=True).click()
    tab.page.locator("[data-row='0']").click(button="right")
    tab.page.get_by_role("menuitem", name="co-dependency").click()
    tab.view.get_by_label("Shared source").select_option(label="regions.csv")
    tab.view.get_by_text(f"{len(sharing):,} of 30,068 rows share a row of regions.csv with it").wait_for()
    tab.shows("regions: rows found", sorted(sharing)[:3], more=True)
    tab.check()


def test_composition_as_bars(tab: Tab, server: Server, home: Path) -> None:
    prov = provspark.open(str(home / "store"))
    report, people = str(home / "data" / "report"), str(home / "data" / "people")
    table = prov.composition(report, [ROW], source=people, column="education", each=False).table()
    open_trace(tab, server)
    tab.node("people").click()
    tab.page.locator("[aria-label*='people: rows']").get_by_role("button", name="education", exact=True).click()
    bars = tab.page.locator("[aria-label='Rows of people by education']")
    bars.locator("dt").first.wait_for()
    shown = {
        dt.inner_text(): dd.inner_text().split(" · ")[0]
        for dt, dd in zip(bars.locator("dt").all(), bars.locator("dd").all(), strict=True)
    }
    assert shown == {
        v.strip(): str(n) for v, n in zip(table["value"].to_pylist(), table["witnesses"].to_pylist(), strict=True)
    }
    tab.check()
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_selector(".react-flow__node")


def test_what_happened_in_a_step(tab: Tab, server: Server, home: Path) -> None:
    open_trace(tab, server)
    tab.page.locator(".react-flow__node-step", has_text="regions").click()
    panel = tab.view.get_by_role("complementary", name="Step")
    prov = provspark.open(str(home / "store"))
    (step,) = (s for s in prov.steps().table()["step"].to_pylist() if "regions" in s)
    tab.has(panel.locator("ol li"), prov.operations(step).table().num_rows)
    panel.get_by_text("regions.py:").first.wait_for()
    tab.check()
    panel.get_by_role("tab", name="Columns").click()
    matrix = panel.get_by_role("group", name="Columns of regions by those of regions.csv")
    matrix.locator("tbody tr").first.wait_for()
    assert [r.inner_text().split() for r in matrix.locator("tbody tr").all()] == [["country", "●"], ["region", "●"]]
    tab.check()
    panel.get_by_role("tab", name="Values").click()
    panel.get_by_label("Datasets").select_option(label="clean → regions")
    tab.page.wait_for_url("**tab=values**")
    told = prov.impact(step, "age_band", source=str(home / "data" / "clean"))
    values = panel.get_by_role("region", name="Values of age_band")
    for side, profile in (("before", told.before), ("after", told.after)):
        said = ", ".join(f"{s.value}: {s.count:,}" for s in profile.column("age_band").top)
        values.get_by_role("img", name=f"{side}: {said}", exact=True).wait_for()
    tab.check()
    tab.page.reload()
    values.get_by_role("img").first.wait_for()


def test_what_happened_to_a_record_and_where_it_ended(tab: Tab, server: Server, home: Path) -> None:
    prov = provspark.open(str(home / "store"))
    people, clean = str(home / "data" / "people"), str(home / "data" / "clean")
    open_list(tab, server)
    tab.view.get_by_role("button", name="clean", exact=True).click()
    tab.page.locator("[data-row='0']").click(button="right")
    tab.page.get_by_role("menuitem", name="What happened to it").click()
    tab.view.get_by_text("Replaying the stored operations").wait_for()
    tab.view.get_by_text("starting Spark").or_(tab.view.get_by_text("operations: ")).wait_for()
    tab.check()
    told = tab.view.get_by_role("region", name="clean, written by clean")
    told.get_by_text("matches the stored rows").wait_for(timeout=120_000)
    workclass = prov.values(people, prov.backward(clean, [0], to=people).table()["related_row"].to_pylist()).table()[
        "workclass"
    ][0]
    cell = told.locator("td", has=tab.page.locator("del", has_text=workclass.as_py().strip())).first
    assert cell.locator("ins").inner_text() == workclass.as_py().strip()
    tab.check()
    native = prov.values(people).table()["native_country"].to_pylist()
    ended = next(i for i, country in enumerate(native) if country.strip() == "?")
    (step,) = (s for s in prov.steps().table()["step"].to_pylist() if "clean" in s)
    tab.page.goto(
        f"{server.url}/plugin/provspark?ds={dataset_id(Dataset.parse(people))}&rows={ended}&trace=happened&at={step}"
    )
    tab.view.get_by_text("1 row ended here: the condition does not hold").wait_for(timeout=120_000)
    assert tab.view.get_by_label("Step").input_value() == step
    tab.check()


def test_line_14_of_the_census_ended_in_clean(tab: Tab, server: Server) -> None:
    census = dataset_id(Dataset.parse(str(ROOT / "dags_examples" / "data" / "census.csv")))
    tab.page.goto(f"{server.url}/plugin/provspark?ds={census}&rows=14&trace=forward")
    tab.counted(people="1 of 32,561")
    ended = tab.view.get_by_role("list", name="Steps that did not keep all rows")
    ended.get_by_text("clean read 1 row of people and kept none.", exact=True).wait_for()
    tab.page.locator(".react-flow__edge-text", has_text="kept 0 of 1").wait_for()
    tab.page.locator(".react-flow__node-step[aria-label^='Step clean, exact.']").wait_for()
    tab.check()
    ended.get_by_role("button", name="Find the operation").click()
    tab.view.get_by_text("1 row ended here: the condition does not hold").wait_for(timeout=120_000)
    tab.check()


def test_a_replay_ends_where_the_client_goes_away(server: Server, home: Path) -> None:
    clean = dataset_id(Dataset.parse(str(home / "data" / "clean")))
    asked = {"dataset": clean, "rows": [1]}
    events = {"Accept": "application/json, text/event-stream"}
    before = workers(server)
    with (
        server.client("ann") as api,
        api.stream("POST", "/provspark/api/v1/replay", json=asked, headers=events) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = json.loads(next(answer.iter_lines()).removeprefix("data: "))
        assert told["what"] in ("starting Spark", "operations")
        (worker,) = before or workers(server)
    for _ in range(200):
        if worker not in workers(server):
            return
        time.sleep(0.1)
    raise AssertionError("the process that replays still runs")


def workers(server: Server) -> list[int]:
    """Processes of this server that replay."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = str(server.home).encode() in (folder / "environ").read_bytes()
            if ours and b"replay_worker" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_columns_and_cells_before_and_after(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_report(tab, server)
    tab.view.get_by_role("button", name="hours", exact=True).click()
    panel = tab.view.get_by_role("complementary", name="Column")
    panel.get_by_role("button", name="census.csv · 12", exact=True).wait_for()
    assert "column=hours" in tab.page.url
    tab.check()
    tab.page.locator(f"[data-row='{ROW}']").click()
    for row in expected["census.csv"]:
        panel.get_by_role("button", name=f"census.csv · 12, row {row:,}", exact=True).wait_for()
    tab.check()
    panel.get_by_role("button", name=f"census.csv · 12, row {expected['census.csv'][0]:,}").click()
    tab.view.get_by_role("complementary", name="Column").get_by_role(
        "button", name=f"report · hours, row {ROW}"
    ).wait_for()


def test_export_of_the_witnesses(tab: Tab, server: Server, expected: dict[str, list[int]]) -> None:
    open_trace(tab, server)
    tab.rows("census.csv")
    tab.view.get_by_role("button", name="Export").click()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("menuitem", name="Rows of census.csv as CSV").click()
    with Path(saved.value.path()).open(newline="") as file:
        assert [int(line["provspark_row"]) for line in csv.DictReader(file)] == expected["census.csv"]
    tab.view.get_by_role("button", name="Export").click()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("menuitem", name="Graph as SVG").click()
    assert Path(saved.value.path()).read_text().count("<rect") == 10
    tab.view.get_by_role("button", name="Export").click()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("menuitem", name="Graph as PNG").click()
    assert Path(saved.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    tab.view.get_by_role("button", name="Export").click()
    tab.page.get_by_role("menuitem", name="Copy as command").click()
    tab.view.get_by_role("button", name="Copied").wait_for()
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("provspark trace file:///") and f"--row {ROW}" in copied


def test_dark_mode_is_airflows(server: Server, chromium: Any) -> None:
    shades = {}
    for theme in ("light", "dark"):
        tab = Tab(chromium, server.token("ann"), server.url, color_scheme=theme)
        tab.page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
        open_trace(tab, server)
        tab.rows("census.csv")
        shades[theme] = [
            tab.page.evaluate(
                "s => getComputedStyle(document.querySelector(s))[s.includes('p') ? 'color' : 'backgroundColor']", s
            )
            for s in (".react-flow__node-dataset p", "[role=grid] [role=row]")
        ]
        tab.check()
        tab.close()
    assert all(a != b for a, b in zip(shades["light"], shades["dark"], strict=True))


def in_the_graph(tab: Tab) -> None:
    """From a trace: arrows to a step and back, on to a data set's rows, and forward from one of them."""
    keys, focus = tab.page.keyboard, "document.activeElement.getAttribute('aria-label') ?? ''"
    tab_to(tab, "document.activeElement.classList.contains('react-flow__node')")
    assert tab.page.evaluate(focus).startswith("Dataset")
    for _ in range(9):
        keys.press("ArrowRight")
    assert tab.page.evaluate(focus).startswith("Dataset report: 1 of 15")
    outline = "getComputedStyle(document.activeElement.firstElementChild).outlineStyle"
    assert tab.page.evaluate(outline) == "solid"
    keys.press("ArrowLeft")
    assert tab.page.evaluate(focus).startswith("Step report")
    keys.press("Enter")
    tab.page.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Step'")
    tab.check()
    keys.press("Escape")
    tab.page.wait_for_function(f"({focus}).startsWith('Step report')")
    keys.press("ArrowLeft")
    keys.press("Enter")
    tab.page.locator("[aria-label='regions: rows of the trace'] [data-row]").first.wait_for()
    tab_to(tab, f"({focus}).startsWith('regions: rows of the trace')")
    keys.press("Shift+Enter")
    tab.page.wait_for_url("**trace=forward**")
    tab.counted(report="1 of 15")
    keys.press("Escape")
    tab.page.wait_for_url("**trace=backward**")


def tab_to(tab: Tab, place: str) -> None:
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate(place):
            return
    raise AssertionError(f"Tab leads nowhere where {place}")


def test_what_is_typed_stays_when_the_page_is_slow(tab: Tab, server: Server) -> None:
    open_list(tab, server)
    slow = tab.page.context.new_cdp_session(tab.page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 20})
    tab.page.keyboard.press("/")
    tab.page.wait_for_function("document.activeElement.id === 'provspark-search'")
    for _ in range(3):
        tab.page.keyboard.type("report", delay=200)
        tab.has(tab.view.locator("tbody tr"), 1)
        assert tab.page.evaluate("document.activeElement.value") == "report"
        for _ in "report":
            tab.page.keyboard.press("Backspace", delay=200)
        tab.has(tab.view.locator("tbody tr"), 6)


def test_keyboard_alone_leads_from_search_to_a_trace(tab: Tab, server: Server) -> None:
    open_list(tab, server)
    keys = tab.page.keyboard
    keys.press("/")
    tab.page.wait_for_function("document.activeElement.id === 'provspark-search'")
    keys.type("report")
    tab.has(tab.view.locator("tbody tr"), 1)
    keys.press("Enter")
    tab.page.wait_for_selector("[role=gridcell]")
    tab_to(tab, "document.activeElement.getAttribute('role') === 'grid'")
    for _ in range(3):
        keys.press("ArrowDown")
    keys.press("Space")
    tab.view.get_by_text("1 row selected").wait_for()
    keys.press("Enter")
    tab.page.wait_for_selector(".react-flow__node")
    assert "rows=3" in tab.page.url and "trace=backward" in tab.page.url
    in_the_graph(tab)
    keys.press("Escape")
    tab.view.get_by_text("1 row selected").wait_for()
    tab.page.locator("[role=grid]").focus()
    for _ in range(3):
        keys.press("ArrowDown")
    keys.press("m")
    tab.page.wait_for_function("document.activeElement.getAttribute('role') === 'menu'")
    sharing = tab.page.locator("[role=menuitem][data-highlighted]", has_text="co-dependency")
    for _ in range(4):
        keys.press("ArrowDown")
    sharing.wait_for()
    keys.press("Enter")
    tab.page.wait_for_url("**trace=co_dependency**")
    tab.view.get_by_label("Shared source").wait_for()
    keys.press("Escape")
    tab.view.get_by_text("1 row selected").wait_for()


def test_a_task_instances_tab_opens_on_its_outputs(tab: Tab, server: Server) -> None:
    with server.client("ann") as api:
        (run,) = api.get("/api/v2/dags/census/dagRuns").json()["dag_runs"]
    open_tab(tab, server, f"runs/{run['dag_run_id']}/tasks/clean", "provspark-task-instance")
    tab.has(tab.view.locator("tbody tr"), 1)
    tab.view.get_by_text("30,139 rows written", exact=True).wait_for()
    tab.check()
    tab.view.get_by_role("button", name="clean").click()
    tab.shows("clean", [0], more=True)
    assert "/tasks/clean/" in tab.page.url


def test_tabs_of_a_run_and_of_a_task(tab: Tab, server: Server) -> None:
    with server.client("ann") as api:
        (run,) = api.get("/api/v2/dags/census/dagRuns").json()["dag_runs"]
    for place, kind, outputs in ((f"runs/{run['dag_run_id']}", "dag-run", 4), ("tasks/clean", "task", 1)):
        open_tab(tab, server, place, f"provspark-{kind}")
        tab.has(tab.view.locator("tbody tr"), outputs)
        tab.check()


def test_a_user_who_may_not_read_the_dag(tab: Tab, server: Server, chromium: Any) -> None:
    open_trace(tab, server)
    eve = Tab(chromium, server.token("eve"), server.url)
    eve.page.goto(f"{server.url}/plugin/provspark")
    eve.view.get_by_text("No lineage yet").wait_for()
    eve.check()
    eve.page.goto(tab.page.url)
    eve.view.get_by_text("The trace failed").wait_for()
    eve.view.get_by_text("you have no access to it").wait_for()
    for word in ("census.csv", "people", "Pacific"):
        assert word not in eve.view.inner_text()
    eve.close()
