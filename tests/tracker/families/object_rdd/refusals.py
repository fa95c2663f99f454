"""Plans of this family, which are refused."""

from __future__ import annotations

from typing import Any

from oracle.cases import Frames


def objects(t: Frames) -> Any:
    items = t.spark._jvm.java.util.ArrayList()
    items.add("a")
    rdd = t.spark.sparkContext._jsc.parallelize(items, 1).rdd()
    rows = t.spark._jsparkSession.createDataset(rdd, t.spark._jvm.org.apache.spark.sql.Encoders.STRING())
    return type(t.dept)(rows.toDF(), t.spark).select("value")  # refused


REFUSED = [(objects, "ExternalRDD", "")]
