"""Jars of table formats, by version and sha256, kept outside of the tree."""

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
