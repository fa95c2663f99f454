"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import distinct, keep_first
from oracle.random_parts import KEYS, Operator, fixed, ordered, sql
from oracle.relation import Relation


def _first_frame(keys: int, df: Any) -> Any:
    return fixed(df).dropDuplicates(list(KEYS[keys]))


def _first(keys: int, r: Relation) -> Relation:
    return keep_first(ordered(r), KEYS[keys])


SHAPES: dict[str, Operator] = {
    "distinct": Operator((), 1, lambda df: df.distinct(), distinct, group="core"),
    "first of": Operator((len(KEYS) - 1,), 1, _first_frame, _first, group="rows"),
    "select distinct": Operator((), 1, sql("SELECT DISTINCT * FROM {d}"), distinct, group="sql"),
}
