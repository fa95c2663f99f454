"""Keeps the people who are of age."""

import sys

from pyspark.sql import SparkSession

people, adults = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
spark.read.parquet(people).filter("age >= 18").write.parquet(adults)
