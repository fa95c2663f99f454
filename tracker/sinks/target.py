"""Determine the target of a write to files from its command, or refuse the write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from provspark.model.datasets import Dataset, Field
from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.sinks.options import KEPT
from provspark.tracker.spark.reasons import reason

SaveMode = Literal["fresh", "append", "overwrite", "dynamic"]


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


def read_target(jvm: Any, command: Any, node: str) -> Target:
    """Determine the target of an analysed ``InsertIntoHadoopFsRelationCommand``.

    Raises
    ------
    UnsupportedPlanError
        Capture does not support the format, the table or a setting.
    """
    try:
        facts = json.loads(jvm.new("WriteTarget").read(jvm.session, command))
    except Exception as e:
        raise UnsupportedPlanError(node, f"could not determine where it writes: {reason(e)}") from e
    format_name = facts["source"].lower()
    if format_name not in KEPT:
        raise UnsupportedPlanError(node, unknown_format(format_name))
    if facts.get("movedPartitions"):
        raise UnsupportedPlanError(node, f"{facts['table']} has partitions outside its folder; move them into it")
    mode = _mode(facts["mode"], facts["options"], facts)
    if facts["statics"] and mode == "overwrite":
        mode = "dynamic"  # Spark keeps the other partitions
    skips = facts["kept"] or (facts["mode"] in ("Ignore", "ErrorIfExists") and facts["exists"])
    return _target(node, facts, format_name, mode, skips=skips)


def unknown_format(name: str) -> str:
    """Return why capture refuses a format."""
    return f"format {name!r} is not captured; supported formats: {', '.join(sorted(KEPT))}"


def _target(node: str, facts: dict[str, Any], format_name: str, mode: SaveMode, *, skips: bool) -> Target:
    options, fields, partitions = facts["options"], facts["fields"], tuple(facts["partitions"])
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
    if facts["scheme"] == "file":
        dataset = Dataset("file", facts["place"])
    else:
        dataset = Dataset(f"{facts['scheme']}://{facts['authority']}", facts["place"].strip("/"))
    return Target(
        path=facts["path"],
        dataset=dataset,
        format=format_name,
        mode=mode if facts["exists"] else "fresh",
        skips=skips,
        options=options,
        fields=tuple(Field(f[0], f[1]) for f in ordered),
        partitions=partitions,
        max_records=max(0, int(lower.get("maxrecordsperfile", facts["maxRecords"]))),
        time_zone=lower.get("timezone", facts["timeZone"]),
        places=tuple(last),
        statics=facts["statics"],
        buckets=bucket and _buckets(node, fields, bucket),
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
