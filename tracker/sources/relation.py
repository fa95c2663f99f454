"""From a file relation to a scan, or to a refusal that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.errors import UnsupportedPlanError
from provspark.tracker.sources.contract import Scan
from provspark.tracker.sources.listing import Description, Listing
from provspark.tracker.sources.parquet import ParquetScan

if TYPE_CHECKING:
    from provspark.tracker.jvm import Jvm

_PACKAGE = "org.apache.spark.sql.execution.datasources."
FORMATS = {
    f"{_PACKAGE}parquet.ParquetFileFormat": "parquet",
}


def scan_relation(jvm: Jvm, relation: Any, predicates: list[Any]) -> Scan:
    """Return one occurrence of an input, its rows numbered.

    Parameters
    ----------
    jvm : Jvm
    relation : LogicalRelation
        Over a HadoopFsRelation.
    predicates : list of Expression
        Conjuncts of the Filter straight above. Those on partition columns alone decide which files the
        version has; the caller keeps the whole Filter.

    Raises
    ------
    UnsupportedPlanError
        For what can't be numbered exactly.
    """
    if relation.relation().getClass().getSimpleName() != "HadoopFsRelation":
        raise UnsupportedPlanError("LogicalRelation", f"{relation.relation().toString()} is no set of files")
    java = jvm.new("SourceFiles", relation)
    description = Description.parse(java.describe())
    refuse(description)
    listing = Listing.of(jvm, java, description, predicates)
    return ParquetScan(jvm, relation, listing)


def refuse(description: Description) -> str:
    """Return the format's name, or raise for a reading whose rows can't be numbered exactly."""
    node = "LogicalRelation"
    name = FORMATS.get(description.format_class)
    if name is None:
        short = description.format_class.rsplit(".", 1)[-1]
        known = ", ".join(sorted(FORMATS.values()))
        raise UnsupportedPlanError(node, f"rows of {short} files have no known place; read {known}")
    if description.streaming:
        raise UnsupportedPlanError(node, "a streaming read has no end; read the files in a batch")
    for option, on in (
        ("ignoreCorruptFiles", description.ignore_corrupt),
        ("ignoreMissingFiles", description.ignore_missing),
    ):
        if description.options.get(option.lower(), str(on)).lower() == "true":
            raise UnsupportedPlanError(
                node, f"{option} is on: files may be left out without a word; turn it off to have lineage"
            )
    return name
