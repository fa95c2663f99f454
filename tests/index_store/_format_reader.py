"""Reads a store of format 1 as docs/format.md says, in plain Python; Parquet's pages by a Parquet library.

Written from the document alone: nothing of the package is imported, or looked at.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


class Reader:
    """A store, opened."""

    def __init__(self, root: Path) -> None:
        self.root = root
        assert (root / "format.json").read_bytes() == b'{"format":1}\n'

    def body(self, step: str) -> dict[str, Any]:
        text = (self.root / "steps" / step / "manifest.json").read_bytes()
        head, _, rest = text.partition(b',"body":')
        assert head[:-65].startswith(b'{"format":1,"sha256":"')
        body = rest[: -len(b"}\n")]
        assert hashlib.sha256(body).hexdigest().encode() == head[-65:-1]
        found: dict[str, Any] = json.loads(body)
        return found

    def open(self, step: str, path: str, footer_sha256: str) -> tuple[dict[str, Any], Path]:
        where = self.root / "steps" / step / path
        data = where.read_bytes()
        footer = int.from_bytes(data[-8:-4], "little") + 8
        assert hashlib.sha256(data[-footer:]).hexdigest() == footer_sha256
        layout = json.loads(pq.read_metadata(where).metadata[b"provspark"])
        start = 0
        for end, crc in zip(layout["groups"]["ends"], layout["groups"]["crc"], strict=True):
            assert zlib.crc32(data[start:end]) == crc
            start = end
        return layout, where

    def boxes(self, layout: dict[str, Any], where: Path, group: int) -> list[tuple[int, int, int, int, bool]]:
        stored = pq.ParquetFile(where).read_row_group(group).to_pydict()
        n = min(layout["group_rows"], layout["rows"] - group * layout["group_rows"])
        found = []
        ends = {axis: layout["groups"][f"{axis}_base"][group] for axis in ("out", "src")}
        for i in range(n):
            value = {}
            for name in ("n_out", "n_src", "out", "src", "diagonal"):
                column = layout["columns"][name]
                if column["form"] == "same":
                    v = value["n_out"]
                else:
                    v = column.get("constant", stored[name][i] if name in stored else None)
                if column["form"] == "gap":
                    if "constant" not in column:
                        v = v >> 1 if v % 2 == 0 else -(v >> 1) - 1
                    v += ends[name]
                value[name] = v
            for axis in ends:
                ends[axis] = value[axis] + value[f"n_{axis}"]
            found.append((value["out"], value["n_out"], value["src"], value["n_src"], bool(value["diagonal"])))
        return found

    def touched(self, layout: dict[str, Any], axis: str, row: int) -> list[int]:
        spans = zip(layout["groups"][f"{axis}_low"], layout["groups"][f"{axis}_high"], strict=True)
        return [g for g, (low, high) in enumerate(spans) if low < row + 1 and high > row]

    def lookup(
        self, step: str, tensor: dict[str, Any], hashes: dict[str, str], axis: str, row: int
    ) -> set[tuple[int, int]]:
        path = tensor["by_src"] if axis == "src" and tensor["by_src"] else tensor["by_out"]
        layout, where = self.open(step, path, hashes[path])
        groups = self.touched(layout, axis, row)
        if layout["holds"] == "guide":
            at = 0 if axis == "out" else 2
            hits = [b for g in groups for b in self.boxes(layout, where, g) if b[at] <= row < b[at] + b[at + 1]]
            blocks = {k for b in hits for k in range(b[2 - at], b[2 - at] + b[3 - at])}
            per = layout["block"]
            other = tensor["by_out"] if path == tensor["by_src"] else tensor["by_src"]
            layout, where = self.open(step, other, hashes[other])
            groups = [g for g in self.touched(layout, axis, row) if g // per in blocks]
        found = set()
        for group in groups:
            for out, n_out, src, n_src, diagonal in self.boxes(layout, where, group):
                for i in range(n_out):
                    for k in range(n_src):
                        if (not diagonal or i == k) and row == (out + i if axis == "out" else src + k):
                            found.add((out + i, src + k))
        return found

    def sources(self, step: str, write: int, row: int) -> set[tuple[str, int, int, str]]:
        """Where a row of an output came from: (version, occurrence, row, kind), through inner axes."""
        body = self.body(step)
        hashes = {f["path"]: f["footer_sha256"] for f in body["files"]}
        axes, tensors = body["writes"][write]["axes"], body["writes"][write]["tensors"]
        found, seen, waiting = set(), set(), [(0, row, "data")]
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            number, row, kind = at
            if axes[number]["role"] == "input":
                found.add((axes[number]["version"], axes[number].get("occurrence", -1), row, kind))
            for tensor in tensors:
                if tensor["out"] == number:
                    after = "data" if kind == tensor["kind"] == "data" else "context"
                    pairs = self.lookup(step, tensor, hashes, "out", row)
                    waiting += [(tensor["src"], src, after) for _, src in pairs]
        return found
