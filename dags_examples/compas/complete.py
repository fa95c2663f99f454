"""Keeps nine columns of the COMPAS scores and the records without gaps: complete.py CSV OUT"""

import sys

from pyspark.sql import SparkSession

COLUMNS = [
    "age",
    "c_charge_degree",
    "race",
    "sex",
    "priors_count",
    "days_b_screening_arrest",
    "two_year_recid",
    "c_jail_in",
    "c_jail_out",
]

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("compas: complete").getOrCreate()
scores = spark.read.csv(source, header=True).select(*COLUMNS).na.drop()
scores.write.mode("overwrite").parquet(out)
