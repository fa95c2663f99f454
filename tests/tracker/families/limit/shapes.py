"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import limit
from oracle.random_parts import COLUMNS, Operator, ordered
from oracle.relation import Relation


def _ordered(df: Any) -> Any:
    return df.distinct().orderBy(*COLUMNS)


def _limit_frame(most: int, skip: int, df: Any) -> Any:
    return _ordered(df).offset(skip).limit(most + 1)


def _limit(most: int, skip: int, r: Relation) -> Relation:
    return limit(ordered(r), most + 1, skip)


SHAPES: dict[str, Operator] = {
    "limit": Operator((3, 2), 1, _limit_frame, _limit, group="rows"),
}
