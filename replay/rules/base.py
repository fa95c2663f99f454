"""What a rule of replay is, and what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from provspark.model.operations import Expression, ExpressionRole, Operation
from provspark.replay.columns import HIDDEN, distinct, named, quoted
from provspark.replay.java import chosen

if TYPE_CHECKING:
    from provspark.replay.subqueries import Subquery

Witness = Sequence[tuple[int, int]]
Frame = Any
"""A pyspark DataFrame: the operation's columns by their labels, and the hidden ones."""


class Refused(Exception):  # noqa: N818 - no error of the user's: replay goes on beside the operation
    """An operation that can't be replayed, and why."""

    def __init__(self, operation: Operation, why: str) -> None:
        super().__init__(why)
        self.operation, self.why = operation, why


class Kit(Protocol):
    """What a rule asks of the replay under way. Children are named by their number in the list of operations."""

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

    def kept(self, operation: Operation, members: Sequence[Witness]) -> int:
        """Return which of some duplicates, each with its witnesses, Spark kept; `unsure` where the store can't know."""

    def keep(self, operation: Operation, frame: Frame) -> Frame:
        """Compute a frame for an operation, and keep its rows in the driver, numbered."""

    def merged(self, operation: Operation, parent: int, into: dict[str, Any], witness: Witness) -> None:
        """Take note that a kept row of the child was left for another one, which is told."""

    def unsure(self, operation: Operation, why: str) -> None:
        """Take note that what the operation did can't be known from its text alone."""


class ReplayRule(Protocol):
    """One family of operations."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """Return what the operation makes of its children's rows, all of which are given."""

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """Return the rows in question after it."""


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
