"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import group, select, union
from oracle.random_parts import Operator, typed
from oracle.relation import Relation


def _cached(df: Any) -> Any:
    return df.cache()


def _kept_frame(way: int, df: Any) -> Any:
    from pyspark import StorageLevel

    if way == 0:
        return df.localCheckpoint()
    if way == 1:
        return df.localCheckpoint(eager=False)
    if way == 4:
        return df.checkpoint()
    return df.persist(StorageLevel.DISK_ONLY if way == 2 else StorageLevel.MEMORY_ONLY)


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


SHAPES: dict[str, Operator] = {
    "cache": Operator((), 1, _cached, lambda r: r, spread="piped"),
    "kept": Operator((5,), 1, _kept_frame, lambda way, r: r, group="rows", spread="piped"),
    "transpose": Operator((), 1, _transpose_frame, _transpose, group="rows"),
}
