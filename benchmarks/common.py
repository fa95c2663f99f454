"""What the benchmarks share: data, a session, tables in the docs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".bench"
REPORT = ROOT / "docs" / "performance.md"


def tpch(scale: str) -> Path:
    """Return a folder with TPC-H's tables as Parquet at this scale factor; made once by tpchgen-cli."""
    folder = SCRATCH / f"tpch-{scale}"
    if not (folder / "lineitem.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        tool = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([tool, "parquet", "-s", scale, "--output-dir", folder], check=True)
    return folder


def session(**settings: str) -> Any:
    """Return a Spark session on all cores, quiet."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").appName("benchmark")
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 4),
        "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),
    }
    for name, value in (defaults | settings).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def process(text: str) -> list[float]:
    """Numbers that a new process prints."""
    said = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout
    return [float(word) for word in said.split()]


def machine() -> str:
    """Say in a line what this was measured on."""
    import pyspark

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"Spark {pyspark.__version__}, {date.today().isoformat()}"
    )


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def publish(section: str, text: str, page: Path = REPORT) -> None:
    """Print a section, and put it between its marks in a page of the docs unless PROVSPARK_BENCH_PRINT is set."""
    print(text)
    if os.environ.get("PROVSPARK_BENCH_PRINT"):
        return
    start, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    report = page.read_text(encoding="utf-8")
    head, rest = report.split(start, 1)
    tail = rest.split(end, 1)[1]
    page.write_text(f"{head}{start}\n\n{text}\n\n{end}{tail}", encoding="utf-8")
