"""Operators of random plans that call functions of Python, and of Java over typed rows.

Each function is defined inside another, so that PySpark sends its code to the workers, which cannot import this file.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
import pyspark
from oracle.operators import group, select, where
from oracle.random_parts import COLUMNS, Operator, fold, same
from oracle.relation import Relation

SCHEMA = "p INT, q STRING, r BIGINT"
KINDS = ("by row", "by Arrow", "by pandas")
_classes: dict[str, Any] = {}


def _rows(df: Any) -> Any:
    """Plain Spark 4.2.0 waits for ever where Arrow reads columns straight from a scan or a cache (SPARK-58241)."""
    return df.repartition(2) if pyspark.__version__.startswith("4.2.0") else df


def _function(kind: int) -> Any:
    from pyspark.sql import functions as sf

    def add(x: Any) -> Any:
        return None if x is None else x + 1

    def series(x: Any) -> Any:
        return x + 1

    if kind == 2:
        series.__annotations__ = {"x": pd.Series, "return": pd.Series}
        return sf.pandas_udf(series, "bigint")
    return sf.udf(add, "bigint", useArrow=kind == 1)


def _udf_frame(kind: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    value = sf.coalesce("r", sf.lit(0))
    return _rows(df).select("p", "q", _function(kind)(value).alias("r"))


def _udf(kind: int, r: Relation) -> Relation:
    return select(r, "p", "q", r=lambda v: (v.r or 0) + 1)


def _udf_filter_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    large = sf.udf(lambda x: x is not None and x > 1, "boolean", useArrow=False)
    return _rows(df).where(large("r"))


def _udaf_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    def total(x: Any) -> int:
        return int(x.sum())

    total.__annotations__ = {"x": pd.Series, "return": int}
    called = sf.pandas_udf(total, "bigint")
    made = _rows(df).groupBy("p").agg(called(sf.coalesce("r", sf.lit(0))).alias("r"))
    return made.selectExpr("p", "CAST(NULL AS STRING) AS q", "r")


def _udaf(r: Relation) -> Relation:
    return select(group(r, ("p",), s=lambda rows: fold(sum, rows) or 0), "p", q=lambda v: None, r=lambda v: v.s)


def _arrow_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def passed(batches: Any) -> Any:
        yield from batches

    return _rows(df).mapInArrow(passed, SCHEMA)


def _pandas_frame(df: Any) -> Any:
    from provspark import keeps_index

    @keeps_index
    def large(batches: Any) -> Any:
        for batch in batches:
            yield batch[batch.r > 1]

    return _rows(df).selectExpr("coalesce(p, 0) AS p", "q", "coalesce(r, 0) AS r").mapInPandas(large, SCHEMA)


def _pandas(r: Relation) -> Relation:
    return where(select(r, p=lambda v: v.p or 0, q=lambda v: v.q, r=lambda v: v.r or 0), lambda v: v.r > 1)


def _groups_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def counted(group: Any) -> Any:
        return group.assign(r=len(group))

    given = _rows(df).selectExpr("coalesce(p, 0) AS p", "q", "coalesce(r, 0) AS r")
    return given.groupBy("p").applyInPandas(counted, SCHEMA)


def _tables_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def passed(table: Any) -> Any:
        return table

    return _rows(df).groupBy("q").applyInArrow(passed, SCHEMA)


def _groups(r: Relation) -> Relation:
    """Each row comes from itself alone, as the function declares."""
    keys = [v.p or 0 for v, _ in r.rows]
    return Relation.of(COLUMNS, [((k, v.q, keys.count(k)), w) for k, (v, w) in zip(keys, r.rows, strict=True)])


FILTER = """public class Large implements org.apache.spark.api.java.function.FilterFunction {
  public boolean call(Object row) {
    org.apache.spark.sql.Row r = (org.apache.spark.sql.Row) row;
    return !r.isNullAt(2) && r.getLong(2) > 1L;
  }
}"""
MAP = """public class Told implements org.apache.spark.api.java.function.MapFunction {
  public Object call(Object row) {
    org.apache.spark.sql.Row r = (org.apache.spark.sql.Row) row;
    return r.get(0) + "/" + r.get(1) + "/" + r.get(2);
  }
}"""


def _java(spark: Any, name: str, source: str) -> Any:
    """Compile a class, let executors have it, and make an object of it; once a session's JVM."""
    jvm = spark._jvm
    key = f"{name} {id(spark.sparkContext)}"
    if key not in _classes:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setTargetVersion(8)
        compiler.cook(source)
        codes = compiler.getBytecodes()
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as z:
            for each in codes:
                z.writestr(each.replace(".", "/") + ".class", bytes(codes[each]))
        jar = Path(mkdtemp()) / f"{name}.jar"
        jar.write_bytes(held.getvalue())
        spark.sql(f"ADD JAR '{jar.as_uri()}'")
        _classes[key] = spark._jsparkSession.sharedState().jarClassLoader().loadClass(name)
    nothing = spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 0)
    return _classes[key].getConstructors()[0].newInstance(nothing)


def _typed_filter_frame(df: Any) -> Any:
    from pyspark.sql import DataFrame

    return DataFrame(df._jdf.filter(_java(df.sparkSession, "Large", FILTER)), df.sparkSession)


def _typed_map_frame(df: Any) -> Any:
    from pyspark.sql import DataFrame

    strings = df.sparkSession._jvm.org.apache.spark.sql.Encoders.STRING()
    told = DataFrame(df._jdf.map(_java(df.sparkSession, "Told", MAP), strings).toDF(), df.sparkSession)
    values = [f"nullif(split(value, '/')[{i}], 'null')" for i in range(3)]
    return told.selectExpr(f"CAST({values[0]} AS INT) AS p", f"{values[1]} AS q", f"CAST({values[2]} AS BIGINT) AS r")


def _large(r: Relation) -> Relation:
    return where(r, lambda v: v.r is not None and v.r > 1)


PYTHON: dict[str, Operator] = {
    "udf": Operator((len(KINDS),), 1, _udf_frame, _udf),
    "udf filter": Operator((), 1, _udf_filter_frame, _large),
    "udaf": Operator((), 1, _udaf_frame, _udaf),
    "map in Arrow": Operator((), 1, _arrow_frame, same),
    "map in pandas": Operator((), 1, _pandas_frame, _pandas),
    "groups in pandas": Operator((), 1, _groups_frame, _groups),
    "groups in Arrow": Operator((), 1, _tables_frame, same),
    "typed filter": Operator((), 1, _typed_filter_frame, _large),
    "typed map": Operator((), 1, _typed_map_frame, same),
}
