"""Joins with the nearest rows: each left row with those right rows that come out beside it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from families.nearest_by.meaning import nearest_by
from oracle.cases import Case, Frames, Scans, check, compare_outputs, run_plain, run_tracked
from oracle.lineage import Lineage
from oracle.operators import count, group, rename, select, total, where
from oracle.outputs import read
from oracle.relation import Relation
from oracle.sources import parquet
from oracle.tables import DEPT, EMP, INT, LONG, NONE, REAL, TEXT
from oracle.values import canon, lt, rank, strict
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = [
    pytest.mark.spark,
    pytest.mark.since("4.2"),
]

NAN = float("nan")
POINTS = parquet(
    "points",
    {"x": REAL, "n": INT, "t": TEXT},
    [(0.5, 1, "a"), (None, 2, "b"), (3.25, 3, None), (-0.0, 4, "a")],
    [],
    [(7.0, 5, "c"), (0.5, 6, "a"), (NAN, 7, ""), (7.0, 8, "c"), (9.5, None, "d")],
)
"""Right rows: a place that repeats, is null, or no number; what else they hold repeats, too."""
SAME = parquet("same", {"k": INT, "x": REAL}, [(1, 1.0), (1, 1.0)], [(1, 1.0), (None, None), (2, 4.0), (None, None)])
"""Left rows that are equal."""
LINE = parquet(
    "line", {"w": LONG, "t": TEXT}, [(w, "abc"[w % 3]) for w in range(0, 14, 3)], [(w, None) for w in (50, 71)]
)
"""Right rows at different places."""
TABLES = (EMP, DEPT, NONE, POINTS, SAME, LINE)

away = strict(lambda a, b: 2 * abs(a - b) + (b < a))
"""A distance that differs for any two whole numbers."""
AWAY = "2 * abs({} - {}) + CAST({} < {} AS INT)"


def by(a: str, b: str) -> str:
    """`away` in SQL."""
    return AWAY.format(a, b, b, a)


def of(rows: int, *, outer: bool, similarity: bool, mode: str) -> Case:
    how = "LEFT OUTER" if outer else "INNER"
    direction = "SIMILARITY" if similarity else "DISTANCE"
    text = f"SELECT id, v, w, t FROM emp {how} JOIN line {mode} NEAREST {rows} BY {direction} {by('v', 'w')}"
    return Case(
        f"{rows} {how} {mode} {direction}".lower(),
        lambda t: t.sql(text),
        lambda t: select(
            nearest_by(t.emp, t.line, lambda a, b: away(a.v, b.w), rows, outer=outer, similarity=similarity),
            "id",
            "v",
            "w",
            "t",
        ),
    )


minus = strict(lambda a, b: a - b)
text = strict(lambda *parts: "".join(map(str, parts)))


def strict_distance(a: Any, b: Any) -> float | None:
    return None if a.x is None else abs(a.x - b.w)


def away_of(a: Any, b: Any) -> Any:
    """`away` of Spark's columns."""
    return 2 * sf.abs(a - b) + (b < a).cast("int")


CASES = [
    *(of(rows, outer=outer, similarity=False, mode="EXACT") for rows in (1, 2, 7, 100) for outer in (False, True)),
    *(of(rows, outer=outer, similarity=True, mode="APPROX") for rows in (1, 3) for outer in (False, True)),
    Case(
        "equal left rows",
        lambda t: t.sql("SELECT * FROM same LEFT OUTER JOIN line EXACT NEAREST 2 BY DISTANCE abs(x - w)"),
        lambda t: nearest_by(t.same, t.line, strict_distance, 2, outer=True),
    ),
    *(
        Case(
            f"nothing on the right, {how.lower()}",
            lambda t, how=how: t.sql(f"SELECT id, w FROM emp {how} JOIN none EXACT NEAREST 3 BY DISTANCE abs(id - w)"),
            lambda t, how=how: select(
                nearest_by(t.emp, t.none, lambda a, b: away(a.id, b.w), 3, outer=how != "INNER"), "id", "w"
            ),
        )
        for how in ("INNER", "LEFT OUTER")
    ),
    Case(
        "nothing on the left",
        lambda t: t.sql("SELECT n.w, t FROM none n LEFT OUTER JOIN line EXACT NEAREST 3 BY DISTANCE abs(n.w - line.w)"),
        lambda t: Relation.of(("w", "t"), ()),
        forward=False,
    ),
    Case(
        "nulls are no nearest rows, no number is the farthest",
        lambda t: t.sql("SELECT id, n FROM emp LEFT OUTER JOIN points EXACT NEAREST 7 BY DISTANCE id - points.x"),
        lambda t: select(nearest_by(t.emp, t.points, lambda a, b: minus(a.id, b.x), 7, outer=True), "id", "n"),
    ),
    Case(
        "no number is the most similar",
        lambda t: t.sql("SELECT id, n FROM emp JOIN points EXACT NEAREST 1 BY SIMILARITY points.x"),
        lambda t: select(nearest_by(t.emp, t.points, lambda a, b: b.x, 1, similarity=True), "id", "n"),
    ),
    Case(
        "the ranking is a text",
        lambda t: t.sql("SELECT id, n FROM emp JOIN points APPROX NEAREST 4 BY SIMILARITY concat(g, t, n)"),
        lambda t: select(nearest_by(t.emp, t.points, lambda a, b: text(a.g, b.t, b.n), 4, similarity=True), "id", "n"),
    ),
    Case(
        "of groups",
        lambda t: t.sql(
            "SELECT n, w FROM (SELECT k, count(*) AS n FROM emp GROUP BY k) LEFT OUTER JOIN"
            f" (SELECT k, sum(w) AS w FROM dept GROUP BY k) EXACT NEAREST 3 BY DISTANCE {by('n', 'w')}"
        ),
        lambda t: select(
            nearest_by(
                group(t.emp, ["k"], n=count()),
                group(t.dept, ["k"], w=total("w")),
                lambda a, b: away(a.n, b.w),
                3,
                outer=True,
            ),
            "n",
            "w",
        ),
    ),
    Case(
        "groups of it",
        lambda t: t.sql(
            f"SELECT t, count(*) AS c FROM emp JOIN line EXACT NEAREST 2 BY DISTANCE {by('v', 'w')} GROUP BY t"
        ),
        lambda t: select(group(nearest_by(t.emp, t.line, lambda a, b: away(a.v, b.w), 2), ["t"], c=count()), "t", "c"),
    ),
    Case(
        "one over another",
        lambda t: t.sql(
            "SELECT id, a.w AS a, b.w AS b FROM (SELECT id, w FROM emp JOIN line EXACT NEAREST 2 BY DISTANCE"
            f" {by('id', 'w')}) a LEFT OUTER JOIN line b EXACT NEAREST 2 BY SIMILARITY {by('a.w', 'b.w')}"
        ),
        lambda t: (
            lambda a: select(
                nearest_by(
                    a, rename(select(t.line, "w"), "b"), lambda a, b: away(a.a, b.b), 2, outer=True, similarity=True
                ),
                "id",
                "a",
                "b",
            )
        )(rename(select(nearest_by(t.emp, t.line, lambda a, b: away(a.id, b.w), 2), "id", "w"), "id", "a")),
    ),
    Case(
        "conditions above",
        lambda t: t.sql(
            f"SELECT id, v, w FROM emp JOIN line EXACT NEAREST 3 BY DISTANCE {by('v', 'w')}"
            " WHERE id > 2 AND w > 6 AND id < w"
        ),
        lambda t: select(
            where(
                nearest_by(t.emp, t.line, lambda a, b: away(a.v, b.w), 3),
                lambda r: r.id > 2 and r.w > 6 and r.id < r.w,
            ),
            "id",
            "v",
            "w",
        ),
    ),
    Case(
        "a condition that keeps the ranking from failing",
        lambda t: t.sql(
            "SELECT id, w FROM (SELECT * FROM emp JOIN line EXACT NEAREST 2 BY DISTANCE line.w + 1 / id) WHERE id > 0"
        ),
        lambda t: select(
            nearest_by(where(t.emp, lambda r: r.id > 0), t.line, lambda a, b: b.w + 1 / a.id, 2), "id", "w"
        ),
        conf={"spark.sql.ansi.enabled": True},
    ),
    Case(
        "by the DataFrame's method",
        lambda t: (
            lambda a, b: a.nearestByJoin(
                b, away_of(a["v"], b["w"]), 2, joinType="leftouter", mode="exact", direction="distance"
            ).select("id", "w")
        )(t.emp, t.line),
        lambda t: select(nearest_by(t.emp, t.line, lambda a, b: away(a.v, b.w), 2, outer=True), "id", "w"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nearest_by(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


TIES = {
    "all": ("0 * emp.id", lambda a, b: 0 if a.id is not None else None),
    "some": ("CASE WHEN points.x > 5 THEN 1 WHEN points.x <= 5 THEN 0 END", lambda a, b: lt(5, b.x)),
    "by the left row": ("points.n % (emp.id + 1)", lambda a, b: None if b.n is None else b.n % (a.id + 1)),
}
"""Rankings by which several right rows are as near."""


@pytest.mark.parametrize("shown", ["n, t", "t"])
@pytest.mark.parametrize("how", ["INNER", "LEFT OUTER"])
@pytest.mark.parametrize("rows", [1, 2, 4, 9])
@pytest.mark.parametrize("tie", TIES)
def test_ties(tie: str, rows: int, how: str, shown: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """Which of them come out, Spark leaves open: it is those of plain Spark, and lineage names the very rows shown."""
    ranking, meaning = TIES[tie]
    text = f"SELECT id, {shown} FROM emp {how} JOIN points APPROX NEAREST {rows} BY DISTANCE {ranking}"
    case = Case(tie, lambda t: t.sql(text), lambda t: t.emp)
    frames = Frames(spark, TABLES, sources)
    plain, capture = run_plain(case, frames, tmp_path / "plain"), run_tracked(case, frames, tmp_path)
    tracked = read(tmp_path / "out")
    compare_outputs(case, plain, tracked)
    assert not capture.untracked
    scans = Scans(TABLES)
    left, right = [v for v, _ in scans.emp.rows], [v for v, _ in scans.points.rows]
    chosen: dict[int, list[int]] = defaultdict(list)
    answers = Lineage(tmp_path / "store", capture.manifest, TABLES, frames.paths)
    for row, witnesses in zip(tracked.rows, answers.backward(tmp_path / "out", len(tracked.rows)), strict=True):
        ((_, _, i), (_, _, j)) = sorted(witnesses)
        assert sorted(witnesses) == [("emp", 0, i), ("points", 1, j)]
        b = right[j]
        assert canon(row) == canon((left[i].id, *((b.n, b.t) if "n" in shown else (b.t,))))
        chosen[i].append(j)
    for i, a in enumerate(left):
        near = sorted(rank(meaning(a, b)) for b in right if meaning(a, b) is not None)[:rows]
        assert len(set(chosen[i])) == len(chosen[i]), "a right row comes out once for each left row"
        assert sorted(rank(meaning(a, right[j])) for j in chosen[i]) == near


@pytest.mark.parametrize("columns", [["*"], ["id", "w"], ["w", "t", "id", "v"]], ids=" ".join)
def test_metadata_of_columns(columns: list[str], spark: Any, sources: Path, tmp_path: Path) -> None:
    """Files say of columns what plain Spark's say, which loses what the left ones say where all are handed on."""
    frames = Frames(spark, TABLES, sources)

    def plan(t: Frames) -> Any:
        left = t.emp.select(*(sf.col(c).alias(c, metadata={"unit": c}) for c in ("id", "v")))
        right = t.line.select(*(sf.col(c).alias(c, metadata={"unit": c}) for c in ("w", "t")))
        return left.nearestByJoin(right, sf.abs(left["id"] - right["w"]), 1, "exact", "distance").select(*columns)

    case = Case("metadata", plan, lambda t: t.emp)
    plain, capture = run_plain(case, frames, tmp_path / "plain"), run_tracked(case, frames, tmp_path)
    assert not capture.untracked
    compare_outputs(case, plain, read(tmp_path / "out"))


def test_operation(spark: Any, sources: Path, tmp_path: Path) -> None:
    """What it says of itself, which columns decide, and why it is not replayed."""
    frames = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s"):
        text = "SELECT id, t FROM emp LEFT OUTER JOIN line APPROX NEAREST 2 BY SIMILARITY v - w"
        frames.sql(text).write.parquet(str(tmp_path / "out"))
    prov = provspark.open((tmp_path / "store").as_uri())
    line = list(prov.operations(str(tmp_path / "out")))[-1]
    assert line["text"].startswith("left outer join with the 2 nearest by similarity v - w; drop")
    assert (line["categories"], line["reads"]) == (["join", "vertical reduction"], ["v", "w"])
    told = prov.replay(str(frames.paths["emp"]), [0])
    ((operation, why),) = told.stopped
    assert operation.node == "NearestByJoin" and "rank the rows with a window function" in why
