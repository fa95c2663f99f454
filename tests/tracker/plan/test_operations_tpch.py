"""All queries of TPC-H as operations: each expression has SQL that Spark reads back, each source its axes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _operations import axes

pytestmark = [pytest.mark.spark, pytest.mark.long]

QUERIES = Path(__file__).parents[3] / "benchmarks" / "tpch"
KEYS = {
    "region": "r_regionkey BIGINT, r_name STRING, r_comment STRING",
    "nation": "n_nationkey BIGINT, n_name STRING, n_regionkey BIGINT, n_comment STRING",
    "supplier": "s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey BIGINT, s_phone STRING, "
    "s_acctbal DECIMAL(15,2), s_comment STRING",
    "part": "p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT, "
    "p_container STRING, p_retailprice DECIMAL(15,2), p_comment STRING",
    "partsupp": "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INT, ps_supplycost DECIMAL(15,2), ps_comment STRING",
    "customer": "c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey BIGINT, c_phone STRING, "
    "c_acctbal DECIMAL(15,2), c_mktsegment STRING, c_comment STRING",
    "orders": "o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, o_totalprice DECIMAL(15,2), "
    "o_orderdate DATE, o_orderpriority STRING, o_clerk STRING, o_shippriority INT, o_comment STRING",
    "lineitem": "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, l_quantity DECIMAL(15,2), "
    "l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag STRING, "
    "l_linestatus STRING, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, "
    "l_shipmode STRING, l_comment STRING",
}
OPERATIONS = 200
"""At least so many in the 22 queries together: versions of Spark differ in some."""


@pytest.fixture(scope="module")
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make tables of TPC-H's columns, without rows: plans are read, none is run."""
    folder = tmp_path_factory.mktemp("tpch-empty")
    for name, columns in KEYS.items():
        spark.createDataFrame([], columns).coalesce(1).write.parquet(f"{folder}/{name}")
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    yield
    for name in KEYS:
        spark.catalog.dropTempView(name)


def test_tpch(tables: None, spark: Any) -> None:
    """No operation of any query is opaque, and each reading of a table is one axis."""
    total = 0
    for query in range(1, 23):
        found, names = axes(spark.sql((QUERIES / f"q{query}.sql").read_text(encoding="utf-8")))
        assert {o.text: o.opaque for o in found.operations if o.opaque} == {}
        assert [e for o in found.operations for e in o.expressions if not e.sql] == []
        sources = [o for o in found.operations if o.categories == ("source",)]
        assert sorted(a for o in sources for a in o.axes) == list(range(1, len(names))), query
        assert all(len(o.axes) == 1 for o in sources), query
        total += len(found.operations)
    assert total > OPERATIONS
