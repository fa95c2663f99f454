"""What a write aims at: read from the Java writer and the end's arguments, or refused."""

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
    """A bucketed write: number of buckets, and places in the plan's output of their columns and of those that sort."""

    number: int
    columns: tuple[int, ...]
    sorts: tuple[int, ...]

    def __str__(self) -> str:
        return ":".join([str(self.number), " ".join(map(str, self.columns)), " ".join(map(str, self.sorts))])


@dataclass(frozen=True, slots=True)
class Target:
    """Where a write goes and how.

    Parameters
    ----------
    path : str
        The folder as Hadoop's ``Path`` writes it: qualified, not percent-encoded.
    mode : {"fresh", "append", "overwrite", "dynamic"}
        ``fresh`` finds nothing there; ``dynamic`` replaces the partition folders that it writes to.
    skips : bool
        Spark will write nothing (mode ``ignore``) or raise (``errorifexists``), for something is there.
    max_records : int
        Rows a file holds at most; 0 for no limit.
    partitions : tuple of str
        Names of the partition columns, as the folders spell them.
    places : tuple of int
        Where each partition column stands in the plan's output.
    statics : int
        How many of the partition columns, the first ones, have one value each for the whole write.
    buckets : Buckets or None
        How the rows are bucketed.
    names : tuple of str
        By position, the names under which the plan's columns are written; none where they go by name.
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
    """Read a writer. Python's ``None`` for an argument is as if it were not given.

    Raises
    ------
    UnsupportedPlanError
        The end, format, table or a setting is one whose files can't be followed exactly.
    """
    node = f"write.{end}"
    args = tuple(a for a in args if a is not None)
    if end not in (*FILE_ENDS, "save", "saveAsTable", "insertInto"):
        raise UnsupportedPlanError(node, f"its output is no file that is followed (known are {_words()})")
    if len(args) > 1 or (not args and end != "save"):
        raise UnsupportedPlanError(node, f"it was called with {len(args)} arguments")
    if end in FILE_ENDS:
        writer.format(end)
    given = str(args[0]) if args else ""
    table = given if end in ("saveAsTable", "insertInto") else ""
    helper = jvm.new("WriteTarget")
    try:
        facts = json.loads(helper.read(writer, plan, "" if table else given, table))
    except Exception as e:
        raise UnsupportedPlanError(node, f"its target can't be read: {reason(e)}") from e
    if facts["clustered"]:
        raise UnsupportedPlanError(node, "files of clusterBy are not followed")
    if table:
        return _table_target(node, end, facts)
    _known(node, facts["source"].lower())
    if "path" not in facts:
        raise UnsupportedPlanError(node, "there is no path to save to")
    return _file_target(node, facts, facts, _mode(facts["mode"], facts["options"], facts))


def command_target(jvm: Any, command: Any) -> Target:
    """Read an analysed write command.

    Raises
    ------
    UnsupportedPlanError
        The format, table or a setting is one whose files can't be followed exactly.
    """
    node = str(command.nodeName()).removeprefix("Execute ")
    try:
        facts = json.loads(jvm.new("WriteTarget").readCommand(jvm.session, command))
    except Exception as e:
        raise UnsupportedPlanError(node, f"its target can't be read: {reason(e)}") from e
    _known(node, facts["source"].lower())
    if facts.get("movedPartitions"):
        raise UnsupportedPlanError(node, f"partitions of {facts['table']} lie outside its folder")
    mode = _mode(facts["mode"], facts["options"], facts)
    if facts["statics"] and mode == "overwrite":
        mode = "dynamic"  # the other partitions stay
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
        raise UnsupportedPlanError(node, "the table is not in Spark's session catalogue")
    exists, mode = facts["tableExists"], facts["mode"]
    how: SaveMode
    if end == "saveAsTable" and (not exists or mode == "Overwrite"):
        how = _mode("Overwrite", facts["options"], facts)
        return _file_target(node, {**facts, "mode": "Overwrite"}, facts["newPath"], how)
    if not exists or (facts["tempView"] and end == "insertInto"):
        raise UnsupportedPlanError(node, "there is no table of that name to insert into")
    if facts["tableType"] == "VIEW" or "path" not in facts:
        raise UnsupportedPlanError(node, f"{facts['table']} has no folder of its own")
    format_name = facts["provider"].lower()
    _known(node, format_name)
    if facts["movedPartitions"]:
        raise UnsupportedPlanError(node, f"partitions of {facts['table']} lie outside its folder")
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
    """The table's fields; refuses what Spark would cast on the way to a partition folder or a bucket."""
    table, query = facts["tableFields"], facts["fields"]
    if len(table) != len(query):
        raise UnsupportedPlanError(node, f"{facts['table']} has {len(table)} columns and the rows {len(query)}")
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
                f"{role} column {name} is {fixed or kind} in {facts['table']} and {source[1]} in the rows",
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
            "spark.sql.maxConcurrentOutputFileWriters leaves the rows unsorted; set it to 0 to follow partitionBy",
        )
    if (partitions or bucket) and not facts["planned"]:
        raise UnsupportedPlanError(node, "partitionBy is followed with spark.sql.optimizer.plannedWrite.enabled only")
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
        raise UnsupportedPlanError(node, f"format {format_name!r} is not followed (known are {_words()})")


def _words() -> str:
    return ", ".join(sorted(KEPT))
