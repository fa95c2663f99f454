"""One query in SmokedDuck, plain and with lineage captured, in turn, by a Python of its own: see `benchmarks.beside`.

Arguments: folder of tables, file of the query, runs. The last line printed is JSON:
median seconds plain, captured, and of the question for the first row, rows that the question gave.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

import smokedduck

data, query, runs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
db = smokedduck.prov_connect()
for path in sorted(data.glob("*.parquet")):
    db.duckdb_conn.execute(f"CREATE TABLE {path.stem} AS SELECT * FROM '{path}'")
text = query.read_text(encoding="utf-8").strip().rstrip(";")
plain, captured = [], []
for run in range(runs + 1):
    for times, how in ((plain, None), (captured, "lineage")):
        began = time.perf_counter()
        db.execute(text, capture_lineage=how)
        if run:
            times.append(time.perf_counter() - began)
told = [statistics.median(plain), statistics.median(captured)]
print(json.dumps([*told, None, 0]), flush=True)  # the question fails for some queries
began = time.perf_counter()
rows = len(db.backward([0]).df())
print(json.dumps([*told, time.perf_counter() - began, rows]))
