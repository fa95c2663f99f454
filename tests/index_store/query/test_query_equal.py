import math
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

from provspark.index_store.query.equal_rows import equal_rows
from provspark.model.arrays import Int64

COLUMNS: dict[str, tuple[list[object], pa.DataType]] = {
    "whole": ([None, 0, 1], pa.int64()),
    "real": ([None, 0.0, -0.0, float("nan"), 1.5], pa.float64()),
    "text": ([None, "", "a"], pa.string()),
    "coded": (["x", "y"], pa.dictionary(pa.int32(), pa.string())),
    "list": ([None, [], [0.0], [-0.0], [None]], pa.list_(pa.float64())),
    "struct": ([None, {"a": 1, "b": None}, {"a": 1, "b": "z"}], pa.struct([("a", pa.int8()), ("b", pa.string())])),
    "bytes": ([b"", b"\x00"], pa.binary()),
}


def key(value: object) -> object:
    """A value as Spark groups it."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return tuple(map(key, value)) if isinstance(value, list) else str(value) if isinstance(value, dict) else value


def readers(
    table: pa.Table, stretch: int
) -> tuple[Callable[[Int64], pa.Table], Callable[[], Iterator[tuple[int, pa.Table]]]]:
    def scan() -> Iterator[tuple[int, pa.Table]]:
        for start in range(0, len(table), stretch):
            yield start, table.slice(start, stretch)

    return lambda rows: table.take(pa.array(rows)), scan


@pytest.mark.parametrize("seed", range(60))
def test_equal_rows_are_those_of_equal_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    stretch = int(random.integers(1, 80))
    names = random.permutation(list(COLUMNS))[: random.integers(1, 4)].tolist()
    total = 60
    lines = [[COLUMNS[n][0][random.integers(len(COLUMNS[n][0]))] for n in names] for _ in range(total)]
    columns = {n: pa.array([line[i] for line in lines], COLUMNS[n][1]) for i, n in enumerate(names)}
    rows = np.sort(random.choice(total, int(random.integers(1, 9)), replace=False))
    labels, found = equal_rows(*readers(pa.table(columns), stretch), rows)
    expected = [
        (label, other)
        for label, row in enumerate(rows)
        for other in range(total)
        if [key(v) for v in lines[other]] == [key(v) for v in lines[row]]
    ]
    assert sorted(zip(labels.tolist(), found.tolist(), strict=True)) == expected


def test_nothing_asked_reads_nothing() -> None:
    def read(*rows: Int64) -> pa.Table:
        raise AssertionError("nothing is to be read")

    labels, found = equal_rows(read, read, np.zeros(0, dtype=np.int64))
    assert len(labels) == len(found) == 0
