"""Operators of this family in random plans."""

from __future__ import annotations

from oracle.operators import where
from oracle.random_parts import Operator
from oracle.relation import Relation

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


SHAPES: dict[str, Operator] = {
    "move": Operator((len(MOVES),), 1, lambda i, df: MOVES[i](df), _move, group="rows"),
}
