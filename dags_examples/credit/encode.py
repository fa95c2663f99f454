"""Split personal_status into two columns and one-hot encode eleven: encode.py IN OUT"""

import sys

from codes import ENCODED, STATUS, TERMS, WOMEN
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("credit: encode").getOrCreate()
personal = sf.col("personal_status")
credit = spark.read.parquet(source)
credit = credit.withColumn("gender", sf.when(personal.isin(WOMEN), 0).otherwise(1)).withColumn("status", personal)
credit = credit.replace(STATUS, subset=["status"])
credit = credit.drop("personal_status")
kinds = {column: list(TERMS[column].values()) for column in ENCODED} | {"status": sorted(set(STATUS.values()))}
for column, terms in kinds.items():
    for term in terms:
        credit = credit.withColumn(f"{column}_{term}", (sf.col(column) == term).cast("int"))
    credit = credit.drop(column)
credit.write.mode("overwrite").parquet(out)
