"""Interfaces of replay: the rule for an operation (`ReplayRule`), and what a rule may call (`Kit`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from provspark.model.operations import Expression, ExpressionRole, Operation
from provspark.replay.columns import HIDDEN, distinct, named, quoted
from provspark.replay.java import chosen
from provspark.replay.records import Cause

Witnesses = Sequence[tuple[int, int]]
Frame = Any
"""A pyspark DataFrame with an operation's columns, named by their labels, and the hidden columns."""


class Refused(Exception):  # noqa: N818 - not an error for users: the replay goes on without the operation
    """An operation can't be replayed; `why` has the reason."""

    def __init__(self, operation: Operation, why: str) -> None:
        super().__init__(why)
        self.operation, self.why = operation, why


@dataclass(frozen=True, slots=True)
class Subquery:
    """A subquery in an operation's expressions.

    Parameters
    ----------
    owner, end : int
        The operation, and the last operation of the subquery.
    kind : {"scalar", "in", "exists"}
        The rows of a scalar subquery are context. Those of the others decide which rows of the owner pass.
    """

    owner: int
    end: int
    kind: Literal["scalar", "in", "exists"]
    met: int = -1
    """For an EXISTS or IN that must be true: the operation whose rows let rows of the owner pass; otherwise -1."""
    condition: str = ""
    """SQL condition between such a row and the row of the owner that it lets pass."""


class Kit(Protocol):
    """The running replay, as rules see it; `Engine` implements it. Operations are identified by their numbers."""

    operations: Sequence[Operation]

    def operation(self, index: int) -> Operation:
        """Return an operation."""

    def focus(self, index: int) -> Frame | None:
        """Return the replayed rows after an operation; None if there are none."""

    def rest(self, index: int, where: str = "true") -> Frame:
        """Return the other rows after an operation that satisfy a condition, computed from whole sources."""

    def all(self, index: int, where: str = "true") -> Frame:
        """Return the rows of `focus` and `rest`."""

    def alone(self, index: int) -> bool:
        """Whether replayed rows of later operations can come only from the replayed rows after this operation."""

    def whole(self, index: int) -> Frame:
        """Return all rows after an operation in their order, without their parents."""

    def demanded(self, operation: Operation) -> list[Subquery]:
        """Return the EXISTS and IN subqueries that an operation requires and that have replayed rows."""

    def sql(self, operation: Operation, expression: Expression) -> str:
        """Return the SQL of an expression, after creating the views of its subqueries."""

    def kept(self, operation: Operation, members: Sequence[Witnesses]) -> int:
        """Return the number of the duplicate that Spark kept, by the witnesses of each. If not known, call `unsure`."""

    def keep(self, operation: Operation, frame: Frame) -> Frame:
        """Compute a DataFrame for an operation, and keep its rows, numbered, on the driver."""

    def merged(self, operation: Operation, parent: int, into: dict[str, Any], witness: Witnesses) -> None:
        """Record that a kept row of the child was dropped as a duplicate of another one (`into`, `witness`)."""

    def unsure(self, operation: Operation, why: str) -> None:
        """Record that the stored text of an operation does not determine what it did."""


class ReplayRule:
    """Rule for replaying the operations of a Spark node. All members except `build` and `focus` have defaults."""

    row_for_row = False
    """It makes one row from each row, and records where each column comes from."""
    keeps_order = False
    """It keeps the order of its child's rows."""
    demands = False
    """Its condition may require EXISTS and IN subqueries."""
    selects = False
    """It only computes or drops columns."""
    groups = False
    """It computes values from the rows of a group."""
    copies = False
    """It copies rows, and each copy has its own column expressions."""
    keeps_one = False
    """It keeps one of several rows, and only the store knows which."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """Return the operation's rows, computed from all rows of its children."""
        raise NotImplementedError

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """Return the replayed rows after the operation."""
        raise NotImplementedError

    def of(self, operation: Operation) -> ReplayRule:
        """Return the rule for an operation, if it depends on more than the node."""
        return self

    def is_of_rows(self, operation: Operation) -> bool:
        """Whether each row of the operation comes from a row, if each row of its children does."""
        return True

    def equates(self, operation: Operation) -> bool:
        """Whether columns that its conditions compare with ``=`` have equal values in each of its rows."""
        return False

    def cause(self, operation: Operation, before: int) -> Cause:
        """Return why the operation dropped rows of a child, identified by its number."""
        return "condition"

    def unsettled(self, operation: Operation, kit: Kit) -> str | None:
        """Return why Spark might compute other rows from the same input.

        "" if it can't; None if this depends only on the functions in its expressions.
        """
        return None

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        """Return the operation as SQL over its children, for a correlated subquery."""
        raise Refused(operation, f"{operation.node} in a subquery that uses the outer row is not replayed")

    def analysed(self, operation: Operation, frame: Frame, made: Any, kit: Kit) -> Any:
        """Return Spark's analysed tree of an expression of the operation, over the rows of its child."""
        raise Refused(operation, f"the columns that a {operation.node} reads for each row are not known")


def condition_of(operation: Operation, kit: Kit) -> str:
    """Return an operation's condition in SQL; ``true`` if it has none."""
    return " AND ".join(f"({kit.sql(operation, e)})" for e in of_role(operation, "condition")) or "true"


def of_role(operation: Operation, role: ExpressionRole) -> list[Expression]:
    """Return the operation's expressions of a role."""
    return [e for e in operation.expressions if e.role == role]


def outputs(operation: Operation, kit: Kit, role: ExpressionRole = "output") -> list[str]:
    """Return an operation's columns in SQL: computed ones with their expressions, others by name."""
    made = {e.column: e for e in of_role(operation, role) if e.column >= 0}
    return [
        named(kit.sql(operation, made[c.id]), c) if c.id in made else quoted(c.label)
        for c in distinct(operation.columns)
    ]


def select(frame: Frame, columns: Sequence[str]) -> Frame:
    """Select columns, written in SQL, and the hidden columns."""
    return chosen(frame, [*columns, *HIDDEN])


def united(frames: Sequence[Frame]) -> Frame | None:
    """Return the union of DataFrames with the same columns; None if there are none."""
    if not frames:
        return None
    out = frames[0]
    for frame in frames[1:]:
        out = out.unionByName(frame)
    return out


def detail(operation: Operation, name: str, default: str = "") -> str:
    """Return a detail of an operation by its name."""
    return dict(operation.details).get(name, default)
