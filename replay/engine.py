"""Replay the operations of one write for some rows of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provspark.model.operations import Expression, Operation
from provspark.model.progress import Progress
from provspark.replay.columns import FOCUS, NUMBER, PARENT, WITNESS, labels, plain
from provspark.replay.contract import Frame, Refused, ReplayRule, Subquery, Witnesses
from provspark.replay.functions import Functions
from provspark.replay.java import chosen
from provspark.replay.narrow import NarrowRule
from provspark.replay.rules import NONE, not_replayed, replay_rule
from provspark.replay.session import Session, told_by_spark
from provspark.replay.sources import Sources
from provspark.replay.subqueries import stand_in, subqueries_of
from provspark.replay.write_rows import KeptOf

__all__ = ["Engine", "Kept", "Merged"]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The replayed rows after an operation, kept on the driver."""

    frame: Frame
    cut: bool
    """There were more rows than a replay follows."""
    pickled: bytes
    """The same rows as a pickle, if all columns are plain; see `Session.pickled`."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A row that was dropped as a duplicate, and the row that was kept."""

    operation: int
    parent: int
    into: tuple[tuple[str, Any], ...]
    witness: tuple[tuple[int, int], ...]


@dataclass
class Engine:
    """One replay. `run` fills `kept_rows` for each operation that replayed rows reach.

    Parameters
    ----------
    operations : sequence of Operation
    focus_rows : mapping of int to sequence of int
        Ids of the selected rows, by the number of their source operation.
    kept_of : KeptOf
        Determines which of several duplicates Spark kept.
    functions : Functions
        Registers user-defined functions, if they may run.
    all_witnesses : bool
        Whether the other rows that operations need also have witnesses.
    """

    session: Session
    sources: Sources
    operations: Sequence[Operation]
    focus_rows: Mapping[int, Sequence[int]]
    kept_of: KeptOf
    functions: Functions
    all_witnesses: bool = False
    closed: bool = False
    """Rows that came partly from rows that are not selected are not followed."""
    progress: Progress | None = None
    kept_rows: dict[int, Kept] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    """Why rows can't be followed through an operation, by operation."""
    unfollowed: dict[int, str] = field(default_factory=dict)
    """What is not known about an operation, by operation."""
    doubts: dict[int, set[str]] = field(default_factory=dict)
    merges: list[Merged] = field(default_factory=list)
    within: dict[int, Subquery] = field(init=False)
    """The subquery that an operation belongs to, by operation."""
    _wholes: dict[int, Frame] = field(default_factory=dict)
    _touched: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.within = subqueries_of(self.operations)

    def run(self) -> None:
        """Follow the selected rows through all operations that they reach."""
        every = self.operations
        for done, operation in enumerate(every):
            if self.progress is not None:
                self.progress(done, len(every), operation.text)
            self.session.check()
            if not self._is_met(operation):
                continue
            with self.session.running(operation.text):
                try:
                    frame = self._after(operation)
                    if frame is None:
                        continue
                    self.session.expect(self._behind(operation))
                    kept, count = self.session.keep(frame)
                    rows = self.session.pickled() if count and plain(operation.columns) else b""
                except Refused as e:
                    self.refused[operation.index] = e.why
                    if e.operation.index != operation.index:
                        self.refused[operation.index] = f"it needs the rows of {e.operation.text!r}: {e.why}"
                    continue
                except Exception as e:
                    self.session.check()
                    self.refused[operation.index] = told_by_spark(e)
                    continue
            if count:
                self.kept_rows[operation.index] = Kept(kept, count > self.session.most, rows)
        if self.progress is not None:
            self.progress(len(every), len(every), "")

    def _behind(self, operation: Operation) -> int:
        """Return the number of source rows that an operation reads in addition to the replayed rows."""
        alone = not operation.subqueries and (
            not operation.children or isinstance(replay_rule(operation.node), NarrowRule)
        )
        return 0 if alone else sum(self.sources.scanned.values())

    def _is_met(self, operation: Operation) -> bool:
        """Whether replayed rows reach an operation and can be followed further."""
        within = self.within.get(operation.index)
        if within is not None and within.kind != "scalar" and within.met < 0 and self._is_touched(within.end):
            self.unfollowed[within.owner] = "it is not known which rows its EXISTS or IN let pass for the selected rows"
        if within is not None and not self._is_under(within.met, operation.index):
            return False
        met = operation.index in self.focus_rows or any(c in self.kept_rows for c in operation.children)
        return met or bool(self.demanded(operation))

    def _is_under(self, top: int, index: int) -> bool:
        """Whether the operation `index` is `top` or one below it."""
        return top == index or (top > index and any(self._is_under(c, index) for c in self.operation(top).children))

    def _after(self, operation: Operation) -> Frame | None:
        if not operation.children:
            rows = self.focus_rows.get(operation.index)
            return self.sources.taken(operation, rows) if rows else None
        if any(c in self.refused for c in operation.children):
            raise Refused(operation, "an operation before it could not be replayed, so rows may be missing")
        rule = self._rule(operation)
        frame = rule.focus(operation, self)
        if frame is None or not self.closed or (isinstance(rule, NarrowRule) and not operation.subqueries):
            return frame
        return frame.filter(self._mine())

    def _mine(self) -> str:
        """Return the SQL condition of the rows to follow: those from selected rows and, if `closed`, from no others."""
        if not self.closed:
            return FOCUS
        some = {op: ", ".join(map(str, rows)) for op, rows in self.focus_rows.items() if rows}
        known = " ".join(f"WHEN {op} THEN w.row IN ({rows})" for op, rows in some.items())
        return f"{FOCUS} AND forall({WITNESS}, w -> CASE w.op {known} ELSE false END)"

    def _rule(self, operation: Operation) -> ReplayRule:
        rule = replay_rule(operation.node)
        if rule is NONE:
            raise Refused(operation, operation.opaque or not_replayed(operation.node))
        own = rule.of(operation)
        if operation.opaque and own is rule:
            self.functions.admit(operation)
        return own

    # -- called by rules

    def operation(self, index: int) -> Operation:
        """See `Kit`."""
        return self.operations[index]

    def focus(self, index: int) -> Frame | None:
        """See `Kit`."""
        kept = self.kept_rows.get(index)
        if kept is None:
            return None
        parent = f"array(named_struct('op', {index}, 'row', {NUMBER})) AS {PARENT}"
        return chosen(kept.frame, [*labels(self.operation(index).columns), WITNESS, parent, FOCUS])

    def rest(self, index: int, where: str = "true") -> Frame:
        """See `Kit`."""
        whole = self.whole(index).filter(where)
        return whole.filter(f"NOT ({self._mine()})") if self._is_touched(index) else whole

    def all(self, index: int, where: str = "true") -> Frame:
        """See `Kit`."""
        rest, mine = self.rest(index, where), self.focus(index)
        return rest if mine is None else mine.filter(where).unionByName(rest)

    def alone(self, index: int) -> bool:
        """See `Kit`."""
        return self.closed and self.all_witnesses and self._is_of_rows(index)

    def _is_of_rows(self, index: int) -> bool:
        """Whether each of an operation's rows comes from a row of a stored dataset."""
        operation = self.operation(index)
        if not operation.children:
            return self.sources.is_stored(operation)
        return replay_rule(operation.node).is_of_rows(operation) and all(
            self._is_of_rows(c) for c in operation.children
        )

    def whole(self, index: int) -> Frame:
        """See `Kit`."""
        frame = self._wholes.get(index)
        if frame is None:
            operation = self.operation(index)
            if operation.children:
                rule = self._rule(operation)
                frame = rule.build(operation, [self.whole(c) for c in operation.children], self)
            else:
                frame = self._whole_source(operation)
            self._wholes[index] = frame
        return frame

    def demanded(self, operation: Operation) -> list[Subquery]:
        """See `Kit`."""
        owned = {s for s in self.within.values() if s.owner == operation.index and s.met in self.kept_rows}
        return sorted(owned, key=lambda s: s.end)

    def sql(self, operation: Operation, expression: Expression) -> str:
        """See `Kit`."""
        if not expression.sql:
            raise Refused(operation, operation.opaque or "the SQL of one of its expressions is not stored")
        return stand_in(operation, expression.sql, self)

    def keep(self, operation: Operation, frame: Frame) -> Frame:
        """See `Kit`."""
        kept, count = self.session.keep(frame)
        if count > self.session.most:
            raise Refused(operation, f"it compares more than {self.session.most:,} rows, the limit of a replay")
        return kept

    def kept(self, operation: Operation, members: Sequence[Witnesses]) -> int:
        """See `Kit`."""
        place = self.kept_of(members) if len(members) > 1 else 0
        if place is None:
            self.unsure(operation, "it is not known which duplicate Spark kept; the replay keeps the first by row id")
            place = self.kept_of.taken(members)
        return place

    def merged(self, operation: Operation, parent: int, into: dict[str, Any], witness: Witnesses) -> None:
        """See `Kit`."""
        self.merges.append(Merged(operation.index, parent, tuple(into.items()), tuple(witness)))

    def unsure(self, operation: Operation, why: str) -> None:
        """See `Kit`."""
        self.doubts.setdefault(operation.index, set()).add(why)

    def _whole_source(self, operation: Operation) -> Frame:
        if operation.opaque:
            raise Refused(operation, operation.opaque)
        mine = self.focus_rows.get(operation.index, ())
        return self.sources.whole(operation, mine, all_witnesses=self.all_witnesses)

    def _is_touched(self, index: int) -> bool:
        """Whether an operation's rows may include replayed rows."""
        touched = self._touched.get(index)
        if touched is None:
            touched = index in self.focus_rows or any(self._is_touched(c) for c in self.operation(index).children)
            self._touched[index] = touched
        return touched
