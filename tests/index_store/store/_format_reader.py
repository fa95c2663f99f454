"""Reads a store of any format as docs/format.md says, in plain Python; Parquet's pages by a Parquet library.

Written from the document alone: nothing of the package is imported, or looked at.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


class Reader:
    """A store, opened."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.format = json.loads((root / "format.json").read_bytes())["format"]
        assert (root / "format.json").read_bytes() == b'{"format":%d}\n' % self.format

    def body(self, step: str) -> dict[str, Any]:
        text = (self.root / "steps" / step / "manifest.json").read_bytes()
        head, _, rest = text.partition(b',"body":')
        assert head[:-65] == b'{"format":%d,"sha256":"' % self.format
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
        if layout["format"] > 1:
            self.index(layout, data)
            return layout, where
        start = 0
        for end, crc in zip(layout["groups"]["ends"], layout["groups"]["crc"], strict=True):
            assert zlib.crc32(data[start:end]) == crc
            start = end
        layout["page_rows"] = layout["group_rows"]
        return layout, where

    def index(self, layout: dict[str, Any], data: bytes) -> None:
        """Put the lists of the index into the layout as format 1 has them; check all pages, and what they hold."""
        at, size = layout["index"]["at"], layout["index"]["size"]
        packed = data[at : at + size]
        assert hashlib.sha256(packed).hexdigest() == layout["index"]["sha256"]
        pages = -(-layout["rows"] // layout["page_rows"])
        stored = [n for n in ("out", "n_out", "src", "n_src", "diagonal") if "width" in layout["columns"][n]]
        names = ["out_low", "out_high", "src_low", "src_high", "out_base", "src_base"]
        names += [f"{c} {n}" for c in stored for n in ("at", "size", "head", "body", "crc")]
        raw = pa.Codec("zstd").decompress(packed, len(names) * pages * 8, asbytes=True)
        lists: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            part, last = raw[i * pages * 8 : (i + 1) * pages * 8], 0
            lists[name] = []
            for k in range(pages):
                last += int.from_bytes(part[k::pages], "little", signed=True)
                lists[name].append(last)
        layout["groups"] = lists
        spans = []
        for name in stored:
            width, codec = layout["columns"][name]["width"], layout["columns"][name]["codec"]
            told = (lists[f"{name} {n}"] for n in ("at", "size", "head", "body", "crc"))
            for k, (first, size, head, body, crc) in enumerate(zip(*told, strict=True)):
                assert zlib.crc32(data[first : first + size]) == crc
                spans.append((first, first + size))
                n = min(layout["page_rows"], layout["rows"] - k * layout["page_rows"])
                values = data[first + head : first + head + body]
                if codec == "zstd":
                    values = pa.Codec("zstd").decompress(values, n * (4 if width < 4 else 8), asbytes=True)
                    values = b"".join(values[i::n][:width] for i in range(n))
                layout.setdefault("values", {}).setdefault(name, []).extend(
                    int.from_bytes(values[i * width : (i + 1) * width], "little") for i in range(n)
                )
        spans.sort()
        if spans:
            assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
            assert spans[-1][1] == at

    def boxes(self, layout: dict[str, Any], where: Path, group: int) -> list[tuple[int, int, int, int, bool]]:
        n = min(layout["page_rows"], layout["rows"] - group * layout["page_rows"])
        if layout["format"] == 1:
            stored = pq.ParquetFile(where).read_row_group(group).to_pydict()
        else:
            first = group * layout["page_rows"]
            told = pq.read_table(where).to_pydict().items()
            stored = {k: v[first : first + n] for k, v in told if "width" in layout["columns"][k]}
            stored = {
                k: [int.from_bytes(x, "little") if isinstance(x, bytes) else x for x in v] for k, v in stored.items()
            }
            assert stored == {k: v[first : first + n] for k, v in layout.get("values", {}).items()}
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
        """Where a row of an output came from: (version, occurrence, row, kind), through inner axes and reads."""
        body = self.body(step)
        hashes = {f["path"]: f["footer_sha256"] for f in body["files"]}
        found, seen, waiting = set(), set(), [("writes", write, 0, row, "data")]
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            where, place, number, row, kind = at
            one = body[where][place]
            if not one["axes"]:
                continue
            axis = one["axes"][number]
            if axis["role"] == "input":
                found.add((axis["version"], axis.get("occurrence", -1), row, kind))
            if axis["role"] == "reads":
                of = 0
                while row >= body["reads"][of]["output"]["rows"]:
                    row -= body["reads"][of]["output"]["rows"]
                    of += 1
                found.add((body["reads"][of]["output"]["id"], -1, row, kind))
                waiting.append(("reads", of, 0, row, kind))
                continue
            for tensor in one["tensors"]:
                if tensor["out"] == number:
                    kinds = {kind, tensor["kind"]}
                    after = next(k for k in ("possible", "context", "data") if k in kinds)
                    pairs = self.lookup(step, tensor, hashes, "out", row)
                    waiting += [(where, place, tensor["src"], src, after) for _, src in pairs]
        return found
