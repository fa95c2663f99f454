"""MLlib: transformed rows stay the rows they were, vectors and all; what a model was fitted to is their context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _reads import Edges
from oracle import lineage, outputs
from oracle.cases import Frames
from oracle.tables import TABLES
from oracle.values import canon
from pyspark import StorageLevel
from pyspark.ml import Pipeline
from pyspark.ml.clustering import KMeans
from pyspark.ml.evaluation import RegressionEvaluator
from pyspark.ml.feature import (
    Bucketizer,
    Imputer,
    ImputerModel,
    OneHotEncoder,
    SQLTransformer,
    StandardScaler,
    StringIndexer,
    VectorAssembler,
)
from pyspark.ml.regression import LinearRegression
from pyspark.ml.stat import Correlation
from pyspark.mllib.stat import Statistics
from pyspark.sql import functions as sf

import provspark
from provspark.api import stops_of
from provspark.tracker import attach

pytestmark = pytest.mark.spark


def all_of(name: str, t: Frames) -> set[tuple[str, int]]:
    return {(name, i) for i in range(len(t._sources[name].rows))}


def run(spark: Any, sources: Path, work: Path, plan: Callable[[Frames], Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Write by plain and by tracked Spark; return the rows, and their data and context edges."""
    t = Frames(spark, TABLES, sources)
    plan(t).write.parquet(str(work / "plain"))
    with attach(store=(work / "store").as_uri(), step="s") as capture:
        plan(t).write.parquet(str(work / "out"))
    assert capture.untracked == ()
    assert [w.coverage for w in capture.manifest.writes] == ["exact"]
    plain, out = outputs.read(work / "plain"), outputs.read(work / "out")
    assert Counter(map(canon, out.rows)) == Counter(map(canon, plain.rows))
    assert out.schemas == plain.schemas
    edges = Edges(work / "store", capture.manifest)
    (write,) = capture.manifest.writes
    data = [{end for end in ends if end[0] != "reads"} for ends in edges.of(write).values()]
    return list(out.rows), data, list(edges.context(write).values())


def features(rows: Any) -> Any:
    stages = [
        StringIndexer(inputCol="name", outputCol="name_i", handleInvalid="keep"),
        OneHotEncoder(inputCols=["name_i"], outputCols=["name_v"]),
        Imputer(inputCols=["w"], outputCols=["w_full"]),
        Bucketizer(splits=[-1.0, 3.0, 6.0, 99.0], inputCol="w_full", outputCol="w_b"),
        VectorAssembler(inputCols=["name_v", "w_full", "w_b"], outputCol="f"),
        StandardScaler(inputCol="f", outputCol="f_scaled", withMean=True),
    ]
    return Pipeline(stages=stages).fit(rows)


def prepared(t: Frames) -> Any:
    return t.dept.select(sf.monotonically_increasing_id().alias("n"), "name", sf.col("w").cast("double").alias("w"))


def test_features(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Every row of the fit's data set is context of each row; the rows hold vectors."""
    rows, data, context = run(spark, sources, tmp_path, lambda t: features(prepared(t)).transform(prepared(t)))
    assert len(rows) == 8 and len(rows[0]) == 9
    assert sorted(map(tuple, data)) == [(("dept", i),) for i in range(8)]
    assert context == [{("dept", i) for i in range(8)}] * 8


def test_fitted_elsewhere(spark: Any, sources: Path, tmp_path: Path) -> None:
    """The fit's data set and the transformed one are told apart; a fit after a join has both inputs."""

    def plan(t: Frames) -> Any:
        train = t.emp.join(t.dept.select("k", "w"), "k").select("id", "w", sf.col("v").cast("double").alias("v"))
        assembler = VectorAssembler(inputCols=["id", "w"], outputCol="f")
        model = LinearRegression(featuresCol="f", labelCol="v", maxIter=2).fit(assembler.transform(train.na.drop()))
        score = t.skew.select("n", sf.col("n").alias("id"), sf.col("n").alias("w")).filter("n < 5")
        return model.transform(assembler.transform(score)).select("n", "f", sf.round("prediction", 3).alias("p"))

    rows, data, context = run(spark, sources, tmp_path, plan)
    t = Frames(spark, TABLES, sources)
    skew = next(s for s in TABLES if s.name == "skew")
    place = {r[skew.columns.index("n")]: i for i, r in enumerate(skew.rows)}
    assert data == [{("skew", place[r[0]])} for r in rows]
    assert context == [all_of("emp", t) | all_of("dept", t)] * len(rows) and len(rows)


LEARNED: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda d: RegressionEvaluator(predictionCol="w", labelCol="w").evaluate(d),
    "Correlation": lambda d: Correlation.corr(VectorAssembler(inputCols=["w"], outputCol="f").transform(d), "f"),
    "fitMultiple": lambda d: list(
        KMeans(k=2, seed=1).fitMultiple(
            VectorAssembler(inputCols=["w"], outputCol="features").transform(d).persist(StorageLevel.MEMORY_ONLY), [{}]
        )
    ),
    "approxQuantile": lambda d: d.approxQuantile("w", [0.5], 0.0),
    "corr": lambda d: d.stat.corr("w", "w"),
    "of an RDD": lambda d: Statistics.corr(d.rdd.map(lambda r: r.w), d.rdd.map(lambda r: r.w)),
}


@pytest.mark.parametrize("how", LEARNED)
def test_learned(how: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    def plan(t: Frames) -> Any:
        LEARNED[how](t.dept.select(sf.col("w").cast("double").alias("w")))
        return t.emp.select("id").filter("id < 2")

    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        plan(t).write.parquet(str(tmp_path / "out"))
    spark.catalog.clearCache()
    assert capture.untracked == () and capture.manifest is not None
    ((edges,), (axes,)) = ([w.tensors for w in capture.manifest.writes], [w.axes for w in capture.manifest.writes])
    assert [t.kind for t in edges] == ["data"] and [a.role for a in axes] == ["output", "input"]
    *_, read = capture.manifest.reads
    assert (read.coverage, read.single, read.output.rows) == ("coarse", how == "corr", 1)
    assert [(Path(v.dataset.name).name, v.rows) for v in read.inputs] == [("dept", 8)]


def test_sql_transformer_and_saved_model(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A transformer that runs SQL; the files of a saved model derive from the model, and mark nothing else."""
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        doubled = SQLTransformer(statement="SELECT w, w * 2 AS d FROM __THIS__ WHERE w > 5")
        doubled.transform(t.dept).write.parquet(str(tmp_path / "out"))
        features(prepared(t)).save(str(tmp_path / "model"))
    assert capture.untracked == () and capture.manifest is not None
    assert [w.coverage for w in capture.manifest.writes] == ["exact", "coarse"]
    edges, (_, model) = Edges(tmp_path / "store", capture.manifest), capture.manifest.writes
    assert model.output.unit == "file" and model.output.dataset.uri == f"file://{tmp_path / 'model'}"
    (fit,) = capture.manifest.reads
    assert (fit.action, fit.coverage, fit.output.rows) == ("fit", "coarse", 1)
    assert model.output.rows > 5 and set(map(tuple, edges.of(model).values())) == {(("reads", 0),)}
    answers = lineage.Lineage(tmp_path / "store", capture.manifest, TABLES, t.paths)
    made = outputs.read(tmp_path / "out").rows
    assert sorted(made) == [(6, 12), (6, 12), (7, 14)]
    dept = next(s for s in TABLES if s.name == "dept")
    assert [{dept.rows[i][3] for _, _, i in ws} for ws in answers.backward(tmp_path / "out", 3)] == [
        {w} for w, _ in made
    ]


def test_a_loaded_model_that_is_saved_comes_from_its_files(spark: Any, sources: Path, tmp_path: Path) -> None:
    """The model that is loaded is a read of the files; an estimator holds nothing of any data."""
    from pyspark.ml import PipelineModel

    t = Frames(spark, TABLES, sources)
    features(prepared(t)).save(str(tmp_path / "model"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        PipelineModel.load(str(tmp_path / "model")).save(str(tmp_path / "again"))
        Pipeline(stages=[Imputer(inputCols=["w"], outputCols=["v"])]).save(str(tmp_path / "estimator"))
    assert capture.untracked == () and capture.manifest is not None
    model, estimator = capture.manifest.writes
    assert (model.coverage, estimator.coverage) == ("coarse", "coarse") and estimator.tensors == ()
    loaded = {read.inputs[0].dataset.name for read in capture.manifest.reads if read.action == "load"}
    assert loaded and all(name.startswith(str(tmp_path / "model")) for name in loaded)  # folders of its stages
    assert [t.kind for t in model.tensors] == ["data"]


def test_each_fit_is_a_model_of_its_own(spark: Any, sources: Path, tmp_path: Path) -> None:
    """An estimator that is fitted twice makes models of one uid; a write has the one as context that it applies."""
    t = Frames(spark, TABLES, sources)
    imputer = Imputer(inputCols=["w"], outputCols=["full"])
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        whole = imputer.fit(prepared(t))
        few = imputer.fit(prepared(t).filter("w > 6"))
        t.dept.count()
        few.transform(prepared(t)).write.parquet(str(tmp_path / "few"))
        whole.transform(prepared(t)).write.parquet(str(tmp_path / "whole"))
    assert capture.untracked == () and capture.manifest is not None
    edges = Edges(tmp_path / "store", capture.manifest)
    found = [
        {end[1:] for ends in edges.of(w).values() for end in ends if end[0] == "reads"} for w in edges.manifest.writes
    ]
    assert found == [{(1, "context")}, {(0, "context")}]
    assert [r.action for r in edges.manifest.reads] == ["fit", "fit", "DataFrame.count"]
    assert [f.name for f in edges.manifest.reads[0].output.fields] == ["w"]


def test_columns_that_a_fit_names_are_context_of_what_its_model_is_applied_to(
    spark: Any, sources: Path, tmp_path: Path
) -> None:
    """Under the names that they have in the sources; through the model's files and its loading, too."""
    t = Frames(spark, TABLES, sources)
    url, model, outs = (tmp_path / "store").as_uri(), str(tmp_path / "model"), [str(tmp_path / n) for n in "ab"]
    score = t.emp.select("id", sf.col("v").cast("double").alias("name"))
    with attach(store=url, step="fit"):
        train = t.dept.select("k", sf.col("w").cast("double").alias("name"))
        fitted = Imputer(inputCols=["name"], outputCols=["full"]).fit(train)
        assert t.dept.count() == 8 and len(t.dept.select("k").collect()) == 8
        fitted.transform(score).write.parquet(outs[0])
        fitted.save(model)
    with attach(store=url, step="apply"):
        ImputerModel.load(model).transform(score).write.parquet(outs[1])
    prov, dept = provspark.open(url), t.paths["dept"]
    for out in outs:
        names = ["name", "full"]  # `name` was made before the model applied, in a frame that no capture saw
        told = prov.columns(out, to=dept).table()
        found = {(x["column"], x["related_column"], x["kind"], x["exact"]) for x in told.to_pylist() if x["column"]}
        assert found == {(name, "w", "context", False) for name in names}
        stops = stops_of(told)
        assert {stop.what for stop in stops} == {"coarse"} and not any("no reason" in stop.why for stop in stops)
        assert any("its result is computed from all rows that it read" in stop.why for stop in stops)
        forward = prov.columns(dept, ["w", "k"], direction="forward", to=out, existence=False).table().to_pylist()
        assert {(x["column"], x["related_column"], x["kind"]) for x in forward} == {("w", n, "context") for n in names}
        assert prov.cells(out, [1], "id", to=dept, kinds=("data", "context")).table().num_rows == 0
        cells = prov.cells(out, [1], "full", to=dept, kinds=("data", "context")).table().to_pylist()
        assert {(x["related_row"], x["related_column"], x["kind"]) for x in cells} == {
            (i, "w", "context") for i in range(8)
        }
        data = {
            (x["column"], x["related_column"])
            for x in prov.columns(out, to=t.paths["emp"]).table().to_pylist()
            if x["column"]
        }
        assert data >= {("id", "id"), ("name", "v"), ("full", "v")}
