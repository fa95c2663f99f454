"""Reads the file that the task before handed on."""

import sys

from pyspark.sql import SparkSession

file, adults = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
spark.read.csv(file, header=True, inferSchema=True).write.parquet(adults)
