"""Sources of every format: one file and many, split and not, partitioned, at odd paths."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from oracle.cases import Case, check
from oracle.operators import group, select, union, where
from oracle.sources import Rows, Source, columnar, in_path_order, numbered
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

SCHEMA = "n INT, s STRING"
TYPES = {"n": pa.int32(), "s": pa.string()}


def lines(first: int, count: int) -> list[tuple[Any, ...]]:
    """Rows (n, s): n is unique, s repeats and is null now and then, lengths differ."""
    return [(i, None if i % 7 == 0 else "x" * (i % 5 + 1)) for i in range(first, first + count)]


ONE = [lines(0, 90)]
MANY = [lines(100 * i, (7 * i) % 13) for i in range(30)]
"""Thirty files of 0 to 12 rows."""


def split(size: int) -> dict[str, object]:
    """Settings that cut files into splits of so many bytes."""
    return {"spark.sql.files.maxPartitionBytes": size, "spark.sql.files.openCostInBytes": 1}


def csv_file(rows: Rows, header: bool = False, end: str = "\n") -> bytes:
    text = [("n,s" + end) if header else ""]
    text += [",".join("" if v is None else str(v) for v in row[:2]) + end for row in rows]
    return "".join(text).encode()


def json_file(rows: Rows) -> bytes:
    return "".join(
        json.dumps({k: v for k, v in zip("ns", row, strict=False) if v is not None}) + "\n" for row in rows
    ).encode()


def text_file(rows: Rows) -> bytes:
    return "".join(f"{row[0]}\n" for row in rows).encode()


def parquet_file(rows: Rows) -> bytes:
    return columnar(TYPES, rows, pa.parquet.write_table, row_group_size=20)


def orc_file(rows: Rows) -> bytes:
    return columnar(TYPES, rows, pa.orc.write_table, stripe_size=1024, batch_size=16)


def source(name: str, read: Any, files: Mapping[str, Rows], make: Any, *more: str) -> Source:
    return Source(name, ("n", "s", *more), in_path_order(files), {p: make(rows) for p, rows in files.items()}, read)


READ = {
    "parquet": lambda s, p: s.read.parquet(p),
    "orc": lambda s, p: s.read.orc(p),
    "csv": lambda s, p: s.read.schema(SCHEMA).csv(p),
    "json": lambda s, p: s.read.schema(SCHEMA).json(p),
    "text": lambda s, p: s.read.text(p).selectExpr("CAST(value AS INT) AS n", "value AS s"),
}
MAKE = {"parquet": parquet_file, "orc": orc_file, "csv": csv_file, "json": json_file, "text": text_file}


def as_text(rows: Rows) -> list[tuple[Any, ...]]:
    """What `READ["text"]` gives for rows."""
    return [(n, str(n), *more) for n, _, *more in rows]


def of(form: str, kind: str, files: Mapping[str, Rows], *more: str) -> Source:
    """A source of a format with the plainest reading."""
    made = source(f"{form}_{kind}", READ[form], files, MAKE[form], *more)
    return replace(made, rows=tuple(as_text(made.rows))) if form == "text" else made


def thrice(source: Source, conf: Mapping[str, object], label: str = "") -> Case:
    """Read a source whole, by a filter, and without any column of it."""
    name = source.name
    return Case(
        f"{name}{label}",
        lambda t: (
            getattr(t, name)
            .select(*source.columns)
            .union(getattr(t, name).filter("n % 3 = 1 AND n > 9").select(*source.columns))
            .union(getattr(t, name).select(*(sf.lit(None) for _ in source.columns)))
        ),
        lambda t: union(
            getattr(t, name),
            where(getattr(t, name), lambda r: r.n is not None and r.n % 3 == 1 and r.n > 9),
            select(getattr(t, name), **{c: lambda r: None for c in source.columns}),
        ),
        conf=conf,
    )


FORMS = ["parquet", "orc", "csv", "json", "text"]
SIZES = {"parquet": [1000], "orc": [700], "csv": [60, 300], "json": [250], "text": [60]}
PLAIN = [
    (s, thrice(s, conf, label))
    for form in FORMS
    for s, conf, label in [
        *((of(form, "one", numbered(ONE, form)), split(n), f", split by {n}") for n in SIZES[form]),
        (of(form, "many", numbered(MANY, form)), {}, ""),
    ]
]

QUOTED = b'n,s\n1,"a,b"\n2,"say ""hi"""\n3,""\n4,\n5,  pad \n'
ODD = [
    Source(
        "csv_header",
        ("n", "s"),
        tuple(r for rows in (ONE[0][:60], lines(500, 9)) for r in rows),
        {
            "a.csv": csv_file(ONE[0][:60], header=True),
            "b.csv": b"n,s\n",
            "c.csv": csv_file(lines(500, 9), header=True)[:-1],
            "d.csv": b"",
        },
        lambda s, p: s.read.csv(p, header=True, inferSchema=True),
    ),
    Source(
        "csv_quotes",
        ("n", "s"),
        ((1, "a,b"), (2, 'say "hi"'), (3, None), (4, None), (5, "  pad ")),
        {"a.csv": QUOTED},
        lambda s, p: s.read.schema(SCHEMA).csv(p, header=True, escape='"'),
    ),
    Source(
        "csv_blanks",
        ("n", "s"),
        ((1, "a"), (2, "b"), (3, None), (4, "d"), (5, "e")),
        {"a.csv": b"\n\n1,a\n# 9,z\n\n2,b\n3\n", "b.csv": b"#\n\n4,d,more\n\n\n5,e"},
        lambda s, p: s.read.schema(SCHEMA).csv(p, comment="#"),
    ),
    Source(
        "csv_malformed",
        ("n", "s"),
        ((1, "a"), (None, "b"), (3, None), (4, "d")),
        {"a.csv": b"1,a\nx,b\n3\n4,d,more\n"},
        lambda s, p: s.read.schema(SCHEMA).csv(p, mode="PERMISSIVE"),
    ),
    Source(
        "csv_lines_in_quotes",
        ("n", "s"),
        ((1, "a\nb"), (10, "c"), (13, "\n\n"), (4, "e")),
        {"a.csv": b'1,"a\nb"\n10,c\n', "b.csv": b'13,"\n\n"\n\n4,e\n'},
        lambda s, p: s.read.schema(SCHEMA).csv(p, multiLine=True),
    ),
    Source(
        "csv_crlf_and_tabs",
        ("n", "s"),
        tuple(ONE[0][:50]),
        {"a.csv": csv_file(ONE[0][:50], end="\r\n").replace(b",", b"\t")},
        lambda s, p: s.read.schema(SCHEMA).csv(p, sep="\t"),
    ),
    Source(
        "csv_gz",
        ("n", "s"),
        tuple(ONE[0]),
        {
            "a.csv.gz": gzip.compress(csv_file(ONE[0][:50])),
            "b.csv": csv_file(ONE[0][50:80]),
            "c.csv.gz": gzip.compress(csv_file(ONE[0][80:])),
        },
        lambda s, p: s.read.schema(SCHEMA).csv(p),
    ),
    Source(
        "json_blanks",
        ("n", "s"),
        ((1, None), (None, None), (3, "c"), (None, None), (5, None)),
        {"a.json": b'\n{"n": 1}\n\n{}\n{"s": "c", "n": 3}\n', "b.json": b'{"n": oops\n\n\n{"n": 5, "t": 1}'},
        lambda s, p: s.read.schema(SCHEMA).json(p),
    ),
    Source(
        "json_over_lines",
        ("n", "s"),
        ((1, "a"), (10, "b"), (13, None), (16, "d")),
        {
            "a.json": b'[{"n": 1,\n"s": "a"},\n{"n": 10, "s": "b"}]',
            "b.json": b'{"n":\n13}',
            "c.json": b'[{"n":16,"s":"d"}]',
        },
        lambda s, p: s.read.schema(SCHEMA).json(p, multiLine=True),
    ),
    Source(
        "text_blank_lines",
        ("n", "s"),
        ((1, "1"), (None, ""), (13, "13"), (None, ""), (None, "x"), (19, "19")),
        {"a.txt": b"1\n\n13\n", "b.txt": b"\nx\n19"},
        lambda s, p: s.read.text(p).selectExpr("try_cast(value AS INT) AS n", "value AS s"),
    ),
    Source(
        "text_other_ends",
        ("n", "s"),
        tuple((n, str(n)) for n in range(60)),
        {"a.txt": ";".join(map(str, range(60))).encode()},
        lambda s, p: s.read.text(p, lineSep=";").selectExpr("CAST(value AS INT) AS n", "value AS s"),
    ),
    Source(
        "text_whole",
        ("n", "s"),
        ((1, "1"), (10, "10"), (13, "13")),
        {"a.txt": b"1", "b.txt": b"10", "c.txt": b"13"},
        lambda s, p: s.read.text(p, wholetext=True).selectExpr("CAST(value AS INT) AS n", "value AS s"),
    ),
]
ODD_CASES = [(s, thrice(s, conf, label)) for s in ODD for conf, label in [(split(24), ", split by 24")]]

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def partitioned(form: str) -> Source:
    """Partitions by a number, null among them, and by a text that folders escape."""
    files = {
        f"p={p}/q={folder}/{name}": [(*row, None if p == HIVE_NULL else int(p), q) for row in rows]
        for p, folder, q, name, rows in [
            ("1", "a%2Fb", "a/b", "z", lines(0, 12)),
            ("1", "a%2Fb", "a/b", "y", lines(20, 3)),
            ("10", "c d", "c d", "x", lines(40, 20)),
            ("2", "é", "é", "w", lines(70, 15)),
            (HIVE_NULL, "100%25", "100%", "v", lines(90, 5)),
            ("2", "a%2Fb", "a/b", "u", []),
            ("3", HIVE_NULL, None, "t", lines(100, 8)),
        ]
    }
    return of(form, "partitioned", files, "p", "q")


PARTITIONED = [
    (
        s,
        Case(
            f"{s.name}, pruned",
            lambda t, n=s.name: (
                getattr(t, n)
                .union(getattr(t, n).filter("p = 2 OR q = 'c d'"))
                .union(getattr(t, n).filter("p > 1 AND n % 2 = 0 AND s IS NOT NULL"))
                .union(getattr(t, n).filter("p IS NULL"))
            ),
            lambda t, n=s.name: union(
                getattr(t, n),
                where(getattr(t, n), lambda r: r.p == 2 or r.q == "c d"),
                where(getattr(t, n), lambda r: r.p is not None and r.p > 1 and r.n % 2 == 0 and r.s is not None),
                where(getattr(t, n), lambda r: r.p is None),
            ),
            conf=split(60),
        ),
    )
    for s in [partitioned("parquet"), partitioned("csv")]
] + [
    (
        s,
        Case(
            f"{s.name}, only partition columns",
            lambda t, n=s.name: getattr(t, n).filter("q <> 'é'").groupBy("p").agg(sf.count("*").alias("c")),
            lambda t, n=s.name: group(where(getattr(t, n), lambda r: r.q is not None and r.q != "é"), ["p"], c=len),
        ),
    )
    for s in [partitioned("orc"), partitioned("json"), partitioned("parquet")]
]

PLACES = [
    (s, thrice(s, {}))
    for s in [
        replace(of("parquet", "p", numbered(MANY[:4], "parquet")), name="with space/é ü/a+b"),
        replace(of("csv", "p", numbered(MANY[:4], "csv")), name="sp ace/日本/#x"),
        replace(
            of("csv", "url", {"a.csv": MANY[3], "B.csv": MANY[5]}),
            name="csv_url/in",
            read=lambda s, p: s.read.schema(SCHEMA).csv(f"file://{p}/../in/"),
        ),
        replace(of("json", "no_suffix", {"b": MANY[1], "a": MANY[2], "_no": [], "a b": MANY[4]}), name="names"),
    ]
]


@pytest.mark.parametrize(
    ("source", "case"),
    [pytest.param(s, c, id=str(c)) for s, c in [*PLAIN, *ODD_CASES, *PARTITIONED, *PLACES]],
)
def test_source(source: Source, case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, [source], sources, tmp_path)
