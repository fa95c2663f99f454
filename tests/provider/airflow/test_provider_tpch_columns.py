"""OpenLineage's column lineage of captured queries of TPC-H, against expectations worked out by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _column_paths import column_paths

import provspark
from provspark.airflow.column_facet import column_lineage
from provspark.index_store.query.bits import named
from provspark.index_store.query.column_maps import column_map, names_of
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.store.store import Store
from provspark.tracker import attach

pytestmark = pytest.mark.spark

QUERIES = Path(__file__).parents[3] / "benchmarks" / "tpch"
TABLES = {
    "customer": "c_custkey bigint, c_nationkey bigint, c_mktsegment string",
    "orders": "o_orderkey bigint, o_custkey bigint, o_orderdate date, o_shippriority int",
    "lineitem": "l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_quantity decimal(15,2), "
    "l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag string, "
    "l_linestatus string, l_shipdate date",
    "supplier": "s_suppkey bigint, s_nationkey bigint",
    "nation": "n_nationkey bigint, n_name string, n_regionkey bigint",
    "region": "r_regionkey bigint, r_name string",
    "part": "p_partkey bigint, p_brand string, p_container string",
}
PRICE = "l_extendedprice l_discount"
EXPECTED: dict[int, tuple[dict[str, str], dict[str, str]]] = {
    1: (
        {
            "l_returnflag": "IDENTITY l_returnflag",
            "l_linestatus": "IDENTITY l_linestatus",
            "sum_qty": "AGGREGATION l_quantity",
            "sum_base_price": "AGGREGATION l_extendedprice",
            "sum_disc_price": f"AGGREGATION {PRICE}",
            "sum_charge": f"AGGREGATION {PRICE} l_tax",
            "avg_qty": "AGGREGATION l_quantity",
            "avg_price": "AGGREGATION l_extendedprice",
            "avg_disc": "AGGREGATION l_discount",
            "count_order": "FILTER l_shipdate",
        },
        {
            "FILTER": "l_shipdate",
            "GROUP_BY": "l_returnflag l_linestatus",
            "SORT": "l_returnflag l_linestatus",
        },
    ),
    3: (
        {
            "l_orderkey": "IDENTITY l_orderkey",
            "revenue": f"AGGREGATION {PRICE}",
            "o_orderdate": "IDENTITY o_orderdate",
            "o_shippriority": "IDENTITY o_shippriority",
        },
        {
            "FILTER": "c_mktsegment c_custkey o_custkey l_orderkey o_orderkey o_orderdate l_shipdate",
            "GROUP_BY": "l_orderkey o_orderdate o_shippriority",
            "SORT": f"{PRICE} o_orderdate",
        },
    ),
    5: (
        {"n_name": "IDENTITY n_name", "revenue": f"AGGREGATION {PRICE}"},
        {
            "FILTER": "c_custkey o_custkey l_orderkey o_orderkey l_suppkey s_suppkey c_nationkey s_nationkey "
            "n_nationkey n_regionkey r_regionkey r_name o_orderdate",
            "GROUP_BY": "n_name",
            "SORT": PRICE,
        },
    ),
    17: (
        {"avg_yearly": "AGGREGATION l_extendedprice"},
        {"FILTER": "p_partkey l_partkey p_brand p_container l_quantity"},
    ),
}


@pytest.fixture(scope="module")
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("tpch")
    for name, schema in TABLES.items():
        spark.createDataFrame([], schema).write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    yield folder
    for name in TABLES:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("query", EXPECTED)
def test_columns_of_a_query_are_those_that_one_reads_off_it(
    query: int, tables: Path, spark: Any, tmp_path: Path
) -> None:
    text = (QUERIES / f"q{query}.sql").read_text(encoding="utf-8")
    with attach(store=(tmp_path / "store").as_uri(), step=f"q{query}") as capture:
        spark.sql(text).write.parquet(str(tmp_path / "out"))
    manifest = capture.manifest
    assert manifest is not None and not capture.untracked
    facet = column_lineage(WriteNode(Store.open((tmp_path / "store").as_uri()), manifest, manifest.writes[0]))
    assert facet is not None

    def told(fields: Any) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for f in fields:
            assert f.name == str(tables / next(t for t in TABLES if f"{f.field} " in TABLES[t]))
            for t in f.transformations:
                assert t.type == ("DIRECT" if t.subtype in ("IDENTITY", "AGGREGATION") else "INDIRECT")
                found.setdefault(t.subtype, set()).add(f.field)
        return found

    fields, whole = EXPECTED[query]
    assert {name: told(f.inputFields) for name, f in facet.fields.items()} == {
        name: {words.split()[0]: set(words.split()[1:])} for name, words in fields.items()
    }
    assert told(facet.dataset) == {kind: set(words.split()) for kind, words in whole.items()}


@pytest.fixture(scope="module")
def whole(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All tables, of scale 0.01."""
    folder = tmp_path_factory.mktemp("tpch-whole")
    tool = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run([tool, "parquet", "-s", "0.01", "--output-dir", folder], check=True, capture_output=True)
    names = [path.stem for path in folder.glob("*.parquet")]
    for name in names:
        spark.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    yield folder
    for name in names:
        spark.catalog.dropTempView(name)


@pytest.mark.long
@pytest.mark.parametrize("query", range(1, 23))
def test_matrices_are_all_paths_of_links(query: int, whole: Path, spark: Any, tmp_path: Path) -> None:
    text = (QUERIES / f"q{query}.sql").read_text(encoding="utf-8")
    with attach(store=(tmp_path / "store").as_uri(), step=f"q{query}") as capture:
        spark.sql(text).write.parquet(str(tmp_path / "out"))
    assert capture.manifest is not None
    node = WriteNode(Store.open((tmp_path / "store").as_uri()), capture.manifest, capture.manifest.writes[0])
    found = column_map(node)
    assert found.known
    outputs: tuple[str | None, ...] = (None, *names_of(node.output))
    told = set()
    for axis, bits in found.axes.items():
        inputs: tuple[str | None, ...] = (None, *names_of(node.inputs[node.write.axes[axis].version]))
        for out, src, may, *_ in bits:
            told |= {(outputs[out], axis, inputs[src], (d, kind == "context")) for kind, d, _ in named(may)}
    assert told == column_paths(node)
    prov = provspark.open((tmp_path / "store").as_uri())
    both = ("data", "context")
    why = prov.how(str(tmp_path / "out"), kinds=both).table().drop_columns(["path"])
    assert why.equals(prov.backward(str(tmp_path / "out"), kinds=both).table())
