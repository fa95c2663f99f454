"""The answers of replay: duplicates, opaque operations, why-not, counts, changed sources, and the commands."""

from __future__ import annotations

import html
import json
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark import RDD
from pyspark.ml import Estimator
from pyspark.ml.feature import OneHotEncoder, StandardScaler, StringIndexer, VectorAssembler
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as sf

import provspark
from provspark.api import Provenance
from provspark.cli.main import main
from provspark.errors import (
    ReplayError,
    RowOutOfRangeError,
    UnknownColumnError,
    UnknownDatasetError,
    UnknownStepError,
    VersionChangedError,
)
from provspark.index_store.query.links import Linker
from provspark.replay.session import Session
from provspark.tracker import attach
from provspark.web import replay_forms
from provspark.web.policy import Policy
from provspark.web.scope import UserScope
from provspark.web.visible import Visible


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Orders, cleaned and then counted by customer, in two steps."""
    root = tmp_path_factory.mktemp("answers")
    rows = [(n, n % 2, float(n % 3 + 1), "x" if n % 5 else None) for n in range(12)]
    schema = "id int, customer int, price double, note string"
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(root / "orders"))
    with attach(store=str(root / "store"), step="clean"):
        orders = spark.read.parquet(str(root / "orders"))
        kept = orders.filter("note IS NOT NULL").withColumn("price", sf.round(sf.col("price") * 1.1, 2))
        kept.coalesce(1).dropDuplicates(["customer", "price"]).write.parquet(str(root / "clean"))
    shout = sf.udf(lambda n: None if n is None else n + 100, "int")
    with attach(store=str(root / "store"), step="report"):
        clean = spark.read.parquet(str(root / "clean"))
        totals = clean.groupBy("customer").agg(sf.sum("price").alias("total"), sf.count("*").alias("n"))
        totals.filter("n > 1").write.parquet(str(root / "report"))
        clean.withColumn("customer", shout("customer")).filter("id > 3").write.parquet(str(root / "shouted"))
    return root


@pytest.fixture
def prov(store: Path) -> Provenance:
    return provspark.open(str(store / "store"))


def test_the_active_session_stays_the_scripts(prov: Provenance, store: Path, spark: SparkSession) -> None:
    spark.createDataFrame([(1,)], "x int")  # makes it the active one
    prov.history(str(store / "orders"), [0])
    active = SparkSession.getActiveSession()
    assert active is not None
    assert active._jsparkSession.equals(spark._jsparkSession)
    assert active.conf.get("spark.sql.caseSensitive") == "false"


def test_replays_that_overlap_leave_the_scripts_session(spark: SparkSession) -> None:
    """Threads end in any order; and frames of RDDs are made in the script's session, not in the one made last."""
    spark.createDataFrame([(1,)], "x int")
    made = RDD.toDF
    with ExitStack() as later, ExitStack() as earlier:
        for session, stack in ((Session(10), earlier), (Session(10), later)):
            stack.enter_context(session.aside())
            session.spark.createDataFrame([(1,)], "x int")
    assert SparkSession.getActiveSession() is spark
    assert RDD.toDF is made


def test_history_across_steps(prov: Provenance, store: Path) -> None:
    ids = prov.values(str(store / "orders"), columns=["id"]).table()["id"].to_pylist()
    told = prov.history(str(store / "orders"), [ids.index(5)])
    assert [p.dataset.rsplit("/")[-1] for p in told.passages] == ["clean"]
    ((passage, ending),) = told.endings
    assert (
        ending.cause == "condition" and "note" in ending.operation.text and ending.operation.site.startswith(__file__)
    )
    assert passage.replayed is not None and passage.replayed.verified is True

    survivor = prov.values(str(store / "clean"), columns=["id"]).table()["id"].to_pylist()[0]
    whole = prov.history(str(store / "orders"), [ids.index(survivor)])
    assert {p.dataset.rsplit("/")[-1] for p in whole.passages} == {"clean", "report", "shouted"}
    assert "lines" in whole.table().column_names
    back = prov.history(str(store / "report"), [0], direction="backward")
    assert [p.dataset.rsplit("/")[-1] for p in back.passages] == ["clean", "report"]
    assert all(p.replayed and p.replayed.verified for p in back.passages)


def test_answers_show_themselves(prov: Provenance, store: Path) -> None:
    """Orders, clean and report as a graph; the rows after each operation as tables."""
    history = prov.history(str(store / "report"), [0], direction="backward")
    replayed = prov.replay(str(store / "report"), [0])
    missing = prov.why_not(str(store / "clean"), [("id", "=", 5)])
    for answer in (history, replayed, missing):
        assert len(repr(answer)) < 600
    shown = ElementTree.fromstring(f"<div>{history._repr_html_()}</div>")
    titles = [str(title.text).rsplit("/")[-1] for title in shown.findall(".//g/title")]
    assert sorted(titles) == ["clean", "orders", "report"] and len(list(shown.iter("path"))) == 2
    assert len(list(shown.iter("tr"))) == 1 + min(20, len(history.table()))
    tables = ElementTree.fromstring(f"<div>{replayed._repr_html_()}</div>").findall(".//table")
    assert [[h.text for h in table.iter("th")] for table in tables] == [list(s.columns) for s in replayed.stages]
    assert len(ElementTree.fromstring(f"<div>{missing._repr_html_()}</div>").findall(".//tr")) == 1 + len(
        missing.ended()
    )


def test_history_of_cells_and_columns(prov: Provenance, store: Path) -> None:
    """A cell's values on its way; where it ends, its row did, or its column was dropped and the row came there."""
    orders = prov.values(str(store / "orders")).table().to_pylist()
    clean = prov.values(str(store / "clean")).table().to_pylist()
    row = next(n for n, o in enumerate(orders) if o["id"] == clean[0]["id"])
    told = prov.history(str(store / "orders"), [row], "price", direction="forward")
    assert {c["column"] for c in told.cells().to_pylist() if c["dataset"].endswith("clean")} == {"price"}
    changes = [(c["text"][:5], c["value"]) for c in told.cells().to_pylist() if c["changed"] and c["column"] == "price"]
    assert changes == [("price", str(clean[0]["price"]))]
    assert {c["column"] for c in told.cells().to_pylist() if c["dataset"].endswith("report")} == {"price", "total"}
    (drop,) = (d for d in told.drops if d.dataset.endswith("report"))
    assert drop.into == ("total",) and drop.text.startswith("group by customer")
    assert not told.endings

    noteless = next(n for n, o in enumerate(orders) if o["note"] is None)
    gone = prov.history(str(store / "orders"), [noteless], "price", direction="forward")
    assert not gone.drops and [e.cause for _, e in gone.endings] == ["condition"]
    assert [p.dataset.rsplit("/")[-1] for p in gone.passages] == ["clean"]

    whole = prov.history(str(store / "orders"), columns=["note", "price"], direction="forward")
    assert all(p.replayed is None and not p.why for p in whole.passages)
    assert {(d.column, d.dataset.rsplit("/")[-1]) for d in whole.drops} == {("note", "report"), ("price", "report")}
    assert "column dropped" in whole.table()["cause"].to_pylist()
    back = prov.history(str(store / "report"), [0], "total", direction="backward")
    assert {c["column"] for c in back.cells().to_pylist()} == {"price", "total"}
    with pytest.raises(UnknownColumnError, match="dropped on the way by group by customer"):
        prov.history(str(store / "report"), [0], "note")
    with pytest.raises(UnknownColumnError, match="did you mean price"):
        prov.history(str(store / "orders"), columns="prize")


def test_duplicate_names_the_kept_row(prov: Provenance, store: Path) -> None:
    """Which one was kept is what the output says, not what comes first."""
    orders = prov.values(str(store / "orders")).table().to_pylist()
    kept = {(r["customer"], r["price"]): r["id"] for r in prov.values(str(store / "clean")).table().to_pylist()}
    lost = 0
    for row, order in enumerate(orders):
        if order["note"] is None or order["id"] in kept.values():
            continue
        lost += 1
        told = prov.replay(str(store / "orders"), [row])
        (ending,) = told.endings
        assert ending.cause == "duplicate" and ending.whole
        values = dict(ending.kept)
        assert kept[values["customer"], values["price"]] == values["id"]
        (source,) = ending.kept_sources
        assert orders[source.row]["id"] == values["id"]
    assert lost


def test_changed_cells(prov: Provenance, store: Path) -> None:
    told = prov.replay(str(store / "clean"), [0])
    marked = {s.operation.node: s.lines[0].changed for s in told.stages}
    assert marked["Project"] == ("price",) and marked["Filter"] == ()
    assert told.verified is True


def test_a_function_of_the_users_stops_it(prov: Provenance, store: Path) -> None:
    told = prov.replay(str(store / "shouted"), [0])
    ((operation, why),) = {(o, w) for o, w in told.stopped if o.node == "Project"}
    assert operation.opaque and why.startswith(operation.opaque)
    assert told.verified is None and told.stages


def test_rows_beside_a_shared_partner(spark: SparkSession, tmp_path: Path) -> None:
    """A row's partner in a join has other partners: they are not followed, but stand in its window all the same."""
    rows = [(n, n % 3, float(n)) for n in range(30)]
    spark.createDataFrame(rows, "id int, k int, v double").coalesce(1).write.parquet(str(tmp_path / "in"))
    spark.createDataFrame([(k, f"key {k}") for k in range(3)], "k int, title string").write.parquet(str(tmp_path / "k"))
    with attach(store=str(tmp_path / "store"), step="star"):
        met = spark.read.parquet(str(tmp_path / "in")).join(spark.read.parquet(str(tmp_path / "k")), "k")
        met.selectExpr("*", "sum(v) OVER (PARTITION BY title) AS s").write.parquet(str(tmp_path / "out"))
    prov = provspark.open(str(tmp_path / "store"))
    prov.replayer.most = 5
    told = prov.replay(str(tmp_path / "out"), [4])
    assert told.verified is True, told.why
    assert [len(s.lines) for s in told.stages] == [1] * len(told.stages)


def test_functions_run_where_that_is_switched_on(spark: SparkSession, tmp_path: Path) -> None:
    """By their import alone: the script's own are not run, nor anything where it was not asked for."""
    rows = [(1, "a<b"), (2, "c"), (3, None)]
    spark.createDataFrame(rows, "id int, note string").coalesce(1).write.parquet(str(tmp_path / "in"))
    escape = sf.udf(lambda s: None if s is None else html.escape(s), "string")
    known = sf.udf(textwrap.dedent, "string")
    with attach(store=str(tmp_path / "store"), step="escaped") as capture:
        notes = spark.read.parquet(str(tmp_path / "in")).filter("note IS NOT NULL")
        made = notes.withColumn("plain", sf.upper(known("note"))).filter(sf.length(known("note")) > 1)
        made.write.parquet(str(tmp_path / "out"))
        notes.withColumn("plain", escape("note")).write.parquet(str(tmp_path / "own"))
    assert capture.untracked == ()
    prov = provspark.open(str(tmp_path / "store"))
    nodes = {n.write.output.dataset.name.rpartition("/")[2]: n for n in prov.graph.nodes}
    (version,) = nodes["out"].inputs
    replayer = prov.replayer
    every = prov.select(str(tmp_path / "in")).runs
    told = replayer.inputs(nodes["out"], {version: every})
    assert told.verified is None and "functions=True" in told.why and "textwrap.dedent" in told.why
    replayer.functions = True
    told = replayer.inputs(nodes["out"], {version: every})
    assert told.verified is True, told.why
    assert [e.operation.text for e in told.endings if e.whole][-1].startswith("keep rows where length(")
    own = replayer.inputs(nodes["own"], {version: every})
    assert own.verified is None and "can't be imported" in own.why
    replayer.functions = False
    assert prov.replay(str(tmp_path / "out"), [0], functions=True).verified is True
    assert prov.replay(str(tmp_path / "out"), [0]).verified is None


def test_why_not(prov: Provenance, store: Path) -> None:
    orders = prov.values(str(store / "orders")).table().to_pylist()
    found = prov.why_not(str(store / "clean"), [("id", "=", 5)])
    ((missed, ending),) = found.endings
    assert [orders[r]["id"] for r in missed.rows.rows()] == [5] and ending.cause == "condition"
    there = prov.values(str(store / "clean"), [0]).table().to_pylist()[0]["id"]
    assert len(prov.why_not(str(store / "clean"), [("id", "=", there)]).found.rows()) == 1
    assert prov.why_not(str(store / "report"), [("total", ">", 1e9)]).untraced
    gone = prov.why_not(str(store / "report"), [("customer", "=", 77)])
    assert {m.dataset.rsplit("/")[-1]: m.rows.count for m in gone.missed} == {"clean": 0, "orders": 0}


def test_long_answers_come_in_pages(prov: Provenance, store: Path, tmp_path: Path) -> None:
    """Three rows at a time: the same as all at once, written line by line as it comes."""
    orders, at = str(store / "orders"), ["--store", str(store / "store")]
    key = ("dataset", "row", "text", "cause")
    whole = {tuple(x[k] for k in key) for x in prov.history(orders, direction="forward").ended().to_pylist()}
    missing = prov.why_not(str(store / "clean"), [("customer", "<", 5), ("id", ">", 900)])
    assert not missing.ended().num_rows
    prov.replayer.most = 3
    pages = list(prov.history_pages(orders))
    assert len(pages) == 4 and all(p.rows.count == 3 for p in pages)
    assert {tuple(x[k] for k in key) for p in pages for x in p.ended().to_pylist()} == whole
    lost = [("note", "is null", None)]
    told = list(prov.why_not_pages(str(store / "clean"), lost))
    assert [m.rest for p in told for m in p.missed] == [0] and [e.cause for _, e in told[0].endings] == ["condition"]
    file = tmp_path / "ended.parquet"
    assert "written to" in CliRunner().invoke(main, ["history", orders, "--parquet", str(file), *at]).output
    assert {tuple(x[k] for k in key) for x in pq.read_table(file).to_pylist()} == whole
    lines = CliRunner().invoke(main, ["why-not", str(store / "clean"), "--where", "id=5", "--json-lines", *at]).stdout
    assert [json.loads(x)["cause"] for x in lines.splitlines()] == ["condition"]


def test_keys_cancel(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(done: int, of: int, text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("provspark.cli.question_options.show_progress", press)
    said = CliRunner().invoke(main, ["history", str(store / "orders"), "--row", "1", "--store", str(store / "store")])
    assert said.exit_code == 2 and "cancelled" in said.output


def test_counts(prov: Provenance, store: Path, spark: SparkSession) -> None:
    step = next(m.step for m in prov.graph.manifests if "clean" in m.step)
    lines = prov.counts(step).table().to_pylist()
    orders = spark.read.parquet(str(store / "orders"))
    assert [x["rows_out"] for x in lines if x["node"] == "Filter"] == [orders.filter("note IS NOT NULL").count()]
    assert lines[-1]["rows_out"] == spark.read.parquet(str(store / "clean")).count()
    assert [x["rows_in"] for x in lines if x["node"] == "Filter"] == [12]


def test_rows_beyond_what_is_followed(prov: Provenance, store: Path) -> None:
    prov.replayer.most = 3
    told = prov.replay(str(store / "orders"))
    assert told.verified is None and "more than 3 rows" in told.why
    assert max(len(s.lines) for s in told.stages) == 3


def test_bad_input(prov: Provenance, store: Path) -> None:
    with pytest.raises(RowOutOfRangeError):
        prov.replay(str(store / "clean"), [10_000])
    with pytest.raises(ReplayError, match="made or read"):
        prov.replay(str(store / "clean"), [0], step="nothing")


def test_steps_that_were_not_captured(spark: SparkSession, tmp_path: Path) -> None:
    """What can't be followed is said, and what can is told."""

    class Twice:
        def eval(self, x: int) -> Any:
            yield (x,)

    spark.range(4).withColumn("v", sf.expr("id * 2")).coalesce(1).write.parquet(str(tmp_path / "in"))
    with attach(store=str(tmp_path / "store"), step="whole"):
        read = spark.read.parquet(str(tmp_path / "in"))
        made = read.filter("v < 6").mapInPandas(lambda it: it, "id long, v long")
        made.selectExpr("id", "coalesce(v, id) AS v").write.parquet(str(tmp_path / "coarse"))
    with attach(store=str(tmp_path / "store"), step="lost"):
        spark.udtf.register("twice", sf.udtf(Twice, returnType="w int"))
        spark.read.parquet(str(tmp_path / "coarse")).createOrReplaceTempView("seen")
        spark.sql("SELECT id, w FROM seen, LATERAL twice(cast(v AS int))").write.parquet(str(tmp_path / "untracked"))
    spark.catalog.dropTempView("seen")
    prov = provspark.open(str(tmp_path / "store"))
    for row, why in ((3, "the lineage of this write is coarse"), (0, "the replay stopped at 'MapInPandas")):
        (first,) = prov.history(str(tmp_path / "in"), [row], direction="forward").passages[:1]
        assert first.replayed and first.replayed.verified is None and first.replayed.why.startswith(why)
        assert [e.cause for e in first.endings] == (["condition"] if row == 3 else [])
    (lost,) = prov.history(str(tmp_path / "untracked"), [0], direction="backward").passages
    assert lost.replayed is None and lost.why.startswith("not tracked: Generate")
    assert prov.replay(str(tmp_path / "untracked"), [0]).why == "the lineage of this write is untracked"
    (missed,) = prov.why_not(str(tmp_path / "untracked"), [("id", "=", 99)]).missed
    assert missed.why.startswith("not tracked: Generate")
    said = CliRunner().invoke(
        main, ["why-not", str(tmp_path / "untracked"), "--where", "id=99", "--store", str(tmp_path / "store")]
    )
    assert "not tracked" in said.output
    cells = prov.cells(str(tmp_path / "coarse"), [0], "v", replay=True).table().to_pylist()
    assert cells and not any(c["exact"] for c in cells) and all("captured as a whole" in c["why"] for c in cells)
    with pytest.raises(UnknownDatasetError, match="No dataset named"):
        prov.history(str(tmp_path / "elsewhere"), [0])
    with pytest.raises(UnknownStepError):
        prov.counts("another-store's-step").table()


def test_cancelled(prov: Provenance, store: Path) -> None:
    def cancel(done: int, of: int, text: str) -> None:
        if done == 1:
            prov.replayer.cancel()

    with pytest.raises(ReplayError, match="cancelled"):
        prov.replay(str(store / "clean"), [0], progress=cancel)
    assert prov.replay(str(store / "clean"), [0]).verified is True


def test_transformers_and_settings(spark: SparkSession, tmp_path: Path) -> None:
    """Fitted models are made again from their parameters, under the settings that the step had."""
    rows = [(n, "abc"[n % 3], float(n), float(n * n % 7)) for n in range(6)]
    spark.createDataFrame(rows, "id int, c string, x double, y double").coalesce(1).write.parquet(str(tmp_path / "in"))
    own = {"spark.sql.session.timeZone": "Europe/Berlin", "spark.sql.ansi.enabled": "false"}
    before = {name: spark.conf.get(name) for name in own}
    try:
        for name, value in own.items():
            spark.conf.set(name, value)
        with attach(store=str(tmp_path / "store"), step="ml") as capture:
            frame = spark.read.parquet(str(tmp_path / "in"))
            for stage in (
                StringIndexer(inputCol="c", outputCol="place"),
                OneHotEncoder(inputCols=["place"], outputCols=["hot"]),
                VectorAssembler(inputCols=["x", "y"], outputCol="v"),
                StandardScaler(inputCol="v", outputCol="z", withMean=True),
            ):
                frame = (stage.fit(frame) if isinstance(stage, Estimator) else stage).transform(frame)
            noon = sf.to_timestamp(sf.lit("2024-03-31 12:00:00")).alias("noon")
            frame.select("id", "hot", "z", noon, sf.expr("CAST(c AS int) AS n")).write.parquet(str(tmp_path / "out"))
        assert capture.untracked == ()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    told = provspark.open(str(tmp_path / "store")).replay(str(tmp_path / "out"), [3])
    assert told.verified is True, told.why
    assert [s.lines[0].added for s in told.stages][1:5] == [("place",), ("hot",), ("v",), ("z",)]


def test_commands(store: Path) -> None:
    run = CliRunner().invoke
    at = ["--store", str(store / "store")]
    whole = json.loads(run(main, ["replay", str(store / "clean"), "--row", "0", "--json", *at]).stdout)
    assert whole["verified"] is True and whole["stages"][-1]["lines"]
    text = run(main, ["replay", str(store / "clean"), "--row", "0", *at])
    assert text.exit_code == 0 and "* " in text.output and "note" in text.output
    cell = run(main, ["history", str(store / "orders"), "--row", "1", "--column", "price", *at])
    assert cell.exit_code == 0 and "price = " in cell.output
    column = run(main, ["history", str(store / "orders"), "--column", "price", *at])
    assert column.exit_code == 0 and "price ended at" in column.output and "gone into total" in column.output
    why = run(main, ["why-not", str(store / "clean"), "--where", "id=5", *at])
    assert why.exit_code == 0 and "ended at" in why.output
    told = json.loads(run(main, ["history", str(store / "orders"), "--row", "1", "--json", *at]).stdout)
    assert told["passages"]
    former = run(main, ["whynot", str(store / "clean"), "--where", "id=5", "--json", *at])
    assert "endings" in former.stdout and "it is called provspark why-not now" in former.stderr


def test_changed_since(prov: Provenance, store: Path) -> None:
    """Last: it changes the source."""
    (file,) = (store / "orders").glob("*.parquet")
    data = file.read_bytes()
    file.write_bytes(data + b" ")
    with pytest.raises(VersionChangedError, match=r"\.parquet has changed .* bytes now, .* then"):
        prov.replay(str(store / "clean"), [0])
    told = prov.history(str(store / "orders"), [0])
    assert told.passages[0].replayed is None and "has changed" in told.passages[0].why


def test_a_column_of_sparks_own_has_its_expression_for_a_name(spark: SparkSession, tmp_path: Path) -> None:
    """Python, the page and the command line name neither `_w0` nor `_we0`; where anything is masked, no expression."""
    people, out, url = (str(tmp_path / name) for name in ("people", "out", "store"))
    spark.createDataFrame([(i, 20 + i) for i in range(4)], "id int, age int").coalesce(1).write.parquet(people)
    with attach(store=url, step="share"):
        read = spark.read.parquet(people)
        share = sf.col("age") / sf.sum(sf.when(sf.col("age") > 21, sf.col("age"))).over(Window.partitionBy())
        read.withColumn("share", share).coalesce(1).write.parquet(out)
    prov = provspark.open(url)
    replayed = prov.replay(out, [0])
    assert replayed.verified is True
    named = {name for stage in replayed.stages for name in stage.columns}
    window = next(name for name in named if "OVER" in name)
    assert named >= {"id", "age", "share"} and not any(name.startswith("_w") for name in named)
    assert window in {name for stage in replayed.stages for name in stage.lines[0].added}
    history = prov.history(out, [0], "share")
    assert window in {name for passage in history.passages for _, names in passage.told_trail() for name in names}
    assert (window, "45") in {(x["column"], x["value"]) for x in history.cells().to_pylist()}
    told = [json.dumps(x.as_dict(), default=str) + x._repr_html_() for x in (replayed, history)]
    told += [str(x.table().to_pylist()) for x in (history, prov.history(out, columns="share"))]
    for command in (["replay", out], ["history", out, "--column", "share"]):
        asked = CliRunner().invoke(main, [*command, "--rows", "0", "--store", url], env={"COLUMNS": "300"})
        assert asked.exit_code == 0, asked.output
        told.append(asked.output)
    assert "_w0" not in "".join(told) and "_we0" not in "".join(told)
    for policy, shown in ((Policy.of(True, ""), True), (Policy.of(True, "other"), False)):
        linker = Linker(prov.graph)
        scope = UserScope(linker, prov, None, Visible(policy, linker))
        for answer in (replay_forms.replayed(scope, replayed, "backward"), replay_forms.history(scope, history)):
            (passage,) = answer.passages
            names = {c.name for stage in passage.stages for c in stage.columns}
            assert (window in names, replay_forms.UNNAMED in names) == (shown, not shown)
            added = {name for stage in passage.stages for line in stage.lines for name in line.added}
            assert window not in added if not shown else window in added
            assert not any(
                "_w0" in n or "_we0" in n for n in {*names, *added, *(c for t in passage.trail for c in t.columns)}
            )
