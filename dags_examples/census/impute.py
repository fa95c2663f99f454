"""Replace capital gains of 99999, which means an unknown gain, by the mean: impute.py IN OUT"""

import sys

from pyspark.ml.feature import Imputer
from pyspark.sql import SparkSession

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("census: impute").getOrCreate()
people = spark.read.parquet(source)
imputer = Imputer(strategy="mean", missingValue=99999, inputCols=["capital_gain"], outputCols=["capital_gain"])
imputer.fit(people).transform(people).write.mode("overwrite").parquet(out)
