"""Replace credit amounts more than three standard deviations from the mean by the others' mean: impute.py IN OUT"""

import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as sf

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("credit: impute").getOrCreate()
everyone = Window.partitionBy()
amount, known = sf.col("credit_amount"), sf.col("known")
credit = spark.read.parquet(source)
off = sf.abs(amount - sf.avg(amount).over(everyone)) / sf.stddev(amount).over(everyone)
credit = credit.withColumn("known", sf.when(off <= 3, amount))
credit = credit.withColumn("credit_amount", sf.coalesce(known, sf.avg(known).over(everyone))).drop("known")
credit.write.mode("overwrite").parquet(out)
