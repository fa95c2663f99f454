"""Profiles of a step's inputs and outputs, computed at its end with the script's session, or without Spark."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from provspark.index_store.profiles import computation as compute
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.profile import Profile, Profiles
from provspark.index_store.profiles.spark_queries import aggregated
from provspark.index_store.values.files import check, files_of
from provspark.model.datasets import Files, Version
from provspark.model.errors import VersionChangedError
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.writes import Write

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

log = logging.getLogger("provspark")

_FORMATS = frozenset({"csv", "json", "orc", "parquet", "text"})


def profiles_of(sealed: PendingWrite, added: Write) -> Profiles:
    """Profile the current files of a write's output and inputs.

    Versions that can't be read, or have changed since the step used them, are left out, with a warning in the log.
    """
    profiles: list[Profile] = []
    pending = {v.files.identity(v.dataset): v for v in (sealed.output, *sealed.inputs)}
    for version in (added.output, *added.inputs):
        try:
            profiles.append(_profile(version, pending[version.id]))
        except Exception as e:
            log.warning("provspark: no profile of %s: %s", version.dataset, e)
            log.debug("provspark: traceback of this error", exc_info=e)
    return Profiles(tuple(profiles))


def _profile(version: Version, pending: PendingVersion) -> Profile:
    _unchanged(version, pending.files)
    frame = _frame(version)
    if frame is None:
        return profile_of(version, pending.files)

    def read(names: list[str]) -> pa.Table:
        table = frame.select(*(f"`{n.replace('`', '``')}`" for n in names)).toArrow()
        if len(table) != version.rows:
            raise VersionChangedError(
                f"{version.dataset} now has {len(table)} rows instead of {version.rows}. Run the step again."
            )
        return table

    many = version.rows * len(version.fields) > compute.LIMIT
    profile = aggregated(version, frame) if many else profile_of(version, pending.files, read=read)
    _unchanged(version, pending.files)
    return profile


def _unchanged(version: Version, files: Files) -> None:
    for file in files_of(version, files):
        check(file)


def _frame(version: Version) -> DataFrame | None:
    """Return a version as a DataFrame of the script's session, or None if there is no session or no reader for it."""
    from pyspark.sql import SparkSession

    spark: Any = SparkSession._instantiatedSession
    if spark is None or spark.sparkContext._jsc is None or version.format not in _FORMATS:
        return None
    schema = ", ".join(f"`{f.name.replace('`', '``')}` {f.type}" for f in version.fields)
    reader = spark.read.format(version.format).options(**dict(version.options)).schema(schema)
    frame: DataFrame = reader.load(version.dataset.uri)
    return frame
