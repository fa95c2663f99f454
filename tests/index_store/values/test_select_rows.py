from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _values_spark import SparkSide, from_spark, version_at

from provspark.errors import ConditionError, UnknownColumnError, VersionChangedError
from provspark.index_store.values.selection import Condition, select_rows
from provspark.model.datasets import Files, Version

FRAME = """
select id, cast(if(id % 7 = 3, null, id % 5) as int) i, if(id % 6 = 2, null, concat('n', id % 11, 'é')) s,
  case when id % 9 = 1 then null when id % 9 = 2 then double('NaN') when id % 9 = 3 then double('-Infinity')
    else id / 4 - 10 end x,
  cast(id / 4 as decimal(10,2)) d, date_add(date'2024-01-01', cast(id % 20 as int)) dt,
  if(id % 8 = 5, null, struct(if(id % 3 = 0, null, id % 4) as k, named_struct('t', concat('t', id % 6)) as m)) st,
  timestamp_seconds(id * 1000) ts, if(id % 4 = 1, null, id % 2 = 0) b, if(id % 3 = 0, null, array(id)) arr,
  cast(id % 3 as int) p
from range(200)
"""
COLUMNS: dict[str, list[str]] = {
    "id": ["0", "17", "-3", "199"],
    "i": ["0", "2", "4"],
    "s": ["n3é", "n", "zzz", "", "n10é"],
    "x": ["NaN", "-Infinity", "0", "2.5", "-7.25"],
    "d": ["12.5", "3.005", "0"],
    "dt": ["2024-01-05", "2023-01-01", "2024-01-20"],
    "ts": ["1970-01-01T10:00:00Z", "1970-01-02 00:00:00"],
    "b": ["true", "false"],
    "p": ["0", "1", "2"],
    "st.k": ["0", "2", "3"],
    "st.m.t": ["t0", "t3", "t9"],
}
TEXTS = ("s", "st.m.t")


@pytest.fixture(scope="module")
def sides(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SparkSide]:
    out = {}
    frame = spark.sql(FRAME).repartition(1)
    for fmt in ("parquet", "orc", "json", "csv"):
        path = tmp_path_factory.mktemp(fmt) / "d"
        left_out = {"csv": ["arr", "st"], "orc": ["ts"]}.get(fmt, [])
        writer = frame.drop(*left_out).write.partitionBy("p").format(fmt)
        writer.option("parquet.block.size", "2000").option("emptyValue", "").save(str(path))
        schema = "id bigint, i int, s string, x double, d decimal(10,2), dt date, b boolean"
        more = ("ts timestamp", "arr array<bigint>", "st struct<k:bigint,m:struct<t:string>>")
        schema += "".join(f", {c}" for c in more if c.split()[0] not in left_out)
        out[fmt] = SparkSide(spark, path, fmt, schema + ", p int", {}, ("p",))
    return out


def spark_literal(column: str, text: str) -> str:
    kind = {
        "s": "string",
        "x": "double",
        "d": "decimal(20,5)",
        "dt": "date",
        "ts": "timestamp",
        "b": "boolean",
        "st.m.t": "string",
    }
    return f"cast('{text}' as {kind.get(column, 'bigint')})"


def random_condition(rnd: random.Random, columns: list[str]) -> tuple[Condition, str]:
    column = rnd.choice(columns)
    operator = rnd.choice(["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"])
    if column in TEXTS and rnd.random() < 0.5:
        if rnd.random() < 0.5:
            return Condition(column, "startswith", "n1"), f"startswith({column}, 'n1')"
        pattern = rnd.choice(["n1%", "%é", "_1_", "%", "", "n_", "t%"])
        return Condition(column, "like", pattern), f"{column} like '{pattern}'"
    if operator.startswith("is"):
        return Condition(column, operator), f"{column} {operator}"
    if operator == "in":
        values = tuple(rnd.choice(COLUMNS[column]) for _ in range(2))
        return Condition(column, "in", values), f"{column} in ({', '.join(spark_literal(column, v) for v in values)})"
    value = rnd.choice(COLUMNS[column])
    return Condition(column, operator, value), f"{column} {operator} {spark_literal(column, value)}"


@pytest.mark.spark
@pytest.mark.parametrize("fmt", ["parquet", "orc", "json", "csv"])
def test_rows_are_those_that_spark_selects(spark: Any, sides: dict[str, SparkSide], fmt: str) -> None:
    side = sides[fmt]
    rnd = random.Random(fmt)
    columns = [c for c in COLUMNS if c.split(".")[0] in dict(side.fields)]
    cases = []
    for _ in range(30):
        chosen = [random_condition(rnd, columns) for _ in range(rnd.choice([1, 1, 2, 3]))]
        cases.append(([c for c, _ in chosen], " and ".join(f"({text})" for _, text in chosen)))
    frame = spark.read.schema(",".join(f"`{n}` {t}" for n, t in side.fields)).format(fmt)
    frame = frame.load(side.version.dataset.name)
    sums = [f"collect_set(if({sql}, id, null)) c{n}" for n, (_, sql) in enumerate(cases)]
    want = from_spark(frame.selectExpr(*sums))[0]
    found = 0
    for n, (conditions, sql) in enumerate(cases):
        ids = {side.rows[row]["id"] for row in select_rows(side.version, side.files, conditions).tolist()}
        assert ids == set(want[f"c{n}"]), sql
        found += len(ids)
    assert found > 100


@pytest.fixture
def table(tmp_path: Path) -> tuple[Version, Files]:
    columns = {
        "n": pa.array([1, None, 3, 4, 5, 6], pa.int32()),
        "t": pa.array(["a", "b", None, "c", "b", "b"]),
        "d": pa.array([Decimal("1.50")] * 6, pa.decimal128(5, 2)),
        "day": pa.array([dt.date(2024, 1, i) for i in range(1, 7)]),
        "at": pa.array([dt.datetime(2024, 1, i) for i in range(1, 7)], pa.timestamp("us", "UTC")),
        "ok": pa.array([True, False, None, True, True, False]),
        "f": pa.array([0.5, float("nan"), None, -0.0, 0.0, 2.0]),
        "raw": pa.array([b"x"] * 6),
        "s": pa.array([{"k": i, "m": {"t": f"{i}%"}} if i else None for i in range(6)]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=2)
    kinds = ["int", "string", "decimal(5,2)", "date", "timestamp", "boolean", "double", "binary"]
    kinds.append("struct<k:bigint,m:struct<t:string>>")
    return version_at(tmp_path, "parquet", list(zip(columns, kinds, strict=True)), {"a.parquet": 6})


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        (("n", "=", 3), [2]),
        (("N", "!=", 3), [0, 3, 4, 5]),
        (("n", "in", [1, 6]), [0, 5]),
        (("n", "IS  NULL", None), [1]),
        (("t", "in", ("b", "c")), [1, 3, 4, 5]),
        (("d", "<", Decimal("1.501")), [0, 1, 2, 3, 4, 5]),
        (("day", ">", dt.date(2024, 1, 4)), [4, 5]),
        (("at", ">=", dt.datetime(2024, 1, 5)), [4, 5]),
        (("at", "=", "2024-01-05 01:00:00+01:00"), [4]),
        (("ok", "=", True), [0, 3, 4]),
        (("ok", "=", "FALSE"), [1, 5]),
        (("f", "=", 0), [3, 4]),
        (("f", "=", float("nan")), [1]),
        (("f", "<", float("nan")), [0, 3, 4, 5]),
        (("f", "<=", float("nan")), [0, 1, 3, 4, 5]),
        (("f", ">", float("nan")), []),
        (("f", ">", 1), [1, 5]),
        (("raw", "is not null", None), [0, 1, 2, 3, 4, 5]),
        (("t", "like", "_"), [0, 1, 3, 4, 5]),
        (("t", "startswith", "b"), [1, 4, 5]),
        (("s.k", ">", 3), [4, 5]),
        (("S.M.T", "like", "4\\%"), [4]),
        (("s.m", "is null", None), [0]),
    ],
)
def test_conditions_with_typed_values(table: tuple[Version, Files], condition: Any, want: list[int]) -> None:
    got = select_rows(*table, [condition])
    assert got.dtype == np.int64
    assert got.tolist() == want


def test_all_conditions_hold_and_none_selects_all(table: tuple[Version, Files]) -> None:
    assert select_rows(*table, [("n", ">", 3), ("t", "=", "b")]).tolist() == [4, 5]
    assert select_rows(*table, []).tolist() == [0, 1, 2, 3, 4, 5]


def test_row_groups_that_can_not_match_are_left_out(
    table: tuple[Version, Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = pq.ParquetFile.read_row_group

    def spy(self: Any, group: int, columns: list[str]) -> pa.Table:
        read.append(group)
        return real(self, group, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spy)
    assert select_rows(*table, [("day", "=", "2024-01-05"), ("ok", "=", True)]).tolist() == [4]
    assert read == [2]
    assert select_rows(*table, [("t", "startswith", "c")]).tolist() == [3]
    assert read == [2, 1]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (("n", "=", "x"), "'x' does not fit column n, which is int"),
        (("n", "=", "3000000000"), "does not fit"),
        (("n", "=", 1.5), "1.5 does not fit"),
        (("n", "=", True), "True does not fit"),
        (("t", "=", 5), "5 does not fit column t, which is string"),
        (("day", "=", "5 May"), "does not fit column day, which is date"),
        (("day", "=", dt.datetime(2024, 1, 1)), "does not fit"),
        (("at", "=", "soon"), "does not fit"),
        (("at", "=", "10:30"), "has no date"),
        (("d", "=", "NaN"), "does not fit"),
        (("ok", "=", "yes"), "does not fit"),
        (("n", "=", None), "Write `n is null`"),
        (("n", "is null", 3), "takes no value"),
        (("n", "~", 3), "Unknown operator '~'"),
        (("n", "in", "1"), "takes a list of values"),
        (("n", "in", []), "Pass at least one value"),
        (("raw", "=", "x"), "Use `is null`"),
        (("n", "like", "1%"), "like compares text with text; n is int"),
        (("t", "startswith", 1), "startswith compares text"),
        (("s.kk", "=", 1), "without a field 'kk'; did you mean s.k?"),
        ("n=1", "A condition must be"),
        (("n",), "A condition must be"),
        ((5, "=", 1), "A condition must be"),
        (("s.k.x", "=", 1), "s.k of .* is bigint, which has no named fields"),
    ],
)
def test_conditions_that_do_not_fit(table: tuple[Version, Files], condition: Any, message: str) -> None:
    with pytest.raises(ConditionError, match=message):
        select_rows(*table, [condition])


def test_an_unknown_column_names_those_that_come_near(table: tuple[Version, Files]) -> None:
    with pytest.raises(UnknownColumnError, match="no column 'dayy'; did you mean day"):
        select_rows(*table, [("dayy", "=", "x")])


def test_files_that_changed(table: tuple[Version, Files]) -> None:
    version, files = table
    Path(version.dataset.name, "a.parquet").write_bytes(b"other")
    with pytest.raises(VersionChangedError):
        select_rows(version, files, [("n", "=", 1)])
