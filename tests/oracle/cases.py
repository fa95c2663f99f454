"""Run a plan by plain Spark, by tracked Spark and by the oracle; compare rows, files and lineage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from oracle import lineage, outputs
from oracle.relation import Relation, scan
from oracle.sources import Source
from oracle.values import canon


class Frames:
    """Sources as Spark sees them: ``t.emp`` is a DataFrame of the source emp, read anew each time."""

    def __init__(self, spark: Any, sources: Sequence[Source], root: Path) -> None:
        self.spark = spark
        self.paths = {s.name: s.place(root) for s in sources}
        self._sources = {s.name: s for s in sources}

    def __getattr__(self, name: str) -> Any:
        return self._sources[name].read(self.spark, str(self.paths[name]))

    def sql(self, text: str) -> Any:
        """Run SQL over the sources as temporary views."""
        for name in self.paths:
            if name.lower() in text.lower():
                getattr(self, name).createOrReplaceTempView(name)
        return self.spark.sql(text)


class Scans:
    """Sources as the oracle sees them: ``t.emp`` scans emp, as the plan's next occurrence of an input."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {s.name: s for s in sources}
        self._occurrences = count()

    def made(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Relation:
        """Read rows that the script makes itself; see `lineage.MADE`."""
        return scan(lineage.MADE, columns, rows, next(self._occurrences))

    def __getattr__(self, name: str) -> Relation:
        source = self._sources[name]
        return scan(name, source.columns, source.rows, next(self._occurrences))


def write_parquet(df: Any, path: str) -> None:
    """The usual end of a case."""
    df.write.parquet(path)


@dataclass(frozen=True, slots=True)
class Case:
    """One plan and its meaning.

    `meaning` names scans in plan order, left to right. With `pick`, the output is any so many of
    its rows (or however many plain Spark takes). `expect` allows a refusal instead of exact lineage; the output
    is plain Spark's anyhow.
    """

    name: str
    plan: Callable[[Frames], Any]
    meaning: Callable[[Scans], Relation]
    conf: Mapping[str, object] = field(default_factory=dict)
    pick: int | Literal["some"] | None = None
    ordered: bool = False
    expect: Literal["exact", "exact or refused"] = "exact"
    save: Callable[[Any, str], None] = write_parquet
    form: str = "parquet"
    forward: bool = True
    """False where the case writes more than once: forward tells of the earlier versions as well."""

    def __str__(self) -> str:
        return self.name


@contextmanager
def configured(spark: Any, conf: Mapping[str, object]) -> Iterator[None]:
    """Set the session's configuration for a while."""
    before = {k: spark.conf.get(k, None) for k in conf}
    for k, v in conf.items():
        spark.conf.set(k, str(v))
    try:
        yield
    finally:
        for k, old in before.items():
            spark.conf.unset(k) if old is None else spark.conf.set(k, old)


def check(case: Case, spark: Any, sources: Sequence[Source], root: Path, work: Path) -> None:
    """Run a case; raise AssertionError where the three ways differ.

    `root` is where the sources are, `work` an empty folder for the outputs and the store.
    """
    frames = Frames(spark, sources, root)
    expected = case.meaning(Scans(sources))
    with configured(spark, case.conf):
        plain = run_plain(case, frames, work / "plain")
        compare_values(case, expected, plain)
        capture = run_tracked(case, frames, work)
    tracked = outputs.read(work / "out", case.form)
    compare_outputs(case, plain, tracked)
    if capture.untracked:
        assert case.expect != "exact", f"refused: {'; '.join(map(str, capture.untracked))}"
        return
    answers = lineage.Lineage(work / "store", capture.manifest, sources, frames.paths)
    got = answers.backward(work / "out", len(tracked.rows))
    compare_lineage(case, expected, Counter(zip(map(canon, tracked.rows), got, strict=True)))
    if case.forward:
        wrong = answers.check_forward({work / "out": lineage.transpose(got)})
        assert not wrong, wrong


def run_plain(case: Case, frames: Frames, path: Path) -> outputs.Output:
    """Write the case's output by Spark alone."""
    case.save(case.plan(frames), str(path))
    return outputs.read(path, case.form)


def run_tracked(case: Case, frames: Frames, work: Path) -> Any:
    """Write the case's output as a step of a store of its own; return the capture."""
    from provspark.tracker import attach

    with attach(store=(work / "store").as_uri(), step="case") as capture:
        case.save(case.plan(frames), str(work / "out"))
    return capture


def compare_values(case: Case, expected: Relation, plain: outputs.Output) -> None:
    """The oracle itself is right about the rows' values."""
    rows = Counter(map(canon, plain.rows))
    if case.pick is None:
        assert rows == expected.values(), difference(rows, expected.values())
    else:
        assert case.pick in (rows.total(), "some")
        assert rows <= expected.values(), difference(rows, expected.values())
    if case.ordered:
        assert [canon(r) for r in plain.rows] == [canon(tuple(v)) for v, _ in expected.rows]


def compare_outputs(case: Case, plain: outputs.Output, tracked: outputs.Output) -> None:
    """The tracked write leaves what plain Spark leaves."""
    before, after = Counter(map(canon, plain.rows)), Counter(map(canon, tracked.rows))
    if case.pick is None:
        assert after == before, difference(after, before)
    assert after.total() == before.total()
    assert tracked.schemas == plain.schemas
    assert (tracked.folders, tracked.marks) == (plain.folders, plain.marks)
    if case.ordered:
        assert [canon(r) for r in tracked.rows] == [canon(r) for r in plain.rows]


def compare_lineage(case: Case, expected: Relation, got: Counter[Any]) -> None:
    """The captured multiset of (values, witnesses) is the oracle's."""
    bag = expected.bag()
    assert got == bag or (case.pick is not None and got <= bag), difference(got, bag)


def difference(got: Counter[Any], expected: Counter[Any]) -> str:
    """Say what is too much and what lacks, a few of each."""

    def few(c: Counter[Any]) -> str:
        return "\n".join(f"    {n} x {readable(k)}" for k, n in list(c.items())[:6]) or "    nothing"

    return f"too much:\n{few(got - expected)}\n  lacking:\n{few(expected - got)}"


def readable(item: Any) -> str:
    """A row, or a row with its witnesses sorted."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], frozenset):
        return f"{item[0]} <- {sorted(item[1])}"
    return str(item)
