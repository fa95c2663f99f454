"""The people who told their age, with what the report needs."""

import sys

from pyspark.sql import SparkSession, functions as F

import provspark

source, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
people = spark.read.parquet(source).where("age IS NOT NULL")
with provspark.operation("recode"):
    people = people.withColumn("sex", F.when(F.col("sex") == "Female", "f").otherwise("m"))
    people = people.withColumn("hours", F.coalesce("hours", F.lit(0)))
people.drop("fnlwgt").write.parquet(target)
