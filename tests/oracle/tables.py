"""Small nasty tables that most cases read: repeats, nulls, NaN, both zeros, empty files, a skewed key."""

from __future__ import annotations

import pyarrow as pa
from oracle.sources import parquet

NAN = float("nan")
INT, LONG, TEXT, REAL = pa.int32(), pa.int64(), pa.string(), pa.float64()

EMP = parquet(
    "emp",
    {"id": INT, "k": INT, "g": TEXT, "x": REAL, "v": LONG},
    [
        (0, 1, "a", 1.5, 10),
        (1, 1, "a", 1.5, 10),
        (2, None, "a", NAN, 20),
        (3, 2, None, -0.0, None),
        (4, 2, None, 0.0, 30),
    ],
    [],
    [
        (5, 3, "", None, 10),
        (6, 7, "é ü", NAN, 50),
        (7, None, None, None, None),
        (8, 1, "b", -0.0, 10),
        (9, 4, "b", 2.0, 40),
        (10, 1, "a", 0.0, 10),
        (11, 7, "", NAN, 70),
    ],
)
"""Employees: id is unique, all else repeats."""

DEPT = parquet(
    "dept",
    {"k": INT, "name": TEXT, "x": REAL, "w": LONG},
    [(1, "one", 0.0, 1), (None, "none", NAN, 2), (2, "two", 1.5, 3)],
    [(1, "uno", NAN, 4), (5, "five", None, 5), (7, "a", -0.0, 6), (7, "a", -0.0, 6), (None, "b", None, 7)],
)
"""Departments: two for some keys, none for others, null keys."""

NONE = parquet("none", {"k": INT, "name": TEXT, "x": REAL, "w": LONG}, [])
"""Departments, but no row."""

BAG = parquet(
    "bag",
    {
        "id": INT,
        "words": pa.list_(TEXT),
        "pairs": pa.list_(pa.struct({"p": INT, "q": TEXT})),
        "point": pa.struct({"a": INT, "b": REAL}),
    },
    [
        (0, ["x", "y", "x"], [{"p": 1, "q": "u"}, None], {"a": 1, "b": -0.0}),
        (1, [], [], {"a": 1, "b": 0.0}),
        (2, None, None, None),
    ],
    [
        (3, [None, "y"], [{"p": None, "q": "u"}], {"a": None, "b": NAN}),
        (4, ["x"], [{"p": 1, "q": "u"}], {"a": None, "b": NAN}),
        (5, [], None, None),
    ],
)
"""Arrays (empty, null, with nulls and repeats), arrays of structs, structs."""

SKEW = parquet(
    "skew",
    {"n": INT, "k": INT, "v": LONG},
    [(i, 7 if i % 10 else i // 10, i % 3) for i in range(90)],
    [(i, 7 if i % 10 else None, i % 3) for i in range(90, 150)],
)
"""Nine rows of ten have the key 7."""

TABLES = (EMP, DEPT, NONE, BAG, SKEW)
