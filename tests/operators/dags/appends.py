"""Appends some rows to a folder."""

import sys

from pyspark.sql import SparkSession

folder, rows = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
spark.range(0, int(rows), 1, 2).write.mode("append").parquet(folder)
