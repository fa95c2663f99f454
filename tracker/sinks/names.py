"""Names of the files that Spark's file writers leave."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"part-(\d{5,})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(_\d{5})?[.-]c(\d{3,})(?:\..*)?")


@dataclass(frozen=True, slots=True)
class PartName:
    """What a file's name tells: its folder below the root (``""`` is the root), task, job and place in the task."""

    folder: str
    partition: int
    job: str
    counter: int


def parse(path: str) -> PartName | None:
    """Read a relative path; None where it is not of Spark's making, or a bucket's.

    >>> parse("d=1/part-00003-7f1f8a0c-5d4a-4f0e-9a55-0123456789ab.c001.snappy.parquet")
    PartName(folder='d=1', partition=3, job='7f1f8a0c-5d4a-4f0e-9a55-0123456789ab', counter=1)
    """
    folder, _, name = path.rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None or match[3]:
        return None
    return PartName(folder, int(match[1]), match[2], int(match[4]))
