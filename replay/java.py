"""Replay's Java class, `Snapshots`. Spark's own compiler compiles it once per JVM, on the driver only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["chosen", "snapshots"]

_made: tuple[Any, Any, Any] | None = None
"""The JVM, the class's constructor and an object: py4j can't distinguish two classes of the same name."""


def snapshots(spark: Any, number: str, most: int) -> Any:
    """Create a `Snapshots` object, which keeps at most `most` rows of a DataFrame, numbered in the column `number`."""
    return _new(spark, _compiled(spark)[1], number, most)


def chosen(frame: Any, expressions: Sequence[str]) -> Any:
    """Return ``frame.selectExpr(*expressions)``, in one call to the JVM."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    return DataFrame(_compiled(spark)[2].select(frame._jdf, "\0".join(expressions)), spark)


def _compiled(spark: Any) -> tuple[Any, Any, Any]:
    global _made
    jvm = spark._jvm
    if _made is None or _made[0] is not jvm:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setTargetVersion(8)
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook((Path(__file__).parent / "Snapshots.java").read_text(encoding="utf-8"))
        constructor = compiler.getClassLoader().loadClass("provspark.Snapshots").getConstructors()[0]
        _made = jvm, constructor, _new(spark, constructor, "", 0)
    return _made


def _new(spark: Any, constructor: Any, *arguments: Any) -> Any:
    given = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, len(arguments))
    for i, argument in enumerate(arguments):
        given[i] = argument
    return constructor.newInstance(given)
