"""Operators of random plans that keep rows, order them, or take some of them by their order."""

from __future__ import annotations

from itertools import count
from typing import Any

from oracle.operators import group, keep_first, limit, select, union, where
from oracle.random_parts import COLUMNS, KEYS, Operator, UnknownMeaningError, fixed, ordered, same, typed
from oracle.relation import Relation

_names = count()
OBSERVED: list[Any] = []
"""Observations of the frames that were made since it was cleared, in the order in which they were made."""
SORTS = (COLUMNS, ("-r", "q", "-p"))
"""Orders that leave only equal rows side by side in any order."""


def _ordered(df: Any) -> Any:
    return df.distinct().orderBy(*COLUMNS)


def _limit_frame(most: int, skip: int, df: Any) -> Any:
    return _ordered(df).offset(skip).limit(most + 1)


def _limit(most: int, skip: int, r: Relation) -> Relation:
    return limit(ordered(r), most + 1, skip)


SAMPLES = ((False, 0.5, 7), (True, 1.5, 3), (False, 1.0, 1), (True, 0.6, 11))


def _sample_frame(i: int, df: Any) -> Any:
    replaced, fraction, seed = SAMPLES[i]
    return fixed(df).sample(replaced, fraction, seed)


def _sample(i: int, r: Relation) -> Relation:
    """Which places are drawn depends on their number alone: plain Spark draws from as many numbers."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    replaced, fraction, seed = SAMPLES[i]
    rows = ordered(r).rows
    drawn = spark.range(0, len(rows), 1, 1).sample(replaced, fraction, seed).collect()
    return Relation.of(COLUMNS, [rows[row.id] for row in drawn])


MOVES = (
    lambda df: df.repartition(3),
    lambda df: df.repartition("p"),
    lambda df: df.repartitionByRange(2, "r"),
    lambda df: df.coalesce(1),
    lambda df: df.hint("rebalance"),
    lambda df: df.hint("rebalance", 2, "p"),
    lambda df: df.hint("broadcast"),
    lambda df: df.hint("shuffle_hash"),
    lambda df: df.sortWithinPartitions("r"),
    lambda df: df.orderBy("q", "p"),
    lambda df: df.alias("moved"),
    lambda df: (lambda wide: wide.drop(wide.x))(df.withColumn("x", df.r + 1)),
    lambda df: df.withColumnRenamed("p", "x").withColumnRenamed("x", "p"),
    lambda df: df.sparkSession.sql("SELECT * FROM {d} LIMIT ALL", d=df),
    lambda df: df.limit(10**6),
    lambda df: df.na.drop("all"),
)


def _move(i: int, r: Relation) -> Relation:
    full = MOVES[i] is MOVES[-1]
    return where(r, lambda v: any(x is not None for x in v)) if full else r


def _observe_frame(df: Any) -> Any:
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    OBSERVED.append(Observation(f"observed{next(_names)}"))
    return df.observe(OBSERVED[-1], sf.count(sf.lit(1)).alias("n"), sf.sum("r").alias("s"))


def _watermark_frame(df: Any) -> Any:
    return df.selectExpr("*", "timestamp_seconds(pmod(r, 9)) AS t").withWatermark("t", "1 day").select(*COLUMNS)


def _kept_frame(way: int, df: Any) -> Any:
    from pyspark import StorageLevel

    if way == 0:
        return df.localCheckpoint()
    if way == 1:
        return df.localCheckpoint(eager=False)
    if way == 4:
        return df.checkpoint()
    return df.persist(StorageLevel.DISK_ONLY if way == 2 else StorageLevel.MEMORY_ONLY)


def _sort_frame(i: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    return df.orderBy(*[sf.col(c.removeprefix("-")).desc() if c[0] == "-" else sf.col(c) for c in SORTS[i]])


def _first_frame(keys: int, df: Any) -> Any:
    return fixed(df).dropDuplicates(list(KEYS[keys]))


def _first(keys: int, r: Relation) -> Relation:
    return keep_first(ordered(r), KEYS[keys])


NUMBERS = ("monotonically_increasing_id()", "spark_partition_id() + 3", "index")


def _number_frame(way: int, df: Any) -> Any:
    if NUMBERS[way] != "index":
        return fixed(df).selectExpr("p", "q", f"CAST({NUMBERS[way]} AS BIGINT) AS r")
    from pyspark.pandas.internal import InternalFrame

    return InternalFrame.attach_distributed_sequence_column(fixed(df), "n").selectExpr("p", "q", "n AS r")


def _number(way: int, r: Relation) -> Relation:
    rows = ordered(r).rows
    return Relation.of(COLUMNS, [((v.p, v.q, 3 if way == 1 else i), w) for i, (v, w) in enumerate(rows)])


SPANS = ("4 seconds", "4 seconds', '2 seconds")


def _time_frame(sliding: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    timed = df.selectExpr("*", "timestamp_seconds(pmod(r, 20)) AS t")
    made = timed.groupBy(sf.expr(f"window(t, '{SPANS[sliding]}')").alias("w")).agg(sf.max("p").alias("m"))
    return made.selectExpr(*typed("m", "NULL", "unix_seconds(w.start)"))


def _time(sliding: int, r: Relation) -> Relation:
    timed = where(r, lambda v: v.r is not None)

    def starting(back: int) -> Relation:
        step = 2 if sliding else 4
        return select(timed, "p", start=lambda v: v.r % 20 // step * step - back)

    every = union(starting(0), starting(2)) if sliding else starting(0)
    made = group(every, ("start",), m=lambda rows: max((v.p for v in rows if v.p is not None), default=None))
    return select(made, p=lambda v: v.m, q=lambda v: None, r=lambda v: v.start)


def _transpose_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    one = df.agg(sf.max("p").alias("p"), sf.max("r").alias("r"))
    turned = one.selectExpr("'v' AS k", "CAST(p AS BIGINT) AS p", "r").transpose("k")
    return turned.selectExpr(*typed("NULL", "key", "v"))


def _transpose(r: Relation) -> Relation:
    def most(name: str) -> Any:
        return lambda rows: max((getattr(v, name) for v in rows if getattr(v, name) is not None), default=None)

    made = group(r, (), a=most("p"), b=most("r"))
    return union(
        select(made, p=lambda v: None, q=lambda v: "p", r=lambda v: v.a),
        select(made, p=lambda v: None, q=lambda v: "r", r=lambda v: v.b),
    )


def _by_name_frame(a: Any, b: Any) -> Any:
    from pyspark.sql import functions as sf

    return a.unionByName(b.select("r", "p"), allowMissingColumns=True).withColumn("q", sf.col("q"))


FAILS = ("r DIV p", "if(r = 2, CAST(raise_error('two') AS BIGINT), r)", "if(assert_true(p < 3) IS NULL, r, 0)")
"""Which rows of these fail plainly, fail captured as well: an error of the user's own."""


def _fails_frame(i: int, df: Any) -> Any:
    return df.selectExpr("p", "q", f"{FAILS[i]} AS r")


def _fails(i: int, r: Relation) -> Relation:
    if any((v.p == 0, v.r == 2, v.p is None or v.p >= 3)[i] for v, _ in r.rows):
        raise UnknownMeaningError
    return select(r, "p", "q", r=lambda v: (None if None in (v.r, v.p) else int(v.r / v.p)) if i == 0 else v.r)


ROWS: dict[str, Operator] = {
    "fails": Operator((len(FAILS),), 1, _fails_frame, _fails),
    "limit": Operator((3, 2), 1, _limit_frame, _limit),
    "sample": Operator((len(SAMPLES),), 1, _sample_frame, _sample),
    "move": Operator((len(MOVES),), 1, lambda i, df: MOVES[i](df), _move),
    "observe": Operator((), 1, _observe_frame, same),
    "watermark": Operator((), 1, _watermark_frame, same),
    "sort": Operator((len(SORTS),), 1, _sort_frame, lambda i, r: r),
    "kept": Operator((5,), 1, _kept_frame, lambda way, r: r),
    "first of": Operator((len(KEYS) - 1,), 1, _first_frame, _first),
    "number": Operator((len(NUMBERS),), 1, _number_frame, _number),
    "time window": Operator((len(SPANS),), 1, _time_frame, _time),
    "transpose": Operator((), 1, _transpose_frame, _transpose),
    "union by name": Operator(
        (), 2, _by_name_frame, lambda a, b: union(a, select(b, "p", q=lambda v: None, r=lambda v: v.r))
    ),
}
