import os
import subprocess
import sys
from pathlib import Path

import pytest

import provspark.machine_checks as checks
from provspark.errors import JavaNotFoundError, VersionMismatchError

ROOT = Path(__file__).resolve().parents[2]


def fake_java(home: Path, answer: str, code: int = 0) -> dict[str, str]:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{answer}' >&2\nexit {code}\n")
    java.chmod(0o755)
    return {"JAVA_HOME": str(home), "PATH": os.environ["PATH"]}


def test_the_java_of_this_machine_is_found() -> None:
    java = checks.find_java()
    assert java.major in checks.SUPPORTED_JAVA
    assert Path(java.path).exists()


@pytest.mark.parametrize(
    ("answer", "major"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('openjdk version "21" 2023-09-19', 21)],
)
def test_java_home_goes_before_path(tmp_path: Path, answer: str, major: int) -> None:
    env = fake_java(tmp_path, answer)
    assert checks.find_java(env) == checks.Java(str(tmp_path / "bin" / "java"), major)


@pytest.mark.parametrize(
    ("answer", "found"),
    [('java version "1.8.0_402"', "8"), ('openjdk version "11.0.2"', "11"), ("hello", "unknown")],
)
def test_a_java_that_spark_does_not_run_on_is_named(tmp_path: Path, answer: str, found: str) -> None:
    with pytest.raises(JavaNotFoundError, match=rf"has version {found}\..*openjdk-17") as caught:
        checks.find_java(fake_java(tmp_path, answer))
    assert str(tmp_path) in str(caught.value)


def test_a_java_that_fails_is_reported(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFoundError, match="does not answer"):
        checks.find_java(fake_java(tmp_path, "no libjvm.so", code=1))


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFoundError, match=r"JAVA_HOME is not set and no `java` is on PATH.*Java 17 or 21"):
        checks.find_java({"PATH": str(tmp_path)})


def test_a_java_home_without_java(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFoundError, match=f"JAVA_HOME={tmp_path}"):
        checks.find_java({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]})


def test_installed_pyspark_and_client_are_equal_here() -> None:
    assert checks.check_pyspark()[0] == "4"


@pytest.mark.parametrize(
    ("installed", "answer"),
    [
        ({"pyspark": "4.1.3", "pyspark-client": "4.1.3"}, "4.1.3"),
        ({"pyspark": "4.0.4"}, "4.0.4"),
        ({"pyspark-client": "4.2.0"}, "4.2.0"),
        ({}, ""),
    ],
)
def test_equal_or_single_versions_pass(monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], answer: str) -> None:
    monkeypatch.setattr(checks, "_installed", lambda name: installed.get(name, ""))
    assert checks.check_pyspark() == answer


def test_unequal_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"pyspark": "4.1.3", "pyspark-client": "4.2.0"}
    monkeypatch.setattr(checks, "_installed", versions.__getitem__)
    with pytest.raises(VersionMismatchError, match=r"4\.1\.3 and pyspark-client 4\.2\.0.*pip install") as caught:
        checks.check_pyspark()
    assert isinstance(caught.value, ImportError)
    assert "PYSPARK_DRIVER_PYTHON" not in str(caught.value)


@pytest.mark.parametrize(
    ("classic", "pair"),
    [("4.0.2", "4.0.2"), ("4.0.5", "4.0.4"), ("4.1.4", "4.1.3"), ("4.2.1", "4.2.0"), ("4.3.0", "4.2.0")],
)
def test_the_pair_named_exists(monkeypatch: pytest.MonkeyPatch, classic: str, pair: str) -> None:
    versions = {"pyspark": classic, "pyspark-client": "4.1.0"}
    monkeypatch.setattr(checks, "_installed", versions.__getitem__)
    with pytest.raises(VersionMismatchError, match=f"pyspark=={pair} pyspark-client=={pair}`") as caught:
        checks.check_pyspark()
    assert (f"To run jobs on Spark {classic}" in str(caught.value)) == (pair != classic)


def test_the_pair_is_known_before_anything_is_installed() -> None:
    command = [sys.executable, "-I", "-S", str(ROOT / "tools" / "pair.py"), "4.3.0"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "4.2.0\n"


def test_java_is_checked_before_anything_is_installed(tmp_path: Path) -> None:
    # -I -S: neither site-packages nor the checkout's own installation is visible.
    command = [sys.executable, "-I", "-S", str(ROOT / "tools" / "find_java.py")]
    good = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("Java ")
    env = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    bad = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert bad.returncode == 1
    assert "openjdk-17-jre-headless" in bad.stderr
    assert "Traceback" not in bad.stderr
