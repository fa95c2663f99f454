"""Java objects that describe plan nodes, by family (java/plan/Operators.java)."""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath
from typing import Any

from provspark.tracker.families.registry import family
from provspark.tracker.spark.jvm import Jvm, java_files


def operators(jvm: Jvm) -> Any:
    """Return the Java object that finds a node's `Operator`: a class ``*Operator`` in its family's folder."""
    return jvm.new("Operators", _classes())


@cache
def _classes() -> str:
    paths = [PurePosixPath(path) for path in java_files()]
    return "\n".join(
        f"{node} provspark.{'.'.join(path.with_suffix('').parts)}"
        for path in paths
        if path.match("families/*/*Operator.java")
        for node in family(path.parent.name).nodes
    )
