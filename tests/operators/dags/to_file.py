"""Hands the people who are of age on as a file that pandas writes."""

import sys

from pyspark.sql import SparkSession

people, file = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
table = spark.read.parquet(people).toPandas()
table[table.age >= 18].to_csv(file, index=False)
