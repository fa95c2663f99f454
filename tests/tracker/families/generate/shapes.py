"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.functions import GENERATORS, TABLE_FUNCTIONS, folded
from oracle.operators import explode, select
from oracle.random_computed import computed
from oracle.random_parts import COLUMNS, Operator
from oracle.relation import Relation


def _explode_frame(df: Any) -> Any:
    items = "explode(CASE WHEN p IS NOT NULL THEN array(r, CAST(p AS bigint)) ELSE array() END)"
    return df.selectExpr("p", "q", f"{items} AS r")


def _explode(r: Relation) -> Relation:
    lists = select(r, "p", "q", items=lambda v: [] if v.p is None else [v.r, v.p])
    return select(explode(lists, "items"), "p", "q", r=lambda v: v.col)


SIDES = ("LATERAL VIEW", "LATERAL VIEW OUTER")
JOINS = (", LATERAL", " LEFT JOIN LATERAL")


def _generator_frame(i: int, side: int, df: Any) -> Any:
    generator, columns, value = GENERATORS[i]
    text = f"SELECT p, q, {folded(value, 'r')} AS r FROM (SELECT * FROM {{d}}) {SIDES[side]} {generator} t AS {columns}"
    return df.sparkSession.sql(text, d=df)


def _generator(i: int, side: int, r: Relation) -> Relation:
    generator, columns, value = GENERATORS[i]
    return _made(r, f"SELECT nr, {folded(value, 'r')} FROM {{rows}} {SIDES[side]} {generator} t AS {columns}")


def _made(r: Relation, text: str) -> Relation:
    rows = [(r.rows[place], value) for place, value in computed(text, r)]
    return Relation.of(COLUMNS, [((v.p, v.q, value), w) for (v, w), value in rows])


def _table_function(i: int, join: int, rows: str) -> str:
    function, columns, value = TABLE_FUNCTIONS[i]
    on = " ON true" if join else ""
    return f"{folded(value, 'r')} AS r FROM {rows}{JOINS[join]} {function} AS t({columns}){on}"


def _table_frame(i: int, join: int, df: Any) -> Any:
    return df.sparkSession.sql(f"SELECT p, q, {_table_function(i, join, '{d}')}", d=df)


def _table(i: int, join: int, r: Relation) -> Relation:
    return _made(r, f"SELECT nr, {_table_function(i, join, '{rows}')}")


SHAPES: dict[str, Operator] = {
    "explode": Operator((), 1, _explode_frame, _explode, group="core", spread="piped"),
    "generator": Operator(
        (len(GENERATORS), len(SIDES)), 1, _generator_frame, _generator, group="functions", spread="piped"
    ),
    "table function": Operator((len(TABLE_FUNCTIONS), len(JOINS)), 1, _table_frame, _table, group="functions"),
}
