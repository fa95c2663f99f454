"""Tables of random plans: small files of four formats, with repeats, nulls, a skewed key, one empty, one of groups."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.orc
from oracle.sources import Rows, Source, columnar, in_path_order, numbered, parquet

N_TABLES = 12
SCHEMA = "p INT, q STRING, r BIGINT"
FILES = 3
"""At most so many of a table."""
GROUPED = 8
"""A table of 18 different rows in one file, six for each of three keys: which of them is kept shows in the output."""


def orc(name: str, types: Mapping[str, pa.DataType], *files: Rows) -> Source:
    """Files of ORC."""
    named = numbered(files, "orc")
    contents = {path: columnar(types, rows, pa.orc.write_table) for path, rows in named.items()}
    read = lambda spark, path: spark.read.schema(SCHEMA).orc(path)  # noqa: E731
    return Source(name, tuple(types), in_path_order(named), contents, read)


def lines(name: str, types: Mapping[str, pa.DataType], *files: Rows) -> Source:
    """Files of JSON, a line a row."""
    named = numbered(files, "json")
    contents = {
        path: "".join(json.dumps(dict(zip(types, row, strict=True))) + "\n" for row in rows).encode()
        for path, rows in named.items()
    }
    read = lambda spark, path: spark.read.schema(SCHEMA).json(path)  # noqa: E731
    return Source(name, tuple(types), in_path_order(named), contents, read)


def separated(name: str, types: Mapping[str, pa.DataType], *files: Rows) -> Source:
    """Files of CSV: a null is a dash."""
    named = numbered(files, "csv")
    contents = {
        path: "".join(",".join("-" if v is None else str(v) or '""' for v in row) + "\n" for row in rows).encode()
        for path, rows in named.items()
    }
    read = lambda spark, path: spark.read.schema(SCHEMA).csv(path, nullValue="-")  # noqa: E731
    return Source(name, tuple(types), in_path_order(named), contents, read)


FORMATS: dict[int, Callable[..., Source]] = {9: orc, 10: lines, 11: separated}
"""By the table's number; the others are of Parquet."""


def tables(seed: int) -> tuple[Source, ...]:
    """Small tables of one to three files: repeats, nulls, a skewed key, an empty one, and one of groups of six."""
    made = []
    types = {"p": pa.int32(), "q": pa.string(), "r": pa.int64()}
    for i in range(N_TABLES):
        rng = random.Random(f"{seed} {i}")
        skew = rng.random() < 0.3
        files = [[_row(rng, skew) for _ in range(rng.randint(0, 4) if i else 0)] for _ in range(rng.randint(1, FILES))]
        if i == GROUPED:
            files = [_groups(rng)]
        made.append(FORMATS.get(i, parquet)(f"t{i}", types, *files))
    return tuple(made)


def _groups(rng: random.Random) -> list[tuple[Any, ...]]:
    rows = [(p, rng.choice(["a", "b", None]), r) for p in range(3) for r in range(6)]
    rng.shuffle(rows)
    return rows


def _row(rng: random.Random, skew: bool) -> tuple[Any, ...]:
    p = 1 if skew and rng.random() < 0.7 else rng.choice([None, 0, 1, 2, 3])
    return p, rng.choice([None, "", "a", "a", "b"]), rng.choice([None, 0, 1, 2, 5])
