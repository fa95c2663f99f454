"""Binarise race, charge and label, and compute the days in jail: label.py IN OUT"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("compas: label").getOrCreate()
seconds = sf.unix_timestamp("c_jail_out") - sf.unix_timestamp("c_jail_in")
scores = (
    spark.read.parquet(source)
    .withColumn("race", sf.when(sf.col("race") == "Caucasian", 1).otherwise(0))
    .withColumn("c_charge_degree", sf.when(sf.col("c_charge_degree") == "M", 0).otherwise(1))
    .withColumn("label", 1 - sf.col("two_year_recid").cast("int"))
    .withColumn("jailtime", sf.floor(seconds / 86400).cast("int"))
    .drop("two_year_recid", "c_jail_in", "c_jail_out")
)
scores.write.mode("overwrite").parquet(out)
