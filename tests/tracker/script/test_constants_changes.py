"""Lists and other objects of a script that data is put into, by whatever way: they are no constants."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from _scripts import last

from provspark.model import said_constants as said
from provspark.tracker.script import program

pytestmark = pytest.mark.spark

MADE = "\nspark.createDataFrame([(k,) for k in keys], 's STRING')"
CHANGED = {
    "by a class that holds it": (
        "class Report:\n    def __init__(self, lines):\n        self.lines = lines\n    def note(self, r):\n"
        "        self.lines.append(r.s)\nkeys = []\nreport = Report(keys)\nfor r in got:\n    report.note(r)"
    ),
    "in a data class": (
        "from dataclasses import dataclass, field\n@dataclass\nclass Bag:\n"
        "    names: list = field(default_factory=list)\n    def put(self, r):\n        self.names.append(r.s)\n"
        "bag = Bag()\nfor r in got:\n    bag.put(r)\nkeys = bag.names"
    ),
    "one of two": "keys, bad = [], []\nfor r in got:\n    (keys if r.id else bad).append(r.s)",
    "or another": "keys, bad = [], []\nfor r in got:\n    (keys or bad).append(r.s)",
    "within a dictionary": (
        "keys, young = [], []\nby = {True: keys, False: young}\nfor r in got:\n    by[r.id > 2].append(r.s)"
    ),
    "by get of a dictionary": "by = {1: []}\nfor r in got:\n    by.get(1).append(r.s)\nkeys = by[1]",
    "by values of a dictionary": (
        "by = {1: []}\nfor each in by.values():\n    each.extend(r.s for r in got)\nkeys = by[1]"
    ),
    "added to in a function": "def load(into):\n    into += [r.s for r in got]\nkeys = []\nload(keys)",
    "by a function of pandas": "keys = []\np.apply(lambda r: keys.append(r['s']), axis=1)",
    "by a hook": (
        "import json\nkeys = []\n"
        "json.loads(json.dumps([r.asDict() for r in got]), object_hook=lambda d: keys.append(d['s']))"
    ),
    "by an alias of the method": "keys = []\nadd = keys.append\nfor r in got:\n    add(r.s)",
    "by a heap": "import heapq\nkeys = []\nfor r in got:\n    heapq.heappush(keys, r.s)",
    "by bisect": "import bisect\nkeys = []\nfor r in got:\n    bisect.insort(keys, r.s)",
    "by map": "keys = []\nlist(map(keys.append, [r.s for r in got]))",
    "by the class of lists": "keys = []\nfor r in got:\n    list.append(keys, r.s)",
    "by threads": (
        "from concurrent.futures import ThreadPoolExecutor\nkeys = []\nwith ThreadPoolExecutor(2) as pool:\n"
        "    pool.map(keys.append, [r.s for r in got])"
    ),
    "by a thread": (
        "import threading\nkeys = []\nfor r in got:\n    t = threading.Thread(target=keys.append, args=(r.s,))\n"
        "    t.start()\n    t.join()"
    ),
    "by a column": "keys = []\np['s'].apply(keys.append)",
    "by a function that is given the method": (
        "def each(xs, f):\n    [f(x) for x in xs]\nkeys = []\neach([r.s for r in got], keys.append)"
    ),
    "within a tuple": "keys = []\nboth = (keys, 1)\nfor r in got:\n    both[0].append(r.s)",
    "in a loop over lists": "keys = []\nfor where in [keys]:\n    where.extend(r.s for r in got)",
    "by an operator": "import operator\nkeys = []\noperator.iconcat(keys, [r.s for r in got])",
    "an item by an operator": "import operator\nkeys = ['x']\noperator.setitem(keys, 0, got[0].s)",
    "a dictionary by its class": "d = {'k': 'x'}\ndict.update(d, k=got[0].s)\nkeys = list(d.values())",
    "an array": "import numpy as np\nkeys = np.array(['x'])\nnp.put(keys, [0], [got[0].s])",
    "as often as rows were read": "keys = []\ndef add():\n    keys.append('x')\nfor r in got:\n    add()",
    "sorted by data": "keys = ['0', '3']\nkeys.sort(key={r.s: r.id for r in got}.get)\nkeys = keys[:1]",
    "a class by setattr": "class C:\n    names = ()\nsetattr(C, 'names', tuple(r.s for r in got))\nkeys = C.names",
    "by exec": "keys = []\nexec('keys = [r.s for r in got]')",
    "by globals": "keys = []\nglobals()['keys'] = [r.s for r in got]",
    "globals, updated": "keys = []\nglobals().update(keys=[r.s for r in got])",
    "a library's constant": "import string\nstring.digits = got[0].s\nkeys = [string.digits]",
    "by a setting": "spark.conf.set('a.b', got[0].s)\nkeys = [spark.conf.get('a.b')]",
    "by SET": "spark.sql(f'SET a.c = {got[0].s}')\nkeys = [spark.conf.get('a.c')]",
    "arguments": "sys.argv.append(got[0].s)\nkeys = [sys.argv[-1]]",
    "defaults of arguments": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.set_defaults(key=got[0].s)\n"
        "keys = [parser.parse_args([]).key]"
    ),
    "a default": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--k', default=got[0].s)\n"
        "keys = [parser.parse_args([]).k]"
    ),
    "the environment": "os.environ['A_KEY'] = got[0].s\nkeys = [os.environ['A_KEY']]",
    "chance": "import random\nrandom.seed(got[0].s)\nkeys = [str(random.random())]",
    "by an exception": "n = 'a'\ntry:\n    {'9': 1}[got[0].s]\nexcept KeyError:\n    n = 'b'\nkeys = [n]",
    "by a match": ("match got[0].s:\n    case '0':\n        n = 'a'\n    case _:\n        n = 'b'\nkeys = [n]"),
    "by where a loop ends": "for n in ('a', '3', 'b'):\n    if any(r.s == n for r in got):\n        break\nkeys = [n]",
    "by where a loop goes on": (
        "keys = []\nfor n in ('a', '3', 'b'):\n    if any(r.s == n for r in got):\n        continue\n    keys.append(n)"
    ),
}
UNCHANGED = {
    "a list of a class that another object's data does not reach": (
        "class Job:\n    def __init__(self, names):\n        self.names = names\n    def run(self):\n"
        "        return [n.upper() for n in self.names]\nkeys = Job(['a', 'b']).run()"
    ),
    "while another list is added to": "seen = []\nkeys = ['a']\nfor r in got:\n    seen.append(r.s)",
    "looked up by data": "D = {'a': 1}\nfor r in got:\n    D.get(r.s)\nkeys = list(D)",
    "printed with data": "keys = ['a']\nprint(keys, got)\nimport logging\nlogging.info('%s %s', keys, got)",
    "used in a condition": "keys = ['a']\nsource.filter(F.col('s').isin(keys)).count()",
    "in a loop that stops for constants": (
        "keys = []\nfor n in ('a', 'b', 'c'):\n    if n == 'b':\n        continue\n    keys.append(n)"
    ),
    "with a status": (
        "try:\n    source.count()\n    status = 'ok'\nexcept Exception:\n    status = 'failed'\n    raise\n"
        "keys = [status]"
    ),
    "items of an Enum": "from enum import Enum\nclass S(Enum):\n    A = 'x'\n    B = 'y'\nkeys = [s.value for s in S]",
    "a class method": (
        "class Config:\n    def __init__(self, tag):\n        self.tag = tag\n    @classmethod\n    def make(cls):\n"
        "        return cls('local')\nkeys = [Config.make().tag]"
    ),
    "a property": (
        "class Job:\n    TAG = 'b'\n    @property\n    def label(self):\n        return f'{self.TAG}-x'\n"
        "    def run(self):\n        return [self.label]\nkeys = Job().run()"
    ),
    "arguments by name": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--tag', default='t')\n"
        "def run(tag):\n    return [tag]\nkeys = run(**vars(parser.parse_args([])))"
    ),
    "the environment, with a constant set": "os.environ.setdefault('TZ', 'UTC')\nkeys = [os.environ.get('HOME', '')]",
    "by partial": (
        "from functools import partial\ndef name(a, b):\n    return a + b\n"
        "def keys_of(f):\n    return [f()]\nkeys = [name(*t) for t in [('x', 'y')]]"
    ),
}


@pytest.fixture(autouse=True)
def anew() -> None:
    program().forget()
    said.forget()


@pytest.mark.parametrize("case", CHANGED)
def test_what_data_is_put_into_is_no_constant(
    case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = last(tmp_path, CHANGED[case] + MADE, spark, monkeypatch)
    assert found and not found[-1]


@pytest.mark.parametrize("case", UNCHANGED)
def test_what_is_only_looked_at_stays_constant(
    case: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = last(tmp_path, UNCHANGED[case] + MADE, spark, monkeypatch)
    assert found and found[-1]


@pytest.mark.parametrize("use", ["beside_0023.D.items()", "D.items()", "[(k, v) for k, v in D.items()]"])
def test_a_dictionary_of_a_module(use: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_0023.py").write_text("D = {'DE': 'Germany'}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = f"import beside_0023\nfrom beside_0023 import D\nspark.createDataFrame(list({use}), 'k STRING, v STRING')"
    try:
        assert last(tmp_path, text, spark, monkeypatch) == [True]
    finally:
        sys.modules.pop("beside_0023")


def test_a_module_that_the_script_wrote(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    program().begin()
    text = (
        f"from pathlib import Path\nPath({str(tmp_path / 'beside_0024.py')!r}).write_text('NAMES = ' + repr(got))\n"
        "from pyspark.sql import Row\nimport builtins\nbuiltins.Row = Row\nimport beside_0024\nkeys = ['a']\n"
        "spark.createDataFrame([(n.s,) for n in beside_0024.NAMES], 's STRING')"
    )
    try:
        assert last(tmp_path, text, spark, monkeypatch)[-1] is False
    finally:
        sys.modules.pop("beside_0024")
