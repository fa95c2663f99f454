"""Checks of the machine before a job starts: matching versions of pyspark, and a Java version that Spark supports.

This module imports only the standard library and ProvSpark's errors, so it also runs before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from provspark.model.errors import JavaNotFoundError, VersionMismatchError

__all__ = ["SUPPORTED_JAVA", "Java", "check_pyspark", "find_java", "pair"]

SUPPORTED_JAVA = (17, 21)

PAIRS = ("4.0.4", "4.1.3", "4.2.0")
"""For each minor version, the newest patch version for which PyPI has both pyspark and pyspark-client."""

_ADVICE = (
    "Spark 4 runs on Java 17 or 21: install one (Debian and Ubuntu: "
    "`apt-get install openjdk-17-jre-headless`; Fedora: `dnf install java-21-openjdk-headless`; "
    "macOS: `brew install openjdk@17`) and point JAVA_HOME at it, "
    "or leave JAVA_HOME unset and add `java` to PATH"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A working Java: path of its executable, and major version."""

    path: str
    major: int


def check_pyspark() -> str:
    """Check that pyspark and pyspark-client have the same version if both are installed.

    Both install into the folder ``pyspark``. If their versions differ, it contains a mix of both.

    Returns
    -------
    str
        The version; empty if neither is installed (Spark may then come from ``SPARK_HOME``).

    Raises
    ------
    VersionMismatchError
        Their versions differ.
    """
    classic, client = _installed("pyspark"), _installed("pyspark-client")
    if classic and client and classic != client:
        near = pair(classic)
        advice = f"Run `pip install --force-reinstall --no-deps pyspark=={near} pyspark-client=={near}`."
        if near != classic:
            advice += (
                f" PyPI has no pyspark-client {classic}. To run jobs on Spark {classic}, install that and this "
                "package into another environment too, and set PYSPARK_DRIVER_PYTHON to its Python."
            )
        raise VersionMismatchError(
            f"pyspark {classic} and pyspark-client {client} are installed in one environment. Both install into the "
            f"folder `pyspark`, so they must have the same version. {advice}"
        )
    return classic or client


def pair(classic: str) -> str:
    """Return the version nearest to `classic` for which PyPI has both pyspark and pyspark-client, according to PAIRS.

    >>> pair("4.1.2"), pair("4.2.1"), pair("4.3.0")
    ('4.1.2', '4.2.0', '4.2.0')
    """
    minor, patch = classic.rpartition(".")[::2]
    newest = {both.rpartition(".")[0]: both.rpartition(".")[2] for both in PAIRS}
    if minor not in newest:
        return PAIRS[-1]
    return classic if patch.isdigit() and int(patch) <= int(newest[minor]) else f"{minor}.{newest[minor]}"


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """Find the Java that Spark will start: that of ``JAVA_HOME`` or, if it is not set, the one on ``PATH``.

    Parameters
    ----------
    env : mapping of str to str, optional
        Environment variables. Default: those of the process.

    Raises
    ------
    JavaNotFoundError
        There is no Java, it can't be run, or its version is neither 17 nor 21.
    """
    env = os.environ if env is None else env
    home = env.get("JAVA_HOME", "")
    path = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=env.get("PATH", os.defpath))
    if path is None:
        raise JavaNotFoundError(f"no Java found: JAVA_HOME is not set and no `java` is on PATH. {_ADVICE}.")
    where = f"JAVA_HOME={home}" if home else "PATH"
    try:
        answer = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise JavaNotFoundError(f"the Java of {where} does not answer: {error}. {_ADVICE}.") from error
    major = _major(answer.stderr + answer.stdout)
    if major not in SUPPORTED_JAVA:
        raise JavaNotFoundError(f"the Java of {where} ({path}) has version {major or 'unknown'}. {_ADVICE}.")
    return Java(path, major)


def _major(text: str) -> int:
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match.group(1)) if match else 0


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
