"""A small pipeline with operations: people → clean → report → copy, of which the last kept no operations.

clean.py: 4 keeps those with an age; 5 makes a band of name or age, and leaves age out. report.py: 7 counts by city.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.operations import Column, ColumnLink, Expression, Operation, Operations, Term
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis

KEPT = [(0, 0), (1, 2), (2, 3)]
GROUPED = [(0, 2), (1, 0), (1, 1)]


def people(folder: Path) -> str:
    """Write the data and the store; return the store's folder."""
    person = [("name", "string"), ("city", "string"), ("age", "int")]
    clean = [("name", "string"), ("city", "string"), ("band", "string")]
    report = [("city", "string"), ("n", "bigint"), ("first", "string")]
    source = _version(folder / "people.csv", "Ada,Rome,36\nBob,Oslo,\nCy,Rome,50\nDee,Oslo,41\nEve,,\n", person)
    cleaned = _version(folder / "clean.csv", "Ada,Rome,young\nCy,Rome,Cy\nDee,Oslo,Dee\n", clean)
    grouped = _version(folder / "report.csv", "Oslo,1,Dee\nRome,2,Ada\n", report)
    copied = _version(folder / "copy.csv", "Oslo,1,Dee\nRome,2,Ada\n", report)
    store = Store.open(str(folder / "prov"), create=True)
    _publish(store, "clean", cleaned, source, KEPT, _cleaning())
    _publish(store, "report", grouped, cleaned, GROUPED, _grouping())
    _publish(store, "copy", copied, grouped, [(0, 0), (1, 1)], None)
    return store.url


def _cleaning() -> Operations:
    name, city, age = Column(1, "name", "string"), Column(2, "city", "string"), Column(3, "age", "int")
    band = Column(4, "band", "string")
    there = Expression("condition", "`age#3` IS NOT NULL", (Term("IsNotNull", "", -1, 1), Term("Ref", "age", 3)))
    when = (
        Term("CaseWhen", "", -1, 3),
        *(Term("LessThan", "<", -1, 2), Term("Ref", "age", 3), Term("Literal", "40")),
        *(Term("Literal", "young"), Term("Ref", "name", 1)),
    )
    case = Expression("output", "CASE WHEN `age#3` < 40 THEN 'young' ELSE `name#1` END", when, 4)
    return Operations(
        (
            Operation(0, "Relation", ("source",), "read people.csv", columns=(name, city, age), axes=(1,), rows=5),
            Operation(
                *(1, "Filter", ("horizontal reduction",), "filter age is not null", (0,), ()),
                *((name, city, age), (there,), (ColumnLink(-1, 3, "filter"),)),
                site="/app/clean.py:4",
                rows=3,
            ),
            Operation(
                *(2, "Project", ("vertical augmentation",), "band = case when age < 40 …", (1,), ()),
                *(
                    (name, city, age, band),
                    (case,),
                    (ColumnLink(4, 3, "conditional"), ColumnLink(4, 1, "transformation")),
                ),
                site="/app/clean.py:5",
                rows=3,
            ),
            Operation(
                *(3, "Project", ("vertical reduction",), "drop age", (2,), (), (name, city, band)),
                site="/app/clean.py:5",
                rows=3,
            ),
        )
    )


def _grouping() -> Operations:
    name, city, band = Column(1, "name", "string"), Column(2, "city", "string"), Column(3, "band", "string")
    n, first = Column(4, "n", "bigint"), Column(5, "first", "string")
    count = Expression("output", "count(1)", (Term("Count", "count", -1, 1), Term("Literal", "1")), 4)
    least = Expression("output", "min(`name#1`)", (Term("Min", "min", -1, 1), Term("Ref", "name", 1)), 5)
    key = Expression("group", "`city#2`", (Term("Ref", "city", 2),))
    return Operations(
        (
            Operation(0, "Relation", ("source",), "read clean.csv", columns=(name, city, band), axes=(1,), rows=3),
            Operation(
                *(1, "Aggregate", ("aggregate",), "group by city: n = count(1), first = min(name)", (0,), ()),
                *((city, n, first), (key, count, least)),
                links=(ColumnLink(-1, 2, "group by"), ColumnLink(5, 1, "aggregation")),
                contextual=True,
                site="/app/report.py:7",
                name="counted",
                rows=2,
            ),
        )
    )


def _version(path: Path, text: str, fields: list[tuple[str, str]]) -> PendingVersion:
    path.write_text(text)
    stat = path.stat()
    made = path.name != "people.csv"
    files = Files.of([("", stat.st_size, stat.st_mtime_ns // 1_000_000, text.count("\n"), made)])
    return PendingVersion(
        Dataset("file", str(path)), files, "csv", (("header", "false"),), tuple(Field(*f) for f in fields)
    )


def _publish(
    store: Store,
    task: str,
    output: PendingVersion,
    source: PendingVersion,
    pairs: list[tuple[int, int]],
    operations: Operations | None,
) -> None:
    files = source.files
    unmade = Files(files.paths, files.sizes, files.mtimes, files.rows, np.zeros(1, dtype=np.bool_))
    read = PendingVersion(source.dataset, unmade, source.format, source.options, source.fields)
    identity = [v.files.identity(v.dataset) for v in (output, read)]
    axes = (
        Axis("output", output.files.total, identity[0]),
        Axis("input", read.files.total, identity[1], 0),
    )
    tensor = PendingTensor(0, 1, from_pairs(*np.array(pairs).T))
    writer = store.writer(StepKey(task, "r1", "people"))
    writer.add(PendingWrite(output, "exact", (read,), axes, (tensor,), operations=operations))
    hour = {"clean": 1, "report": 2, "copy": 3}[task]
    writer.publish(
        status="succeeded", started=f"2024-05-01T0{hour}:00:00.000000", ended=f"2024-05-01T0{hour}:00:01.000000"
    )
