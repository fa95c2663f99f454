"""Sources whose rows have no position that a row id could name."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="DataSourceV2Relation, DataSourceV2ScanRelation, HiveTableRelation, MemoryPlan",
    why=Refusal(
        "rows of this data source have no stable positions",
        "read files with spark.read, or a JDBC table with declared keys",
    ),
)
