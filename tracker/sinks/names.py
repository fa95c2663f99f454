"""Names of the files that Spark's file writers leave."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_NAME = re.compile(r"part-(\d{5,})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_(\d{5}))?[.-]c(\d{3,})(?:\..*)?")


class OutputPlace(NamedTuple):
    """Where in a data set a task's rows go: the folder below the root (``""`` is the root), the bucket or -1."""

    folder: str
    bucket: int = -1

    def __str__(self) -> str:
        return self.folder + (f" bucket {self.bucket}" if self.bucket >= 0 else "")


ROOT = OutputPlace("")


@dataclass(frozen=True, slots=True)
class PartName:
    """What a file's name tells: its place, task, job and number in the task's place."""

    place: OutputPlace
    partition: int
    job: str
    counter: int


def parse(path: str) -> PartName | None:
    """Read a relative path; None where it is not of Spark's making.

    >>> parse("d=1/part-00003-7f1f8a0c-5d4a-4f0e-9a55-0123456789ab.c001.snappy.parquet")
    PartName(place=Place(folder='d=1', bucket=-1), partition=3, job='7f1f8a0c-5d4a-4f0e-9a55-0123456789ab', counter=1)
    >>> parse("part-00003-7f1f8a0c-5d4a-4f0e-9a55-0123456789ab_00002.c000.snappy.parquet").place
    Place(folder='', bucket=2)
    """
    folder, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    place = OutputPlace(folder, int(match[3] or -1))
    return PartName(place, int(match[1]), match[2], int(match[4]))
