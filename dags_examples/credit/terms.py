"""Replace the codes of 13 columns by readable names: terms.py CSV OUT"""

import sys

from codes import SCHEMA, TERMS
from pyspark.sql import SparkSession

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("credit: terms").getOrCreate()
credit = spark.read.csv(source, header=True, schema=SCHEMA)
for column, terms in TERMS.items():
    credit = credit.replace(terms, subset=[column])
credit.write.mode("overwrite").parquet(out)
