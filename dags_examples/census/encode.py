"""One-hot encode seven columns, binarise two, and drop the weight: encode.py IN OUT"""

import re
import sys

from columns import ENCODED
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("census: encode").getOrCreate()
people = spark.read.parquet(source)
for column, terms in ENCODED.items():
    named = {term: f"{column}_{re.sub('[^a-z0-9]+', '_', term.lower()).strip('_')}" for term in terms}
    hot = [sf.coalesce(sf.col(column) == term, sf.lit(False)).cast("int").alias(named[term]) for term in terms]
    people = people.select("*", *hot).drop(column)
people = people.withColumn("sex", sf.when(sf.col("sex") == "Male", 1).otherwise(0))
people = people.withColumn("income", sf.when(sf.col("income") == ">50K", 1).otherwise(0))
people = people.drop("fnlwgt")
people.write.mode("overwrite").parquet(out)
