"""Read the census CSV and name its columns: read.py CSV OUT"""

import sys

from columns import NAMES
from pyspark.sql import SparkSession

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("census: read").getOrCreate()
people = spark.read.option("header", True).csv(source).toDF(*NAMES)
people.write.mode("overwrite").parquet(out)
spark.stop()
