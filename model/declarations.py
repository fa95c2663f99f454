"""What jobs without capture declare in OpenLineage events: their inputs and outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from provspark.model.datasets import Dataset

__all__ = ["Declaration", "named_dataset", "same_bucket"]

_FILE = re.compile(r"file:?/*")
_BUCKET = re.compile(r"s3[an]://")


@dataclass(frozen=True, slots=True, order=True)
class Declaration:
    """A run of a job, as its events describe it.

    Parameters
    ----------
    namespace, name, run : str
        The job, and the id of the run, as in OpenLineage.
    first, last : str
        Times of its first and last event that named datasets: UTC, ISO 8601 with microseconds.
    inputs, outputs : tuple of Dataset
        Sorted.
    dag_id, task_id, dag_run : str
        The Airflow task of the run; empty if the events do not name it.
    """

    namespace: str
    name: str
    run: str
    first: str
    last: str
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    dag_id: str = ""
    task_id: str = ""
    dag_run: str = ""


def named_dataset(namespace: str, name: str) -> Dataset | None:
    """Return a dataset as `Dataset.parse` would name it; None for a file without an absolute path.

    >>> named_dataset("s3://bucket", "/a/b/"), named_dataset("file://", "/data/out/")
    (Dataset(namespace='s3://bucket', name='a/b'), Dataset(namespace='file', name='/data/out'))
    """
    if _FILE.fullmatch(namespace):
        return Dataset("file", str(PurePosixPath("/" + name.lstrip("/")))) if name.startswith("/") else None
    if "://" in namespace:
        return Dataset(namespace.rstrip("/"), name.strip("/"))
    return Dataset(namespace, name)


def same_bucket(dataset: Dataset) -> Dataset:
    """Return a dataset under S3's own scheme: Spark reads ``s3a://bucket`` where others name ``s3://bucket``."""
    return Dataset(_BUCKET.sub("s3://", dataset.namespace), dataset.name)
