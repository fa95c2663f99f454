"""The people of a CSV file as Parquet."""

import sys

from pyspark.sql import SparkSession

source, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
schema = "id int, name string, sex string, age int, hours int, capital_gain int, fnlwgt int, consent string"
people = spark.read.csv(source, schema=schema, header=True)
people.withColumn("consent", people.consent == "yes").write.parquet(target)
