"""Lines of a file, split like Hadoop's ``LineRecordReader``, in blocks, decompressed by the file's name."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.model.errors import ValuesUnavailableError

__all__ = ["lines_of"]

_BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"
_CODECS = {".gz": "gzip", ".deflate": "gzip", ".zst": "zstd"}
"""Arrow's codecs; its gzip also reads zlib streams, which Hadoop calls deflate."""
_REFUSED = {".snappy": "snappy", ".lz4": "lz4", ".lzo": "lzo", ".lzo_deflate": "lzo"}


def lines_of(file: DataFile, separator: bytes = b"", block: int = _BLOCK) -> Iterator[list[bytes]]:
    r"""Yield the file's lines without their ends, some at a time.

    Without a separator, lines end at ``\n``, ``\r`` or ``\r\n``. A UTF-8 byte order mark at the start is dropped.

    Raises
    ------
    ValuesUnavailableError
        The compression of the file is not supported, or its compressed data is damaged.
    """
    try:
        with file.open() as raw, _decompressed(file, raw) as stream:
            tail = stream.read(block)
            tail = tail[len(_BOM) :] if tail.startswith(_BOM) else tail
            more = tail
            while more:
                cut = _cut(tail, separator)
                if cut:
                    yield _split(tail[:cut], separator)
                    tail = tail[cut:]
                more = stream.read(block)
                tail += more
            if tail:
                yield _split(tail, separator)
    except (EOFError, OSError, pa.ArrowException) as e:
        raise file.unreadable(e) from e


def _cut(data: bytes, separator: bytes) -> int:
    """Return the end of the last complete line of a block, 0 if there is none."""
    if separator:
        at = data.rfind(separator)
        return at + len(separator) if at >= 0 else 0
    # A \r at the very end may be the first half of \r\n.
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1


def _split(data: bytes, separator: bytes) -> list[bytes]:
    if not separator:
        return data.splitlines()
    lines = data.split(separator)
    return lines[:-1] if not lines[-1] else lines


@contextmanager
def _decompressed(file: DataFile, raw: BinaryIO) -> Iterator[BinaryIO]:
    name = (file.path or file.full).rsplit("/", 1)[-1]
    suffix = "." + name.rsplit(".", 1)[-1]
    if suffix in _REFUSED:
        raise ValuesUnavailableError(
            f"{file.full} is compressed with Hadoop's {_REFUSED[suffix]} framing, which can't be read by position. "
            f"The row ids are still valid."
        )
    if suffix == ".bz2":
        # Like Hadoop, and unlike Arrow, it ignores what follows the last stream.
        with bz2.BZ2File(raw) as stream:
            yield cast(BinaryIO, stream)
    elif suffix in _CODECS:
        with pa.CompressedInputStream(raw, _CODECS[suffix]) as stream:
            yield cast(BinaryIO, stream)
    else:
        yield raw
