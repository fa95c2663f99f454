"""Nodes without a rule: why each is refused, as docs/operators.md says, and what a script can do instead."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["why"]

_TYPED = "AppendColumns AppendColumnsWithObject CoGroup FlatMapGroupsInR FlatMapGroupsInRWithArrow MapGroups"
_STREAMS = """
    DeduplicateWithinWatermark FlatMapGroupsInPandasWithState FlatMapGroupsWithState NamedStreamingRelation OffsetHolder
    SequentialStreamingUnion StreamingDataSourceV2Relation StreamingDataSourceV2ScanRelation
    StreamingExecutionRelation StreamingRelation StreamingRelationV2 TransformWithState TransformWithStateInPandas
    TransformWithStateInPySpark UpdateEventTimeWatermarkColumn WriteToContinuousDataSource WriteToMicroBatchDataSource
    WriteToMicroBatchDataSourceV1 WriteToStream WriteToStreamStatement
"""
_GROUPS = (
    (
        "UnionLoop UnionLoopRef",
        "a recursive query: which pass a row stems from is not kept",
        "write each pass from a loop of the script",
    ),
    (
        "NearestByJoin",
        "a choice of several nearest rows",
        "join on a range, rank the rows by a window and keep the first ones",
    ),
    (
        _TYPED,
        "typed functions over groups, which Scala and Java alone can write, see objects, not rows",
        "group with SQL's functions, or with applyInPandas",
    ),
    (
        "ExternalRDD",
        "rows of an RDD of Scala or Java objects have no known place",
        "write them to files first, and read these",
    ),
    (
        "DataSourceV2Relation DataSourceV2ScanRelation HiveTableRelation MemoryPlan",
        "rows of this source have no known place",
        "read files with spark.read, or a table of JDBC whose key is declared",
    ),
    (
        "CommandResult PythonWorkerLogs",
        "what Spark says of itself is no data set",
        "collect it, and make a frame of what you need",
    ),
    (_STREAMS, "streams have no end", "write each batch by a step of its own"),
)
REFUSED: Mapping[str, str] = {
    node: f"{reason}; {instead}" for nodes, reason, instead in _GROUPS for node in nodes.split()
}


def why(kind: str, otherwise: str = "no exact rule for this operator, which is not one of Spark's own") -> str:
    """Say why a node that no rule takes is refused."""
    return REFUSED.get(kind, otherwise)
