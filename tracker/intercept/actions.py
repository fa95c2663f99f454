"""Table of the PySpark methods that return values to the driver: what each returns and how capture follows it.

docs/session.md lists them. A test compares this table with PySpark's classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FITS", "LEARNERS", "METHODS", "Action", "reading"]

Returns = Literal["rows", "number", "nothing"]


@dataclass(frozen=True, slots=True)
class Action:
    """Kind of result that a method returns to the script.

    Parameters
    ----------
    returns : {"rows", "number", "nothing"}
        ``rows``: values of rows. ``number``: one number computed from all rows. ``nothing``: a result without values
        of rows, such as text on the screen, a schema or a plan.
    by_plan : bool
        Whether the result counts as one number if the plan has a single row, aggregated from all rows.
    tapped : bool
        Whether rows are followed one by one. Otherwise each returned row comes from all rows read.
    limit : {"", "first", "last"}
        Whether the method returns only the first or last rows: as many as its argument says, one by default.
    """

    returns: Returns
    by_plan: bool = False
    tapped: bool = False
    limit: Literal["", "first", "last"] = ""
    stops: bool = False
    """Whether Spark stops reading as soon as a limit on top of the plan has its rows."""
    unless_arrow: bool = False
    """Whether it does so unless rows are transferred as Arrow data."""
    piecewise: bool = False
    """Whether each partition is computed in a job of its own."""


ROWS = Action("rows")
NUMBER = Action("number")
NOTHING = Action("nothing")
"""For text on the screen, schemas and settings, and for effects captured elsewhere, such as writes and ``foreach``."""
_TAPPED = Action("rows", by_plan=True, tapped=True)
_FIRST = Action("rows", by_plan=True, tapped=True, limit="first", stops=True)


def _nothing(names: str) -> dict[str, Action]:
    return dict.fromkeys(names.split(), NOTHING)


METHODS: dict[str, dict[str, Action]] = {
    "Accumulator": {"value": ROWS, **_nothing("add")},  # a numeric value counts as one number
    "DataFrame": {
        "approxQuantile": ROWS,
        "collect": Action("rows", by_plan=True, tapped=True, stops=True),
        "corr": NUMBER,
        "count": NUMBER,
        "cov": NUMBER,
        "first": _FIRST,
        "head": _FIRST,
        "isEmpty": NUMBER,
        "tail": Action("rows", by_plan=True, tapped=True, limit="last"),
        "take": _FIRST,
        "toArrow": _TAPPED,
        "toLocalIterator": Action("rows", by_plan=True, tapped=True, piecewise=True),
        "toPandas": Action("rows", by_plan=True, tapped=True, unless_arrow=True),
        **_nothing("columns createGlobalTempView createOrReplaceGlobalTempView createOrReplaceTempView createTempView"),
        **_nothing("dtypes executionInfo explain foreach foreachPartition inputFiles isLocal isStreaming printSchema"),
        **_nothing("registerTempTable sameSemantics schema semanticHash show sparkSession sql_ctx storageLevel"),
        **_nothing("na pandas_api stat"),
        **_nothing("plot"),  # reads rows through the methods above
    },
    "DataFrameStatFunctions": _nothing("approxQuantile corr cov"),  # these call the methods of DataFrame
    "GroupedData": _nothing("cogroup"),
    "Observation": {"get": Action("rows", by_plan=True)},
    "RDD": {
        "aggregate": ROWS,
        "collect": ROWS,
        "collectAsMap": ROWS,
        "collectWithJobGroup": ROWS,
        "count": NUMBER,
        "countApprox": NUMBER,
        "countApproxDistinct": NUMBER,
        "countByKey": ROWS,
        "countByValue": ROWS,
        "first": ROWS,
        "fold": ROWS,
        "histogram": ROWS,
        "isEmpty": NUMBER,
        "lookup": ROWS,
        "max": ROWS,
        "mean": ROWS,
        "meanApprox": ROWS,
        "min": ROWS,
        "reduce": ROWS,
        "reduceByKeyLocally": ROWS,
        "sampleStdev": ROWS,
        "sampleVariance": ROWS,
        "stats": ROWS,
        "stdev": ROWS,
        "sum": NUMBER,
        "sumApprox": NUMBER,
        "take": ROWS,
        "takeOrdered": ROWS,
        "takeSample": ROWS,
        "toLocalIterator": ROWS,
        "top": ROWS,
        "treeAggregate": ROWS,
        "treeReduce": ROWS,
        "variance": ROWS,
        **_nothing("barrier checkpoint cleanShuffleDependencies context foreach foreachPartition getCheckpointFile"),
        **_nothing("getNumPartitions getResourceProfile getStorageLevel id isCheckpointed isLocallyCheckpointed"),
        **_nothing("localCheckpoint name saveAsHadoopDataset saveAsHadoopFile saveAsNewAPIHadoopDataset"),
        **_nothing("saveAsNewAPIHadoopFile saveAsPickleFile saveAsSequenceFile saveAsTextFile toDebugString"),
    },
    "SparkContext": {"runJob": ROWS},
    "SparkSession": {"SET VARIABLE": ROWS},
}
"""Methods by class, without those that return a DataFrame, Column or RDD."""


def reading(owner: str) -> list[str]:
    """Return the names of the methods of a class that return values to the driver."""
    return [name for name, action in METHODS[owner].items() if action.returns != "nothing"]


LEARNERS = {
    "pyspark.ml.base": ("Estimator.fit", "Estimator.fitMultiple"),
    "pyspark.ml.evaluation": ("Evaluator.evaluate",),
    "pyspark.ml.stat": ("ChiSquareTest.test", "Correlation.corr", "KolmogorovSmirnovTest.test"),
    "pyspark.ml.wrapper": ("JavaWrapper._call_java",),
    "pyspark.mllib.common": ("callJavaFunc",),
}
"""MLlib functions, by module, whose result on the driver is learned from a DataFrame or RDD. It counts as rows."""
FITS = frozenset({"Estimator.fit", "Estimator.fitMultiple"})
"""The `LEARNERS` that return models."""
