"""List a folder's data files, and read their footers, with one call to the JVM each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError
from provspark.tracker.spark.reasons import reason

FOOTERS = ("parquet", "orc")
THREADS = 16


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A data file: path relative to the folder, bytes, modification time in milliseconds."""

    path: str
    size: int
    mtime: int


class OutputFolder:
    """A folder of a Hadoop file system.

    Parameters
    ----------
    jvm : Jvm
    session : py4j object
        The Java session of the write.
    path : str
        The folder as Hadoop's ``Path`` formats it.
    options : mapping
        The writer's options, which may contain settings of the file system.
    """

    def __init__(self, jvm: Any, session: Any, path: str, options: Mapping[str, str]) -> None:
        self._path = path
        self._java = jvm.new("Listing", session, json.dumps(dict(options)))

    def files(self) -> list[OutputFile]:
        """Return all files below the folder except those that Spark treats as hidden; none if it does not exist."""
        try:
            text = str(self._java.files(self._path))
        except Exception as e:
            raise CaptureError(f"{self._path} can't be listed: {reason(e)}") from e
        out = []
        for line in text.split("\0") if text else []:
            size, mtime, path = line.split(" ", 2)
            out.append(OutputFile(path, int(size), int(mtime)))
        return out

    def cleared(self) -> bool:
        """Remove the folder if it is empty; return whether it no longer exists."""
        return bool(self._java.cleared(self._path))

    def footer_rows(self, files: Sequence[OutputFile], format_name: str) -> Int64:
        """Return the number of rows of each Parquet or ORC file, from its footer."""
        if not files:
            return np.zeros(0, dtype=np.int64)
        names = "\0".join(f"{f.size} {f.path}" for f in files)
        try:
            text = str(self._java.rows(self._path, names, format_name, THREADS))
        except Exception as e:
            raise CaptureError(f"could not count the rows in {self._path}: {reason(e)}") from e
        return np.array([int(n) for n in text.split()], dtype=np.int64)
