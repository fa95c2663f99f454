"""Methods of PySpark that bring values to the driver: what each returns to the script, and how it is followed.

docs/session.md lists them. A test compares this table with PySpark's classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FITS", "LEARNERS", "METHODS", "Action", "reading"]

Returns = Literal["rows", "number", "nothing"]


@dataclass(frozen=True, slots=True)
class Action:
    """What a method gives the script.

    Parameters
    ----------
    returns : {"rows", "number", "nothing"}
        ``rows`` are values of rows; ``number`` is one number computed from all rows; ``nothing`` is what no value can
        be taken from, such as text on the screen, a schema or a plan.
    by_plan : bool
        Returns a number where the plan has one row that aggregate functions made of all rows.
    tapped : bool
        Rows are followed one by one; otherwise all rows returned come from all rows read.
    limit : {"", "first", "last"}
        Takes only so many rows, the first or the last ones: as many as its argument says, or one.
    """

    returns: Returns
    by_plan: bool = False
    tapped: bool = False
    limit: Literal["", "first", "last"] = ""
    stops: bool = False
    """Spark stops reading once a limit on top of the plan has its rows."""
    unless_arrow: bool = False
    """It does so unless rows come as Arrow's."""
    piecewise: bool = False
    """Each partition is computed by a job of its own."""


ROWS = Action("rows")
NUMBER = Action("number")
NOTHING = Action("nothing")
"""Text on the screen, schemas and settings; or an effect that is followed as such, like a write or ``foreach``."""
_TAPPED = Action("rows", by_plan=True, tapped=True)
_FIRST = Action("rows", by_plan=True, tapped=True, limit="first", stops=True)


def _nothing(names: str) -> dict[str, Action]:
    return dict.fromkeys(names.split(), NOTHING)


METHODS: dict[str, dict[str, Action]] = {
    "Accumulator": {"value": ROWS, **_nothing("add")},  # a number counts as one number
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
        **_nothing("plot"),  # which takes rows by the methods above
    },
    "DataFrameStatFunctions": _nothing("approxQuantile corr cov"),  # which call those of DataFrame
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
"""By class, its methods that return neither a frame nor a column nor an RDD."""


def reading(owner: str) -> list[str]:
    """Return the methods of a class that bring values to the driver."""
    return [name for name, action in METHODS[owner].items() if action.returns != "nothing"]


LEARNERS = {
    "pyspark.ml.base": ("Estimator.fit", "Estimator.fitMultiple"),
    "pyspark.ml.evaluation": ("Evaluator.evaluate",),
    "pyspark.ml.stat": ("ChiSquareTest.test", "Correlation.corr", "KolmogorovSmirnovTest.test"),
    "pyspark.ml.wrapper": ("JavaWrapper._call_java",),
    "pyspark.mllib.common": ("callJavaFunc",),
}
"""By module, functions of MLlib that learn something from a frame or an RDD which then is on the driver: rows."""
FITS = frozenset({"Estimator.fit", "Estimator.fitMultiple"})
"""Those of them that return models."""
