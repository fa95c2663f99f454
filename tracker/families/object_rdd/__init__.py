"""RDDs of Scala or Java objects."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="ExternalRDD",
    why=Refusal(
        "rows of an RDD of Scala or Java objects have no stable row ids",
        "write the rows to files first, and read these",
    ),
)
