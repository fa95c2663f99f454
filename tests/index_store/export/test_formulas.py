"""No export in CSV holds a text that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from provspark.index_store.export.tables import write_pages, write_table
from provspark.web import rows

TEXTS = [
    "=1+2",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "=cmd|' /C calc'!A0",
    "a=b",
    "",
    "'",
    " =1",
    "5-3",
    "é",
    "\n=1",
]
RUN = "=+-@\t\r"


def table() -> pa.Table:
    n = len(TEXTS)
    columns = {
        "=text": pa.array(TEXTS),
        "+large": pa.array(TEXTS, pa.large_string()),
        "@dictionary": pa.array(TEXTS).dictionary_encode(),
        "-n": pa.array([-i for i in range(n)]),
        "x": pa.array([-i / 2 for i in range(n)]),
        "d": pa.array([Decimal(-i) / 4 for i in range(n)], pa.decimal128(9, 2)),
        "list": pa.array([[t] for t in TEXTS]),
    }
    return pa.table(columns)


def by_file(folder: Path) -> str:
    write_table(table(), folder / "a.csv")
    return (folder / "a.csv").read_bytes().decode()


def by_pages(folder: Path) -> str:
    write_pages([table().slice(0, 3), table().slice(3)], folder / "a.csv", csv=True)
    return (folder / "a.csv").read_bytes().decode()


def by_http(folder: Path) -> str:
    return b"".join(rows._WRITERS["csv"](iter([table().slice(0, 3), table().slice(3)]))).decode()


@pytest.mark.parametrize("export", [by_file, by_pages, by_http])
def test_texts_are_no_formulas_and_numbers_stay(export: Any, tmp_path: Path) -> None:
    lines = list(csv.reader(io.StringIO(export(tmp_path), newline="")))
    header, *values = lines
    assert header == ["'=text", "'+large", "'@dictionary", "'-n", "x", "d", "list"]
    assert len(values) == len(TEXTS)
    for i, (text, value) in enumerate(zip(TEXTS, values, strict=True)):
        wanted = f"'{text}" if text and text[0] in RUN else text
        assert value[:3] == [wanted] * 3
        assert [float(v) for v in value[3:6]] == [-i, -i / 2, -i / 4]
        assert not [v for v in (*value[:3], value[6]) if v and v[0] in RUN]


def test_other_formats_have_texts_as_they_are(tmp_path: Path) -> None:
    write_table(table(), tmp_path / "a.parquet")
    assert pa.parquet.read_table(tmp_path / "a.parquet")["=text"].to_pylist() == TEXTS
    assert '"=1+2"' in b"".join(rows._WRITERS["jsonl"](iter([table()]))).decode()
