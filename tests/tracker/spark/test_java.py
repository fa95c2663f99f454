"""All our Java compiles against the jars of Spark: `make slice java` runs this on each version that is supported."""

from __future__ import annotations

import graphlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from provspark import replay
from provspark.replay.java import _compiled
from provspark.tracker.spark import jvm
from provspark.tracker.spark.jvm import compiled_jar

FILES = jvm.java_files()

LINT = "-Xlint:all,-rawtypes,-unchecked,-cast,-path"
"""Janino knows no generics: it takes raw types, and wants the casts to what they leave open. And paths: manifests of
Spark's jars name jars that aren't there."""


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


@pytest.mark.spark
@pytest.mark.long
def test_all_java_compiles(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where an earlier run may have left the jar
    loader = session._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    jar = compiled_jar(SimpleNamespace(jvm=session._jvm, spark=session, context_loader=loader))  # type: ignore[arg-type]
    names = set(zipfile.ZipFile(jar).namelist())
    assert {f"{name.replace('.', '/')}.class" for name in jvm._full_names().values()} <= names
    assert _compiled(session)[1] is not None


@pytest.mark.spark
@pytest.mark.long
def test_javac_has_nothing_to_say(tmp_path: Path) -> None:
    import pyspark

    javac = shutil.which("javac")
    if javac is None:
        reason = "no javac: it comes with a JDK, such as Debian's openjdk-17-jdk-headless"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    options = [LINT, "-Werror", "-proc:none", "-encoding", "UTF-8", "-d", tmp_path]
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    files = [*FILES.values(), *Path(replay.__file__).parent.rglob("*.java")]
    run = subprocess.run([javac, *options, "-cp", jars, *files], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_a_simple_name_is_that_of_one_class() -> None:
    names = [Path(path).stem for path in FILES]
    assert sorted(set(names)) == sorted(names) != []


def test_a_package_is_a_folder() -> None:
    """Except for that of the node which Spark has to take for one of its own."""
    for path, file in FILES.items():
        package = ".".join(["provspark", *Path(path).parent.parts])
        package = "org.apache.spark.sql.provspark" if path == "intercept/InterceptedCommand.java" else package
        assert file.read_text(encoding="utf-8").startswith(f"package {package};\n"), path


def test_packages_import_one_another_one_way() -> None:
    packages: dict[str, set[str]] = {}
    for path, file in FILES.items():
        room = Path(path).parts[0]
        imports = re.findall(r"^import (?:static )?provspark\.(\w+)\.", file.read_text(encoding="utf-8"), re.MULTILINE)
        packages.setdefault(room, set()).update({*imports} - {room})
    graphlib.TopologicalSorter(packages).prepare()
