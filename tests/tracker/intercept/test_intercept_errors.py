"""A script gets Spark's own errors with capture: their classes, messages, causes and stack frames."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import py4j
import pyspark
import pytest
from _watching import both
from pyspark.sql import functions as sf

import provspark.tracker

pytestmark = pytest.mark.spark

OURS = Path(provspark.tracker.__file__).parent
PLACES = {Path(__file__).parent: "TEST", Path(pyspark.__file__).parent: "PYSPARK", Path(py4j.__file__).parent: "PY4J"}


NOISE = re.compile(
    r"\s+at (org\.apache\.spark\.sql\.provspark\.Inter|\S*reflect\.|java\.base/|\S*py4j).*|\b\d+ more|\bo\d+\b"
)
"""Names of objects, and lines of Java traces that differ: frames of `InterceptedCommand`, and of reflection, which Java
compiles after some calls."""


def frames(error: BaseException) -> list[str]:
    """Return the frames of an error's traceback: the folder that each file is in, and the function."""
    out = []
    for frame in traceback.extract_tb(error.__traceback__):
        within = [name for folder, name in PLACES.items() if Path(frame.filename).is_relative_to(folder)]
        out.append(f"{within[0] if within else frame.filename} {frame.name}")
    return out


def chain(error: BaseException | None, seen: tuple[BaseException, ...] = ()) -> Any:
    if error is None or error in seen:
        return None
    java = getattr(error, "java_exception", None)
    return {
        "class": type(error).__qualname__,
        "message": NOISE.sub("", str(error)),
        "condition": getattr(error, "getCondition", lambda: "")() if java is None else str(java.getClass().getName()),
        "parameters": dict(getattr(error, "getMessageParameters", dict)() or {}) if java is None else {},
        "frames": frames(error),
        "cause": chain(error.__cause__, (*seen, error)),
        "context": chain(error.__context__, (*seen, error)),
        "suppressed": error.__suppress_context__,
        "notes": list(getattr(error, "__notes__", ())),
    }


def rows(spark: Any) -> Any:
    return spark.range(0, 20, 1, 1)


def path_exists(spark: Any, work: Path) -> None:
    rows(spark).write.parquet(str(work / "out"))
    rows(spark).write.parquet(str(work / "out"))


def of_a_batch(spark: Any, work: Path) -> None:
    rows(spark).write.parquet(str(work / "in"))

    def each(batch: Any, number: int) -> None:
        batch.write.parquet(str(work / "out"))
        raise LookupError("no such batch")

    lines = spark.readStream.schema("id LONG").parquet(str(work / "in"))
    writer = lines.writeStream.foreachBatch(each).option("checkpointLocation", str(work / "check"))
    writer.trigger(availableNow=True).start().awaitTermination(120)


def script(text: str) -> Callable[[Any, Path], None]:
    return lambda spark, work: spark.sql(text.format(work=work))


ERRORS: dict[str, Callable[[Any, Path], None]] = {
    "a function": lambda spark, work: (
        rows(spark).select(sf.udf(lambda x: 1 // (x - 3), "bigint")("id")).write.parquet(str(work / "out"))
    ),
    "a path that exists": path_exists,
    "a missing column": lambda spark, work: rows(spark).select("nothing").write.parquet(str(work / "out")),
    "a missing column in SQL": script(
        "INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT nothing FROM range(3)"
    ),
    "a missing table": lambda spark, work: rows(spark).write.insertInto("nothing_0027"),
    "an unknown format": lambda spark, work: rows(spark).write.format("nothing").save(str(work / "out")),
    "an option": lambda spark, work: rows(spark).write.option("compression", "nothing").parquet(str(work / "out")),
    "a type": lambda spark, work: rows(spark).selectExpr("make_interval(1) i").write.parquet(str(work / "out")),
    "a division": lambda spark, work: rows(spark).selectExpr("1 / (id - 3) x").write.parquet(str(work / "out")),
    "raise_error": script(
        "INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT raise_error('no', MAP()) FROM range(3)"
    ),
    "raise_error of a class": script("INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT raise_error('no')"),
    "syntax": script("INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT FROM WHERE"),
    "a SQL script": script("BEGIN INSERT OVERWRITE DIRECTORY '{work}/out' USING json SELECT raise_error('no'); END"),
    "a division in a SQL script": script(
        "BEGIN DECLARE n INT DEFAULT 1; INSERT OVERWRITE DIRECTORY '{work}/out' USING json"
        " SELECT 'the message quotes what is near' AS near, id / (n - 1) FROM range(3); END"
    ),
    "a Java writer": lambda spark, work: rows(spark)._jdf.write().format("nothing").save(str(work / "out")),
    "a batch of a stream": of_a_batch,
    "an assertion": lambda spark, work: rows(spark).selectExpr("assert_true(id < 3)").write.csv(str(work / "out")),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, spark: Any, tmp_path: Path) -> None:
    def run(work: Path) -> Any:
        with pytest.raises(Exception) as caught:
            ERRORS[name](spark, work)
        return chain(caught.value)

    plain, taken, capture = both(run, tmp_path)
    assert taken == plain
    assert capture.untracked == () or name == "a batch of a stream", capture.untracked
