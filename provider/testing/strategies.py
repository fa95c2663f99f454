"""Hypothesis strategies for boxes, runs, tensors, writes, steps and whole pipelines."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis, Kind, Untracked
from provspark.testing.oracle import runs_of
from provspark.testing.worlds import World, random_world

__all__ = ["boxes", "dags", "keys", "runs", "tensors", "versions", "writes"]

_NAMES = st.text("ab/ %é日\n'\"=#?:+", min_size=1, max_size=30) | st.just("n" * 1000)


def boxes(n_out: int, n_src: int, most: int = 12) -> st.SearchStrategy[Boxes]:
    """Generate boxes within two axes of these sizes, in any order. They may overlap; a diagonal may have one row."""

    @st.composite
    def build(draw: st.DrawFn) -> Boxes:
        rows = []
        for _ in range(draw(st.integers(0, most)) if n_out and n_src else 0):
            out, src = draw(st.integers(0, n_out - 1)), draw(st.integers(0, n_src - 1))
            wide, high = draw(st.integers(1, n_out - out)), draw(st.integers(1, n_src - src))
            if draw(st.booleans()):
                wide = high = min(wide, high)
                rows.append((out, wide, src, high, 1))
            else:
                rows.append((out, wide, src, high, 0))
        a, b, c, d, diagonal = np.array(rows, dtype=np.int64).reshape(-1, 5).T
        return Boxes(a, b, c, d, diagonal.astype(np.bool_))

    return build()


def runs(n: int) -> st.SearchStrategy[tuple[Int64, Int64]]:
    """Generate the starts and lengths of sorted, disjoint runs of rows below n."""
    return st.lists(st.integers(0, max(0, n - 1)), max_size=8 if n else 0).map(runs_of)


def tensors(axes: tuple[Axis, ...]) -> st.SearchStrategy[tuple[PendingTensor, ...]]:
    """Generate data and context tensors, each from the output or an inner axis to an input or a later inner axis."""
    ends = [
        (out, src)
        for out, a in enumerate(axes)
        for src, b in enumerate(axes)
        if a.role != "input" and b.role != "output" and (b.role == "input" or out < src)
    ]

    @st.composite
    def build(draw: st.DrawFn) -> tuple[PendingTensor, ...]:
        chosen = draw(st.lists(st.sampled_from(ends), max_size=5)) if ends else []
        kinds: st.SearchStrategy[Kind] = st.sampled_from(("data", "context"))
        return tuple(PendingTensor(o, s, draw(boxes(axes[o].size, axes[s].size)), draw(kinds)) for o, s in chosen)

    return build()


@st.composite
def versions(draw: st.DrawFn, name: str = "/data/x", written: bool = False) -> PendingVersion:
    """Generate a version of up to four files of up to 20 rows each, with names that need escaping in URLs."""
    paths = draw(st.lists(_NAMES, max_size=4, unique=True))
    rows = [draw(st.integers(0, 20)) for _ in paths]
    times = [draw(st.integers(0, 2**45)) for _ in paths]
    files = Files.of((p, 100 + n, t, n, written) for p, n, t in zip(paths, rows, times, strict=True))
    return PendingVersion(Dataset("file", name), files, "parquet", (("mergeschema", "true"),), (Field("x", "bigint"),))


@st.composite
def writes(draw: st.DrawFn) -> PendingWrite:
    """Generate a write of up to three readings (some of one version) and two inner axes, or an untracked one."""
    output = draw(versions("/data/out", True))
    inputs = [draw(versions(f"/data/in{i}")) for i in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 9)) == 0:
        return PendingWrite(
            output, "untracked", tuple(inputs), reason=Untracked("Generate", "not known", "job.py:7"), complete=True
        )
    read = draw(st.lists(st.sampled_from(inputs), max_size=3)) if inputs else []
    axes = [Axis("output", output.files.total, output.files.identity(output.dataset))]
    for number, version in enumerate(read):
        twins = sum(v is version for v in read[:number])
        axes.append(Axis("input", version.files.total, version.files.identity(version.dataset), twins))
    axes += [Axis("inner", draw(st.integers(0, 20)), label="group") for _ in range(draw(st.integers(0, 2)))]
    return PendingWrite(output, "exact", tuple(inputs), tuple(axes), draw(tensors(tuple(axes))), site="job.py:3")


def keys() -> st.SearchStrategy[StepKey]:
    """Generate keys of steps, of DAGs or of the command line, mapped or not, with names in any script."""
    name = st.text(min_size=1, max_size=12).filter(lambda t: "\0" not in t and t.isprintable())
    return st.builds(StepKey, name, name, st.just("") | name, st.integers(-1, 3), st.integers(1, 4))


def dags() -> st.SearchStrategy[World]:
    """Generate pipelines with retries, appends, self-joins and untracked writes; `oracle.Oracle` answers about them."""
    return st.integers(0, 2**32 - 1).map(random_world)
