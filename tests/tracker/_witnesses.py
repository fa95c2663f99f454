"""Run a query again on the witnesses of one output row alone, and on all rows but some of them."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from oracle.cases import configured

import provspark
from provspark.model.datasets import Dataset
from provspark.model.steps import Manifest

Rows = Counter[tuple[Any, ...]]
SAMPLED = tuple(map(int, os.environ.get("PROVSPARK_WITNESSES", "1 2").split()))
"""How many rows of each query's output are proved, and by how many occurrences each."""
Occurrence = tuple[str, int]
"""A table's name, and which reading of it in the plan."""


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Of one output row: by occurrence its data witnesses, by table all its witnesses."""

    data: Mapping[Occurrence, frozenset[int]]
    every: Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of one Parquet file each, as temporary views of a session."""

    spark: Any
    folder: Path
    contents: Mapping[str, pa.Table]
    schemas: Mapping[str, Any]

    @classmethod
    def of(cls, spark: Any, folder: Path) -> Tables:
        """Make views of the files NAME.parquet in a folder."""
        names = sorted(path.stem for path in folder.glob("*.parquet"))
        frames = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in names}
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        contents = {name: _plain(pq.read_table(folder / f"{name}.parquet")) for name in names}
        return cls(spark, folder, contents, {name: frame.schema for name, frame in frames.items()})

    def drop(self) -> None:
        """Drop the views."""
        for name in self.contents:
            self.spark.catalog.dropTempView(name)

    def run(self, text: str, rows: Mapping[str, Collection[int]], work: Path) -> Rows:
        """Run a query with only these rows of some of the tables."""
        work.mkdir()
        try:
            for name, some in rows.items():
                pq.write_table(self.contents[name].take(pa.array(sorted(some), pa.int64())), work / f"{name}.parquet")
                self._view(name, work)
            with configured(self.spark, {"spark.sql.shuffle.partitions": 1}):
                frame = self.spark.sql(text)
                return values(frame.toDF(*(f"c{i}" for i in range(len(frame.columns)))).toArrow())
        finally:
            for name in rows:
                self._view(name, self.folder)

    def _view(self, name: str, folder: Path) -> None:
        frame = self.spark.read.schema(self.schemas[name]).parquet(str(folder / f"{name}.parquet"))
        frame.createOrReplaceTempView(name)

    def without(self, name: str, rows: Collection[int]) -> list[int]:
        """Return the other rows of a table."""
        return sorted(set(range(len(self.contents[name]))) - set(rows))


def _plain(table: pa.Table) -> pa.Table:
    """Return the table with text of the usual kind: rows of string views can't be taken."""
    views = pa.string_view()
    return table.cast(pa.schema([f.with_type(pa.string()) if f.type == views else f for f in table.schema]))


def values(table: pa.Table) -> Rows:
    """Multiset of rows; sums of doubles come in any order, so twelve digits of them count."""
    return Counter(tuple(rounded(v) for v in line.values()) for line in table.to_pylist())


def rounded(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    return value.normalize() if isinstance(value, Decimal) else value


def witnesses(store: str, output: Path, row: int) -> Witnesses:
    """Ask a store."""
    prov = provspark.open(store)
    found = prov.backward(Dataset("file", str(output)).uri, rows=[row], kinds=("data", "context")).table().to_pylist()
    data: dict[Occurrence, set[int]] = {}
    every: dict[str, set[int]] = {}
    for line in found:
        name = Path(line["dataset"]).stem
        every.setdefault(name, set()).add(line["related_row"])
        if line["kind"] == "data":
            data.setdefault((name, line["occurrence"]), set()).add(line["related_row"])
    return Witnesses(
        {k: frozenset(v) for k, v in data.items()},
        {k: frozenset(v) for k, v in every.items()},
    )


def unseen(manifest: Manifest) -> set[str]:
    """Return tables of which an occurrence leaves no edge: the inner sides of anti-joins."""
    (write,) = manifest.writes
    names = {v.id: Path(v.dataset.name).stem for v in write.inputs}
    reached = {tensor.src for tensor in write.tensors}
    return {names[a.version] for i, a in enumerate(write.axes) if a.role == "input" and i not in reached}


@dataclass(frozen=True, slots=True)
class Sample:
    """How many rows of an output, and for each of them how many occurrences, at most."""

    rows: int
    occurrences: int
    seed: int


@dataclass(frozen=True, slots=True)
class Lacking:
    """What did not come out as it should: the table whose rows were taken away is "" where only witnesses were left."""

    table: str
    what: str


@dataclass(slots=True)
class Tally:
    """What came of running again."""

    rows: int = 0
    returned: int = 0
    taken: int = 0
    fell: int = 0
    lacking: list[Lacking] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Rows, those that came back, occurrences taken away, those without which a row came less often."""
        return self.rows, self.returned, self.taken, self.fell


def check(text: str, tables: Tables, manifest: Manifest, output: Path, sample: Sample) -> Tally:
    """Run a query again for some rows of its output, which stands beside its store.

    On the witnesses alone a row comes back, where tables of which no edge speaks (the inner sides of anti-joins) are
    left whole. Without all data witnesses of one occurrence it comes less often.
    """
    tally = Tally()
    rng = random.Random(sample.seed)
    written = pq.read_table(output)
    whole = values(written)
    lines = [tuple(rounded(v) for v in line.values()) for line in written.to_pylist()]
    read = {Path(v.dataset.name).stem for v in manifest.writes[0].inputs} - unseen(manifest)
    for row in rng.sample(range(len(lines)), min(sample.rows, len(lines))):
        mine = witnesses((output.parent / "store").as_uri(), output, row)
        kept = {name: mine.every.get(name, frozenset()) for name in read}
        tally.rows += 1
        if tables.run(text, kept, output.parent / f"kept-{row}")[lines[row]]:
            tally.returned += 1
        else:
            tally.lacking.append(Lacking("", f"row {row} {lines[row]} did not come back"))
        for name, occurrence in rng.sample(sorted(mine.data), min(sample.occurrences, len(mine.data))):
            rest = {name: tables.without(name, mine.data[name, occurrence])}
            again = tables.run(text, rest, output.parent / f"taken-{row}-{name}-{occurrence}")
            tally.taken += 1
            if again[lines[row]] < whole[lines[row]]:
                tally.fell += 1
            else:
                tally.lacking.append(Lacking(name, f"row {row} {lines[row]} stays without {name} {occurrence}"))
    return tally
