"""Operators of this family in random plans."""

from __future__ import annotations

from oracle.operators import intersect, intersect_all, subtract, subtract_all
from oracle.random_parts import Operator

SHAPES: dict[str, Operator] = {
    "intersect": Operator((), 2, lambda a, b: a.intersect(b), intersect, group="core"),
    "except": Operator((), 2, lambda a, b: a.subtract(b), subtract, group="core"),
    "intersect all": Operator((), 2, lambda a, b: a.intersectAll(b), intersect_all),
    "except all": Operator((), 2, lambda a, b: a.exceptAll(b), subtract_all),
}
