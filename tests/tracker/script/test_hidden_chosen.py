"""Hidden values behind lambdas, parameters and choices: which are of the script's text, and which data decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _hidden import look, table

pytestmark = pytest.mark.spark

SHOWN = {
    "a lambda": "f = lambda c: c > 2\nout = df.filter(f(df.v))",
    "a fold over constants": "KEYS = ['a', 'b']\nout = functools.reduce(lambda d, k: d.filter(d.k != k), KEYS, df)",
    "transform with arguments": (
        "def add(d, name, value):\n    return d.withColumn(name, F.lit(value))\nout = df.transform(add, 'env', 'prod')"
    ),
    "partial": (
        "def add(d, name, value):\n    return d.withColumn(name, F.lit(value))\n"
        "out = df.transform(functools.partial(add, name='env', value='prod'))"
    ),
    "enumerate over a parameter": (
        "def bucket(d, edges):\n    expr = F.lit(9)\n    for i, e in enumerate(edges):\n"
        "        expr = F.when(F.col('v') < e, F.lit(i)).otherwise(expr)\n    return d.withColumn('b', expr)\n"
        "out = bucket(df, [18, 30, 50])"
    ),
    "a list in SQL": (
        "df.createOrReplaceTempView('c')\nS = ('DE', 'FR')\nl = ', '.join(f\"'{s}'\" for s in S)\n"
        'q = f"""\nWITH o AS (SELECT k, sum(v) AS n FROM c WHERE k IN ({l}) GROUP BY k)\n'
        'SELECT c.k, coalesce(o.n, 0) AS n FROM c LEFT JOIN o ON o.k = c.k WHERE c.v > 1\n"""\nout = spark.sql(q)'
    ),
    "a window by a lambda": (
        "days = lambda i: i * 86400\n"
        "w = Window.partitionBy('k').orderBy(F.col('t').cast('long')).rangeBetween(-days(7), 0)\n"
        "out = df.withColumn('s', F.sum('v').over(w)).withColumn('n', F.ntile(4).over(Window.orderBy('v')))"
    ),
    "a choice by an argument": "k = 7 if len(sys.argv) > 1 else 5\nout = df.filter(df.v.isin(k))",
    "an element of a list": "KS = [7, 5]\nout = df.filter(df.v.isin(KS[0]))",
    "a variable of SQL by a constant": (
        "spark.conf.set('a.key', '7')\ndf.createOrReplaceTempView('c')\n"
        "out = spark.sql('SELECT * FROM c WHERE v = ${a.key}')"
    ),
}
HIDDEN = {
    "an operator in a lambda": "k = got[0].v\nf = lambda c: c > k\nout = df.filter(f(df.v))",
    "exists": "out = df.filter(F.exists(F.array('v'), lambda c: c == got[0].v))",
    "a function of an array": "out = df.select(F.transform(F.array('v'), lambda c: c + got[0].v).alias('a'))",
    "a fold over rows": "out = functools.reduce(lambda d, r: d.filter(d.v != r.v), got, df)",
    "a choice by data": "k = 7 if got[0].v > 3 else 5\nout = df.filter(df.v.isin(k))",
    "a branch by data": "if got[0].v > 3:\n    k = 7\nelse:\n    k = 5\nout = df.filter(df.v.isin(k))",
    "what a function returns early": (
        "def pick(rows):\n    if rows[0].v > 3:\n        return 7\n    return 5\nout = df.filter(df.v.isin(pick(got)))"
    ),
    "an element that data picks": "codes = {'sey': 7, 'b': 5}\nout = df.filter(df.v.isin(codes[got[0].k]))",
    "constants that data filters": "out = df.filter(df.v.isin([c for c in (11, 12, 900) if c in [r.v for r in got]]))",
    "constants that data removes": "ks = [11, 900]\nks.remove(got[0].v)\nout = df.filter(df.v.isin(ks))",
    "a variable of SQL": (
        "spark.conf.set('a.key', str(got[0].v))\ndf.createOrReplaceTempView('c')\n"
        "out = spark.sql('SELECT * FROM c WHERE v = ${a.key}')"
    ),
}


@pytest.fixture(scope="module")
def source(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return table(spark, tmp_path_factory.mktemp("chosen"))


@pytest.mark.parametrize("case", SHOWN)
def test_shown(case: str, spark: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(SHOWN[case], spark, source, tmp_path, monkeypatch).reason == ""


@pytest.mark.parametrize("case", HIDDEN)
def test_hidden(case: str, spark: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(HIDDEN[case], spark, source, tmp_path, monkeypatch)
