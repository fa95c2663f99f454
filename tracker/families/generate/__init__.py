"""explode and its kin."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Generate",
            "exact",
            (
                "explode and its kin, table-valued functions, LATERAL VIEW: each row made owes itself to the row; "
                "functions of Python or Hive that make tables are refused, for they may make rows of several rows or "
                "of none"
            ),
        ),
    )
)
