"""Commands of a session that are about to run: what they write, and why capture can't trace some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.sinks import KeyedSink, Output, Sink, WriteMetrics
from provspark.tracker.sinks.keyed import MODES
from provspark.tracker.sinks.target import unknown_format

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["Aim", "Command"]

_FILES = "InsertIntoHadoopFsRelationCommand"
_CHANGES = "capture can't trace rows that {} changes. Write the new rows with INSERT OVERWRITE or df.write instead"
_MERGES, _UPDATES = _CHANGES.format("MERGE"), _CHANGES.format("UPDATE")
_SOME = _CHANGES.format("UPDATE, DELETE or MERGE")
_REMOVES = "capture can't trace which rows {} removes. Write the rows that remain with INSERT OVERWRITE instead"
_DELETES, _TRUNCATES = _REMOVES.format("DELETE"), "capture can't trace which rows TRUNCATE removes"
_DROPS = "capture can't trace which rows ALTER TABLE … DROP PARTITION removes"
_LOADS = "LOAD DATA moves files without reading their rows. Read the files with spark.read, and write with INSERT"
_RENAMES = "the command moves the table's files to another folder, and capture can't trace that"
_REWRITES = "capture can't trace rows that a command moves to other files of the table"
_RETURNS = "capture can't trace a table that is set back to one of its former versions"
_CONVERTS = "CONVERT TO DELTA makes a table of existing files without reading their rows"
_FETCHES = "capture can't trace rows that a cursor fetches. Use a FOR loop or SET v = (SELECT …) instead"
_WHY = {
    "MergeIntoTable": _MERGES,
    "MergeIntoCommand": _MERGES,
    "InsertOnlyMerge": _MERGES,
    "UpdateTable": _UPDATES,
    "UpdateCommand": _UPDATES,
    "DeleteFromTable": _DELETES,
    "DeleteCommand": _DELETES,
    "DeleteFromTableWithFilters": _DELETES,
    "ReplaceData": _SOME,
    "WriteDelta": _SOME,
    "LoadDataCommand": _LOADS,
    "TruncateTable": _TRUNCATES,
    "TruncateTableCommand": _TRUNCATES,
    "TruncateDeltaTableCommand": _TRUNCATES,
    "TruncatePartition": _TRUNCATES,
    "DropPartitions": _DROPS,
    "AlterTableDropPartitionCommand": _DROPS,
    "AlterTableRenameCommand": _RENAMES,
    "OptimizeTableCommand": _REWRITES,
    "DeltaReorgTable": _REWRITES,
    "DeltaReorgTableCommand": _REWRITES,
    "AlterTableDropFeature": _REWRITES,
    "AlterTableDropFeatureDeltaCommand": _REWRITES,
    "RestoreTableCommand": _RETURNS,
    "CreateOrReplaceBranch": _RETURNS,
    "ConvertToDeltaCommand": _CONVERTS,
    "OpenCursor": _FETCHES,
}
_WRITES = frozenset(
    """AppendData OverwriteByExpression OverwritePartitionsDynamic CreateTableAsSelect ReplaceTableAsSelect
    CreateDataSourceTableAsSelectCommand CreateHiveTableAsSelectCommand InsertIntoDataSourceCommand
    InsertIntoDataSourceDirCommand InsertIntoHiveDirCommand InsertIntoHiveTable WriteIntoDelta CreateDeltaTableCommand
    CloneTableCommand DeltaDynamicPartitionOverwriteCommand DeltaInsertReplaceOnOrUsingCommand""".split()  # noqa: SIM905
)
_ELSE = (
    "capture can't trace rows in tables of this catalog or format. Write to a table or folder in Parquet, or in another"
    " format that docs/sinks.md lists"
)
_COMMAND = "capture does not know this command, and it may write or change rows"


@dataclass(frozen=True, slots=True)
class Aim:
    """Output of a command: its sink, the analysed plan of its rows, and that plan with its cached parts replaced."""

    sink: Output
    users: Any
    plan: Any


class Command:
    """Command that Spark is about to run.

    Parameters
    ----------
    jvm : Jvm
        Of the command's session.
    node : provspark.intercept.InterceptedCommand
    """

    def __init__(self, jvm: Jvm, node: Any) -> None:
        self.jvm, self._node = jvm, node
        self._java: Any = jvm.new("CommandPlans")
        self.analysed = node.analysed()
        self.name = str(node.name())
        self.kind = str(self._java.kind(self.analysed))
        """What it does: ``query``, ``reads`` (assigns to variables), ``caches``,
        ``drops`` (a table), ``discards`` (computes rows for nothing) or ``writes``."""

    @property
    def rows(self) -> list[Any]:
        """Analysed plans that it reads, as far as they are known."""
        query = self._java.query(self.analysed)
        return list(self._parts or ()) if query is None else [query]

    @property
    def complete(self) -> bool:
        """Whether `rows` are all that it reads."""
        return self._parts is not None

    @cached_property
    def _parts(self) -> Any:
        """Plans in the command except for its target, or None if it reads files by name."""
        return self._java.rows(self.analysed)

    def skipped(self) -> bool:
        """Whether Spark leaves an existing database table as it is, or raises because it exists."""
        options = None if self.name == _FILES else self._java.database(self.jvm.session, self.analysed)
        if options is None or self._mode() not in ("Ignore", "ErrorIfExists"):
            return False
        try:
            return bool(self.jvm.new("JdbcTable", self.jvm.session, options).exists())
        except Exception:
            return False  # the write raises the same error

    def _mode(self) -> str:
        return str(self._java.mode(self.analysed)) or MODES[self.name]

    def aim(self, planned: Callable[[Any], Any]) -> Aim:
        """Return the output. `planned` maps an analysed plan to one with cached parts replaced by cache entries.

        Raises
        ------
        UnsupportedPlanError
            Capture can't follow the command exactly.
        """
        sink: Output
        if self.name == _FILES:
            sink = Sink(self.jvm, self.analysed, self.name)
        else:
            options = self._java.database(self.jvm.session, self.analysed)
            if options is None:
                raise UnsupportedPlanError(self.name, self._why())
            sink = KeyedSink(self.jvm, options, self._mode(), self.name)
        users = self._java.query(self.analysed)
        return Aim(sink, users, planned(users))

    def _why(self) -> str:
        written = str(self._java.format(self.analysed))
        if written:
            return unknown_format(written)
        return _WHY.get(self.name, _ELSE if self.name in _WRITES else _COMMAND)

    def replaced(self, plan: Any) -> Any:
        """Return the command with a rewritten plan of its rows, which has the same output."""
        return self._java.replaced(self.analysed, plan)

    def lazily(self) -> Any:
        """Return a ``CACHE TABLE`` that is not lazy as one that is, or None if it is lazy already."""
        return self._java.lazily(self.analysed)

    def cached(self) -> Any:
        """Return the plan of the table that a ``CACHE TABLE`` caches."""
        return self._java.cached(self.jvm.session, self.analysed)

    def folder(self) -> str:
        """Return the folder of the table that it changes: scheme, authority and path, separated by NUL, or ""."""
        return str(self._java.folder(self.jvm.session, self.analysed))

    def written(self) -> WriteMetrics | None:
        """Return Spark's own metrics of the write that just finished, if it has any."""
        counts = [int(n) for n in str(self._node.written()).split()]
        return WriteMetrics(*counts) if counts and counts[0] >= 0 else None
