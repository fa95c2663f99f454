"""What each customer spent on orders above 10: spend.py FOLDER OUT SLEEP_MS WATCH [cancel | flaky]

Reads FOLDER/orders and FOLDER/customers. Tells in the file WATCH how far Spark's stages are, a line each: stage, tasks
done, tasks. Each order takes SLEEP_MS, in the JVM; those of order 7 take a hundred times as long.
"""

import sys
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

folder, out, sleep, watch = sys.argv[1:5]
how = sys.argv[5] if len(sys.argv) > 5 else ""
spark = SparkSession.builder.appName("spend").getOrCreate()
context = spark.sparkContext
done = threading.Event()


def tell() -> None:
    """Say how far the stages are; cancel all where that is asked for."""
    seen: dict[int, str] = {}
    while not done.is_set():
        tracker = context.statusTracker()
        for stage in {*tracker.getActiveStageIds(), *seen}:
            info = tracker.getStageInfo(stage)
            if info is not None:
                seen[stage] = f"{stage} {info.numCompletedTasks} {info.numTasks}"
                if how == "cancel" and 0 < info.numCompletedTasks < info.numTasks:
                    context.cancelAllJobs()
                    return
        Path(watch).write_text("\n".join(seen.values()))
        time.sleep(0.05)


@sf.udf("double")
def flaky(amount: float) -> float:
    """The amount; the first two tries to have that of order 7 fail."""
    if amount == 77.0:
        tries = Path(watch + ".tries")
        count = int(tries.read_text()) if tries.exists() else 0
        tries.write_text(str(count + 1))
        if count < 2:
            raise RuntimeError(f"try {count} fails")
    return amount


watcher = threading.Thread(target=tell)
watcher.start()
try:
    pause = f"java_method('java.lang.Thread', 'sleep', if(id = 7, 100L, 1L) * {sleep}L)"
    orders = spark.read.parquet(f"{folder}/orders").filter(f"amount > 10 and coalesce({pause}, 'null') != ''")
    if how == "flaky":
        orders = orders.withColumn("amount", flaky("amount"))
    customers = spark.read.parquet(f"{folder}/customers")
    spent = orders.join(customers, "customer").groupBy("customer", "name").agg(sf.sum("amount").alias("spent"))
    spent.sort("customer").write.parquet(out)
finally:
    done.set()
    watcher.join()
