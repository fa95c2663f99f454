"""What a script asked to write, by a writer or by SQL: where it goes, and how it runs with other plans in it."""

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
    "it overwrites a table that it reads in a subquery or from a cache: write the rows to a table of their own, and"
    " from there"
)

Planned = Callable[[Any], Any]
"""From a Java Dataset to its analysed plan, with cached parts in their places."""


@dataclass(frozen=True, slots=True)
class Aim:
    """One output of an order: its sink, the Java Dataset of its rows, their plan as `Planned` gives it."""

    sink: Output
    rows: Any
    plan: Any


class Order(Protocol):
    """A call of the script that writes."""

    def plain(self) -> Any:
        """Run it as the script wrote it."""

    def rows(self) -> list[Any]:
        """Return the Java Datasets whose rows it writes, as far as it is known."""

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Return its outputs; UnsupportedPlanError where one can't be followed exactly."""

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Raise UnsupportedPlanError if Spark would refuse the user's plans and not these, or the other way round."""

    def run(self, jvm: Jvm, plans: list[Any]) -> Any:
        """Run it with these plans, which put out what the user's would."""


class WriterOrder:
    """An end of a DataFrameWriter."""

    def __init__(self, frame: Any, writer: Any, end: str, args: tuple[Any, ...]) -> None:
        self._frame, self._writer, self._end, self._args = frame, writer, end, args

    def plain(self) -> Any:
        """Call the end."""
        return getattr(self._writer, self._end)(*self._args)

    def rows(self) -> list[Any]:
        """Return the frame's."""
        return [self._frame._jdf]

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Read the writer."""
        rows = self._frame._jdf
        plan = planned(rows)
        sink: Output
        if KeyedSink.takes(self._writer, self._end):
            sink = KeyedSink.of_writer(jvm, self._writer, self._end, self._args)
        else:
            sink = Sink.of(jvm, self._writer, self._end, self._args, plan)
        return [Aim(sink, rows, plan)]

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Compare what Spark sees when a table that exists is overwritten: whether the plan reads it."""
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
        """Call the end with another Dataset in the writer, and put the user's back."""
        original = jvm.plans.field(self._writer, "df")
        jvm.plans.setField(self._writer, "df", jvm.rows(plans[0]))
        try:
            return self.plain()
        finally:
            jvm.plans.setField(self._writer, "df", original)


class StatementOrder:
    """A write that is a statement: SQL text, or what a DataFrameWriterV2 makes of its calls.

    Parameters
    ----------
    call : callable
        The script's own.
    statement : provspark.intercept.SqlStatement
        Of the kind ``write``.
    """

    def __init__(self, call: Callable[[], Any], statement: Any) -> None:
        self._call, self._statement = call, statement

    def plain(self) -> Any:
        """Make the script's call."""
        return self._call()

    def rows(self) -> list[Any]:
        """Return those of the commands."""
        return [self._statement.rows(command) for command in self._statement.commands()]

    def aims(self, jvm: Jvm, planned: Planned) -> list[Aim]:
        """Read the commands: several where one FROM has several INSERTs."""
        out = []
        for command in self._statement.commands():
            rows = self._statement.rows(command)
            options = self._statement.database(command)
            table = None if options is None else KeyedSink.of_command(jvm, command, options)
            out.append(Aim(table or Sink.of_command(jvm, command), rows, planned(rows)))
        if len({aim.sink.dataset for aim in out}) < len(out):
            raise UnsupportedPlanError(UNION, "two INSERTs of one statement write to one table: which wrote a file?")
        return out

    def check_refusals(self, jvm: Jvm, aims: list[Aim], plans: list[Any]) -> None:
        """Do nothing: Spark has checked the user's when it made the commands, and does not check again."""

    def run(self, jvm: Jvm, plans: list[Any]) -> Any:
        """Put the plans into the commands and run them as Spark would."""
        return self._statement.run(jvm.jlist(plans))
