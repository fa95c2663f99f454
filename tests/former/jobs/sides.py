"""Those who work much, and those who work little; some do both."""

import sys

from pyspark.sql import SparkSession

source, left, right = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
clean = spark.read.parquet(source).select("id", "age")
hours = spark.read.parquet(source).select("id", "hours")
clean.join(hours.where("hours >= 30"), "id", "left_semi").write.parquet(left)
clean.join(hours.where("hours <= 40"), "id", "left_semi").write.parquet(right)
