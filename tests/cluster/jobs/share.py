"""Writes the numbers whose remainder is this share's, when all shares have begun."""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

folder, share, shares = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
spark = SparkSession.builder.getOrCreate()
(folder / f"begun-{share}").touch()
end = time.monotonic() + 600
while len(list(folder.glob("begun-*"))) < shares and time.monotonic() < end:
    time.sleep(0.5)
numbers = spark.read.parquet(f"file://{folder}/numbers")
numbers.filter(numbers["n"] % shares == share).write.parquet(f"file://{folder}/shares/{share}")
spark.stop()
