"""Determine the target of a write from the Java writer and its arguments, or refuse the write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from provspark.model.datasets import Dataset, Field
from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.sinks.options import KEPT
from provspark.tracker.spark.reasons import reason

SaveMode = Literal["fresh", "append", "overwrite", "dynamic"]
FILE_ENDS = ("parquet", "csv", "json", "orc", "text", "xml")


@dataclass(frozen=True, slots=True)
class Buckets:
    """Buckets of a write: their number, and the positions of bucket and sort columns in the plan's output."""

    number: int
    columns: tuple[int, ...]
    sorts: tuple[int, ...]

    def __str__(self) -> str:
        return ":".join([str(self.number), " ".join(map(str, self.columns)), " ".join(map(str, self.sorts))])


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a write.

    Parameters
    ----------
    path : str
        The folder as Hadoop's ``Path`` formats it: qualified, not percent-encoded.
    mode : {"fresh", "append", "overwrite", "dynamic"}
        ``fresh`` if nothing is there; ``dynamic`` replaces only the partition folders that it writes to.
    skips : bool
        Whether the target exists, so that Spark writes nothing (mode ``ignore``) or raises (``errorifexists``).
    max_records : int
        Maximum number of rows per file; 0 for no limit.
    partitions : tuple of str
        Names of the partition columns, as the folders spell them.
    places : tuple of int
        Position of each partition column in the plan's output.
    statics : int
        Number of leading partition columns that have a single value in the whole write.
    buckets : Buckets or None
        Buckets of the write; None without.
    names : tuple of str
        Names of the written columns if they are matched by position; empty if they are matched by name.
    """

    path: str
    dataset: Dataset
    format: str
    mode: SaveMode
    skips: bool
    options: Mapping[str, str]
    fields: tuple[Field, ...]
    partitions: tuple[str, ...]
    max_records: int
    time_zone: str
    places: tuple[int, ...]
    statics: int = 0
    buckets: Buckets | None = None
    names: tuple[str, ...] = ()


def read_target(jvm: Any, writer: Any, end: str, args: tuple[Any, ...], plan: Any) -> Target:
    """Determine the target of a ``DataFrameWriter``. Arguments that are None count as omitted.

    Raises
    ------
    UnsupportedPlanError
        Capture does not support the method, the format, the table or a setting.
    """
    node = f"write.{end}"
    args = tuple(a for a in args if a is not None)
    if end not in (*FILE_ENDS, "save", "saveAsTable", "insertInto"):
        raise UnsupportedPlanError(node, f"it is not captured; write files in one of these formats: {_words()}")
    if len(args) > 1 or (not args and end != "save"):
        raise UnsupportedPlanError(node, f"it was called with {len(args)} arguments; pass one, the path or the table")
    if end in FILE_ENDS:
        writer.format(end)
    given = str(args[0]) if args else ""
    table = given if end in ("saveAsTable", "insertInto") else ""
    helper = jvm.new("WriteTarget")
    try:
        facts = json.loads(helper.read(writer, plan, "" if table else given, table))
    except Exception as e:
        raise UnsupportedPlanError(node, f"could not determine where it writes: {reason(e)}") from e
    if facts["clustered"]:
        raise UnsupportedPlanError(node, "writes with clusterBy are not captured; use bucketBy or partitionBy")
    if table:
        return _table_target(node, end, facts)
    _known(node, facts["source"].lower())
    if "path" not in facts:
        raise UnsupportedPlanError(node, "it has no path to write to; pass one")
    return _file_target(node, facts, facts, _mode(facts["mode"], facts["options"], facts))


def command_target(jvm: Any, command: Any) -> Target:
    """Determine the target of an analysed write command.

    Raises
    ------
    UnsupportedPlanError
        Capture does not support the format, the table or a setting.
    """
    node = str(command.nodeName()).removeprefix("Execute ")
    try:
        facts = json.loads(jvm.new("WriteTarget").readCommand(jvm.session, command))
    except Exception as e:
        raise UnsupportedPlanError(node, f"could not determine where it writes: {reason(e)}") from e
    _known(node, facts["source"].lower())
    if facts.get("movedPartitions"):
        raise UnsupportedPlanError(node, f"{facts['table']} has partitions outside its folder; move them into it")
    mode = _mode(facts["mode"], facts["options"], facts)
    if facts["statics"] and mode == "overwrite":
        mode = "dynamic"  # Spark keeps the other partitions
    skips = bool(facts.get("kept") or facts["tableExists"])
    target = _file_target(node, facts, facts, mode)
    return replace(target, skips=skips or target.skips, statics=facts["statics"])


def _file_target(node: str, facts: dict[str, Any], place: dict[str, Any], mode: SaveMode) -> Target:
    format_name = facts["source"].lower()
    _known(node, format_name)
    partitions = tuple(facts["partitions"])
    skips = facts["mode"] in ("Ignore", "ErrorIfExists") and place["exists"]
    return _target(node, facts, place, format_name, mode, skips, facts["options"], facts["fields"], partitions)


def _table_target(node: str, end: str, facts: dict[str, Any]) -> Target:
    if not facts["sessionCatalog"]:
        raise UnsupportedPlanError(
            node, f"{end} is captured only for tables of Spark's built-in catalog; write to one of these"
        )
    exists, mode = facts["tableExists"], facts["mode"]
    how: SaveMode
    if end == "saveAsTable" and (not exists or mode == "Overwrite"):
        how = _mode("Overwrite", facts["options"], facts)
        return _file_target(node, {**facts, "mode": "Overwrite"}, facts["newPath"], how)
    if not exists or (facts["tempView"] and end == "insertInto"):
        raise UnsupportedPlanError(
            node, f"the table {facts['table']} does not exist, or is a temporary view; insert into a table"
        )
    if facts["tableType"] == "VIEW" or "path" not in facts:
        raise UnsupportedPlanError(
            node, f"{facts['table']} is a view, or a table without a folder; write to a table in files"
        )
    format_name = facts["provider"].lower()
    _known(node, format_name)
    if facts["movedPartitions"]:
        raise UnsupportedPlanError(node, f"{facts['table']} has partitions outside its folder; move them into it")
    partitions = tuple(facts["tablePartitions"])
    fields = _inserted(node, end, facts)
    options = facts["tableOptions"]
    skips = end == "saveAsTable" and mode in ("Ignore", "ErrorIfExists")
    how = "append"
    if end == "insertInto" and mode == "Overwrite":
        how = _mode(mode, options, {**facts, "partitions": partitions})
    facts = {**facts, "bucket": facts["tableBucket"]}
    return _target(node, facts, facts, format_name, how, skips, options, fields, partitions)


def _inserted(node: str, end: str, facts: dict[str, Any]) -> list[Any]:
    """Return the table's fields; refuse partition, bucket and sort columns that Spark would cast."""
    table, query = facts["tableFields"], facts["fields"]
    if len(table) != len(query):
        raise UnsupportedPlanError(
            node, f"{facts['table']} has {len(table)} columns, but the rows have {len(query)}; select equally many"
        )
    by_name = {f[0].lower(): f for f in query}
    bucket = facts["tableBucket"] or {"columns": [], "sorts": []}
    placed = {"partition": facts["tablePartitions"], "bucket": bucket["columns"], "sort": bucket["sorts"]}
    for place, (name, kind, fixed) in enumerate(table):
        role = next((role for role, names in placed.items() if name in names), None)
        if role is None:
            continue
        source = query[place] if end == "insertInto" else by_name.get(name.lower(), ["", "nothing", ""])
        if source[1] != kind or fixed:
            raise UnsupportedPlanError(
                node,
                f"{role} column {name} is {fixed or kind} in {facts['table']} but {source[1]} in the rows, "
                f"and capture does not support the cast; cast the column before the write",
            )
    return list(table)


def _target(
    node: str,
    facts: dict[str, Any],
    place: dict[str, Any],
    format_name: str,
    mode: SaveMode,
    skips: bool,
    options: dict[str, str],
    fields: list[Any],
    partitions: tuple[str, ...],
) -> Target:
    lower = {k.lower(): v for k, v in options.items()}
    bucket = facts["bucket"]
    if (partitions or bucket) and facts["concurrent"] > 0:
        raise UnsupportedPlanError(
            node,
            "Spark does not sort the rows by partition or bucket; set spark.sql.maxConcurrentOutputFileWriters to 0",
        )
    if (partitions or bucket) and not facts["planned"]:
        raise UnsupportedPlanError(
            node,
            "writes with partitions or buckets are captured only with planned writes; "
            "set spark.sql.optimizer.plannedWrite.enabled to true",
        )
    last = [_place(node, fields, p) for p in partitions]
    ordered = [f for i, f in enumerate(fields) if i not in last] + [fields[i] for i in last]
    columns = fields if node == "write.insertInto" else facts["fields"]
    places = [_place(node, columns, p) for p in partitions]
    if place["scheme"] == "file":
        dataset = Dataset("file", place["place"])
    else:
        dataset = Dataset(f"{place['scheme']}://{place['authority']}", place["place"].strip("/"))
    return Target(
        path=place["path"],
        dataset=dataset,
        format=format_name,
        mode=mode if place["exists"] else "fresh",
        skips=skips,
        options=options,
        fields=tuple(Field(f[0], f[1]) for f in ordered),
        partitions=partitions,
        max_records=max(0, int(lower.get("maxrecordsperfile", facts["maxRecords"]))),
        time_zone=lower.get("timezone", facts["timeZone"]),
        places=tuple(places),
        buckets=bucket and _buckets(node, columns, bucket),
        names=tuple(f[0] for f in fields) if node == "write.insertInto" else (),
    )


def _buckets(node: str, columns: list[Any], bucket: dict[str, Any]) -> Buckets:
    by, sorts = (tuple(_place(node, columns, c) for c in bucket[role]) for role in ("columns", "sorts"))
    return Buckets(bucket["n"], by, sorts)


def _place(node: str, fields: list[Any], name: str) -> int:
    names = [f[0] for f in fields]
    if name in names:
        return names.index(name)
    lower = [n.lower() for n in names]
    if name.lower() not in lower:
        raise UnsupportedPlanError(node, f"there is no column {name!r} to partition, bucket or sort by")
    return lower.index(name.lower())


def _mode(mode: str, options: Mapping[str, str], facts: dict[str, Any]) -> SaveMode:
    if mode != "Overwrite":
        return "append" if mode == "Append" else "fresh"
    how = {k.lower(): v for k, v in options.items()}.get("partitionoverwritemode", facts["overwrite"])
    return "dynamic" if how.upper() == "DYNAMIC" and facts["partitions"] else "overwrite"


def _known(node: str, format_name: str) -> None:
    if format_name not in KEPT:
        raise UnsupportedPlanError(node, f"format {format_name!r} is not captured; supported formats: {_words()}")


def _words() -> str:
    return ", ".join(sorted(KEPT))
