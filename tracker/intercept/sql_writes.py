"""Statements that write: which of them are followed, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.intercept.orders import Order, StatementOrder
from provspark.tracker.intercept.sql_scripts import Script

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_IMMEDIATE = frozenset({"UnresolvedExecuteImmediate", "ExecuteImmediateQuery"})
_UNCERTAIN = "capture can't tell what it runs: its text or an argument is not constant. Pass the text to spark.sql"
_COMMANDS = {"create": "createCommand", "append": "appendCommand", "overwrite": "overwriteCommand"}
"""By an end of a DataFrameWriterV2, what gives the command that it runs."""
_WHY = {
    "MergeIntoTable": "MERGE changes rows that exist, which is not captured",
    "UpdateTable": "UPDATE changes rows that exist, which is not captured",
    "DeleteFromTable": "DELETE removes rows from files that exist, which is not captured",
    "LoadData": "LOAD DATA moves files without reading their rows: read them by spark.read, and write them by INSERT",
    "TruncateTable": "TRUNCATE removes rows, which is not captured",
    "TruncatePartition": "TRUNCATE removes rows, which is not captured",
    "DropPartitions": "dropping partitions removes rows, which is not captured",
}
_WRITES = frozenset({"OverwritePartitionsDynamic", "ReplaceTableAsSelect", "AppendData", "OverwriteByExpression"})
_ELSE = "the files of this table can't be captured: write to a table or folder of Parquet or another supported format"
_COMMAND = "this command is not known: it may change rows that exist, or write others, which is not captured"


def sql(jvm: Jvm, call: Callable[[], Any], text: str, args: Any) -> Order | Script | None:
    """Return what SQL text is about to write, or a script that may; None where it writes nothing.

    Raises
    ------
    UnsupportedPlanError
        It may write, and what it writes can't be followed.
    """
    return _read(jvm, call, jvm.new("SqlStatement", jvm.session, text, args, None))


def parsed(jvm: Jvm, call: Callable[[], Any], plan: Any) -> Order | Script | None:
    """Return what a parsed statement is about to write; see `sql`."""
    return _read(jvm, call, jvm.new("SqlStatement", jvm.session, None, None, plan))


def _read(jvm: Jvm, call: Callable[[], Any], statement: Any) -> Order | Script | None:
    kind = str(statement.kind())
    if kind == "CompoundBody":
        return Script(jvm, statement)
    if kind in _IMMEDIATE:
        inner = statement.immediate()
        if inner is None:
            raise UnsupportedPlanError("EXECUTE IMMEDIATE", _UNCERTAIN)
        return None if inner.kind() == "CompoundBody" else _read(jvm, call, inner)
    return _order(call, statement, kind, kind)


def v2(jvm: Jvm, call: Callable[[], Any], writer: Any, end: str, args: tuple[Any, ...]) -> Order | None:
    """Return what a DataFrameWriterV2 is about to write; see `sql`."""
    node = f"DataFrameWriterV2.{end}"
    if end not in _COMMANDS:
        raise UnsupportedPlanError(node, _ELSE)
    if str(jvm.spark.version).startswith("4.0."):
        raise UnsupportedPlanError(node, "writeTo is captured from Spark 4.1 on: use DataFrameWriter.saveAsTable")
    statement = jvm.new("SqlStatement", jvm.session, None, None, getattr(writer, _COMMANDS[end])(*args))
    return _order(call, statement, str(statement.kind()), node)


def _order(call: Callable[[], Any], statement: Any, kind: str, node: str) -> Order | None:
    if not kind:
        return None
    if kind != "write":
        raise UnsupportedPlanError(node, _WHY.get(kind, _ELSE if kind in _WRITES else _COMMAND))
    return StatementOrder(call, statement)
