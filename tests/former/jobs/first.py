"""The sources: people, orders and their lines, exchange rates, a list."""

import csv
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

NAMES = ("Ada", "Bob", "Cy", "Dee", "Eve")


def sources(root: Path) -> None:
    """Write them below a folder."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "name", "sex", "age", "hours", "capital_gain", "fnlwgt", "consent"])
        for i in range(240):
            name = NAMES[i] if i < len(NAMES) else f"{NAMES[i % 5]} {i}"
            age = "" if i % 11 == 10 else 20 + i * 7 % 50
            hours = "" if i % 13 == 12 else 10 + i * 3 % 50
            gain = 99999 if i % 8 == 5 else i * 37 % 1000
            writer.writerow([i, name, ("Female", "Male")[i % 2], age, hours, gain, 1000 + i, ("no", "yes")[i % 9 > 0]])
    orders = {"order": range(60), "person": [i * 4 for i in range(60)], "product": [f"p{i % 4}" for i in range(60)]}
    lines = {"order": [i // 2 for i in range(120)], "line": range(120), "amount": [1 + i % 7 for i in range(120)]}
    for name, columns in {"orders": orders, "lines": lines, "rates": {"rate": [1.5]}, "copy": {"n": range(3)}}.items():
        (root / name).mkdir()
        pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), root / name / "part.parquet")
    (root / "out.csv").write_text("name\nAda\nBob\nCy\n")


if __name__ == "__main__":
    sources(Path(sys.argv[1]))
