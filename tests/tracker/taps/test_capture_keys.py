"""Keys that hashes confuse easily: nulls that change places, structs, arrays, collations, every type; many scans."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracle.cases import Case, check
from oracle.operators import count, distinct, group, join, rename, select, total, union, where
from oracle.relation import Relation
from oracle.sources import parquet
from oracle.tables import DEPT, EMP, INT, LONG, REAL, TEXT
from oracle.values import both, eq, same
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

PAIRS = parquet(
    "pairs",
    {"n": INT, "a": INT, "b": INT, "c": TEXT, "d": TEXT},
    [
        (0, None, 1, "ab", "c"),
        (1, 1, None, "a", "bc"),
        (2, None, None, "", None),
        (3, 0, 0, None, ""),
        (4, 42, None, "abc", ""),
        (5, None, 42, "", "abc"),
        (6, 1, None, "ab", "c"),
        (7, 42, 42, None, None),
    ],
)
POINT = pa.struct({"a": INT, "b": INT})
NESTED = parquet(
    "nested",
    {"n": INT, "p": POINT, "l": pa.list_(INT), "q": pa.list_(POINT), "s": pa.struct({"x": pa.list_(REAL), "p": POINT})},
    [
        (i, p, ints, None if ints is None else [p, None] if i % 2 else [None, p], {"x": x, "p": p})
        for i, (p, ints, x) in enumerate(
            [
                ({"a": None, "b": 1}, [None, 1], [0.0]),
                ({"a": 1, "b": None}, [1, None], [-0.0]),
                ({"a": None, "b": None}, [None], [float("nan")]),
                (None, [], []),
                (None, None, None),
                ({"a": 1, "b": None}, [1], [None, 0.0]),
                ({"a": 1, "b": 1}, [1, 1], [0.0, None]),
                ({"a": None, "b": 1}, [None, 1], [-0.0]),
            ]
        )
    ],
)
TYPED = parquet(
    "typed",
    {
        "d": pa.date32(),
        "t": pa.timestamp("us", tz="UTC"),
        "m": pa.decimal128(20, 3),
        "y": pa.binary(),
        "z": pa.bool_(),
        "h": pa.int16(),
        "f": pa.float32(),
    },
    [
        (date(2024, 1, 1), datetime(2024, 1, 1, 3, tzinfo=timezone.utc), Decimal("1.500"), b"\x00", True, 1, -0.0),
        (None, None, None, None, None, None, None),
        (date(1, 1, 1), datetime(1900, 1, 1, tzinfo=timezone.utc), Decimal("-0.001"), b"", False, -1, float("nan")),
    ],
    [
        (date(2024, 1, 1), datetime(2024, 1, 1, 3, tzinfo=timezone.utc), Decimal("1.5"), b"\x00", True, 1, 0.0),
        (None, None, None, None, None, None, None),
        (date(1, 1, 1), datetime(1900, 1, 1, tzinfo=timezone.utc), Decimal("0.001"), b"", False, -1, float("nan")),
        (None, None, None, b"", None, None, 0.0),
    ],
)
CASED = parquet("cased", {"n": INT, "g": TEXT}, [(0, "a"), (1, "A"), (2, "b"), (3, None), (4, "B"), (5, "é"), (6, "É")])
TABLES = [PAIRS, NESTED, TYPED, CASED, EMP, DEPT]


def folded(r: Relation) -> Relation:
    """With the key that a case-insensitive collation compares by."""
    return select(r, "n", g=lambda v: None if v.g is None else v.g.lower())


def scans(n: int) -> Any:
    """Employees joined with themselves n times on their id."""

    def plan(t: Any) -> Any:
        frames = [t.emp.select("id", sf.col("v").alias(f"v{i}")) for i in range(n)]
        return reduce(lambda a, b: a.join(b, "id"), frames)

    def meaning(t: Any) -> Relation:
        relations = [rename(select(t.emp, "id", "v"), "id", f"v{i}") for i in range(n)]
        return reduce(_by_id, relations)

    return plan, meaning


def _by_id(a: Relation, b: Relation) -> Relation:
    joined = join(a, b, lambda x, y: x.id == y.id)
    places = [i for i in range(len(joined.columns)) if i != len(a.columns)]
    return Relation.of([joined.columns[i] for i in places], [(tuple(v[i] for i in places), w) for v, w in joined.rows])


PLAN, MEANING = scans(12)
CASES = [
    *(
        Case(
            f"group by {' and '.join(keys)}",
            lambda t, keys=keys, name=table.name: getattr(t, name).groupBy(*keys).agg(sf.count("*").alias("n_")),
            lambda t, keys=keys, name=table.name: group(getattr(t, name), keys, n_=count()),
        )
        for table, keys in [
            (PAIRS, ("a", "b")),
            (PAIRS, ("c", "d")),
            (NESTED, ("p",)),
            (NESTED, ("l",)),
            (NESTED, ("q",)),
            (NESTED, ("s",)),
            (TYPED, TYPED.columns),
        ]
    ),
    Case(
        "distinct nested",
        lambda t: t.nested.select("p", "l").distinct(),
        lambda t: distinct(select(t.nested, "p", "l")),
    ),
    Case(
        "semi-join by a struct",
        lambda t: t.nested.select("n", "p").join(t.nested.filter("n > 4").select("p"), "p", "left_semi"),
        lambda t: select(_semi_by_struct(t.nested, t.nested), "p", "n"),
    ),
    Case(
        "semi-join by two keys, null-safe",
        lambda t: t.pairs.alias("x").join(
            t.pairs.alias("y"), sf.expr("x.a <=> y.b AND x.b <=> y.a AND x.n <> y.n"), "left_semi"
        ),
        lambda t: join(t.pairs, t.pairs, lambda x, y: both(same(x.a, y.b), same(x.b, y.a), x.n != y.n), "semi"),
        expect="exact or refused",
    ),
    Case(
        "IN across integer types",
        lambda t: t.sql("SELECT id FROM emp WHERE k IN (SELECT w FROM dept)"),
        lambda t: select(join(t.emp, t.dept, lambda a, b: eq(a.k, b.w), "semi"), "id"),
    ),
    Case(
        "group by a collated text",
        lambda t: t.sql("SELECT count(*) c, sum(n) s FROM cased GROUP BY g COLLATE UTF8_LCASE"),
        lambda t: select(group(folded(t.cased), ["g"], c=count(), s=total("n")), "c", "s"),
        expect="exact or refused",
    ),
    Case(
        "semi-join by a collated text",
        lambda t: t.sql(
            "SELECT n FROM cased x WHERE EXISTS "
            "(SELECT 1 FROM cased y WHERE x.g COLLATE UTF8_LCASE = y.g COLLATE UTF8_LCASE AND y.n > 2)"
        ),
        lambda t: (lambda x, y: select(join(x, y, lambda a, b: both(eq(a.g, b.g), b.n > 2), "semi"), "n"))(
            folded(t.cased), folded(t.cased)
        ),
        expect="exact or refused",
    ),
    Case("twelve scans joined", PLAN, MEANING),
    Case(
        "twelve scans joined and grouped",
        lambda t: PLAN(t).groupBy("v3").agg(sf.sum("v11").alias("s")),
        lambda t: group(MEANING(t), ["v3"], s=total("v11")),
    ),
    Case(
        "twelve scans united and made distinct",
        lambda t: reduce(lambda a, b: a.union(b), [t.emp.select("k") for _ in range(12)]).distinct(),
        lambda t: distinct(union(*(select(t.emp, "k") for _ in range(12)))),
    ),
]


def _semi_by_struct(left: Relation, right: Relation) -> Relation:
    return join(left, where(right, lambda r: r.n > 4), lambda a, b: eq(a.p, b.p), "semi")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_key(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


@pytest.mark.long
def test_many_rows(spark: Any, sources: Path, tmp_path: Path) -> None:
    """More rows than a row group of a tensor or a buffer of a tap holds."""
    rows = [(n, (n * 7919) % 1009, n % 3) for n in range(150_000)]
    many = parquet("many", {"n": INT, "k": INT, "v": LONG}, rows[:140_000], rows[140_000:])
    case = Case(
        "grouped twice",
        lambda t: t.many.filter("v > 0").groupBy("k").agg(sf.sum("v").alias("s")).groupBy("s").count(),
        lambda t: group(
            group(where(t.many, lambda r: r.v > 0), ["k"], s=total("v")),
            ["s"],
            n=count(),
        ),
    )
    check(case, spark, [many], sources, tmp_path)
