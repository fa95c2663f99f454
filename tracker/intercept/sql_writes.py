"""SQL statements and DataFrameWriterV2 calls that write: which of them capture follows, and why not the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.intercept.orders import Order, StatementOrder
from provspark.tracker.intercept.sql_scripts import Script

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_IMMEDIATE = frozenset({"UnresolvedExecuteImmediate", "ExecuteImmediateQuery"})
_UNCERTAIN = (
    "capture can't see what it runs, because its text or an argument is not constant. Pass the text to spark.sql"
)
_COMMANDS = {"create": "createCommand", "append": "appendCommand", "overwrite": "overwriteCommand"}
"""Java methods that return the command of a DataFrameWriterV2, by the Python method that runs it."""
_WHY = {
    "MergeIntoTable": "MERGE changes existing rows, and capture does not follow that",
    "UpdateTable": "UPDATE changes existing rows, and capture does not follow that",
    "DeleteFromTable": "DELETE removes rows from existing files, and capture does not follow that",
    "LoadData": "LOAD DATA moves files without reading their rows. Read them with spark.read, and write with INSERT",
    "TruncateTable": "TRUNCATE removes rows, and capture does not follow that",
    "TruncatePartition": "TRUNCATE removes rows, and capture does not follow that",
    "DropPartitions": "dropping partitions removes rows, and capture does not follow that",
}
_WRITES = frozenset({"OverwritePartitionsDynamic", "ReplaceTableAsSelect", "AppendData", "OverwriteByExpression"})
_ELSE = (
    "capture can't follow the files of this table. Write to a table or folder in Parquet or another supported format"
)
_COMMAND = "capture does not know this command, which may change existing rows or write new ones"


def sql(jvm: Jvm, call: Callable[[], Any], text: str, args: Any) -> Order | Script | None:
    """Return the write or the SQL script that SQL text is about to run, or None if it writes nothing.

    Raises
    ------
    UnsupportedPlanError
        The text may write, and capture can't follow it.
    """
    return _read(jvm, call, jvm.new("SqlStatement", jvm.session, text, args, None))


def parsed(jvm: Jvm, call: Callable[[], Any], plan: Any) -> Order | Script | None:
    """Return the write or the SQL script of a parsed statement, as `sql` does for text."""
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
    """Return the write that a DataFrameWriterV2 is about to run, or raise, as `sql` does for text."""
    node = f"DataFrameWriterV2.{end}"
    if end not in _COMMANDS:
        raise UnsupportedPlanError(node, _ELSE)
    if str(jvm.spark.version).startswith("4.0."):
        raise UnsupportedPlanError(node, "writeTo is captured on Spark 4.1 and later. Use DataFrameWriter.saveAsTable")
    statement = jvm.new("SqlStatement", jvm.session, None, None, getattr(writer, _COMMANDS[end])(*args))
    return _order(call, statement, str(statement.kind()), node)


def _order(call: Callable[[], Any], statement: Any, kind: str, node: str) -> Order | None:
    if not kind:
        return None
    if kind != "write":
        raise UnsupportedPlanError(node, _WHY.get(kind, _ELSE if kind in _WRITES else _COMMAND))
    return StatementOrder(call, statement)
