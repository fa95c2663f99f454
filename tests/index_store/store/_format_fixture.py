"""Writes the stored example of the present format: run once for each format version, then never again.

``python tests/index_store/store/_format_fixture.py FOLDER`` makes FOLDER/store and FOLDER/expected.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from provspark.index_store.profiles.profile import Bin, ColumnProfile, Correlations, Profile, Profiles, Share
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors import file_choice as choosing
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import from_pairs, from_ranges, pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.driver_datasets import driver_version
from provspark.model.operations import Column, ColumnLink, Expression, Operation, Operations, Term
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey, Task
from provspark.model.writes import Axis, Coverage, Kind, Untracked


def version(name: str, *rows: int) -> PendingVersion:
    """A version of several files, whose names are none that a URL could carry as they are."""
    files = Files.of((f"day={i}/part é 100%-{i}.parquet", 1000 + i, 5 + i, n, i == 0) for i, n in enumerate(rows))
    fields = (Field("x", "bigint"), Field("day", "int"))
    return PendingVersion(Dataset("file", name), files, "parquet", (("mergeschema", "true"),), fields, ("day",))


def boxes() -> dict[str, tuple[int, int, Boxes]]:
    """Tensors (out axis, src axis, boxes) that have every form of column and every choice of files."""
    rng = np.random.default_rng(1)
    n = 300
    return {
        "identity": (0, 1, from_pairs(np.arange(n), np.arange(n))),
        "kept": (0, 1, from_pairs(np.arange(150), np.sort(rng.choice(n, 150, replace=False)))),
        "shuffled": (0, 1, from_pairs(np.arange(n), rng.permutation(n))),
        "grouped": (2, 1, from_ranges(np.arange(100), np.arange(100) * 3, rng.integers(0, 4, 100))),
        "scattered": (0, 1, from_pairs(rng.integers(0, n, 400), rng.integers(0, n, 400))),
        "whole": (0, 1, from_ranges(np.arange(n), np.zeros(n, dtype=np.int64), np.full(n, 3))),
        "none": (0, 1, Boxes.empty()),
        "spread": (0, 1, from_pairs(np.arange(n), np.argsort(np.arange(n) % 7, kind="stable"))),
    }


def make(folder: Path) -> None:
    """Write the example."""
    encoding.PAGE_ROWS = 32
    choosing._LOCAL = 1.5
    store = Store.open(str(folder / "store"), create=True)
    out, src = version("/data/out", 200, 100), version("/data/in", 100, 0, 200)
    axes = (
        Axis("output", 300, out.files.identity(out.dataset), label="out"),
        Axis("input", 300, src.files.identity(src.dataset), 0, "in"),
        Axis("inner", 100, label="Aggregate"),
    )
    expected = {}
    made = boxes()
    for worth, saving in ((0.0, 0.75), (1.15, 0.75), (0.0, 10.0)):
        choosing._EXACT_WORTH, choosing._SRC_WORTH = worth, saving
        key = StepKey("task", f"run {worth} {saving}", "dag ü")
        step = store.writer(key)
        tensors = tuple(PendingTensor(o, s, b, "context" if n == "whole" else "data") for n, (o, s, b) in made.items())
        step.add(PendingWrite(out, "exact", (src,), axes, tensors, site="job.py:3"))
        step.add(PendingWrite(src, "untracked", reason=Untracked("Generate", "not deterministic", "job.py:7")))
        step.publish(
            status="succeeded",
            started="2024-02-29T23:59:59.999999Z",
            ended="2024-03-01T00:00:00.000001Z",
            engine=(("spark", "4.0.0"),),
        )
        expected[key.id] = [[a.tolist() for a in pairs(b)] for _, _, b in made.values()]
    key, tensors = again(store, out, src)
    expected[key.id] = tensors
    key, tensors = reading(store, out, src)
    expected[key.id] = tensors
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


def again(store: Store, out: PendingVersion, src: PendingVersion) -> tuple[StepKey, list[list[list[int]]]]:
    """Add a step that reads one version twice, through inner axes two deep, by ways of both kinds."""
    rng = np.random.default_rng(2)
    identity = src.files.identity(src.dataset)
    axes = (
        Axis("output", 300, out.files.identity(out.dataset), label="out"),
        Axis("input", 300, identity, 0, "in"),
        Axis("input", 300, identity, 1, "in"),
        Axis("inner", 100, label="Aggregate"),
        Axis("inner", 50, label="Join LeftSemi"),
    )
    made = {
        (0, 3, "data"): from_ranges(np.arange(300), rng.integers(0, 96, 300), np.full(300, 4)),
        (3, 4, "data"): from_pairs(np.arange(100), rng.integers(0, 50, 100)),
        (3, 1, "context"): from_pairs(np.arange(100), rng.permutation(300)[:100]),
        (4, 1, "data"): from_ranges(np.arange(50), np.arange(50) * 6, np.full(50, 6)),
        (4, 2, "data"): from_pairs(np.repeat(np.arange(50), 3), rng.permutation(300)[:150]),
        (0, 2, "context"): from_pairs(np.arange(300), np.arange(300)),
    }
    key = StepKey("again", "run", "dag", 3, 2)
    step = store.writer(key, driver_reads="off")
    tensors = tuple(PendingTensor(o, s, b, kind) for (o, s, kind), b in made.items())
    added = step.add(PendingWrite(out, "exact", (src,), axes, tensors, operations=operations()))
    step.profile(added, profiles(identity))
    step.add(PendingWrite(src, "untracked", reason=Untracked("Generate", "not deterministic", "job.py:7")))
    step.publish(status="succeeded", started="2024-03-01T00:00:00.000000Z", ended="2024-03-01T00:00:01.000000Z")
    return key, [[a.tolist() for a in pairs(b)] for b in made.values()]


def reading(store: Store, out: PendingVersion, src: PendingVersion) -> tuple[StepKey, list[list[list[int]]]]:
    """Add a step whose driver reads: rows, a number, a file, rows of its own, and one that nobody could follow.

    Read 0 has rows 20 to 59 of the input, 1 is its count, 2 is of a file, 3 has rows that may be any of those before,
    beside every other of the input, 4 is untracked. The output has the input's rows as they are; each may come of any
    row of reads 0 to 3. A file that the driver wrote came of all that was read.
    """
    key = StepKey("reading", "run", "dag", attempt=2)
    step = store.writer(key, driver_reads="on", dag=DAG)
    identity = src.files.identity(src.dataset)
    source = Axis("input", 300, identity, 0, "in")
    lookup = PendingVersion(Dataset("file", "/data/lookup.csv"), Files.of([("", 9, 9, 1, False)]), "csv", unit="file")
    made = PendingVersion(Dataset("file", "/data/made.csv"), Files.of([("", 7, 9, 1, True)]), "csv", unit="file")

    def read(call: int, rows: int, action: str, *sources: tuple[PendingVersion | None, Axis, Boxes, Kind]) -> None:
        output = driver_version(key.id, call, f"job.py:{call + 3}", rows, fields=(Field("x", "bigint"),), read_at=5)
        axes = (Axis("output", rows, output.files.identity(output.dataset)), *(axis for _, axis, *_ in sources))
        tensors = tuple(PendingTensor(0, i, boxes, kind) for i, (*_, boxes, kind) in enumerate(sources, 1))
        inputs = tuple(v for v, *_ in sources if v is not None)
        reason = None if call in (0, 3) else Untracked("driver", "not followed", f"job.py:{call + 3}")
        coverage: Coverage = "untracked" if not sources else "coarse" if reason else "exact"
        step.add_read(
            PendingWrite(
                output,
                coverage,
                inputs,
                axes if sources else (),
                tensors,
                reason,
                f"job.py:{call + 3}",
                action=action,
                single=action == "DataFrame.count",
            )
        )

    read(0, 40, "DataFrame.collect", (src, source, box(0, 40, 20, 40, True), "data"))
    read(1, 1, "DataFrame.count", (src, source, box(0, 1, 0, 300), "data"))
    of_file = Axis("input", 1, lookup.files.identity(lookup.dataset), 0)
    read(2, 6, "pandas.read_csv", (lookup, of_file, box(0, 6, 0, 1), "data"))
    every = from_pairs(np.arange(10), np.arange(10) * 2)
    read(3, 10, "DataFrame.toPandas", (src, source, every, "data"), (None, *READ_BEFORE, "possible"))
    read(4, 5, "DataFrame.take")
    axes = (Axis("output", 300, out.files.identity(out.dataset), label="out"), source, Axis("reads", 57))
    boxes = {"data": box(0, 300, 0, 300, True), "possible": box(0, 300, 0, 57)}
    tensors = (PendingTensor(0, 1, boxes["data"]), PendingTensor(0, 2, boxes["possible"], "possible"))
    step.add(PendingWrite(out, "exact", (src,), axes, tensors, site="job.py:9"))
    step.add(PendingWrite(src, "untracked", reason=Untracked("Generate", "not deterministic", "job.py:7")))
    axes = (Axis("output", 1, made.files.identity(made.dataset)), Axis("reads", 62))
    reason = Untracked("open", "written by the driver", "job.py:10")
    step.add(PendingWrite(made, "coarse", (), axes, (PendingTensor(0, 1, box(0, 1, 0, 62)),), reason, "job.py:10"))
    step.publish(status="succeeded", started="2024-03-02T00:00:00.000000Z", ended="2024-03-02T00:00:01.000000Z")
    return key, [[a.tolist() for a in pairs(b)] for b in boxes.values()]


def box(out: int, n_out: int, src: int, n_src: int, diagonal: bool = False) -> Boxes:
    """A single box."""
    return Boxes(*(np.array([n]) for n in (out, n_out, src, n_src)), np.array([diagonal]))


DAG = (Task("load", "SparkSubmitOperator"), Task("reading", "ProvSparkOperator", ("load",)))
READ_BEFORE = Axis("reads", 47), box(0, 10, 0, 47)


def profiles(identity: str) -> Profiles:
    """Of an input whose values can't be read in one column, with what a profile may leave open."""
    columns = (
        ColumnProfile(
            "x", "bigint", 300, 0, 2, 0, 1.25, 0.5, "1", "2", (1.0, 1.0, 1.0, 1.5, 2.0), (Bin(1.0, 2.0, 300),)
        ),
        ColumnProfile("é", "string", 1, 299, 1, low="a b", high="a b", top=(Share("a b", 1),)),
        ColumnProfile("z", "double", 0, 300, 0),
    )
    correlations = Correlations(("x", "z"), (None,))
    return Profiles((Profile("file:///data/in", identity, 300, columns, correlations, (("v", "of type variant"),)),))


def operations() -> Operations:
    """A source and what counts its rows by a column whose name needs quoting."""
    day, x, n = Column(1, "day `é`", "int"), Column(2, "x", "bigint"), Column(3, "n", "bigint")
    key = Expression("group", f"`{day.label.replace('`', '``')}`", (Term("AttributeReference", "", 1),))
    count = Expression("output", f"sum(`{x.label}`)", (Term("Sum", "sum", -1, 1), Term("AttributeReference", "", 2)), 3)
    return Operations(
        (
            Operation(0, "LogicalRelation", ("source",), "read /data/in", columns=(x, day), axes=(1, 2)),
            Operation(
                1,
                "Aggregate",
                ("aggregate",),
                "group by day: n = sum(x)",
                children=(0,),
                columns=(day, n),
                expressions=(key, count),
                links=(ColumnLink(3, 2, "aggregation"), ColumnLink(-1, 1, "group by")),
                details=(("kind", "group"),),
                contextual=True,
                site="job.py:3",
                name="counted",
                rows=300,
            ),
        )
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]))
