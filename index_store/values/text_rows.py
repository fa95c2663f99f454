"""Rows of text files: every line is a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.index_store.values.lines import lines_of
from provspark.index_store.values.options import decode, refuse
from provspark.index_store.values.types import arrow_type
from provspark.model.datasets import Field, Version

__all__ = ["TextFormat"]


class TextFormat:
    """Spark's ``text`` source.

    Raises
    ------
    ValuesUnavailableError
        The files were read as whole texts (wholetext).
    """

    def __init__(self, version: Version) -> None:
        options = dict(version.options)
        refuse(options, flags=["wholetext"])
        self._separator = options.get("linesep", "").encode(options.get("encoding", "utf-8"))

    def records(self, file: DataFile) -> Iterator[list[bytes]]:
        return lines_of(file, self._separator)

    def lines_may_differ(self, file: DataFile) -> bool:
        """Return whether written values may contain the separator."""
        return file.written

    def parse(self, file: DataFile, records: Sequence[bytes], fields: Sequence[Field]) -> pa.Table:
        texts = [decode(r) for r in records]
        types = [arrow_type(f.type) for f in fields]
        return pa.Table.from_arrays([pa.array(texts, t) for t in types], names=[f.name for f in fields])
