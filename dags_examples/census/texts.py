"""Name the columns, trim the texts, and replace '?' by null: texts.py CSV OUT"""

import sys

from columns import ENCODED, SCHEMA
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

TEXTS = [*ENCODED, "sex", "income"]

source, out = sys.argv[1:]
spark = SparkSession.builder.appName("census: texts").getOrCreate()
people = spark.read.csv(source, header=True, schema=SCHEMA)
people = people.withColumns({name: sf.trim(name) for name in TEXTS})
people = people.replace("?", None, subset=TEXTS)
people.write.mode("overwrite").parquet(out)
