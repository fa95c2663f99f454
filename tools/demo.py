"""Runs the Census DAG in real Airflow on this machine, then traces a row of its report both ways."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(".demo")
STORE, OUT, LOG = HOME / "store", HOME / "data", HOME / "demo.log"
SOURCE, REPORT = Path("dags_examples/data/census.csv"), OUT / "report"
BIN = Path(sys.executable).parent
DRIVER = Path(sys.prefix) / "driver" / "bin" / "python"
"""The jobs' Python, where Airflow's environment can't have their version of Spark (tools/env.sh)."""
TASKS = {
    "read": "reads the CSV and names its columns",
    "clean": "trims, drops rows with '?' and repeats, derives columns",
    "regions": "joins the countries of birth with a lookup of regions",
    "report": "groups into a report by region and age",
}
STARTED = re.compile(r"\[DAG TEST\] starting task_id=(\w+)")
WARNED = re.compile(r"\[warning +\] (ProvSpark: .*?) +\[airflow")
ROW = 13
SHOWN = ["age", "workclass", "education", "occupation", "hours_per_week", "native_country", "income"]


def main() -> int:
    """Run the demo; the exit code is 0 where all of it worked."""
    began = time.monotonic()
    os.chdir(ROOT)
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    say(f"An Airflow of its own in {HOME}/airflow: SQLite, no services (log: {LOG})")
    parameters = {"data": SOURCE.parent, "out": OUT, "store": STORE}
    conf = json.dumps({name: str(path.resolve()) for name, path in parameters.items()})
    try:
        logged("airflow", "db", "migrate")
        say("The DAG `census`: four PySpark scripts, none of which knows of lineage")
        logged("airflow", "dags", "test", "census", "--conf", conf)
    except subprocess.CalledProcessError as error:
        tail = LOG.read_text().splitlines()[-15:]
        print("", *tail, f"\n{shlex.join(error.cmd)}", sep="\n", file=sys.stderr)
        print(f"ended with code {error.returncode}; the whole log is {LOG.resolve()}", file=sys.stderr)
        return 1
    trace()
    say(f"Done in {time.monotonic() - began:.0f} seconds. To try next:")
    print(f"  export PROVSPARK_STORE={STORE.resolve()} PATH={BIN}:$PATH")
    for command in (
        "ls",
        "ls --steps",
        f"trace {REPORT.resolve()} --where region=Pacific --where people=3",
        f"trace {SOURCE.resolve()} --row 0 --forward",
    ):
        print(f"  provspark {command}")
    print("  make demo-ui    # the page in Airflow, at this trace")
    return 0


def say(text: str) -> None:
    """Announce a part of the demo."""
    print(f"\n* {text}", flush=True)


def logged(*command: str) -> None:
    """Run a command of the environment; its output goes to the log, of the DAG's tasks a line each to the terminal."""
    argv = [str(BIN / command[0]), *command[1:]]
    env = {
        **os.environ,
        "AIRFLOW_HOME": str((HOME / "airflow").resolve()),
        "AIRFLOW__CORE__DAGS_FOLDER": str((ROOT / "dags_examples").resolve()),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__OPENLINEAGE__DISABLED": "True",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    if DRIVER.exists():
        env |= {"PYSPARK_DRIVER_PYTHON": str(DRIVER), "PYSPARK_PYTHON": str(DRIVER)}
    with (
        LOG.open("a") as log,
        subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            if found := STARTED.search(line):
                print(f"  {found[1]:8} {TASKS[found[1]]}", flush=True)
            elif found := WARNED.search(line):
                print(f"           {found[1]}", flush=True)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv)


def trace() -> None:
    """Ask where a row of the report came from, and where one of its lines went."""
    import pyarrow as pa
    from rich.console import Console
    from rich.table import Table

    import provspark

    def show(title: str, names: list[str], rows: list[int], values: pa.Table) -> None:
        table = Table("row", *names, title=title, title_justify="left", title_style="bold")
        for row, record in zip(rows, values.to_pylist(), strict=True):
            table.add_row(str(row), *(str(v).strip() for v in record.values()))
        Console(width=120).print(table)

    prov = provspark.open(str(STORE))
    source, people, report = (str(path.resolve()) for path in (SOURCE, OUT / "people", REPORT))
    say(f"Row {ROW} of the report, traced back through all four tasks to rows of {SOURCE.name}")
    asked = prov.values(report, [ROW]).columns_only()
    show("the report's row", asked.column_names, [ROW], asked)
    lines = prov.backward(report, [ROW], to=source).table()["related_row"].to_pylist()
    picked = [prov.values(people, [0]).columns_only().column_names.index(name) for name in SHOWN]
    show("came from these rows", SHOWN, lines, prov.values(source, lines).columns_only().select(picked))
    say(f"Row {lines[0]} of {SOURCE.name}, traced forward to the report")
    rows = prov.forward(source, [lines[0]], to=report).table()["related_row"].to_pylist()
    show("went into this row", asked.column_names, rows, prov.values(report, rows).columns_only())


if __name__ == "__main__":
    sys.exit(main())
