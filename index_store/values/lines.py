"""Lines of a file, split like Hadoop's ``LineRecordReader``, in blocks, decompressed by the file's name."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.model.errors import ValuesUnavailableError

__all__ = ["lines_of"]

_BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"
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
    except (EOFError, zlib.error, OSError, pa.ArrowException) as e:
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
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=raw) as stream:
            yield cast(BinaryIO, stream)
    elif suffix == ".bz2":
        with bz2.BZ2File(raw) as stream:
            yield cast(BinaryIO, stream)
    elif suffix == ".deflate":
        yield cast(BinaryIO, _Inflate(raw))
    elif suffix == ".zst":
        with pa.CompressedInputStream(raw, "zstd") as stream:
            yield cast(BinaryIO, stream)
    else:
        yield raw


class _Inflate(io.RawIOBase):
    """A zlib stream, as Hadoop's ``DefaultCodec`` writes it."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self._engine = raw, zlib.decompressobj()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        data = self._engine.unconsumed_tail or self._raw.read(_BLOCK)
        while data:
            out = self._engine.decompress(data, max(size, 1))
            if out:
                return out
            data = self._engine.unconsumed_tail or self._raw.read(_BLOCK)
        if not self._engine.eof:
            raise EOFError("the compressed data is truncated")
        return b""
