"""Rows that left by a file that the driver wrote, copied or read itself.

If only the driver has opened a file, its rows are known where a footer counts them; a CSV file is then one row, row 0,
unless Spark counts the rows of a copy.
"""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import ALL, OLD, VISITS

CASES = Cases(rows=[10])


@CASES(data=ALL)
def csv_by_pandas(spark: Any, people: str, out: str, work: str) -> None:
    p = spark.read.parquet(people).toPandas()  # R
    p[p.age > 30].to_csv(f"{work}/some.csv", index=False)
    spark.read.csv(f"{work}/some.csv", header=True).write.parquet(out)


@CASES(data=OLD)
def parquet_by_pyarrow_read_by_the_next_step(spark: Any, people: str, work: str) -> None:
    import pyarrow.parquet as pq

    table = spark.read.parquet(people).filter("age >= 40").toArrow()  # R
    pq.write_table(table.select(["id", "name"]), f"{work}/old.parquet")


@parquet_by_pyarrow_read_by_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    spark.read.parquet(f"{work}/old.parquet").write.parquet(out)


@CASES(data=OLD)
def csv_by_a_writer(spark: Any, people: str, out: str, work: str) -> None:
    import csv

    with open(f"{work}/old.csv", "w", newline="") as file:
        writer = csv.writer(file)
        for row in spark.read.parquet(people).filter("age >= 40").collect():  # R
            writer.writerow([row.id, row.name])
    spark.read.csv(f"{work}/old.csv", schema="id INT, name STRING").write.parquet(out)


@CASES(data=OLD)
def json_dumped_for_the_next_step(spark: Any, people: str, work: str) -> None:
    import json

    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    with open(f"{work}/old.json", "w") as file:
        json.dump([row.asDict() for row in rows], file)


@json_dumped_for_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    spark.read.json(f"{work}/old.json").write.parquet(out)


@CASES(possible=OLD, reads="RS", ends="S", label="coarse")
def a_pickle_for_the_next_step(spark: Any, people: str, work: str) -> None:
    import pickle

    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    with open(f"{work}/old.pickle", "wb") as file:
        pickle.dump([(row.id, row.name) for row in rows], file)


@a_pickle_for_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    import pickle

    with open(f"{work}/old.pickle", "rb") as file:  # S
        pairs = pickle.load(file)
    spark.createDataFrame(pairs, "id INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="RS", ends="S", label="coarse")
def an_array_of_numpy_for_the_next_step(spark: Any, people: str, work: str) -> None:
    import numpy as np

    np.save(f"{work}/ages.npy", spark.read.parquet(people).select("age").toPandas().to_numpy())  # R


@an_array_of_numpy_for_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    import numpy as np

    ages = np.load(f"{work}/ages.npy")  # S
    spark.createDataFrame([(int(age),) for age in np.sort(ages[:, 0])], "age INT").write.parquet(out)


@CASES(data=range(len(VISITS)), source="visits", rows=[0])
def a_copied_file(spark: Any, visits: str, out: str, work: str) -> None:
    import shutil

    shutil.copy(visits, f"{work}/copy.csv")
    spark.read.csv(f"{work}/copy.csv", header=True).write.parquet(out)


@CASES(data=OLD)
def a_file_that_is_renamed(spark: Any, people: str, out: str, work: str) -> None:
    import os

    with open(f"{work}/names.part", "w") as file:
        for row in spark.read.parquet(people).filter("age >= 40").toLocalIterator():  # R
            print(row.name, file=file)
    os.replace(f"{work}/names.part", f"{work}/names.txt")
    spark.read.text(f"{work}/names.txt").write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def a_source_read_by_pandas(spark: Any, people: str, out: str) -> None:
    import pandas as pd

    p = pd.read_parquet(people)  # R
    spark.createDataFrame(p[p.consent]).write.parquet(out)


@CASES(possible=[0], reads="R", source="visits", rows=[0], label="coarse")
def a_source_opened_as_text(spark: Any, visits: str, out: str) -> None:
    import csv

    with open(visits, newline="") as file:  # R
        costs = [(line["day"], int(line["cost"])) for line in csv.DictReader(file)]
    spark.createDataFrame(costs, "day STRING, cost INT").write.parquet(out)


@CASES(data=[0], source="visits", rows=[0], label="coarse")
def from_pandas_to_pandas(visits: str, out: str) -> None:
    import pandas as pd

    costs = pd.read_csv(visits).groupby("person", as_index=False)["cost"].sum()  # R
    costs.to_parquet(out)


@CASES(data=ALL)
def a_temporary_file(spark: Any, people: str, out: str) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        spark.read.parquet(people).toPandas().to_csv(file, index=False)  # R
        file.flush()
        spark.read.csv(file.name, header=True).write.parquet(out)


@CASES(possible=ALL, reads="S", label="coarse")
def a_folder_of_spark_read_by_pandas(spark: Any, people: str, out: str, work: str) -> None:
    import pandas as pd

    spark.read.parquet(people).select("id", "name").write.parquet(f"{work}/copy")
    p = pd.read_parquet(f"{work}/copy")  # S
    spark.createDataFrame(p).write.parquet(out)
