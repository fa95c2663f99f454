"""Cells that are null because an outer join found no match: the join is among their operations, with the side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _steps import identity, publish, version

import provspark
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Field
from provspark.model.operations import Column, ColumnLink, Expression, Operation, Operations, Term
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis

ID, NAME, KEY, AMOUNT, UPPER = (
    Column(i, n, "string") for i, n in enumerate(("id", "name", "key", "amount", "upper"), 1)
)
JOINED = (ID, NAME, KEY, AMOUNT)
LEFT, RIGHT = "no match on the left side", "no match on the right side"


def made(name: str, columns: Sequence[Column], rows: int, *, written: bool = True) -> PendingVersion:
    fields = tuple(Field(c.name, c.type) for c in columns)
    return replace(version(name, {"f": rows}, ["f"] * written), fields=fields)


def source(index: int, columns: tuple[Column, ...], axis: int) -> Operation:
    return Operation(index, "Relation", ("source",), f"read {axis}", columns=columns, axes=(axis,))


def join(
    index: int, kind: str, children: tuple[int, ...], columns: tuple[Column, ...], keys: tuple[int, int]
) -> Operation:
    links = tuple(ColumnLink(-1, key, "join") for key in keys)
    return Operation(
        index,
        "Join",
        ("join",),
        f"{kind.lower()} join",
        children,
        columns=columns,
        links=links,
        details=(("type", kind),),
    )


def upper(index: int, child: int) -> Operation:
    terms = (Term("Upper", "upper", -1, 1), Term("Ref", "amount", AMOUNT.id))
    expression = Expression("output", "upper(`amount#4`)", terms, UPPER.id)
    link = ColumnLink(UPPER.id, AMOUNT.id, "transformation")
    text = "upper = upper(amount)"
    columns = (*JOINED, UPPER)
    return Operation(index, "Project", ("vertical augmentation",), text, (child,), (), columns, (expression,), (link,))


def written(
    output: PendingVersion, readings: Sequence[tuple[PendingVersion, Any]], *operations: Operation
) -> PendingWrite:
    axes = [Axis("output", output.files.total, identity(output))]
    axes += [Axis("input", v.files.total, identity(v), 0) for v, _ in readings]
    tensors = [
        PendingTensor(0, number, from_pairs(*np.array(sorted(pairs)).T))
        for number, (_, pairs) in enumerate(readings, 1)
    ]
    inputs = tuple(v for v, _ in readings)
    return PendingWrite(output, "exact", inputs, tuple(axes), tensors, operations=Operations(operations))


PEOPLE, ORDERS = made("/people", (ID, NAME), 3, written=False), made("/orders", (KEY, AMOUNT), 3, written=False)
MATCHED = {"LEFT OUTER": (3, [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 2)])}
MATCHED["RIGHT OUTER"] = (3, [(0, 0), (1, 1)], [(0, 0), (1, 2), (2, 1)])
MATCHED["FULL OUTER"] = (4, [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 2), (3, 1)])


@pytest.fixture(params=MATCHED)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def prov(tmp_path: Path, kind: str) -> Any:
    """/joined has a left row without a match (2), or a right one; /copied has its last rows, in another order."""
    store = Store.open(str(tmp_path / "store"), create=True)
    rows, left, right = MATCHED[kind]
    operations = (
        source(0, (ID, NAME), 1),
        source(1, (KEY, AMOUNT), 2),
        join(2, kind, (0, 1), JOINED, (1, 3)),
        upper(3, 2),
    )
    output = made("/joined", (*JOINED, UPPER), rows)
    publish(store, "join", written(output, [(PEOPLE, left), (ORDERS, right)], *operations))
    read = made("/joined", (*JOINED, UPPER), rows, written=False)
    again = (Operation(0, "Relation", ("source",), "read /joined", columns=(*JOINED, UPPER), axes=(1,)),)
    back = [(k, rows - 1 - k) for k in range(rows)]
    publish(store, "copy", written(made("/copied", (*JOINED, UPPER), rows), [(read, back)], *again))
    return provspark.open(store.url)


def roles(prov: Any, dataset: str, row: int, column: str) -> tuple[int, list[str], list[tuple[str, str | None]]]:
    """The lines of a cell, the texts of the join among its operations, and of each path that has one its columns."""
    told = prov.how(dataset, [row], column)
    joins = [(i, line.text) for i, line in told.lines() if "outer join" in line.text]
    return told.table().num_rows, [text for _, text in joins], [told.columns[i] for i, _ in joins]


def test_a_cell_without_a_match_has_the_join(prov: Any, kind: str) -> None:
    rows, left, right = MATCHED[kind]
    for number in range(rows):
        sides = {"name": (number in dict(left), LEFT), "amount": (number in dict(right), RIGHT)}
        for column, (matched, why) in sides.items():
            for dataset, row in (("/joined", number), ("/copied", rows - 1 - number)):
                told = roles(prov, dataset, row, column)
                if matched:
                    assert told == (1, [], []), (dataset, row, column)
                else:
                    assert told == (0, [f"{kind.lower()} join: {why}"], [(column, None)]), (dataset, row, column)


def test_what_is_computed_of_it_has_both_operations(prov: Any, kind: str) -> None:
    _, _, right = MATCHED[kind]
    for row in {0, 1, 2} - {r for r, _ in right}:
        texts = [line.text for _, line in prov.how("/joined", [row], "upper").lines()]
        assert texts == [f"{kind.lower()} join: {RIGHT}", "upper = upper(amount)"]


def test_no_cell_is_found_for_it(prov: Any, kind: str) -> None:
    """Cells and rows found stay those that a value came from."""
    rows, left, right = MATCHED[kind]
    table = prov.cells("/joined", columns=["name", "amount"]).table().to_pylist()
    assert {(x["row"], x["column"], x["related_row"]) for x in table} == {
        *((a, "name", b) for a, b in left),
        *((a, "amount", b) for a, b in right),
    }
    assert all(x["exact"] for x in table)
    for row in range(rows):
        assert len(prov.cells("/joined", [row], "amount")) == sum(a == row for a, _ in right)
    lacking = {0, 1, 2} - {row for row, _ in right}
    for row in range(3):
        texts = [x["text"] for x in prov.operations("/joined", [row], "amount")]
        assert (f"{kind.lower()} join" in texts) == (row in lacking)


def test_an_inner_join_has_no_such_role(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    operations = (source(0, (ID, NAME), 1), source(1, (KEY, AMOUNT), 2), join(2, "INNER", (0, 1), JOINED, (1, 3)))
    readings = [(PEOPLE, [(0, 0), (1, 1)]), (ORDERS, [(0, 0), (1, 2)])]
    publish(store, "join", written(made("/joined", JOINED, 2), readings, *operations))
    prov = provspark.open(store.url)
    assert [roles(prov, "/joined", row, "amount") for row in (0, 1)] == [(1, [], [])] * 2


def test_of_two_joins_the_one_without_a_match_is_named(tmp_path: Path) -> None:
    """people ⟕ (orders ⟕ notes): a person without an order lacks the note for want of the order."""
    note_id, note = Column(6, "note_id", "string"), Column(7, "note", "string")
    notes = made("/notes", (note_id, note), 1, written=False)
    inner = (KEY, AMOUNT, note_id, note)
    operations = (
        *(source(0, (ID, NAME), 1), source(1, (KEY, AMOUNT), 2), source(2, (note_id, note), 3)),
        *(join(3, "LEFT OUTER", (1, 2), inner, (3, 6)), join(4, "LEFT OUTER", (0, 3), (ID, NAME, *inner), (1, 3))),
    )
    readings = [(PEOPLE, [(0, 0), (1, 1), (2, 2)]), (ORDERS, [(0, 0), (1, 2)]), (notes, [(0, 0)])]
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "join", written(made("/joined", (ID, NAME, *inner), 3), readings, *operations))
    prov = provspark.open(store.url)
    missing = {
        row: [line.operations for _, line in prov.how("/joined", [row], "note").lines() if RIGHT in line.text]
        for row in range(3)
    }
    assert missing == {0: [], 1: [(3,)], 2: [(4,)]}
