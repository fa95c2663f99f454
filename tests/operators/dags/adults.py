"""Keeps the people who are of age, in pandas: rows leave Spark and come back."""

import sys

from pyspark.sql import SparkSession

people, adults = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
table = spark.read.parquet(people).toPandas()
table = table[table.age >= 18]
spark.createDataFrame(table).write.parquet(adults)
