"""All our Java compiles against the jars of Spark: `make slice java` runs this on each version that is supported."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from provspark.replay.java import _compiled
from provspark.tracker.spark import jvm
from provspark.tracker.spark.jvm import compiled_jar

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def session() -> Iterator[Any]:
    """A JVM with Spark's jars, and no session in it."""
    from pyspark import SparkConf, __version__
    from pyspark.java_gateway import launch_gateway

    gateway = launch_gateway(SparkConf().set("spark.log.level", "ERROR"))
    yield SimpleNamespace(_jvm=gateway.jvm, version=__version__, sparkContext=SimpleNamespace(_gateway=gateway))
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)


def test_all_java_compiles(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where an earlier run may have left the jar
    loader = session._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    jar = compiled_jar(SimpleNamespace(jvm=session._jvm, spark=session, context_loader=loader))  # type: ignore[arg-type]
    names = set(zipfile.ZipFile(jar).namelist())
    assert {f"provspark/{path.stem}.class" for path in jvm.JAVA.glob("*.java")} <= names
    assert _compiled(session)[1] is not None
