"""Add the region of each country of birth, and drop countries without one: regions.py IN REGIONS_CSV OUT"""

import sys

from pyspark.sql import SparkSession

people, regions, out = sys.argv[1:]
spark = SparkSession.builder.appName("census: regions").getOrCreate()
lookup = spark.read.csv(regions, header=True, schema="country string, region string")
joined = spark.read.parquet(people).withColumnRenamed("native_country", "country").join(lookup, "country")
joined.write.mode("overwrite").partitionBy("region").parquet(out)
