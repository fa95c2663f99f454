"""Generators such as explode."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Generate",
            "exact",
            (
                "the row that the generator is called on (explode and similar functions, table-valued functions, "
                "LATERAL VIEW). Refused: table functions in Python or Hive, because an output row may come from "
                "several input rows or from none"
            ),
        ),
    )
)
