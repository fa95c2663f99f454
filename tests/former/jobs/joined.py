"""Orders with their lines."""

import sys

from pyspark.sql import SparkSession

orders, lines, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
joined = spark.read.parquet(orders).join(spark.read.parquet(lines), "order")
joined.orderBy("order", "line").coalesce(1).write.parquet(target)
