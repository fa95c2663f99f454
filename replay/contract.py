"""What a rule of replay is, and what it is given."""

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
"""A pyspark DataFrame: the operation's columns by their labels, and the hidden ones."""


class Refused(Exception):  # noqa: N818 - no error of the user's: replay goes on beside the operation
    """An operation that can't be replayed, and why."""

    def __init__(self, operation: Operation, why: str) -> None:
        super().__init__(why)
        self.operation, self.why = operation, why


@dataclass(frozen=True, slots=True)
class Subquery:
    """A subquery of an operation's expressions.

    Parameters
    ----------
    owner, end : int
        The operation, and the subquery's last one.
    kind : {"scalar", "in", "exists"}
        The rows of a scalar one are context; the others let rows of the owner through.
    value : str
        Of an IN that the owner's condition demands: SQL of what has to be among the subquery's rows.
    """

    owner: int
    end: int
    kind: Literal["scalar", "in", "exists"]
    met: int = -1
    """Of an EXISTS or IN that the owner's condition demands: the operation whose rows let rows of the owner through."""
    condition: str = ""
    """SQL of which ones."""


class Kit(Protocol):
    """What a rule asks of the replay under way, an `Engine`. Children are named by their numbers."""

    operations: Sequence[Operation]

    def operation(self, index: int) -> Operation:
        """Return an operation."""

    def focus(self, index: int) -> Frame | None:
        """Return the rows in question after an operation; None where there are none."""

    def rest(self, index: int, where: str = "true") -> Frame:
        """Return an operation's other rows for which a condition holds: it is computed from whole sources."""

    def all(self, index: int, where: str = "true") -> Frame:
        """Return `focus` and `rest` together."""

    def alone(self, index: int) -> bool:
        """Whether an operation's rows in question are all that rows which are followed can derive from."""

    def whole(self, index: int) -> Frame:
        """Return all of an operation's rows in their order, none of which knows its parents."""

    def demanded(self, operation: Operation) -> list[Subquery]:
        """Return the EXISTS and INs that an operation's condition demands, where rows in question may meet them."""

    def sql(self, operation: Operation, expression: Expression) -> str:
        """Return an expression's text; its subqueries stand ready under the names that it uses."""

    def kept(self, operation: Operation, members: Sequence[Witnesses]) -> int:
        """Return which of some duplicates, each with its witnesses, Spark kept; `unsure` where the store can't know."""

    def keep(self, operation: Operation, frame: Frame) -> Frame:
        """Compute a frame for an operation, and keep its rows in the driver, numbered."""

    def merged(self, operation: Operation, parent: int, into: dict[str, Any], witness: Witnesses) -> None:
        """Take note that a kept row of the child was left for another one, which is told."""

    def unsure(self, operation: Operation, why: str) -> None:
        """Take note that what the operation did can't be known from its text alone."""


class ReplayRule:
    """How operations of one of Spark's nodes are done again. What it says beyond `build` and `focus` has defaults."""

    row_for_row = False
    """It makes one row of each row, of columns of which it says where they come from."""
    keeps_order = False
    """Its rows stand in the order of its child's."""
    demands = False
    """Its condition may demand EXISTS and IN of a row."""
    selects = False
    """It only computes and leaves out columns."""
    groups = False
    """It computes values of the rows of a group."""
    copies = False
    """It copies rows, and each copy has columns of its own."""
    keeps_one = False
    """It keeps one of some rows, and the store alone knows which."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """Return what the operation makes of its children's rows, all of which are given."""
        raise NotImplementedError

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """Return the rows in question after it."""
        raise NotImplementedError

    def of(self, operation: Operation) -> ReplayRule:
        """Return the rule for one operation, where it depends on more than its node."""
        return self

    def is_of_rows(self, operation: Operation) -> bool:
        """Whether each of its rows derives from a row, where each row of its children does."""
        return True

    def equates(self, operation: Operation) -> bool:
        """Whether its rows have equal values in columns that its conditions demand to be equal."""
        return False

    def cause(self, operation: Operation, before: int) -> Cause:
        """Say why rows of a child (its number) ended in it."""
        return "condition"

    def unsettled(self, operation: Operation, kit: Kit) -> str | None:
        """Say why Spark might make other rows of the same ones; "" where it can't, None where the functions tell."""
        return None

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        """Write the operation as SQL over its children, for a subquery that looks at the outer row."""
        raise Refused(operation, f"{operation.node} in a subquery that looks at the outer row is not replayed")

    def analysed(self, operation: Operation, frame: Frame, made: Any, kit: Kit) -> Any:
        """Return the tree that Spark makes of an expression of the operation, over the rows of its child."""
        raise Refused(operation, f"what a {operation.node} reads of each row is not told")


def condition_of(operation: Operation, kit: Kit) -> str:
    """Write what an operation demands of rows; ``true`` where that is nothing."""
    return " AND ".join(f"({kit.sql(operation, e)})" for e in of_role(operation, "condition")) or "true"


def of_role(operation: Operation, role: ExpressionRole) -> list[Expression]:
    """Return an operation's expressions that are for something."""
    return [e for e in operation.expressions if e.role == role]


def outputs(operation: Operation, kit: Kit, role: ExpressionRole = "output") -> list[str]:
    """Write an operation's columns: computed ones as their expressions, others as they are."""
    made = {e.column: e for e in of_role(operation, role) if e.column >= 0}
    return [
        named(kit.sql(operation, made[c.id]), c) if c.id in made else quoted(c.label)
        for c in distinct(operation.columns)
    ]


def select(frame: Frame, columns: Sequence[str]) -> Frame:
    """Take columns, written in SQL, and the hidden ones."""
    return chosen(frame, [*columns, *HIDDEN])


def united(frames: Sequence[Frame]) -> Frame | None:
    """Put frames of equal columns one behind the other."""
    if not frames:
        return None
    out = frames[0]
    for frame in frames[1:]:
        out = out.unionByName(frame)
    return out


def detail(operation: Operation, name: str, default: str = "") -> str:
    """Return a detail of an operation."""
    return dict(operation.details).get(name, default)
