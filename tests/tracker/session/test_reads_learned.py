"""Frames that models and statistics of MLlib return: their rows have the read that they were learned by as context."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _reads import Edges
from oracle.cases import Frames
from oracle.tables import DEPT, EMP
from pyspark.ml.clustering import LDA, GaussianMixture
from pyspark.ml.feature import Imputer, ImputerModel, VectorAssembler, Word2Vec
from pyspark.ml.regression import LinearRegression
from pyspark.ml.stat import ChiSquareTest, Correlation, KolmogorovSmirnovTest
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def numbers(t: Frames) -> Any:
    return t.dept.select(sf.col("w").cast("double").alias("w"), (sf.col("w") % 2).cast("double").alias("label"))


def points(t: Frames) -> Any:
    return VectorAssembler(inputCols=["w", "label"], outputCol="features").transform(numbers(t))


def words(t: Frames) -> Any:
    return t.dept.select(sf.array("name").alias("words"))


FRAMES: dict[str, Callable[[Frames], Any]] = {
    "surrogates": lambda t: Imputer(inputCols=["w"], outputCols=["v"]).fit(numbers(t)).surrogateDF,
    "surrogates, renamed": lambda t: (
        Imputer(inputCols=["w"], outputCols=["v"]).fit(numbers(t)).surrogateDF.select(sf.col("w").alias("x"))
    ),
    "vectors of words": lambda t: (
        Word2Vec(vectorSize=2, minCount=0, seed=1, inputCol="words").fit(words(t)).getVectors().select("word")
    ),
    "synonyms": lambda t: (
        Word2Vec(vectorSize=2, minCount=0, seed=1, inputCol="words").fit(words(t)).findSynonyms("one", 2)
    ),
    "topics": lambda t: LDA(k=2, maxIter=2, seed=1).fit(points(t)).describeTopics(1),
    "gaussians": lambda t: GaussianMixture(k=2, seed=1, maxIter=2).fit(points(t)).gaussiansDF.select("cov"),
    "correlations": lambda t: Correlation.corr(points(t), "features"),
    "correlations by keywords": lambda t: Correlation.corr(column="features", dataset=points(t)),
    "tests of distributions": lambda t: KolmogorovSmirnovTest.test(numbers(t), "w", "norm", 0.0, 1.0),
}


def run(spark: Any, sources: Path, folder: Path, frame: Callable[[Frames], Any]) -> Edges:
    t = Frames(spark, [DEPT, EMP], sources)
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        t.emp.select("id").take(1)
        frame(t).write.parquet(str(folder / "out"))
    assert capture.untracked == ()
    return Edges(folder / "store", capture.manifest)


@pytest.mark.parametrize("how", FRAMES)
def test_frames(how: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """A write of one is coarse, and leads to all rows that were learned from, and to no other read."""
    edges = run(spark, sources, tmp_path, FRAMES[how])
    (write,) = edges.manifest.writes
    *_, read = edges.manifest.reads
    assert (write.coverage, read.coverage, read.output.rows) == ("coarse", "coarse", 1) and write.output.rows
    assert write.reason is not None and "MLlib" in write.reason.why
    assert write.inputs[0].dataset.name.rpartition("/")[2].startswith("test_reads_learned.py:")
    found = {end[1:] for ends in edges.of(write).values() for end in ends if end[0] == "reads"}
    assert found == {(1, "context")}
    whole = {("dept", i) for i in range(len(DEPT.rows))}
    assert edges.context(write) == dict.fromkeys(range(write.output.rows), whole)


def test_a_loaded_model(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Its frames have the read of its files as context."""
    t = Frames(spark, [DEPT, EMP], sources)
    Imputer(inputCols=["w"], outputCols=["v"]).fit(numbers(t)).save(str(tmp_path / "model"))
    edges = run(spark, sources, tmp_path, lambda t: ImputerModel.load(str(tmp_path / "model")).surrogateDF)
    (write,), (_, load) = edges.manifest.writes, edges.manifest.reads
    assert (write.coverage, load.action) == ("coarse", "load")
    assert {end[1:] for ends in edges.of(write).values() for end in ends if end[0] == "reads"} == {(1, "context")}


def test_a_summary(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Rows of a plan stay what they are; the model is their context."""
    edges = run(spark, sources, tmp_path, lambda t: LinearRegression(labelCol="label").fit(points(t)).summary.residuals)
    (write,) = edges.manifest.writes
    assert write.coverage == "exact"
    for row, ends in edges.of(write).items():
        assert {end for end in ends if end[0] == "reads"} == {("reads", 1, "context")}
        assert len([end for end in ends if end[0] == "dept" and len(end) == 2]) == 1, row


@pytest.mark.parametrize("frame", [lambda t: ChiSquareTest.test(points(t), "features", "label")])
def test_what_is_made_of_an_rdd(frame: Any, spark: Any, sources: Path, tmp_path: Path) -> None:
    """It can't be followed; the step says so."""
    t = Frames(spark, [DEPT, EMP], sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame(t).write.parquet(str(tmp_path / "out"))
    assert [reason.node for reason in capture.untracked] == ["ExternalRDD"]


def test_rows_of_the_script_stay_exact(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A model's summary of local rows is a frame of these."""

    def frame(_: Frames) -> Any:
        rows = spark.createDataFrame([(1.0, 0.0), (2.0, 1.0), (3.0, 1.0)], "w DOUBLE, label DOUBLE")
        train = VectorAssembler(inputCols=["w"], outputCol="features").transform(rows)
        return LinearRegression(labelCol="label").fit(train).summary.predictions

    (write,) = run(spark, sources, tmp_path, frame).manifest.writes
    assert write.coverage == "exact"
