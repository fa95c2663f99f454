"""Profiles against the statistics module, value by value."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provspark.errors import UnknownColumnError, ValuesUnavailableError, VersionChangedError
from provspark.index_store.profiles import computation as compute
from provspark.index_store.profiles import correlation as correlate
from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.profile import TOP, ColumnProfile, Profile, Profiles
from provspark.index_store.store.manifest import from_json, seal, unseal
from provspark.model.datasets import Dataset, Field, Files, Version
from provspark.model.runs import Runs

ROWS = 500
KINDS = {
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "m": "decimal(8,2)",
    "s": "string",
    "b": "boolean",
    "day": "date",
    "at": "timestamp",
    "list": "array<int>",
    "none": "void",
    "same": "int",
}


def columns(seed: int) -> dict[str, pa.Array]:
    rng = random.Random(seed)

    def some(make: Any, nulls: float = 0.1) -> list[Any]:
        return [None if rng.random() < nulls else make() for _ in range(ROWS)]

    start = datetime(2020, 1, 1, tzinfo=timezone.utc)
    return {
        "i": pa.array(some(lambda: rng.randint(-5, 5)), pa.int32()),
        "l": pa.array(some(lambda: rng.randint(-(10**12), 10**12), 0), pa.int64()),
        "f": pa.array(some(lambda: rng.choice([0.5, -0.0, 0.0, float("nan"), 2.25, float("inf")])), pa.float32()),
        "d": pa.array(some(lambda: rng.gauss(100, 15)), pa.float64()),
        "m": pa.array(some(lambda: Decimal(rng.randint(-999, 999)) / 100), pa.decimal128(8, 2)),
        "s": pa.array(some(lambda: f"v{int(rng.expovariate(0.03))}"), pa.string()),
        "b": pa.array(some(lambda: rng.random() < 0.3), pa.bool_()),
        "day": pa.array(some(lambda: date(2020, 1, 1) + timedelta(rng.randint(0, 30))), pa.date32()),
        "at": pa.array(some(lambda: start + timedelta(seconds=rng.randint(0, 99))), pa.timestamp("us", "UTC")),
        "list": pa.array(some(lambda: [1, 2]), pa.list_(pa.int32())),
        "none": pa.nulls(ROWS),
        "same": pa.array([7] * ROWS, pa.int32()),
    }


class Stored:
    """The columns in two files on disk."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.table = pa.table({n: a for n, a in columns(seed).items() if n != "none"})
        entries = []
        for name, part in (("a.parquet", self.table.slice(0, 200)), ("b.parquet", self.table.slice(200))):
            pq.write_table(part, folder / name, row_group_size=70)
            stat = (folder / name).stat()
            entries.append((name, stat.st_size, stat.st_mtime_ns // 10**6, len(part), True))
        self.files = Files.of(entries)
        data = Dataset.parse(str(folder))
        fields = tuple(Field(n, KINDS[n]) for n in self.table.column_names)
        self.version = Version(self.files.identity(data), data, ROWS, 2, "parquet", (), fields)

    def profile(self, *names: str, rows: Runs | None = None) -> Profile:
        return profile_of(self.version, self.files, names or None, rows)


@pytest.fixture(params=range(3))
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Stored:
    return Stored(tmp_path, request.param)


def check(found: ColumnProfile, values: list[Any]) -> None:
    there = [v for v in values if v is not None]
    assert (found.count, found.nulls, found.rows) == (len(there), len(values) - len(there), len(values))
    if found.type.startswith("array"):
        assert (found.distinct, found.top) == (None, ())
        return
    texts = Counter(compute.text_of(v + 0.0 if isinstance(v, float) else v) for v in there)
    assert found.distinct == len(texts)
    assert [(s.value, s.count) for s in found.top] == sorted(texts.items(), key=lambda t: (-t[1], t[0]))[:TOP]
    if not there or not isinstance(there[0], (int, float, Decimal)) or isinstance(there[0], bool):
        assert (found.mean, found.deviation, found.quantiles, found.histogram) == (None, None, (), ())
        return
    numbers = sorted(float(v) for v in there if math.isfinite(v))
    assert found.unusual == len(there) - len(numbers)
    assert found.mean == pytest.approx(statistics.fmean(numbers))
    assert found.deviation == pytest.approx(statistics.stdev(numbers))
    cuts = statistics.quantiles(numbers, n=20, method="inclusive")
    assert found.quantiles == pytest.approx([cuts[i] for i in (0, 4, 9, 14, 18)])
    ends = [b.low for b in found.histogram] + [found.histogram[-1].high]
    assert (ends[0], ends[-1]) == (pytest.approx(numbers[0]), pytest.approx(numbers[-1])) or numbers[0] == numbers[-1]
    last = len(found.histogram) - 1
    for i, b in enumerate(found.histogram):
        assert b.count == sum(b.low <= v < b.high or (i == last and v == b.high) for v in numbers)


def test_every_column_and_correlation(stored: Stored) -> None:
    found = stored.profile()
    assert [c.name for c in found.columns] == stored.table.column_names
    for c in found.columns:
        check(c, stored.table[c.name].to_pylist())
    assert found.correlations.columns == ("i", "l", "f", "d", "m", "same")
    for left in found.correlations.columns:
        for right in found.correlations.columns:
            pairs = [
                (float(a), float(b))
                for a, b in zip(*(stored.table[n].to_pylist() for n in (left, right)), strict=True)
                if a is not None and b is not None and math.isfinite(a) and math.isfinite(b)
            ]
            wanted = None if "same" in (left, right) else statistics.correlation(*zip(*pairs, strict=True))
            told = found.correlations.of(left, right)
            assert told == (1.0 if left == right else wanted if wanted is None else pytest.approx(wanted, abs=1e-6))


@pytest.mark.parametrize("ids", [[], [3], list(range(150, 260)), list(range(0, ROWS, 2))], ids=len)
def test_some_rows_and_columns(stored: Stored, ids: list[int]) -> None:
    found = stored.profile("S", "i", rows=Runs.of(pa.array(ids, pa.int64()).to_numpy()))
    assert (found.rows, [c.name for c in found.columns]) == (len(ids), ["s", "i"])
    values = stored.table["s"].take(pa.array(ids, pa.int64())).to_pylist()
    assert sum(s.count for s in found.columns[0].top) <= found.columns[0].count == len([v for v in values if v])
    assert found.columns[0].distinct == len(set(values) - {None})


def test_columns_in_small_groups_are_the_same(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stored.profile()
    monkeypatch.setattr(compute, "_AT_ONCE", 2 * ROWS)
    assert stored.profile() == whole


def test_correlations_of_whole_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Stored(tmp_path, 5)
    whole = {n: stored.table[n].to_pylist() for n in ("l", "same")} | {"row": list(range(ROWS))}
    found = correlate.correlate({n: np.array(v, dtype=np.float64) for n, v in whole.items()})
    assert found.of("l", "row") == pytest.approx(statistics.correlation(whole["l"], whole["row"]))
    assert found.of("same", "row") is None
    monkeypatch.setattr(correlate, "_AT_ONCE", 99)
    again = correlate.correlate({n: np.array(v, dtype=np.float64) for n, v in whole.items()})
    assert again.of("row", "l") == pytest.approx(found.of("l", "row"))
    monkeypatch.setattr(correlate, "_MOST", 2)
    assert stored.profile("i", "l", "d").correlations.columns == ()


def test_a_profile_travels_as_json(stored: Stored) -> None:
    told = Profiles((stored.profile(),))
    assert from_json(Profiles, unseal(seal(2, told), "here")[1], "here") == told


def test_what_can_not_be_profiled(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownColumnError, match="no column 'dai'; did you mean day"):
        stored.profile("dai")
    with pytest.raises(UnknownColumnError, match="no column 'dai'; did you mean day"):
        stored.profile().column("dai")
    monkeypatch.setattr(compute, "LIMIT", 999)
    with pytest.raises(ValuesUnavailableError, match=r"500 rows to profile in 2 columns, more than 999 cells"):
        stored.profile("i", "s")
    assert stored.profile("i").columns[0].count > 0
    (Path(stored.version.dataset.name) / "a.parquet").write_bytes(b"other")
    with pytest.raises(VersionChangedError):
        stored.profile("i")


def test_columns_that_can_not_be_read_are_left_out(tmp_path: Path) -> None:
    stored = Stored(tmp_path, 0)
    fields = (*stored.version.fields, Field("span", "interval day to second"))
    odd = Version(stored.version.id, stored.version.dataset, ROWS, 2, "parquet", (), fields)
    found = profile_of(odd, stored.files)
    assert [name for name, _ in found.left_out] == ["span"]
    assert len(found.columns) == len(fields) - 1
    with pytest.raises(ValuesUnavailableError):
        profile_of(odd, stored.files, ["span"])


def test_before_and_after(stored: Stored) -> None:
    half = stored.profile("i", "s", "b", rows=Runs.of(pa.array(range(0, ROWS, 2), pa.int64()).to_numpy()))
    whole = stored.profile("i", "s", "d")
    found = Impact("step", whole, half)
    assert [(n, b is not None, a is not None) for n, b, a in found.pairs()] == [
        ("i", True, True),
        ("s", True, True),
        ("b", False, True),
        ("d", True, False),
    ]
    lines = {(line["column"], line["measure"]): line for line in found.table().to_pylist()}
    assert lines[None, "rows"] == {
        "column": None,
        "measure": "rows",
        "before": ROWS,
        "after": ROWS / 2,
        "change": -ROWS / 2,
    }
    mean = [statistics.fmean(v for v in stored.table["i"].to_pylist()[::step] if v is not None) for step in (1, 2)]
    told = lines["i", "mean"]
    assert [told["before"], told["after"], told["change"]] == pytest.approx([*mean, mean[1] - mean[0]])
    assert (lines["d", "mean"]["after"], lines["b", "count"]["before"]) == (None, None)
    shares = {(line["column"], line["value"]): line for line in found.shares().to_pylist()}
    values = stored.table["i"].to_pylist()
    for value in {*values}:
        told = shares["i", None if value is None else str(value)]
        assert told["before"] == pytest.approx(values.count(value) / ROWS)
        assert told["after"] == pytest.approx(values[::2].count(value) / (ROWS / 2))
    assert {column for column, _ in shares} == {"i", "s"}
    rare = Counter(v for v in stored.table["s"].to_pylist() if v is not None)
    if len(rare) > TOP:
        known = {s.value for s in whole.column("s").top}
        assert all(shares["s", s.value]["before"] is None for s in half.column("s").top if s.value not in known)
