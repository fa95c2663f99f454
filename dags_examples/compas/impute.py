"""Keep nine columns of the COMPAS scores, and fill nulls of days_b_screening_arrest by the mean: impute.py CSV OUT"""

import sys

from columns import COLUMNS
from pyspark.sql import SparkSession

FILLED = """
select * except (days_b_screening_arrest),
    coalesce(double(days_b_screening_arrest), (select avg(double(days_b_screening_arrest)) from scores))
        as days_b_screening_arrest
from scores
"""

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("compas: impute").getOrCreate()
spark.read.csv(source, header=True).select(*COLUMNS).createOrReplaceTempView("scores")
spark.sql(FILLED).write.mode("overwrite").parquet(out)
