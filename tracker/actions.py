"""Methods of PySpark that bring values to the driver: what each returns to the script, and how it is followed.

docs/session.md lists them. A test compares this table with PySpark's classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FIT", "FITS", "LEARNERS", "METHODS", "Action"]

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
_TAPPED = Action("rows", by_plan=True, tapped=True)
_FIRST = Action("rows", by_plan=True, tapped=True, limit="first", stops=True)

METHODS: dict[str, dict[str, Action]] = {
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
    },
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
    },
    "SparkContext": {"runJob": ROWS},
    "SparkSession": {"SET VARIABLE": ROWS},
}
"""By class, the methods that bring values to the driver."""

LEARNERS = {
    "pyspark.ml.base": ("Estimator.fit", "Estimator.fitMultiple"),
    "pyspark.ml.evaluation": ("Evaluator.evaluate",),
    "pyspark.ml.stat": ("ChiSquareTest.test", "Correlation.corr", "KolmogorovSmirnovTest.test"),
    "pyspark.mllib.common": ("callJavaFunc",),
}
"""By module, functions of MLlib that learn something from a frame or an RDD which then is on the driver: rows."""
FITS = frozenset({"Estimator.fit", "Estimator.fitMultiple"})
"""Those of them that return models."""
FIT = "fit"
"""The action of a read that is a model: its columns are those that the parameters of the fit named, or all."""
