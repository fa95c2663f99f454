"""Trim texts, drop incomplete and duplicate rows, and derive columns: clean.py IN OUT"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

NUMBERS = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]


def clean(people: DataFrame) -> DataFrame:
    """Return one row for each complete, distinct record."""
    trimmed = people.select(*[sf.trim(name).alias(name) for name in people.columns])
    for name in trimmed.columns:
        trimmed = trimmed.filter(sf.col(name) != "?")
    numbered = trimmed.dropDuplicates()
    for name in NUMBERS:
        numbered = numbered.withColumn(name, sf.col(name).cast("int"))
    age = sf.col("age")
    band = sf.when(age < 30, "under 30").when(age < 50, "30 to 49").otherwise("50 and over")
    return (
        numbered.withColumn("net_capital", sf.col("capital_gain") - sf.col("capital_loss"))
        .withColumn("over_50k", sf.when(sf.col("income") == ">50K", 1).otherwise(0))
        .withColumn("age_band", band)
        .drop("fnlwgt")
    )


if __name__ == "__main__":
    spark = SparkSession.builder.appName("census: clean").getOrCreate()
    clean(spark.read.parquet(sys.argv[1])).write.mode("overwrite").parquet(sys.argv[2])
