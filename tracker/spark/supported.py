"""The versions of Spark that capture supports."""

from __future__ import annotations

from provspark.model.errors import CaptureError

__all__ = ["SPARKS", "SUPPORTED", "check_version"]

SPARKS = frozenset({"4.0", "4.1", "4.2", "4.3"})
SUPPORTED = "Capture supports Spark 4.0 to 4.3 on Python 3.10 to 3.12."
"""The end of messages about versions. runner.py has a copy, because it must run where nothing can be imported."""


def check_version() -> None:
    """Check that capture supports this version of pyspark, and that of the JVM if one is running.

    Raises
    ------
    CaptureError
        It doesn't support one of them.
    """
    from pyspark import SparkContext, __version__

    context = SparkContext._active_spark_context
    versions = {f"pyspark {__version__}": __version__}
    if context is not None:
        versions[f"Spark {context.version}"] = context.version
    for name, version in versions.items():
        if ".".join(version.split(".")[:2]) not in SPARKS:
            raise CaptureError(f"{name} is not supported. {SUPPORTED}")
