"""What the machine must have before a job starts: equal versions of pyspark, and a Java that Spark runs on.

Only the standard library is imported, so the checks also run before anything is installed.
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
"""The newest version of each minor one that PyPI has both of pyspark and of pyspark-client."""

_ADVICE = (
    "Spark 4 runs on Java 17 or 21: install one (Debian and Ubuntu: "
    "`apt-get install openjdk-17-jre-headless`; Fedora: `dnf install java-21-openjdk-headless`; "
    "macOS: `brew install openjdk@17`) and point JAVA_HOME at it, "
    "or leave JAVA_HOME unset and have `java` on PATH"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that answers: path of the executable and its major version."""

    path: str
    major: int


def check_pyspark() -> str:
    """Check that pyspark and pyspark-client, where both are installed, have one version.

    The two share the folder ``pyspark``: with unequal versions its files are a mix of both.

    Returns
    -------
    str
        The version; empty where neither is installed (Spark may then come from ``SPARK_HOME``).

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
            f"pyspark {classic} and pyspark-client {client} are installed in one environment. Both write the folder "
            f"`pyspark`, so they must have the same version. {advice}"
        )
    return classic or client


def pair(classic: str) -> str:
    """Return the version nearest to this one that PyPI has of both pyspark and pyspark-client, as far as PAIRS knows.

    >>> pair("4.1.2"), pair("4.2.1"), pair("4.3.0")
    ('4.1.2', '4.2.0', '4.2.0')
    """
    minor, patch = classic.rpartition(".")[::2]
    newest = {both.rpartition(".")[0]: both.rpartition(".")[2] for both in PAIRS}
    if minor not in newest:
        return PAIRS[-1]
    return classic if patch.isdigit() and int(patch) <= int(newest[minor]) else f"{minor}.{newest[minor]}"


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """Find the Java that Spark would start: ``JAVA_HOME``'s, else the one on ``PATH``.

    Parameters
    ----------
    env : mapping of str to str, optional
        Environment variables; the process's own by default.

    Raises
    ------
    JavaNotFoundError
        None is found, it does not answer, or its version is neither 17 nor 21.
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
