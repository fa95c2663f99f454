"""Streams."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused=(
        "DeduplicateWithinWatermark, FlatMapGroupsInPandasWithState, FlatMapGroupsWithState, "
        "NamedStreamingRelation (from 4.2), OffsetHolder, SequentialStreamingUnion (from 4.2), "
        "StreamingDataSourceV2Relation, StreamingDataSourceV2ScanRelation, StreamingExecutionRelation, "
        "StreamingRelation, StreamingRelationV2, TransformWithState, TransformWithStateInPandas (4.0), "
        "TransformWithStateInPySpark (from 4.1), UpdateEventTimeWatermarkColumn, WriteToContinuousDataSource, "
        "WriteToMicroBatchDataSource, WriteToMicroBatchDataSourceV1, WriteToStream, WriteToStreamStatement"
    ),
    why=Refusal("Structured Streaming is not supported", "write each batch as a separate step"),
)
