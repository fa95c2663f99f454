"""Parse the names of files written by Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_NAME = re.compile(r"part-(\d{5,})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_(\d{5}))?[.-]c(\d{3,})(?:\..*)?")


class OutputPlace(NamedTuple):
    """Place of a task's rows in a dataset: the folder below the root (``""`` for the root), and the bucket or -1."""

    folder: str
    bucket: int = -1

    def __str__(self) -> str:
        return self.folder + (f" bucket {self.bucket}" if self.bucket >= 0 else "")


ROOT = OutputPlace("")


@dataclass(frozen=True, slots=True)
class PartName:
    """Parts of a file's name: its place, task (`partition`), job, and number among the task's files there."""

    place: OutputPlace
    partition: int
    job: str
    counter: int


def parse(path: str) -> PartName | None:
    """Parse a relative path; return None if it is not named as Spark's file writers name files.

    >>> name = parse("d=1/part-00003-7f1f8a0c-5d4a-4f0e-9a55-0123456789ab.c001.snappy.parquet")
    >>> name.place, name.partition, name.counter
    (OutputPlace(folder='d=1', bucket=-1), 3, 1)
    >>> parse("part-00003-7f1f8a0c-5d4a-4f0e-9a55-0123456789ab_00002.c000.snappy.parquet").place
    OutputPlace(folder='', bucket=2)
    """
    folder, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    place = OutputPlace(folder, int(match[3] or -1))
    return PartName(place, int(match[1]), match[2], int(match[4]))
