"""Which rows the script's text shows to be constants, and which may derive from what was read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _scripts import last, watched

import provspark
from provspark.model import said_constants as said
from provspark.tracker.script import CallPlace, program
from provspark.tracker.script.row_constants import MAKERS, rows_are_constant

pytestmark = pytest.mark.spark

CONSTANT = {
    "literals": 'spark.createDataFrame([(1, "a"), (2, None)], "i INT, s STRING")',
    "over lines": 'spark.createDataFrame(\n    [\n        (1, "a"),\n    ],\n    schema="i INT, s STRING",\n)',
    "a name": 'ROWS = [(1, "a")]\nspark.createDataFrame(ROWS, ["i", "s"])',
    "names of names": (
        'A = "x"\nROW = (1, A)\nROWS = [ROW, (2, "y")]\nspark.createDataFrame(data=ROWS, schema=["i", "s"])'
    ),
    "dates": (
        "spark.createDataFrame([(date(2024, 1, 1), datetime.datetime(2024, 1, 1, 2), Decimal('1.5'))], ['a', 'b', 'c'])"
    ),
    "rows": 'P = Row("a", "b")\nspark.createDataFrame([P(1, 2), Row(a=3, b=4)])',
    "a schema": "spark.createDataFrame([], source.schema)",
    "schema of types": 'S = StructType([StructField("i", IntegerType())])\nspark.createDataFrame([(1,)], S)',
    "text": 'v = "x"\nspark.createDataFrame([(f"{v}-{1}",), ("a" + v,), ("%s" % v,), ("{}".format(v),)], "s STRING")',
    "a comprehension": "spark.createDataFrame([(i, str(i)) for i in range(10) if i % 2], 'i INT, s STRING')",
    "a loop": "rows = []\nfor i in range(3):\n    rows.append((i,))\nspark.createDataFrame(rows, 'i INT')",
    "a dictionary": "D = {'a': 1}\nspark.createDataFrame([(k, v) for k, v in D.items()], 'k STRING, v INT')",
    "dictionaries": "spark.createDataFrame([{'a': 1}, {'a': 2}])",
    "pandas": "import pandas as pd\nspark.createDataFrame(pd.DataFrame({'a': [1, 2]}))",
    "arguments": "spark.createDataFrame([(sys.argv[0], len(sys.argv))], 's STRING, n INT')",
    "the clock and the machine": (
        "now = datetime.datetime.now()\nhome = os.environ.get('HOME', '')\n"
        "spark.createDataFrame([(str(uuid.uuid4()), now, home)], 'a STRING, b TIMESTAMP, c STRING')"
    ),
    "the session": "spark.createDataFrame([(spark.version, spark.sparkContext.applicationId)], 'a STRING, b STRING')",
    "a function": (
        "def log(spark, status, tries=1):\n    return spark.createDataFrame([(status, tries)], 's STRING, n INT')\n"
        "log(spark, 'ok')\nlog(spark, status='bad', tries=2)"
    ),
    "functions that return": (
        "def key(i):\n    return f'k{i}'\n\ndef rows(n):\n    found = []\n    for i in range(n):\n"
        "        found.append((key(i),))\n    return found\n\nspark.createDataFrame(rows(3), 's STRING')"
    ),
    "a generator": (
        "def rows():\n    for i in range(3):\n        yield (i,)\nspark.createDataFrame(list(rows()), 'i INT')"
    ),
    "a class": "class Config:\n    ROWS = [(1,)]\nspark.createDataFrame(Config.ROWS, 'i INT')",
    "a data class": (
        "from dataclasses import dataclass\n@dataclass\nclass Job:\n    name: str\njob = Job('x')\n"
        "spark.createDataFrame([(job.name,)], 's STRING')"
    ),
    "an object": (
        "class Job:\n    def __init__(self, name):\n        self.name = name\n    def run(self):\n"
        "        spark.createDataFrame([(self.name,)], 's STRING')\nJob('x').run()"
    ),
    "said": "spark.createDataFrame(provspark.constant([(r.id,) for r in got]), 'i BIGINT')",
    "said before": "rows = provspark.constant([(r.id,) for r in got])\nspark.createDataFrame(rows, 'i BIGINT')",
    "said in a call that is not seen": (
        "rows = [(r.id,) for r in got]\nprovspark.constant(rows)\ngetattr(spark, 'createDataFrame')(rows, 'i BIGINT')"
    ),
    "range": "N = 10\nspark.range(1, N, 2)",
    "RDD range": "spark.sparkContext.range(10)",
    "parallelize": "spark.sparkContext.parallelize([1, 2], 2)",
    "parallelize a range": "spark.sparkContext.parallelize(range(10))",
    "VALUES": "t = 'v'\nspark.sql(f'SELECT * FROM VALUES (1), (2) AS {t}(a)')",
    "VALUES by arguments": "spark.sql('SELECT * FROM VALUES (:a) AS v(a)', args={'a': 1})",
    "two on a line": "spark.createDataFrame([(1,)], 'i INT'), spark.createDataFrame([(2,)], 'i INT')",
    "a list that is looked at": "R = [(1,)]\nprint(len(R), R[0], R.index((1,)))\nspark.createDataFrame(R, 'i INT')",
    "a loop over constants": "for t in ['a', 'b']:\n    spark.createDataFrame([(t,)], 's STRING')",
    "conditions on constants": (
        "if len(sys.argv) > 99:\n    v = 1\nelse:\n    v = 2\nspark.createDataFrame([(v,)], 'i INT')"
    ),
    "arguments of argparse": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--day', default='2024-01-01')\n"
        "args = parser.parse_args([])\nspark.createDataFrame([(args.day,)], 's STRING')"
    ),
}
DERIVED = {
    "collected rows": "spark.createDataFrame(got)",
    "a comprehension": "spark.createDataFrame([(r.id,) for r in got], 'i BIGINT')",
    "a condition": "spark.createDataFrame([(1,) for r in got], 'i INT')",
    "pandas": "spark.createDataFrame(p)",
    "pandas, filtered": "q = p[p.id % 2 == 0]\nspark.createDataFrame(q)",
    "a list that is added to": (
        "rows = []\nfor r in got:\n    rows.append((r.id,))\nspark.createDataFrame(rows, 'i BIGINT')"
    ),
    "how often": "rows = []\nfor r in got:\n    rows.append((1,))\nspark.createDataFrame(rows, 'i INT')",
    "through another name": (
        "rows = []\nalias = rows\nalias.append((got[0].id,))\nspark.createDataFrame(rows, 'i BIGINT')"
    ),
    "in a function": (
        "def fill(rows, found):\n    for r in found:\n        rows.append((r.id,))\nrows = []\nfill(rows, got)\n"
        "spark.createDataFrame(rows, 'i BIGINT')"
    ),
    "an element": "rows = [[0]]\nrows[0][0] = got[1].id\nspark.createDataFrame(rows, 'i BIGINT')",
    "a dictionary": "d = {}\nd['a'] = got[0].id\nspark.createDataFrame(list(d.items()), 'k STRING, v BIGINT')",
    "a counter": "n = 0\nfor r in got:\n    n += 1\nspark.createDataFrame([(n,)], 'i INT')",
    "a name that changes": "last = ''\nfor r in got:\n    last = r.s\nspark.createDataFrame([(last,)], 's STRING')",
    "a name bound by a test": "v = 1\nif got[0].id == 0:\n    v = 2\nspark.createDataFrame([(v,)], 'i INT')",
    "text": "spark.createDataFrame([(f'{got[0].s}!',)], 's STRING')",
    "one value of several": "spark.createDataFrame([(1, 'a'), (2, got[0].s)], 'i INT, s STRING')",
    "a parameter": ("def log(v):\n    return spark.createDataFrame([(v,)], 's STRING')\nlog('a')\nlog(got[0].s)"),
    "a function handed on": (
        "def log(v):\n    return spark.createDataFrame([(v,)], 's STRING')\n"
        "log('a')\nlist(map(log, [r.s for r in got]))"
    ),
    "what a function returns": "def first():\n    return got[0].id\nspark.createDataFrame([(first(),)], 'i BIGINT')",
    "a file": "with open(__file__) as f:\n    t = f.read()\nspark.createDataFrame([(t,)], 's STRING')",
    "a file, as a path": "import pathlib\nspark.createDataFrame([(pathlib.Path(__file__).read_text(),)], 's STRING')",
    "an object": (
        "class Job:\n    def __init__(self, name):\n        self.name = name\n    def run(self):\n"
        "        spark.createDataFrame([(self.name,)], 's STRING')\nJob(got[0].s).run()"
    ),
    "a class": (
        "class Config:\n    ROWS = [(1,)]\nConfig.ROWS.append((got[0].id,))\n"
        "spark.createDataFrame(Config.ROWS, 'i BIGINT')"
    ),
    "fields that are called as attributes of Spark's": (
        "named = source.select(F.col('s').alias('name'), F.col('s').alias('version')).first()\n"
        "spark.createDataFrame([(named.name, named.version)], 'a STRING, b STRING')"
    ),
    "constants that were chosen": (
        "R = [(1,), (2,), (3,)]\nspark.createDataFrame([r for r in R if r[0] in got], 'i INT')"
    ),
    "a constant that was chosen": "R = [(1,), (2,), (3,)]\nspark.createDataFrame([R[got[0].id]], 'i INT')",
    "constants that were taken away": (
        "R = [(1,), (2,)]\nR.remove((int(got[1].id),))\nspark.createDataFrame(R, 'i INT')"
    ),
    "constants that were deleted": "R = [(1,), (2,)]\ndel R[got[0].id]\nspark.createDataFrame(R, 'i INT')",
    "a count": "n = source.count()\nspark.createDataFrame([('load', n)], 's STRING, n BIGINT')",
    "range": "spark.range(len(got))",
    "parallelize": "spark.sparkContext.parallelize([r.id for r in got])",
    "VALUES": "v = ', '.join(f'({r.id})' for r in got)\nspark.sql(f'SELECT * FROM VALUES {v} AS v(a)')",
    "VALUES by arguments": "spark.sql('SELECT * FROM VALUES (:a) AS v(a)', args={'a': got[0].id})",
    "a call by another name": "make = spark.createDataFrame\nmake([(1,)], 'i INT')",
    "spread arguments": "a = [got, 'id BIGINT, s STRING']\nspark.createDataFrame(*a)",
    "the second on a line": "spark.createDataFrame([(1,)], 'i INT'), spark.createDataFrame(got)",
    "a global": (
        "n = 1\ndef change():\n    global n\n    n = got[0].id\nchange()\nspark.createDataFrame([(n,)], 'i BIGINT')"
    ),
    "pandas, a column that is set": (
        "import pandas as pd\nq = pd.DataFrame({'a': [1, 2]})\nq['b'] = p.id\nspark.createDataFrame(q)"
    ),
    "pandas, set by place": (
        "import pandas as pd\nq = pd.DataFrame({'a': [1, 2]})\nq.loc[0, 'a'] = got[1].id\nspark.createDataFrame(q)"
    ),
}


@pytest.fixture(autouse=True)
def anew() -> None:
    program().forget()
    said.forget()


@pytest.mark.parametrize("case", CONSTANT)
def test_constant(case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = last(tmp_path, CONSTANT[case], spark, monkeypatch)
    assert found and all(found)


@pytest.mark.parametrize("case", DERIVED)
def test_not_constant(case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = last(tmp_path, DERIVED[case], spark, monkeypatch)
    assert found and not found[-1]


def test_a_module_beside(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_0021.py").write_text("ROWS = [(1,)]\nOTHER = [(2,)]\nOTHER.append((len(__builtins__),))\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "import beside_0021\nfrom beside_0021 import ROWS\n"
    assert last(tmp_path, text + "spark.createDataFrame(ROWS, 'i INT')", spark, monkeypatch) == [True]
    text += "spark.createDataFrame(beside_0021.ROWS, 'i INT'), spark.createDataFrame(beside_0021.OTHER[:1], 'i INT')"
    assert last(tmp_path, text, spark, monkeypatch) == [True, False]
    sys.modules.pop("beside_0021")


def test_all_names_of_a_module(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_0022.py").write_text("ROWS = [(1,)]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "from beside_0022 import *\nspark.createDataFrame(ROWS, 'i INT')"
    assert last(tmp_path, text, spark, monkeypatch) == [True]
    sys.modules.pop("beside_0022")


def test_numbers_that_were_read(spark: Any, tmp_path: Path) -> None:
    """Lines that read one number may count as constants; others of the script don't, for that."""
    text = "n = s.count()\nfirst = s.first()\nspark.createDataFrame([(n,)]), spark.createDataFrame([(first.id,)])\n"
    (tmp_path / "script.py").write_text(text)
    file = str(tmp_path / "script.py")
    numbers = frozenset({f"{file}:1"})
    calls = text.splitlines()[2].split(", ")
    for call, expected in zip((len(calls[0]), len(text.splitlines()[2])), (True, False), strict=True):
        place = CallPlace(file, 3, (3, call))
        assert rows_are_constant("SparkSession.createDataFrame", place, numbers=numbers) is expected
        assert not rows_are_constant("SparkSession.createDataFrame", place)


def test_text_that_cannot_be_read(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(monkeypatch) as found:
        exec("spark.createDataFrame([(1,)], 'i INT')", {"spark": spark})
    assert found == [("SparkSession.createDataFrame", False)]


def test_makers_exist() -> None:
    from importlib import import_module
    from inspect import signature

    for maker in MAKERS.values():
        module = import_module(maker.module)
        owner = getattr(module, maker.owner) if maker.owner else module
        function = getattr(owner, maker.name)
        made = isinstance(function, type) and maker.name.endswith("Index")
        parameters = signature(function.__new__ if made else function).parameters
        assert set(maker.values) <= set(parameters), maker
        places = [p for p in parameters if p not in ("self", "cls")]
        assert tuple(places[: len(maker.values)]) == maker.values


def test_constant_returns_its_value_and_costs_nothing() -> None:
    rows = [(1, "a")]
    assert provspark.constant(rows) is rows
    code = "import provspark, sys; provspark.constant(1); print('pyspark' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
