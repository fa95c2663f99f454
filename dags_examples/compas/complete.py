"""Keep nine columns of the COMPAS scores, and the records without nulls in them: complete.py CSV OUT"""

import sys

from columns import COLUMNS
from pyspark.sql import SparkSession

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("compas: complete").getOrCreate()
scores = spark.read.csv(source, header=True).select(*COLUMNS).na.drop()
scores.write.mode("overwrite").parquet(out)
