"""XML both ways: whole files, a record a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check, configured
from oracle.operators import select, union, where
from oracle.relation import Relation
from oracle.sources import Source, in_path_order

pytestmark = pytest.mark.spark

FILES = {
    f"part-{n}.xml": [(i, None if i % 4 == 0 else f"t{i % 3}") for i in range(10 * n, 10 * n + size)]
    for n, size in enumerate((7, 0, 300, 1))
}


def shown(rows: Any) -> bytes:
    """Records of one file, with another tag's records and line breaks within."""
    records = (f"<r>\n<i>{i}</i>{'' if t is None else f'<t>{t}</t>'}</r><other/>\n" for i, t in rows)
    return f"<?xml version='1.0'?><all>{''.join(records)}</all>".encode()


NOTES = Source(
    "notes",
    ("i", "t"),
    in_path_order(FILES),
    {name: shown(rows) for name, rows in FILES.items()},
    lambda spark, path: spark.read.schema("i INT, t STRING").xml(path, rowTag="r", multiLine=True),
)


def records(r: Relation) -> Relation:
    """Rows as `outputs` finds them in XML."""
    return select(
        r, line=lambda v: tuple(sorted((c, str(x)) for c, x in zip(r.columns, v, strict=True) if x is not None))
    )


def twice(df: Any, path: str) -> None:
    """Append: rows of files that are there already are counted again."""
    df.where("i < 5").write.xml(path, rowTag="r")
    df.where("i >= 5").write.xml(path, mode="append", rowTag="r")


CASES = [
    Case("read", lambda t: t.notes.where("t = 't1'"), lambda t: where(t.notes, lambda r: r.t == "t1")),
    Case("no column", lambda t: t.notes.selectExpr("1 AS one"), lambda t: select(t.notes, one=lambda r: 1)),
    Case("ten of them", lambda t: t.notes.limit(10), lambda t: t.notes, pick=10),
    Case(
        "written",
        lambda t: t.notes.repartition(3),
        lambda t: records(t.notes),
        save=lambda df, p: df.write.option("rowTag", "r").option("maxRecordsPerFile", 50).xml(p),
        form="xml",
    ),
    Case("appended to", lambda t: t.notes, lambda t: records(t.notes), save=twice, form="xml", forward=False),
    Case(
        "both",
        lambda t: t.notes.union(t.notes).select("i"),
        lambda t: records(select(union(t.notes, t.notes), "i")),
        save=lambda df, p: df.write.format("xml").option("rowTag", "r").save(p),
        form="xml",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_xml(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    with configured(spark, {"spark.sql.files.maxPartitionBytes": 1000}):
        check(case, spark, [NOTES], sources, tmp_path)
