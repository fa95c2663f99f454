"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.random_parts import COLUMNS, Operator, fixed, ordered
from oracle.relation import Relation

NUMBERS = ("monotonically_increasing_id()", "spark_partition_id() + 3", "index")


def _number_frame(way: int, df: Any) -> Any:
    if NUMBERS[way] != "index":
        return fixed(df).selectExpr("p", "q", f"CAST({NUMBERS[way]} AS BIGINT) AS r")
    from pyspark.pandas.internal import InternalFrame

    return InternalFrame.attach_distributed_sequence_column(fixed(df), "n").selectExpr("p", "q", "n AS r")


def _number(way: int, r: Relation) -> Relation:
    rows = ordered(r).rows
    return Relation.of(COLUMNS, [((v.p, v.q, 3 if way == 1 else i), w) for i, (v, w) in enumerate(rows)])


SHAPES: dict[str, Operator] = {
    "number": Operator((len(NUMBERS),), 1, _number_frame, _number, group="rows"),
}
