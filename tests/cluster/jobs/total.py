"""Sums up what the shares hold."""

import sys

from pyspark.sql import SparkSession

folder, shares = sys.argv[1], int(sys.argv[2])
spark = SparkSession.builder.getOrCreate()
numbers = spark.read.parquet(*(f"file://{folder}/shares/{share}" for share in range(shares)))
numbers.groupBy((numbers["n"] % 10).alias("digit")).sum("n").write.parquet(f"file://{folder}/total")
spark.stop()
