"""Rows between operations that were used together, or share what they came from, against plain Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import provspark
from provspark.cli.main import main
from provspark.errors import ReplayError
from provspark.index_store.query.nodes import WriteNode
from provspark.replay.shared_witnesses import SharedRows
from provspark.tracker import attach

pytestmark = pytest.mark.long

PEOPLE = [(i, i % 4, i * 3 % 7) for i in range(14)]
CITIES = [(k, k * 10, k % 2) for k in range(5)] + [(1, 11, 1), (2, 22, 0)]


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, provspark.Provenance]:
    root = tmp_path_factory.mktemp("beside")
    spark.createDataFrame(PEOPLE, "pid int, k int, v int").coalesce(1).write.parquet(str(root / "people"))
    spark.createDataFrame(CITIES, "c int, w int, side int").coalesce(1).write.parquet(str(root / "cities"))
    with attach(store=str(root / "store"), step="sums") as capture:
        people = spark.read.parquet(str(root / "people")).filter("v > 0")
        cities = spark.read.parquet(str(root / "cities")).filter("w <> 30")
        met = people.join(cities, sf.col("k") == sf.col("c")).filter("w + v <> 25")
        met.groupBy("side").agg(sf.sum("v").alias("n")).filter("n > 0").write.parquet(str(root / "out"))
    assert capture.untracked == ()
    return root, provspark.open(str(root / "store"))


def places(node: WriteNode) -> tuple[int, int, int]:
    """The filter of people, that of cities, and the join."""
    join = next(o for o in node.operations if o.node == "Join")
    filters = [o for o in node.operations if o.node == "Filter" and o.index < join.index]
    (people,) = (o.index for o in filters if "v" in {c.name for c in o.columns})
    (cities,) = (o.index for o in filters if "w" in {c.name for c in o.columns})
    return people, cities, join.index


def test_against_plain_python(world: tuple[Path, provspark.Provenance]) -> None:
    root, prov = world
    (node,) = prov.graph.nodes
    before, other, join = places(node)
    pairs = [(p, c) for p in PEOPLE for c in CITIES if p[2] > 0 and c[1] != 30 and p[1] == c[0]]
    kept = [(p, c) for p, c in pairs if c[1] + p[2] != 25]

    def told(answer: SharedRows) -> list[tuple[int, ...]]:
        assert answer.verified is True, answer.why
        return sorted(line.values for line in answer.found.lines)

    for n, person in enumerate(PEOPLE):
        if person[2] <= 0:
            with pytest.raises(ReplayError, match="none of these rows reaches operation"):
                prov.co_contributory_lines(str(root / "people"), [n], before, other)
            continue
        if n > 5:
            continue
        met = prov.co_contributory_lines(str(root / "people"), [n], before, other)
        assert told(met) == sorted({c for p, c in kept if p == person})
        joined = prov.co_contributory_lines(str(root / "people"), [n], before, other, via=join)
        assert told(joined) == sorted({c for p, c in pairs if p == person})
        mine = {c for p, c in pairs if p == person}
        if not mine:
            continue
        shared = prov.co_dependency_lines(str(root / "people"), [n], join, join, via=other)
        assert told(shared) == sorted((*p, *c) for p, c in pairs if c in mine and p != person)
    assert met.table().num_rows == len(met.found.lines) and met.as_dict()["asked"]["lines"]


def test_rows_of_the_output_address_them_too(world: tuple[Path, provspark.Provenance]) -> None:
    """Rows of one group share its line, and are no one derivation."""
    root, prov = world
    (node,) = prov.graph.nodes
    before, other, join = places(node)
    out = prov.values(str(root / "out")).table().to_pylist()
    kept = [(p, c) for p in PEOPLE for c in CITIES if p[2] > 0 and c[1] != 30 and p[1] == c[0] and c[1] + p[2] != 25]
    for row, line in enumerate(out):
        mine = {p for p, c in kept if c[2] == line["side"]}
        answer = prov.co_contributory_lines(str(root / "out"), [row], before, other)
        assert sorted(x.values for x in answer.asked.lines) == sorted(mine)
        assert sorted(x.values for x in answer.found.lines) == sorted({c for p, c in kept if p in mine})
    at = [str(root / "out"), "--row", "0", "--to", str(other), "--json", "--store", str(root / "store")]
    said = CliRunner().invoke(main, ["co-contributory-lines", *at, "--operation", str(before)])
    assert said.exit_code == 0 and json.loads(said.stdout)["found"]["lines"], said.output
    assert CliRunner().invoke(main, ["beside", *at, "--after", str(before)]).stdout == said.stdout
    with pytest.raises(ReplayError, match="no operation 99"):
        prov.co_contributory_lines(str(root / "out"), [0], join, 99)
