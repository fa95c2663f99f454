"""Orders: calls of a script that write, through a writer or SQL. They list their outputs and run rewritten plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.union import UNION
from provspark.tracker.sinks import KeyedSink, Output, Sink

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm


_ITSELF = (
    "the write overwrites a table that it also reads in a subquery or from a cache. Write the rows to another table"
    " first, and copy them from there"
)

Planned = Callable[[Any], Any]
"""Maps a Java Dataset to its analysed plan, with cached parts replaced by their cache entries."""


@dataclass(frozen=True, slots=True)
class Aim:
    """One output of an order: its sink, the Java Dataset of its rows, and their plan from `Planned`."""

    sink: Output
    rows: Any
    plan: Any


class Order(Protocol):
    """A call of the script that writes."""

    def plain(self) -> Any:
        """Run the call as the script wrote it."""

    def rows(self) -> list[Any]:
        """Return the Java Datasets whose rows the call writes, as far as they are known."""

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Return the outputs. Raise UnsupportedPlanError if capture can't follow one of them exactly."""

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Raise UnsupportedPlanError if Spark would refuse only one of the user's plans and the rewritten `plans`."""

    def run(self, jvm: Jvm, plans: list[Any]) -> Any:
        """Run the call with rewritten plans, which have the same output as the user's."""


class WriterOrder:
    """Final call of a DataFrameWriter."""

    def __init__(self, frame: Any, writer: Any, end: str, args: tuple[Any, ...]) -> None:
        self._frame, self._writer, self._end, self._args = frame, writer, end, args

    def plain(self) -> Any:
        """Run the call unchanged."""
        return getattr(self._writer, self._end)(*self._args)

    def rows(self) -> list[Any]:
        """Return the Java Dataset of the DataFrame."""
        return [self._frame._jdf]

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Return the writer's one output."""
        rows = self._frame._jdf
        plan = planned(rows)
        sink: Output
        if KeyedSink.takes(self._writer, self._end):
            sink = KeyedSink.of_writer(jvm, self._writer, self._end, self._args)
        else:
            sink = Sink.of(jvm, self._writer, self._end, self._args, plan)
        return [Aim(sink, rows, plan)]

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Check that both plans, or neither, read the table that they overwrite."""
        (aim,) = aims
        if self._end not in ("insertInto", "saveAsTable") or not isinstance(aim.sink, Sink) or aim.sink.dynamic:
            return
        target = jvm.new("WriteTarget")
        users, ours = (
            target.readsItself(self._writer, self._end, self._args[0], plan)
            for plan in (aim.rows.queryExecution().analyzed(), plans[0])
        )
        if users != ours:
            raise UnsupportedPlanError(f"write.{self._end}", _ITSELF)

    def run(self, jvm: Jvm, plans: list[Any]) -> Any:
        """Run the call with the rewritten Dataset in the writer, and restore the user's afterwards."""
        original = jvm.plans.field(self._writer, "df")
        jvm.plans.setField(self._writer, "df", jvm.rows(plans[0]))
        try:
            return self.plain()
        finally:
            jvm.plans.setField(self._writer, "df", original)


class StatementOrder:
    """Write by a statement: SQL text, or the command of a DataFrameWriterV2.

    Parameters
    ----------
    call : callable
        Runs the statement as the script would.
    statement : provspark.intercept.SqlStatement
        Statement of the kind ``write``.
    """

    def __init__(self, call: Callable[[], Any], statement: Any) -> None:
        self._call, self._statement = call, statement

    def plain(self) -> Any:
        """Run the script's own call."""
        return self._call()

    def rows(self) -> list[Any]:
        """Return the Java Dataset of each command."""
        return [self._statement.rows(command) for command in self._statement.commands()]

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Return an output for each command. A ``FROM`` with several ``INSERT``s has several."""
        out = []
        for command in self._statement.commands():
            rows = self._statement.rows(command)
            options = self._statement.database(command)
            table = None if options is None else KeyedSink.of_command(jvm, command, options)
            out.append(Aim(table or Sink.of_command(jvm, command), rows, planned(rows)))
        if len({aim.sink.dataset for aim in out}) < len(out):
            raise UnsupportedPlanError(
                UNION,
                "two INSERTs of one statement write to one table, so capture can't tell their files apart. Use one "
                "statement for each INSERT",
            )
        return out

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Do nothing: Spark checked the user's plans when it created the commands, and does not check again."""

    def run(self, jvm: Jvm, plans: list[Any]) -> Any:
        """Run the commands with the rewritten plans, as Spark would."""
        return self._statement.run(jvm.jlist(plans))
