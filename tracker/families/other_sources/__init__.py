"""Sources whose rows have no position that a row id could name."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="DataSourceV2Relation, DataSourceV2ScanRelation, HiveTableRelation, MemoryPlan",
    why=Refusal(
        "this data source gives rows no stable positions",
        "read files with spark.read, or a table of JDBC whose key is declared",
    ),
)
