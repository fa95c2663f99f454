"""Formats whose rows are counted: places must not depend on splits, columns read, filters or early stops."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _source_rows import ADDRESS, Row, conf, one_by_one, tagged
from pyarrow import orc

from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jvm(spark: Any) -> Jvm:
    return Jvm(spark)


@dataclass(frozen=True)
class Kind:
    """How one format's files are written (from first id, rows), and read by Spark and alone."""

    name: str
    pattern: str
    schema: str
    write: Callable[[Path, int, int], None]
    options: dict[str, Any] = field(default_factory=dict)

    def frame(self, spark: Any, path: Path) -> Any:
        return spark.read.format(self.name).options(**self.options).schema(self.schema).load(str(path))

    def alone(self, spark: Any, path: Path) -> list[Row]:
        """One file in one piece, as Spark reads it plainly."""
        with conf(spark, spark__sql__files__maxPartitionBytes="1g", spark__sql__files__minPartitionNum=1):
            return [tuple(r) for r in self.frame(spark, path).collect()]


def words(at: int) -> str:
    r = random.Random(at)
    return " ".join(r.choice(["plain", "ünïcode", "x", "long" * r.randint(1, 20)]) for _ in range(r.randint(0, 5)))


def csv_plain(path: Path, first: int, rows: int) -> None:
    path.write_text("".join(f"{i},w{i % 7},{i / 2}\n" for i in range(first, first + rows)))


def csv_odd(path: Path, first: int, rows: int) -> None:
    """A header, blank lines, comments, quotes with separators, short and long lines."""
    lines = ["id,word,half"]
    for i in range(first, first + rows):
        lines += [""] * (i % 5 == 0) + ["# a comment, with commas"] * (i % 6 == 0) + ["   "] * (i % 50 == 0)
        lines.append(f'{i},"{words(i)}, ""quoted""",{i / 2}' if i % 11 else f"{i},short" if i % 2 else f"{i},a,1,b,c")
    path.write_text("\r\n".join(lines) + ("\r\n" if rows % 2 else ""))


def csv_gz(path: Path, first: int, rows: int) -> None:
    path.with_suffix(".csv.gz").write_bytes(
        gzip.compress("".join(f"{i},{words(i)},0\n" for i in range(first, first + rows)).encode())
    )


def csv_bz2(path: Path, first: int, rows: int) -> None:
    text = "".join(
        f"{i},{random.Random(i).random()}{random.Random(-i).random()},0\n" for i in range(first, first + 9 * rows)
    )
    path.with_suffix(".csv.bz2").write_bytes(bz2.compress(text.encode(), 1))


def csv_multiline(path: Path, first: int, rows: int) -> None:
    path.write_text("".join(f'{i},"two\nlines {words(i)}",{i}\n' for i in range(first, first + rows)))


def json_lines(path: Path, first: int, rows: int) -> None:
    out = []
    for i in range(first, first + rows):
        row = {"id": i, "word": words(i), "half": i / 2}
        out.append(json.dumps(row))
        out += [""] * (i % 9 == 0) + ['{"id": broken'] * (i % 13 == 0) + [json.dumps([row, row])] * (i % 17 == 0)
    path.write_text("\n".join(out) + "\n" * bool(rows))


def json_arrays(path: Path, first: int, rows: int) -> None:
    path.write_text(
        json.dumps([{"id": i, "word": words(i), "half": 1.5} for i in range(first, first + rows)], indent=1)
    )


def orc_stripes(path: Path, first: int, rows: int) -> None:
    schema = pa.schema([("id", pa.int64()), ("word", pa.string()), ("half", pa.float64())])
    table = pa.table([range(first, first + rows), [words(i) for i in range(rows)], [0.5] * rows], schema=schema)
    with orc.ORCWriter(path, stripe_size=1024, batch_size=16) as writer:
        for at in range(0, max(rows, 1), 50):
            writer.write(table.slice(at, 50))
    assert orc.ORCFile(path).nstripes > 3 or rows < 300


def text_lines(path: Path, first: int, rows: int) -> None:
    path.write_text("\n".join(words(i) for i in range(first, first + rows)) + "\n" * (rows % 2))


COLUMNS = "id bigint, word string, half double"
ODD = {"header": True, "comment": "#", "ignoreLeadingWhiteSpace": True}
KINDS = [
    Kind("csv", "*.csv", COLUMNS, csv_plain),
    Kind("csv", "*.csv", f"{COLUMNS}, _bad string", csv_odd, {**ODD, "columnNameOfCorruptRecord": "_bad"}),
    Kind("csv", "*.csv.gz", COLUMNS, csv_gz),
    Kind("csv", "*.csv.bz2", COLUMNS, csv_bz2),
    Kind("csv", "*.csv", COLUMNS, csv_multiline, {"multiLine": True}),
    Kind("json", "*.json", f"{COLUMNS}, _corrupt_record string", json_lines),
    Kind("json", "*.json", COLUMNS, json_arrays, {"multiLine": True}),
    Kind("orc", "*.orc", COLUMNS, orc_stripes),
    Kind("text", "*.text", "value string", text_lines),
    Kind("text", "*.text", "value string", text_lines, {"wholetext": True}),
]
NAMES = ["csv", "csv-odd", "csv-gz", "csv-bz2", "csv-multiline", "json", "json-multiline", "orc", "text", "wholetext"]
kinds = pytest.mark.parametrize("kind", KINDS, ids=NAMES)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Kind], Path]:
    made: dict[int, Path] = {}

    def folder(kind: Kind) -> Path:
        if id(kind) not in made:
            made[id(kind)] = root = tmp_path_factory.mktemp(kind.name)
            for name, first, rows in (("b 2", 0, 900), ("a%20é", 900, 301), ("c", 1201, 0), ("d/e", 1201, 3)):
                path = root / f"{name}.{kind.name}"
                path.parent.mkdir(exist_ok=True)
                kind.write(path, first, rows)
        return made[id(kind)]

    return folder


OPEN = {"recursiveFileLookup": True}


@kinds
@pytest.mark.parametrize(
    "split",
    [pytest.param(700, marks=pytest.mark.long), 65536, pytest.param(1 << 20, marks=pytest.mark.long), 128 << 20],
)
def test_places_do_not_depend_on_splits(
    spark: Any, jvm: Jvm, folders: Callable[[Kind], Path], kind: Kind, split: int
) -> None:
    root = folders(kind)
    kind = Kind(kind.name, kind.pattern, kind.schema, kind.write, {**kind.options, **OPEN})
    want = one_by_one(root, kind.pattern, lambda p: kind.alone(spark, p))
    with conf(spark, spark__sql__files__maxPartitionBytes=split, spark__sql__files__openCostInBytes=split):
        whole = tagged(jvm, kind.frame(spark, root))
        few = tagged(jvm, kind.frame(spark, root))
        none = tagged(jvm, kind.frame(spark, root))
        got, version, _ = whole.numbered(whole.frame)
        at = min(1, len(whole.frame.columns) - 2)
        column = whole.frame.columns[at]
        some, also, _ = few.numbered(few.frame.where(f"length({column}) % 3 = 1").select(column, ADDRESS))
        bare, _, _ = none.numbered(none.frame.select(ADDRESS))
    assert sorted(got, key=lambda r: r[0]) == want
    assert sorted(bare) == [(r[0],) for r in want]
    filtered = [(r[0], r[at + 1]) for r in want]
    assert sorted(some) == [r for r in filtered if r[1] is not None and len(r[1]) % 3 == 1]
    assert version.files.rows.tolist() == also.files.rows.tolist()
    assert version.files.total == len(want)
    assert version.format == kind.name
