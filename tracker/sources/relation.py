"""Make the scan of a relation, or refuse it with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.scan import RELATION
from provspark.tracker.sources.contract import Scan
from provspark.tracker.sources.counted import CountedScan
from provspark.tracker.sources.keyed import KeyedScan
from provspark.tracker.sources.listing import Description, RelationListing
from provspark.tracker.sources.parquet import ParquetScan

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_PACKAGE = "org.apache.spark.sql.execution.datasources."
FORMATS = {
    f"{_PACKAGE}parquet.ParquetFileFormat": "parquet",
    f"{_PACKAGE}csv.CSVFileFormat": "csv",
    f"{_PACKAGE}json.JsonFileFormat": "json",
    f"{_PACKAGE}orc.OrcFileFormat": "orc",
    f"{_PACKAGE}text.TextFileFormat": "text",
    f"{_PACKAGE}xml.XmlFileFormat": "xml",
}
_DELTA = (
    "it reads a Delta Lake table, which is not captured; to get lineage, write its rows to Parquet and read those files"
)


def scan_relation(jvm: Jvm, relation: Any, predicates: Any) -> Scan:
    """Return a scan of one occurrence of an input, with numbered rows.

    Parameters
    ----------
    jvm : Jvm
    relation : LogicalRelation
        A relation over files or a JDBC table.
    predicates : list or java.util.List of Expression
        Conjuncts of the Filter directly above. Those that only use partition columns determine the files of the
        version. The caller keeps the whole Filter.

    Raises
    ------
    UnsupportedPlanError
        The rows can't be numbered exactly.
    """
    kind = jvm.plans.source(relation)
    if kind == "JDBCRelation":
        return KeyedScan(jvm, relation)
    return scan_files(_listed(jvm, relation, kind, predicates))


def list_files(jvm: Jvm, leaf: Any) -> RelationListing:
    """List the files of a leaf; raise UnsupportedPlanError if it reads no files or their rows can't be numbered."""
    if leaf.getClass().getSimpleName() != RELATION:
        raise UnsupportedPlanError(
            leaf.getClass().getSimpleName(), "it does not read files; write its rows to files, and read these"
        )
    return _listed(jvm, leaf, jvm.plans.source(leaf), ())


def _listed(jvm: Jvm, relation: Any, kind: str, predicates: Any) -> RelationListing:
    if kind != "HadoopFsRelation":
        if ".delta." in str(relation.relation().getClass().getName()):
            raise UnsupportedPlanError(RELATION, _DELTA)
        raise UnsupportedPlanError(
            RELATION, f"{relation.relation().toString()} does not read files; write its rows to files"
        )
    java = jvm.new("SourceFiles", relation)
    description = Description.parse(java.describe())
    if refuse(description) == "xml":
        _refuse_pieces(relation.relation())
    return RelationListing.of(jvm, java, description, predicates)


def scan_files(listing: RelationListing) -> Scan:
    """Return a scan of listed files."""
    format_name = format_of(listing)
    if format_name == "parquet":
        return ParquetScan(listing)
    return CountedScan(listing, format_name)


def format_of(listing: RelationListing) -> str:
    """Return the name of the listed files' format."""
    return FORMATS[listing.description.format_class]


def _refuse_pieces(files: Any) -> None:
    """Refuse XML files that Spark splits: the rows of a piece that ends within a record depend on the split."""
    if files.fileFormat().isSplitable(files.sparkSession(), files.options(), files.location().rootPaths().head()):
        raise UnsupportedPlanError(
            RELATION, "Spark splits these XML files; set the option multiLine to true to get lineage"
        )


def refuse(description: Description) -> str:
    """Return the format's name, or raise UnsupportedPlanError if its rows can't be numbered exactly."""
    name = FORMATS.get(description.format_class)
    if name is None:
        short = description.format_class.rsplit(".", 1)[-1].removesuffix("FileFormat")
        known = ", ".join(sorted(FORMATS.values()))
        raise UnsupportedPlanError(RELATION, f"rows of {short} files can't be numbered; supported formats: {known}")
    if description.streaming:
        raise UnsupportedPlanError(RELATION, "streaming reads are not captured; read the files with `spark.read`")
    for option, session in (
        ("ignoreCorruptFiles", description.ignore_corrupt),
        ("ignoreMissingFiles", description.ignore_missing),
    ):
        if description.options.get(option.lower(), str(session)).lower() == "true":
            why = f"{option} is on, so Spark may skip rows without an error; turn it off to get lineage"
            raise UnsupportedPlanError(RELATION, why)
    push_down = {"csv": description.csv_push_down, "json": description.json_push_down, "xml": False}
    if name in push_down:
        _refuse_mode(name, description.options.get("mode", "PERMISSIVE").upper(), push_down[name])
    return name


def _refuse_mode(name: str, mode: str, push_down: bool) -> None:
    if mode == "DROPMALFORMED":
        why = "mode DROPMALFORMED drops different rows when different columns are read; use PERMISSIVE to get lineage"
        raise UnsupportedPlanError(RELATION, why)
    if mode == "FAILFAST" and push_down:
        why = (
            f"mode FAILFAST fails on different rows when filters are pushed into the reader; to get lineage, use "
            f"PERMISSIVE or set spark.sql.{name}.filterPushdown.enabled to false"
        )
        raise UnsupportedPlanError(RELATION, why)
