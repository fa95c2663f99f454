"""The two sources that all scripts read, older than any run: people in two Parquet files, visits in one CSV file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

PEOPLE = [
    (0, "Ann", 23, "Rome", True),
    (1, "Bob", 37, "Oslo", False),
    (2, "Cid", 41, "Rome", True),
    (3, "Dan", 19, "Lima", True),
    (4, "Eva", 52, "Oslo", False),
    (5, "Fay", 30, "Rome", True),
    (6, "Gus", 64, "Lima", False),
    (7, "Hal", 45, "Oslo", True),
    (8, "Ida", 28, "Rome", True),
    (9, "Jon", 33, "Lima", True),
    (10, "Kim", 71, "Oslo", True),
    (11, "Lea", 16, "Rome", False),
]
"""id (the row's id, too), name, age, city, consent."""
VISITS = [
    (0, "2024-01-02", 10),
    (1, "2024-01-02", 20),
    (2, "2024-01-03", 30),
    (4, "2024-01-05", 15),
    (5, "2024-01-05", 45),
    (0, "2024-01-08", 25),
    (7, "2024-01-09", 35),
    (10, "2024-01-09", 60),
]
"""person, day, cost."""
ALL = range(len(PEOPLE))
OLD = [p[0] for p in PEOPLE if p[2] >= 40]
"""2, 4, 6, 7, 10."""
AGREED = [p[0] for p in PEOPLE if p[4]]
REFUSED = [p[0] for p in PEOPLE if not p[4]]
"""1, 4, 6, 11."""
_LONG_AGO = 1_700_000_000


def place(folder: Path) -> tuple[Path, Path]:
    """Write both, and files of settings; return the folder of people and the file of visits.

    The first file of people is the larger one: Spark begins with it, so that ``limit`` takes the first rows.
    """
    people, visits = folder / "people", folder / "visits.csv"
    people.mkdir(parents=True)
    for number, part in enumerate((PEOPLE[:9], PEOPLE[9:])):
        columns = [pa.array(c, t) for c, t in zip(zip(*part, strict=True), _TYPES.values(), strict=True)]
        table = pa.Table.from_arrays(columns, names=list(_TYPES))
        pyarrow.parquet.write_table(table, people / f"part-{number:05d}.parquet")
    lines = ["person,day,cost", *(",".join(map(str, v)) for v in VISITS)]
    visits.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps({"least": 20, "title": "Report"}), encoding="utf-8")
    (folder / "settings.ini").write_text("[report]\nleast = 20\n", encoding="utf-8")
    for path in folder.rglob("*"):
        os.utime(path, (_LONG_AGO, _LONG_AGO))
    return people, visits


_TYPES = {"id": pa.int32(), "name": pa.string(), "age": pa.int32(), "city": pa.string(), "consent": pa.bool_()}
