"""Jars of table formats and of OpenLineage, by version and sha256, kept outside of the tree."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from pathlib import Path

CENTRAL = os.environ.get("PROVSPARK_TEST_MAVEN", "https://repo1.maven.org/maven2")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "provspark-tests"
DELTA = {
    "io/delta/delta-spark_4.1_2.13/4.4.0/delta-spark_4.1_2.13-4.4.0.jar": (
        "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10"
    ),
    "io/delta/delta-storage/4.4.0/delta-storage-4.4.0.jar": (
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"
    ),
}
"""Delta Lake for Spark 4.1."""
DELTA_4_0 = {
    "io/delta/delta-spark_2.13/4.0.0/delta-spark_2.13-4.0.0.jar": (
        "538511702aae0ef6973a6a70af3d4543c9009f8edbed786a00737e2d3cd7f04e"
    ),
    "io/delta/delta-storage/4.0.0/delta-storage-4.0.0.jar": (
        "9bdb9fb450f1e119eba53feb427f331b0d09072d26485b8273883ad72c9a2e1d"
    ),
}
"""Delta Lake for Spark 4.0."""
ICEBERG = {
    "org/apache/iceberg/iceberg-spark-runtime-4.1_2.13/1.11.0/iceberg-spark-runtime-4.1_2.13-1.11.0.jar": (
        "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242"
    ),
}
"""Apache Iceberg for Spark 4.1."""
OPENLINEAGE = {
    "io/openlineage/openlineage-spark_2.13/1.53.0/openlineage-spark_2.13-1.53.0.jar": (
        "5d84b0ae7e72909b5aae7ed87df878bf06b28d9ac3005765c3529d0a66dbae6f"
    ),
}
"""OpenLineage's listener for any Spark with Scala 2.13."""


def jars(wanted: dict[str, str]) -> list[Path]:
    """Return jars from the cache, fetched from Maven Central if they are not there.

    Raises
    ------
    ValueError
        What was fetched is another file.
    """
    return [_jar(path, sha256) for path, sha256 in wanted.items()]


def _jar(path: str, sha256: str) -> Path:
    kept = CACHE / sha256[:16] / path.rsplit("/", 1)[-1]
    if not kept.exists():
        with urllib.request.urlopen(f"{CENTRAL}/{path}", timeout=120) as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ValueError(f"{path} is not the file that was expected")
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        made.write_bytes(data)
        made.replace(kept)
    return kept
