"""Operators of this family in random plans."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from oracle.random_parts import Operator, above_one, same

_classes: dict[str, Any] = {}
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


def java(spark: Any, name: str, source: str) -> Any:
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

    return DataFrame(df._jdf.filter(java(df.sparkSession, "Large", FILTER)), df.sparkSession)


def _typed_map_frame(df: Any) -> Any:
    from pyspark.sql import DataFrame

    strings = df.sparkSession._jvm.org.apache.spark.sql.Encoders.STRING()
    told = DataFrame(df._jdf.map(java(df.sparkSession, "Told", MAP), strings).toDF(), df.sparkSession)
    values = [f"nullif(split(value, '/')[{i}], 'null')" for i in range(3)]
    return told.selectExpr(f"CAST({values[0]} AS INT) AS p", f"{values[1]} AS q", f"CAST({values[2]} AS BIGINT) AS r")


SHAPES: dict[str, Operator] = {
    "typed filter": Operator((), 1, _typed_filter_frame, above_one, group="python"),
    "typed map": Operator((), 1, _typed_map_frame, same, group="python"),
}
