from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _source_rows import conf, tagged

from provspark.errors import UnsupportedPlanError
from provspark.tracker.sources import scan_relation
from provspark.tracker.sources.options import kept
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jvm(spark: Any) -> Jvm:
    return Jvm(spark)


@pytest.fixture
def rows(tmp_path: Path) -> str:
    (tmp_path / "x.data").write_text('{"a": 1}\n')
    return str(tmp_path)


@pytest.mark.parametrize(
    ("kind", "options", "why"),
    [
        ("csv", {"mode": "dropMalformed"}, "DROPMALFORMED drops different rows"),
        ("json", {"MODE": "DROPMALFORMED"}, "DROPMALFORMED drops different rows"),
        ("csv", {"mode": "FAILFAST"}, "spark.sql.csv.filterPushdown.enabled to false"),
        ("json", {"mode": "FAILFAST"}, "spark.sql.json.filterPushdown.enabled to false"),
        ("text", {"ignoreCorruptFiles": "true"}, "ignoreCorruptFiles is on"),
        ("orc", {"ignoreMissingFiles": "True"}, "ignoreMissingFiles is on"),
        ("xml", {"rowTag": "x", "multiLine": "false"}, "Spark splits these XML files"),
        ("xml", {"rowTag": "x", "multiLine": "true", "mode": "DROPMALFORMED"}, "DROPMALFORMED drops different rows"),
        ("binaryFile", {}, "rows of Binary files can't be numbered; supported formats: csv, json, orc"),
        ("image", {}, "rows of Image files can't be numbered"),
        ("libsvm", {"numFeatures": "3"}, "rows of LibSVM files can't be numbered"),
    ],
)
def test_what_has_no_exact_place(spark: Any, jvm: Jvm, rows: str, kind: str, options: dict[str, str], why: str) -> None:
    reader = spark.read.format(kind).options(**options)
    if kind in ("csv", "json", "orc", "text", "xml"):
        reader = reader.schema("value string" if kind == "text" else "a int")
    with pytest.raises(UnsupportedPlanError, match=why):
        tagged(jvm, reader.load(rows))


def test_settings_of_the_session(spark: Any, jvm: Jvm, rows: str) -> None:
    frame = spark.read.schema("a int").json(rows)
    with conf(spark, spark__sql__files__ignoreMissingFiles="true"):
        with pytest.raises(UnsupportedPlanError, match="ignoreMissingFiles is on"):
            tagged(jvm, frame)
        tagged(jvm, spark.read.schema("a int").option("ignoreMissingFiles", "false").json(rows))
    with conf(spark, spark__sql__json__filterPushdown__enabled="false"):
        t = tagged(jvm, spark.read.schema("a int").option("mode", "FAILFAST").json(rows))
        assert t.numbered(t.frame)[0] == [(0, 1)]


def test_streams(spark: Any, jvm: Jvm, rows: str) -> None:
    relation = spark.read.schema("a int").json(rows)._jdf.queryExecution().analyzed()
    values = [relation.productElement(i) for i in range(relation.productArity())]
    stream = relation.makeCopy(jvm.array("java.lang.Object", [*values[:3], True, *values[4:]]))
    with pytest.raises(UnsupportedPlanError, match="streaming reads are not captured"):
        scan_relation(jvm, stream, [])


def test_a_table_without_keys(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    url = f"jdbc:derby:memory:{tmp_path.name};create=true"
    spark.range(1).write.jdbc(url, "t")
    relation = spark.read.jdbc(url, "t")._jdf.queryExecution().analyzed()
    with pytest.raises(UnsupportedPlanError, match="name the columns that identify a row"):
        scan_relation(jvm, relation, [])


def test_an_empty_folder(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    for kind in ("csv", "parquet"):
        t = tagged(jvm, spark.read.schema("a int").format(kind).load(str(tmp_path)))
        got, version, _ = t.numbered(t.frame)
        assert (got, version.files.paths, version.dataset.name) == ([], (), str(tmp_path))


def test_options_that_decide_what_a_row_is(spark: Any, jvm: Jvm, rows: str) -> None:
    reader = spark.read.schema("a int").option("HEADER", True).option("sep", "|").option("password", "secret")
    t = tagged(jvm, reader.option("samplingRatio", 0.5).csv(rows))
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert t.scan.finish()[0].options == (("header", "true"), ("sep", "|"), ("timezone", zone))
    assert kept("text", {"wholeText": "true", "header": "true"}, "UTC") == (("wholetext", "true"),)
