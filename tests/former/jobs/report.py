"""What people of each age spend on each product."""

import sys

from pyspark.sql import SparkSession, functions as F

left, right, joined, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
people = spark.read.parquet(left).union(spark.read.parquet(right)).distinct()
band = F.concat(F.floor(people.age / 10).cast("int") * 10, F.lit("s"))
bought = spark.read.parquet(joined).join(people.withColumn("age", band), F.col("person") == F.col("id"))
report = bought.groupBy("age", "product").agg(F.sum("amount").alias("total"), F.count("*").alias("lines"))
report.orderBy("age", "product").coalesce(1).write.parquet(target)
