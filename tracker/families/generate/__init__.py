"""Generators such as explode."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Generate",
            "exact",
            (
                "explode and other generators, table-valued functions, LATERAL VIEW: the row that the generator is "
                "called on; table functions in Python or Hive are refused, because they may make a row from several "
                "input rows or from none"
            ),
        ),
    )
)
