"""Report people, working hours and incomes by region and age: report.py IN OUT"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(source: str, out: str) -> None:
    """Write one row for each region and age band, sorted by both."""
    spark = SparkSession.builder.appName("census: report").getOrCreate()
    report = (
        spark.read.parquet(source)
        .groupBy("region", "age_band")
        .agg(
            sf.count("*").alias("people"),
            sf.round(sf.avg("hours_per_week"), 1).alias("hours"),
            sf.round(100 * sf.avg("over_50k"), 1).alias("percent_over_50k"),
        )
        .orderBy("region", "age_band")
    )
    report.coalesce(1).write.mode("overwrite").parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
